"""The store-and-forward wire as values: its file, its status, what a topology may ask of it."""

import dataclasses
import struct
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from tests.records import holds
from tests.synthetic import World, run_of

from wireproof.lab import commands
from wireproof.lab.links import claimed_link
from wireproof.lab.topology_file import check_topology, most_wire_rate, parse_topology
from wireproof.lab.wire import read_wire_status, wire_observer, wire_obstacle, wire_text
from wireproof.model.errors import BadInput, LabError
from wireproof.model.record import EngineError
from wireproof.model.topology import Fault, Network, Topology, WireStatus, fallen_behind
from wireproof.physics.limits import is_shaped, limits, shaper_credit_bytes
from wireproof.verdict.run import judge

NETWORK = '[[network]]\nname = "hsn"\ndevice = "hsn0"\nrate = "1gbit"\nsubnet = "10.20.1.0/24"\n'
HSN = Network(name="hsn", device="hsn0", subnet="10.20.1.0/24", rate="1gbit")
RAIL = Network(
    name="rail", device="hsn1", subnet="10.21.1.0/24", rate="100mbit", switch="hsn", mtu=9000
)
APART = Network(name="apart", device="eth0", subnet="10.22.1.0/24", rate="10mbit")


def wired(*networks: Network, **more: object) -> Topology:
    return Topology(
        nodes=("n1", "n2"), networks=networks or (HSN,), wire="store-and-forward", **more
    )  # type: ignore[arg-type]


def ports(topology: Topology, faults: tuple[Fault, ...] = ()) -> dict[str, dict[str, int]]:
    """Settings by ``NODE DEVICE``."""
    found = {}
    for line in wire_text(topology, faults, 1).splitlines():
        word, *rest = line.split()
        if word == "port":
            found[" ".join(rest[:2])] = {
                k: int(v) for k, _, v in (setting.partition("=") for setting in rest[2:])
            }
    return found


def planted(kind: str, value: str, direction: str = "tx") -> Fault:
    return Fault(node="n2", network="hsn", kind=kind, direction=direction, value=value)  # type: ignore[arg-type]


def test_every_port_has_its_switch_and_both_rates() -> None:
    found = ports(wired(HSN, RAIL, APART))
    assert list(found) == ["n1 hsn0", "n2 hsn0", "n1 hsn1", "n2 hsn1", "n1 eth0", "n2 eth0"]
    assert [one["domain"] for one in found.values()] == [0, 0, 0, 0, 1, 1]
    assert found["n1 hsn1"]["mtu"] == 9000
    assert [one["tx_rate"] for one in found.values()] == [10**9, 10**9, 10**8, 10**8, 10**7, 10**7]
    assert all(one["tx_rate"] == one["rx_rate"] for one in found.values())
    assert wire_text(wired(seed=7), (), 3).startswith("revision 3\nseed 7\n")


def test_the_labs_latency_and_loss_meet_each_frame_once() -> None:
    found = ports(wired(latency="150us", loss="0.2%"))
    for port in found.values():
        assert (port["tx_delay"], port["rx_delay"]) == (150_000, 0)
        assert (port["tx_loss"], port["rx_loss"]) == (2_000_000, 0)


def test_a_fault_is_in_its_place_and_direction_only() -> None:
    faults = (
        planted("rate", "300mbit"),
        planted("delay", "2ms", "rx"),
        planted("loss", "1%", "rx"),
    )
    found = ports(wired(), faults)
    assert found["n1 hsn0"] == ports(wired())["n1 hsn0"]
    assert found["n2 hsn0"]["tx_rate"] == 300_000_000
    assert found["n2 hsn0"]["rx_rate"] == 10**9
    assert (found["n2 hsn0"]["tx_delay"], found["n2 hsn0"]["rx_delay"]) == (0, 2_000_000)
    assert (found["n2 hsn0"]["tx_loss"], found["n2 hsn0"]["rx_loss"]) == (0, 10_000_000)


def test_faults_come_on_top_of_the_labs_own_and_never_speed_a_link_up() -> None:
    faults = (planted("rate", "10gbit"), planted("delay", "50us"), planted("loss", "50%"))
    found = ports(wired(latency="150us", loss="50%"), faults)["n2 hsn0"]
    assert found["tx_rate"] == 10**9
    assert found["tx_delay"] == 200_000
    assert found["tx_loss"] == 750_000_000


def test_the_file_of_a_lab_is_toml() -> None:
    text = (
        'nodes = 2\nwire = "store-and-forward"\nlatency = "50us"\nloss = "0.1%"\nseed = 3\n'
        + NETWORK
    )
    topology = parse_topology(text)
    holds(topology, serialises=True, latency="50us", loss="0.1%", seed=3)
    assert not parse_topology("nodes = 2\n" + NETWORK).serialises


@pytest.mark.parametrize(
    ("head", "sentence"),
    [
        ('wire = "ethernet"', "wire: 'ethernet' is not one of store-and-forward, token-bucket"),
        ('wirr = "store-and-forward"', "'wirr' is not known: did you mean wire?"),
        ('latency = "50us"', 'latency needs wire = "store-and-forward"'),
        ('loss = "1%"', 'loss needs wire = "store-and-forward"'),
        ('wire = "store-and-forward"\nlatency = "soon"', "latency: delay 'soon' is not understood"),
        ('wire = "store-and-forward"\nloss = "0%"', "loss: loss 0% is out of range"),
        ('wire = "store-and-forward"\nseed = -1', "seed = -1 is out of range"),
        ('wire = "store-and-forward"\nseed = "x"', "seed: expected a whole number, got text"),
        ('wire = "store-and-forward"\nlatency = 5', "latency: expected text, got a whole number"),
    ],
)
def test_what_cannot_be_asked_of_a_wire_has_one_sentence(head: str, sentence: str) -> None:
    with pytest.raises(BadInput) as error:
        parse_topology(f"nodes = 2\n{head}\n{NETWORK}", "lab.toml")
    assert str(error.value).startswith("lab.toml")
    assert sentence in str(error.value)


def test_a_rate_that_the_wire_cannot_keep_is_refused() -> None:
    check_topology(wired(Network(name="a", device="a0x", subnet="10.1.1.0/24", rate="2.5gbit")))
    check_topology(
        wired(Network(name="a", device="a0x", subnet="10.1.1.0/24", rate="5gbit", mtu=9000))
    )
    for rate, mtu, most in (("5gbit", 1500, "2.52gbit"), ("10gbit", 9000, "5gbit")):
        with pytest.raises(BadInput, match=f"is accurate with MTU {mtu} up to {most}"):
            check_topology(
                wired(Network(name="a", device="a0x", subnet="10.1.1.0/24", rate=rate, mtu=mtu))
            )
    with pytest.raises(BadInput, match='wire = "store-and-forward" needs a rate'):
        check_topology(wired(Network(name="a", device="a0x", subnet="10.1.1.0/24")))
    assert most_wire_rate(1500) < most_wire_rate(9000) == most_wire_rate(65535)


def test_a_serialised_link_has_no_credit_and_counts_the_preamble() -> None:
    link = claimed_link("a", wired(), "hsn")
    assert not is_shaped(link)
    assert shaper_credit_bytes(link, idle_between_messages=True) == 0
    attainable = limits(link, "stream", "stream", 8, None).attainable_bytes_per_s
    assert attainable == pytest.approx(1e9 / 8 * 1448 / 1538)
    assert is_shaped(claimed_link("a", Topology(nodes=("n1",), networks=(HSN,)), "hsn"))


def test_the_supervisor_starts_the_wire_and_the_nodes_only_set_their_device_up() -> None:
    topology = wired(faults=(Fault(node="n2", network="hsn", kind="down"),))
    argv = commands.hold_argv(
        Path("/x/n"),
        name="a",
        state=Path("/s/a"),
        cookie="c",
        topology=topology,
        descriptors=(4, 5),
        user=False,
    )
    assert "--wire" in argv
    assert commands.node_link_lines(topology, "n1") == [
        "link set dev hsn0 mtu 1500 txqueuelen 4096",
        "addr add 10.20.1.1/24 dev hsn0",
        "link set dev hsn0 up",
    ]
    assert "link set dev hsn0 up" not in commands.node_link_lines(topology, "n2")


def test_planting_changes_no_queueing_discipline() -> None:
    topology = wired()
    assert commands.fault_batches(topology, "n2", HSN, (), (planted("rate", "1mbit"),)) == []
    down = Fault(node="n2", network="hsn", kind="down")
    assert commands.fault_batches(topology, "n2", HSN, (), (down,)) == [
        ("n2", "ip", ["link set dev hsn0 down"])
    ]
    assert commands.fault_batches(topology, "n2", HSN, (down,), ()) == [
        ("n2", "ip", ["link set dev hsn0 up"])
    ]


def test_an_obstacle_is_named_with_its_remedy(tmp_path: Path) -> None:
    assert "does not exist: run `modprobe tun`" in wire_obstacle(tmp_path / "tun")
    assert "cannot be opened" in wire_obstacle(tmp_path)
    (tmp_path / "tun").touch()
    assert wire_obstacle(tmp_path / "tun") == ""


def status(**counts: int) -> WireStatus:
    plain = WireStatus(
        revision=1, frames=0, late=0, starved=0, worst_ns=0, late_ns=1_000_000, first=True
    )
    return dataclasses.replace(plain, **counts)


def test_the_status_is_read_by_position(tmp_path: Path) -> None:
    assert read_wire_status(tmp_path) is None
    header = struct.pack("=8s8Q", b"WPWIRE1\n", 1, 4, 100, 2, 1, 9_000_000, 1_000_000, 1)
    (tmp_path / "wire.status").write_bytes(header + struct.pack("=8Q", *range(1, 9)))
    seen = read_wire_status(tmp_path)
    assert (seen.revision, seen.frames, seen.late, seen.starved, seen.first) == (4, 100, 2, 1, True)
    assert (seen.ports[0].tx_frames, seen.ports[0].tx_lost, seen.ports[0].refused) == (1, 5, 8)
    for damaged in (header[:20], b"OTHER!!\n" + header[8:], header):
        (tmp_path / "wire.status").write_bytes(damaged)
        if len(damaged) < 72:
            assert read_wire_status(tmp_path) is None
        else:
            with pytest.raises(LabError, match="by another version"):
                read_wire_status(tmp_path)


def test_a_wire_that_fell_behind_says_so_and_a_little_lateness_is_none() -> None:
    assert fallen_behind(None, None) == ""
    assert fallen_behind(status(frames=100_000, late=90), status(frames=200_000, late=180)) == ""
    said = fallen_behind(status(frames=1000), status(frames=3000, late=30, worst_ns=7_000_000))
    assert "30 of 2000 frames were more than 1 ms late (at most 7 ms)" in said
    assert "fell behind" in fallen_behind(None, status(frames=1000, starved=20))
    assert fallen_behind(None, status(frames=0)) == ""


def counted(*seen: WireStatus | None) -> Callable[[], WireStatus | None]:
    """The status of a wire that has counted so much."""
    return iter(seen).__next__


def test_a_measurement_over_a_late_wire_is_said_to_be_one() -> None:
    observe = wire_observer(counted(status(frames=0), status(frames=1000, late=500)))
    (error,) = observe()
    assert error.code == "wire-late"
    assert "500 of 1000 frames" in error.message
    assert wire_observer(counted(status(frames=10, late=10), status(frames=1000, late=10)))() == ()
    assert wire_observer(counted(None))() == ()


def test_a_late_wire_is_a_warning_and_passes_nothing_that_did_not() -> None:
    late = EngineError(code="wire-late", message="the lab's wire fell behind")
    run = run_of(World())
    with_warning = judge(msgspec.structs.replace(run, errors=[late]))
    assert [one.severity for one in with_warning.findings if one.code == "wire-late"] == ["warning"]
    assert with_warning.verdict == judge(run).verdict
