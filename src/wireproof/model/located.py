# pure
"""The conclusions of `locate`: which node, port, link or switch is slow, how certain that is, and
which suspects were cleared.
"""

from typing import Literal

import msgspec

from wireproof.model.finding import Both, Direction, Link, Node, Port, Route, Subject, Switch
from wireproof.model.setting import SettingEffect

# --- The fabric according to its description: the switch that each node connects to, and the links
# between switches.


class Attachment(msgspec.Struct, frozen=True, kw_only=True):
    """A NIC of a node and the switch port that it connects to. ``nic`` and ``port``: "" if the
    source does not give them.
    """

    node: str
    switch: str
    nic: str = ""
    port: str = ""


class Cable(msgspec.Struct, frozen=True, kw_only=True):
    """``count`` parallel links between two switches. ``rate_bits_per_s``: rate of one link, None if
    unknown.
    """

    one: str
    other: str
    count: int = 1
    rate_bits_per_s: float | None = None


class Fabric(msgspec.Struct, frozen=True, kw_only=True):
    """Switches, nodes and links.

    ``levels``: level of each switch: 1 for a leaf (a switch with nodes), 2 and higher for switches
    that connect leaves. ``source``: the file or command; ``notes``: the assumptions of its reader,
    one sentence each.
    """

    attachments: tuple[Attachment, ...]
    levels: dict[str, int]
    cables: tuple[Cable, ...] = ()
    source: str = ""
    notes: tuple[str, ...] = ()

    @property
    def leaves(self) -> dict[str, str]:
        """The switch that each node's first NIC connects to."""
        return {link.node: link.switch for link in reversed(self.attachments)}


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
"""The detectable slowdown is only an estimate, so up to this multiple of the practical threshold
counts as good enough.
"""

Metric = Literal["goodput", "hrt"]
"""``goodput``: bytes/s in one direction; ``hrt``: half round trip in ns (no direction)."""
BlameKind = Literal["node", "port", "link", "switch", "pair"]
Stage = Literal["screened", "confirmed"]
"""``screened``: found by comparison with the others; ``confirmed``: measured again alone."""


LIKELY = 0.9
"""Below this confidence, another cause is equally likely."""


OTHER_TRAFFIC = "other-traffic"


class Cause(msgspec.Struct, frozen=True, kw_only=True):
    """A cause, as far as counters, facts and settings show it.

    ``confidence``: 0 to 1; ``evidence``: the observations, in sentences. ``setting``: its entry in
    the catalogue of settings, "" if the cause is not a setting; ``expected``: the loss that a wrong
    value causes. ``explains`` False: the cause is too small to explain the measured loss.
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
    """One culprit.

    ``slowdown``: relative (0.20: 20 % less goodput, or 20 % more time), with its 95 % interval.
    ``about``: the culprit; ``subject``: its name: a node, the node that a port belongs to, a
    switch, ``leaf1 - spine2`` for a link (``leaf1 - ?`` if the far end is unknown), ``n1 -> n2`` or
    ``n1 <-> n2`` for a pair. ``direction``: for a port as its node sees it; for a link or switch as
    its nodes see it (``tx`` leaves them). ``value`` and ``expected``: in the metric's unit.
    ``stage``: ``confirmed`` after it was measured again alone against known-good partners. Older
    documents have no ``about``; it is then derived from the other fields.
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

    @property
    def excused(self) -> bool:
        """True if other traffic at its ports explains the slowdown, which is then not a fault."""
        return bool(self.causes) and self.causes[0].code == OTHER_TRAFFIC


class Contention(msgspec.Struct, frozen=True, kw_only=True):
    """Slow together but fast alone: not a fault. ``loaded`` and ``alone``: values in the metric's
    unit. ``subject``: the name of ``about``, which older documents do not have.
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
    """Pairs whose paths are of the same kind, such as ``one switch`` or ``across leaves``.

    ``median``: the median in the metric's unit. ``oversubscription``: factor by which it is slower
    than the best tier (1.0: not slower); this is expected and never a fault. ``spread``: relative
    standard deviation of its samples, since flows do not share a link evenly.
    """

    name: str
    samples: int
    median: float
    oversubscription: float = 1.0
    spread: float = 0.0


class Located(msgspec.Struct, frozen=True, kw_only=True):
    """The result for one metric.

    ``noise``: robust relative standard deviation of one sample; ``alpha``: family-wise error rate
    of the sweep; ``practical``: the smallest slowdown that counts; ``detectable``: the slowdown
    that is found with 95 % power at this size and noise. ``cleared``: names of the suspects that
    the confirm stage cleared; ``acquitted``: these suspects, missing in older documents.
    ``missing``: for each node without samples, the reason.
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
    """Return the name of a culprit. A port has the name of its node, because reports print the
    direction beside it.
    """
    return about.node if isinstance(about, Port) else str(about)


def _culprit(kind: BlameKind, name: str, direction: Direction) -> Subject:
    """Return the subject for the kind and name that an old document gives."""
    if kind == "node":
        return Node(name)
    if kind == "port":
        return Port(name, direction)
    if kind == "link":
        near, _, far = name.partition(" - ")
        return Link(near, far)
    if kind == "switch":
        return Switch(name)
    # In old documents, half round trips of a pair have the name of a link.
    return _suspect(name.replace(" - ", " <-> "))


def _suspect(name: str) -> Subject:
    """Return the subject for a suspect's name in an old document."""
    for arrow, pair in ((" -> ", Route), (" <-> ", Both)):
        one, found, other = name.partition(arrow)
        if found:
            return pair(one, other)
    node, _, direction = name.rpartition(" ")
    if node and direction == "tx":
        return Port(node, "tx")
    return Port(node, "rx") if node and direction == "rx" else Node(name)
