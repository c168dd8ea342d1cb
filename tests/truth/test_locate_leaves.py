"""Whole leaves and several bad nodes of one leaf, in worlds of two leaves, where half of all ports
may be bad.
"""

import pytest
from benchmarks.locate import sweep
from tests.conftest import seeds
from tests.truth.test_locate_other_worlds import named, with_controls

from wireproof.locate.world import World, WorldFault
from wireproof.model.located import Direction, Located

WAYS: tuple[Direction, ...] = ("rx", "tx", "")


def slow_leaf(nodes: int, uplinks: int, rate: float, way: Direction, seed: int) -> World:
    fault = WorldFault(kind="switch", leaf=1, share=0.5, direction=way)
    return World(
        nodes=nodes, leaves=2, uplinks=uplinks, uplink_rate=rate, seed=seed, faults=(fault,)
    )


def believable(located: Located, world: World) -> bool:
    """Nothing is expected that no link carries, and no kind of path is slower by design than the
    others.
    """
    return all(one.expected <= 1.1 * world.rate for one in located.blames) and all(
        tier.oversubscription < 1.05 and tier.median < 1.1 * world.rate for tier in located.tiers
    )


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("nodes", "uplinks", "rate"), [(6, 0, 1.0), (8, 0, 1.0), (8, 1, 4.0), (12, 2, 4.0)]
)
def test_of_two_leaves_the_one_that_is_slow_inside_too_is_named(
    nodes: int, uplinks: int, rate: float, way: Direction
) -> None:
    """The healthy one was: what it sends across is as slow as what the slow one receives."""
    for seed in range(8):
        world = slow_leaf(nodes, uplinks, rate, way, seed + 1)
        located = sweep(world, seed=seed)[1]
        assert named(located) == [("switch", "leaf1", way)]
        assert believable(located, world)


@pytest.mark.parametrize("way", WAYS)
def test_the_ports_of_a_leaf_of_two_nodes_are_named(way: Direction) -> None:
    for seed in range(8):
        located = sweep(slow_leaf(4, 0, 1.0, way, seed + 1), seed=seed)[1]
        assert named(located) == [("port" if way else "node", name, way) for name in ("n2", "n3")]


@pytest.mark.parametrize("way", WAYS)
def test_a_slow_leaf_is_named_where_flows_across_collide(way: Direction) -> None:
    for seed in range(4):
        blames = named(with_controls(slow_leaf(16, 4, 1.0, way, seed + 1), seed))
        assert [(kind, subject) for kind, subject, _ in blames] == [("switch", "leaf1")]


@pytest.mark.parametrize("ways", [("", ""), ("tx", "rx"), ("rx", "rx"), ("tx", "tx"), ("", "rx")])
@pytest.mark.parametrize("nodes", [6, 8, 10])
@pytest.mark.parametrize("second", [1, -1])
def test_two_bad_nodes_make_no_tier_and_no_leaf(
    nodes: int, second: int, ways: tuple[Direction, Direction], slow_turn: int | None
) -> None:
    """Two bad nodes of three made "76 MB/s across leaves" on 50 MB/s links, and a kind of path slow
    by design.
    """
    for seed in seeds(6, slow_turn):
        bad = (0, second % nodes)
        faults = tuple(
            WorldFault(kind="port" if way else "node", node=node, share=0.4, direction=way)
            for node, way in zip(bad, ways, strict=True)
        )
        world = World(
            nodes=nodes, leaves=2, uplinks=1, uplink_rate=nodes / 2, seed=seed + 1, faults=faults
        )
        located = sweep(world, seed=seed)[1]
        assert named(located) == sorted((one.kind, f"n{one.node}", one.direction) for one in faults)
        assert believable(located, world)


def test_three_leaves_with_most_nodes_on_the_slow_one() -> None:
    """A majority of bad ports is no majority of leaves."""
    for seed in range(6):
        # Leaves of 6 nodes; the last has 2: of 14 nodes, the first leaf's and nobody else's.
        world = World(
            nodes=14,
            leaves=3,
            seed=seed + 1,
            faults=(WorldFault(kind="switch", leaf=0, share=0.5),),
        )
        assert named(sweep(world, seed=seed)[1]) == [("switch", "leaf0", "")]


@pytest.mark.parametrize(("leaf", "way"), [(0, "tx"), (1, "tx"), (0, "rx"), (1, "rx")])
def test_a_trunk_between_two_leaves_is_slow_one_way_and_no_leaf_is_named_alone(
    leaf: int, way: Direction
) -> None:
    """What leaves one leaf and what reaches the other are the same samples: the link between them
    is named.
    """
    for seed in range(6):
        fault = WorldFault(kind="link", leaf=leaf, uplink=0, share=0.1, direction=way)
        world = World(
            nodes=12,
            leaves=2,
            uplinks=1,
            uplink_rate=8.0,
            tail_share=0.0,
            seed=seed + 1,
            faults=(fault,),
        )
        blames = sweep(world, seed=seed)[1].blames
        assert [(one.kind, sorted(one.subject.split(" - "))) for one in blames] == [
            ("link", ["leaf0", "leaf1"])
        ]
        sends = blames[0].subject.split(" - ")[0 if blames[0].direction == "tx" else 1]
        assert sends == f"leaf{leaf if way == 'tx' else 1 - leaf}"
        assert "where traffic leaves" in " ".join(blames[0].evidence)
