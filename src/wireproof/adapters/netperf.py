"""netperf: the text of its stream and request/response tests for TCP and UDP.

Throughput is in 10^6 bits/s, or in the unit of the heading above it; a transaction is a whole round
trip.
"""

import re

from wireproof.adapters.options import given, one_size, refuse_others, server_of
from wireproof.adapters.page import Page
from wireproof.adapters.registry import Adapter, Parsed, Sign, starts_result
from wireproof.adapters.rows import Rows, What, number, scan_rows, step_of
from wireproof.model.series import Series, SeriesPoint, ToolRequest

_TITLE = re.compile(
    r"\b(?:MIGRATED )?(TCP|UDP) (STREAM|MAERTS|SENDFILE|REQUEST/RESPONSE) TEST from "
    r"[\w.:%-]{0,60}(?: \(\S{0,60}\))? port \d{1,5} AF_INET6? to "
    r"([\w.:%-]{0,60})(?: \(([\w.:%-]{0,60})\))?"
)
_UNITS = {
    "10^6bits/s": 125_000.0,
    "10^9bits/s": 125_000_000.0,
    "10^3bits/s": 125.0,
    "GBytes/s": 2.0**30,
    "MBytes/s": 2.0**20,
    "KBytes/s": 1024.0,
}
_LINES = 12
_STREAM = "bytes received / time of the test; netperf's own sockets, one stream"
_ANSWER = "1 / (2 x transactions per second): half of a round trip of one request and its answer"


def _heading(page: Page, start: int) -> tuple[int, float | None]:
    """Return (index of the first line below the column names, bytes/s of one unit of the
    throughput).
    """
    for index in range(start + 1, min(len(page.lines), start + _LINES)):
        words = page.lines[index].split()
        if _TITLE.search(page.lines[index]):
            break
        if words[:1] in (["bytes"], ["Bytes"]):
            # With -c or -C the processor's use follows, and the unit ends in "/s".
            units = (_UNITS.get(word.replace("/sec", "/s")) for word in words)
            return index + 1, next(filter(None, units), None)
    return start + 1, None


def _rows(page: Page, first: int) -> Rows:
    """Return rows of numbers; a last line without a line end may be torn and is not used."""

    def take(rows: Rows, index: int) -> list[str] | What:
        words = page.lines[index].split()
        if index >= first + _LINES:
            return "end"
        if words and all(number(word) is not None for word in words):
            return "cut" if index == page.ragged else words
        ends = words and (rows.fields or starts_result(page.lines[index]))
        return "end" if ends else "skipped"

    return scan_rows(page, first, take)


def _stream(rows: Rows, unit: float, udp: bool) -> SeriesPoint | None:
    """Return the row of a stream: TCP's five numbers, or of UDP what the receiver got, on the
    second row. Four numbers (UDP: two on each row) about the processor may follow.
    """
    widths = [len(words) for words in rows.fields]
    if widths[:2] not in ([6, 4], [8, 6]) if udp else widths[:1] not in ([5], [9]):
        return None
    size, at = rows.fields[0][1 if udp else 2], 1 if udp else 0
    rate, line = rows.fields[at][3 if udp else 4], rows.lines[at]
    if not size.isdigit() or not float(rate) > 0:
        return None
    return SeriesPoint(
        message_bytes=int(size),
        goodput_bytes_per_s=float(rate) * unit,
        goodput_step=step_of(rate) * unit,
        line=line + 1,
    )


def _answers(rows: Rows) -> SeriesPoint | None:
    """Return the point of a row with two socket sizes, sizes of request and answer, time, and
    transactions per second.
    """
    if not rows.fields or len(rows.fields[0]) not in (6, 10):
        return None
    words, line = rows.fields[0], rows.lines[0]
    rate = float(words[5])
    same = words[2] == words[3] and words[2].isdigit()
    if not rate > 0 or not same:  # half a round trip of two sizes is of neither
        return None
    half = 1e9 / rate / 2
    return SeriesPoint(
        message_bytes=int(words[2]),
        hrt_ns=half,
        time_step_ns=half * step_of(words[5]) / rate,
        line=line + 1,
    )


def parse(page: Page, start: int) -> Parsed:
    """Parse the test whose title is on line index ``start``."""
    title = _TITLE.search(page.lines[start])
    if title is None:
        return Parsed([], start + 1)
    udp, answers = title.group(1) == "UDP", title.group(2) == "REQUEST/RESPONSE"
    server = title.group(4) or title.group(3)
    first, unit = _heading(page, start)
    rows = _rows(page, first)
    point = _answers(rows) if answers else _stream(rows, unit, udp) if unit else None
    kind = "RR" if answers else title.group(2)
    series = Series(
        tool="netperf",
        benchmark=f"{title.group(1)}_{kind}",
        metric="half_round_trip" if answers else "bandwidth",
        traffic="pingpong" if answers else "stream",
        points=[point] if point is not None else [],
        formula=_ANSWER if answers else _STREAM,
        unit="transactions/s" if answers else "10^6 bits/s or as the heading says",
        waits=answers,
        protocol="udp" if udp and not answers else "tcp",
        complete=point is not None,
        incomplete="" if point is not None else f"line {start + 1}: no row that can be read",
        hosts=[server],
        notes=[f"to {server}"],
        source=page.source,
        first_line=start + 1,
        last_line=(rows.lines or [start])[-1] + 1,
    )
    return Parsed([series], rows.after)


def argv(request: ToolRequest) -> tuple[str, ...]:
    """Return ``netperf -H SERVER -t TCP_STREAM -l 10 -- -m 65536``; the server is ``netserver``."""
    refuse_others(request, "netperf", "server", "port", "sizes", "seconds", "cpu")
    size = one_size(request, "netperf measures one size a run")
    server = server_of(request, "netperf")
    test = request.benchmark.upper().replace("NETPERF", "") or "TCP_STREAM"
    own = ("-r", f"{size},{size}") if test.endswith("RR") else ("-m", size)
    options = given(("-H", server), ("-p", request.port))
    if request.role == "client" or not request.role:
        options += given(("-t", test), ("-l", request.seconds), ("-T", request.cpu))
    tail = given(own) if size is not None else []
    return (request.program, *options, *request.extra, *(["--", *tail] if tail else []))


ADAPTER = Adapter(
    name="netperf",
    signs=(
        Sign(" TEST from ", r"\b(?:TCP|UDP) (?:STREAM|MAERTS|SENDFILE|REQUEST/RESPONSE) TEST "),
    ),
    parse=parse,
    argv=argv,
)
