"""Rounds cover every pair once; sweeps are shuffled reproducibly."""

from itertools import combinations

import pytest

from wireproof.measure.points import SIZES, numbered, sweep
from wireproof.measure.schedule import screen_rounds


def rounds(count: int) -> list[list[tuple[int, int]]]:
    """Every pair, in rounds."""
    return screen_rounds(count, None, 1, count - 1 + count % 2)


@pytest.mark.parametrize("ranks", [2, 3, 4, 5, 8, 15, 16, 33])
def test_rounds_cover_every_pair_once_and_are_disjoint(ranks: int) -> None:
    table = rounds(ranks)
    seen = [pair for pairs in table for pair in pairs]
    assert sorted(seen) == list(combinations(range(ranks), 2))
    assert len(table) == ranks - 1 + ranks % 2
    for pairs in table:
        members = [rank for pair in pairs for rank in pair]
        assert len(members) == len(set(members))


@pytest.mark.parametrize("ranks", [0, 1])
def test_no_pairs_without_two_ranks(ranks: int) -> None:
    assert rounds(ranks) == []


def test_zero_bytes_only_where_it_means_something() -> None:
    assert [point.message_bytes for point in sweep("pingpong", SIZES, [(0, 1)])][:2] == [0, 1]
    assert sweep("stream", SIZES, [(0, 1)])[0].message_bytes == 1


def test_numbering_is_reproducible_and_complete() -> None:
    points = sweep("pingpong", SIZES, [(0, 1)])
    first, again, other = (numbered(points, seed=seed, repeats=2) for seed in (7, 7, 8))
    assert first == again != other
    assert [point.id for point in first] == list(range(2 * len(SIZES)))
    assert {point.message_bytes for point in first if point.repeat == 1} == set(SIZES)
