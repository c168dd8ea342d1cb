"""Find ranks that have stopped: in a long point every rank reports every 3 s that it is alive.

A stopped process is silent; a slow link or a busy machine silences no process. Pure.
"""

import dataclasses
import re
from collections.abc import Sequence

from wireproof.instrument.lost import silent_ranks
from wireproof.model.plan import Plan
from wireproof.model.record import Frame

SILENT_S = 11.0
_LEAST_SIGNS = 4
"""Of every other rank since the last of one that is taken for stopped: no single late line, and no
pause of whoever reads them, makes a rank look stopped.
"""
_MOST_LINE = 1000
_SIGN = re.compile(rb"wireproof-engine: pending: rank (\d{1,7}) on \S{1,80} [ -~]{1,80}")


@dataclasses.dataclass
class _Heard:
    at: float
    numbers: list[int]  # of its signs, counted over all ranks
    line: str


class SignsOfLife:
    """Reads the ranks' messages on standard error. ``now``: seconds of the same clock."""

    def __init__(self, plan: Plan, now: float) -> None:
        self._plan = plan
        self._simulated = plan.transport.kind in ("null", "model")
        self._part = b""
        self.moved(now)

    def moved(self, now: float) -> None:
        """Note that a point began or ended: all ranks took part in it."""
        self._heard: dict[int, _Heard] = {}
        self._begun, self._count = now, 0

    def take(self, data: bytes, now: float) -> bytes:
        """Return ``data`` without the signs of life, which are not useful in a log."""
        *lines, part = (self._part + data).split(b"\n")
        talk = b"".join(line + b"\n" for line in lines if not self._is_sign(line, now))
        if len(part) > _MOST_LINE:
            talk, part = talk + part, b""
        self._part = part
        return talk

    def rest(self) -> bytes:
        """Return the last line if it was never completed."""
        part, self._part = self._part, b""
        return part

    def _is_sign(self, line: bytes, now: float) -> bool:
        found = _SIGN.fullmatch(line.rstrip(b"\r"))
        if found is None:
            return False
        self._count += 1
        before = self._heard.get(int(found[1]))
        numbers = [*(before.numbers if before else []), self._count][-_LEAST_SIGNS:]
        self._heard[int(found[1])] = _Heard(now, numbers, found[0].decode())
        return True

    def stopped(self, frames: Sequence[Frame], now: float) -> dict[int, str]:
        """Return a sentence for each rank that has stopped; ``frames`` name the hosts."""
        if self._simulated or now - self._begun < SILENT_S:
            return {}
        alive = [one for one in self._heard.values() if now - one.at < SILENT_S]
        silent = [one for one in self._heard.values() if now - one.at >= SILENT_S]
        last = max((one.numbers[-1] for one in silent), default=0)
        if any(len([n for n in one.numbers if n > last]) < _LEAST_SIGNS for one in alive):
            return {}
        return silent_ranks(
            self._plan, frames, [one.line for one in alive], f"for {SILENT_S:.0f} s"
        )
