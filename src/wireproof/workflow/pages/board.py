"""Answers the questions of the pages about a history from memory."""

from collections.abc import Callable, Collection, Mapping
from functools import cached_property

import msgspec
import numpy as np
import numpy.typing as npt

from wireproof.model import gathered
from wireproof.model.finding import Verdict
from wireproof.model.history import (
    Entry,
    Group,
    HostSet,
    NodeNow,
    Number,
    Overview,
    Regression,
    SeriesLine,
    SeriesTrend,
)
from wireproof.report.names import clean, fold, natural
from wireproof.workflow.history import age_of, newest_of, regressions, trends
from wireproof.workflow.pages.digest import VERDICTS, Digest

_BLOCK = 64
"""Most nodes in one block of the map if no topology groups them."""
_UNKNOWN = "no known switch"


def grouped(
    nodes: Collection[str], leaf: Mapping[str, str]
) -> tuple[bool, list[tuple[str, list[str]]]]:
    """Return whether the groups are switches, and the groups with their names, in order.

    They are switches if these are known for at least half of the nodes. Nodes that only the
    topology names are included.
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
"""Most points of a series on one page; changes are searched among these."""
_NEWEST = 12
_RECENT = 40
"""Number of recent results that the newest is compared with."""
_Numbers = npt.NDArray[np.uint32]


class Board:
    """One state of a history. Nothing in it changes except the age of the nodes."""

    def __init__(self, digest: Digest) -> None:
        self.digest = digest
        self.entries = digest.entries
        self._by_id = {entry.id: at for at, entry in enumerate(digest.entries)}
        members = [np.frombuffer(data, np.uint32) for data in digest.members]
        self._shares = [
            (members[share.nodes], np.frombuffer(share.verdicts, np.uint8))
            for share in digest.shares
        ]
        columns = digest.columns
        self._result = np.frombuffer(columns.result, np.uint32)
        self._kind = np.frombuffer(columns.kind, np.uint32)
        self._sets: dict[str, int] = {}
        self._set_of = np.array(
            [self._sets.setdefault(entry.fingerprint, len(self._sets)) for entry in digest.entries],
            dtype=np.uint32,
        )
        self._counts = np.frombuffer(columns.results, np.uint32)
        self._values = [
            np.frombuffer(data, np.float64) for data in (columns.value, columns.low, columns.high)
        ]

    @cached_property
    def _last(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
        """Return for each node its last result (-1: none), the verdict there, and the last result
        that it passed. A result from the future proves nothing about now.
        """
        count = len(self.digest.nodes)
        last, proven = (np.full(count, -1, np.int64) for _ in range(2))
        verdict = np.zeros(count, np.uint8)
        for at, share in enumerate(self.digest.share_of):
            nodes, verdicts = self._shares[share]
            last[nodes] = at
            verdict[nodes] = verdicts
            if age_of(self.entries[at].measured) is not None:
                proven[nodes[verdicts == VERDICTS.index("pass")]] = at
        return last, verdict, proven

    @cached_property
    def _groups(self) -> tuple[bool, list[tuple[str, list[str]]]]:
        return grouped([*self.digest.nodes], self.digest.leaf)

    def groups(self) -> list[Group]:
        """Return every node with its current age, by group."""
        last, verdict, proven = (column.tolist() for column in self._last)
        ages = [age_of(entry.measured) for entry in self.entries]
        place = {name: at for at, name in enumerate(self.digest.nodes)}
        reasons = self._reasons

        def now(name: str, group: int) -> NodeNow:
            at = place.get(name, -1)
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
            for why, nodes in self.digest.reasons[at].items():
                reasons |= dict.fromkeys((node for node in nodes if last[node] == at), why)
        return reasons

    def overview(self) -> Overview:
        return Overview(
            root=self.digest.root,
            results=len(self.entries),
            by_switch=self._groups[0],
            groups=self.groups(),
            newest=self.entries[: -_NEWEST - 1 : -1],
            regressions=self._regressions,
            troubles=self.digest.troubles,
            troubled=self.digest.troubled,
        )

    @cached_property
    def _regressions(self) -> list[Regression]:
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
        """Return an entry with its numbers and conditions restored."""
        first, end = np.searchsorted(self._result, [at, at + 1]).tolist()
        return msgspec.structs.replace(
            self.entries[at],
            numbers=[self._number(row) for row in range(first, end)],
            conditions=self.digest.conditions[self.digest.condition_of[at]],
        )

    def _number(self, row: int) -> Number:
        name, size, window, unit = self.digest.kinds[self._kind[row]]
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
        count = len(self.digest.nodes)
        at_of = np.full((count, most), -1, np.int64)
        verdict_of = np.zeros((count, most), np.uint8)
        total = np.zeros(count, np.int64)
        for at, share in reversed(list(enumerate(self.digest.share_of))):
            nodes, verdicts = self._shares[share]
            room = total[nodes] < most
            rows = nodes[room]
            at_of[rows, total[rows]] = at
            verdict_of[rows, total[rows]] = verdicts[room]
            total[nodes] += 1
        place = {name: number for number, name in enumerate(self.digest.nodes)}

        def of(node: str) -> tuple[list[tuple[Entry, Verdict]], int]:
            row = place.get(node)
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
            before = sets.pop(entry.fingerprint, None)
            count = (before.results if before else 0) + 1
            sets[entry.fingerprint] = HostSet(newest=entry, results=count)
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

    def trend(self, line: SeriesLine) -> SeriesTrend:
        """Return the newest ``MOST_POINTS`` of a series."""
        rows = self._rows_of(line.newest.fingerprint)
        kind = self.digest.kinds.index((*_order(line.number), line.number.unit))
        places = rows[self._kind[rows] == kind].tolist()
        window = places[-MOST_POINTS:]
        values = [self._number(row) for row in window]
        entries = [
            msgspec.structs.replace(
                self.entries[at],
                numbers=[value],
                conditions=self.digest.conditions[self.digest.condition_of[at]],
            )
            for at, value in zip(self._result[window].tolist(), values, strict=True)
        ]
        (trend,) = trends(entries)
        return SeriesTrend(
            line=line,
            total=len(places),
            ids=trend.ids,
            measured=trend.measured,
            values=values,
            changes=trend.changes,
        )


def _order(number: Number) -> tuple[str, int, int]:
    return number.name, number.message_bytes, number.window
