"""What `locate` concludes: which node, port, link or switch is slow, how sure that is, and what it
is not.
"""

from typing import Literal

import msgspec

from wireproof.model.finding import Both, Direction, Link, Node, Port, Route, Subject, Switch
from wireproof.model.setting import SettingEffect

__all__ = [
    "ABOUT",
    "LIKELY",
    "Blame",
    "BlameKind",
    "Cause",
    "Contention",
    "Direction",
    "Located",
    "Metric",
    "Stage",
    "Tier",
    "name_of",
]

ABOUT = 1.1
"""What is detectable is an estimate itself: up to so many times the practical threshold it is
called enough.
"""

Metric = Literal["goodput", "hrt"]
"""``goodput``: bytes/s, one direction; ``hrt``: half round trip in ns (no direction)."""
BlameKind = Literal["node", "port", "link", "switch", "pair"]
Stage = Literal["screened", "confirmed"]
"""``screened``: seen among others; ``confirmed``: measured again alone."""


LIKELY = 0.9
"""Below this confidence another cause may explain it as well."""


class Cause(msgspec.Struct, frozen=True, kw_only=True):
    """Why, as far as counters, Facts and settings show. ``confidence`` 0 to 1; ``evidence`` says
    what was seen, in sentences.

    ``setting``: its entry in the catalogue of settings, "" where the cause is none; ``expected``:
    what a wrong value of it costs. ``explains`` False: that is not enough for what was measured.
    """

    code: str
    sentence: str
    confidence: float
    fix: str
    evidence: list[str] = msgspec.field(default_factory=list)
    setting: str = ""
    expected: SettingEffect | None = None
    explains: bool = True
    undo: str = ""


class Blame(msgspec.Struct, frozen=True, kw_only=True):
    """One culprit. ``slowdown`` is relative (0.20: a fifth less goodput, or a fifth more time),
    with its 95 % interval.

    ``about``: the culprit itself, and ``subject`` its name: of a node, of the node that a port
    belongs to, of a switch, ``leaf1 - spine2`` for a link (``leaf1 - ?`` where the far end is not
    known), ``n1 -> n2`` or ``n1 <-> n2`` for a pair. ``direction``: of a port as its node sees it,
    of a link or switch as its nodes see it (``tx`` leaves them). ``value`` and ``expected`` are in
    the metric's unit. ``stage`` ``confirmed``: measured again alone against known-good partners.
    Older documents have no ``about``: it is then made of the other fields.
    """

    kind: BlameKind
    subject: str
    direction: Direction = ""
    metric: Metric = "goodput"
    slowdown: float
    low: float
    high: float
    confidence: float
    stage: Stage
    value: float
    expected: float
    nodes: list[str] = msgspec.field(default_factory=list)
    evidence: list[str] = msgspec.field(default_factory=list)
    causes: list[Cause] = msgspec.field(default_factory=list)
    about: Subject | None = None

    def __post_init__(self) -> None:
        if self.about is None:
            found = _culprit(self.kind, self.subject, self.direction)
            msgspec.structs.force_setattr(self, "about", found)


class Contention(msgspec.Struct, frozen=True, kw_only=True):
    """Slow together and fast alone: no fault. ``loaded`` and ``alone`` in the metric's unit.
    ``subject`` is the name of what it is ``about``, which older documents do not have.
    """

    subject: str
    loaded: float
    alone: float
    sentence: str
    about: Subject | None = None

    def __post_init__(self) -> None:
        if self.about is None:
            msgspec.structs.force_setattr(self, "about", _suspect(self.subject))


class Tier(msgspec.Struct, frozen=True, kw_only=True):
    """Pairs that take the same kind of path, such as ``one switch`` or ``across leaves``;
    ``median`` in the metric's unit. ``oversubscription``: how many times slower than the best tier
    (1.0: not at all); expected, never a fault. ``spread``: relative sigma of its samples, for flows
    that share a link do not share it evenly.
    """

    name: str
    samples: int
    median: float
    oversubscription: float = 1.0
    spread: float = 0.0


class Located(msgspec.Struct, frozen=True, kw_only=True):
    """``noise``: robust relative sigma of one sample; ``alpha``: family-wise error of the sweep;
    ``practical``: the least slowdown that is called one; ``detectable``: the slowdown found with 95
    % power at this size and noise.

    ``cleared``: names of the suspects that the confirm stage acquitted, ``acquitted`` these
    themselves, which older documents do not have. ``missing``: node to why it has no samples.
    """

    metric: Metric
    nodes: int
    measured: int
    rounds: int
    samples: int
    noise: float
    alpha: float
    practical: float
    detectable: float
    blames: list[Blame] = msgspec.field(default_factory=list)
    cleared: list[str] = msgspec.field(default_factory=list)
    contention: list[Contention] = msgspec.field(default_factory=list)
    tiers: list[Tier] = msgspec.field(default_factory=list)
    missing: dict[str, str] = msgspec.field(default_factory=dict)
    notes: list[str] = msgspec.field(default_factory=list)
    acquitted: list[Subject] = msgspec.field(default_factory=list)

    def __post_init__(self) -> None:
        if self.cleared and not self.acquitted:
            found = [_suspect(name) for name in self.cleared]
            msgspec.structs.force_setattr(self, "acquitted", found)


def name_of(about: Subject) -> str:
    """The name of a culprit: a port goes by its node's, for its direction stands beside it."""
    return about.node if isinstance(about, Port) else str(about)


def _culprit(kind: BlameKind, name: str, direction: Direction) -> Subject:
    """What a culprit of an old document is, of its kind and name."""
    if kind == "node":
        return Node(name)
    if kind == "port":
        return Port(name, direction)
    if kind == "link":
        near, _, far = name.partition(" - ")
        return Link(near, far)
    if kind == "switch":
        return Switch(name)
    # Half round trips of a pair once had the name of a link.
    return _suspect(name.replace(" - ", " <-> "))


def _suspect(name: str) -> Subject:
    """What the name of a suspect in an old document means."""
    for arrow, pair in ((" -> ", Route), (" <-> ", Both)):
        one, found, other = name.partition(arrow)
        if found:
            return pair(one, other)
    node, _, direction = name.rpartition(" ")
    if node and direction == "tx":
        return Port(node, "tx")
    return Port(node, "rx") if node and direction == "rx" else Node(name)
