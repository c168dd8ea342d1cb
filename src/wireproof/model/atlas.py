# pure
"""Published numbers: measurements that other people have published, each with its source.

A ``Published`` value keeps the unit that its source prints; a ``Place`` uses SI base units.
"""

from typing import Annotated, Literal

import msgspec

Trust = Literal["log", "table", "paper", "vendor"]
"""``log``: output of a program; ``table``: numbers in a page, a README or a test's reference;
``paper``: reviewed publication; ``vendor``: statement of the manufacturer.
"""
Pattern = Literal["pingpong", "stream", "exchange", "put", "get", "rate", "ring"]
"""The values of ``Series.traffic``. A ``ring`` has one rank per node: with more ranks per node,
part of its traffic stays in memory. There are no rows for collectives.
"""
Quantity = Literal["time", "goodput"]

TIME_UNITS = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}
"""Unit to ns."""
RATE_UNITS = {
    "B/s": 1.0,
    "kB/s": 1e3,
    "MB/s": 1e6,
    "GB/s": 1e9,
    "KiB/s": 2.0**10,
    "MiB/s": 2.0**20,
    "GiB/s": 2.0**30,
    "Mb/s": 1e6 / 8,
    "Gb/s": 1e9 / 8,
}
"""Unit to bytes/s."""
Unit = Literal[
    "ns",
    "us",
    "ms",
    "s",
    "B/s",
    "kB/s",
    "MB/s",
    "GB/s",
    "KiB/s",
    "MiB/s",
    "GiB/s",
    "Mb/s",
    "Gb/s",
]

Words = Annotated[str, msgspec.Meta(max_length=400)]
Size = Annotated[int, msgspec.Meta(ge=0, le=1 << 40)]
Value = Annotated[float, msgspec.Meta(gt=0, le=1e15)]
Count = Annotated[int, msgspec.Meta(ge=1, le=1_000_000)]


class Published(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Rows of one table.

    ``rows``: (message size in bytes, value in ``unit``); for a rate, size 0 marks the highest value
    reached if the source does not print its message size. ``formula``: definition of the value by
    the program or the source. ``path``: the transport that carried the bytes (``tcp``, ``verbs``,
    ``ucx``, ``cxi`` ...), with the names of ``judge --path`` if they apply. ``directions``: number
    of directions that a rate sums; 0: two for an exchange, otherwise one. ``launches``: number of
    runs of which each value is the median. ``fault``: the source itself reports the result as
    faulty, so it is shown but not counted.
    """

    link: Annotated[str, msgspec.Meta(min_length=1, max_length=40)]
    pattern: Pattern
    formula: Annotated[str, msgspec.Meta(min_length=1, max_length=400)]
    unit: Unit
    rows: Annotated[list[tuple[Size, Value]], msgspec.Meta(min_length=1, max_length=200)]
    adapter: Words = ""
    pcie: Words = ""
    mpi: Words = ""
    path: Words = ""
    tool: Words = ""
    nodes: Count = 2
    ranks_per_node: Count = 1
    window: int | None = None
    directions: Literal[0, 1, 2] = 0
    launches: Count = 1
    fault: bool = False
    note: Words = ""


class Publication(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One publication: a log folder, a page or a paper. It counts once, however many rows it
    has.
    """

    id: Annotated[str, msgspec.Meta(pattern=r"^[a-z0-9][a-z0-9._-]{1,79}$")]
    title: Annotated[str, msgspec.Meta(min_length=3, max_length=300)]
    where: Annotated[str, msgspec.Meta(min_length=3, max_length=400)]
    trust: Trust
    series: Annotated[list[Published], msgspec.Meta(min_length=1, max_length=200)]
    date: Annotated[str, msgspec.Meta(pattern=r"^(|[0-9]{4}(-[0-9]{2}(-[0-9]{2})?)?)$")] = ""


class Near(msgspec.Struct, frozen=True, kw_only=True):
    """A published number close to the measured one. ``value`` is in ns or bytes/s; ``file``: the
    site's file that it comes from, "" if it is part of wireproof.
    """

    source: str
    value: float
    adapter: str = ""
    mpi: str = ""
    date: str = ""
    file: str = ""


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """The position of a number among published numbers.

    ``value`` and ``values`` (the median of each source, fastest first) are in ns if ``quantity`` is
    ``time`` and in bytes/s for one direction if it is ``goodput``. ``faster_than``: share of the
    sources that are slower, null if there are fewer than five sources. ``as_slow``: number of
    sources with a value as slow or slower. ``usual``: there are enough sources, and half of them
    are as slow. ``files``: the site's files among the sources.
    """

    link: str
    pattern: str
    quantity: Quantity
    message_bytes: int
    value: float
    sources: int
    rows: int
    faster_than: float | None
    as_slow: int
    usual: bool
    values: list[float]
    nearest: list[Near]
    sentence: str
    files: list[str] = []


class Spread(msgspec.Struct, frozen=True, kw_only=True):
    """One published table, as ``wireproof atlas`` prints it. ``si``: its rows in ns, or in bytes/s
    for one direction; ``judged``: the comparison of these rows with wireproof's limits.
    """

    source: str
    title: str
    where: str
    date: str
    trust: Trust
    link: str
    pattern: str
    quantity: Quantity
    formula: str
    unit: str
    rows: list[tuple[int, float]]
    si: list[tuple[int, float]]
    tool: str
    adapter: str
    pcie: str
    mpi: str
    path: str
    nodes: int
    ranks_per_node: int
    launches: int
    judged: str
    note: str = ""
    file: str = ""


class AtlasView(msgspec.Struct, frozen=True, kw_only=True):
    """The output of ``wireproof atlas``. ``links``: number of sources by link; ``files``: the
    site's files.
    """

    series: list[Spread]
    sources: int
    rows: int
    links: dict[str, int]
    files: list[str]
