"""Pauses per second and their share of the time. Pure."""

from __future__ import annotations

from wireproof.model.pfc import Count, PauseRate, Pauses, PfcReading

__all__ = ["HALF", "always_paused", "matters", "pause_rate"]

LONGEST_PAUSE_BITS = 65_535 * 512
"""Bit times that one pause frame can stop a link for (IEEE 802.3, 31B: 16 bits of 512 each)."""
HALF = 0.5
FEW = 10_000
"""Pause frames: where their time is not known, fewer are bursts."""
_MATTERS = 0.01
_MAY_MATTER = 0.05


def pause_rate(pauses: Pauses, seconds: float) -> PauseRate:
    """``seconds`` 0: nothing is known per second."""
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
    """Whether the pauses can have cost anything: by their time, else by the longest that so many
    frames can have asked for, else by their number.
    """
    if rate.paused_share is not None:
        return rate.paused_share >= _MATTERS
    if reading.speed_bits_per_s and rate.per_second is not None:
        return rate.per_second * LONGEST_PAUSE_BITS / reading.speed_bits_per_s >= _MAY_MATTER
    return (rate.frames or 0) >= FEW


def always_paused(reading: PfcReading, frames: int | None) -> bool:
    """The pause frames that were sent can have stopped the link all the time, and less than half of
    what it can carry arrived.
    """
    speed, seconds = reading.speed_bits_per_s, reading.seconds
    if not speed or seconds <= 0 or frames is None or reading.rx_bytes is None:
        return False
    stopped = frames * LONGEST_PAUSE_BITS / speed
    return stopped >= seconds and reading.rx_bytes * 8 < HALF * speed * seconds
