"""The screen's and the confirm stage's analysis at their edges: little, odd, hostile or
contradictory samples.
"""

import dataclasses

import numpy as np
import pytest
from tests.records import holds

from wireproof.locate.confirm import conclude
from wireproof.locate.samples import Samples
from wireproof.locate.screen import screen
from wireproof.locate.screen.screened import Screened
from wireproof.locate.screen.strata import places_of, tiers_of
from wireproof.locate.significance import LocateCriteria
from wireproof.locate.world import World, WorldFault
from wireproof.measure.schedule import screen_rounds
from wireproof.model.located import Attachment, Cable, Fabric, Metric


def rounds(count: int) -> list[list[tuple[int, int]]]:
    """Every pair, in rounds."""
    return screen_rounds(count, None, 1, count - 1 + count % 2)


NOISELESS = {"sigma": 1e-6, "spread": 0.0, "tail_share": 0.0}


def samples_from(
    rows: list[tuple[int, int, int, float]], nodes: int, metric: Metric = "goodput"
) -> Samples:
    table = np.asarray(rows, dtype=np.float64).reshape(-1, 4)
    return Samples(
        metric=metric,
        nodes=tuple(f"n{number}" for number in range(nodes)),
        origin=table[:, 0].astype(np.int32),
        target=table[:, 1].astype(np.int32),
        round=table[:, 2].astype(np.int32),
        value=table[:, 3],
        half_width=np.full(len(table), np.nan),
    )


def cut(samples: Samples, keep: np.ndarray) -> Samples:  # type: ignore[type-arg]
    columns = {
        name: getattr(samples, name)[keep]
        for name in ("origin", "target", "round", "value", "half_width")
    }
    return dataclasses.replace(samples, **columns)


# --- little


@pytest.mark.parametrize("nodes", [0, 1, 5])
@pytest.mark.parametrize("metric", ["goodput", "hrt"])
def test_no_samples_at_all_clear_nobody(nodes: int, metric: Metric) -> None:
    screened = screen(samples_from([], nodes, metric))
    assert (screened.suspects, screened.good, screened.located.blames) == ([], [], [])
    assert screened.located.measured == 0
    assert screened.located.detectable == 1.0
    assert list(screened.located.missing) == [f"n{number}" for number in range(nodes)]
    assert conclude(screened, None) == screened.located


def test_one_sample_is_no_evidence() -> None:
    located = screen(samples_from([(0, 1, 0, 1e9)], 4)).located
    assert located.blames == []
    assert located.measured == 2
    assert set(located.missing) == {"n2", "n3"}


def test_one_round_of_many_nodes_blames_nobody_by_chance() -> None:
    world = World(nodes=400, seed=3)
    located = screen(world.measure([[(2 * one, 2 * one + 1) for one in range(200)]])).located
    assert located.blames == []
    assert located.rounds == 1
    assert located.detectable > 0.05


def test_a_direction_without_samples_is_named() -> None:
    samples = World(nodes=6).measure(rounds(6))
    located = screen(cut(samples, samples.target != 2)).located
    assert located.missing == {"n2": "no sample in its receiving direction"}
    assert located.blames == []


def test_a_node_that_never_measured_is_missing_and_the_rest_goes_on() -> None:
    fault = WorldFault(kind="port", node=1, direction="tx", share=0.7)
    samples = World(nodes=8, faults=(fault,)).measure(rounds(8))
    located = screen(cut(samples, (samples.origin != 5) & (samples.target != 5))).located
    assert located.missing == {"n5": "no sample"}
    assert [(one.subject, one.direction) for one in located.blames] == [("n1", "tx")]


# --- exact


def test_without_noise_the_figures_are_the_planted_ones() -> None:
    fault = WorldFault(kind="port", node=3, direction="rx", share=0.8)
    world = World(nodes=8, faults=(fault,), **NOISELESS)  # type: ignore[arg-type]
    screened = screen(world.measure(rounds(8)))
    (blame,) = screened.located.blames
    assert blame.slowdown == pytest.approx(0.2, abs=1e-3)
    assert blame.value == pytest.approx(0.8 * world.rate, rel=1e-3)
    assert blame.expected == pytest.approx(world.rate, rel=1e-3)
    assert (blame.stage, blame.direction) == ("screened", "rx")
    assert blame.confidence <= 0.95
    assert "n3" not in screened.good
    assert len(screened.good) == 7


@pytest.mark.parametrize(("share", "blamed"), [(0.97, False), (0.93, True)])
def test_the_practical_threshold(share: float, blamed: bool) -> None:
    """3 % slower is not a fault however sure it is; 7 % is one. The threshold can be set."""
    world = World(nodes=16, faults=(WorldFault(kind="node", node=4, share=share),), **NOISELESS)  # type: ignore[arg-type]
    samples = world.measure(rounds(16))
    assert bool(screen(samples).located.blames) is blamed
    assert screen(samples, None, LocateCriteria(practical_goodput=0.25)).located.blames == []


def test_all_slow_alike_is_not_for_locate() -> None:
    faults = tuple(WorldFault(kind="node", node=one, share=0.5) for one in range(8))
    world = World(nodes=8, faults=faults)
    assert screen(world.measure(rounds(8))).located.blames == []


def test_the_expected_value_of_each_sample_follows_its_slower_port() -> None:
    fault = WorldFault(kind="port", node=3, direction="tx", share=0.5)
    world = World(nodes=8, faults=(fault,), **NOISELESS)  # type: ignore[arg-type]
    samples = world.measure(rounds(8))
    assert screen(samples).expected == pytest.approx(samples.value, rel=0.01)


# --- hostile


@pytest.mark.parametrize("value", [0.0, -1.0, float("nan"), float("inf")])
def test_values_that_are_none_are_refused(value: float) -> None:
    with pytest.raises(ValueError, match="not positive and finite"):
        screen(samples_from([(0, 1, 0, value)], 2))


@pytest.mark.parametrize(
    ("row", "sentence"),
    [((0, 7, 0, 1e9), "contains node number 7"), ((1, 1, 0, 1e9), "are the same node")],
)
def test_nodes_that_are_none_are_refused(row: tuple[int, int, int, float], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        screen(samples_from([row], 2))


def test_extreme_values_do_not_overflow() -> None:
    rng = np.random.default_rng(1)
    rows = [(a, b, 0, 10.0 ** rng.uniform(-300, 300)) for a in range(5) for b in range(5) if a != b]
    located = screen(samples_from(rows, 5)).located
    assert np.isfinite(located.noise)
    assert all(np.isfinite(one.slowdown) for one in located.blames)


def test_a_confirm_stage_of_another_metric_is_refused() -> None:
    world = World(nodes=4)
    screened = screen(world.measure(rounds(4)))
    with pytest.raises(ValueError, match="the confirm stage measured hrt"):
        conclude(screened, world.measure(rounds(4), "hrt"))


# --- the confirm stage


BAD = World(
    nodes=8,
    faults=(WorldFault(kind="port", node=3, direction="tx", share=0.8),),
    seed=2,
    tail_share=0.0,
)
GOOD = World(nodes=8, seed=9, tail_share=0.0)
AGAIN = [[(3, one)] for one in (0, 5, 7)] * 5


@pytest.fixture(scope="module")
def bad() -> Screened:
    """n3 sends at 80 %."""
    return screen(BAD.measure(rounds(8)))


def test_without_a_confirm_stage_nothing_is_confirmed(bad: Screened) -> None:
    located = conclude(bad, None)
    (blame,) = located.blames
    assert blame.stage == "screened"
    assert blame.confidence <= 0.95
    assert "not measured again alone" in blame.evidence[0]
    assert located.notes


def test_confirmed_and_cleared(bad: Screened) -> None:
    (blame,) = conclude(bad, BAD.measure(AGAIN, alone=True)).blames
    holds(blame, kind="port", subject="n3", direction="tx", stage="confirmed")
    assert blame.low < 0.2 < blame.high
    assert "slower to n5" in " ".join(blame.evidence)
    located = conclude(bad, GOOD.measure(AGAIN, alone=True))
    holds(located, blames=[], cleared=["n3 tx"])
    assert located.contention[0].subject == "n3 tx"
    assert located.contention[0].loaded < 0.85 * located.contention[0].alone


def test_a_direction_that_was_not_measured_again_is_not_cleared(bad: Screened) -> None:
    """Every point out of the suspect ended at its deadline: what reaches it is fast, and says
    nothing about it.
    """
    again = BAD.measure(AGAIN, alone=True)
    located = conclude(bad, cut(again, again.origin != 3))
    assert located.cleared == []
    assert [(one.subject, one.stage) for one in located.blames] == [("n3", "screened")]
    assert "n3 tx: not measured again" in located.notes[-1]


def test_slow_with_one_partner_only_is_the_pairs_fault(bad: Screened) -> None:
    fault = WorldFault(kind="pair", node=3, other=5, share=0.7, direction="tx")
    pair = dataclasses.replace(GOOD, faults=(fault,))
    located = conclude(bad, pair.measure(AGAIN, alone=True))
    assert [(one.kind, one.subject) for one in located.blames] == [("pair", "n3 -> n5")]


def test_controls_say_what_is_expected_now(bad: Screened) -> None:
    """The whole machine is 30 % slower in the confirm stage: good pairs are too, and the suspect is
    no slower. The suspect's good direction is a control as well.
    """
    slow = dataclasses.replace(GOOD, rate=0.7 * BAD.rate)
    again = slow.measure(AGAIN, alone=True)
    assert conclude(bad, again).cleared == ["n3 tx"]
    assert conclude(bad, cut(again, again.origin == 3)).blames
    controls = slow.measure([*AGAIN[:3], [(1, 2)]] * 5, alone=True)
    assert conclude(bad, cut(controls, controls.target != 3)).blames == []


def test_a_faster_machine_in_the_confirm_stage_hides_nobody(bad: Screened) -> None:
    """Alone everything is a quarter faster, the bad port too: it is slow against the others all the
    same.
    """
    fast = dataclasses.replace(BAD, rate=1.25 * BAD.rate)
    (blame,) = conclude(bad, fast.measure(AGAIN, alone=True)).blames
    assert (blame.subject, blame.direction) == ("n3", "tx")
    assert blame.slowdown == pytest.approx(0.2, abs=0.03)


def test_nodes_of_another_run_are_no_partners(bad: Screened) -> None:
    other = World(nodes=8).measure([[(3, 1)]] * 5, alone=True)
    located = conclude(bad, dataclasses.replace(other, nodes=tuple("abcdefgh")))
    assert [one.stage for one in located.blames] == ["screened"]


# --- tiers


def test_three_levels_of_switches_are_three_tiers() -> None:
    """Two pods of two leaves each: one switch, one pod (level 2), across pods (level 3)."""
    leaves = ["a1", "a2", "b1", "b2"]
    cables = [Cable(one=leaf, other=f"{leaf[0]}-spine") for leaf in leaves]
    cables += [Cable(one="top", other="a-spine"), Cable(one="top", other="b-spine")]
    fabric = Fabric(
        attachments=tuple(
            Attachment(node=f"n{number}", switch=leaves[number // 2]) for number in range(8)
        ),
        levels={**dict.fromkeys(leaves, 1), "a-spine": 2, "b-spine": 2, "top": 3},
        cables=tuple(cables),
    )
    samples = World(nodes=8).measure([[(0, 1)], [(0, 2)], [(0, 4)]])
    tier, names = tiers_of(samples, places_of(samples.nodes, fabric))
    assert [names[one] for one in tier[:3]] == [
        "one switch",
        "across leaves, by level 2",
        "across leaves, by level 3",
    ]


def test_nodes_that_the_fabric_does_not_know_and_fabrics_that_know_nobody() -> None:
    samples = World(nodes=4).measure([[(0, 1)], [(2, 3)]])
    some = Fabric(
        attachments=(Attachment(node="n0", switch="s"), Attachment(node="n1", switch="s")),
        levels={"s": 1},
    )
    tier, names = tiers_of(samples, places_of(samples.nodes, some))
    assert [names[one] for one in tier[:2]] == ["one switch", "place unknown"]
    nobody = Fabric(attachments=(Attachment(node="x", switch="s"),), levels={"s": 1})
    assert tiers_of(samples, places_of(samples.nodes, nobody))[1] == ("all pairs",)
    assert screen(samples, nobody).located.tiers[0].name == "all pairs"


def test_cables_in_a_ring_and_levels_that_lie_do_not_hang() -> None:
    cables = (
        Cable(one="s", other="t"),
        Cable(one="t", other="u"),
        Cable(one="u", other="s"),
        Cable(one="s", other="s"),
    )
    for levels in ({"s": 1, "t": 2, "u": 3}, {"s": 1, "t": 1, "u": 1}, {}):
        fabric = Fabric(
            attachments=(Attachment(node="n0", switch="s"), Attachment(node="n1", switch="t")),
            levels=levels,
            cables=cables,
        )
        assert places_of(("n0", "n1"), fabric).reach is not None


def test_the_world_measures_the_same_twice_and_shares_links() -> None:
    world = World(nodes=8, leaves=2, uplinks=4, **NOISELESS)  # type: ignore[arg-type]
    turn = [[(0, 4), (1, 5), (2, 6), (3, 7)]]
    first, second = world.measure(turn), world.measure(turn)
    assert np.array_equal(first.value, second.value)
    assert first.value == pytest.approx(np.full(8, world.rate), rel=1e-4)
    narrow = dataclasses.replace(world, uplinks=1)
    assert narrow.measure(turn).value == pytest.approx(np.full(8, world.rate / 4), rel=1e-4)
    assert narrow.measure(turn, alone=True).value == pytest.approx(np.full(8, world.rate), rel=1e-4)
