"""Judged results arranged as rows of tables: one row per result, one table per pattern. It derives
units and draws no conclusions.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from statistics import median
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from wireproof.model import gathered
from wireproof.model.finding import (
    Both,
    Finding,
    GroupVerdict,
    Node,
    PairVerdict,
    Port,
    Route,
    Subject,
    worst,
)
from wireproof.model.pattern import is_round_trip, place_of, title_of
from wireproof.report.json.result import GroupSample, group_samples, positive
from wireproof.report.judged_run import CULPRITS, JudgedRun, counted
from wireproof.report.names import natural


class ResultRow(msgspec.Struct, frozen=True):
    """One result. ``time_ns``: half round trip for ping-pong, otherwise time per operation.
    ``times``: number of repeated measurements that the row represents.
    """

    pair: PairVerdict
    time_ns: float | None
    goodput: float | None
    efficiency: float | None
    nominal: float | None
    times: int = 1

    @property
    def between(self) -> tuple[str, str]:
        pair = self.pair
        return (
            pair.origin_host or f"rank {pair.origin}",
            pair.target_host or f"rank {pair.target}",
        )


class ResultTable(msgspec.Struct, frozen=True, dict=True):
    """All results of one pattern in one form by one formula."""

    pattern: str
    form: str
    formula: str
    title: str
    unit: str
    rows: tuple[ResultRow, ...]

    @property
    def halved(self) -> bool:
        """True if the time is half of a message in each direction."""
        return is_round_trip(self.pattern, self.form)

    @cached_property
    def directed(self) -> tuple[int | None, list[Cell]]:
        """The message size of the pair picture, and its cells between different hosts: the size
        with the most directions, then the largest; None without rows. For several ranks or
        repetitions, a cell shows the median.
        """
        by_size = gathered((row.pair.message_bytes, row) for row in self.rows)
        if not by_size:
            return None, []
        size = max(by_size, key=lambda each: (_directions(by_size[each]), each))
        measured = [row for row in by_size[size] if row.goodput]
        between = gathered((row.between, row) for row in measured if len(set(row.between)) > 1)
        return size, [_cell(*ends, rows) for ends, rows in sorted(between.items())]

    @property
    def pairs(self) -> int:
        return _directions(self.rows)


class Cell(msgspec.Struct, frozen=True):
    """Goodput from one host to another: the median over repetitions, with the worst verdict and the
    widest interval. ``half_width`` is relative.
    """

    origin: str
    target: str
    goodput: float
    efficiency: float | None
    verdict: str
    proof: str
    half_width: float | None = None


def row_of(pair: PairVerdict, section: JudgedRun) -> ResultRow:
    """Return time and goodput of one result, with shares of attainable and of nominal rate if those
    are known.
    """
    value = pair.value if pair.value > 0 else None
    if pair.unit == "ns":
        time_ns, goodput = (
            value,
            pair.message_bytes / value * 1e9 if value and pair.message_bytes else None,
        )
    else:
        time_ns, goodput = pair.message_bytes / value * 1e9 if value else None, value
    link = section.run.claim.link
    rate = link.line_rate if link else None
    nominal = goodput * 8 / rate if goodput and rate else None
    return ResultRow(pair, time_ns, goodput, pair.efficiency, nominal)


def tables(section: JudgedRun) -> list[ResultTable]:
    """Return one table per pattern, form, formula and unit; rows by size, then origin, target and
    repetition.
    """
    groups = gathered(
        ((pair.pattern, _form(pair), pair.formula, str(pair.unit)), row_of(pair, section))
        for pair in counted(section.judgement)
    )
    keys = sorted(groups, key=lambda key: (place_of(key[0], key[1]), key))
    return [_table(key, groups[key]) for key in keys]


def _form(pair: PairVerdict) -> str:
    return pair.form or ("latency" if pair.unit == "ns" else "stream")


def _table(key: tuple[str, str, str, str], rows: list[ResultRow]) -> ResultTable:
    pattern, form, formula, unit = key
    title = title_of(pattern, form)
    if formula != "robust":
        title += f", by the formula of {formula}"
    rows.sort(
        key=lambda row: (row.pair.message_bytes, row.pair.origin, row.pair.target, row.pair.repeat)
    )
    return ResultTable(pattern, form, formula, title, unit, tuple(rows))


def folded(rows: Iterable[ResultRow]) -> list[ResultRow]:
    """Return one row for each size and direction, in order. Of repeated measurements (rounds,
    launches), take those with the worst verdict, and of these the median.
    """
    same = gathered(
        ((row.pair.message_bytes, row.pair.origin, row.pair.target), row) for row in rows
    )
    return [_one_of(group) for group in same.values()]


def _one_of(group: list[ResultRow]) -> ResultRow:
    verdict = worst(row.pair.verdict for row in group)
    grave = sorted(
        (row for row in group if row.pair.verdict == verdict), key=lambda row: row.pair.value
    )
    return replace(grave[(len(grave) - 1) // 2], times=len(group))


def chosen(rows: Iterable[ResultRow], findings: Iterable[Finding], most: int) -> list[ResultRow]:
    """Return at most ``most`` of ``rows``: failures first, then inconclusive rows, then passes;
    within each, culprits first.

    If there are more rows, the selection contains the culprits' rows (at most half of them if other
    rows do not pass either), rows that do not pass, and a sample of passing rows spread over the
    table. Among equals, the worst verdicts and then the slowest rows are taken.
    """
    rows = list(rows)
    accused = [one.about for one in findings if one.code in _ACCUSING and one.about is not None]
    grave = sorted(range(len(rows)), key=lambda place: _weight(rows[place]))
    guilty = [at for at in grave if any(_concerns(one, rows[at]) for one in accused)]
    blamed = frozenset(guilty)

    def place(at: int) -> tuple[int, bool, int]:
        verdict = rows[at].pair.verdict
        return _GRAVE.index(verdict), verdict != "pass" and at not in blamed, at

    if len(rows) <= most:
        return [rows[at] for at in sorted(range(len(rows)), key=place)]
    bad = [at for at in grave if rows[at].pair.verdict != "pass"]
    first = dict.fromkeys([*guilty[: most // 2], *bad, *guilty])
    shown = list(first)[:most]
    fill = [at for at in range(len(rows)) if at not in first]
    room = most - len(shown)
    step = max(1, -(-len(fill) // room)) if room else len(fill) + 1
    return [rows[at] for at in sorted([*shown, *fill[::step][:room]], key=place)]


_ACCUSING = frozenset({*CULPRITS, "node-direction-slow", "direction-slow"})
_GRAVE = ("fail", "inconclusive", "pass")


def _weight(row: ResultRow) -> tuple[int, float]:
    """Return a sort key: worst verdict first, then slowest."""
    return _GRAVE.index(row.pair.verdict), -(row.time_ns or 0.0)


def _concerns(about: Subject, row: ResultRow) -> bool:
    """Return True if the row's messages passed the subject of a finding. Rows do not show this for
    switches and links.
    """
    origin, target = row.between
    both_ways = is_round_trip(row.pair.pattern, row.pair.form)
    match about:
        case Node(name):
            return name in row.between
        case Port(node, direction):
            ends = {"tx": (origin,), "rx": (target,)}.get(direction, row.between)
            return node in (row.between if both_ways else ends)
        case Route(one, other):
            return row.between == (one, other) or (both_ways and row.between == (other, one))
        case Both(one, other):
            return {origin, target} == {one, other}
    return False


def _directions(rows: Iterable[ResultRow]) -> int:
    return len({(row.pair.origin, row.pair.target) for row in rows})


def _cell(origin: str, target: str, rows: Iterable[ResultRow]) -> Cell:
    rows = list(rows)
    if len(rows) == 1:
        (row,) = rows
        verdict, proof, width = row.pair.verdict, row.pair.proof, row.pair.half_width
        return Cell(origin, target, row.goodput or 0.0, row.efficiency, verdict, proof, width)
    shares = [row.efficiency for row in rows if row.efficiency is not None]
    proofs = sorted({row.pair.proof for row in rows})
    return Cell(
        origin,
        target,
        median(row.goodput for row in rows if row.goodput),
        median(shares) if shares else None,
        worst([row.pair.verdict for row in rows]),
        proofs[0] if len(proofs) == 1 else "mixed",
        max((row.pair.half_width for row in rows), default=None),
    )


def shown_hosts(cells: Sequence[Cell], most: int) -> tuple[list[str], int]:
    """Return at most ``most`` hosts in natural order, and how many are omitted; those with the
    slowest directions stay.
    """
    slow = sorted(cells, key=lambda cell: cell.goodput)
    hosts = list(dict.fromkeys(host for cell in slow for host in (cell.origin, cell.target)))
    return sorted(hosts[:most], key=natural), max(0, len(hosts) - most)


# --- Points that many ranks measured together.


class GroupRow(NamedTuple):
    """One point. ``judged`` None: it has no verdict."""

    sample: GroupSample
    judged: GroupVerdict | None

    @property
    def time_ns(self) -> float | None:
        """Time of one operation of the slowest rank, None if nothing was timed."""
        estimate = self.sample.estimate
        return positive(estimate.median_ns) if estimate is not None else None

    @property
    def formula(self) -> str:
        """The program whose formula gives a second number; "" without one."""
        known = self.sample.formula_value_ns is not None
        return self.sample.formula if known and self.sample.formula != "robust" else ""


class GroupTable(NamedTuple):
    """All points of one pattern, order and form, sorted by size and members."""

    pattern: str
    title: str
    rows: tuple[GroupRow, ...]


def group_tables(section: JudgedRun) -> list[GroupTable]:
    """Return one table per pattern, order, blocking and threads, in the order of the patterns."""
    judged = {(verdict.point, verdict.repeat): verdict for verdict in section.judgement.groups}
    groups = gathered(
        (
            (sample.pattern, sample.order, sample.blocking, sample.threads),
            GroupRow(sample, judged.get((sample.point, sample.repeat))),
        )
        for sample in group_samples(section.run)
    )
    keys = sorted(groups, key=lambda key: (place_of(key[0]), key))
    return [_group_table(key, groups[key]) for key in keys]


def _group_table(key: tuple[str, str, bool, int], rows: list[GroupRow]) -> GroupTable:
    pattern, order, blocking, threads = key
    title = title_of(pattern, "")
    title += f", {order} order" if order else ""
    title += "" if blocking else ", non-blocking"
    title += f", {threads} threads" if threads > 1 else ""
    return GroupTable(pattern, title, tuple(sorted(rows, key=_group_rank)))


def _group_rank(row: GroupRow) -> tuple[int, int, str, int, int]:
    sample = row.sample
    return sample.message_bytes, len(sample.members), row.formula, sample.repeat, sample.point
