"""The order of an experiment's trials, when it ends, what an interruption leaves."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wireproof.experiment import (
    Bench,
    Contrast,
    Design,
    Experiment,
    TrialPlace,
    carry_out,
    least_rounds,
)
from wireproof.experiment.effects import Trial, chance_of, effects
from wireproof.experiment.kept import Keeper
from wireproof.locate.significance import holm
from wireproof.model.errors import BadInput, CouldNotMeasure, WireproofError
from wireproof.model.experiment import BegunExperiment, InterimLook, Metric

RATE = Metric(name="rate", unit="bytes_per_s", better="higher", source="")
TIME = Metric(name="time", unit="ns", better="lower", source="")


class Clock:
    """Moves when a trial is run."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Made(Bench[TrialPlace]):
    """Trials of ``seconds``; ``at`` is called with each place first."""

    def __init__(
        self, clock: Clock, seconds: float = 1.0, at: Callable[[TrialPlace], None] = lambda _: None
    ) -> None:
        self.clock, self.seconds, self.at = clock, seconds, at
        self.looks: list[int] = []
        self.left_out: list[TrialPlace] = []

    def run(self, place: TrialPlace) -> TrialPlace:
        self.at(place)
        self.clock.now += self.seconds
        return place

    def decided(self, experiment: Experiment[TrialPlace]) -> bool:
        self.looks.append(experiment.rounds)
        return experiment.rounds >= 12


def carried(
    design: Design, bench: Made, begun: Experiment[TrialPlace] | None = None
) -> Experiment[TrialPlace]:
    return carry_out(begun or Experiment(design=design), bench, [].append, bench.clock)


def test_a_mirrored_block_is_the_same_from_both_ends_and_its_order_is_drawn() -> None:
    two = Design(arms=(0, 1), seed="1", shape="mirrored")
    orders = Counter(two.order(number)[0] for number in range(400))
    assert set(orders) == {(0, 1, 1, 0), (1, 0, 0, 1)}
    assert min(orders.values()) > 150
    four = Design(arms=(0, 1, 2, 3), seed="9", shape="mirrored")
    for number in range(20):
        (order,) = four.order(number)
        assert set(order) == {0, 1, 2, 3}
        assert order == order[::-1] == four.order(number)[0]


@given(st.integers(1, 64), st.integers(0, 1 << 31), st.integers(0, 50))
def test_a_round_of_small_blocks_has_every_arm_once_and_the_base_in_each(
    values: int, seed: int, number: int
) -> None:
    arms = (0, *range(10, 10 + values))
    design = Design(arms=arms, seed=str(seed), shape="small")
    blocks = design.order(number)
    assert sorted(arm for block in blocks for arm in block if arm) == list(arms[1:])
    assert all(block.count(0) == 1 and 2 <= len(block) <= 5 for block in blocks)
    assert (sum(map(len, blocks)), len(blocks)) == (design.trials, design.blocks)
    assert blocks == design.order(number)


def test_the_base_has_every_place_of_a_small_block_equally_often() -> None:
    design = Design(arms=tuple(range(5)), seed="1", shape="small")
    places = Counter(block.index(0) for n in range(4000) for block in design.order(n))
    assert set(places) == set(range(5))
    assert min(places.values()) > 0.9 * 800


def test_all_rounds_are_carried_out_kept_and_said() -> None:
    design, bench = Design(arms=(0, 1, 2), seed="7", rounds=4), Made(Clock())
    heard: list[str] = []
    kept: list[int] = []
    found = carry_out(
        Experiment(design=design),
        bench,
        heard.append,
        bench.clock,
        lambda one: kept.append(one.rounds),
    )
    assert (found.stopped, found.rounds, found.seconds) == ("complete", 4, 12.0)
    assert kept == [1, 2, 3, 4]
    for number in range(4):
        arms = tuple(place.arm for place in found.trials if place.round_ == number)
        assert [arms] == design.order(number)
    assert heard[0] == "round 1 of 4; 3.0 s elapsed, about 9.0 s left"
    assert heard[-1] == "round 4 of 4; 12 s elapsed"


def test_what_came_before_the_first_round_is_not_expected_again() -> None:
    """A study reads back its values first."""
    design, bench = Design(arms=(0, 1), seed="7", rounds=3), Made(Clock())
    heard: list[str] = []
    carry_out(Experiment(design=design, seconds=100.0), bench, heard.append, bench.clock)
    assert heard[0] == "round 1 of 3; 1 min 42 s elapsed, about 4.0 s left"


def test_each_tenth_of_the_time_is_reported_if_the_time_decides() -> None:
    design, bench = Design(arms=(0, 1), seed="7", budget_s=100.0), Made(Clock())
    heard: list[str] = []
    carry_out(Experiment(design=design), bench, heard.append, bench.clock)
    assert heard[0] == "round 5; 10 s elapsed, at most 1 min 30 s left"
    assert len(heard) == 10


def test_blocks_are_numbered_through_all_rounds() -> None:
    design = Design(arms=tuple(range(7)), seed="7", shape="small", rounds=3)
    found = carried(design, Made(Clock()))
    assert sorted({place.block for place in found.trials}) == list(range(6))
    assert {(place.block // 2) for place in found.trials if place.round_ == 2} == {2}


def test_an_interrupted_experiment_goes_on_as_if_it_had_not_been() -> None:
    design = Design(arms=(0, 1, 2), seed="7", rounds=5)
    whole = carried(design, Made(Clock()))

    def stop(place: TrialPlace) -> None:
        if place == whole.trials[7]:
            raise KeyboardInterrupt

    half = carried(design, Made(Clock(), at=stop))
    assert (half.stopped, half.rounds, len(half.trials)) == ("interrupted", 2, 7)
    rest = Experiment(
        design=design,
        trials=[place for place in half.trials if place.round_ < half.rounds],
        rounds=half.rounds,
        seconds=half.seconds,
    )
    again = carried(design, Made(Clock()), rest)
    assert again.trials == whole.trials
    assert (again.stopped, again.seconds) == ("complete", 7.0 + 9.0)


def test_a_trial_that_fails_is_the_benchs_affair() -> None:
    def fail(place: TrialPlace) -> None:
        if place.arm == 1 and place.round_ == 1:
            raise CouldNotMeasure("gone")

    design = Design(arms=(0, 1), seed="7", rounds=3)
    with pytest.raises(CouldNotMeasure, match="gone"):
        carried(design, Made(Clock(), at=fail))

    class Lenient(Made):
        def failed(self, place: TrialPlace, error: WireproofError) -> None:
            self.left_out.append(place)

    lenient = Lenient(Clock(), at=fail)
    assert len(carried(design, lenient).trials) == 5
    assert [(place.round_, place.arm) for place in lenient.left_out] == [(1, 1)]


def test_a_bench_may_change_the_arms_of_the_rounds_to_come() -> None:
    class Losing(Made):
        def after(self, experiment: Experiment[TrialPlace]) -> Design:
            return Design(arms=(0, 2), seed="7", rounds=3)

    found = carried(Design(arms=(0, 1, 2), seed="7", rounds=3), Losing(Clock()))
    assert Counter(place.arm for place in found.trials) == {0: 3, 2: 3, 1: 1}


@pytest.mark.parametrize(
    ("budget_s", "rounds", "stopped", "looks"),
    [
        (1e9, 12, "decided", [8, 12]),
        (40.0, 10, "budget", [8, 10]),
        (20.0, 1, "too-slow", [1]),
        (24.0, 6, "budget", [6]),
    ],
)
def test_looks_come_on_time_and_the_last_one_at_the_end(
    budget_s: float, rounds: int, stopped: str, looks: list[int]
) -> None:
    design = Design(arms=(0, 1), seed="1", shape="mirrored", budget_s=budget_s, least=6, looks=True)
    bench = Made(Clock())
    found = carried(design, bench)
    assert (found.rounds, found.stopped, bench.looks) == (rounds, stopped, looks)
    assert [look.blocks for look in found.looks] == looks
    spent = sum(look.alpha for look in found.looks)
    assert spent == pytest.approx(0.05) if stopped != "decided" else spent < 0.05


@pytest.mark.parametrize(("budget_s", "stopped"), [(1e9, "decided"), (40.0, "budget")])
def test_a_stored_experiment_that_had_ended_stays_ended(budget_s: float, stopped: str) -> None:
    """Its last look has spent the error: no further round may count."""
    design = Design(arms=(0, 1), seed="1", shape="mirrored", budget_s=budget_s, looks=True)
    done = carried(design, Made(Clock()))
    rounds = done.rounds
    again = carried(design, Made(Clock()), done)
    assert (again.stopped, again.rounds, len(again.looks)) == (stopped, rounds, 2)


def test_looks_that_have_spent_the_error_end_a_damaged_experiment_too() -> None:
    design = Design(arms=(0, 1), seed="1", shape="mirrored", budget_s=1e9, looks=True)
    looks = [InterimLook(blocks=3, alpha=0.04), InterimLook(blocks=4, alpha=0.04)]
    again = carried(design, Made(Clock()), Experiment(design=design, rounds=7, looks=looks))
    assert (again.stopped, again.rounds, again.looks) == ("budget", 7, looks)


def test_no_round_is_begun_that_would_end_later() -> None:
    design = Design(arms=(0, 1), seed="1", rounds=9, budget_s=7.0)
    found = carried(design, Made(Clock()))
    assert (found.rounds, found.stopped, found.seconds) == (3, "budget", 6.0)


# --- stored experiments


@pytest.mark.parametrize(
    "wrong", [{"rounds": -1}, {"seed": -1}, {"seed": 1 << 63}, {"seconds": -1.0}]
)
def test_a_stored_experiment_with_impossible_numbers_is_refused(
    tmp_path: Path, wrong: dict[str, Any]
) -> None:
    begun = BegunExperiment(**{"asked": {}, "rounds": 1, "seed": 1, "seconds": 1.0} | wrong)
    keeper = Keeper(tmp_path, BegunExperiment)
    keeper.keep(begun)
    with pytest.raises(BadInput, match=r"begun\.json is damaged"):
        keeper.begun({})


def test_a_stored_experiment_of_other_options_is_refused(tmp_path: Path) -> None:
    keeper = Keeper(tmp_path, BegunExperiment)
    assert keeper.begun({"the hosts": "a,b"}) is None
    begun = BegunExperiment(asked={"the hosts": "a,b"}, rounds=1, seed=1, seconds=1.0)
    keeper.keep(begun)
    assert keeper.begun({"the hosts": "a,b"}) == begun
    with pytest.raises(BadInput, match="was started with the hosts 'a,b', not 'a,c'"):
        keeper.begun({"the hosts": "a,c"})


# --- effects


def trials(*blocks: dict[int, float], metric: str = "rate") -> list[Trial]:
    return [
        Trial(block, arm, {metric: number})
        for block, numbers in enumerate(blocks)
        for arm, number in numbers.items()
    ]


def design_of(**more: Any) -> Design:
    given: dict[str, Any] = {"metrics": (RATE,), "contrasts": (Contrast(0, 1),)}
    return Design(arms=(0, 1), seed="", **given | more)


def test_an_effect_has_its_numbers_in_the_sense_of_its_test() -> None:
    made = trials(*({0: 100.0, 1: 50.0},) * 8)
    (change,) = effects(design_of(), made)
    assert (change.answer, change.base, change.other, change.blocks) == ("hurts", 100.0, 50.0, 8)
    assert change.ratio.value == pytest.approx(0.5)
    assert change.difference.value == pytest.approx(-50.0)
    (loss,) = effects(design_of(test="loss", smallest=0.25), made)
    assert loss.answer == "hurts"
    assert loss.ratio.value == pytest.approx(2.0)
    assert loss.difference.value == pytest.approx(50.0)


def test_blocks_without_both_arms_and_warm_ups_do_not_count() -> None:
    made = [*trials({0: 1.0, 1: 1.0}, {0: 1.0}, {1: 1.0}), Trial(-1, 0, {"rate": 9.0})]
    made.append(Trial(-1, 1, {"rate": 9.0}))
    assert [found.blocks for found in effects(design_of(), made)] == [1]
    assert effects(design_of(), made[1:2]) == []
    assert effects(design_of(metrics=(TIME,)), made) == []


@pytest.mark.parametrize("test", ["interval", "change", "loss"])
def test_too_few_blocks_have_no_interval_and_no_answer(test: str) -> None:
    (found,) = effects(design_of(test=test), trials(*({0: 100.0, 1: 50.0},) * 4))
    assert (found.ratio.low, found.ratio.high, found.answer) == (None, None, "undecided")
    assert found.difference.low is None


def test_a_family_shares_its_error() -> None:
    made = trials(*({0: 100.0, 1: 50.0 + number} for number in range(6)))
    (alone,) = effects(design_of(), made)
    assert alone.answer == "hurts"
    more = effects(design_of(metrics=(RATE, TIME)), made)
    assert [found.answer for found in more] == ["undecided"]  # of two comparisons, one measured
    assert more[0].p == pytest.approx(2 * alone.p)
    loss = design_of(test="loss", metrics=(RATE, TIME))
    assert effects(loss, made)[0].ratio.low is not None  # the interval of what is compared alone


def test_a_repeated_arm_counts_by_its_mean_in_the_block() -> None:
    made = [
        Trial(block, arm, {"rate": rate})
        for block in range(6)
        for arm, rate in ((0, 50.0), (1, 80.0), (1, 20.0), (0, 200.0))
    ]
    (found,) = effects(design_of(), made)
    assert found.ratio.value == pytest.approx(0.4)
    assert found.difference.value == pytest.approx(-75.0)
    assert (found.base, found.other) == (125.0, 50.0)


@pytest.mark.parametrize("comparisons", [1, 4, 15, 50, 320])
def test_so_many_rounds_can_reject_the_first_of_holms_hypotheses(comparisons: int) -> None:
    rounds = least_rounds(comparisons, 0.05)
    clearest = chance_of([1.0 + n for n in range(rounds)])
    assert holm(np.asarray([clearest]), comparisons)[0] <= 0.05
    if rounds > 6:
        less = chance_of([1.0 + n for n in range(rounds - 1)])
        assert holm(np.asarray([less]), comparisons)[0] > 0.05


def test_chance_of_the_signed_rank_test() -> None:
    # ranks 1 to 7 with rank 2 negative: T = 2, P(T <= 2) = 3 / 128
    assert chance_of([1, 3, -2, 4, 5, 6, 7]) == pytest.approx(2 * 3 / 128)
    assert chance_of([-1, -3, 2, -4, -5, -6, -7]) == pytest.approx(2 * 3 / 128)
    assert chance_of([1.0, -1.0]) == 1.0
    assert chance_of([0.0] * 12) == 1.0
