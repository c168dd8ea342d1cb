# pure
"""UCX's ``ucx_perftest``."""

import re

from wireproof.logs.readers.page import Page
from wireproof.logs.readers.registry import Adapter, Benchmark, Parsed
from wireproof.logs.readers.rows import Rows, number, step_of, times
from wireproof.logs.readers.ucx_perftest.lines import (
    COLUMNS,
    Found,
    LastLine,
    Setup,
    read,
    setup_before,
    test_of,
    without_progress,
)
from wireproof.model import gathered
from wireproof.model.quantity import counted
from wireproof.model.series import Series, SeriesPoint

# --- ucx_perftest: only the last line of a test counts; the lines before it show progress. MB =
# 2^20 bytes. The client's table contains neither the test nor the size: they are in the command or
# in the server's box. The size is also bandwidth / message rate, which is compared with the size in
# the command.

_TABLE = re.compile(
    r"(Stage|Test)? *# iterations +(?:typical|(\d{1,3}\.\d)%ile) +average +overall +average"
    r" +overall"
)
_CSV = re.compile(
    r"((?:[\w.+-]{1,80},){0,32})iterations,(?:typical"
    r"|(\d{1,3}\.\d)_percentile)_lat,avg_lat,overall_lat,"
)
_MIB = float(1 << 20)
_SIZE_IN_NAME = re.compile(r"(?:^|[_/])(\d{1,12})([kKmMgG]?)(?=$|[_/])")
_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
_DEFAULT_ITERATIONS = 1_000_000
_CLOSE = 0.005
"""Bandwidth / rate is a size if rounding changes it by less than this share."""


def _size_of(row: LastLine, said: int | None) -> int | None:
    """Return the bytes of a message from bandwidth / rate; ``said`` is used if it fits. None if
    rounding does not allow a decision.
    """
    _, bandwidth_text, rate_text = row.overall
    bandwidth, rate = number(bandwidth_text) or 0.0, number(rate_text) or 0.0
    half_step = step_of(bandwidth_text) / 2
    if said is not None:
        doubt = half_step + 0.5 * said / _MIB + 0.01 * bandwidth
        if abs(said * rate / _MIB - bandwidth) <= doubt:
            return said
    if rate <= 0 or bandwidth <= 0:
        return None
    size = bandwidth * _MIB / rate
    doubt = size * (half_step / bandwidth + 0.5 / rate + 1e-9)
    if doubt < 0.5:
        return round(size)
    return _power_of_two(size, doubt) or (round(size) if doubt < _CLOSE * size else None)


def _power_of_two(size: float, doubt: float) -> int | None:
    """Return the only power of two within ``doubt`` of ``size``; None if there is not exactly
    one.
    """
    powers = [1 << bit for bit in range(48) if abs((1 << bit) - size) <= doubt]
    return powers[0] if len(powers) == 1 else None


def _size_named(name: str) -> int | None:
    """Return the size in the name of a batch's line: ``lat_8``, ``bw_64k``, ``4096``."""
    found = _SIZE_IN_NAME.findall(name)
    return int(found[-1][0]) * _UNITS[found[-1][1].lower()] if found else None


def _point(row: LastLine, size: int, test: Benchmark, percentile: str) -> SeriesPoint | None:
    time_text, bandwidth_text, rate_text = row.overall
    overall, bandwidth, rate = number(time_text), number(bandwidth_text), number(rate_text)
    count = number(row.texts[0])
    if overall is None or bandwidth is None or rate is None or not count:
        return None
    if overall <= 0 or bandwidth < 0 or rate < 0:
        return None
    hrt, time = times(overall * 1e3, test.half_round_trip)
    return SeriesPoint(
        message_bytes=size,
        hrt_ns=hrt,
        time_ns=time,
        goodput_bytes_per_s=bandwidth * _MIB,
        messages_per_s=rate,
        iterations=int(count) if 0 < count < 1e18 else None,
        time_step_ns=step_of(time_text) * 1e3,
        goodput_step=step_of(bandwidth_text) * _MIB,
        percentiles=_tail(row, percentile),
        line=row.line + 1,
    )


def _tail(row: LastLine, percentile: str) -> dict[str, float]:
    tail = number(row.texts[1]) if len(row.texts) == COLUMNS and percentile else None
    return {} if tail is None or tail < 0 else {f"p{percentile.removesuffix('.0')}": tail * 1e3}


def _points(
    rows: list[LastLine], percentile: str, setup: Setup, test: Benchmark
) -> tuple[list[SeriesPoint], list[str]]:
    """Return the points of a test, and notes on omitted rows and on computed sizes."""
    points, notes = list[SeriesPoint](), list[str]()
    for row in rows:
        said = setup.size if setup.size is not None else _size_named(row.name)
        size = _size_of(row, said)
        point = None if size is None else _point(row, size, test, percentile)
        if point is None:
            notes.append(
                f"line {row.line + 1} left out: its numbers do not determine the size, or are not "
                "a measurement"
            )
        else:
            points.append(point)
            if size != said:
                notes.append(
                    f"the size of {size} bytes is bandwidth / message rate of line {row.line + 1}"
                )
    if any(point.percentiles for point in points):
        notes.append("the percentile covers only the last 2048 samples")
    return points, notes


def _series(
    test: Benchmark, rows: list[LastLine], percentile: str, setup: Setup, incomplete: str
) -> Series:
    points, notes = _points(rows, percentile, setup, test)
    return test.series(
        "ucx_perftest",
        points,
        unit="us; MB = 2^20 bytes",
        window=(setup.window or test.window) if test.window else None,
        protocol=setup.protocol,
        incomplete=incomplete or ("" if points else "no row could be used"),
        notes=notes[:20],
        last_line=max((row.line + 1 for row in rows), default=0),
    )


def _name_of(batch: str, test: str) -> str:
    """Return the test's name: from the names of a batch (``ucp_tag_lat/4096``), otherwise from the
    command, otherwise the batch's name.
    """
    parts = batch.split("/")
    known = [
        part for part in parts if re.search(r"(?:^|_)(?:lat|bw|mr)(?:_|$)|get$|add$|swap$", part)
    ]
    return known[0] if known else test or "/".join(part for part in parts if not part.isdigit())


def _state(page: Page, every: Rows, found: Found, rows: list[LastLine]) -> str:
    if every.cut:
        return every.fault(page)
    if not rows:
        said = f", the last of which shows {found.so_far}" if found.so_far else ""
        return f"no final line after {counted(found.progress, 'line')} of progress{said}"
    late = found.last > rows[-1].line
    return "the text ends in the progress of another test" if late else ""


def _heading(page: Page, start: int, setup: Setup) -> str:
    """Return ``latency`` or ``overhead``, from the line above the column names."""
    above = " ".join(page.lines[max(0, start - 3) : start])
    timed = "latency (usec)" in above or setup.test.endswith(("_lat", "get"))
    return "latency" if timed else "overhead"


def parse(page: Page, start: int) -> Parsed:
    """Parse the table whose heading is on line index ``start``; one series per test of a batch."""
    line = page.lines[start]
    table, csv = _TABLE.search(line), _CSV.search(line)
    told = table or csv
    if told is None:
        return Parsed([], start + 1)
    if table is not None:
        every, found = read(page, start, told.group(1) or "", None)
    else:
        every, found = read(page, start, "", told.group(1).count(","))
    percentile, setup = told.group(2) or "", setup_before(page, start)
    rows = found.rows
    if not found.progress:
        rows = without_progress(rows, setup.iterations or _DEFAULT_ITERATIONS)
    heading, incomplete = _heading(page, start, setup), _state(page, every, found, rows)
    groups = gathered((_name_of(row.name, setup.test), row) for row in rows)
    series = [
        _series(test_of(_name_of(name, setup.test), heading), some, percentile, setup, incomplete)
        for name, some in (groups or {"": []}).items()
    ]
    return Parsed(series, every.after)


ADAPTER = Adapter(
    name="ucx_perftest",
    parse=parse,
)
