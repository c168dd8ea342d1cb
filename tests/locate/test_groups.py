"""Grouped medians against the plain way."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wireproof.locate.samples import Groups


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 5), st.floats(-10, 10), st.booleans()), max_size=60))
def test_medians_are_those_of_the_plain_way(rows: list[tuple[int, float, bool]]) -> None:
    group = np.asarray([row[0] for row in rows], dtype=np.int64)
    values = np.asarray([row[1] for row in rows], dtype=np.float64)
    use = np.asarray([row[2] for row in rows], dtype=np.bool_)
    medians, members = Groups(group, 6).median(values, use)
    for number in range(6):
        own = np.sort(values[(group == number) & use])
        assert members[number] == own.size
        if own.size == 0:
            assert np.isnan(medians[number])
        else:
            assert medians[number] == pytest.approx(own[0] if own.size == 2 else np.median(own))


def test_one_huge_group_among_many_takes_no_huge_table() -> None:
    group = np.concatenate((np.zeros(20_000, dtype=np.int64), np.arange(5_000)))
    values = np.arange(25_000, dtype=np.float64)
    medians, members = Groups(group, 5_000).median(values)
    assert members[0] == 20_001
    assert medians[0] == 10_000.0
    assert medians[4_999] == 24_999.0


def test_the_best_needs_several_partners() -> None:
    group = np.asarray([0] * 8 + [1] * 3 + [2])
    values = np.asarray([8, 7, 6, 5, 4, 3, 2, 1, 30, 10, 20, 5], dtype=np.float64)
    assert Groups(group, 4).best(values)[0].tolist()[:3] == [3.0, 20.0, 5.0]
    assert np.isnan(Groups(group, 4).best(values)[0][3])


def test_early_is_the_lower_quartile() -> None:
    group = np.zeros(9, dtype=np.int64)
    assert Groups(group, 1).median(np.arange(9, dtype=np.float64), early=True)[0][0] == 2.0
