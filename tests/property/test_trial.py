"""Trials on made-up series: a true effect is found, a placebo is not, whatever the noise is like.

The seeds are 0 to 99 in each case, so a case gives the same counts each time. The tables of
docs/try.md have more cases and more seeds (`python -m benchmarks.trial_power`).
"""

import dataclasses
import itertools

import pytest
from benchmarks.trial_series import World, answers
from hypothesis import given, settings
from hypothesis import strategies as st

from wireproof.stats import shift

TRIALS = 100
NOISES = {
    "quiet": World(sigma=0.01, blocks=12),
    "a lab": World(sigma=0.03, blocks=20),
    "drift": World(sigma=0.03, blocks=20, drift=0.2),
    "a slow wave": World(sigma=0.03, blocks=20, wave=0.1),
    "memory": World(sigma=0.03, blocks=20, memory=0.6),
    "outliers": World(sigma=0.02, blocks=40, outliers=0.03),
    "a late first run": World(sigma=0.02, blocks=25, late=0.04),
}


def with_effect(world: World, effect: float) -> World:
    return dataclasses.replace(world, effect=effect)


@pytest.mark.parametrize("name", NOISES)
def test_ten_per_cent_is_found(name: str) -> None:
    found, _ = answers(with_effect(NOISES[name], 0.1), TRIALS)
    assert found["helps"] >= 95, found
    assert found["hurts"] == 0, found


@pytest.mark.parametrize("name", NOISES)
def test_a_placebo_has_no_effect(name: str) -> None:
    found, _ = answers(NOISES[name], TRIALS)
    assert found["no-effect"] >= 95, found


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=9),
    st.sampled_from((0.008, 0.02, 0.05, 0.2)),
)
def test_the_interval_keeps_its_level_whatever_the_noise(sizes: list[float], alpha: float) -> None:
    """All orders of the blocks' values are equally likely: over them the level holds exactly."""
    missed = 0
    for signs in itertools.product((-1.0, 1.0), repeat=len(sizes)):
        found = shift([sign * size for sign, size in zip(signs, sizes, strict=True)], alpha)
        if found.low is not None and found.high is not None:
            missed += found.low > 0.0 or found.high < 0.0
    assert missed <= alpha * 2 ** len(sizes)


def test_what_cannot_be_known_is_called_undecided() -> None:
    """Noise of half the value in six blocks: neither answer is honest."""
    found, _ = answers(World(sigma=0.5, blocks=6), TRIALS)
    assert found["undecided"] >= 95, found


def test_of_four_values_only_the_one_that_helps_does() -> None:
    found, _ = answers(World(sigma=0.02, blocks=16, values=4, effect=0.1), 40)
    assert found["helps"] == 40, found
