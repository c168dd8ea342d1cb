"""The store-and-forward wire: no frame is early, the switch has its own count, latency and loss are
as planted.
"""

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.lab.conftest import (
    HSN,
    Build,
    lab_name,
    leftovers,
    run,
    say,
    stream_rate,
    switch_counters,
    topology,
)

from wireproof.lab import links
from wireproof.lab.cluster import Lab, up
from wireproof.lab.state import read_state
from wireproof.lab.wire import wire_obstacle
from wireproof.model.errors import LabError
from wireproof.model.topology import Fault, Network

pytestmark = [
    pytest.mark.netns,
    pytest.mark.skipif(bool(wire_obstacle()), reason=f"netns: {wire_obstacle()}"),
]

MEGABIT = 1e6 / 8
# of the line: headers, frame check, preamble and gap, MTU 1500, TCP time stamps
PAYLOAD_SHARE = 1448 / 1538
ECHO = """
import socket, sys
kind, address, other = sys.argv[1:4]
if kind == "serve":
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as end:
        end.bind((address, 7))
        print("ready", flush=True)
        while True:
            data, peer = end.recvfrom(9000)
            end.sendto(data, peer)
import time
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as end:
    end.settimeout(float(sys.argv[6]))
    shortest, came = 1e9, 0
    for _ in range(int(sys.argv[4])):
        begin = time.perf_counter()
        end.sendto(bytes(int(sys.argv[5])), (other, 7))
        try:
            end.recv(9000)
        except TimeoutError:
            continue
        came += 1
        shortest = min(shortest, time.perf_counter() - begin)
print(shortest, came)
"""


def wired(rate: str = "100mbit", **more: object) -> Network:
    return Network(
        **{"name": "hsn", "device": "hsn0", "rate": rate, "subnet": "10.20.1.0/24", **more}
    )  # type: ignore[arg-type]


@pytest.fixture
def echoes() -> Iterator[list[subprocess.Popen[str]]]:
    started: list[subprocess.Popen[str]] = []
    yield started
    for one in started:
        one.terminate()
        one.communicate(timeout=10)


def echo(
    lab: Lab, servers: list[subprocess.Popen[str]], count: int, size: int, patience_s: float = 1.0
) -> list[float]:
    """(shortest round trip, echoes that came) of ``count`` datagrams from n1 to n2."""
    address = lab.node_address("n2", "hsn")
    if not servers:
        argv = lab.exec_argv("n2", [sys.executable, "-c", ECHO, "serve", address, ""])
        servers.append(subprocess.Popen(argv, stdout=subprocess.PIPE, text=True))
        servers[0].stdout.readline()
    words = ["ask", "", address, str(count), str(size), str(patience_s)]
    return [float(word) for word in say(lab, "n1", sys.executable, "-c", ECHO, *words).split()]


@pytest.mark.parametrize(
    ("rate", "mtu"), [("10mbit", 1500), ("100mbit", 1500), ("1gbit", 1500), ("1gbit", 9000)]
)
def test_no_stream_is_faster_than_the_line(build: Build, rate: str, mtu: int) -> None:
    lab = build(2, wired(rate, mtu=mtu), wire="store-and-forward")
    link = lab.expected_link("hsn")
    assert link.preamble_counted
    ceiling = float(link.rate_bits_per_s or 0) / 8 * (mtu - 52) / (mtu + 38)
    size = round(ceiling / (1 << 18)) * (1 << 18)
    for _ in range(2):
        assert 0.3 * ceiling < stream_rate(lab, "n1", "n2", size=size) < 1.02 * ceiling


def test_the_switch_has_its_own_count_and_it_is_the_nodes(build: Build) -> None:
    lab = build(2, wired(), wire="store-and-forward")
    stream_rate(lab, "n1", "n2", size=2 << 20)
    for node in lab.nodes:
        own, counted = lab.counters(node, "hsn0"), switch_counters(lab, node, "hsn")
        assert own["tx_bytes"] == counted.tx_bytes
        assert own["tx_packets"] == counted.tx_frames
        # The very first frames came while the device was going up.
        assert 0 <= counted.rx_frames - own["rx_packets"] <= 2
    sent, received = switch_counters(lab, "n1", "hsn"), switch_counters(lab, "n2", "hsn")
    assert 2 << 20 < sent.tx_bytes < 1.2 * (2 << 20)
    assert sent.tx_frames - received.rx_frames <= 2
    assert sent.tx_bytes / sent.tx_frames <= 1514, "no segment passed uncut"


def test_a_datagram_takes_its_time_on_both_lines(
    build: Build, echoes: list[subprocess.Popen[str]]
) -> None:
    """1400 B are 1466 B of line: 1.17 ms at 10 Mb/s, twice there and twice back; a token bucket
    lets it pass.
    """
    lab = build(2, wired("10mbit"), wire="store-and-forward")
    shortest, came = echo(lab, echoes, 10, 1400)
    assert came == 10
    assert shortest >= 4 * (1400 + 28 + 14 + 24) * 8 / 10e6


def test_latency_is_added_each_way_and_may_change(
    build: Build, echoes: list[subprocess.Popen[str]]
) -> None:
    lab = build(2, wired(), wire="store-and-forward", latency="2ms")
    shortest, _ = echo(lab, echoes, 10, 64)
    assert shortest >= 4e-3
    late = Fault(node="n2", network="hsn", kind="delay", direction="tx", value="5ms")
    lab.set_fault(late)
    shortest, _ = echo(lab, echoes, 10, 64)
    assert shortest >= 9e-3
    lab.clear_fault(late)
    shortest, _ = echo(lab, echoes, 20, 64)
    assert shortest < 9e-3


def test_loss_is_in_the_direction_that_was_planted(
    build: Build, echoes: list[subprocess.Popen[str]]
) -> None:
    lab = build(2, wired(), wire="store-and-forward")
    echo(lab, echoes, 5, 64)
    before = switch_counters(lab, "n2", "hsn")
    lab.set_fault(Fault(node="n2", network="hsn", kind="loss", direction="rx", value="50%"))
    _, came = echo(lab, echoes, 100, 64, patience_s=0.05)
    after = switch_counters(lab, "n2", "hsn")
    assert 20 <= came <= 80
    assert after.rx_lost - before.rx_lost == 100 - came
    assert after.tx_lost == before.tx_lost
    assert switch_counters(lab, "n1", "hsn").rx_lost == 0


def test_the_loss_of_a_whole_lab_is_seeded(
    build: Build, echoes: list[subprocess.Popen[str]]
) -> None:
    lab = build(2, wired(), wire="store-and-forward", loss="30%", seed=5)
    echo(lab, echoes, 100, 64, patience_s=0.05)
    lost = [switch_counters(lab, node, "hsn").tx_lost for node in lab.nodes]
    assert all(5 <= one <= 60 for one in lost)


def test_a_slow_direction_is_slow_in_that_direction_only(build: Build) -> None:
    slow = Fault(node="n2", network="hsn", kind="rate", direction="tx", value="10mbit")
    lab = build(2, wired(), wire="store-and-forward", faults=(slow,))
    assert stream_rate(lab, "n2", "n1", size=1 << 20) < 1.02 * 10 * MEGABIT * PAYLOAD_SHARE
    assert stream_rate(lab, "n1", "n2", size=8 << 20) > 20 * MEGABIT
    lab.clear_fault(slow)
    assert stream_rate(lab, "n2", "n1", size=8 << 20) > 20 * MEGABIT


def test_a_receiver_is_limited_at_the_switch(build: Build) -> None:
    lab = build(
        3,
        wired(),
        wire="store-and-forward",
        faults=(Fault(node="n1", network="hsn", kind="rate", direction="rx", value="10mbit"),),
    )
    assert stream_rate(lab, "n2", "n1", size=1 << 20) < 1.02 * 10 * MEGABIT * PAYLOAD_SHARE
    assert stream_rate(lab, "n3", "n2", size=8 << 20) > 20 * MEGABIT


def test_many_nodes_rails_and_switches(build: Build) -> None:
    """Broadcasts reach everybody of a switch and nobody of another; two networks may share one."""
    rail = wired(name="rail", device="hsn1", subnet="10.21.1.0/24", switch="hsn")
    apart = wired(name="apart", device="eth0", subnet="10.22.1.0/24")
    lab = build(4, wired(), rail, apart, wire="store-and-forward")
    for network in ("hsn", "rail", "apart"):
        assert stream_rate(lab, "n1", "n4", network, size=1 << 20) > 0
    heard = switch_counters(lab, "n3", "rail")
    assert heard.rx_frames > 0, "the ARP broadcast on the shared switch"
    assert heard.tx_bytes < 10_000
    assert switch_counters(lab, "n3", "hsn").rx_bytes < 10_000, "what is known is not flooded"


def test_neighbour_discovery_of_ipv6_works(build: Build) -> None:
    lab = build(2, wired(), wire="store-and-forward")
    for number, node in enumerate(lab.nodes, start=1):
        say(lab, node, "sh", "-c", "echo 0 > /proc/sys/net/ipv6/conf/hsn0/disable_ipv6")
        say(lab, node, "ip", "-6", "addr", "add", f"fd00::{number}/64", "dev", "hsn0", "nodad")
    server = (
        "import socket; s = socket.create_server(('::', 7), family=socket.AF_INET6); print(1,"
        " flush=True)"
    )
    client = "import socket; socket.create_connection(('fd00::2', 7), 10); print('hello')"
    argv = lab.exec_argv("n2", [sys.executable, "-c", f"{server}; s.accept()"])
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as waiting:
        waiting.stdout.readline()
        assert say(lab, "n1", sys.executable, "-c", client) == "hello"


def test_a_node_sees_a_tap_and_nothing_on_the_host(build: Build) -> None:
    lab = build(2, wired(), wire="store-and-forward")
    assert say(lab, "n1", "ls", "/sys/class/net").split() == ["hsn0", "lo"]
    assert say(lab, "n1", "cat", "/sys/class/net/hsn0/tun_flags") == "0x1002", (
        "a TAP without headers: no segments"
    )
    assert say(lab, "@switch", "ls", "/sys/class/net").split() == ["lo"]
    assert say(lab, "n1", "cat", "/sys/class/net/hsn0/mtu") == "1500"


def test_a_nic_goes_down_and_comes_back(build: Build) -> None:
    lab = build(2, wired(), wire="store-and-forward")
    down = Fault(node="n2", network="hsn", kind="down")
    lab.set_fault(down)
    assert "UP" not in say(lab, "n2", "ip", "-br", "link", "show", "dev", "hsn0").split()[2].strip(
        "<>"
    ).split(",")
    lab.clear_fault(down)
    assert stream_rate(lab, "n1", "n2", size=1 << 20) > 0


def test_a_device_that_somebody_deletes_costs_the_others_nothing(build: Build) -> None:
    """Its descriptor then reports an error at every look: a wire that goes before everybody must
    not ask for ever.
    """
    lab = build(3, wired(), wire="store-and-forward")
    say(lab, "n3", "ip", "link", "del", "hsn0")
    before = processor_ticks(lab)
    time.sleep(1)
    assert processor_ticks(lab) - before < 50, "more than half of a core for nothing"
    assert stream_rate(lab, "n1", "n2", size=1 << 20) > 0


def wire_process(lab: Lab) -> int:
    """PID of the store-and-forward wire."""
    state = read_state(lab.folder)
    return state.wire.pid


def processor_ticks(lab: Lab) -> int:
    """Hundredths of a second of processor that the wire has used."""
    fields = (
        Path(f"/proc/{wire_process(lab)}/stat")
        .read_text(encoding="utf-8")
        .rpartition(")")[2]
        .split()
    )
    return int(fields[11]) + int(fields[12])


def test_an_idle_wire_sleeps_and_is_silent(build: Build) -> None:
    lab = build(4, wired(), wire="store-and-forward")
    counters, ticks = lab.counters("n1", "hsn0"), processor_ticks(lab)
    time.sleep(0.5)
    assert lab.counters("n1", "hsn0") == counters
    assert processor_ticks(lab) - ticks < 10


def test_a_wire_that_dies_is_seen_and_leaves_nothing(build: Build) -> None:
    lab = build(2, wired(), wire="store-and-forward")
    subprocess.run(["kill", "-KILL", str(wire_process(lab))], check=True)
    until = time.monotonic() + 10
    while "hsn0" in say(lab, "n1", "ls", "/sys/class/net").split() and time.monotonic() < until:
        time.sleep(0.02)
    assert lab.status().state == "degraded"
    assert say(lab, "n1", "ls", "/sys/class/net").split() == ["lo"], (
        "a link without a wire is not a link"
    )
    with pytest.raises(LabError, match=r"the wire of lab .* has died"):
        lab.set_fault(Fault(node="n2", network="hsn", kind="rate", direction="tx", value="1mbit"))
    lab.down()
    assert leftovers(lab.folder) == []


def test_a_change_that_the_wire_does_not_take_is_an_error(
    build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab = build(2, wired(), wire="store-and-forward")
    monkeypatch.setattr(links, "_PATIENCE_S", 0.05)
    monkeypatch.setattr(links, "wire_text", lambda *_: "port nonsense\n")
    fault = Fault(node="n2", network="hsn", kind="rate", direction="tx", value="1mbit")
    with pytest.raises(LabError, match="did not apply the change"):
        lab.set_fault(fault)
    assert lab.status().faults == ()


def test_without_tun_the_lab_is_a_token_bucket_and_says_so(
    node_program: Path, monkeypatch: pytest.MonkeyPatch, lab_root: Path
) -> None:
    monkeypatch.setattr(links, "wire_obstacle", lambda: wire_obstacle(Path("/dev/net/nosuch")))
    name = lab_name()
    with up(topology(2, HSN, wire="store-and-forward"), name, tied=True) as lab:
        assert "/dev/net/nosuch does not exist" in lab.notes[0]
        assert lab.status().notes == lab.notes
        assert not lab.expected_link("hsn").preamble_counted
        assert "htb" in run(lab, "n1", "tc", "qdisc", "show", "dev", "hsn0").stdout
    with pytest.raises(
        LabError, match="latency and loss need the store-and-forward wire, and /dev/net/nosuch"
    ):
        up(topology(2, HSN, wire="store-and-forward", latency="1ms"), lab_name())
    assert leftovers(lab_root / name) == []
