"""A group of comparisons that goes on until each is decided, and no longer.

Nobody waits for a quiet machine: both sides run before other work where that is allowed (root), and
where it is not, more launches decide all the same.
Intervals are looked at after 8, 12, 18, 27, 40 ... usable comparisons; the looks share the error
(repeated confidence intervals, ``wireproof.experiment``), so stopping at the first that
decides makes no larger error. A rival whose comparisons are all decided is not launched again.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from benchmarks.paired import (
    Comparison,
    Interleaved,
    Sample,
    compare,
    control,
    interleave,
    usable,
)
from benchmarks.row import NotRun, Row
from wireproof.experiment import is_look, level

__all__ = ["ALPHA", "Contest"]

ALPHA = 0.05
"""Of all looks of one comparison."""


@dataclass
class _Question:
    """One comparison: what its looks have spent, and the row that decided it."""

    wish: Comparison
    looked: list[float] = field(default_factory=list)
    number: int = 0
    answer: Row | NotRun | None = None

    def look(self, group: str, found: Interleaved) -> None:
        """At the numbers of comparisons that the rule names; a figure that is only shown needs one
        look.
        """
        number = len(usable(self.wish, found))
        if self.answer is not None or number == self.number or not is_look(number):
            return
        self.number = number
        self.looked.append(level(ALPHA, self.looked, last=False))
        row = compare(group, self.wish, found, self.looked[-1])
        if isinstance(row, Row) and row.outcome != "undecided":
            self.answer = row

    def last(self, group: str, found: Interleaved) -> Row | NotRun:
        if self.answer is None:
            self.answer = compare(group, self.wish, found, level(ALPHA, self.looked, last=True))
        return self.answer


@dataclass
class Contest:
    """``ours`` against ``rivals``; ``own``: metric and unit of the control, ours over ours.
    ``rounds``: at most.
    """

    group: str
    ours: Callable[[], Sample]
    rivals: Mapping[str, Callable[[], Sample]]
    wishes: Sequence[Comparison]
    own: tuple[str, str] = ("", "")
    rounds: int = 1000

    def __post_init__(self) -> None:
        self._found = Interleaved({name: [] for name in self.rivals})
        self._questions = [_Question(wish) for wish in self.wishes]
        self._done = 0

    @property
    def _open(self) -> list[str]:
        """Rivals that have something left to say."""
        asked = {one.wish.rival for one in self._questions if one.answer is None}
        return [name for name in self.rivals if name in asked and name not in self._found.failed]

    @property
    def settled(self) -> bool:
        """Nothing is left to decide, or that could decide it."""
        return not self._open or self._done >= self.rounds

    def advance(self, say: Callable[[str], None], until: float = math.inf) -> None:
        """Round after round until it is settled, no new one after ``until`` (time.monotonic)."""
        before: Sample | None = None
        while not self.settled and time.monotonic() < until:
            self._done += 1
            say(f"{self.group}: round {self._done}, open: {', '.join(self._open)}")
            left = {name: self.rivals[name] for name in self._open}
            before = interleave(self.ours, left, self._found, before)
            for question in self._questions:
                question.look(self.group, self._found)

    def rows(self) -> list[Row | NotRun]:
        """One row of each comparison, with all that was found, and the control."""
        rows = [question.last(self.group, self._found) for question in self._questions]
        metric, unit = self.own
        if metric and any(self._found.triples.values()):
            rows.append(control(self.group, metric, unit, self._found))
        return rows
