# pure
"""netperf: the text of its stream and request/response tests for TCP and UDP, and of its omni test.

Throughput is in 10^6 bits/s, or in the unit of the heading above it; a transaction is a whole round
trip.
"""

import re

from wireproof.logs.readers.page import Page
from wireproof.logs.readers.registry import Adapter, Benchmark, Parsed, starts_result
from wireproof.logs.readers.rows import Rows, What, number, scan_rows, step_of
from wireproof.model.quantity import whole
from wireproof.model.series import SeriesPoint

_TITLE = re.compile(
    r"\b(?:MIGRATED )?(?:(TCP|UDP) (STREAM|MAERTS|SENDFILE|REQUEST/RESPONSE)|OMNI(?: [\w|]{1,14})?)"
    r" TEST from "
    r"(?:(?:\(null\)|[\w.:%-]{0,60})(?: \(\S{0,60}\))? port \d{1,5} AF_INET6? to "
    r"(?:\(null\)|([\w.:%-]{0,60}))(?: \(([\w.:%-]{0,60})\))?)?"
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
_HAS_NUMBER = re.compile(r"(?:^|,) *-?\d[\d.]{0,30} *(?:,|$)")  # the names of -o may be wrapped
_MOST_SELECTED = 400
_RECEIVED = "REMOTE_RECV_THROUGHPUT"
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
_SHAPES = {
    _ASKING: (([6], [10]), 2, 5),
    "TCP": (([5], [9]), 2, 4),
    "UDP": (([6, 4], [8, 6]), 1, 3),
}
"""The numbers of each row; the first row contains the size and the last the rate."""
_LINES = 12
_Told = tuple[dict[str, str], int, int]
"""The values that a test printed, by the names of ``-k``; the number of its line; the index of the
line after the test.
"""
_ANSWER = "1 / (2 x transactions per second): half of a round trip of one request and its response"


def _heading(page: Page, start: int) -> tuple[int, str]:
    """Return the index of the first line below the column names, and the unit of the throughput."""
    for index in range(start + 1, min(len(page.lines), start + _LINES)):
        words = page.lines[index].split()
        if _TITLE.search(page.lines[index]):
            break
        if words[:1] in (["bytes"], ["Bytes"]):
            # With -c or -C the processor's use follows, and the unit ends in "/s".
            units = (word.replace("/sec", "/s") for word in words)
            return index + 1, next((unit for unit in units if unit in _UNITS), "")
    return start + 1, ""


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


def _printed(page: Page, start: int, udp: bool, answers: bool) -> _Told:
    """Return the row of the usual output: for a request and its response, for a TCP stream, or for
    UDP the receiver's numbers, on the second row. Four numbers (UDP: two on each row) about the
    processor may follow.
    """
    first, unit = _heading(page, start)
    rows = _rows(page, first)
    widths, size_at, rate_at = _SHAPES[_ASKING if answers else "UDP" if udp else "TCP"]
    count = len(widths[0])
    if [len(words) for words in rows.fields[:count]] not in widths or not (answers or unit):
        return {}, 0, rows.after
    words, line = rows.fields[count - 1], rows.lines[count - 1] + 1
    size, rate = rows.fields[0][size_at], words[rate_at]
    # half a round trip with two sizes belongs to neither size
    if whole(size) is None or not float(rate) > 0 or (answers and words[3] != size):
        return {}, 0, rows.after
    found = {"THROUGHPUT": rate, "THROUGHPUT_UNITS": "Trans/s" if answers else unit}
    sizes = dict.fromkeys(("REQUEST_SIZE", "RESPONSE_SIZE", "LOCAL_SEND_SIZE"), size)
    return found | sizes | {_RECEIVED: rate}, line, rows.after


def _selected(page: Page, start: int) -> tuple[dict[str, str], int]:
    """Return the values that ``-k`` (NAME=VALUE) or ``-o`` (a line of names, a line of values)
    selected, and the index of the first line after it.
    """
    found, names = dict[str, str](), list[str]()
    for index in range(start + 1, min(len(page.lines), start + _MOST_SELECTED)):
        line = page.lines[index]
        pair, cells = _SELECTED.fullmatch(line), [cell.strip() for cell in line.split(",")]
        if index == page.ragged or (line.strip() and starts_result(line)):
            return found, index
        if pair is not None:
            found[pair.group(1)] = pair.group(2).strip()
        elif names and _HAS_NUMBER.search(line):
            return dict(zip(names, cells, strict=False)), index + 1
        elif "Throughput" in cells:
            names = [cell.upper().replace(" ", "_").removesuffix("_BYTES") for cell in cells]
        elif found or index > start + _LINES:
            return found, index
    return found, min(len(page.lines), start + _MOST_SELECTED)


def _columns(page: Page, start: int) -> tuple[dict[str, str], int]:
    """Return the values that ``-O`` selected: one row of values under headings of several lines,
    each value below the first letter of its heading. Also return the index of the first line after
    the row.
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


def _test(protocol: str, kind: str, burst: bool) -> Benchmark:
    name = f"{protocol}_{'RR' if kind == _ASKING else kind}"
    if kind != _ASKING:
        return Benchmark(
            name,
            "bandwidth",
            "stream",
            "bytes received / time of the test; netperf's own sockets, one stream",
        )
    if burst:
        return Benchmark(name, "message_rate", "other", _ANSWER)
    return Benchmark(name, "half_round_trip", "pingpong", _ANSWER, waits=True)


def _result(page: Page, start: int, title: re.Match[str]) -> tuple[str, str, _Told]:
    """Return protocol, kind of test, and printed values."""
    protocol, kind = title.group(1), title.group(2)
    if protocol is not None:
        told = _printed(page, start, protocol == "UDP", kind == _ASKING)
        if told[0]:
            return protocol, kind, told
        found, after = _selected(page, start)
        return protocol, kind, (found, after, after if found else told[2])
    found, after = _columns(page, start)
    if not found:
        found, after = _selected(page, start)
    kind = _ASKING if found.get("THROUGHPUT_UNITS") == "Trans/s" else "STREAM"
    return found.get("PROTOCOL", "TCP"), kind, (found, after, after)


def _notes(found: dict[str, str], point: SeriesPoint | None, udp: bool, answers: bool) -> list[str]:
    if not found:
        return []
    if udp and not answers and point is None:
        return [f"the bytes that the UDP receiver got are not printed ({_RECEIVED})"]
    said = ("REQUEST_SIZE" if answers else "LOCAL_SEND_SIZE") in found
    return [] if said else ["the message size is not printed: netperf's default is assumed"]


def parse(page: Page, start: int) -> Parsed:
    """Parse the test whose title is on line index ``start``."""
    printed = " ".join(page.lines[start : start + 2])  # an e-mail wraps the title
    title = _TITLE.search(printed)
    if title is None:
        return Parsed([], start + 1)
    protocol, kind, (found, line, after) = _result(page, start, title)
    udp, answers = protocol == "UDP", kind == _ASKING
    # A UDP sender counts the bytes that it sent.
    got = {**found, "THROUGHPUT": found.get(_RECEIVED, "")} if udp and not answers else found
    point = _of_selected(got, answers, line) if protocol in ("TCP", "UDP") else None
    servers = list(filter(None, title.groups()[2:]))[-1:]
    notes = [*(f"to {one}" for one in servers), *_notes(found, point, udp, answers)]
    burst = _BURST.search(printed) if answers else None
    if burst is not None:
        rate = None if point is None else 1e9 / (point.hrt_ns or 1.0) / 2
        point = point and SeriesPoint(
            message_bytes=point.message_bytes, messages_per_s=rate, line=point.line
        )
        notes.append(
            f"{burst.group(1)} more transactions were in flight, so the time of a single "
            "one is unknown"
        )
    series = _test(protocol, kind, burst is not None).series(
        "netperf",
        [point],
        unit="transactions/s" if answers else "10^6 bits/s or as in the heading",
        protocol="udp" if udp and not answers else "tcp",
        incomplete=f"line {start + 1}: no readable row" if point is None else "",
        hosts=servers,
        notes=notes,
    )
    return Parsed([series], after)


ADAPTER = Adapter(
    name="netperf",
    parse=parse,
)
