# pure
"""iperf's measurements as a Series, and its text output: for iperf3, only the summary lines
(``sender``, ``receiver``) count; a run without them is incomplete.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from wireproof.logs.readers.iperf3.rows import (
    TAIL_UDP,
    WHOLE_S,
    IperfRow,
    IperfRun,
    collect,
    datagram,
    extra,
)
from wireproof.logs.readers.page import Page
from wireproof.logs.readers.registry import Benchmark, Parsed
from wireproof.model.quantity import throughput
from wireproof.model.series import Series, SeriesPoint

# --- The measurements of iperf3 and iperf as a Series: the rate at which payload arrived, summed
# over the streams.

_MOST = 1e15
_DEFAULT_BLOCK = 128 << 10
_FORMULA = "payload that arrived / time, summed over the streams"


@dataclass(frozen=True, slots=True)
class IperfFlow:
    """One direction. ``basis``: the end that counted (links are judged by ``received``)."""

    bytes_per_s: float
    basis: str
    values: dict[str, float] = field(default_factory=dict)
    step: float = 0.0


def _values(flows: list[IperfFlow], values: Mapping[str, float]) -> dict[str, float]:
    found = dict(flows[0].values)
    for flow in flows[1:]:
        for name in ("retransmits", "bytes", "lost_packets", "packets"):
            if name in flow.values:
                found[name] = found.get(name, 0.0) + flow.values[name]
    if len(flows) > 1:
        found |= {
            "forward_bytes_per_s": flows[0].bytes_per_s,
            "backward_bytes_per_s": flows[1].bytes_per_s,
        }
    return {**found, **values}


def _notes(
    block: int | None, hosts: list[str], flows: list[IperfFlow], known: list[IperfFlow]
) -> list[str]:
    notes = []
    if len(hosts) == 2 and hosts[0] == hosts[1]:
        notes.append(f"local and remote address are the same: both ranks are on {hosts[0]}")
    if len(known) < len(flows):
        notes.append("an impossible rate is left out")
    if block is None and known:
        notes.append(
            f"the length of a write is not printed: TCP's default of {_DEFAULT_BLOCK} bytes is "
            "assumed"
        )
    basis = next((flow.basis for flow in known if flow.basis != "received"), "")
    if basis:
        notes.append(f"the rate is the {basis} rate: the receiver's count is not in the log")
    return notes


def spread(rates: list[float]) -> dict[str, float]:
    """Return the slowest and the fastest interval; empty if there is only one."""
    if len(rates) < 2:
        return {}
    return {
        "interval_min_bytes_per_s": min(rates),
        "interval_max_bytes_per_s": max(rates),
        "intervals": len(rates),
    }


def _simplex(name: str) -> Benchmark:
    return Benchmark(name, "bandwidth", "stream", _FORMULA)


def _duplex(name: str) -> Benchmark:
    formula = f"{_FORMULA}, both directions added"
    return Benchmark(f"{name}_bidir", "bidirectional_bandwidth", "exchange", formula, directions=2)


def series_of(
    flows: list[IperfFlow],
    benchmark: str,
    *,
    block: int | None,
    values: Mapping[str, float] | None = None,
    both: bool = False,
    tool: str = "iperf3",
    **about: Any,
) -> Series:
    """Return one point per run; none if a direction is missing.

    ``block``: length of one write, None if the log does not contain it (TCP's default is then
    assumed). ``both``: payload went in both directions at the same time. ``about``: other fields of
    the Series.
    """
    known = [flow for flow in flows if 0 < flow.bytes_per_s < _MOST]
    missing = ""
    if len(known) < (2 if both else 1):
        missing = "one of the two directions is missing" if known else "no payload arrived"
        known = []
    point = SeriesPoint(
        message_bytes=block or _DEFAULT_BLOCK,
        goodput_bytes_per_s=sum(flow.bytes_per_s for flow in known),
        goodput_step=sum(flow.step for flow in known),
        values=_values(known, values or {}) if known else {},
        line=about["last_line"],
    )
    changed = {
        "incomplete": about["incomplete"] or missing,
        "hosts": list(dict.fromkeys(about["hosts"])),
        "notes": [*about.get("notes", ()), *_notes(block, about["hosts"], flows, known)],
    }
    test = _duplex(benchmark) if both else _simplex(benchmark)
    return test.series(
        tool,
        [point] if known else [],
        unit="bits and bit rates in powers of 1000, bytes and byte rates in powers of 1024",
        **about | changed,
    )


# --- iperf 2's text. No word marks its last row, so the times of the rows identify the row that
# sums up a run.


def _whole_row(rows: list[IperfRow]) -> tuple[IperfRow | None, str]:
    """Return the row from 0 to the end, or the reason why there is none. A single row may be a
    first interval, so its length must match a run's.
    """
    later = [row.start > 0 for row in rows]
    last = rows[-1]
    if any(later):
        if last.start == 0 and last.end >= 0.99 * max(row.end for row in rows):
            return last, ""
        return (
            None,
            "the row over the whole run is missing: the run did not finish or the log is cut off",
        )
    measured = abs(last.end * 10 - round(last.end * 10)) > 1e-3
    if last.start == 0 and (measured or last.end >= WHOLE_S):
        return last, ""
    return None, "the only row may be the first interval of a longer run"


def _chosen(run: IperfRun) -> tuple[IperfRow | None, str]:
    """Return the row that sums up the run, or the reason why there is none."""
    if run.udp and run.client:
        return _reported(run)
    rows = run.rows
    if len(run.told["peer"]) > 1 or len(_streams(run, "SUM")) > 1:
        rows = [row for row in rows if row.stream == "SUM"]
        if not rows:
            return (
                None,
                "several streams but no sum: the run did not finish or the log is cut off",
            )
    if run.udp and not all(TAIL_UDP.search(row.tail) for row in rows):
        return None, "the received bytes are unknown: no row has jitter and loss"
    return _whole_row(rows)


def _reported(run: IperfRun) -> tuple[IperfRow | None, str]:
    """Return the last row of the server's report in the client's log."""
    last = run.rows[-1:] if run.report else []
    if last and last[0].line > run.report:
        return last[0], ""
    return None, "the report of the server is missing, so the received bytes are unknown"


def _streams(run: IperfRun, *others: str) -> set[str]:
    return {row.stream for row in run.rows}.difference(others)


def old_series(start: int, run: IperfRun) -> Series:
    """Return the series of a run whose rows do not name sender or receiver. The count of a TCP
    client is the number of bytes that it wrote.
    """
    row, why = _chosen(run)
    basis = "received" if run.udp or not run.client else "sent"
    flows = [_flow_of([row], row, basis)] if row is not None else []
    protocol = "udp" if run.udp else "tcp"
    return series_of(
        flows,
        protocol,
        first_line=start + 1,
        last_line=max(start, run.last) + 1,
        block=run.block or (datagram(run) if run.udp else None),
        protocol=protocol,
        version="2",
        pairs=max(1, len(run.told["peer"]), len(_streams(run, "SUM", ""))),
        incomplete=why or run.trouble,
        hosts=run.hosts,
        tool="iperf",
    )


_NEW_HEADING = re.compile(r"Bitrate|Retr\b|Interval {8}")  # iperf 2 prints none of them


def _flow(run: IperfRun, direction: str) -> tuple[IperfFlow | None, str]:
    """Return the summary of one direction, or the reason why there is none."""
    rows = _summary(run, direction)
    received = [row for row in rows if row.role == "receiver"]
    if received and (received[-1].rate > 0 or run.finished):
        return _flow_of(rows, received[-1], "received"), ""
    sent = [row for row in rows if row.role == "sender" and row.rate > 0]
    server_done = run.server and not run.client and run.last + 1 < run.after
    if sent and (run.finished or server_done):
        return _flow_of(rows, sent[-1], "sent"), ""
    why = "the summary of the receiver is missing: the run did not finish or the log is cut off"
    seen = _range(run)
    if seen:
        slow, fast = seen["interval_min_bytes_per_s"], seen["interval_max_bytes_per_s"]
        why += f" ({seen['intervals']} intervals of {throughput(slow)} to {throughput(fast)})"
    return None, why


_SUMMED = 3  # minimum number of streams with a sum, including the sum


def _streams_of(run: IperfRun, direction: str) -> set[str]:
    """Return the streams of a direction; with ``-i 0`` they have no intervals."""
    streams = {stream for stream, one in run.intervals if one == direction}
    return streams | {row.stream for row in run.summary if row.direction == direction}


def _summary(run: IperfRun, direction: str) -> list[IperfRow]:
    """Return the rows that sum up a direction; with several streams, only their sum."""
    rows = [row for row in run.summary if row.direction == direction]
    if len(_streams_of(run, direction) - {"SUM"}) > 1:
        return [row for row in rows if row.stream == "SUM"]
    return rows


def _flow_of(rows: list[IperfRow], row: IperfRow, basis: str, kept: float = 1.0) -> IperfFlow:
    return IperfFlow(row.rate * kept, basis, extra(rows, row), row.step)


def _old_udp(run: IperfRun) -> IperfFlow | None:
    """Return the flow of a UDP client before 3.1, which printed one summary without a role: the
    sent bytes, and the server's losses.
    """
    if not run.rows or not run.told["sent"]:
        return None
    last = run.rows[-1]
    udp = TAIL_UDP.search(last.tail)
    if udp is None or last.start != 0.0 or int(udp.group(3)) == 0:
        return None
    kept = max(0.0, 1 - int(udp.group(2)) / int(udp.group(3)))
    return _flow_of([last], last, "sent x (1 - lost / all)", kept)


def _range(run: IperfRun) -> dict[str, float]:
    """Return the slowest and the fastest interval, summed over streams; only if the rows of all
    streams are known and the interval is whole.
    """
    sums = [row for row in run.rows if row.stream == "SUM"] or run.rows
    if len({row.stream for row in sums}) != 1:
        return {}
    length = sums[0].end - sums[0].start
    return spread([row.rate for row in sums if row.end - row.start >= length / 2])


def _is_iperf2(run: IperfRun, head: str) -> bool:
    """Return True for rows without a summary in a text that does not indicate iperf3."""
    if not run.rows or run.summary:
        return False
    named = run.client or run.server or run.trouble or _NEW_HEADING.search(head)
    return run.old or not named


def _is_nothing(run: IperfRun) -> bool:
    """Return True if there are no rows, and no client or server that failed to print one."""
    if run.rows or run.summary:
        return False
    if run.old or ("interrupt" in run.trouble and not run.client):
        return True
    return not (run.client or run.server or run.trouble)


def _directions(run: IperfRun) -> list[str]:
    return sorted({row.direction for row in (*run.rows, *run.summary)} - {""}, reverse=True) or [""]


def _flows(run: IperfRun, directions: list[str]) -> tuple[list[IperfFlow], str]:
    """Return the flows that the run measured, and the reason if it is incomplete."""
    found = [_flow(run, direction) for direction in directions]
    flows = [flow for flow, _ in found if flow is not None]
    if not flows and run.udp and (old := _old_udp(run)) is not None:
        return [old], run.trouble
    why = next((reason for flow, reason in found if flow is None), "")
    if not flows:
        why = run.trouble or why
    return flows, why or run.trouble


def _block(run: IperfRun) -> tuple[int | None, list[str]]:
    """Return the bytes of one write or datagram, with a note if they are computed."""
    block = datagram(run) if run.block is None and run.udp else None
    if block is None:
        return run.block, []
    return block, ["message size = transfer / datagrams, within the printed digits"]


def _series(start: int, run: IperfRun) -> Series:
    directions = _directions(run)
    flows, incomplete = _flows(run, directions)
    block, notes = _block(run)
    if omit := max(run.omit, run.told.number("omit") or 0):
        notes = [f"omitted: the first {omit} s", *notes]
    both = len(directions) > 1
    streams = _streams_of(run, directions[0])
    summed = "SUM" in streams
    if summed and len(streams) < _SUMMED:
        notes = ["several streams: only their sum is in the log", *notes]
    protocol = "udp" if run.udp else "tcp"
    return series_of(
        flows if not both or len(flows) == 2 else [],
        protocol,
        first_line=start + 1,
        last_line=max(start, run.last) + 1,
        block=block,
        protocol=protocol,
        version=run.version,
        pairs=max(len(streams - {"SUM", ""}), 2 if summed else 1),
        incomplete=incomplete,
        hosts=run.hosts,
        both=both,
        values={} if both else _range(run),
        notes=notes,
    )


def parse_text(page: Page, start: int) -> Parsed:
    """Parse the run that begins on line index ``start``."""
    run = collect(page, start)
    series = []
    if _is_iperf2(run, page.lines[start]):
        series = [old_series(start, run)]
    elif not _is_nothing(run):
        series = [_series(start, run)]
    return Parsed(series, max(run.after, start + 1))
