"""Who pauses whom: slow receivers, pause storms, pauses that spread to hosts that take no part.
Pure.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from wireproof.locate.significance import holm, robust_scale, upper_tail
from wireproof.model.finding import Evidence, Finding, Severity
from wireproof.model.pfc import PauseRate, PfcLoad, PfcReading
from wireproof.verdict.pfc.made import made
from wireproof.verdict.pfc.pressure import busiest
from wireproof.verdict.pfc.rates import HALF, always_paused, matters, pause_rate

__all__ = ["pause_findings", "slow_receivers"]

_TIMES = 10.0
_LEAST_SCALE = 0.25
"""Of log10: healthy hosts differ by a factor of almost two."""
_ALPHA = 1e-3


def slow_receivers(frames: Sequence[int]) -> list[int]:
    """Indices of the ports that sent far more pause frames than the others; needs two at least.

    Between two ports the other one is the measure; of three and more, the median.
    """
    if len(frames) < 2:
        return []
    logs = np.log10(1.0 + np.asarray(frames, dtype=np.float64))
    centre = float(np.min(logs)) if len(frames) == 2 else float(np.median(logs))
    scale = max(_LEAST_SCALE, robust_scale(logs) if len(frames) > 3 else 0.0)
    excess = logs - centre
    p = holm(upper_tail(excess / scale))
    return [
        index
        for index, count in enumerate(frames)
        if count and excess[index] >= math.log10(_TIMES) and p[index] <= _ALPHA
    ]


_NEAR = 0.9
_ONE_SIDED = 100
"""Pauses sent for each one that came in."""


def pause_findings(
    readings: Sequence[PfcReading], load: PfcLoad, priority: int | None
) -> Iterator[Finding]:
    """In the lossless priority; the adapter's own alarms in any."""
    yield from _alarms(readings)
    if priority is None:
        return
    yield from _storms(readings, priority)
    yield from _slow(readings, load, priority)
    yield from _spreading(readings, load, priority)


def _slow(readings: Sequence[PfcReading], load: PfcLoad, priority: int) -> Iterator[Finding]:
    for group in _comparable(readings, load):
        yield from _slow_of(group, load, priority)


def _comparable(readings: Sequence[PfcReading], load: PfcLoad) -> list[list[PfcReading]]:
    """Those that all others sent to in their turn, and those that only sent: each among its
    equals.
    """
    received = [one for one in readings if one.host in load.receivers]
    if len({one.host for one in received}) < 2:
        return [list(readings)]
    return [received, [one for one in readings if one.host not in load.receivers]]


def _slow_of(readings: Sequence[PfcReading], load: PfcLoad, priority: int) -> Iterator[Finding]:
    rates = [(one, pause_rate(one.of(priority).tx, one.seconds)) for one in readings]
    known = [(one, rate, rate.frames) for one, rate in rates if rate.frames is not None]
    counts = [frames for _, _, frames in known]
    total = sum(counts)
    if len(known) == 1:
        yield from _alone(*known[0], priority)
    for index in slow_receivers(counts):
        reading, rate, frames = known[index]
        if not matters(reading, rate):
            continue
        others = sorted(counts[:index] + counts[index + 1 :])
        said = (
            f"{reading.host} {reading.nic} sent {_frames(rate)} of the {total:,} pauses that hosts"
            f" sent in priority {priority}; the median of the {len(others)} others is"
            f" {others[len(others) // 2]:,}: it cannot take what arrives"
        )
        severity: Severity = "warning" if _was_the_target(reading, load) else "fail"
        if severity == "warning":
            said += " (it is the load's only receiver, and took its line rate)"
        evidence: Evidence = {"frames": frames, "of": total, "priority": priority}
        yield made("pfc-slow-receiver", severity, said, [reading.host], evidence=evidence)


def _alone(reading: PfcReading, rate: PauseRate, frames: int, priority: int) -> Iterator[Finding]:
    """One port, and no other to compare it with: what it sends against what it gets."""
    got = pause_rate(reading.of(priority).rx, reading.seconds).frames
    if got is None or frames < _ONE_SIDED * max(1, got) or not matters(reading, rate):
        return
    said = (
        f"{reading.host} {reading.nic} sent {_frames(rate)} pauses in priority {priority} and got"
        f" {got:,}: it cannot take what arrives"
    )
    yield made("pfc-slow-receiver", "fail", said, [reading.host])


def _was_the_target(reading: PfcReading, load: PfcLoad) -> bool:
    """All others sent to it alone, and it took what its link can carry: then its pauses are those
    of a burst.
    """
    found = busiest([reading])
    return load.receivers == [reading.host] and found is not None and found[1] >= _NEAR


def _alarms(readings: Sequence[PfcReading]) -> Iterator[Finding]:
    alarmed = [one for one in readings if any(count.moved for count in one.storms)]
    if alarmed:
        first = alarmed[0]
        names = [name for count in first.storms if count.moved for name in count.counters]
        said = f"{first.host} {first.nic}: the adapter's own alarm rose ({_leaves(names)})"
        yield made("pfc-storm", "fail", said, [one.host for one in alarmed])


def _storms(readings: Sequence[PfcReading], priority: int) -> Iterator[Finding]:
    rated = [(one, pause_rate(one.of(priority).tx, one.seconds)) for one in readings]
    storming = [(one, rate) for one, rate in rated if _is_storm(one, rate)]
    if storming:
        reading, rate = storming[0]
        said = f"{reading.host} {reading.nic} stopped its switch port {_share(rate)}"
        yield made("pfc-storm", "fail", said, [one.host for one, _ in storming])


def _is_storm(reading: PfcReading, rate: PauseRate) -> bool:
    if rate.paused_share is not None:
        return rate.paused_share > HALF
    return always_paused(reading, rate.frames)


def _share(rate: PauseRate) -> str:
    if rate.paused_share is not None:
        return f"{rate.paused_share:.0%} of the time"
    return (
        f"with {rate.per_second:,.0f} pauses per second, enough for all the time, while less than"
        " half of its line rate arrived"
    )


def _spreading(readings: Sequence[PfcReading], load: PfcLoad, priority: int) -> Iterator[Finding]:
    """Hosts that were stopped most of the time. Of ``n`` senders to one receiver each is stopped
    for (n - 1) / n of it, so our own load's senders are no sign.
    """
    if load.kind == "incast":
        return
    rates = [(one, pause_rate(one.of(priority).rx, one.seconds)) for one in readings]
    stopped = [(one, share) for one, rate in rates if (share := rate.paused_share or 0.0) > HALF]
    if stopped:
        reading, share = max(stopped, key=lambda each: each[1])
        said = (
            f"{reading.host} {reading.nic} was stopped {share:.0%} of the time in priority"
            f" {priority}"
        )
        hosts = [one.host for one, _ in stopped]
        yield made("pfc-congestion-spreading", "warning", said, hosts)


def _frames(rate: PauseRate) -> str:
    shown = f"{rate.frames:,}" + (f" ({rate.per_second:,.0f}/s)" if rate.per_second else "")
    return f"at least {shown}" if rate.least else shown


def _leaves(names: Sequence[str]) -> str:
    return ", ".join(name.rsplit("/", 1)[-1].strip() for name in names)
