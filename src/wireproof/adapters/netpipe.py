"""NetPIPE (NPtcp, NPmpi and the others of 3.x): a time and a rate for each size.

The time is half of the shortest round trip, or the time of a message if NetPIPE streams. Its Mbps
are 2^20 bits/s, of both directions together if it loads both.
"""

import re

from wireproof.adapters.options import given, one_size, refuse_others, server_of
from wireproof.adapters.page import Page
from wireproof.adapters.registry import Adapter, Benchmark, Parsed, Sign, starts_result
from wireproof.adapters.rows import What, rows_below, step_of
from wireproof.model.series import Series, SeriesPoint, ToolRequest

_START = "Now starting the main loop"
_ROW = re.compile(
    r"^ *\d{1,6}: +(\d{1,12}) bytes +(\d{1,9}) times --> +(\d{1,12}\.\d{1,6}) Mbps in"
    r" +(\d{1,12}\.\d{1,6}) usecs? *$"
)
_HOST = re.compile(r"^ *([01]): ([\w.-]{1,255})$")
_BEFORE = 12  # lines above the first row that name mode, hosts and buffers
_MEBIBIT = 2.0**20 / 8
_PING_PONG = Benchmark(
    "NetPIPE", "half_round_trip", "pingpong", "shortest round trip / 2", waits=True
)
_STREAM = Benchmark("NetPIPE -s", "bandwidth", "stream", "size / shortest time of a message")
_BOTH = Benchmark(
    "NetPIPE -2",
    "bidirectional_bandwidth",
    "exchange",
    "2 x size / shortest time of a message each way",
    directions=2,
)


def _test(above: list[str]) -> Benchmark:
    if any("both directions" in line for line in above):
        return _BOTH
    return _STREAM if any("Streaming in one direction" in line for line in above) else _PING_PONG


def _row(line: str) -> list[str] | What | None:
    found = _ROW.match(line)
    if found is not None:
        return list(found.groups())
    return "torn" if "times -->" in line else None


def _point(words: list[str], test: Benchmark, line: int) -> SeriesPoint | None:
    size, count, rate, time = words
    if not float(time) > 0 or not int(size):
        return None
    answered = test.half_round_trip
    return SeriesPoint(
        message_bytes=int(size),
        hrt_ns=float(time) * 1e3 if answered else None,
        time_step_ns=step_of(time) * 1e3 if answered else 0.0,
        goodput_bytes_per_s=float(rate) * _MEBIBIT,
        goodput_step=step_of(rate) * _MEBIBIT,
        iterations=int(count),
        line=line + 1,
    )


def parse(page: Page, start: int) -> Parsed:
    """Parse the table below line index ``start``."""
    above = page.lines[max(0, start - _BEFORE) : start]
    test, rows = _test(above), rows_below(page, start + 1, _row, starts_result)
    named = {found.group(1): found.group(2) for line in above if (found := _HOST.match(line))}
    hosts = list(dict.fromkeys(named.values()))
    read = (_point(words, test, at) for words, at in zip(rows.fields, rows.lines, strict=True))
    points = sorted(filter(None, read), key=lambda point: point.message_bytes)
    incomplete = rows.fault(page) or ("" if points else "no row that can be read follows")
    alone = len(hosts) == 1 and len(named) > 1
    series = Series(
        tool="netpipe",
        benchmark=test.name,
        metric=test.metric,
        traffic=test.traffic,
        points=points,
        formula=test.formula,
        unit="us; Mbps = 2^20 bits/s",
        directions=test.directions,
        waits=test.waits,
        processes=2,
        protocol="tcp" if any("Send and receive buffers" in line for line in above) else "",
        complete=not incomplete,
        incomplete=incomplete,
        hosts=hosts,
        notes=[f"both ranks are on {hosts[0]}"] if alone else [],
        source=page.source,
        first_line=start + 1,
        last_line=(rows.lines or [start])[-1] + 1,
    )
    return Parsed([series], max(rows.after, start + 1))


def argv(request: ToolRequest) -> tuple[str, ...]:
    """Return ``NPtcp -h SERVER -l 8192 -u 8192 -n 100``: one size, or NetPIPE's list."""
    refuse_others(
        request, "NetPIPE", "server", "port", "sizes", "iterations", "socket_buffer_bytes"
    )
    size = one_size(request, "NetPIPE measures one size a run, or its list")
    options = given(
        ("-h", server_of(request, "NetPIPE")),
        ("-P", request.port),
        ("-l", size),
        ("-u", size),
        ("-n", request.iterations),
        ("-b", request.socket_buffer_bytes),
    )
    return (request.program, *options, *request.extra)


ADAPTER = Adapter(
    name="netpipe",
    signs=(Sign(_START, rf"\b{_START}\b"),),
    parse=parse,
    argv=argv,
)
