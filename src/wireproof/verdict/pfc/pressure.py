"""Was there any pressure? Without it no counter shows that priority flow control works. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from wireproof.model.pfc import PfcLoad, PfcReading

__all__ = ["Pressure", "busiest", "pressure_of"]


class Pressure(NamedTuple):
    """``there``: None where the pauses could not be read. ``evidence``: sentences."""

    there: bool | None
    evidence: list[str]


def pressure_of(readings: Sequence[PfcReading], load: PfcLoad) -> Pressure:
    """Pauses or drops on any port show it; the rate that the busiest port received says how near
    the load came.
    """
    paused = [one for one in readings if _paused(one)]
    dropped = [one for one in readings if any(drop.count.moved for drop in one.drops)]
    evidence = []
    if paused:
        evidence.append(f"pauses moved on {_ports(len(paused))} of {len(readings)}")
    if dropped:
        evidence.append(f"packets were dropped on {_ports(len(dropped))}")
    evidence += [*_rate(readings, load), *_marks(readings)]
    if paused or dropped:
        return Pressure(True, evidence)
    unseen = any(_unseen(one) for one in readings) or not readings
    return Pressure(None if unseen else False, evidence)


def busiest(readings: Sequence[PfcReading]) -> tuple[PfcReading, float] | None:
    """The port that received the largest share of its line rate, at its peak where the time between
    readings was short enough to see one, and that share; None: unknown.
    """
    shares = [
        (one, rate * 8 / one.speed_bits_per_s)
        for one in readings
        if one.speed_bits_per_s and (rate := _arrived(one)) is not None
    ]
    return max(shares, key=lambda each: each[1], default=None)


def _arrived(reading: PfcReading) -> float | None:
    """Bytes per second."""
    if reading.rx_peak_bytes_per_s:
        return reading.rx_peak_bytes_per_s
    if reading.rx_bytes is None or reading.seconds <= 0:
        return None
    return reading.rx_bytes / reading.seconds


def _rate(readings: Sequence[PfcReading], load: PfcLoad) -> list[str]:
    found = busiest(readings)
    if found is None:
        return []
    reading, share = found
    senders = f"{load.senders} senders at once; " if load.senders else ""
    when = "at its peak" if reading.rx_peak_bytes_per_s else "on average"
    return [
        f"{senders}{reading.nic} of {reading.host} received {share:.0%} of its line rate {when}"
    ]


def _marks(readings: Sequence[PfcReading]) -> list[str]:
    marks = sum(count.value or 0 for one in readings for count in one.marks)
    said = f"ECN was at work: {marks:,} packets marked or notifications sent and got"
    return [said] if marks else []


def _ports(count: int) -> str:
    return f"{count} port{'s' if count != 1 else ''}"


def _paused(reading: PfcReading) -> bool:
    by_priority = any(one.tx.stopped or one.rx.stopped for one in reading.priorities)
    return by_priority or any(one.moved for one in reading.total)


def _unseen(reading: PfcReading) -> bool:
    """No pause of any priority could be read."""
    ways = [way for one in reading.priorities for way in (one.tx, one.rx)]
    return all(way.stopped is None for way in ways) and not any(
        one.moved is not None for one in reading.total
    )
