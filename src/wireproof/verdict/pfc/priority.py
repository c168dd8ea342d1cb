"""Condition 3: the pressure and the traffic are in the lossless priority; the others are quiet.
Pure.
"""

from __future__ import annotations

from collections.abc import Sequence

from wireproof.model.pfc import Condition, Pauses, PfcReading
from wireproof.verdict.pfc.said import both, fails, missing, names, of_driver, passes, unread

__all__ = ["in_priority", "other_priorities"]

IN_PRIORITY = 0.9
"""Share of a port's traffic in one priority from which on the rest is other traffic."""
HARDLY = 0.1
LEAST_TRAFFIC = 1_000_000
"""Bytes (or packets) below which shares say nothing."""


def other_priorities(reading: PfcReading, priority: int) -> list[int]:
    """Priorities that paused beside ``priority``; those that only count in unison with it (one
    traffic class) are left out.
    """
    own = reading.of(priority)
    return [
        one.priority
        for one in reading.priorities
        if one.priority != priority
        and (one.tx.stopped or one.rx.stopped)
        and not (reading.unison and _alike(one.tx, own.tx) and _alike(one.rx, own.rx))
    ]


def _alike(one: Pauses, other: Pauses) -> bool:
    first, second = one.sent, other.sent
    if first is None or second is None:
        return first is second
    return first.value is not None and first.value == second.value


def in_priority(reading: PfcReading, priority: int, *, claimed: bool) -> Condition:
    """Condition 3: the pressure and the traffic are in this priority; the others are quiet."""
    name = "priority"
    if others := other_priorities(reading, priority):
        shown = ", ".join(map(str, others))
        said = f"priorities that paused too: {shown}; the lossless one is {priority}"
        counts = [count for one in others for count in both(reading, one)]
        return fails(name, said, "pfc-wrong-priority", counts)
    shares = _shares(reading)
    if shares is not None and shares[priority] < IN_PRIORITY:
        return _traffic_elsewhere(name, shares, priority, reading)
    unknown = [
        count
        for one in reading.priorities
        for count in both(reading, one.priority)
        if count.moved is None
    ]
    if unknown:
        return unread(name, unknown)
    return _others_quiet(name, reading, priority, shares, claimed=claimed)


def _others_quiet(
    name: str,
    reading: PfcReading,
    priority: int,
    shares: Sequence[float] | None,
    *,
    claimed: bool,
) -> Condition:
    own = reading.of(priority)
    paused = own.tx.stopped or own.rx.stopped
    if not _sees_others(reading, priority):
        return missing(name, f"pauses of the other priorities are not counted{of_driver(reading)}")
    if not claimed:
        said = f"only priority {priority} paused; no --priority says whether that is the right one"
        return Condition(name=name, answer="unproven", because=said, code="pfc-no-priority")
    if shares is not None:
        said = f"{shares[priority]:.0%} of the traffic was in priority {priority}"
        said += "; no other one paused"
        return passes(name, said, both(reading, priority))
    if paused:
        said = f"priority {priority} paused and no other one"
        return passes(name, said, both(reading, priority))
    said = "no priority paused, and no counter separates their traffic"
    return Condition(name=name, answer="quiet", because=said)


def _traffic_elsewhere(
    name: str, shares: Sequence[float], priority: int, reading: PfcReading
) -> Condition:
    most = max(range(8), key=lambda one: shares[one])
    said = f"{shares[priority]:.0%} of the traffic was in priority {priority}"
    counts = both(reading, most)
    if most != priority and shares[priority] < HARDLY:
        said += f", {shares[most]:.0%} in priority {most}"
        return fails(name, said, "pfc-wrong-priority", counts)
    said += f", {1 - shares[priority]:.0%} in others: other traffic, or a part of the load"
    return Condition(
        name=name,
        answer="unproven",
        because=said,
        code="pfc-mixed-priorities",
        counters=names(counts),
    )


def _shares(reading: PfcReading) -> list[float] | None:
    """Share of each priority in the traffic of the busier direction; None where that is not counted
    or is hardly any.
    """
    ways = (
        [one.tx.load for one in reading.priorities],
        [one.rx.load for one in reading.priorities],
    )
    found = [
        [count.value or 0 for count in way if count is not None]
        for way in ways
        if all(count is not None and count.value is not None for count in way)
    ]
    busiest = max(found, key=sum, default=[])
    if sum(busiest) < LEAST_TRAFFIC:
        return None
    return [value / sum(busiest) for value in busiest]


def _sees_others(reading: PfcReading, priority: int) -> bool:
    """Pauses of every other priority are counted, in both directions, or the driver shows them only
    where they can be.
    """
    others = [one for one in reading.priorities if one.priority != priority]
    if all(one.tx.stopped is not None and one.rx.stopped is not None for one in others):
        return True
    own = reading.of(priority)
    return reading.shown_when_on and own.tx.stopped is not None and own.rx.stopped is not None
