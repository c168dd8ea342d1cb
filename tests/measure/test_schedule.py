"""Schedules of known sizes: what the sentences of the plan promise, counted."""

from collections import Counter, defaultdict
from itertools import combinations

import pytest

from wireproof.measure.points import (
    SIZES,
    affordable,
    formula_messages,
    numbered,
    paced,
    provable,
    sweep,
    with_time,
)
from wireproof.measure.schedule import (
    MOST_SUSPECTS,
    confirm_rounds,
    screen_round_count,
    screen_rounds,
    screen_size,
    unconfirmed,
)
from wireproof.model.errors import BadInput
from wireproof.model.plan import Formula, Point, Policy

FAT_TREE = [node // 16 for node in range(1024)]


def test_a_third_of_the_rounds_stays_inside_the_leaves() -> None:
    made = screen_rounds(1024, FAT_TREE, 1)
    inside = [{FAT_TREE[one] == FAT_TREE[other] for one, other in pairs} for pairs in made]
    assert inside.count({True}) == 4
    assert inside.count({False}) == 8


def test_no_two_flows_of_a_leaf_go_to_one_position() -> None:
    """With routing by destination each of 16 up-links then carries one flow at a time, in each
    direction.
    """
    for pairs in screen_rounds(1024, FAT_TREE, 7):
        out: dict[int, Counter[int]] = defaultdict(Counter)
        for one, other in pairs:
            if FAT_TREE[one] != FAT_TREE[other]:
                out[FAT_TREE[one]][other % 16] += 1
                out[FAT_TREE[other]][one % 16] += 1
        collisions = sum(times - 1 for flows in out.values() for times in flows.values())
        assert collisions <= 0.08 * 1024


def test_partners_across_hang_on_different_leaves() -> None:
    met: dict[int, list[int]] = defaultdict(list)
    for pairs in screen_rounds(1024, FAT_TREE, 3):
        for one, other in pairs:
            if FAT_TREE[one] != FAT_TREE[other]:
                met[one].append(FAT_TREE[other])
                met[other].append(FAT_TREE[one])
    again = sum(len(leaves) - len(set(leaves)) for leaves in met.values())
    assert again <= 0.01 * 8 * 1024


def test_another_node_rests_each_round() -> None:
    made = screen_rounds(1023, FAT_TREE[:-1], 5)
    resting = [set(range(1023)) - {node for pair in pairs for node in pair} for pairs in made]
    assert all(len(each) == 1 for each in resting)
    assert len(set.union(*resting)) == len(made)


def test_leaves_of_one_node_and_one_leaf_for_all() -> None:
    for leaves in ([0] * 100, list(range(100)), [-1] * 100, [0] * 95 + [1, 2, 3, 4, 5]):
        made = screen_rounds(100, leaves, 1)
        assert [len(pairs) for pairs in made] == [50] * 12


def test_more_rounds_than_a_tournament_has_start_again() -> None:
    made = screen_rounds(5, None, 1, rounds=11)
    times = Counter(pair for pairs in made for pair in pairs)
    assert len(made) == 11
    assert set(times.values()) <= {2, 3}
    assert len(times) == 10


@pytest.mark.parametrize(("count", "wanted"), [(0, None), (1, None), (100, 0), (2, -1)])
def test_nothing_to_measure(count: int, wanted: int | None) -> None:
    assert screen_rounds(count, None, 1, wanted) == []


def test_leaves_of_other_nodes_are_refused() -> None:
    with pytest.raises(ValueError, match="3 leaf numbers for 4 nodes"):
        screen_rounds(4, [0, 0, 1], 1)


def test_the_number_of_rounds_grows_slowly() -> None:
    counts = [screen_round_count(nodes) for nodes in (1, 2, 3, 64, 65, 1024, 2000, 10_000, 100_000)]
    assert counts == [0, 1, 3, 63, 12, 12, 15, 20, 20]


def test_one_message_takes_about_a_millisecond() -> None:
    rates = (None, float("nan"), 0.0, 1e8, 1e9, 1e10, 4e11, float("inf"))
    assert [screen_size(rate) >> 10 for rate in rates] == [
        1024,
        1024,
        1024,
        64,
        128,
        1024,
        4096,
        4096,
    ]


def test_too_many_suspects_are_named() -> None:
    suspects = list(range(20))
    made = confirm_rounds(suspects, range(100, 1024), FAT_TREE, 1)
    assert {one for pairs in made for one, _ in pairs} == set(range(MOST_SUSPECTS))
    assert len(made) <= 240
    assert unconfirmed(suspects) == [16, 17, 18, 19]
    assert unconfirmed([1, 1, 2]) == []


def test_suspects_without_a_good_node_meet_each_other() -> None:
    assert confirm_rounds([0, 1], [], None, 1, repeats=2) == [[(0, 1)], [(0, 1)]]
    assert confirm_rounds([0], [], None, 1) == []
    assert confirm_rounds([], [1, 2], None, 1) == []


def test_partners_of_different_suspects_differ() -> None:
    made = confirm_rounds([0, 1, 2], range(16, 1024), FAT_TREE, 1, repeats=1)
    partners = [partner for pairs in made for _, partner in pairs]
    assert len(set(partners)) == len(partners) == 9


# --- Rounds cover every pair once; sweeps are shuffled reproducibly.


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


# --- What a slow link is asked for, and how long it may take.


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
