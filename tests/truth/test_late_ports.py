"""A late port beside the claimed one is waited for, and spoils nothing that is known at once."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.zoo.animals import adapter
from tests.zoo.frames import run_of
from tests.zoo.parts import Adapter
from tests.zoo.scene import ETH0, Move, Other, Point, Scene, timeline

from wireproof.verdict import judge

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
