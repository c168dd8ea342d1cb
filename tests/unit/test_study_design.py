"""The order of a study's launches, and how many are needed."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wireproof.locate.significance import holm
from wireproof.study.design import BLOCK_VALUES, launches, least_rounds, round_blocks
from wireproof.study.effects import chance_of


@given(st.integers(1, 64), st.integers(0, 1 << 31), st.integers(0, 50))
def test_a_round_has_every_value_once_and_the_base_in_every_block(
    values: int, seed: int, number: int
) -> None:
    blocks = round_blocks(values, seed, number)
    assert sorted(one for block in blocks for one in block if one) == list(range(1, values + 1))
    assert all(block.count(0) == 1 and 2 <= len(block) <= BLOCK_VALUES + 1 for block in blocks)
    assert sum(map(len, blocks)) == launches(values)
    assert blocks == round_blocks(values, seed, number)


def test_the_base_has_every_place_equally_often() -> None:
    places = Counter(block.index(0) for n in range(4000) for block in round_blocks(4, 1, n))
    assert set(places) == set(range(5))
    assert min(places.values()) > 0.9 * 800


@pytest.mark.parametrize("comparisons", [1, 4, 15, 50, 320])
def test_so_many_rounds_can_reject_the_first_of_holms_hypotheses(comparisons: int) -> None:
    import numpy as np

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
