"""netperf: the text of its stream and request/response tests for TCP and UDP, and of its omni test.

Throughput is in 10^6 bits/s, or in the unit of the heading above it; a transaction is a whole round
trip.
"""

import re

from wireproof.adapters.page import Page
from wireproof.adapters.registry import Adapter, Benchmark, Parsed, starts_result
from wireproof.adapters.rows import Rows, What, number, scan_rows, step_of
from wireproof.model.quantity import whole
from wireproof.model.series import Series, SeriesPoint

_TITLE = re.compile(
    r"\b(?:MIGRATED )?(?:(TCP|UDP) (STREAM|MAERTS|SENDFILE|REQUEST/RESPONSE)|OMNI(?: [\w|]{1,14})?)"
    r" TEST from "
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
_RATED = (*_UNITS, "Trans/s")
_BURST = re.compile(r"\bfirst burst ([1-9]\d{0,8})\b")
_SELECTED = re.compile(r" *([A-Z][A-Z0-9_]{1,60})=(.{0,80})")
_MOST_SELECTED = 400
_RECEIVED = "REMOTE_RECV_THROUGHPUT"
_NOT_RECEIVED = f"what the receiver of UDP got is not printed ({_RECEIVED})"
# The headings of -O's columns, and the same quantity's name in -k.
_IN_COLUMNS = {
    "throughput": "THROUGHPUT",
    "throughput units": "THROUGHPUT_UNITS",
    "local send size": "LOCAL_SEND_SIZE",
    "request size bytes": "REQUEST_SIZE",
    "response size bytes": "RESPONSE_SIZE",
    "remote recv throughput": _RECEIVED,
    "protocol": "PROTOCOL",
}
_DEFAULT_SEND, _DEFAULT_REQUEST = 16384, 1
_ASKING = "REQUEST/RESPONSE"
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
    if whole(size) is None or not float(rate) > 0:
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


def _selected(page: Page, start: int) -> tuple[dict[str, str], int]:
    """Return what ``-k`` (NAME=VALUE) or ``-o`` (a line of names, a line of values) selected, by
    the names of ``-k``, and the index of the first line after it.
    """
    found, names = dict[str, str](), list[str]()
    for index in range(start + 1, min(len(page.lines), start + _MOST_SELECTED)):
        line = page.lines[index]
        pair, cells = _SELECTED.fullmatch(line), [cell.strip() for cell in line.split(",")]
        if index == page.ragged or (line.strip() and starts_result(line)):
            return found, index
        if pair is not None:
            found[pair.group(1)] = pair.group(2).strip()
        elif names:
            return dict(zip(names, cells, strict=False)), index + 1
        elif "Throughput" in cells:
            names = [cell.upper().replace(" ", "_").removesuffix("_BYTES") for cell in cells]
        elif found or index > start + _LINES:
            return found, index
    return found, min(len(page.lines), start + _MOST_SELECTED)


def _columns(page: Page, start: int) -> tuple[dict[str, str], int]:
    """Return what ``-O`` selected: one row of values under headings of several lines, each value
    below the first letter of its heading. Also return the index of the first line after the row.
    """
    for index in range(start + 2, min(len(page.lines), start + _LINES)):
        line = page.lines[index]
        if index == page.ragged or (line.strip() and starts_result(line)):
            break
        places = [match.start() for match in re.finditer(r"\S+", line)]
        if len(places) < 2 or not any(word in _RATED for word in line.split()):
            continue
        found = dict[str, str]()
        for begin, end in zip(places, [*places[1:], None], strict=True):
            above = (page.lines[at][begin:end].strip() for at in range(start + 1, index))
            name = _IN_COLUMNS.get(" ".join(filter(None, above)).lower())
            if name is not None:
                found[name] = line[begin:end].strip()
        return found, index + 1
    return {}, start + 1


def _of_selected(found: dict[str, str], answers: bool, line: int) -> SeriesPoint | None:
    text, unit = found.get("THROUGHPUT", ""), found.get("THROUGHPUT_UNITS", "")
    rate = number(text)
    if not rate or rate < 0:
        return None
    request = found.get("REQUEST_SIZE", str(_DEFAULT_REQUEST))
    if answers and unit == "Trans/s" and found.get("RESPONSE_SIZE", request) == request:
        half = 1e9 / rate / 2
        return SeriesPoint(
            message_bytes=_DEFAULT_REQUEST if (size := whole(request)) is None else size,
            hrt_ns=half,
            time_step_ns=half * step_of(text) / rate,
            line=line,
        )
    factor, sent = _UNITS.get(unit), found.get("LOCAL_SEND_SIZE", "")
    if answers or factor is None:
        return None
    return SeriesPoint(
        message_bytes=_DEFAULT_SEND if (size := whole(sent)) is None else size,
        goodput_bytes_per_s=rate * factor,
        goodput_step=step_of(text) * factor,
        line=line,
    )


def _point(
    page: Page, start: int, udp: bool, answers: bool
) -> tuple[SeriesPoint | None, int, list[str]]:
    """Return the point, the index of the first line after the test, and notes."""
    first, unit = _heading(page, start)
    rows = _rows(page, first)
    point = _answers(rows) if answers else _stream(rows, unit, udp) if unit else None
    if point is not None:
        return point, rows.after, []
    found, after = _selected(page, start)
    return _told(found, udp, answers, after) if found else (None, rows.after, [])


def _told(
    found: dict[str, str], udp: bool, answers: bool, after: int
) -> tuple[SeriesPoint | None, int, list[str]]:
    """Return the point that selected values make, the index after them, and notes."""
    said = ("REQUEST_SIZE" if answers else "LOCAL_SEND_SIZE") in found
    notes = [] if said else ["the message size is not printed: netperf's default is taken"]
    if udp and not answers:
        # A sender counts what it sent.
        got = {**found, "THROUGHPUT": found.get(_RECEIVED, "")}
        point = _of_selected(got, answers=False, line=after)
        return point, after, notes if point is not None else [_NOT_RECEIVED]
    return _of_selected(found, answers, after), after, notes


def _test(protocol: str, kind: str, burst: bool) -> Benchmark:
    name = f"{protocol}_{'RR' if kind == _ASKING else kind}"
    if kind != _ASKING:
        return Benchmark(name, "bandwidth", "stream", _STREAM)
    if burst:
        return Benchmark(name, "message_rate", "other", _ANSWER)
    return Benchmark(name, "half_round_trip", "pingpong", _ANSWER, waits=True)


def _result(
    page: Page, start: int, title: re.Match[str]
) -> tuple[str, str, SeriesPoint | None, int, list[str]]:
    """Return protocol, kind of test, point, index of the first line after the test, and notes."""
    protocol, kind = title.group(1), title.group(2)
    if protocol is not None:
        return protocol, kind, *_point(page, start, protocol == "UDP", kind == _ASKING)
    found, after = _columns(page, start)
    if not found:
        found, after = _selected(page, start)
    protocol = found.get("PROTOCOL", "TCP")
    kind = _ASKING if found.get("THROUGHPUT_UNITS") == "Trans/s" else "STREAM"
    point, after, notes = _told(found, protocol == "UDP", kind == _ASKING, after)
    return protocol, kind, point if protocol in ("TCP", "UDP") else None, after, notes


def parse(page: Page, start: int) -> Parsed:
    """Parse the test whose title is on line index ``start``."""
    title = _TITLE.search(page.lines[start])
    if title is None:
        return Parsed([], start + 1)
    server = title.group(4) or title.group(3)
    protocol, kind, point, after, notes = _result(page, start, title)
    udp, answers = protocol == "UDP", kind == _ASKING
    burst = _BURST.search(page.lines[start]) if answers else None
    if burst is not None:
        rate = None if point is None else 1e9 / (point.hrt_ns or 1.0) / 2
        point = point and SeriesPoint(
            message_bytes=point.message_bytes, messages_per_s=rate, line=point.line
        )
        notes.append(f"{burst.group(1)} more transactions were under way: no time of one is known")
    test = _test(protocol, kind, burst is not None)
    series = Series(
        tool="netperf",
        benchmark=test.name,
        metric=test.metric,
        traffic=test.traffic,
        points=[] if point is None else [point],
        formula=test.formula,
        unit="transactions/s" if answers else "10^6 bits/s or as the heading says",
        waits=test.waits,
        protocol="udp" if udp and not answers else "tcp",
        complete=point is not None,
        incomplete=f"line {start + 1}: no row that can be read" if point is None else "",
        hosts=[server],
        notes=[f"to {server}", *notes],
        source=page.source,
        first_line=start + 1,
        last_line=start + 1 if point is None else point.line,
    )
    return Parsed([series], after)


ADAPTER = Adapter(
    name="netperf",
    parse=parse,
)
