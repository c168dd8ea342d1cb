"""Intervals of every design hold the truth as often as they say, and a placebo is no effect.

The seeds are 0, 1, ... in each case, so a case gives the same shares each time;
`python -m benchmarks.experiment_coverage` has 1,000 of each.
"""

import pytest
from benchmarks.experiment_coverage import row


@pytest.mark.parametrize(
    ("design", "nominal", "seeds"),
    [
        ("try", "together", 300),
        ("study", "single", 60),
        ("ladder", "together", 500),
        ("gain", "single", 60),
    ],
)
def test_intervals_hold_the_truth_and_a_placebo_has_no_effect(
    design: str, nominal: str, seeds: int
) -> None:
    found = row(design, seeds)
    assert getattr(found, nominal) >= 0.93
    assert found.false <= 0.05
