"""Intervals of every design hold the truth as often as they say, and a placebo is no effect.

The seeds are 0, 1, ... in each case, so a case gives the same shares each time;
`python -m benchmarks.experiment_coverage` has 1,000 of each.
"""

import itertools

import pytest
from benchmarks.experiment_coverage import NOISES, row
from tests.conftest import some_of

DESIGNS = (
    ("gain", "single", 500),
    ("gain, 2 rounds", "single", 500),
    ("gain, 3 rounds", "single", 500),
    ("gain, 8 rounds", "single", 500),
    ("try", "together", 300),
    ("study", "single", 60),
    ("ladder", "together", 500),
    ("compare", "single", 500),
    ("compare, 8 launches", "single", 500),
    ("compare, 4 routes", "single", 500),
)
CASES = [(noise, *design) for noise, design in itertools.product(NOISES, DESIGNS)]


@pytest.mark.parametrize(("noise", "design", "nominal", "seeds"), some_of(CASES, len(DESIGNS)))
def test_intervals_hold_the_truth_and_a_placebo_has_no_effect(
    noise: str, design: str, nominal: str, seeds: int
) -> None:
    found = row(design, seeds, noise)
    assert getattr(found, nominal) >= 0.93
    assert found.false <= 0.05
