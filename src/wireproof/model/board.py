"""What the pages of a history show."""

from __future__ import annotations

from typing import Literal

import msgspec

from wireproof.model.finding import Verdict
from wireproof.model.history import Entry, Number, Regression, Shift

__all__ = ["Group", "HostSet", "NodeNow", "Overview", "SeriesLine", "SeriesTrend", "State"]

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
    changes: list[Shift]
