# pure
"""The entries of a history, the data derived from them, the content of its pages, and the output of
``wireproof compare`` for two results.
"""

from typing import Annotated, Literal

import msgspec

from wireproof.model.errors import LARGEST, LARGEST_COUNT, LARGEST_MESSAGE
from wireproof.model.finding import Verdict

FEWEST = 2
"""Values needed on each side of a change of a number over time."""
PRACTICAL = 0.03
"""Differences below 3 % also occur on an unchanged machine from day to day."""
GOOD = 3
"""Good results needed before the newest result can be compared with them."""


_Count = Annotated[int, msgspec.Meta(ge=0, le=LARGEST_COUNT)]
_Value = Annotated[float, msgspec.Meta(ge=1e-6, le=LARGEST)]  # less has no ratio
_Bound = Annotated[float, msgspec.Meta(ge=0, le=LARGEST)]


class _NamedNumber(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    message_bytes: Annotated[int, msgspec.Meta(ge=0, le=LARGEST_MESSAGE)]
    unit: Literal["ns", "bytes_per_s"]


class Number(_NamedNumber, frozen=True, kw_only=True, gc=False):
    """The geometric mean over the routes of a result, with its 95 % interval. ``window``: messages
    in flight, 0 if that is not relevant. It covers only results whose path is proven.
    """

    value: _Value
    low: _Bound
    high: _Bound
    results: _Count
    window: _Count = 0


class Claimed(_NamedNumber, frozen=True, kw_only=True):
    """A number from the log of another program: the median of its ``tables`` with the same name,
    size and window. It has no interval, because the log does not show how the value varies.
    """

    value: _Value
    tables: _Count
    window: _Count = 0


class Imported(msgspec.Struct, frozen=True, kw_only=True):
    """The log of another program. Its numbers are claims, so they prove nothing about a node.

    ``dated``: the time of the log was ``given`` by the user, is written in the ``log``, or is the
    modification time of the ``file``. ``link``, ``path``, ``mtu``, ``pcie``: the user's statements
    by which the log is judged. ``numbers``: from tables that the link does not rule out.
    """

    file: str
    sha256: str
    tools: list[str]
    dated: Literal["given", "log", "file"]
    hosts: list[str] = msgspec.field(default_factory=list)
    link: str | None = None
    path: str = ""
    mtu: int | None = None
    pcie: str = ""
    numbers: list[Claimed] = msgspec.field(default_factory=list)


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One result.

    ``id``: name of its folder. ``fingerprint``: equal for results that may be compared over time
    (hosts, link, transport, MPI, NICs). ``conditions``: properties that may differ between such
    results. ``nodes``: verdict on each node; ``reasons``: the sentences that say why nodes do not
    pass, each with its nodes. ``fabric``: the result contains the switch of each node.
    ``imported``: the entry is a log of another program; ``nodes`` and ``numbers``, which earlier
    versions read, are then empty.
    """

    id: str
    measured: str
    fingerprint: str
    hosts: str
    link: str
    transport: str
    mpi: str
    verdict: Verdict
    wireproof: str
    conditions: dict[str, str] = msgspec.field(default_factory=dict)
    nodes: dict[str, Verdict] = msgspec.field(default_factory=dict)
    numbers: list[Number] = msgspec.field(default_factory=list)
    reasons: dict[str, list[str]] = msgspec.field(default_factory=dict)
    fabric: bool = False
    imported: Imported | None = None
    version: int = 1


class NumberChange(msgspec.Struct, frozen=True, kw_only=True):
    """A change of a number after the result ``since``.

    ``ratio``: performance after / before. ``p``: probability that a series without a change looks
    like this. ``changed``: conditions that differ before and after; ``nodes``: nodes that passed
    just before the change and fail just after it, otherwise those that no longer pass. ``few``:
    there are fewer than sixteen results, and the test used assumes normal noise.
    """

    since: str
    measured: str
    ratio: float
    p: float
    changed: list[str] = msgspec.field(default_factory=list)
    nodes: list[str] = msgspec.field(default_factory=list)
    few: bool = False


class Trend(_NamedNumber, frozen=True, kw_only=True):
    """One number of one fingerprint over time, oldest first. ``low``, ``high``: ends of the 95 %
    interval of each value. ``imported``: the values come from logs and have no interval.
    """

    fingerprint: str
    hosts: str
    ids: list[str]
    measured: list[str]
    values: list[float]
    low: list[float]
    high: list[float]
    changes: list[NumberChange] = msgspec.field(default_factory=list)
    imported: bool = False


class Regression(msgspec.Struct, frozen=True, kw_only=True):
    """The newest result compared with the last good results of its fingerprint.

    ``ratio``: its performance / theirs. The next good result lies between ``low`` and ``high``
    (around 1) with 95 % probability; ``worse``: the ratio is below ``low``, and below 1 by more
    than the practical threshold.
    """

    name: str
    message_bytes: int
    ratio: float
    low: float
    high: float
    results: int
    worse: bool


class NodeAge(msgspec.Struct, frozen=True, kw_only=True):
    """The last time a node passed; ``measured`` and ``age_s`` are empty if it never did. ``nic``,
    ``link``: the NIC or link that the pass applies to, "" for any. Several NICs in ``nic`` were
    measured together.
    """

    node: str
    verdict: Verdict
    measured: str = ""
    age_s: float | None = None
    nic: str = ""
    link: str = ""


State = Verdict | Literal["never"]
"""``never``: the topology has the node, but no result does."""


class NodeNow(msgspec.Struct, frozen=True, kw_only=True):
    """The state of a node by the last result that includes it (``result``, "" for none).

    ``proven``: when the node last passed, "" if never; ``age_s``: time since then. ``reason``: the
    reason if it does not pass. ``group``: index of its group in the map.
    """

    node: str
    state: State
    group: int
    result: str = ""
    measured: str = ""
    proven: str = ""
    age_s: float | None = None
    reason: str = ""


class Group(msgspec.Struct, frozen=True, kw_only=True):
    """Nodes that are drawn together: behind the same switch, or neighbours by name."""

    name: str
    nodes: list[NodeNow]


HostSet = tuple[Entry, int]
"""Results that may be compared over time: the newest result and the number of results."""


class SeriesLine(msgspec.Struct, frozen=True, kw_only=True):
    """One number of one fingerprint: the number of results that contain it, and the newest.
    ``number`` is taken from the newest.
    """

    newest: Entry
    results: int
    number: Number


# --- Results compared with each other.

LAUNCHES = 3
"""Launches needed on each side to show how much results vary from launch to launch."""

Conclusion = Literal["better", "worse", "no-difference", "undecided", "not-compared"]
"""Result for B relative to A. ``no-difference``: the interval lies within the practical threshold.
"""


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """A result, judged by the current version. ``hosts`` is folded, such as ``n[1-4]``."""

    name: str
    hosts: str
    measured: str
    verdict: Verdict


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """A condition that differs, with its value in A and in B."""

    name: str
    a: str
    b: str


class Side(msgspec.Struct, frozen=True, kw_only=True):
    """Geometric mean of ``results`` results, in the unit of the row."""

    value: float
    results: int


class Ratio(msgspec.Struct, frozen=True, kw_only=True):
    """One number of both results.

    ``ratio``: performance of B divided by that of A (1.1: B is 10 % better, whatever the unit),
    with its 95 % interval; null if they are not compared, for the ``reason`` given. ``routes``:
    number of routes that both have; ``launches``: launches per side that the interval is based on
    (1: it does not cover variation between launches).
    """

    name: str
    pattern: str
    message_bytes: int
    unit: Literal["ns", "bytes_per_s"]
    conclusion: Conclusion
    a: Side | None = None
    b: Side | None = None
    ratio: float | None = None
    low: float | None = None
    high: float | None = None
    routes: int = 0
    launches: int = 1
    reason: str = ""
    headline: bool = False


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """Two results compared.

    ``same``: conditions that are equal; ``differ``: conditions that explain the difference or make
    the comparison unfair; ``settings``: differences in the hosts' settings. ``practical``: the
    smallest relative difference that matters. ``claimed``: both are logs of other programs, so
    nothing is decided.
    """

    a: Source
    b: Source
    practical: float
    same: list[Difference] = msgspec.field(default_factory=list)
    differ: list[Difference] = msgspec.field(default_factory=list)
    settings: list[Difference] = msgspec.field(default_factory=list)
    rows: list[Ratio] = msgspec.field(default_factory=list)
    notes: list[str] = msgspec.field(default_factory=list)
    claimed: bool = False

    @property
    def verdict(self) -> Verdict:
        """``fail`` if some number of B is worse; ``pass`` if none is worse or undecided.

        With fewer than three launches nothing is decided, not even that there is no difference.
        """
        rows = [row for row in self.rows if row.conclusion != "not-compared"]
        if any(row.conclusion == "worse" and row.launches >= LAUNCHES for row in rows):
            return "fail"
        open_ = any(row.conclusion == "undecided" or row.launches < LAUNCHES for row in rows)
        return "pass" if rows and not open_ else "inconclusive"


class ScalingPoint(msgspec.Struct, frozen=True, kw_only=True):
    """A number at ``count`` nodes or ranks: the geometric mean of ``results`` results, with its 95
    % interval (null for a log, which gives none). ``source``: index into ``Scaling.sources``.
    """

    count: int
    value: float
    low: float | None = None
    high: float | None = None
    results: int = 1
    source: int = 0


class ScalingCurve(_NamedNumber, frozen=True, kw_only=True):
    """One number at two or more counts, in the order of the counts."""

    points: list[ScalingPoint]


class Scaling(msgspec.Struct, frozen=True, kw_only=True):
    """Numbers of several results against the number of nodes or ranks (``against``). ``claimed``:
    some sources are logs of other programs, whose path is not proven.
    """

    against: Literal["nodes", "ranks"]
    sources: list[Source]
    curves: list[ScalingCurve] = msgspec.field(default_factory=list)
    notes: list[str] = msgspec.field(default_factory=list)
    claimed: bool = False

    @property
    def verdict(self) -> Verdict:
        """``pass`` if there is a curve; its shape is not judged."""
        return "pass" if self.curves else "inconclusive"
