"""Points that many ranks measured together, arranged as rows of tables, with their verdicts."""

from __future__ import annotations

from typing import NamedTuple

from wireproof.model import gathered
from wireproof.model.finding import GroupVerdict
from wireproof.model.pattern import place_of, title_of
from wireproof.report.json.result import GroupSample, group_samples, positive
from wireproof.report.judged_run import JudgedRun


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
    return [_table(key, groups[key]) for key in keys]


def _table(key: tuple[str, str, bool, int], rows: list[GroupRow]) -> GroupTable:
    pattern, order, blocking, threads = key
    title = title_of(pattern, "")
    title += f", {order} order" if order else ""
    title += "" if blocking else ", non-blocking"
    title += f", {threads} threads" if threads > 1 else ""
    return GroupTable(pattern, title, tuple(sorted(rows, key=_rank)))


def _rank(row: GroupRow) -> tuple[int, int, str, int, int]:
    sample = row.sample
    members = len(sample.members)
    return sample.message_bytes, members, row.formula, sample.repeat, sample.point
