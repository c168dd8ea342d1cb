"""Published numbers: what others have measured and printed, with where it can be read again.

Values stand in the unit in which the source prints them; ``Place`` has SI base units.
"""

from typing import Annotated, Literal

import msgspec

Trust = Literal["log", "table", "paper", "vendor"]
"""``log``: the program's output; ``table``: numbers in a page, a README or a test's reference;
``paper``: reviewed; ``vendor``: the maker's own statement.
"""
Pattern = Literal["pingpong", "stream", "exchange", "put", "get", "rate", "ring"]
"""As ``Series.traffic``. A ring has one rank on each node, else some of it is memory; collectives
are no rows.
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
    """Rows of one table. ``rows``: (size in bytes, value in ``unit``); size 0 of a rate: the most
    that was reached, whose size the source does not print.

    ``formula``: what the value is, as the program or the source defines it. ``path``: what carried
    the bytes (``tcp``, ``verbs``, ``ucx``, ``cxi`` ...), as for ``judge --path`` where it is one of
    those. ``directions``: how many a rate sums, 0: two of an exchange, else one. ``launches``: runs
    of which each value is the median. ``fault``: the source itself reports it as a fault, so that
    it is shown and has no vote.
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
    """One publication: a log folder, a page, a paper. It has one vote, whatever its rows."""

    id: Annotated[str, msgspec.Meta(pattern=r"^[a-z0-9][a-z0-9._-]{1,79}$")]
    title: Annotated[str, msgspec.Meta(min_length=3, max_length=300)]
    where: Annotated[str, msgspec.Meta(min_length=3, max_length=400)]
    trust: Trust
    series: Annotated[list[Published], msgspec.Meta(min_length=1, max_length=200)]
    date: Annotated[str, msgspec.Meta(pattern=r"^(|[0-9]{4}(-[0-9]{2}(-[0-9]{2})?)?)$")] = ""


class Near(msgspec.Struct, frozen=True, kw_only=True):
    """A published number near the measured one. ``value`` in ns or bytes/s; ``file``: the site's
    own file that it is from, "" for wireproof's own.
    """

    source: str
    value: float
    adapter: str = ""
    mpi: str = ""
    date: str = ""
    file: str = ""


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """Where one number lies among published ones.

    ``value`` and ``values`` (the median of each source, the fastest first) are in ns of ``time``
    and bytes/s of ``goodput`` (one direction). ``faster_than``: share of the sources that are
    slower; None below five sources, of which nothing follows. ``as_slow``: sources that have a
    number as slow, or slower; ``usual``: of enough sources half are as slow. ``files``: a
    site's own files among the sources.
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
    """One published table, for ``wireproof atlas``. ``si``: its rows in ns or bytes/s of one
    direction; ``judged``: what our limits say of them.
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
    """What ``wireproof atlas`` found: ``links`` counts sources by link; ``files``: a site's own
    files.
    """

    series: list[Spread]
    sources: int
    rows: int
    links: dict[str, int]
    files: list[str]
