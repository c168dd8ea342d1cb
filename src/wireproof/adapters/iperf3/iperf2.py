"""iperf 2's text. It prints no word at the end: which row sums up a run is told by the times of the
rows.
"""

from __future__ import annotations

from typing import Literal

from wireproof.adapters.iperf3.results import Flow, RunInfo, series_of
from wireproof.adapters.iperf3.rows import TAIL_UDP, Row, Run, datagram, extra
from wireproof.adapters.page import Page
from wireproof.model.series import Series

__all__ = ["old_series"]

_DEFAULT_SECONDS = 9.5  # a run lasts 10 s unless asked otherwise; it ends a little earlier or later


def _summary(rows: list[Row]) -> tuple[Row | None, str]:
    """The row from 0 to the end. A row alone may be a first interval: its length must be that of a
    run.
    """
    later = [row.start > 0 for row in rows]
    last = rows[-1]
    if any(later):
        if last.start == 0 and last.end >= 0.99 * max(row.end for row in rows):
            return last, ""
        return (
            None,
            "the row over the whole run is missing: the run did not finish or the log is cut",
        )
    measured = abs(last.end * 10 - round(last.end * 10)) > 1e-3
    if last.start == 0 and (measured or last.end >= _DEFAULT_SECONDS):
        return last, ""
    return None, "the only row may be the first interval of a longer run"


def _chosen(run: Run) -> tuple[Row | None, str]:
    """The row that sums up the run, and why there is none."""
    if run.udp and run.client:
        return _reported(run)
    rows = run.rows
    if run.peers > 1 or len(_streams(run, "SUM")) > 1:
        rows = [row for row in rows if row.stream == "SUM"]
        if not rows:
            return None, "several streams and no sum: the run did not finish or the log is cut"
    if run.udp and not all(TAIL_UDP.search(row.tail) for row in rows):
        return None, "what arrived is not known: no row has jitter and loss"
    return _summary(rows)


def _reported(run: Run) -> tuple[Row | None, str]:
    """The last row of the server's report in the client's log."""
    rows = [row for row in run.rows if run.report and row.line > run.report]
    if not rows:
        return None, "the report of the server is missing: what arrived is not known"
    return rows[-1], ""


def _streams(run: Run, *others: str) -> set[str]:
    return {row.stream for row in run.rows}.difference(others)


def old_series(page: Page, start: int, run: Run) -> Series:
    """A run with rows, none of which says sender or receiver. A TCP client's count is what it
    wrote.
    """
    row, why = _chosen(run)
    basis = "received" if run.udp or not run.client else "sent"
    flows = [Flow(row.rate, basis, extra([row], row), row.step)] if row is not None else []
    protocol: Literal["udp", "tcp"] = "udp" if run.udp else "tcp"
    info = RunInfo(
        lines=(start + 1, max(start, run.last) + 1),
        message_bytes=run.block or (datagram(run) if run.udp else None),
        protocol=protocol,
        benchmark=protocol,
        version="2",
        streams=max(1, run.peers, len(_streams(run, "SUM", ""))),
        incomplete=why or run.trouble,
        hosts=run.hosts,
        tool="iperf",
    )
    return series_of(page, flows, info)
