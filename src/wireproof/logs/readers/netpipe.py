# pure
"""NetPIPE (NPtcp, NPmpi and the others of 3.x and 5.x): a time and a rate for each size.

The time is half of a round trip (the shortest; the mean in 5.x), or the time of a message if
NetPIPE streams. The Mbps of 3.x are 2^20 bits/s; all units of 5.x are powers of 1000. Rates are
sums over both directions if it loads both, and over all pairs.
"""

import re
from dataclasses import replace

from wireproof.logs.readers.page import Page
from wireproof.logs.readers.registry import Adapter, Benchmark, Parsed, starts_result
from wireproof.logs.readers.rows import What, rows_below, step_of
from wireproof.model.series import SeriesPoint

_ROW = re.compile(
    r"^ *\d{1,6}: +(\d{1,12}(?:\.\d{3})?) +(bytes|[KMGT]?B) +(\d{1,10}) times -->"
    r" +(\d{1,12}\.\d{1,6}) +([KMGT]?bps) +in +(\d{1,12}\.\d{1,9}) +([num]?)secs?"
    r"(?: +\d{1,9} failures)? *$"
)
_HOST = re.compile(r"^ *(?:Proc (\d{1,6}) is on host|([01]):) ([\w.-]{1,255}) *$")
_BEFORE = 24  # number of lines above the first row that may contain mode, hosts and buffers
_MEBI = 2.0**20
_UNITS = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
_NS = {"n": 1.0, "u": 1e3, "m": 1e6, "": 1e9}
_PING_PONG = Benchmark("NetPIPE", "half_round_trip", "pingpong", "round trip / 2", waits=True)
_STREAM = Benchmark("NetPIPE -s", "bandwidth", "stream", "size / time of a message")
_BOTH = Benchmark(
    "NetPIPE -2",
    "bidirectional_bandwidth",
    "exchange",
    "2 x size / time of a message in each direction",
    directions=2,
)


def _test(above: list[str], pairs: int) -> Benchmark:
    if any("both directions" in line or "Bidirectional mode" in line for line in above):
        found = _BOTH
    else:
        found = _STREAM if any("Streaming " in line for line in above) else _PING_PONG
    return found if pairs == 1 else replace(found, metric="bandwidth", traffic="rate", waits=False)


def _row(line: str) -> list[str] | What | None:
    found = _ROW.match(line)
    if found is not None:
        return list(found.groups())
    return "torn" if "times -->" in line else None


def _point(words: list[str], test: Benchmark, line: int) -> SeriesPoint | None:
    length, unit, count, rate, scale, time, part = words
    size = round(float(length) * _UNITS[unit[0] if unit not in ("bytes", "B") else ""])
    if not float(time) > 0 or not size:
        return None
    answered, bits = test.half_round_trip, _UNITS[scale.removesuffix("bps")]
    moved = (_MEBI if unit == "bytes" else bits) / 8
    return SeriesPoint(
        message_bytes=size,
        hrt_ns=float(time) * _NS[part] if answered else None,
        time_step_ns=step_of(time) * _NS[part] if answered else 0.0,
        goodput_bytes_per_s=float(rate) * moved,
        goodput_step=step_of(rate) * moved,
        iterations=int(count),
        line=line + 1,
    )


def parse(page: Page, start: int) -> Parsed:
    """Parse the table below line index ``start``."""
    above = page.lines[max(0, start - _BEFORE) : start]
    rows = rows_below(page, start + 1, _row, starts_result)
    named = {match[1] or match[2]: match[3] for match in filter(None, map(_HOST.match, above))}
    hosts, pairs = list(dict.fromkeys(named.values())), max(1, len(named) // 2)
    test = _test(above, pairs)
    points = [_point(words, test, at) for words, at in rows]
    alone = len(hosts) == 1 and len(named) > 1
    series = test.series(
        "netpipe",
        points,
        unit="us; Mbps = 2^20 bits/s in 3.x",
        processes=2 * pairs,
        pairs=pairs,
        protocol="tcp" if any("Send and receive buffers" in line for line in above) else "",
        incomplete=rows.state(page, points, ""),
        hosts=hosts,
        notes=[f"both ranks are on {hosts[0]}"] if alone else [],
        last_line=rows.last_line,
    )
    return Parsed([series], max(rows.after, start + 1))


ADAPTER = Adapter(
    name="netpipe",
    parse=parse,
)
