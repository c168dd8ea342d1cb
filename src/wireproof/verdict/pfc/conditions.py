"""The four conditions of priority flow control on one port. Pure; what is not counted is unproven.

Source: the PSM3 slides ("PFC is configured properly if and only if"): no drops; Xon and Xoff
present; here also the priority and link-level flow control, which IEEE 802.1Q excludes beside PFC.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from wireproof.model.ledger import Direction
from wireproof.model.pfc import Condition, Pauses, PfcReading, PfcSettings
from wireproof.verdict.pfc.drops import drops_of, no_drops
from wireproof.verdict.pfc.priority import in_priority
from wireproof.verdict.pfc.said import (
    VERB,
    amount,
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
