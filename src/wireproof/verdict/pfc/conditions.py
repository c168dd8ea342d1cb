"""The four conditions of priority flow control on one port. Pure; what is not counted is unproven.

Source: the PSM3 slides ("PFC is configured properly if and only if"): no drops; Xon and Xoff
present; here also the priority and link-level flow control, which IEEE 802.1Q excludes beside PFC.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from wireproof.model.ledger import Direction
from wireproof.model.pfc import Condition, Pauses, PfcReading, PfcSettings
from wireproof.verdict.pfc.drops import drops_of, no_drops
from wireproof.verdict.pfc.said import (
    VERB,
    amount,
    both,
    counts,
    fails,
    missing,
    names,
    of_driver,
    passes,
    sent,
    unread,
)

__all__ = ["conditions"]


# --- Condition 3: the pressure and the traffic are in the lossless priority; the others are quiet.

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


def conditions(
    reading: PfcReading, priority: int | None, settings: PfcSettings | None, *, claimed: bool
) -> list[Condition]:
    """All four. ``claimed``: the priority is the user's or the settings', not guessed from what
    moved.
    """
    found = _each(reading, priority, settings, claimed=claimed)
    if reading.family:
        return found
    said = f"no counters of pauses are known of the driver {reading.driver or '(none)'}"
    return [
        msgspec.structs.replace(one, because=said, code="pfc-adapter-unknown")
        if one.code == "pfc-counters-missing" and one.name != "link-pause"
        else one
        for one in found
    ]


def _each(
    reading: PfcReading, priority: int | None, settings: PfcSettings | None, *, claimed: bool
) -> list[Condition]:
    if priority is None:
        unknown = "which priority is lossless is not known: give --priority"
        open_ones = [
            Condition(name=name, answer="unproven", because=unknown, code="pfc-no-priority")
            for name in ("xon-xoff", "priority")
        ]
        return [no_drops(reading, None), *open_ones, _link_pause(reading, settings)]
    return [
        no_drops(reading, priority),
        _xon_xoff(reading, priority),
        in_priority(reading, priority, claimed=claimed),
        _link_pause(reading, settings),
    ]


def _xon_xoff(reading: PfcReading, priority: int) -> Condition:
    """Condition 2: where a pause was asked for, it was also taken back."""
    name = "xon-xoff"
    found = reading.of(priority)
    ways: dict[Direction, Pauses] = {"tx": found.tx, "rx": found.rx}
    for way, pauses in ways.items():
        if pauses.stopped and pauses.resumed is False:
            said = f"Xoff was {VERB[way]} ({sent(pauses)}) and Xon never"
            return fails(name, said, "pfc-no-xon", counts(pauses))
    if all(one.stopped is False for one in ways.values()):
        return _nothing_moved(name, reading, priority, ways.values())
    for way, pauses in ways.items():
        if pauses.stopped is None:
            return _unseen(name, reading, priority, way, pauses)
        if pauses.stopped and pauses.resumed is None:
            said = f"Xoff was {VERB[way]} ({sent(pauses)}), and no counter shows that one ended"
            return missing(name, said + of_driver(reading))
    said = ", ".join(f"{VERB[way]}: {sent(one)}, ended" for way, one in ways.items() if one.stopped)
    return passes(name, said, [count for one in ways.values() for count in counts(one)])


def _nothing_moved(
    name: str, reading: PfcReading, priority: int, ways: Iterable[Pauses]
) -> Condition:
    moving = [count for one in ways for count in counts(one)]
    if drops_of(reading, priority):
        said = "packets were dropped and no pause was sent or received"
        return fails(name, said, "pfc-no-xoff", moving)
    said = "no pause was sent or received: no pressure reached this port"
    return Condition(name=name, answer="quiet", because=said, counters=names(moving))


def _unseen(
    name: str, reading: PfcReading, priority: int, way: Direction, pauses: Pauses
) -> Condition:
    if unknown := [one for one in counts(pauses) if one.moved is None]:
        return unread(name, unknown)
    said = f"no counter of pauses {VERB[way]} in priority {priority} is there{of_driver(reading)}"
    if reading.shown_when_on:
        said += "; its driver lists them only where PFC is on for the priority"
    elif reading.total:
        said += "; its counters do not separate PFC frames by priority"
    return missing(name, said)


def _link_pause(reading: PfcReading, settings: PfcSettings | None) -> Condition:
    """Condition 4: link-level flow control (802.3x) is off, by the setting and by its frames."""
    name = "link-pause"
    on = (
        []
        if settings is None
        else [way for way, value in (("RX", settings.link_rx), ("TX", settings.link_tx)) if value]
    )
    moved = [one for one in reading.link if one.moved]
    if on:
        said = f"`ethtool -a {reading.nic}` says {' and '.join(on)} on"
        return fails(name, said, "pfc-link-flow-control", moved)
    if moved:
        said = f"pause frames of the whole link were counted: {amount(moved[0])}"
        return fails(name, said, "pfc-link-flow-control", moved)
    if reading.shown_when_on and reading.link:
        said = "its driver lists pause frames of the whole link, as it does only where that is on"
        return fails(name, said, "pfc-link-flow-control", reading.link)
    if settings is None or settings.link_rx is None or settings.link_tx is None:
        return missing(name, f"`ethtool -a {reading.nic}` was not read")
    return passes(name, "`ethtool -a` says RX and TX off", reading.link)
