"""Worlds that once had an innocent blamed, or a culprit acquitted: rounded values, hidden switches,
shared links.
"""

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from benchmarks.locate import sweep

from wireproof.locate.confirm import conclude
from wireproof.locate.samples import Samples, rounding
from wireproof.locate.screen import screen
from wireproof.locate.world import World, WorldFault
from wireproof.measure.schedule import alone_rounds, confirm_rounds, screen_rounds
from wireproof.model.errors import BadInput
from wireproof.model.located import Located
from wireproof.workflow.locate import from_world

Named = list[tuple[str, str, str]]


def named(located: Located) -> Named:
    return sorted((one.kind, one.subject, one.direction) for one in located.blames)


def with_controls(world: World, seed: int) -> Located:
    """As `check` does: two pairs of good nodes are measured with the suspects."""
    leaves, fabric = world.leaf.tolist(), world.fabric()
    screened = screen(world.measure(screen_rounds(world.nodes, leaves, seed)), fabric)
    number = {name: index for index, name in enumerate(world.names)}
    good = [number[name] for name in screened.good]
    suspects = [number[one.nodes[0]] for one in screened.suspects]
    again = confirm_rounds(suspects, good, leaves, seed) + alone_rounds(
        [(good[0], good[1]), (good[2], good[3])], leaves
    )
    return conclude(screened, world.measure(again, alone=True))


@pytest.mark.parametrize(
    ("values", "step"),
    [
        ([12.0e9, 12.5e9, 11.5e9, 12.0e9], 0.5e9 / 12e9),
        ([1.25e8 * n for n in (97, 98, 99)], 1 / 98),
        ([1.2, 1.25, 1.3], 0.04),
        ([1000.0, 800.0], 0.0),
        ([12.34567e9, 12.29876e9, 12.3111e9], 0.0),
        ([5.0], 0.0),
    ],
)
def test_the_step_of_rounded_values(values: list[float], step: float) -> None:
    assert rounding(np.asarray(values)) == pytest.approx(step, rel=1e-6)


def test_nobody_is_blamed_for_the_rounding_of_values() -> None:
    """Healthy ports on both sides of a step of 4 % are 4 % apart, however often they are
    measured.
    """
    for seed in range(20):
        world = World(nodes=16, sigma=1e-4, tail_share=0.0, seed=seed + 1)
        samples = world.measure(screen_rounds(16, None, seed))
        rounded = dataclasses.replace(samples, value=np.round(samples.value / 5e8) * 5e8)
        screened = screen(rounded)
        assert named(screened.located) == []
        assert screened.located.detectable > screened.located.practical


def _two_switches(small: int, large: int, seed: int) -> Samples:
    """Half round trips of nodes on two switches that nobody told about: 30 % more across."""
    count = small + large
    rng = np.random.default_rng(seed)
    a, b = np.triu_indices(count, 1)
    across = (a < small) != (b < small)
    value = 1000.0 * np.where(across, 1.3, 1.0) * np.exp(rng.normal(0.0, 0.02, a.size))
    return Samples(
        metric="hrt",
        nodes=tuple(f"n{number}" for number in range(count)),
        origin=a.astype(np.int32),
        target=b.astype(np.int32),
        round=np.arange(a.size, dtype=np.int32),
        value=value,
        half_width=np.full(a.size, np.nan),
    )


@pytest.mark.parametrize(("small", "large"), [(16, 24), (6, 20), (10, 40)])
def test_the_smaller_of_two_unknown_switches_is_no_fault(small: int, large: int) -> None:
    for seed in range(5):
        screened = screen(_two_switches(small, large, seed))
        assert named(screened.located) == []
        assert screened.suspects == []
        assert screened.pairs == []


def test_a_slow_spine_is_named_once() -> None:
    """And not beside it the leaf of every suspect that was measured again."""
    for routing in ("destination", "hash"):
        world = World(
            nodes=256,
            leaves=16,
            uplinks=16,
            routing=routing,
            faults=(WorldFault(kind="switch", uplink=3, share=0.5),),
        )
        located = sweep(world)[1]
        assert named(located) == (
            [("switch", "spine3", "")] if routing == "destination" else named(located)
        )
        assert not any(one.subject.endswith("- ?") for one in located.blames)


def test_a_slow_leaf_is_found_where_flows_collide() -> None:
    """Alone a path across leaves is fast: the screen's loaded value acquitted nodes that are a
    fifth slower.
    """
    for seed in range(4):
        fault = WorldFault(kind="switch", leaf=3, share=0.8)
        world = World(
            nodes=256, leaves=16, uplinks=16, routing="hash", seed=seed + 1, faults=(fault,)
        )
        assert named(with_controls(world, seed)) == [("switch", "leaf3", "")]


def test_what_is_not_judged_still_has_its_share_of_a_link() -> None:
    """Without the bad port's flows, those that shared its up-link looked slower than their number
    explains.
    """
    for seed in range(4):
        fault = WorldFault(kind="port", node=seed * 31, direction="rx", share=0.8)
        world = World(
            nodes=256, leaves=16, uplinks=2, uplink_rate=1, seed=seed + 1, faults=(fault,)
        )
        assert named(with_controls(world, seed)) == [("port", world.names[seed * 31], "rx")]


def test_a_port_beside_slower_nics_is_not_its_leafs_link() -> None:
    """Behind a NIC of half the speed a port at 80 % does not show: such a partner says nothing for
    it.
    """
    slow = tuple(WorldFault(kind="node", node=number, share=0.5) for number in range(1, 128, 2))
    for seed in range(4):
        world = World(
            nodes=128,
            leaves=8,
            seed=seed + 1,
            faults=(*slow, WorldFault(kind="port", node=2, direction="tx", share=0.8)),
        )
        assert named(with_controls(world, seed)) == [("port", "n002", "tx")]


def test_a_whole_rate_is_a_rate() -> None:
    """``uplink_rate = 4`` made whole numbers of all links, and a fault on one of them nothing or
    all.
    """
    fault = WorldFault(kind="link", leaf=1, uplink=2, share=0.1)
    whole, broken = (
        World(nodes=64, leaves=4, uplinks=4, uplink_rate=rate, faults=(fault,)) for rate in (4, 4.0)
    )
    rounds = screen_rounds(64, None, 1, 4)
    assert np.array_equal(whole.measure(rounds).value, broken.measure(rounds).value)


def test_the_pairs_of_a_bad_node_are_not_named_beside_it() -> None:
    for seed in range(20):
        world = World(
            nodes=3,
            seed=seed + 1,
            tail_share=0.05,
            faults=(WorldFault(kind="node", node=seed % 3, share=0.5),),
        )
        assert named(sweep(world, fabric=False, seed=seed)[1]) == [("node", f"n{seed % 3}", "")]


@pytest.mark.parametrize(
    "text", ["leaves = 0", "leaves = 9", "leaves = 8\nuplinks = 2000000000", "uplinks = -1"]
)
def test_a_world_of_no_size_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "world.toml"
    path.write_text(f"nodes = 8\n{text}\n", encoding="utf-8")
    with pytest.raises(BadInput, match="out of range"):
        from_world(path, None)
