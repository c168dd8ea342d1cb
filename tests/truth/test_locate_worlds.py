"""Synthetic worlds with planted faults: the culprit and nobody else is named, and no good world has
one.

Everything is seeded; the same figures with more worlds are measured by ``python -m benchmarks
--only locate``.
"""

import pytest
from benchmarks.locate import sweep

from wireproof.locate.screen import screen
from wireproof.locate.screen.screened import Screened
from wireproof.locate.world import World, WorldFault
from wireproof.measure.schedule import screen_rounds
from wireproof.model.located import Direction, Located

Named = list[tuple[str, str, str]]


def named(located: Located) -> Named:
    return sorted((one.kind, one.subject, one.direction) for one in located.blames)


def screen_of(world: World, seed: int) -> Screened:
    """Twelve rounds, analysed; nothing measured again."""
    return screen(
        world.measure(screen_rounds(world.nodes, world.leaf.tolist(), seed, 12)), world.fabric()
    )


def port(node: int, direction: Direction = "", share: float = 0.8) -> WorldFault:
    return WorldFault(
        kind="port" if direction else "node", node=node, direction=direction, share=share
    )


def noisy(seed: int, *faults: WorldFault, nodes: int = 8, sigma: float = 0.03) -> World:
    """A loaded machine: 3 % noise, one sample of twenty far slower."""
    return World(nodes=nodes, sigma=sigma, tail_share=0.05, seed=seed, faults=faults)


def test_eight_good_nodes_have_no_culprit() -> None:
    """0 blamed in 100 good worlds, at 3 % noise with outliers."""
    for seed in range(100):
        assert named(sweep(noisy(seed), fabric=False, seed=seed)[1]) == []


def test_one_port_of_eight_at_80_percent_is_named_with_its_direction() -> None:
    """At least 99 of 100, and never a node that is innocent."""
    hits = 0
    for seed in range(100):
        way: Direction = "rx" if seed % 2 else "tx"
        blames = named(sweep(noisy(seed, port(seed % 8, way)), fabric=False, seed=seed)[1])
        assert {subject for _, subject, _ in blames} <= {f"n{seed % 8}"}
        hits += blames == [("port", f"n{seed % 8}", way)]
    assert hits >= 99


@pytest.mark.parametrize(
    "faults",
    [
        (port(1, "tx"), port(5, "rx")),
        (port(1, "tx"), port(5, "rx"), port(6, "tx")),
        (port(1, "rx"), port(5, "rx"), port(6, "rx")),
        (port(1), port(5), port(6)),
        (port(2), port(7, "tx", 0.6)),
        (port(2, "rx", 0.01),),
        (port(2, "", 0.01), port(3, "tx", 0.5)),
    ],
)
def test_several_bad_ports_of_eight(faults: tuple[WorldFault, ...]) -> None:
    truth = sorted((one.kind, f"n{one.node}", one.direction) for one in faults)
    hits = sum(
        named(sweep(noisy(seed, *faults), fabric=False, seed=seed)[1]) == truth
        for seed in range(20)
    )
    assert hits >= 19


@pytest.mark.parametrize("nodes", [3, 4, 5, 6, 7, 9])
def test_few_nodes_and_odd_counts(nodes: int) -> None:
    for seed in range(15):
        world = World(nodes=nodes, seed=seed + 1, faults=(port(nodes - 1, "tx"),))
        assert named(sweep(world, fabric=False, seed=seed)[1]) == [("port", f"n{nodes - 1}", "tx")]


def test_of_two_nodes_only_the_direction_is_named() -> None:
    for seed in range(15):
        world = World(nodes=2, seed=seed + 1, tail_share=0.0, faults=(port(1, "tx", 0.6),))
        screened, located = sweep(world, fabric=False, seed=seed)
        assert named(located) == [("pair", "n1 -> n0", "")]
        assert "only the slow direction" in located.notes[0]
        assert named(sweep(World(nodes=2, seed=seed + 1), fabric=False, seed=seed)[1]) == []
        assert screened.good == []


def test_a_pair_is_blamed_only_when_it_is_slow_again() -> None:
    for seed in range(10):
        fault = WorldFault(kind="pair", node=3, other=9, share=0.5, direction="tx")
        world = World(nodes=16, seed=seed + 1, faults=(fault,))
        assert named(sweep(world, fabric=False, seed=seed)[1]) == [("pair", "n03 -> n09", "")]


def test_half_round_trips_name_the_node() -> None:
    for seed in range(20):
        world = noisy(seed, port(2, "", 0.75))
        located = sweep(world, fabric=False, seed=seed, metric="hrt")[1]
        assert named(located) == [("node", "n2", "")]
        assert located.blames[0].slowdown == pytest.approx(1 / 3, abs=0.06)
        assert named(sweep(noisy(seed), fabric=False, seed=seed, metric="hrt")[1]) == []


def test_hops_are_no_latency_fault() -> None:
    """Pairs across leaves take a quarter longer in these worlds: a tier."""
    located = sweep(World(nodes=48, leaves=3, faults=(port(20, "", 0.7),)), metric="hrt")[1]
    assert named(located) == [("node", "n20", "")]
    assert [round(one.oversubscription, 1) for one in located.tiers] == [1.0, 1.2]


# --- mixed speeds


def test_two_kinds_of_nics_are_a_note_and_each_is_judged_by_its_own_kind() -> None:
    slow = tuple(port(number, "", 0.5) for number in range(0, 32, 2))
    good = sweep(World(nodes=32, faults=slow), fabric=False)[1]
    assert named(good) == []
    assert "16 nodes at 12.2" in good.notes[0]
    assert "16 nodes at 6.1" in good.notes[0]
    bad = World(nodes=32, faults=(*slow, port(4, "tx"), port(5, "rx")))
    assert named(sweep(bad, fabric=False)[1]) == [("port", "n04", "tx"), ("port", "n05", "rx")]


def test_fewer_slow_nodes_than_a_kind_are_faults() -> None:
    world = World(nodes=32, faults=tuple(port(number, "", 0.5) for number in (3, 9, 30)))
    located = sweep(world, fabric=False)[1]
    assert named(located) == [("node", "n03", ""), ("node", "n09", ""), ("node", "n30", "")]
    assert located.notes == []


# --- fabrics


def test_oversubscription_is_a_tier_and_no_fault() -> None:
    world = World(nodes=64, leaves=4, uplinks=16, routing="spread", uplink_rate=0.4)
    located = sweep(world)[1]
    assert named(located) == []
    assert [one.name for one in located.tiers] == ["one switch", "across leaves"]
    assert located.tiers[1].oversubscription > 1.5


def test_a_port_shows_within_its_leaf_where_oversubscription_hides_it_across() -> None:
    world = World(
        nodes=64,
        leaves=4,
        uplinks=16,
        routing="spread",
        uplink_rate=0.4,
        faults=(port(9, "rx", 0.75),),
    )
    assert ("port", "n09", "rx") in named(sweep(world)[1])


def test_a_slow_leaf_switch_is_one_culprit_not_sixteen() -> None:
    world = World(nodes=128, leaves=8, faults=(WorldFault(kind="switch", leaf=2, share=0.6),))
    located = sweep(world)[1]
    assert named(located) == [("switch", "leaf2", "")]
    assert located.blames[0].slowdown == pytest.approx(0.4, abs=0.03)


def test_a_leaf_that_is_slow_across_leaves_only_blames_no_node() -> None:
    world = World(
        nodes=64,
        leaves=4,
        uplinks=16,
        seed=4,
        faults=(WorldFault(kind="link", leaf=2, share=0.4, direction="tx"),),
    )
    blames = sweep(world)[1].blames
    assert blames
    assert not [one for one in blames if one.kind in ("node", "port", "pair")]
    assert all("leaf2" in one.subject for one in blames)


@pytest.mark.parametrize("fabric", [True, False])
def test_contention_among_many_is_no_fault_and_hides_no_port(fabric: bool) -> None:
    """Static routes by a hash: most pairs across leaves share a link."""
    for seed in range(4):
        world = World(nodes=64, leaves=4, uplinks=16, routing="hash", seed=seed + 1)
        assert [
            one for one in named(sweep(world, fabric=fabric, seed=seed)[1]) if one[0] != "link"
        ] == []
        bad = World(
            nodes=64,
            leaves=4,
            uplinks=16,
            routing="hash",
            seed=seed + 1,
            faults=(port(21, "tx", 0.7),),
        )
        blames = named(sweep(bad, fabric=fabric, seed=seed)[1])
        assert [one for one in blames if one[0] != "link"] == [("port", "n21", "tx")]


# --- scale


def test_slow_nodes_of_a_thousand_and_two_that_met_each_other() -> None:
    """5 % slow nodes, two per world; the same two paired with each other in the first round."""
    hits = 0
    for seed in range(6):
        leaves = World(nodes=1024, leaves=64).leaf.tolist()
        bad = screen_rounds(1024, leaves, seed, 12)[0][seed * 50]
        world = World(
            nodes=1024, leaves=64, seed=seed + 1, faults=tuple(port(one, "", 0.95) for one in bad)
        )
        located = sweep(world, rounds=12, seed=seed)[1]
        culprits = {world.names[one] for one in bad}
        assert {one.subject for one in located.blames} <= culprits
        hits += len(located.blames)
    assert hits >= 11


def test_no_innocent_of_a_thousand_is_blamed() -> None:
    for seed in range(10):
        assert (
            sweep(World(nodes=1024, leaves=64, seed=seed + 100), rounds=12, seed=seed)[1].blames
            == []
        )


def test_three_percent_of_the_nodes_bad_at_once() -> None:
    bad = range(0, 1024, 34)
    world = World(nodes=1024, leaves=64, faults=tuple(port(one, "", 0.7) for one in bad))
    assert {one.subject for one in sweep(world)[1].blames} == {world.names[one] for one in bad}


def test_what_is_said_to_be_detectable_is_found() -> None:
    """Ports slower by the figure that a sweep states, one direction: 95 % of them are suspects."""
    found = planted = 0
    least = screen_of(World(nodes=256, leaves=16, tail_share=0.0), 0).located.detectable
    for seed in range(10):
        bad = [(seed * 5 + place * 25) % 256 for place in range(10)]
        world = World(
            nodes=256,
            leaves=16,
            tail_share=0.0,
            seed=seed + 1,
            faults=tuple(port(one, "rx", 1 - least) for one in bad),
        )
        suspects = {one.nodes[0] for one in screen_of(world, seed).suspects if one.p <= 0.05}
        found, planted = (
            found + len(suspects & {world.names[one] for one in bad}),
            planted + len(bad),
        )
    assert found / planted > 0.88


@pytest.mark.slow
def test_slow_nodes_of_ten_thousand() -> None:
    hits = 0
    for seed in range(3):
        bad = [(seed * 97 + place * 1000) % 10_000 for place in range(10)]
        world = World(
            nodes=10_000,
            leaves=313,
            seed=seed + 1,
            faults=tuple(port(one, "", 0.95) for one in bad),
        )
        located = sweep(world, rounds=12, seed=seed)[1]
        assert {one.subject for one in located.blames} <= {world.names[one] for one in bad}
        hits += len(located.blames)
    assert hits >= 28


@pytest.mark.slow
def test_good_worlds_of_a_thousand_many_times() -> None:
    blamed = sum(
        bool(sweep(World(nodes=1024, leaves=64, seed=seed + 500), rounds=12, seed=seed)[1].blames)
        for seed in range(150)
    )
    assert blamed <= 2
