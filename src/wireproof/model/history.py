"""What a history keeps of each result, what is read out of it, and what its pages show."""

from typing import Literal

import msgspec

from wireproof.model.finding import Verdict

GOOD = 3
"""Good results that the newest can be held against."""


class Number(msgspec.Struct, frozen=True, kw_only=True):
    """The geometric mean over a result's routes, with its 95 % interval. ``unit``: ``ns`` or
    ``bytes_per_s``; ``window``: messages under way, 0 where that says nothing. Only results whose
    path is proven are in it.
    """

    name: str
    message_bytes: int
    unit: Literal["ns", "bytes_per_s"]
    value: float
    low: float
    high: float
    results: int
    window: int = 0


class Claimed(msgspec.Struct, frozen=True, kw_only=True):
    """What the log of another program prints: the median of its ``tables`` of the same name, size
    and window. There is no interval: the log does not say how its value varies.
    """

    name: str
    message_bytes: int
    unit: Literal["ns", "bytes_per_s"]
    value: float
    tables: int
    window: int = 0


class Imported(msgspec.Struct, frozen=True, kw_only=True):
    """A log of another program, whose numbers are claims: no node is proven by them. ``dated``:
    whether the time is the user's, stands in the log, or is that of the file's last change.
    ``link`` to ``pcie``: what the log is judged by, as the user gave it. ``numbers``: of tables
    whose numbers the link does not exclude.
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
    """One result. ``id``: the name of its folder. ``fingerprint``: equal for results that may be
    compared over time (hosts, link, transport, MPI, NICs). ``conditions``: what may change between
    them. ``nodes``: the verdict on each; ``reasons``: what keeps nodes from passing, as a sentence
    with these nodes. ``fabric``: the result knows which switch each node is connected to.
    ``imported``: it is no result of ours but a log; ``nodes`` and ``numbers``, which earlier
    versions read, are empty then.
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
    """A number is another from ``since`` on (the first result after it). ``ratio``: performance
    after over before. ``p``: how often a series without any change shows one like it. ``changed``:
    conditions that differ across it; ``nodes``: those that passed right before it and not right
    after. ``few``: fewer than sixteen results, by a test that takes normal noise for granted.
    """

    since: str
    measured: str
    ratio: float
    p: float
    changed: list[str] = msgspec.field(default_factory=list)
    nodes: list[str] = msgspec.field(default_factory=list)
    few: bool = False


class Trend(msgspec.Struct, frozen=True, kw_only=True):
    """One number of one fingerprint over time, oldest first; ``low`` and ``high`` are the ends of
    each value's 95 % interval. ``imported``: values that logs claim, which have no interval.
    """

    name: str
    message_bytes: int
    unit: Literal["ns", "bytes_per_s"]
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
    """The newest result against the last good ones of its fingerprint. ``ratio``: performance over
    theirs, with the 95 % interval of one more good result around 1 (``low`` to ``high``);
    ``worse``: it lies below, by more than the practical threshold.
    """

    name: str
    message_bytes: int
    ratio: float
    low: float
    high: float
    results: int
    worse: bool


class NodeAge(msgspec.Struct, frozen=True, kw_only=True):
    """When a node was last proven to pass; ``measured`` and ``age_s`` are empty when never.
    ``nic``, ``link``: over these alone; "" for over any. Several NICs were measured together.
    """

    node: str
    verdict: Verdict
    measured: str = ""
    age_s: float | None = None
    nic: str = ""
    link: str = ""


State = Verdict | Literal["never"]
"""``never``: the topology has the node, and no result does."""


class NodeNow(msgspec.Struct, frozen=True, kw_only=True):
    """A node by the last result that it took part in (``result``, "" for none). ``proven``: when it
    last passed, "" for never, with ``age_s`` since then. ``reason``: what kept it from passing.
    ``group``: the group of the map that it is in.
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
    """Nodes that are drawn together: below one switch, or neighbours by name."""

    name: str
    nodes: list[NodeNow]


class Overview(msgspec.Struct, frozen=True, kw_only=True):
    """The first page. ``by_switch``: the groups are those of a topology. ``newest``: the last
    results, the newest first. ``regressions``: of the newest one. ``troubles``: what could not be
    read, of ``troubled`` places.
    """

    root: str
    results: int
    by_switch: bool
    groups: list[Group]
    newest: list[Entry]
    regressions: list[Regression]
    troubles: list[str]
    troubled: int


class HostSet(msgspec.Struct, frozen=True, kw_only=True):
    """Results that may be compared over time: how many, and the newest."""

    newest: Entry
    results: int


class SeriesLine(msgspec.Struct, frozen=True, kw_only=True):
    """One number of one fingerprint: how many results it has, and the last. ``number`` as in the
    newest of these results.
    """

    newest: Entry
    number: Number
    results: int


class SeriesTrend(msgspec.Struct, frozen=True, kw_only=True):
    """The newest of ``total`` results of a series, oldest first. ``changes`` are looked for among
    these.
    """

    line: SeriesLine
    total: int
    ids: list[str]
    measured: list[str]
    values: list[Number]
    changes: list[NumberChange]
