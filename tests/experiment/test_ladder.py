"""Lines of layers, and the steps between them, on made-up rounds whose truth is known."""

import random
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import seeds

from wireproof.experiment.ladder import LayerName, LayerStep
from wireproof.experiment.ladder.steps import Round, enough_rounds, fitted
from wireproof.experiment.ladder.verdict import Rung, decided
from wireproof.stats import above, shift

SIZES = (8, 64, 512, 4096, 16384, 65536, 262144, 1 << 20, 4 << 20)
NAMES: tuple[LayerName, ...] = ("tcp", "ofi", "mpi", "collective")
EAGER = 32768


def world(
    seed: int,
    start_ns: Mapping[LayerName, float] | None = None,
    gap: Mapping[LayerName, float] | None = None,
    *,
    names: Sequence[LayerName] = NAMES,
    rounds: int = 0,
) -> list[Rung]:
    """Each layer has so much more start (ns) and gap (ns/B) than the one below, over 20 us and
    1 GB/s; MPI changes its protocol. Noise: 2 % of a launch, 1 % of a size, a drift of all layers.
    """
    rng = random.Random(seed)
    count = rounds or enough_rounds(len(names) - 1)
    times: dict[LayerName, list[Round | None]] = {name: [] for name in names}
    for number in range(count):
        drift = 1.0 + 0.3 * number / count
        start, pace = 20_000.0, 1.0
        for name in names:
            start += (start_ns or {}).get(name, 0.0)
            pace += (gap or {}).get(name, 0.0)
            launch = drift * (1.0 + rng.gauss(0, 0.02))
            switch = 15_000.0 if name == "mpi" else 0.0
            times[name].append(
                Round(
                    {
                        size: launch
                        * (1.0 + rng.gauss(0, 0.01))
                        * (start + pace * size + (switch if size > EAGER else 0.0))
                        for size in SIZES
                    }
                )
            )
    return [fitted(name, times[name]) for name in names]


def lost(steps: Sequence[LayerStep]) -> list[tuple[str, str]]:
    return [(one.upper, one.quantity) for one in steps if one.answer == "loses"]


@pytest.mark.parametrize("layer", ["ofi", "mpi", "collective"])
def test_eleven_microseconds_at_one_layer_are_named_in_every_world(
    layer: LayerName, slow_turn: int | None
) -> None:
    for seed in seeds(100, slow_turn, 20):
        assert lost(decided(world(seed, {layer: 11_000.0}), 0.25)) == [(layer, "start")]


def test_nothing_is_named_where_nothing_is_lost() -> None:
    found = [decided(world(seed), 0.25) for seed in range(100)]
    assert [lost(steps) for steps in found] == [[]] * 100
    open_ = sum(one.answer == "undecided" for steps in found for one in steps)
    assert open_ <= 6  # of 600: the interval of each must end below the threshold


def test_a_lost_rate_is_named_with_what_is_left(slow_turn: int | None) -> None:
    for seed in seeds(100, slow_turn, 20):
        steps = decided(world(seed, gap={"mpi": 3.0}), 0.25)
        assert lost(steps) == [("mpi", "rate")]
        step = next(one for one in steps if one.answer == "loses")
        assert step.low <= 4.0 * 1.03
        assert step.high >= 4.0 * 0.97


def test_two_layers_that_lose_are_both_named(slow_turn: int | None) -> None:
    for seed in seeds(100, slow_turn, 20):
        steps = decided(world(seed, {"ofi": 11_000.0}, {"collective": 1.0}), 0.25)
        assert lost(steps) == [("ofi", "start"), ("collective", "rate")]


def test_what_the_layer_above_does_not_pay_is_said() -> None:
    steps = decided(world(1, {"ofi": 20_000.0, "mpi": -20_000.0}), 0.25)
    (step,) = [one for one in steps if one.answer == "loses"]
    assert (step.upper, step.regained) == ("ofi", "mpi")


def test_a_step_spans_over_a_layer_that_is_not_there() -> None:
    steps = decided(world(3, {"mpi": 11_000.0}, names=("tcp", "mpi")), 0.25)
    assert {(one.lower, one.upper) for one in steps} == {("tcp", "mpi")}
    assert lost(steps) == [("mpi", "start")]


def test_an_application_stands_on_messages_and_not_on_a_collective() -> None:
    names: tuple[LayerName, ...] = ("tcp", "mpi", "collective", "application")
    slow = {"collective": 30_000.0, "application": -30_000.0}
    steps = decided(world(2, slow, names=names), 0.25)
    assert {(one.lower, one.upper) for one in steps} == {
        ("tcp", "mpi"),
        ("mpi", "collective"),
        ("mpi", "application"),
    }
    assert lost(steps) == [("collective", "start")]
    assert steps[2].regained is None  # the application does not go through it anyway


def test_the_intervals_hold_the_truth() -> None:
    """All together with 95 %: of 100 worlds some may miss."""
    missed = 0
    for seed in range(100):
        steps = decided(world(seed, {"mpi": 11_000.0}), 0.25)
        truth = {("mpi", "start"): 31.0 / 20.0}
        missed += any(
            not one.low <= truth.get((one.upper, one.quantity), 1.0) <= one.high
            for one in steps
            if one.low is not None and one.high is not None
        )
    assert missed <= 12


def test_too_few_rounds_decide_nothing() -> None:
    steps = decided(world(1, {"mpi": 11_000.0}, rounds=3), 0.25)
    assert {one.answer for one in steps} == {"undecided"}
    assert all(one.low is None for one in steps)


def test_a_protocol_switch_is_no_loss_of_start_or_rate() -> None:
    rungs = {one.name: one.line for one in world(5)}
    assert rungs["tcp"].switch_bytes is None
    assert rungs["mpi"].switch_bytes == 16384
    rate, start = rungs["mpi"].rate, rungs["mpi"].start
    assert rate.value == pytest.approx(1e9 / 1.15, rel=0.1)
    assert start.value == pytest.approx(20_000 * 1.15, rel=0.1)


def test_a_round_that_failed_is_left_out() -> None:
    good = Round({size: 1000.0 + size for size in SIZES})
    found = fitted("tcp", [good, None, good])
    assert found.each["start"][1] is None
    assert found.each["start"][0] == pytest.approx(1000.0)
    with pytest.raises(ValueError, match="without a round"):
        fitted("tcp", [None])


def test_noise_without_a_slope_has_no_rate() -> None:
    falling = Round({size: 1e6 / (1 + place) for place, size in enumerate(SIZES)})
    assert fitted("tcp", [falling] * 8).line.rate is None


@given(st.lists(st.floats(-5, 5).map(lambda x: round(x, 3)), min_size=1, max_size=12))
def test_the_test_and_the_interval_agree(values: list[float]) -> None:
    """An interval at alpha lies above a number exactly when the one-sided test at alpha / 2
    rejects it.
    """
    found = shift(values, 0.1)
    if found.low is not None:
        at = found.low - 1e-6
        assert above(values, at) <= 0.05
        assert above(values, found.low + 1e-9) > 0.05
    assert above([], 0.0) == 1.0
