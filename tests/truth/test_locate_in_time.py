"""Faults that begin, end, come and go during a screen: who it is is named, since when is said, and
no pair is.
"""

import dataclasses

import numpy as np
import pytest
from tests.truth.test_locate_other_worlds import named

from wireproof.locate.confirm import conclude
from wireproof.locate.samples import Samples
from wireproof.locate.screen import screen
from wireproof.locate.world import World, WorldFault
from wireproof.measure.schedule import screen_rounds
from wireproof.measure.session.screen_plan import again_rounds
from wireproof.model.located import Direction, Located

WAYS: tuple[Direction, ...] = ("tx", "rx", "")


def located_in(world: World, seed: int, times: int = 1) -> Located:
    """As `check` does: rounds repeated ``times`` where nodes are few, then the suspects alone."""
    samples = world.measure(screen_rounds(world.nodes, None, seed) * times)
    return _again(world, samples, seed)


def _again(world: World, samples: Samples, seed: int) -> Located:
    screened = screen(samples)
    index = {name: number for number, name in enumerate(world.names)}
    again, _ = again_rounds([screened], index, None, seed)
    return conclude(screened, world.measure(again, alone=True) if again else None)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("nodes", "times"), [(4, 4), (5, 2), (8, 2), (16, 1), (24, 1)])
@pytest.mark.parametrize("begins", [0.3, 0.5, 0.7])
def test_a_port_that_drops_in_the_middle_is_named_from_then_on(
    nodes: int, times: int, way: Direction, begins: float
) -> None:
    """Pairs were blamed instead, with confidence 0.999: "neither end is slow with others"."""
    hits = timed = 0
    for seed in range(6):
        fault = WorldFault(
            kind="port" if way else "node",
            node=seed % nodes,
            share=0.3,
            direction=way,
            begins=begins,
        )
        world = World(nodes=nodes, seed=seed + 1, faults=(fault,))
        located = located_in(world, seed, times)
        culprit = world.names[fault.node]
        assert {subject for _, subject, _ in named(located)} <= {culprit}
        hits += any(one.subject == culprit and one.stage == "confirmed" for one in located.blames)
        for one in located.blames:
            assert one.direction in ("", way)
            assert not way or one.direction == way
            timed += any("from a moment on" in line or "at times" in line for line in one.evidence)
    # Five nodes have eight samples a way: of the last third that is two, too few to name anybody.
    assert hits >= (5 if begins < 0.7 or nodes != 5 else 0)
    assert timed >= hits - 3


@pytest.mark.parametrize(("nodes", "times"), [(4, 4), (8, 2), (16, 1)])
def test_a_port_that_recovers_is_not_confirmed(nodes: int, times: int) -> None:
    for seed in range(6):
        fault = WorldFault(kind="port", node=1, share=0.3, direction="tx", ends=0.5)
        located = located_in(World(nodes=nodes, seed=seed + 1, faults=(fault,)), seed, times)
        assert {(one.subject.lstrip("n0"), one.direction) for one in located.blames} == {
            ("1", "tx")
        }
        assert all(one.stage == "screened" and one.confidence <= 0.8 for one in located.blames)
        assert any("up to a moment" in line for line in located.blames[0].evidence)


@pytest.mark.parametrize(("nodes", "times"), [(4, 4), (6, 2), (8, 2)])
def test_a_port_that_flaps_makes_no_pair_a_culprit(nodes: int, times: int) -> None:
    for seed in range(10):
        fault = WorldFault(kind="port", node=2, share=0.3, direction="rx", period=3)
        located = located_in(World(nodes=nodes, seed=seed + 1, faults=(fault,)), seed, times)
        assert {subject for _, subject, _ in named(located)} <= {"n2"}
        assert "pair" not in {kind for kind, _, _ in named(located)}


@pytest.mark.parametrize("nodes", [4, 8, 16, 40])
@pytest.mark.parametrize("slope", [0.1, 0.4])
def test_a_drift_of_all_is_nobodys_fault(nodes: int, slope: float) -> None:
    for seed in range(6):
        world = World(nodes=nodes, seed=seed + 1)
        samples = world.measure(screen_rounds(nodes, None, seed) * max(1, round(12 / (nodes - 1))))
        slower = dataclasses.replace(samples, value=samples.value * np.exp(-slope * samples.when))
        located = _again(world, slower, seed)
        assert named(located) == []
    noted = any("compared with others of the same time" in note for note in located.notes)
    assert noted or slope < 0.2


def test_a_step_of_all_is_nobodys_fault_and_a_bad_port_is_still_named() -> None:
    for seed in range(10):
        fault = WorldFault(kind="port", node=5, share=0.6, direction="tx")
        world = World(nodes=16, seed=seed + 1, faults=(fault,))
        samples = world.measure(screen_rounds(16, None, seed))
        slower = dataclasses.replace(
            samples, value=samples.value * np.where(samples.when > 0.6, 0.7, 1.0)
        )
        assert named(_again(world, slower, seed)) == [("port", "n05", "tx")]


def test_steady_faults_are_not_said_to_have_begun() -> None:
    for seed in range(20):
        fault = WorldFault(kind="port", node=seed % 8, share=0.8, direction="tx")
        located = located_in(
            World(nodes=8, sigma=0.03, tail_share=0.05, seed=seed, faults=(fault,)), seed, 2
        )
        assert named(located) == [("port", f"n{seed % 8}", "tx")]
        assert not any(
            "moment" in line or "at times" in line for line in located.blames[0].evidence
        )


def test_good_worlds_have_nobody_unsteady() -> None:
    for seed in range(60):
        for nodes, times in ((4, 4), (8, 2), (24, 1)):
            world = World(nodes=nodes, sigma=0.03, tail_share=0.05, seed=seed + 1)
            assert named(located_in(world, seed, times)) == []
