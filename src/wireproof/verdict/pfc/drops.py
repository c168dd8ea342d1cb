"""Condition 1 of priority flow control: nothing is dropped, sent or received. Pure."""

from __future__ import annotations

from wireproof.model.pfc import Condition, Count, Drop, PfcReading
from wireproof.verdict.pfc.said import VERB, amount, fails, missing, of_driver, passes, unread

__all__ = ["drops_of", "lost_of", "no_drops"]


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


def _in_the_switch(name: str, reading: PfcReading) -> Condition | None:
    """What a switch drops is seen by hosts only as what they send again; None: nothing was."""
    if reading.lost:
        return None
    if reading.resent is None:
        said = "what a switch drops shows nowhere: no counter of packets sent again was read"
        return missing(name, said + of_driver(reading))
    if reading.resent.moved is False:
        return None
    said = f"TCP sent segments again ({amount(reading.resent)}): lost in a switch, or only late"
    return Condition(
        name=name,
        answer="unproven",
        because=said,
        code="pfc-lost",
        counters=reading.resent.counters,
    )


def no_drops(reading: PfcReading, priority: int | None) -> Condition:
    """Condition 1: no drops, Tx or Rx."""
    name = "no-drops"
    if dropped := drops_of(reading, priority):
        said = "; ".join(f"{amount(one.count)} ({one.direction})" for one in dropped[:3])
        return fails(
            name, f"packets were dropped: {said}", "pfc-dropped", [one.count for one in dropped]
        )
    if lost := lost_of(reading):
        said = "; ".join(amount(one) for one in lost[:3])
        return fails(name, f"packets were lost on the way: {said}", "pfc-lost", lost)
    asked = [one for one in reading.drops if one.priority in (None, priority)]
    unknown = [one.count for one in asked if one.count.moved is None]
    unknown += [one for one in reading.lost if one.moved is None]
    if unknown:
        return unread(name, unknown)
    if (open_one := _in_the_switch(name, reading)) is not None:
        return open_one
    proving = [one for one in asked if one.proves and not _elsewhere(one, reading, priority or 0)]
    for direction, verb in VERB.items():
        if not any(one.direction == direction for one in proving):
            what = f"no counter of packets dropped when {verb}"
            return missing(name, f"{what} is there{of_driver(reading)}")
    said = "0 dropped, sent or received, by the host's own counters"
    return passes(name, said, [one.count for one in proving])
