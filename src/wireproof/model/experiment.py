"""What experiments measure and answer: tries of a setting, studies, ladders, gains of rails.

Ratios are value / base of the metric as it was measured; shares are parts of one (0.1: 10 %).
Goodput is in bytes/s, times in ns. ``None`` means unknown, never zero.
"""

from typing import Literal

import msgspec

from wireproof.model.finding import Finding, Proof, Striping, Verdict

Better = Literal["lower", "higher"]
Answer = Literal["helps", "no-effect", "hurts", "undecided"]


class Interval(msgspec.Struct, frozen=True, kw_only=True):
    """A value with its interval over the launches or rounds; ``low``, ``high`` None: too few of
    them for an interval.
    """

    value: float
    low: float | None = None
    high: float | None = None


class Metric(msgspec.Struct, frozen=True, kw_only=True):
    """The number that decides. ``source``: where a run's number comes from."""

    name: str
    unit: str
    better: Better
    source: str


class InterimLook(msgspec.Struct, frozen=True, kw_only=True):
    """The intervals were looked at after ``blocks``; they missed the truth with probability
    ``alpha`` at most.
    """

    blocks: int
    alpha: float


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


class BoundedInterval(msgspec.Struct, frozen=True, kw_only=True):
    """A value with its 95 % interval over the launches."""

    value: float
    low: float
    high: float


class RailNumber(msgspec.Struct, frozen=True, kw_only=True):
    """Goodput over one rail alone, or over all (``rail`` "": together), in bytes/s. ``limit``: what
    its link can carry; ``proof``: of its path.
    """

    rail: str
    goodput: BoundedInterval
    limit: float | None
    proof: Proof


class GainRow(msgspec.Struct, frozen=True, kw_only=True):
    """One pattern at one size from one host to another. ``gain``: all rails against the best alone;
    ``of_sum``: against the sum of all alone; ``of_limits``: against the sum of the limits.

    ``expected``: its messages are to be shared: large, and one way. What waits for an answer is one
    message at a time, and gains nothing where each message goes over one rail.
    """

    pattern: str
    form: str
    message_bytes: int
    origin: str
    target: str
    alone: list[RailNumber]
    together: RailNumber
    gain: BoundedInterval
    of_sum: BoundedInterval
    of_limits: float | None
    striping: Striping
    expected: bool


class RailGain(msgspec.Struct, frozen=True, kw_only=True):
    """``answer``: the gain in one sentence. ``told``: the variables that the launch with all rails
    has set. ``settings`` differ between the launches in nothing but the rails.
    """

    schema: Literal["wireproof.rails"] = "wireproof.rails"
    version: Literal[1] = 1
    verdict: Verdict
    answer: str
    hosts: list[str]
    rails: list[str]
    link: str
    rounds: int
    seed: int
    rows: list[GainRow]
    findings: list[Finding]
    told: dict[str, str]
    seconds: float
    notes: list[str] = msgspec.field(default_factory=list)
