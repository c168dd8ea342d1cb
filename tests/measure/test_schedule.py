"""Schedules of known sizes: what the sentences of the plan promise, counted."""

from collections import Counter, defaultdict

import pytest

from wireproof.measure.schedule import (
    MOST_SUSPECTS,
    confirm_rounds,
    screen_round_count,
    screen_rounds,
    screen_size,
    unconfirmed,
)

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
