"""Keep the data of a history in memory for its pages."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import msgspec
import numpy as np
import numpy.typing as npt

from wireproof.archive.history import age_of, newest_of, regressions, trends
from wireproof.model import gathered
from wireproof.model.errors import BadInput
from wireproof.model.finding import Verdict
from wireproof.model.history import (
    Entry,
    Group,
    HostSet,
    NodeNow,
    Number,
    Regression,
    SeriesLine,
    Trend,
)
from wireproof.report.names import clean, fold, natural
from wireproof.store.history import INDEX, RESULTS, each_entry
from wireproof.store.result import read_fabrics

VERDICTS: tuple[Verdict, ...] = ("pass", "inconclusive", "fail")
Unit = Literal["ns", "bytes_per_s"]
MOST_TROUBLES = 20
MOST_FABRICS = 3
"""Maximum number of results whose topologies are joined; if they differ, the newest is used."""

_BLOCK = 64
"""Maximum number of nodes in one block of the map if no topology groups them."""
_UNKNOWN = "no known switch"


def grouped(
    nodes: Collection[str], leaf: Mapping[str, str]
) -> tuple[bool, list[tuple[str, list[str]]]]:
    """Return whether the groups are switches, and the groups with their names, in order.

    The groups are switches if the switch is known for at least half of the nodes. Nodes that occur
    only in the topology are included.
    """
    known = sum(node in leaf for node in nodes)
    if leaf and 2 * known >= len(nodes):
        groups = gathered(
            (leaf.get(node, _UNKNOWN), node) for node in sorted({*nodes, *leaf}, key=natural)
        )
        return True, [(name, groups[name]) for name in sorted(groups, key=natural)]
    ordered = sorted(nodes, key=natural)
    blocks = [ordered[at : at + _BLOCK] for at in range(0, len(ordered), _BLOCK)]
    return False, [(_span(block), block) for block in blocks]


def _span(block: list[str]) -> str:
    """Return ``n[1-64]`` if that is short, else the first and the last."""
    folded = fold(block, 200)
    if len(folded) <= 24:
        return folded
    return f"{clean(block[0], 40)} – {clean(block[-1], 40)}"


MOST_POINTS = 500
"""Maximum number of points of a series on one page; changes are searched among these points."""
_RECENT = 40
"""Number of recent results with which the newest is compared."""


def _lacking(root: Path) -> list[str]:
    if (root / INDEX).is_dir():
        return []
    what = "is not a history: it has no folder" if root.is_dir() else "does not exist: no folder"
    adds = f"`wireproof check --history {root}` adds the first result."
    return [f"{root} {what} {INDEX}. {adds}"]


class Board:
    """One state of a history. Nothing in it changes except the age of the nodes.

    Ten thousand results of a large cluster are more than 100 MB of text. Repeated data (names of
    nodes, conditions, participants) is stored once, and numbers are columns.

    ``entries``: oldest first, without that data. ``leaf``: node to the switch above it.
    ``troubles``: the files that could not be read, ``troubled`` in total.
    """

    def __init__(self, root: Path, topology: Mapping[str, str] | None = None) -> None:
        """Read everything that can be read. ``topology``: node to switch, instead of the topology
        in the results.
        """
        self.root, self.troubles = str(root), _lacking(root)
        self.nodes: dict[str, int] = {}
        self._conditions: dict[tuple[tuple[str, str], ...], int] = {}
        self._members: dict[bytes, int] = {}
        self._share_of: dict[tuple[int, bytes], int] = {}
        self._kinds: dict[tuple[str, int, int, Unit], int] = {}
        columns: list[array[Any]] = [
            array("I"),
            array("I"),
            array("I"),
            array("d"),
            array("d"),
            array("d"),
        ]
        found = [
            self._without_data(entry, number, columns)
            for number, entry in enumerate(each_entry(root, self.troubles.append))
        ]
        order = sorted(range(len(found)), key=lambda at: (found[at][0].measured, found[at][0].id))
        self.entries = [found[at][0] for at in order]
        self._condition_of = [found[at][1] for at in order]
        self._shares = [found[at][2] for at in order]
        self._reasons_of = [found[at][3] for at in order]
        self._by_id = {entry.id: at for at, entry in enumerate(self.entries)}
        self._set_columns(columns, order)
        self.leaf = self._leaves(root) if topology is None else dict(topology)
        self.troubled = len(self.troubles)
        del self.troubles[MOST_TROUBLES:]

    def _without_data(
        self, entry: Entry, number: int, columns: Sequence[array[Any]]
    ) -> tuple[Entry, int, int, dict[str, list[int]]]:
        """Return the entry without repeated data, the indices of its conditions and of its
        participants, and the nodes of each reason; add its numbers to the columns.
        """
        conditions = tuple(entry.conditions.items())
        who = array("I", map(self._node, entry.nodes)).tobytes()
        how = bytes(map(VERDICTS.index, entry.nodes.values()))
        share = self._members.setdefault(who, len(self._members)), how
        for one in entry.numbers:
            kind = (one.name, one.message_bytes, one.window, one.unit)
            place = self._kinds.setdefault(kind, len(self._kinds))
            results = min(max(one.results, 0), 0xFFFFFFFF)
            values = (number, place, results, one.value, one.low, one.high)
            for column, value in zip(columns, values, strict=True):
                column.append(value)
        log = entry.imported and msgspec.structs.replace(entry.imported, numbers=[])
        bare = msgspec.structs.replace(
            entry, conditions={}, nodes={}, numbers=[], reasons={}, imported=log
        )
        return (
            bare,
            self._conditions.setdefault(conditions, len(self._conditions)),
            self._share_of.setdefault(share, len(self._share_of)),
            {why: list(map(self._node, names)) for why, names in entry.reasons.items()},
        )

    def _node(self, name: str) -> int:
        return self.nodes.setdefault(name, len(self.nodes))

    def _set_columns(self, columns: Sequence[array[Any]], order: Sequence[int]) -> None:
        """Keep the numbers of all results, sorted by time."""
        place = np.empty(len(order), np.uint32)
        place[np.asarray(order, np.intp)] = np.arange(len(order), dtype=np.uint32)
        result, kind, counts = (np.frombuffer(column, np.uint32) for column in columns[:3])
        by_time = np.argsort(place[result], kind="stable")
        self._result = place[result][by_time]
        self._kind, self._counts = kind[by_time], counts[by_time]
        self._values = [np.frombuffer(column, np.float64)[by_time] for column in columns[3:]]
        self._kind_of, self._conditions_of = list(self._kinds), list(map(dict, self._conditions))
        self._sets: dict[str, int] = {}
        self._set_of = np.array(
            [self._sets.setdefault(entry.fingerprint, len(self._sets)) for entry in self.entries],
            dtype=np.uint32,
        )
        members = [np.frombuffer(who, np.uint32) for who in self._members]
        self._verdicts = [
            (members[who], np.frombuffer(how, np.uint8)) for who, how in self._share_of
        ]

    def _leaves(self, root: Path) -> dict[str, str]:
        """Return the switch of each node, from the newest results with a topology."""
        switch_of: dict[str, str] = {}
        known = [entry for entry in reversed(self.entries) if entry.fabric]
        for entry in known[:MOST_FABRICS]:
            try:
                for fabric in read_fabrics(root / RESULTS / entry.id):
                    switch_of = fabric.leaves | switch_of
            except BadInput as error:
                self.troubles.append(str(error))
        return switch_of

    @cached_property
    def _last(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
        """Return for each node its last result (-1: none), the verdict in that result, and the last
        result in which it passed. A result dated in the future proves nothing about the present
        state.
        """
        count = len(self.nodes)
        last, proven = (np.full(count, -1, np.int64) for _ in range(2))
        verdict = np.zeros(count, np.uint8)
        for at, share in enumerate(self._shares):
            nodes, verdicts = self._verdicts[share]
            last[nodes] = at
            verdict[nodes] = verdicts
            if age_of(self.entries[at].measured) is not None:
                proven[nodes[verdicts == VERDICTS.index("pass")]] = at
        return last, verdict, proven

    @cached_property
    def _groups(self) -> tuple[bool, list[tuple[str, list[str]]]]:
        return grouped(self.nodes, self.leaf)

    def groups(self) -> list[Group]:
        """Return every node with its current age, by group."""
        last, verdict, proven = (column.tolist() for column in self._last)
        ages = [age_of(entry.measured) for entry in self.entries]
        reasons = self._reasons

        def now(name: str, group: int) -> NodeNow:
            at = self.nodes.get(name, -1)
            if at < 0 or last[at] < 0:
                return NodeNow(node=name, state="never", group=group)
            seen, passed = self.entries[last[at]], proven[at]
            return NodeNow(
                node=name,
                state=VERDICTS[verdict[at]],
                group=group,
                result=seen.id,
                measured=seen.measured,
                proven=self.entries[passed].measured if passed >= 0 else "",
                age_s=ages[passed] if passed >= 0 else None,
                reason=reasons.get(at, ""),
            )

        return [
            Group(name=name, nodes=[now(node, number) for node in nodes])
            for number, (name, nodes) in enumerate(self._groups[1])
        ]

    @cached_property
    def _reasons(self) -> dict[int, str]:
        """Return the reason in the last result of each node."""
        last = self._last[0]
        reasons: dict[int, str] = {}
        for at in {result for result in last.tolist() if result >= 0}:
            for why, nodes in self._reasons_of[at].items():
                reasons |= dict.fromkeys((node for node in nodes if last[node] == at), why)
        return reasons

    @property
    def by_switch(self) -> bool:
        """True if the groups follow a topology."""
        return self._groups[0]

    @cached_property
    def regressions(self) -> list[Regression]:
        """Compare the newest result with the others of its fingerprint."""
        newest = newest_of(self.entries)
        if newest is None:
            return []
        until = self._by_id[newest.id] + 1
        same = [
            at
            for at in range(until)
            if self.entries[at].fingerprint == newest.fingerprint
            and self.entries[at].imported is None
            and (self.entries[at].verdict == "pass" or at == until - 1)
        ]
        return regressions([self._whole(at) for at in same[-_RECENT:]])

    def _whole(self, at: int) -> Entry:
        """Return a complete entry, with its numbers and conditions."""
        first, end = np.searchsorted(self._result, [at, at + 1]).tolist()
        return msgspec.structs.replace(
            self.entries[at],
            numbers=[self._number(row) for row in range(first, end)],
            conditions=self._conditions_of[self._condition_of[at]],
        )

    def _number(self, row: int) -> Number:
        name, size, window, unit = self._kind_of[self._kind[row]]
        value, low, high = (float(column[row]) for column in self._values)
        return Number(
            name=name,
            message_bytes=size,
            window=window,
            unit=unit,
            value=value,
            low=low,
            high=high,
            results=int(self._counts[row]),
        )

    def latest(self, most: int) -> Callable[[str], tuple[list[tuple[Entry, Verdict]], int]]:
        """Return a function that gives, for a node, at most ``most`` of its newest results with
        their verdicts, and their total number.
        """
        count = len(self.nodes)
        at_of = np.full((count, most), -1, np.int64)
        verdict_of = np.zeros((count, most), np.uint8)
        total = np.zeros(count, np.int64)
        for at, share in reversed(list(enumerate(self._shares))):
            nodes, verdicts = self._verdicts[share]
            room = total[nodes] < most
            rows = nodes[room]
            at_of[rows, total[rows]] = at
            verdict_of[rows, total[rows]] = verdicts[room]
            total[nodes] += 1

        def of(node: str) -> tuple[list[tuple[Entry, Verdict]], int]:
            row = self.nodes.get(node)
            if row is None:
                return [], 0
            known = min(most, int(total[row]))
            pairs = zip(at_of[row, :known].tolist(), verdict_of[row, :known].tolist(), strict=True)
            return [(self.entries[at], VERDICTS[verdict]) for at, verdict in pairs], int(total[row])

        return of

    @cached_property
    def sets(self) -> list[HostSet]:
        """Return the sets of hosts that can be compared over time, newest first.

        Logs have no intervals to draw.
        """
        sets: dict[str, HostSet] = {}
        for entry in (measured for measured in self.entries if measured.imported is None):
            _, before = sets.pop(entry.fingerprint, (entry, 0))
            sets[entry.fingerprint] = (entry, before + 1)
        return list(reversed(sets.values()))

    def series(self, fingerprint: str) -> list[SeriesLine]:
        """Return the numbers of one set, by name and size."""
        rows = self._rows_of(fingerprint)
        lines = [
            SeriesLine(
                newest=self.entries[self._result[places[-1]]],
                number=self._number(int(places[-1])),
                results=int(places.size),
            )
            for kind in np.unique(self._kind[rows])
            for places in (rows[self._kind[rows] == kind],)
        ]
        return sorted(lines, key=lambda line: _order(line.number))

    def _rows_of(self, fingerprint: str) -> npt.NDArray[np.intp]:
        """Return the rows of one set in the order of time."""
        wanted = self._sets.get(fingerprint, len(self._sets))
        return np.flatnonzero(self._set_of[self._result] == wanted)

    def trend(self, line: SeriesLine) -> Trend:
        """Return the newest ``MOST_POINTS`` of a series, with the changes among them."""
        rows = self._rows_of(line.newest.fingerprint)
        kind = self._kind_of.index((*_order(line.number), line.number.unit))
        places = rows[self._kind[rows] == kind].tolist()
        window = places[-MOST_POINTS:]
        entries = [
            msgspec.structs.replace(
                self.entries[at],
                numbers=[self._number(row)],
                conditions=self._conditions_of[self._condition_of[at]],
            )
            for at, row in zip(self._result[window].tolist(), window, strict=True)
        ]
        (trend,) = trends(entries)
        return trend


def _order(number: Number) -> tuple[str, int, int]:
    return number.name, number.message_bytes, number.window
