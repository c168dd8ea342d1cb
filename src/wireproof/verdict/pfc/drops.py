"""Condition 1 of priority flow control: nothing is dropped, sent or received. Pure."""

from __future__ import annotations

from wireproof.model.pfc import Condition, Count, Drop, PfcReading
from wireproof.verdict.pfc.said import VERB, amount, fails, missing, of_driver, passes, unread

__all__ = ["drops_of", "lost_of", "no_drops"]

NAME = "no-drops"


def lost_of(reading: PfcReading) -> list[Count]:
    """Counters of RDMA packets that were missed or sent again, which rose."""
    return [one for one in reading.lost if one.moved]


def drops_of(reading: PfcReading, priority: int | None) -> list[Drop]:
    """What was dropped that may be of ``priority``: drops that the counters of other priorities
    account for are not.
    """
    risen = [one for one in reading.drops if one.count.moved and one.priority in (None, priority)]
    if priority is None:
        return [one for one in reading.drops if one.count.moved]
    return [one for one in risen if not _elsewhere(one, reading, priority)]


def _elsewhere(drop: Drop, reading: PfcReading, priority: int) -> bool:
    """Every packet of this sum was of another priority, by counters that tell them apart."""
    if drop.priority is not None or not drop.proves or drop.count.value is None:
        return False
    by_priority = {
        one.priority: one.count
        for one in reading.drops
        if one.priority is not None and one.proves and one.direction == drop.direction
    }
    if len(by_priority) < 8 or by_priority[priority].moved is not False:
        return False
    return sum(count.value or 0 for count in by_priority.values()) >= drop.count.value


def _in_the_switch(reading: PfcReading) -> Condition | None:
    """What a switch drops is seen by hosts only as what they send again; None: nothing was."""
    if reading.lost and not reading.by_kernel:
        return None
    if reading.resent is None:
        said = "what a switch drops shows nowhere: no counter of packets sent again was read"
        return missing(NAME, said + of_driver(reading))
    if reading.resent.moved is False:
        return None
    if reading.resent.moved is None:
        return unread(NAME, [reading.resent])
    said = f"TCP sent segments again ({amount(reading.resent)}): lost in a switch, or only late"
    return Condition(
        name=NAME,
        answer="unproven",
        because=said,
        code="pfc-lost",
        counters=reading.resent.counters,
    )


def no_drops(reading: PfcReading, priority: int | None) -> Condition:
    """Condition 1: no drops, Tx or Rx."""
    return (
        _risen(reading, priority)
        or _unread_ones(reading, priority)
        or _in_the_switch(reading)
        or _shown(reading, priority)
    )


def _risen(reading: PfcReading, priority: int | None) -> Condition | None:
    if dropped := drops_of(reading, priority):
        said = "; ".join(f"{amount(one.count)} ({one.direction})" for one in dropped[:3])
        counts = [one.count for one in dropped]
        return fails(NAME, f"packets were dropped: {said}", "pfc-dropped", counts)
    if lost := lost_of(reading):
        said = "; ".join(amount(one) for one in lost[:3])
        return fails(NAME, f"packets were lost on the way: {said}", "pfc-lost", lost)
    return None


def _unread_ones(reading: PfcReading, priority: int | None) -> Condition | None:
    unknown = [one.count for one in _asked(reading, priority) if one.count.moved is None]
    unknown += [one for one in reading.lost if one.moved is None]
    return unread(NAME, unknown) if unknown else None


def _asked(reading: PfcReading, priority: int | None) -> list[Drop]:
    return [one for one in reading.drops if one.priority in (None, priority)]


def _shown(reading: PfcReading, priority: int | None) -> Condition:
    proving = [
        one
        for one in _asked(reading, priority)
        if one.proves and not _elsewhere(one, reading, priority or 0)
    ]
    for direction, verb in VERB.items():
        if not any(one.direction == direction for one in proving):
            what = f"no counter of packets dropped when {verb} is there"
            return missing(NAME, what + of_driver(reading))
    said = "0 dropped, sent or received, by the host's own counters"
    return passes(NAME, said, [one.count for one in proving])
