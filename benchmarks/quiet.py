"""How much of the processors others use: told beside every comparison, and nobody waits for less.

What others took is the machine's busy time (/proc/stat) less that of our own children.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from types import TracebackType

__all__ = ["Meter", "busy_seconds"]

STAT = Path("/proc/stat")


def busy_seconds(text: str, ticks_per_s: int) -> float | None:
    """Seconds that all processors together were not idle, from /proc/stat's first line; steal
    counts as busy.
    """
    words = text.split("\n", 1)[0].split()
    if len(words) < 9 or words[0] != "cpu":
        return None
    user, nice, system, _idle, _wait, irq, softirq, steal = (int(word) for word in words[1:9])
    return (user + nice + system + irq + softirq + steal) / ticks_per_s


def _busy() -> float | None:
    try:
        return busy_seconds(STAT.read_text(encoding="ascii"), os.sysconf("SC_CLK_TCK"))
    except (OSError, ValueError):
        return None


def _own() -> float:
    """Processor seconds of this process and of its children that have ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


class Meter:
    """``with Meter() as meter: ...``; then ``meter.foreign``: cores that others used meanwhile,
    None where unknown.
    """

    foreign: float | None = None

    def __enter__(self) -> Meter:
        self._busy, self._own, self._wall = _busy(), _own(), time.monotonic()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        busy, wall = _busy(), time.monotonic() - self._wall
        if self._busy is not None and busy is not None and wall > 0:
            self.foreign = max(0.0, (busy - self._busy - (_own() - self._own)) / wall)
