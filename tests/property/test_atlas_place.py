"""What holds of every place, whatever was published."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.atlas.test_place import EDR, atlas, source

from wireproof.atlas import outruns_all, place, trails_all

TIMES = st.floats(0.8, 500.0)
SOURCES = st.lists(st.lists(TIMES, min_size=1, max_size=4), min_size=1, max_size=12)


@given(SOURCES, TIMES, st.randoms(use_true_random=False))
def test_order_and_repetition_change_nothing(
    tables: list[list[float]], value: float, order: random.Random
) -> None:
    def at(found: list[tuple[int, list[float]]]):  # type: ignore[no-untyped-def]
        known = atlas(*(source(f"s{n}", *([(8, time)] for time in times)) for n, times in found))
        return place(known, EDR, "pingpong", 8, time_ns=value * 1e3)

    numbered = list(enumerate(tables))
    plain = at(numbered)
    mixed = [(n, order.sample(times, len(times)) * 2) for n, times in numbered]
    order.shuffle(mixed)
    again = at(mixed)
    assert again.faster_than == pytest.approx(plain.faster_than)
    assert again.values == pytest.approx(plain.values)
    assert (again.usual, again.as_slow) == (plain.usual, plain.as_slow)


@given(SOURCES, TIMES, TIMES)
def test_a_faster_number_never_lies_lower(
    tables: list[list[float]], one: float, other: float
) -> None:
    known = atlas(*(source(f"s{n}", *([(8, t)] for t in times)) for n, times in enumerate(tables)))
    slow, fast = (
        place(known, EDR, "pingpong", 8, time_ns=value * 1e3)
        for value in (max(one, other), min(one, other))
    )
    assert fast.as_slow >= slow.as_slow
    assert fast.usual >= slow.usual
    assert not (outruns_all(slow) and not outruns_all(fast))
    assert not (trails_all(fast) and not trails_all(slow))
    assert (fast.faster_than is None) == (len(tables) < 5)
    if fast.faster_than is not None and slow.faster_than is not None:
        assert 0.0 <= slow.faster_than <= fast.faster_than + 1e-9 <= 1.0 + 1e-8
