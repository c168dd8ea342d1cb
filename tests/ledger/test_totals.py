"""Whole-run counters of several launches."""

from wireproof.ledger.changes import joined_totals
from wireproof.model.record import Total


def test_rises_are_added_and_what_was_between_is_not() -> None:
    first = Total(
        rank=0, interval_ns=5, counters={"a": (10, 30), "gone": (1, 2)}, unreadable=["dark"]
    )
    second = Total(
        rank=0,
        interval_ns=7,
        settled_ns=9,
        counters={"a": (1000, 1005), "new": (4, 6), "dark": (1, 2)},
    )
    other = Total(rank=1, interval_ns=1)
    joined, alone = joined_totals([first, other, second])
    assert joined.counters == {"a": (10, 35), "gone": (1, 2), "new": (4, 6)}
    assert (joined.interval_ns, joined.settled_ns, joined.unreadable) == (12, 9, ["dark"])
    assert alone is other


def test_a_pegged_counter_stays_pegged() -> None:
    last = (1 << 32) - 1
    one = Total(rank=0, interval_ns=1, counters={"a": (last - 5, last)})
    assert (
        joined_totals([one, Total(rank=0, interval_ns=1, counters={"a": (last, last)})])[
            0
        ].counters["a"][1]
        == last
    )


def test_a_counter_that_was_reset_is_unreadable() -> None:
    one = Total(rank=0, interval_ns=1, counters={"a": (5, 6)})
    (joined,) = joined_totals([one, Total(rank=0, interval_ns=1, counters={"a": (900, 3)})])
    assert joined.unreadable == ["a"]
