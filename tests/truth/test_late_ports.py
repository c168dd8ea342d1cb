"""A late port beside the claimed one is waited for, and spoils nothing that is known at once."""

from dataclasses import replace

import pytest
from tests.conftest import seeds, some_of
from tests.zoo.animals import adapter
from tests.zoo.counters import WHOLE
from tests.zoo.frames import run_of
from tests.zoo.parts import Adapter
from tests.zoo.place_worlds import upper
from tests.zoo.scene import ETH0, Move, Other, Point, Scene, timeline
from tests.zoo.verbs import MEMORY as BY_MEMORY
from tests.zoo.verbs import both, verdicts

from wireproof.verdict.run import judge

LATE = replace(
    ETH0,
    nic="eth9",
    driver="tg3",
    pci="0000:09:00.0",
    files=tuple(replace(one, age_ms=1000.0) for one in ETH0.files if one.path.startswith("net/")),
    identity={"serial": "00-10-18-ff-ff-00-00-09"},
)
SMALL, LARGE = Point("pingpong", 1 << 20), Point("stream", 4 << 20)
MEMORY, CLAIMED = Move(carrier="rdma"), Move(claimed=1.0, carrier="rdma")


def _beside_a_late_port(key: str) -> Adapter:
    one = adapter(key)
    return replace(one, ports=(*one.ports, LATE))


def proofs(scene: Scene) -> list[str]:
    run = run_of(timeline(scene))
    return [pair.proof for pair in judge(run).pairs]


@pytest.mark.parametrize("key", ["mlx5-roce-pf", "mlx5-ib-pf", "hfi1", "cxi"])
def test_a_size_that_went_through_memory_is_found_beside_a_late_port(key):
    """What is sent up to 1 MiB does not cross; what is larger does, and both are known at once."""
    one = _beside_a_late_port(key)
    move = replace(CLAIMED, carrier=one.carrier)
    points = (replace(SMALL, move=replace(MEMORY, carrier=one.carrier)), LARGE)
    scene = Scene(one, move, nic=one.claimed, rate=0.9 * one.rate, points=points)
    assert proofs(scene) == ["off-wire", "on-wire"]


@pytest.mark.parametrize("kind", ["vlan", "macvlan", "bridge", "team"])
@pytest.mark.parametrize("key", ["tg3", "bnxt_en", "idpf", "iavf", "bond-lacp-bnxt_en"])
@pytest.mark.parametrize(("seed", "nic"), some_of([(1, "up0"), (1, ""), (2, "up0"), (2, "")], 2))
def test_what_stands_on_a_late_port_is_proven_at_once(key, kind, seed, nic):
    """After a large point the port below shows more than a small one: it was other traffic. Without
    a claim the port below was the only way out, and open.
    """
    below = adapter(key)
    name = below.claimed
    port = replace(upper("up0", kind, name, driver=kind), identity={})
    seen = {"kernel": {"up0": WHOLE, **below.shares["kernel"]}}
    ports = [
        replace(one, master="up0") if kind in ("bridge", "team") and one.nic == name else one
        for one in below.ports
    ]
    one = Adapter("late", "", (port, *ports), "up0", seen, "", rate=below.rate)
    points = tuple(
        Point("stream", (1 << 20) << (number % 3), number % 2, 1 - number % 2, seconds=seconds)
        for number, seconds in enumerate((0.05, 1.2, 0.2, 0.5, 0.05, 1.2))
    )
    more = {"points": points, "seed": seed}
    assert verdicts(one, nic, Move(claimed=1.0), **more) == both("on-wire")
    assert verdicts(one, nic, Move(), **BY_MEMORY, **more) == both("off-wire")


def test_bytes_on_the_late_port_are_found():
    one = _beside_a_late_port("mlx5-roce-pf")
    scene = Scene(one, Move(eth0=1.0), nic=one.claimed, rate=0.117e9, points=(SMALL, LARGE))
    assert set(proofs(scene)) == {"wrong-path"}


def test_traffic_of_others_while_the_late_port_is_waited_for_is_no_proof():
    """As many bytes as were due pass the claimed port, after the last point."""
    one = _beside_a_late_port("mlx5-roce-pf")
    quiet = Scene(one, MEMORY, nic=one.claimed, rate=0.9 * one.rate)
    after_s = timeline(quiet).end_s
    other = Other("claimed", one.rate, start_s=after_s, end_s=after_s + 0.6, carrier="rdma")
    assert "on-wire" not in proofs(replace(quiet, others=(other,)))


QDR_32 = adapter("mlx4-ib-32")


def test_a_counter_that_comes_late_and_then_to_its_end_is_no_evidence_of_absence():
    """It stands below its end when the first point is over, because it shows nothing of it yet."""
    points = (Point("pingpong", 1 << 20, seconds=0.05), LARGE, replace(LARGE, origin=1, target=0))
    scene = Scene(QDR_32, CLAIMED, nic="ib0", rate=2.2e9, points=points, late_s=0.7)
    for seed in range(40):
        assert "off-wire" not in proofs(replace(scene, start="near-end", seed=seed))


@pytest.mark.parametrize("key", ["ice", "e1000e", "i40e", "mlx5-eth", "cxgb4"])
@pytest.mark.parametrize("late_s", [0.4, 0.7])
def test_what_a_point_lacks_and_the_next_one_shows_is_not_missing(key, late_s, slow_turn):
    """No catalogue knows of the delay; the points go to and fro, so that each shows some of the
    other direction's bytes.
    """
    one = adapter(key)
    back = Point("stream", 1 << 20, 1, 0, seconds=0.3)
    points = (back, Point("stream", 1024, seconds=0.2), replace(back, origin=0, target=1), back)
    scene = Scene(one, Move(claimed=1.0), nic=one.claimed, rate=0.6 * one.rate, points=points)
    for seed in seeds(20, slow_turn):
        assert "mixed" not in proofs(replace(scene, late_s=late_s, seed=seed))


def test_what_a_point_lacks_at_a_port_that_shows_all_at_once_is_missing():
    one = adapter("ice")
    half = Move(claimed=0.6)
    scene = Scene(one, half, nic=one.claimed, rate=3 * one.rate, latency_s=0.4e-6)
    found = set(proofs(scene))
    assert found <= {"mixed", "unproven"}
    assert "mixed" in found


@pytest.mark.parametrize("nic", ["net1", ""])
def test_what_a_late_port_may_have_carried_is_not_called_absent(nic):
    """The macvlan above shows the bytes at once, so that nobody waits for the port below."""
    one = adapter("macvlan-bnxt")
    scene = Scene(one, Move(claimed=1.0), nic=nic, rate=0.7 * one.rate, points=(LARGE,) * 2)
    for seed in range(20):
        assert "off-wire" not in proofs(replace(scene, seed=seed))


@pytest.mark.parametrize("key", ["pod-macvlan", "netkit", "veth"])
def test_bytes_on_a_port_into_another_namespace_are_not_called_absent(key):
    """Without an address it is not known for a way out of the host; the bytes crossed it."""
    one = adapter(key)
    port = replace(one.port(one.claimed), address=())
    one = replace(one, ports=(port,))
    scene = Scene(one, Move(claimed=1.0), rate=0.7 * one.rate, points=(LARGE,) * 2)
    assert "off-wire" not in proofs(scene)
    assert set(proofs(replace(scene, move=Move()))) <= {"off-wire", "unproven"}
