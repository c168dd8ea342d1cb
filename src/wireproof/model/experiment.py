# pure
"""Results of experiments: ``tune try``, ``study``, ``ladder`` and gains of rails.

Ratios are value / base of the metric as measured; shares are fractions (0.1: 10 %). Goodput is in
bytes/s, times in ns. ``None`` means unknown, never zero.
"""

import math
from collections.abc import Callable
from typing import Literal

import msgspec

from wireproof.model.finding import Finding, Proof, Striping, Verdict

Better = Literal["lower", "higher"]
Answer = Literal["helps", "no-effect", "hurts", "undecided"]


class Interval(msgspec.Struct, frozen=True, kw_only=True):
    """A value with its interval over launches or rounds. ``low``, ``high``: null if there are too
    few of them for an interval.
    """

    value: float
    low: float | None = None
    high: float | None = None

    @property
    def least(self) -> float:
        """The lower end; minus infinity if it is unknown, so that it decides nothing."""
        return -math.inf if self.low is None else self.low

    @property
    def most(self) -> float:
        """The upper end; infinity if it is unknown."""
        return math.inf if self.high is None else self.high

    def shown(self, write: Callable[[float], str], unit: str = "") -> str:
        """Return ``1.90 times [1.85, 1.95]``; only the value if the interval is unknown."""
        value = f"{write(self.value)}{unit}"
        if self.low is None or self.high is None:
            return value
        return f"{value} [{write(self.low)}, {write(self.high)}]"


class ExperimentResult(msgspec.Struct, frozen=True, kw_only=True):
    """Common fields of experiments in rounds: ``rounds`` completed in ``seconds``."""

    rounds: int
    seed: int
    seconds: float
    notes: list[str] = msgspec.field(default_factory=list)


class BegunExperiment(ExperimentResult, frozen=True, kw_only=True):
    """An experiment in progress, stored so that it can be resumed. ``asked``: what was requested,
    one text for each part.
    """

    schema: str = "wireproof.experiment-begun"
    version: int = 1
    asked: dict[str, str]

    @property
    def sound(self) -> bool:
        """False if it has numbers that are impossible in an experiment."""
        return self.rounds >= 0 and 0 <= self.seed < 1 << 63 and 0.0 <= self.seconds < math.inf


class Metric(msgspec.Struct, frozen=True, kw_only=True):
    """The metric that decides. ``source``: the origin of its value for a run."""

    name: str
    unit: str
    better: Better
    source: str


class InterimLook(msgspec.Struct, frozen=True, kw_only=True):
    """An interim analysis after ``blocks`` blocks. ``alpha``: upper bound on the probability that
    the intervals miss the true values.
    """

    blocks: int
    alpha: float


class TriedKnob(msgspec.Struct, frozen=True, kw_only=True):
    """The setting or variable that is tried. ``values``: the first is the base for the comparisons;
    null: not set (variable) or left as found (setting).
    """

    name: str
    kind: Literal["variable", "setting"]
    values: tuple[str | None, ...]

    def shown(self, index: int) -> str:
        """Return the value at ``index`` with the knob's name, such as ``MTU=9000``."""
        value = self.values[index]
        if value is None:
            return f"{self.name} {'not set' if self.kind == 'variable' else 'as it is'}"
        return f"{self.name}={value}"


class TrialRun(msgspec.Struct, frozen=True, kw_only=True):
    """One run, in the order of measurement.

    ``block``: -1 for a warm-up, which does not count. ``value``: index into the knob's values.
    ``guards``: the guards' numbers of this run, by name; a guard that is missing was not measured.
    ``proof``: proof of the path, "" if none was requested. ``waited``: share of the time that the
    processes waited for a processor, null if it was not counted.
    """

    block: int
    value: int
    metric: float
    seconds: float
    guards: dict[str, float] = msgspec.field(default_factory=dict)
    proof: str = ""
    waited: float | None = None


class Guard(msgspec.Struct, frozen=True, kw_only=True):
    """A number that must not get worse. ``change``: ratio - 1 if ``kind`` is ``ratio``, difference
    per run if it is ``count``. ``low``, ``high``: interval of the change, null with too few
    blocks.
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
    """One value compared with the base.

    ``ratio`` has the interval ``low`` to ``high``, null with too few blocks; ``base`` and
    ``other``: medians of the metric. ``more_runs``: estimated number of further runs that would
    decide the comparison. ``paths``: path of most runs with a proof, of the base and of the value,
    "" if there are none. ``busy``: why the hosts may be the cause, so that nothing is decided;
    otherwise "".
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
    busy: str = ""
    text: str = ""

    @property
    def beside_the_wire(self) -> bool:
        """True if runs with the base or the value are not proven to use the claimed wire; nothing
        is then concluded.
        """
        return any(path not in ("", "on-wire") for path in self.paths)

    @property
    def worse(self) -> tuple[str, ...]:
        """Names of the guards that got worse."""
        return tuple(guard.name for guard in self.guards if guard.worse)


class Stopping(msgspec.Struct, frozen=True, kw_only=True):
    """The reason why the trial stopped, and the rule. ``alpha``: error probability over all looks
    and comparisons together.
    """

    rule: str
    alpha: float
    looks: list[InterimLook]
    reason: Literal["decided", "budget", "too-slow"]
    budget_s: float


class PlannedArm(msgspec.Struct, frozen=True, kw_only=True):
    """The shell commands that a round would run for an arm."""

    title: str
    commands: list[str]


class ExperimentPlan(msgspec.Struct, frozen=True, kw_only=True):
    """What ``--dry-run`` of an experiment prints. ``rounds``: null if the time decides."""

    hosts: list[str]
    rounds: int | None
    seed: int
    arms: list[PlannedArm]
    notes: list[str] = msgspec.field(default_factory=list)


class BegunTrial(BegunExperiment, frozen=True, kw_only=True):
    """A trial in progress. ``runs``: those of whole blocks. ``longest_s``: of a block."""

    schema: str = "wireproof.trial-begun"
    runs: list[TrialRun]
    looks: list[InterimLook]
    longest_s: float

    @property
    def sound(self) -> bool:
        """False if it has impossible runs or looks."""
        return (
            super().sound
            and 0.0 <= self.longest_s < math.inf
            and all(0.0 < look.alpha < 1.0 for look in self.looks)
            and all(
                run.value >= 0 and 0.0 < run.metric < math.inf and run.block < self.rounds
                for run in self.runs
            )
        )


class TryResult(msgspec.Struct, frozen=True, kw_only=True):
    """The output of ``wireproof tune try --json``. ``smallest``: smaller effects count as none.
    ``kept``: index of the value that stays applied; null: the original state is restored.
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
        """The value that helps most and makes no guard worse; None if there is none."""
        good = [each for each in self.comparisons if each.answer == "helps" and not each.worse]
        return max(good, key=lambda effect: abs(effect.ratio - 1.0), default=None)

    @property
    def verdict(self) -> Verdict:
        """``pass`` if a value helps, ``fail`` if none does, ``inconclusive`` if that is unknown."""
        if self.best is not None:
            return "pass"
        undecided = any(effect.answer == "undecided" for effect in self.comparisons)
        return "inconclusive" if undecided else "fail"


class RailNumber(msgspec.Struct, frozen=True, kw_only=True):
    """Goodput in bytes/s over one rail alone, or over all together (``rail`` is ""). ``limit``:
    the maximum of the rail's link. ``waited``: share of the time that the processes waited for a
    processor, null if it was not counted.
    """

    rail: str
    goodput: Interval
    limit: float | None
    proof: Proof
    waited: float | None = None


class GainRow(msgspec.Struct, frozen=True, kw_only=True):
    """One pattern at one message size from one host to another.

    ``gain``: goodput over all rails / goodput over the best rail alone; ``of_sum``: / sum over the
    rails alone; ``of_limits``: / sum of the limits. ``expected``: a gain is expected because the
    messages are large and go one way. A pattern that waits for each answer has one message in
    flight, and gains nothing if each message uses one rail.
    """

    pattern: str
    form: str
    message_bytes: int
    origin: str
    target: str
    alone: list[RailNumber]
    together: RailNumber
    gain: Interval
    of_sum: Interval
    of_limits: float | None
    striping: Striping
    expected: bool


class RailGain(ExperimentResult, frozen=True, kw_only=True):
    """The output of ``wireproof measure --gain --json``. ``answer``: the gain in one sentence.
    ``told``: the variables that the launch over all rails sets. The launches differ only in the
    rails that they use.
    """

    schema: Literal["wireproof.rails"] = "wireproof.rails"
    version: Literal[1] = 1
    verdict: Verdict
    answer: str
    hosts: list[str]
    rails: list[str]
    link: str
    rows: list[GainRow]
    findings: list[Finding]
    told: dict[str, str]
