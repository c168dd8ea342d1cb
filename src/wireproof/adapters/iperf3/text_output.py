"""iperf3's text: only the summary lines (``sender``, ``receiver``) count; a run without them is
incomplete.
"""

from __future__ import annotations

import re

from wireproof.adapters.adapter import Parsed
from wireproof.adapters.iperf3.iperf2 import old_series
from wireproof.adapters.iperf3.results import Flow, Said, series_of
from wireproof.adapters.iperf3.rows import TAIL_UDP, Run, collect, datagram, extra
from wireproof.adapters.page import Page

__all__ = ["parse_text"]

_NEW_HEADING = re.compile(r"Bitrate|Retr\b|Interval {8}")  # iperf 2 has none of them


def _flow(run: Run, way: str) -> tuple[Flow | None, str]:
    """The summary of one direction, and why there is none."""
    rows = [row for row in run.summary if row.way == way]
    streams = {stream for stream, one in run.intervals if one == way and stream != "SUM"} | {
        row.stream for row in rows if row.stream != "SUM"
    }
    if len(streams) > 1:
        rows = [row for row in rows if row.stream == "SUM"]
    received = [row for row in rows if row.role == "receiver" and row.rate > 0]
    sent = [row for row in rows if row.role == "sender" and row.rate > 0]
    if received:
        return Flow(received[-1].rate, "received", extra(rows, received[-1]), received[-1].step), ""
    if sent and (run.finished or (run.server and not run.client and run.last + 1 < run.after)):
        return Flow(sent[-1].rate, "sent", extra(rows, sent[-1]), sent[-1].step), ""
    return None, "the summary of the receiver is missing: the run did not finish or the log is cut"


def _old_udp(run: Run) -> Flow | None:
    """Before 3.1 a client printed one summary of UDP without a role: what was sent, and what the
    server missed.
    """
    last = run.rows[-1] if run.rows else None
    udp = TAIL_UDP.search(last.tail) if last is not None else None
    if last is None or udp is None or not run.sent or last.start != 0.0 or int(udp.group(3)) == 0:
        return None
    kept = max(0.0, 1 - int(udp.group(2)) / int(udp.group(3)))
    values = extra([last], last)
    return Flow(last.rate * kept, "sent x (1 - lost / all)", values, last.step)


def _range(run: Run, ways: list[str]) -> dict[str, float]:
    """Slowest and fastest interval, its streams added; only where every stream of it was seen and
    it is a whole one.
    """
    if len(ways) > 1:
        return {}
    sums = [row for row in run.rows if row.stream == "SUM"] or run.rows
    if len({row.stream for row in sums}) > 1 or not sums:
        return {}
    length = sums[0].end - sums[0].start
    rates = [row.rate for row in sums if row.end - row.start >= length / 2]
    if len(rates) < 2:
        return {}
    return {
        "interval_min_bytes_per_s": min(rates),
        "interval_max_bytes_per_s": max(rates),
        "intervals": len(rates),
    }


def parse_text(page: Page, start: int) -> Parsed:
    """The run that begins on line index ``start``."""
    run = collect(page, start)
    seen = [*run.rows, *run.summary]
    nameless = not (
        run.client or run.server or run.trouble or _NEW_HEADING.search(page.lines[start])
    )
    if run.rows and not run.summary and (run.old or nameless):
        return Parsed([old_series(page, start, run)], max(run.after, start + 1))
    if not seen and (("interrupt" in run.trouble and not run.client) or run.old):
        return Parsed([], max(run.after, start + 1))
    ways = sorted({row.way for row in seen} - {""}, reverse=True) or [""]
    found = [_flow(run, way) for way in ways]
    flows = [flow for flow, _ in found if flow is not None]
    why = next((reason for flow, reason in found if flow is None), "")
    if not flows and run.udp and (old := _old_udp(run)) is not None:
        flows, why = [old], ""
    if not seen and not run.client and not run.server and not run.trouble:
        return Parsed([], max(run.after, start + 1))
    if not flows:
        why = run.trouble or why or "the run has no summary"
    notes = [f"omitted: the first {run.omit} s"] if run.omit else []
    block = run.block
    if block is None and run.udp and (block := datagram(run)) is not None:
        notes.append("message size = transfer / datagrams, within the printed digits")
    streams = {
        stream for stream, way in run.intervals if stream not in ("SUM", "") and way == ways[0]
    }
    both = len(ways) > 1
    said = Said(
        lines=(start + 1, max(start, run.last) + 1),
        message_bytes=block,
        protocol="udp" if run.udp else "tcp",
        benchmark="udp" if run.udp else "tcp",
        version=run.version,
        streams=len(streams),
        incomplete=why or run.trouble,
        hosts=run.hosts,
        both=both,
        values=_range(run, ways),
        notes=notes,
    )
    series = series_of(page, flows if not both or len(flows) == 2 else [], said)
    return Parsed([series], max(run.after, start + 1))
