"""Rounds of a screen: what is promised of them holds for any number of nodes and any sizes of
leaves.
"""

from collections import Counter
from itertools import chain

from hypothesis import given, settings
from hypothesis import strategies as st

from wireproof.measure.schedule import (
    ALL_PAIRS,
    MOST_SUSPECTS,
    alone_rounds,
    confirm_rounds,
    screen_round_count,
    screen_rounds,
)

SIZES = st.lists(st.integers(1, 40), min_size=1, max_size=30)
SEEDS = st.integers(0, 2**32)


def leaves_of(sizes: list[int], unknown: int) -> list[int]:
    return [leaf for leaf, size in enumerate(sizes) for _ in range(size)] + [-1] * unknown


@settings(max_examples=60, deadline=None)
@given(SIZES, st.integers(0, 20), SEEDS)
def test_every_node_is_measured_as_often_as_promised(
    sizes: list[int], unknown: int, seed: int
) -> None:
    leaves = leaves_of(sizes, unknown)
    count = len(leaves)
    made = screen_rounds(count, leaves, seed)
    assert len(made) == screen_round_count(count)
    part = Counter(chain.from_iterable(chain.from_iterable(made)))
    for pairs in made:
        assert len(set(chain.from_iterable(pairs))) == 2 * len(pairs) == count - count % 2
    assert set(part) == (set(range(count)) if count > 1 else set())
    assert all(len(made) - count % 2 <= times <= len(made) for times in part.values())
    met = list(chain.from_iterable(made))
    assert len(set(met)) == len(met)
    assert all(one < other for one, other in met)
    assert count > ALL_PAIRS or len(met) == count * (count - 1) // 2


@settings(max_examples=30, deadline=None)
@given(SIZES, SEEDS)
def test_the_same_seed_gives_the_same_rounds(sizes: list[int], seed: int) -> None:
    leaves = leaves_of(sizes, 0)
    assert screen_rounds(len(leaves), leaves, seed) == screen_rounds(len(leaves), leaves, seed)


@settings(max_examples=60, deadline=None)
@given(SIZES, SEEDS, st.integers(0, 30), st.integers(1, 6), st.integers(1, 4), st.data())
def test_a_suspect_meets_good_nodes_alone(
    sizes: list[int], seed: int, worst: int, partners: int, repeats: int, data: st.DataObject
) -> None:
    leaves = leaves_of(sizes, 3)
    nodes = data.draw(st.permutations(range(len(leaves))))
    suspects, good = nodes[:worst], nodes[worst:]
    made = confirm_rounds(suspects, good, leaves, seed, partners, repeats)
    times = Counter(chain.from_iterable(made))
    assert set(times.values()) <= {repeats}
    if good:
        assert {suspect for suspect, _ in times} == set(suspects[:MOST_SUSPECTS])
        assert not {partner for _, partner in times} & set(suspects)
        each = Counter(suspect for suspect, _ in times)
        assert set(each.values()) <= {min(partners, len(good))}
    for pairs in made:
        across = [
            pair for pair in pairs if leaves[pair[0]] != leaves[pair[1]] or leaves[pair[0]] < 0
        ]
        assert not across or len(pairs) == 1
        assert len({leaves[one] for one, _ in pairs}) == len(pairs)


@settings(max_examples=60, deadline=None)
@given(SIZES, SEEDS, st.data())
def test_a_suspect_meets_both_its_own_leaf_and_another(
    sizes: list[int], seed: int, data: st.DataObject
) -> None:
    leaves = leaves_of(sizes, 0)
    suspect = data.draw(st.integers(0, len(leaves) - 1))
    good = [node for node in range(len(leaves)) if node != suspect]
    met = set(
        chain.from_iterable(confirm_rounds([suspect], good, leaves, seed, partners=2, repeats=1))
    )
    kinds = {leaves[partner] == leaves[suspect] for _, partner in met}
    assert kinds == {leaves[node] == leaves[suspect] for node in good}


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(10, 19)), max_size=12), st.integers(1, 3))
def test_without_leaves_each_pair_has_the_machine_for_itself(
    pairs: list[tuple[int, int]], repeats: int
) -> None:
    assert alone_rounds(pairs, None, repeats) == [[pair] for pair in pairs] * repeats
