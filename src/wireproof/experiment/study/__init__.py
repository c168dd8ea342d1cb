# pure
"""A study of a library's settings: the values that take effect, and their effects on these hosts.

Ratios are value / base of the metric as measured; shares are fractions. ``None`` means unknown,
never zero. Compared values are texts, as in the environment.
"""

import math
from typing import Annotated, Literal

import msgspec

from wireproof.model.experiment import Answer, BegunExperiment, ExperimentResult, Metric
from wireproof.model.finding import Finding, Verdict

Seen = Literal[
    "honoured", "altered", "unsaid", "unread", "refused", "disagree", "by-effect", "default"
]
"""The knowledge about a requested value.

``honoured``: the library reports it. ``altered``: it reports another value. ``unread``: it lists
the settings that it has read, and this setting is not in the list. ``unsaid``: it does not report
the setting, and gives no list. ``refused``: no run starts with the value. ``disagree``: the ranks
report different values. ``by-effect``: the library does not report it, but the runs differ from the
base. ``default``: the base itself.
"""
Reader = Literal["", "psm3"]
Stopped = Literal["complete", "budget", "interrupted"]


class Readback(msgspec.Struct, frozen=True, kw_only=True):
    """The report of one rank's library about one setting. ``asked``: null if no value was
    requested; ``seen``: null if the library does not report it. ``agrees``: the reported value
    is the requested value. ``source``: the kind of the line.
    """

    setting: str
    asked: str | None
    seen: str | None
    source: str
    rank: str = ""
    agrees: bool | None = None


class ReadRule(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a setting is read back.

    ``of``: a kind of line that the library prints (in ``says`` or from its ``reader``). ``name``:
    the name of the setting in that line, "" if it is the name of the knob. ``expect``: for a value,
    or * for any, the regular expression that the reported value must match, with {value} in it;
    otherwise the value itself must be reported (``itself`` False: no conclusion is drawn then).
    """

    of: str
    name: str = ""
    expect: dict[str, str] = {}
    itself: bool = True


class Control(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Another spelling that is tried if a value is refused. ``same``: it means the same as the
    value; otherwise it is what the value may have been mistaken for. ``spelling``: with {value},
    {first}, {rest}, and {hex}, the value as a hexadecimal number. ``means``: wording for the
    sentence.
    """

    spelling: str
    same: bool
    means: str


class Knob(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One setting of the catalogue: only data, no code.

    ``values``: the values to try by default; {nic}: each rail in turn, {nics}: all rails, separated
    by commas. ``valid``: regular expression for values. ``alongside``: variables that a value needs
    to take effect, with {rails} for a pattern for all rails. ``moves``: patterns that it can
    affect. ``rails``: number of rails needed. ``versions``: versions of the library, as text.
    ``helps``: for a value (or *), what it means if it helps. ``source``: reference for this entry.
    """

    name: str
    what: str
    values: Annotated[tuple[str, ...], msgspec.Meta(min_length=1)]
    source: str
    valid: str = ".+"
    alongside: dict[str, str] = {}
    moves: tuple[str, ...] = ()
    rails: Annotated[int, msgspec.Meta(ge=1)] = 1
    versions: str = ""
    helps: dict[str, str] = {}
    read: tuple[ReadRule, ...] = ()
    control: tuple[Control, ...] = ()


class Library(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The knobs of one library.

    ``id``: its name on the command line. ``prefixes``: the prefixes of its variables. ``base``:
    variables of every run. ``asks``: variables that make it report its settings. ``says``: kinds of
    lines, each a regular expression with a group ``value`` and, if the line has them, ``rank``,
    ``owner`` and ``name`` (together ``owner/name``); ``rank``: the pattern of the rank in any line.
    ``listing``: the kind of line that names every setting that was read. ``complaints``: lines that
    explain a failed start. ``fabric``: fabric of the MPI; ``provider``: libfabric provider, without
    an MPI. ``mpi``: the MPI families that use the library.
    """

    id: str
    title: str
    prefixes: tuple[str, ...]
    knob: Annotated[tuple[Knob, ...], msgspec.Meta(min_length=1)]
    asks: dict[str, str] = {}
    says: dict[str, str] = {}
    rank: str = ""
    base: dict[str, str] = {}
    listing: str = ""
    reader: Reader = ""
    counts: dict[str, str] = {}
    looks: tuple[tuple[str, ...], ...] = ()
    complaints: tuple[str, ...] = ()
    fabric: str = ""
    provider: str = ""
    mpi: tuple[str, ...] = ()


class Configuration(msgspec.Struct, frozen=True, kw_only=True):
    """One arm of the design: the base (``knob`` "") or one value of one knob. ``variables``: all
    variables that its runs set in addition to those of every run.
    """

    knob: str = ""
    value: str = ""
    variables: dict[str, str] = {}

    @property
    def shown(self) -> str:
        return f"{self.knob}={self.value}" if self.knob else "base"

    @property
    def whole(self) -> str:
        """The value with the variables set alongside it: ``A=1 with B=2``."""
        more = [f"{name}={value}" for name, value in self.variables.items() if name != self.knob]
        return f"{self.shown} with {' '.join(more)}" if more else self.shown


class StudyRun(msgspec.Struct, frozen=True, kw_only=True):
    """One launch, in the order of measurement. ``block``: the small block that it belongs to.
    ``numbers``: by pattern, in the pattern's unit. ``shares``: share of the bytes that left the
    hosts, by port. ``said``: findings about the library's counters, by code. ``waited``: share of
    the time that the processes waited for a processor, null if it was not counted.
    """

    block: int
    configuration: int
    numbers: dict[str, float]
    seconds: float
    proof: str = ""
    shares: dict[str, float] = {}
    said: dict[str, str] = {}
    waited: float | None = None


class StudiedPattern(msgspec.Struct, frozen=True, kw_only=True):
    """A pattern of the study: its quantity and unit."""

    name: str
    what: str
    metric: Metric


class StudyEffect(msgspec.Struct, frozen=True, kw_only=True):
    """The effect of one value on one pattern, compared with the base. ``low``, ``high``: 95 %
    interval of ``ratio``, null with too few blocks. ``p``: p-value of no effect, adjusted for
    all comparisons of the study (Holm). ``base``, ``other``: medians. ``busy``: why the hosts may
    be the cause, so that nothing is decided; otherwise "".
    """

    configuration: int
    pattern: str
    ratio: float
    low: float | None
    high: float | None
    p: float
    base: float
    other: float
    blocks: int
    answer: Answer
    busy: str = ""


class Honoured(msgspec.Struct, frozen=True, kw_only=True):
    """Whether a value took effect, with the evidence. ``text``: one sentence."""

    configuration: int
    seen: Seen
    text: str
    readbacks: list[Readback] = []

    @property
    def obeyed(self) -> bool:
        return self.seen in ("honoured", "by-effect")


class Probe(msgspec.Struct, frozen=True, kw_only=True):
    """One start with a value, to read it back. ``failed``: the reason if it did not start,
    otherwise "". ``listed``: names of all settings that the library reports as read; null: it
    printed no list. ``controls``: other spellings of a refused value, each with the reason why it
    did not start.
    """

    readbacks: list[Readback] = []
    failed: str = ""
    listed: list[str] | None = None
    controls: dict[str, str] = {}


class Begun(BegunExperiment, frozen=True, kw_only=True):
    """A study in progress. ``probes``: by configuration."""

    schema: str = "wireproof.study-begun"
    rails: list[str]
    configurations: list[Configuration]
    runs: list[StudyRun]
    probes: dict[int, Probe]

    @property
    def sound(self) -> bool:
        """False if it has impossible runs."""
        known = range(len(self.configurations))
        return (
            super().sound
            and all(number in known and number for number in self.probes)
            and all(
                run.configuration in known and all(0 < n < math.inf for n in run.numbers.values())
                for run in self.runs
            )
        )


class Advice(msgspec.Struct, frozen=True, kw_only=True):
    """A recommendation. ``kind``: ``use`` if the value helps and hurts nothing, ``trade`` if it
    helps some patterns and hurts others.
    """

    configuration: int
    kind: Literal["use", "trade"]
    text: str


class Study(ExperimentResult, frozen=True, kw_only=True):
    """The output of ``wireproof study --json``. ``configurations``: the first is the base.
    ``precision``: median half-width of the effects' intervals, by pattern.
    """

    schema: str = "wireproof.study"
    version: int = 1
    rails: list[str]
    configurations: list[Configuration]
    runs: list[StudyRun]
    library: str
    title: str
    hosts: list[str]
    patterns: list[StudiedPattern]
    smallest: float
    alpha: float
    rounds_planned: int
    budget_s: float
    stopped: Stopped
    effects: list[StudyEffect] = msgspec.field(default_factory=list)
    honoured: list[Honoured] = msgspec.field(default_factory=list)
    advice: list[Advice] = msgspec.field(default_factory=list)
    findings: list[Finding] = msgspec.field(default_factory=list)
    precision: dict[str, float] = msgspec.field(default_factory=dict)
    method: str = ""

    @property
    def verdict(self) -> Verdict:
        """``pass`` if at least one effect is decided or a value is known not to take effect;
        otherwise ``inconclusive``.
        """
        decided = any(effect.answer != "undecided" for effect in self.effects)
        ignored = any(not value.obeyed and value.seen != "unsaid" for value in self.honoured)
        return "pass" if decided or ignored else "inconclusive"
