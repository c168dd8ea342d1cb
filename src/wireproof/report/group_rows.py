"""Points that many ranks measured together (rings, message rate, collectives, congestion), arranged
as rows of tables.

It only derives rates: messages/s = messages of one operation / time of one operation; bytes/s =
messages/s times message size. It draws no conclusions.
"""

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from statistics import fmean

from wireproof.model import gathered
from wireproof.model.finding import GroupVerdict
from wireproof.model.pattern import place_of, title_of
from wireproof.model.record import Estimate, GroupResult, PointRecord, Quantiles
from wireproof.model.run import Run
from wireproof.report.judged_run import JudgedRun


@dataclass(frozen=True)
class GroupRow:
    """One point. ``judged`` None: it has no verdict. Times are in ns per operation, None if nothing
    was timed.

    ``ranks_per_node``: such as ``4`` or ``1-4``. ``mean_ns``, ``max_ns``: over the mean times of
    the members. ``messages_per_s``, ``bytes_per_s``: sums over all members; None for a library's
    collective, which may move other amounts.
    """

    point: int
    members: int
    nodes: int
    ranks_per_node: str
    message_bytes: int
    status: str
    mean_ns: float | None
    max_ns: float | None
    formula: str
    formula_ns: float | None
    overlap: float | None
    quiet: Quantiles | None
    loaded: Quantiles | None
    integrity: str
    repeat: int
    window: int
    time_ns: float | None = None
    low_ns: float | None = None
    high_ns: float | None = None
    half_width: float | None = None
    label: str = ""
    messages_per_s: float | None = None
    bytes_per_s: float | None = None
    judged: GroupVerdict | None = None


@dataclass(frozen=True)
class GroupTable:
    """All points of one pattern, order and form, sorted by size and members."""

    pattern: str
    title: str
    rows: tuple[GroupRow, ...]


def group_tables(section: JudgedRun) -> list[GroupTable]:
    """Return one table per pattern, order, blocking and threads, in the order of the patterns."""
    host_of = _hosts(section.run)
    judged = {(one.point, one.repeat): one for one in section.judgement.groups}
    found = gathered(
        (
            (str(point.pattern), point.order, point.blocking, point.threads),
            replace(_row(point, point.group, host_of), judged=judged.get((point.id, point.repeat))),
        )
        for point in section.run.points
        if point.group is not None
    )
    keys = sorted(found, key=lambda key: (place_of(key[0]), key))
    return [_table(key, found[key]) for key in keys]


def group_row(run: Run, point: PointRecord, group: GroupResult) -> GroupRow:
    """Return the row of one point; the run's claim tells which ranks are on which node."""
    return _row(point, group, _hosts(run))


def _hosts(run: Run) -> dict[int, str]:
    found = {host.rank: host.host or host.hostname for host in run.hosts}
    return found | {claim.rank: claim.host for claim in run.claim.hosts}


def _table(key: tuple[str, str, bool, int], rows: list[GroupRow]) -> GroupTable:
    pattern, order, blocking, threads = key
    title = title_of(pattern, "")
    title += f", {order} order" if order else ""
    title += "" if blocking else ", non-blocking"
    title += f", {threads} threads" if threads > 1 else ""
    rows.sort(key=lambda row: (row.message_bytes, row.members, row.formula, row.repeat, row.point))
    return GroupTable(pattern, title, tuple(rows))


def _row(point: PointRecord, group: GroupResult, host_of: dict[int, str]) -> GroupRow:
    estimate = group.estimate
    means = [value for one in group.member_ns if (value := _positive(one)) is not None]
    counts = Counter(host_of.get(rank, f"rank {rank}") for rank in group.members)
    named = point.formula != "robust" and group.formula_value_ns is not None
    row = GroupRow(
        point=point.id,
        members=len(group.members),
        nodes=len(counts),
        ranks_per_node=_span(counts.values()),
        message_bytes=point.message_bytes,
        status=group.status,
        mean_ns=fmean(means) if means else None,
        max_ns=max(means, default=None),
        formula=point.formula if named else "",
        formula_ns=_positive(group.formula_value_ns) if named else None,
        overlap=group.overlap.share if group.overlap else None,
        quiet=group.quiet,
        loaded=group.loaded,
        integrity=group.integrity,
        repeat=point.repeat,
        window=group.window_used,
    )
    return row if estimate is None else _timed(row, point, group, estimate)


def _timed(row: GroupRow, point: PointRecord, group: GroupResult, estimate: Estimate) -> GroupRow:
    time = _positive(estimate.median_ns)
    # A library's collective may send any amount, and loaded half round trips are not a rate.
    counted = group.exact and point.pattern != "congestion" and group.messages_per_operation > 0
    rate = group.messages_per_operation / time * 1e9 if time and counted else None
    return replace(
        row,
        time_ns=time,
        low_ns=_positive(estimate.low_ns),
        high_ns=_positive(estimate.high_ns),
        half_width=estimate.half_width,
        label=estimate.label,
        messages_per_s=rate,
        bytes_per_s=rate * point.message_bytes if rate else None,
    )


def _span(counts: Iterable[int]) -> str:
    """Return ``4``, or ``1-4`` if nodes differ."""
    known = sorted(counts) or [0]
    return str(known[0]) if known[0] == known[-1] else f"{known[0]}-{known[-1]}"


def _positive(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) and value > 0 else None
