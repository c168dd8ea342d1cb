"""A study of a library's settings: which values are obeyed, and what they change here.

Ratios are value / base of the metric as it was measured; shares are parts of one. ``None`` means
unknown, never zero. Values that are compared are texts, as they stand in the environment.
"""

from typing import Literal

import msgspec

from wireproof.model.experiment import Answer, Metric
from wireproof.model.finding import Finding, Verdict

Seen = Literal[
    "honoured", "altered", "unsaid", "unread", "refused", "disagree", "by-effect", "default"
]
"""What is known of a value that was asked for.

``honoured``: the library says it. ``altered``: it says another. ``unread``: it lists what it has
read, and this is not in the list. ``unsaid``: it says nothing, and its list could not be had.
``refused``: no run starts with it. ``disagree``: the ranks say different things. ``by-effect``: it
says nothing, and the runs differ from the base. ``default``: the base itself.
"""
Reader = Literal["", "psm3"]
Stopped = Literal["complete", "budget", "interrupted"]


class Readback(msgspec.Struct, frozen=True, kw_only=True):
    """What one rank's library says of one setting. ``asked`` None: nothing was; ``seen`` None: it
    says nothing. ``agrees``: what was seen is what was asked for. ``source``: the line's kind.
    """

    setting: str
    asked: str | None
    seen: str | None
    source: str
    rank: str = ""
    agrees: bool | None = None


class ReadRule(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a setting is read back. ``of``: a kind of line of the library (``says``, or of its
    ``reader``). ``name``: what the line calls the setting, "" as the knob. ``expect``: for a value,
    or * for any, the regular expression that what is said must match, {value} in it; a value
    without one must be said itself (``itself`` False: nothing follows from it then).
    """

    of: str
    name: str = ""
    expect: dict[str, str] = {}
    itself: bool = True


class Control(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Another spelling that is tried when a value was refused. ``same``: it means the same as the
    value; else it is what the value may have been taken for. ``spelling``: with {value}, {first},
    {rest}, and {hex}, the value as a hexadecimal number. ``means``: for the sentence.
    """

    spelling: str
    same: bool
    means: str


class Knob(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One setting of the catalogue: data, no code.

    ``values``: what is tried unless others are given; {nic}: each rail in turn, {nics}: all of them
    with commas. ``valid``: regular expression of a value. ``alongside``: variables that a value
    needs to count, {rails} a pattern for all rails. ``moves``: patterns that it can change.
    ``rails``: so many are needed. ``versions``: of the library, for people. ``helps``: what it
    means when a value (or *) helps. ``source``: of what is said here.
    """

    name: str
    what: str
    values: tuple[str, ...]
    source: str
    valid: str = ".+"
    alongside: dict[str, str] = {}
    moves: tuple[str, ...] = ()
    rails: int = 1
    versions: str = ""
    helps: dict[str, str] = {}
    read: tuple[ReadRule, ...] = ()
    control: tuple[Control, ...] = ()


class Library(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The knobs of one library. ``id``: what the command line calls it.

    ``prefixes``: of its variables. ``base``: variables of every run. ``asks``: variables that make
    it say what it does. ``says``: kinds of lines, each a regular expression with a group ``value``
    and, where the line has them, ``rank``, ``owner`` and ``name`` (together ``owner/name``);
    ``rank``: where any line names its rank. ``listing``: the kind that names every
    setting that was read. ``complaints``: lines that say why it does not start. ``fabric``: of the
    MPI; ``provider``: of libfabric, without an MPI. ``mpi``: families that have it.
    """

    id: str
    title: str
    prefixes: tuple[str, ...]
    knob: tuple[Knob, ...]
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
    """One column of the design: the base (``knob`` "") or one value of one knob. ``variables``: all
    that its runs have beyond those of every run.
    """

    knob: str = ""
    value: str = ""
    variables: dict[str, str] = {}

    @property
    def shown(self) -> str:
        return f"{self.knob}={self.value}" if self.knob else "base"

    @property
    def whole(self) -> str:
        """With all that its runs have: ``A=1 with B=2``."""
        more = [f"{name}={value}" for name, value in self.variables.items() if name != self.knob]
        return f"{self.shown} with {' '.join(more)}" if more else self.shown


class StudyRun(msgspec.Struct, frozen=True, kw_only=True):
    """One launch, in the order of measurement. ``block``: its small block. ``numbers``: by pattern,
    in the pattern's unit. ``shares``: of what left the hosts, by port. ``said``: findings about the
    library's own counters, by code.
    """

    block: int
    configuration: int
    numbers: dict[str, float]
    seconds: float
    proof: str = ""
    shares: dict[str, float] = {}
    said: dict[str, str] = {}


class StudiedPattern(msgspec.Struct, frozen=True, kw_only=True):
    """A pattern of the study: what is measured and in which unit."""

    name: str
    what: str
    metric: Metric


class StudyEffect(msgspec.Struct, frozen=True, kw_only=True):
    """One value on one pattern against the base. ``low``, ``high``: the 95 % interval of ``ratio``,
    None with too few blocks. ``p``: of no effect, adjusted for all comparisons of the study (Holm).
    ``base``, ``other``: medians.
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


class Honoured(msgspec.Struct, frozen=True, kw_only=True):
    """Whether a value was obeyed, with what shows it. ``text``: one sentence."""

    configuration: int
    seen: Seen
    text: str
    readbacks: list[Readback] = []

    @property
    def obeyed(self) -> bool:
        return self.seen in ("honoured", "by-effect")


class Probe(msgspec.Struct, frozen=True, kw_only=True):
    """One start with a value, to read back. ``failed``: why it did not start, "" when it did.
    ``listed``: the names of all settings that the library says it has read; None: it gave no list.
    ``controls``: other spellings of a refused value, and why each did not start.
    """

    readbacks: list[Readback] = []
    failed: str = ""
    listed: list[str] | None = None
    controls: dict[str, str] = {}


class Begun(msgspec.Struct, frozen=True, kw_only=True):
    """A study under way, as it is kept to go on with. ``asked``: what it was asked for, one text
    for each part. ``probes``: by configuration.
    """

    schema: str = "wireproof.study-begun"
    version: int = 1
    asked: dict[str, str]
    seed: int
    rails: list[str]
    configurations: list[Configuration]
    probes: dict[int, Probe]
    runs: list[StudyRun]
    rounds: int
    seconds: float
    notes: list[str]


class Advice(msgspec.Struct, frozen=True, kw_only=True):
    """``kind`` use: it helps and hurts nothing; trade: it helps here and hurts there."""

    configuration: int
    kind: Literal["use", "trade"]
    text: str


class Study(msgspec.Struct, frozen=True, kw_only=True):
    """What ``wireproof study --json`` prints. ``configurations``: the first is the base.
    ``precision``: the median half interval of the effects, by pattern.
    """

    schema: str = "wireproof.study"
    version: int = 1
    library: str
    title: str
    hosts: list[str]
    rails: list[str]
    patterns: list[StudiedPattern]
    configurations: list[Configuration]
    runs: list[StudyRun]
    smallest: float
    alpha: float
    seed: int
    rounds: int
    rounds_planned: int
    budget_s: float
    seconds: float
    stopped: Stopped
    effects: list[StudyEffect] = []
    honoured: list[Honoured] = []
    advice: list[Advice] = []
    findings: list[Finding] = []
    precision: dict[str, float] = {}
    method: str = ""
    notes: list[str] = []

    @property
    def verdict(self) -> Verdict:
        """``pass``: something was decided, of an effect or of a value that is not obeyed;
        ``inconclusive``: nothing was.
        """
        decided = any(one.answer != "undecided" for one in self.effects)
        return "pass" if decided or any(not one.obeyed for one in self.honoured) else "inconclusive"
