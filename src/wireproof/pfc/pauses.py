# pure
"""Find the origin of pauses: slow receivers, pause storms, and pauses that spread to uninvolved
hosts.

Pure.
"""

import math
from collections.abc import Iterator, Sequence

import numpy as np

from wireproof.locate.significance import holm, robust_scale, upper_tail
from wireproof.model.finding import Evidence, Finding, Node, Severity, Subject, Whole
from wireproof.model.quantity import counted
from wireproof.pfc import Count, PauseRate, Pauses, PfcLoad, PfcReading
from wireproof.verdict.issue import as_finding

# --- Was there any pressure? Without it no counter shows that priority flow control works.


def pressure_of(readings: Sequence[PfcReading], load: PfcLoad) -> tuple[bool | None, list[str]]:
    """Return whether there was pressure (None if the pauses could not be read), and the sentences
    that show it: pauses or drops on any port.

    They include the rate of the busiest receiver, which shows how close the load came to line rate.
    """
    paused = [one for one in readings if _paused(one)]
    dropped = [one for one in readings if any(drop.count.moved for drop in one.drops)]
    evidence = []
    if paused:
        evidence.append(f"pauses moved on {counted(len(paused), 'port')} of {len(readings)}")
    if dropped:
        evidence.append(f"packets were dropped on {counted(len(dropped), 'port')}")
    evidence += [*_rate(readings, load), *_marks(readings)]
    if paused or dropped:
        return True, evidence
    unseen = any(_unseen(one) for one in readings) or not readings
    return None if unseen else False, evidence


def busiest(readings: Sequence[PfcReading]) -> tuple[PfcReading, float] | None:
    """Return the port that received the largest share of its line rate, with that share; None if
    unknown.

    The peak counts if readings were frequent enough to show it, otherwise the mean.
    """
    shares = [
        (one, rate * 8 / one.speed_bits_per_s)
        for one in readings
        if one.speed_bits_per_s and (rate := _arrived(one)) is not None
    ]
    return max(shares, key=lambda each: each[1], default=None)


def _arrived(reading: PfcReading) -> float | None:
    """Return bytes per second received."""
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
    senders = f"{load.senders} simultaneous senders; " if load.senders else ""
    when = "at its peak" if reading.rx_peak_bytes_per_s else "on average"
    return [
        f"{senders}{reading.nic} of {reading.host} received {share:.0%} of its line rate {when}"
    ]


def _marks(readings: Sequence[PfcReading]) -> list[str]:
    marks = sum(count.value or 0 for one in readings for count in one.marks)
    said = f"ECN was active: {marks:,} packets marked or notifications sent and received"
    return [said] if marks else []


def _paused(reading: PfcReading) -> bool:
    return any(one.paused for one in reading.priorities) or any(one.moved for one in reading.total)


def _unseen(reading: PfcReading) -> bool:
    """Return whether no pause of any priority could be read."""
    ways = [way for one in reading.priorities for way in (one.tx, one.rx)]
    return all(way.stopped is None for way in ways) and not any(
        one.moved is not None for one in reading.total
    )


# --- Pauses per second and their share of the time.

LONGEST_PAUSE_BITS = 65_535 * 512
"""Bit times that one pause frame can stop a link for (IEEE 802.3, 31B: 16 bits of 512 each)."""
HALF = 0.5
FEW = 10_000
"""Pause frames: if their duration is unknown, fewer than this are short bursts."""
_MATTERS = 0.01
_MAY_MATTER = 0.05


def pause_rate(pauses: Pauses, seconds: float) -> PauseRate:
    """Return the pause rate. ``seconds`` 0: nothing is known per second."""
    sent = pauses.sent
    frames = _value(sent)
    timed = seconds > 0
    paused = _value(pauses.paused_us)
    return PauseRate(
        frames=frames,
        least=bool(sent is not None and sent.least),
        xon=_value(pauses.xon if pauses.xon is not None else pauses.resumes),
        per_second=frames / seconds if timed and frames is not None else None,
        paused_share=min(1.0, paused / 1e6 / seconds) if timed and paused is not None else None,
    )


def _value(count: Count | None) -> int | None:
    return None if count is None else count.value


def matters(reading: PfcReading, rate: PauseRate) -> bool:
    """Return whether the pauses may have cost performance: by duration, by frames per second, or by
    number.

    Without a duration, each frame counts with the longest pause that it can request.
    """
    if rate.paused_share is not None:
        return rate.paused_share >= _MATTERS
    if reading.speed_bits_per_s and rate.per_second is not None:
        return rate.per_second * LONGEST_PAUSE_BITS / reading.speed_bits_per_s >= _MAY_MATTER
    return (rate.frames or 0) >= FEW


def always_paused(reading: PfcReading, frames: int | None) -> bool:
    """Return whether the sent pause frames may have stopped the link all the time, at less than
    half of its load.
    """
    speed, seconds = reading.speed_bits_per_s, reading.seconds
    if not speed or seconds <= 0 or frames is None or reading.rx_bytes is None:
        return False
    stopped = frames * LONGEST_PAUSE_BITS / speed
    return stopped >= seconds and reading.rx_bytes * 8 < HALF * speed * seconds


def made(
    code: str,
    severity: Severity,
    message: str,
    hosts: Sequence[str] = (),
    *,
    evidence: Evidence | None = None,
    advice: str = "",
) -> Finding:
    """Return a finding about ``hosts``. ``advice`` replaces the catalogue's next action."""
    about: Subject = Node(hosts[0]) if len(set(hosts)) == 1 else Whole("the fabric")
    whole = {**({"hosts": list(hosts)} if hosts else {}), **(evidence or {})}
    return as_finding(code, severity, message, about, whole, advice=advice)


_TIMES = 10.0
_LEAST_SCALE = 0.25
"""Minimum scale in log10: healthy hosts differ by a factor of almost two."""
_ALPHA = 1e-3


def slow_receivers(frames: Sequence[int]) -> list[int]:
    """Return the indices of ports that sent far more pause frames than the others; needs two ports.

    Two ports are compared with each other; three or more with their median.
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


NEAR = 0.9
"""Share of the line rate above which a receiver counts as saturated."""
_ONE_SIDED = 100
"""Pauses sent per pause received."""


def pause_findings(
    readings: Sequence[PfcReading], load: PfcLoad, priority: int | None
) -> Iterator[Finding]:
    """Yield findings for the lossless priority, and the adapter's alarms for any priority."""
    yield from _alarms(readings)
    if priority is None:
        return
    yield from _storms(readings, priority)
    for group in _comparable(readings, load):
        yield from _slow_of(group, load, priority)
    yield from _spreading(readings, load, priority)


def _comparable(readings: Sequence[PfcReading], load: PfcLoad) -> list[list[PfcReading]]:
    """Group the ports that all others sent to in turn, and those that only sent."""
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
            f" {others[len(others) // 2]:,}: it cannot keep up with its incoming traffic"
        )
        severity: Severity = "warning" if _was_the_target(reading, load) else "fail"
        if severity == "warning":
            said += " (it is the load's only receiver, and received at line rate)"
        yield made(
            "pfc-slow-receiver",
            severity,
            said,
            [reading.host],
            evidence={"frames": frames, "of": total, "priority": priority},
        )


def _alone(reading: PfcReading, rate: PauseRate, frames: int, priority: int) -> Iterator[Finding]:
    """Judge a single port by comparing the pauses that it sends with those that it receives."""
    got = pause_rate(reading.of(priority).rx, reading.seconds).frames
    if got is None or frames < _ONE_SIDED * max(1, got) or not matters(reading, rate):
        return
    yield made(
        "pfc-slow-receiver",
        "fail",
        f"{reading.host} {reading.nic} sent {_frames(rate)} pauses in priority {priority} and "
        f"received {got:,}: it cannot keep up with its incoming traffic",
        [reading.host],
    )


def _was_the_target(reading: PfcReading, load: PfcLoad) -> bool:
    """Return whether it is the load's only receiver and received at line rate, so that its pauses
    are expected.
    """
    found = busiest([reading])
    return load.receivers == [reading.host] and found is not None and found[1] >= NEAR


def _alarms(readings: Sequence[PfcReading]) -> Iterator[Finding]:
    alarmed = [one for one in readings if any(count.moved for count in one.storms)]
    if alarmed:
        first = alarmed[0]
        names = [name for count in first.storms if count.moved for name in count.counters]
        shown = ", ".join(name.rsplit("/", 1)[-1].strip() for name in names)
        yield made(
            "pfc-storm",
            "fail",
            f"{first.host} {first.nic}: the adapter itself raised an alarm ({shown})",
            [one.host for one in alarmed],
        )


def _storms(readings: Sequence[PfcReading], priority: int) -> Iterator[Finding]:
    rated = [(one, pause_rate(one.of(priority).tx, one.seconds)) for one in readings]
    storming = [(one, rate) for one, rate in rated if _is_storm(one, rate)]
    if storming:
        reading, rate = storming[0]
        yield made(
            "pfc-storm",
            "fail",
            f"{reading.host} {reading.nic} stopped its switch port {_share(rate)}",
            [one.host for one, _ in storming],
        )


def _is_storm(reading: PfcReading, rate: PauseRate) -> bool:
    if rate.paused_share is not None:
        return rate.paused_share > HALF
    return always_paused(reading, rate.frames)


def _share(rate: PauseRate) -> str:
    if rate.paused_share is not None:
        return f"{rate.paused_share:.0%} of the time"
    return (
        f"with {rate.per_second:,.0f} pauses per second, enough to stop it continuously, "
        "while less than half of its line rate arrived"
    )


def _spreading(readings: Sequence[PfcReading], load: PfcLoad, priority: int) -> Iterator[Finding]:
    """Report hosts that were stopped most of the time.

    Each of ``n`` senders to one receiver is stopped for (n - 1) / n of the time, so paused senders
    of wireproof's load are not a sign of spreading.
    """
    if load.kind == "incast":
        return
    rates = [(one, pause_rate(one.of(priority).rx, one.seconds)) for one in readings]
    stopped = [(one, share) for one, rate in rates if (share := rate.paused_share or 0.0) > HALF]
    if stopped:
        reading, share = max(stopped, key=lambda each: each[1])
        said = (
            f"{reading.host} {reading.nic} was paused {share:.0%} of the time in priority "
            f"{priority}"
        )
        hosts = [one.host for one, _ in stopped]
        yield made("pfc-congestion-spreading", "warning", said, hosts)


def _frames(rate: PauseRate) -> str:
    shown = f"{rate.frames:,}" + (f" ({rate.per_second:,.0f}/s)" if rate.per_second else "")
    return f"at least {shown}" if rate.least else shown
