"""Another job's traffic adds up to what was due on a port whose counters are late, while the
payload goes through memory: the sum alone is not a proof.
"""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from tests.conftest import seeds
from tests.zoo.animals import ZOO
from tests.zoo.frames import run_of
from tests.zoo.parts import Adapter
from tests.zoo.scene import Move, Other, Point, Scene, Timeline, timeline

from wireproof.verdict.run import judge

AGE_S = {
    one.key: max(file.age_ms for port in one.ports for file in port.files) / 1e3 for one in ZOO
}
LATE = [one for one in ZOO if one.known and AGE_S[one.key] >= 1.0]
REFRESHES = 3
"""So many of them pass in each point: a shorter one shows less of its course."""
WAYS = (("tx", "rx"), ("rx", "tx"))


def _through_memory(one: Adapter) -> Scene:
    seconds = REFRESHES * AGE_S[one.key]
    points = (
        Point("pingpong", 1 << 20, seconds=seconds),
        Point("stream", 4 << 20, seconds=seconds),
        Point("stream", 4 << 20, 1, 0, seconds=seconds),
    )
    move = Move(carrier=one.carrier)
    return Scene(one, move, nic=one.claimed, points=points, rate=0.8 * one.rate)


def _due(world: Timeline) -> tuple[float, float]:
    """Payload from the first host, and to it."""
    there, back = 0.0, 0.0
    for played in world.played:
        out, home = played.forward * played.point.size, played.backward * played.point.size
        there += out if played.point.origin == 0 else home
        back += home if played.point.origin == 0 else out
    return there, back


def _as_much(
    world: Timeline, start_s: float, end_s: float, times: float, port: str = "claimed"
) -> Iterator[Other]:
    """A job between both hosts that moves ``times`` what was due in each direction."""
    one = world.scene.adapter
    carrier = "kernel" if one.speaks_kernel() else one.carrier
    for payload, ways in zip(_due(world), WAYS, strict=True):
        rate = times * payload / (end_s - start_s)
        for host, way in enumerate(ways):
            yield Other(port, rate, start_s, end_s, carrier, (host,), (way,))


def _proofs(scene: Scene) -> set[str]:
    return {pair.proof for pair in judge(run_of(timeline(scene))).pairs}


@pytest.mark.parametrize("one", LATE, ids=lambda one: one.key)
def test_a_job_that_moves_as_much_at_another_time_is_no_proof(one, slow_turn):
    scene = _through_memory(one)
    world = timeline(scene)
    first, last = world.played[0].start_s, world.played[-1].end_s
    middle, quarter = (first + last) / 2, (last - first) / 4
    for start_s, end_s in (
        (first, last),
        (middle - quarter / 4, middle + quarter / 4),
        (first, first + quarter),
        (last - quarter, last),
    ):
        for times in (1.0, 1.05):
            others = tuple(_as_much(world, start_s, end_s, times))
            for seed in seeds(2, slow_turn, each=1):
                found = _proofs(replace(scene, others=others, seed=seed + 1))
                assert "on-wire" not in found, (start_s - first, end_s - first, times)


@pytest.mark.parametrize("one", LATE, ids=lambda one: one.key)
def test_a_job_on_another_port_that_moves_as_much_at_another_time_is_no_other_path(one):
    """The payload in memory, and 2.6 GB/s on the second rail all the time, was a wrong path: its
    sum over the run was by chance that of the points in one direction.
    """
    scene = _through_memory(one)
    world = timeline(scene)
    first, last = world.played[0].start_s, world.played[-1].end_s
    for start_s, end_s in ((first - 2.0, last + 2.0), (first, first + (last - first) / 4)):
        whole = (min(last, end_s) - max(first, start_s)) / (end_s - start_s)
        others = tuple(_as_much(world, start_s, end_s, 1.0 / whole, "rail"))
        for seed in (1, 2):
            found = _proofs(replace(scene, others=others, seed=seed))
            assert not found & {"wrong-path", "mixed"}, (start_s - first, end_s - first)


@pytest.mark.parametrize("one", LATE, ids=lambda one: one.key)
def test_a_job_that_moves_more_in_the_same_seconds_is_no_proof(one):
    scene = _through_memory(one)
    world = timeline(scene)
    others = _as_much(world, world.played[0].start_s, world.played[-1].end_s, 1.5)
    same_time = tuple(replace(other, during_points=True) for other in others)
    assert "on-wire" not in _proofs(replace(scene, others=same_time))


@pytest.mark.parametrize("one", LATE, ids=lambda one: one.key)
def test_the_payload_itself_is_proof(one):
    scene = replace(_through_memory(one), move=Move(claimed=1.0, carrier=one.carrier))
    found = _proofs(scene)
    assert found == {"on-wire"} or one.carrier not in _counted(one)


@pytest.mark.parametrize("one", LATE, ids=lambda one: one.key)
def test_the_payload_itself_on_another_port_is_a_wrong_path(one):
    scene = replace(_through_memory(one), move=Move(rail=1.0, carrier=one.carrier))
    found = _proofs(scene)
    assert found == {"wrong-path"} or one.carrier not in _counted(one)


def _counted(one: Adapter) -> set[str]:
    return {
        carrier
        for port in one.ports
        for file in port.files
        if file.what == "bytes" and not file.stuck
        for carrier in file.counts
    }
