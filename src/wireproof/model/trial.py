"""A trial of a setting: does another value of it help here?

Ratios are value / base of the metric as it was measured; shares are parts of one (0.1: 10 %).
``None`` means unknown, never zero.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from wireproof.model.experiment import Answer, InterimLook, Metric
from wireproof.model.finding import Verdict

__all__ = [
    "Guard",
    "Stopping",
    "TrialRun",
    "TriedKnob",
    "TryResult",
    "ValueEffect",
]


class TriedKnob(msgspec.Struct, frozen=True, kw_only=True):
    """What is tried. ``values``: the first is the base that the others are held against; None: not
    set (variable), as it was found (setting).
    """

    name: str
    kind: Literal["variable", "setting"]
    values: tuple[str | None, ...]

    def shown(self, index: int) -> str:
        """One value with the knob's name, as people write it."""
        value = self.values[index]
        if value is None:
            return f"{self.name} {'not set' if self.kind == 'variable' else 'as it is'}"
        return f"{self.name}={value}"


class TrialRun(msgspec.Struct, frozen=True, kw_only=True):
    """One run, in the order of measurement. ``block`` -1: a warm-up, which does not count.
    ``value``: index of the knob's. ``guards``: by name, of this run; what is not there was not
    measured.
    ``proof``: of the path, "" where none is looked for.
    """

    block: int
    value: int
    metric: float
    seconds: float
    guards: dict[str, float] = msgspec.field(default_factory=dict)
    proof: str = ""


class Guard(msgspec.Struct, frozen=True, kw_only=True):
    """A number that must not become worse. ``kind`` ratio: ``change`` is the ratio less one; count:
    the difference per run. ``low``, ``high``: its interval, None with too few blocks.
    """

    name: str
    kind: Literal["ratio", "count"]
    base: float
    value: float
    change: float
    low: float | None
    high: float | None
    worse: bool


class ValueEffect(msgspec.Struct, frozen=True, kw_only=True):
    """One value against the base. ``ratio`` with ``low`` and ``high``, None with too few blocks;
    ``base`` and ``other``: medians of the metric. ``more_runs``: about how many would decide it.
    ``paths``: of most runs of base and value, "" where it is not known.
    """

    value: int
    answer: Answer
    base: float
    other: float
    ratio: float
    low: float | None
    high: float | None
    blocks: int
    more_runs: int = 0
    guards: list[Guard] = msgspec.field(default_factory=list)
    paths: tuple[str, str] = ("", "")
    text: str = ""

    @property
    def beside_the_wire(self) -> bool:
        """Runs of base or value did not use the claimed wire: nothing is concluded of them."""
        return any(path not in ("", "on-wire") for path in self.paths)

    @property
    def worse(self) -> tuple[str, ...]:
        """Names of the guards that became worse."""
        return tuple(guard.name for guard in self.guards if guard.worse)


class Stopping(msgspec.Struct, frozen=True, kw_only=True):
    """``reason``: why no further run was made. ``alpha``: of all looks and comparisons together."""

    rule: str
    alpha: float
    looks: list[InterimLook]
    reason: Literal["decided", "budget", "too-slow"]
    budget_s: float


class TryResult(msgspec.Struct, frozen=True, kw_only=True):
    """What ``wireproof tune try --json`` prints. ``smallest``: effects below it count as none.

    ``kept``: index of the value that is left applied, None: everything is as it was before.
    """

    schema: str = "wireproof.trial"
    version: int = 1
    knob: TriedKnob
    workload: str
    metric: Metric
    smallest: float
    seed: int
    stopping: Stopping
    runs: list[TrialRun]
    comparisons: list[ValueEffect]
    seconds: float
    kept: int | None = None
    notes: list[str] = msgspec.field(default_factory=list)

    @property
    def best(self) -> ValueEffect | None:
        """The value that helps most and makes no guard worse; None when there is none."""
        good = [one for one in self.comparisons if one.answer == "helps" and not one.worse]
        return max(good, key=lambda one: abs(one.ratio - 1.0), default=None)

    @property
    def verdict(self) -> Verdict:
        """``pass``: a value helps; ``fail``: none does; ``inconclusive``: that is not known."""
        if self.best is not None:
            return "pass"
        undecided = any(one.answer == "undecided" for one in self.comparisons)
        return "inconclusive" if undecided else "fail"
