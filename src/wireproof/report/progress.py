"""Progress during a run, updated by the engine's frames: a bar on a terminal, otherwise a plain
line from time to time.

The remaining time is estimated from budgets: each point may use its budget, and the remaining time
is scaled by the share that finished points used. Nothing here writes to standard output, which is
for data.
"""

import time
from collections.abc import Callable
from types import TracebackType
from typing import Self, TextIO

from wireproof.model import quantity
from wireproof.model.plan import Plan, Point
from wireproof.model.record import Close, EngineError, Frame, PointRecord, Start
from wireproof.report.ink import Look, cell_length
from wireproof.report.names import clean

PLAIN_EVERY_S = 5.0
BAR_EVERY_S = 0.1
_BAR_CELLS = 18
_ERASE_LINE, _HIDE_CURSOR, _SHOW_CURSOR = "\r\x1b[2K", "\x1b[?25l", "\x1b[?25h"


def describe(point: Point) -> str:
    """Return ``stream 1 MiB, 2 pairs``."""
    pairs = f", {len(point.pairs)} pairs" if len(point.pairs) > 1 else ""
    return f"{point.pattern} {quantity.size(point.message_bytes)}{pairs}"


class Progress:
    """Context manager: ``with Progress(plan, sys.stderr, look) as show: show(frame)`` for every
    frame of the run. It counts the finished points, and estimates the time for the others.

    On exit it restores the terminal, also after an exception or Ctrl-C. If ``look.color`` is False,
    it prints plain lines.
    """

    def __init__(
        self,
        plan: Plan,
        stream: TextIO,
        look: Look,
        title: str = "measuring",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._stream, self._look, self._title, self._clock = stream, look, clean(title, 60), clock
        self._bar = look.color and stream.isatty()
        self._shown = ""
        self._budget_ms = {
            point.id: point.budget_ms or plan.policy.point_budget_ms for point in plan.points
        }
        self._points = {point.id: point for point in plan.points}
        self._done: set[int] = set()
        self._started = self._last = clock()
        self.current: Point | None = None
        self.failed = 0

    @property
    def done(self) -> int:
        return len(self._done)

    @property
    def total(self) -> int:
        return len(self._points)

    def take(self, frame: Frame) -> None:
        """Update from one frame; frames of other kinds are ignored."""
        if isinstance(frame, Start):
            self.current = self._points.get(frame.id)
        elif isinstance(frame, PointRecord) and frame.id in self._points:
            self._done.add(frame.id)
            self.failed += any(pair.status != "ok" for pair in frame.pairs)
        elif isinstance(frame, EngineError) and frame.id in self._points and frame.id is not None:
            self._done.add(frame.id)
            self.failed += 1
        if self.done == self.total or isinstance(frame, Close):
            self.current = None

    def elapsed_s(self) -> float:
        return self._clock() - self._started

    def left_s(self) -> float:
        """Return the seconds until the last point: remaining budgets, scaled by the share of their
        budgets that finished points used (0.05 to 3).
        """
        spent_ms = sum(self._budget_ms[point] for point in self._done)
        left_ms = sum(self._budget_ms.values()) - spent_ms
        pace = min(3.0, max(0.05, self.elapsed_s() * 1000 / spent_ms)) if spent_ms else 1.0
        return left_ms * pace / 1000

    def line(self) -> str:
        """Return the state as text: ``12 of 84 points, stream 1 MiB; 14 s elapsed, about 52 s
        left``."""
        text = f"{self.done} of {self.total} points"
        if self.current is not None:
            text += f", {describe(self.current)}"
        if self.failed:
            text += f", {self.failed} failed"
        text += f"; {quantity.duration(self.elapsed_s())} elapsed"
        if self.done < self.total:
            text += f", about {quantity.duration(self.left_s())} left"
        return text

    def __enter__(self) -> Self:
        if self._bar:
            self._write(f"{_HIDE_CURSOR}{self._drawn('starting')}")
            self._last -= BAR_EVERY_S
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar:
            self._write(_ERASE_LINE + _SHOW_CURSOR)
            self._bar = False

    def __call__(self, frame: Frame) -> None:
        """Process one frame and update the display. Never raises for an unknown frame."""
        self.take(frame)
        every = BAR_EVERY_S if self._bar else PLAIN_EVERY_S
        if isinstance(frame, Close) or self._clock() - self._last >= every:
            self.tick()

    def tick(self) -> None:
        """Write one plain line now, or redraw the bar; also useful while no frame arrives."""
        self._last = self._clock()
        status = self.line()
        plain = self._look.say(f"wireproof: {self._title}: {status}") + "\n"
        line = self._drawn(status) if self._bar else plain
        if line != self._shown:
            self._write(line)
        self._shown = line

    def make_room(self) -> None:
        """Remove the bar so that another line can be printed; the next frame redraws it."""
        if self._bar:
            self._write(_ERASE_LINE)
            self._shown = ""

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()

    def _drawn(self, status: str) -> str:
        """Return the bar and the text for the terminal's line, not wider than the terminal."""
        full = _BAR_CELLS * self.done // self.total if self.total else _BAR_CELLS
        bar = "#" * full + "-" * (_BAR_CELLS - full)
        line = self._look.say(f"{self._title} [{bar}] {status}")
        while cell_length(line) >= self._look.width:
            line = line[:-1]
        return _ERASE_LINE + line
