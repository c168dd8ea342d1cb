"""Real settings of a real kernel, in a network namespace of the test's own."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.tune.node import Machine, change, end_timers, request, statement, wait_until

from wireproof.tune.allowed import coupled_with

pytestmark = [pytest.mark.engine, pytest.mark.netns, pytest.mark.root]

SETUP = (
    "mount -t sysfs sysfs /sys && ip link add v0 type veth peer name v1 && "
    "tc qdisc replace dev v0 root pfifo limit 100 && echo ready && exec sleep 600"
)


class Namespace(Machine):
    """The machine itself, but for its network."""

    def __init__(self, state: Path) -> None:
        super().__init__(Path("/"), {})
        self.state = state
        self.holder = subprocess.Popen(
            ["unshare", "--net", "--mount", "sh", "-c", SETUP], stdout=subprocess.PIPE, text=True
        )
        assert self.holder.stdout.readline() == "ready\n"
        self.enter = ["nsenter", "--target", str(self.holder.pid), "--net", "--mount"]

    def argv(self, verb: str, *options: str) -> list[str]:
        return [*self.enter, *super().argv(verb, "--state", str(self.state), *options)]

    def said(self, *argv: str) -> str:
        return subprocess.run(
            [*self.enter, *argv], capture_output=True, text=True, check=True
        ).stdout

    def text(self, name: str) -> str:
        return self.said("cat", f"/{name}")

    def close(self) -> None:
        end_timers(self.state)
        self.holder.kill()
        self.holder.communicate()


@pytest.fixture
def namespace(tmp_path: Path) -> Iterator[Namespace]:
    made = Namespace(tmp_path / "state")
    yield made
    made.close()


FILES = {
    "proc/sys/net/ipv4/tcp_rmem": "4096 131072 16777216",
    "proc/sys/net/ipv4/tcp_congestion_control": "reno",
    "proc/sys/net/ipv4/conf/all/arp_ignore": "1",
    "proc/sys/net/core/somaxconn": "1000",
    "sys/class/net/v0/mtu": "9000",
    "sys/class/net/v0/tx_queue_len": "500",
    "sys/class/net/v0/gro_flush_timeout": "2000",
    "sys/class/net/v0/queues/rx-0/rps_cpus": "1",
    "sys/class/net/v0/ifalias": "fabric",
}


def test_files_of_the_kernel(namespace: Namespace) -> None:
    before = {name: namespace.text(name) for name in FILES}
    lines = [change(f"/{name}", value) for name, value in FILES.items()]
    applied = namespace.run("apply", text=request(*lines))
    assert applied.status == 0, applied
    assert applied.states()["mtu"] == "applied"
    assert applied.states()["tcp_rmem"] == "rewritten", "blanks become tabs"
    assert "mtu 9000" in namespace.said("ip", "link", "show", "v0")
    reverted = namespace.run("revert")
    assert reverted.status == 0, reverted
    assert {name: namespace.text(name) for name in FILES} == before


def test_milliseconds_come_back_with_their_seconds(namespace: Namespace) -> None:
    seconds = "proc/sys/net/ipv4/neigh/v0/base_reachable_time"
    milliseconds = f"{seconds}_ms"
    namespace.said("sh", "-c", f"echo 1500 > /{milliseconds}")
    applied = namespace.run(
        "apply", text=request(change(f"/{seconds}", 7, coupled=(f"/{milliseconds}",)))
    )
    assert (applied.status, namespace.text(milliseconds)) == (0, "7000\n")
    assert namespace.run("revert").status == 0
    assert namespace.text(milliseconds) == "1500\n"


@pytest.mark.parametrize("mtu", [1400, 9000])
def test_an_mtu_of_ipv6_comes_back_with_that_of_the_link(mtu: int, namespace: Namespace) -> None:
    link, ipv6 = "/sys/class/net/v0/mtu", "proc/sys/net/ipv6/conf/v0/mtu"
    namespace.said("sh", "-c", f"echo 1300 > /{ipv6}")
    coupled = coupled_with(link)
    assert namespace.run("apply", text=request(change(link, mtu, coupled=coupled))).status == 0
    assert namespace.text(ipv6) != "1300\n"
    assert namespace.run("revert").status == 0
    assert namespace.text(ipv6) == "1300\n"


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("sys/class/net/v0/mtu", "70000", "Invalid argument"),
        ("proc/sys/net/ipv4/tcp_congestion_control", "none-such", "No such file"),
        ("sys/class/net/v0/speed", "100", ""),
    ],
)
def test_what_the_kernel_refuses(name: str, value: str, reason: str, namespace: Namespace) -> None:
    first = "proc/sys/net/core/somaxconn"
    before = (namespace.text(first), namespace.text("sys/class/net/v0/mtu"))
    lines = (change(f"/{first}", 1000), change(f"/{name}", value, id="wrong"))
    answer = namespace.run("apply", text=request(*lines))
    assert answer.status == 1, answer
    assert answer.states()["wrong"] in ("refused", "unreadable")
    assert reason in answer.last("wrong")["reason"]
    assert (namespace.text(first), namespace.text("sys/class/net/v0/mtu")) == before


def _command(id: str, key: str, read: str, write: str, value: str) -> str:
    lists = {"read": tuple(read.split()), "write": tuple(write.split())}
    return statement("change", id=id, kind="command", key=key, value=value, **lists)


def test_commands(namespace: Namespace) -> None:
    link = ["ip", "-d", "link", "show", "v0"]
    queue = ["tc", "qdisc", "show", "dev", "v0"]
    before = (namespace.said(*link), namespace.said(*queue))
    lines = (
        _command("mtu", "mtu", "ip link show dev v0", "ip link set dev v0 mtu {value}", "4000"),
        _command("gso", "gso_max_segs", " ".join(link), "ip link set v0 gso_max_segs {value}", "9"),
        _command(
            "limit",
            "limit",
            " ".join(queue),
            "tc qdisc change dev v0 root pfifo limit {value}",
            "50",
        ),
    )
    applied = namespace.run("apply", text=request(*lines))
    assert (applied.status, set(applied.states().values())) == (0, {"applied"}), applied
    assert "mtu 4000" in namespace.said(*link)
    assert "limit 50p" in namespace.said(*queue)
    wrong = _command("mtu", "mtu", "ip link show v0", "ip link set v0 mtu {value}", "abc")
    reverted = namespace.run("revert")
    assert reverted.status == 0, reverted
    assert (namespace.said(*link), namespace.said(*queue)) == before
    refused = namespace.run("apply", text=request(wrong, id="two"))
    assert (refused.status, refused.states()) == (1, {"mtu": "refused"})
    assert "abc" in refused.last("mtu")["reason"]


@pytest.mark.skipif(shutil.which("ethtool") is None, reason="ethtool is not on PATH")
def test_ethtool(namespace: Namespace) -> None:
    features = ["ethtool", "-k", "v0"]
    before = namespace.said(*features)
    lines = (
        _command(
            "tso", "tcp-segmentation-offload", "ethtool -k v0", "ethtool -K v0 tso {value}", "off"
        ),
        _command(
            "gro", "generic-receive-offload", "ethtool -k v0", "ethtool -K v0 gro {value}", "on"
        ),
    )
    applied = namespace.run("apply", text=request(*lines))
    assert applied.status == 0, applied
    assert "tcp-segmentation-offload: off" in namespace.said(*features)
    assert namespace.run("revert").status == 0
    assert namespace.said(*features) == before
    fixed = _command("x", "vlan-challenged", "ethtool -k v0", "ethtool -K v0 x {value}", "on")
    answer = namespace.run("apply", text=request(fixed, id="two"))
    assert (answer.status, answer.states()) == (1, {"x": "unreadable"})
    assert "off [fixed]" in answer.last("x")["reason"]


def test_an_interface_that_vanishes(namespace: Namespace) -> None:
    lines = (
        change("/proc/sys/net/core/somaxconn", 1000),
        change("/sys/class/net/v0/mtu", 9000),
        _command("tx", "qlen", "ip link show v1", "ip link set v1 txqueuelen {value}", "77"),
    )
    before = namespace.text("proc/sys/net/core/somaxconn")
    applied = namespace.run("apply", text=request(*lines, timeout_s=1))
    assert applied.status == 0, applied
    namespace.said("ip", "link", "delete", "v0")
    wait_until(lambda: namespace.text("proc/sys/net/core/somaxconn") == before)
    wait_until(lambda: namespace.run("status").set["state"] == "partly")
    seen = namespace.run("status").states()
    assert seen == {"somaxconn": "reverted", "mtu": "gone", "tx": "unreadable"}
