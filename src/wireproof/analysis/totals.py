"""The whole-run counters of several launches as those of one run. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from wireproof.model.record import Total

__all__ = ["joined_totals"]


def joined_totals(totals: Iterable[Total]) -> list[Total]:
    """One ``Total`` per rank: what each launch's counters rose by, added up. What happened between
    launches is not in it. A counter that one launch could not read, or that went back by more than
    it had risen, is unreadable.
    """
    by_rank: dict[int, Total] = {}
    for total in totals:
        known = by_rank.get(total.rank)
        by_rank[total.rank] = total if known is None else _joined(known, total)
    return [by_rank[rank] for rank in sorted(by_rank)]


def _joined(one: Total, other: Total) -> Total:
    counters = dict(one.counters)
    for name, (before, after) in other.counters.items():
        begin, end = counters.get(name, (before, before))
        counters[name] = (begin, end + after - before)
    unreadable = {
        *one.unreadable,
        *other.unreadable,
        *(name for name, (_, end) in counters.items() if end < 0),
    }
    return Total(
        rank=one.rank,
        interval_ns=one.interval_ns + other.interval_ns,
        settled_ns=max(one.settled_ns, other.settled_ns),
        counters={name: values for name, values in counters.items() if name not in unreadable},
        unreadable=sorted(unreadable),
        shared_with=one.shared_with,
        source=one.source,
        foreign_sysfs=one.foreign_sysfs or other.foreign_sysfs,
    )
