"""What a slow link is asked for, and how long it may take."""

import pytest

from wireproof.measure.points import (
    SIZES,
    affordable,
    formula_messages,
    paced,
    provable,
    sweep,
    with_time,
)
from wireproof.model.errors import BadInput
from wireproof.model.plan import Formula, Point, Policy

MBIT = 1e6
PAIR = [(0, 1)]


@pytest.mark.parametrize(
    "rate", [10 * MBIT, 100 * MBIT, 1000 * MBIT, 10_000 * MBIT, 400_000 * MBIT]
)
def test_what_is_under_way_follows_the_rate_and_each_size_has_its_six_windows(rate: float) -> None:
    policy = paced(Policy(), rate)
    assert policy.in_flight_bytes <= Policy().in_flight_bytes
    for size in affordable(SIZES, rate):
        window_s = max(2, min(64, policy.in_flight_bytes // max(1, size))) * size * 8 / rate
        assert 8 * window_s <= 2 * policy.point_budget_ms / 1e3


def test_a_fast_link_is_asked_for_everything_and_a_slow_one_still_for_what_fills_it() -> None:
    assert affordable(SIZES, 1e9) == SIZES
    assert affordable(SIZES, None) == SIZES
    assert max(affordable(SIZES, 10 * MBIT)) == 65536
    assert max(affordable(SIZES, 0.1 * MBIT)) == 65536
    assert paced(Policy(), None) == Policy()
    assert paced(Policy(), 100e9) == Policy()


def test_small_messages_are_repeated_until_counters_can_tell_them() -> None:
    pings = provable(sweep("pingpong", [0, 8, 16384], PAIR), 16384)
    assert [point.least_operations for point in pings] == [820, 586, 1]
    streams = provable(sweep("stream", [8, 4 << 20], PAIR), 16384)
    assert [point.least_operations for point in streams] == [2048, 1]
    counted = sweep("pingpong", [8], PAIR, formula="osu")
    assert provable(counted, 16384) == tuple(counted)


def test_sizes_of_the_user_get_the_time_that_they_need() -> None:
    points, policy = with_time(sweep("stream", [32 << 20, 64 << 20, 8], PAIR), Policy(), 1e9)
    budgets = [point.budget_ms or policy.point_budget_ms for point in points]
    for point, budget in zip(points, budgets, strict=True):
        assert 2 * budget >= 8 * 2 * point.message_bytes * 8e3 / 1e9
        assert policy.point_deadline_ms > 2 * budget
    assert points[2].budget_ms is None
    given, _ = with_time(sweep("stream", [64 << 20], PAIR), Policy(), 1e9, budget_given=True)
    assert given[0].budget_ms is None


def test_a_formula_meets_its_deadline_at_the_claimed_rate() -> None:
    point = sweep("stream", [4 << 20], PAIR, formula="osu")[0]
    assert formula_messages(point) == 22 * 64
    _, policy = with_time([point], Policy(), 1e9)
    assert (
        policy.point_deadline_ms / 1e3
        > 22 * 64 * (4 << 20) * 8 / 1e9
        > Policy().point_deadline_ms / 1e3
    )


def test_a_formula_that_cannot_end_is_refused_with_the_arithmetic() -> None:
    point = sweep("stream", [4 << 20], PAIR, formula="osu")[0]
    with pytest.raises(BadInput, match=r"1408 messages by osu's count\) takes 4724 s at 10 Mb/s"):
        with_time([point], Policy(), 10 * MBIT)


@pytest.mark.parametrize(
    ("formula", "size", "count"),
    [
        ("osu", 8, 110 * 64),
        ("osu", 8193, 22 * 64),
        ("imb-mpi1", 4 << 20, 30 * 64),
        ("imb-p2p", 1 << 20, 880 * 64),
    ],
)
def test_the_suites_counts(formula: Formula, size: int, count: int) -> None:
    assert (
        formula_messages(
            Point(id=0, pattern="stream", form="stream", message_bytes=size, formula=formula)
        )
        == count
    )
