"""ucx_perftest: only the last line of a test counts, the lines before it are progress. MB = 2^20
bytes.

The client's table says neither the test nor the size: they are in the command or in the server's
box. The size is also bandwidth / message rate, which is held against what the command says.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

from wireproof.adapters.adapter import Adapter, Parsed, Sign
from wireproof.adapters.benchmark import Benchmark
from wireproof.adapters.options import given, one_size, refuse_others, server_of
from wireproof.adapters.page import Page
from wireproof.adapters.registry import starts_result
from wireproof.adapters.rows import number, step_of, times
from wireproof.adapters.ucx_perftest.benchmarks import test_of
from wireproof.adapters.ucx_perftest.setup import Setup, setup_before
from wireproof.model.series import Series, SeriesPoint
from wireproof.model.tool import ToolRequest

__all__ = ["ADAPTER"]

_TABLE = re.compile(
    r"(Stage|Test)? *# iterations +(?:typical|(\d{1,3}\.\d)%ile) +average +overall +average"
    r" +overall"
)
_CSV = re.compile(
    r"((?:[\w.+-]{1,80},){0,32})iterations,(?:typical"
    r"|(\d{1,3}\.\d)_percentile)_lat,avg_lat,overall_lat,"
)
_BATCH = re.compile(r"^\s*\+([A-Za-z0-9_][\w/.]{0,80})-+(?:\+|$)")
_THREAD = re.compile(r"^\s*\[thread \d{1,4}\]")
_GROUPED = re.compile(r"\d{1,3}(?:,\d{3}){1,5}")
_LONGEST_LINE = 500
_PATIENCE = 2000  # UCX_PROTO_INFO=y prints a table per protocol between the heading and the result
_MIB = float(1 << 20)
_SIZE_IN_NAME = re.compile(r"(?:^|[_/])(\d{1,12})([kKmMgG]?)(?=$|[_/])")
_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
_DEFAULT_ITERATIONS = 1_000_000
_COLUMNS = 8
_THREADED = 4
_DECIMALS = {(0, 3, 3, 3, 2, 2, 0, 0), (0, 3, 2, 0)}
"""Digits after the point of each column, of one thread and of several."""


@dataclass(frozen=True, slots=True)
class _Row:
    """A last line. ``texts``: iterations, percentile, average, overall time, then bandwidth and
    rate in pairs.

    ``marked``: the program itself says that it is the last one.
    """

    name: str
    texts: list[str]
    line: int
    marked: bool = True

    @property
    def overall(self) -> tuple[str, str, str]:
        """Overall time (us), bandwidth (MiB/s), messages per second."""
        if len(self.texts) == _THREADED:
            return self.texts[1], self.texts[2], self.texts[3]
        return self.texts[3], self.texts[5], self.texts[7]


@dataclass(frozen=True, slots=True)
class _Table:
    heading: str
    percentile: str
    incomplete: str


@dataclass(slots=True)
class _Found:
    rows: list[_Row] = field(default_factory=list)
    progress: int = 0
    cut: bool = False
    after: int = 0
    last: int = 0


def _plain(word: str) -> str:
    return word.replace(",", "") if _GROUPED.fullmatch(word) else word


def _is_whole(texts: list[str]) -> bool:
    """Rate x time = 1 in every row: a last line without a line end is believed only if this still
    holds.
    """
    if len(texts) != _COLUMNS:
        return False
    time, rate = number(texts[-5]), number(texts[-1])
    if not time or not rate:
        return False
    return abs(time * 1e-6 * rate - 1) <= 0.01 + 0.5e-6 * time


def _row_of(line: str, heading: str, index: int) -> _Row | None:
    """The last line of a test: ``Final:`` and numbers; under ``Test`` an optional name and
    numbers.
    """
    words = line.split()
    first = next((at for at, word in enumerate(words) if number(_plain(word)) is not None), None)
    if first is None:
        return None
    names = words[:first]
    texts = [_plain(word) for word in words[first : first + _COLUMNS]]
    if any(number(text) is None for text in texts[_THREADED:]):
        texts = texts[:_THREADED]
    named = heading == "Test" and len(names) <= 1
    final = named or names == ["Final:"]
    if not _fits(texts) or not (final or not names):
        return None
    return _Row(names[0] if names and heading == "Test" else "", texts, index, final)


def _fits(texts: list[str]) -> bool:
    """Every column a number with the digits that the program prints: a row torn in its middle has
    others.
    """
    shape = tuple(len(text.partition(".")[2]) for text in texts)
    return shape in _DECIMALS and all(number(text) is not None for text in texts)


def _csv_row(line: str, names: int, index: int) -> _Row | None:
    """The batch files' names and the numbers; some versions write ``Final:`` before the first
    number.
    """
    cells = [cell.strip() for cell in line.split(",")]
    texts = cells[names:]
    final = bool(texts) and texts[0].startswith("Final:")
    texts = [texts[0].removeprefix("Final:").strip(), *texts[1:]] if final else texts
    return _Row("/".join(cells[:names])[:160], texts, index, final) if _fits(texts) else None


class _Reader:
    """Collects the last lines of all tests under one heading. ``csv_names``: columns of names
    before the numbers, None in a table of blanks.
    """

    def __init__(self, page: Page, start: int, heading: str, csv_names: int | None) -> None:
        self.page, self.heading, self.csv_names = page, heading, csv_names
        self.found = _Found(last=start)
        self.batch = ""
        self.idle = 0
        self.final = len(page.lines) - 1 if page.cut else None
        """The index of a last line that may be torn."""

    def take(self, index: int) -> bool:
        """Reads one line; False when another result starts there."""
        line = self.page.lines[index][:_LONGEST_LINE]
        if _THREAD.match(line) or ",[thread " in line:
            self.found.progress += 1
            self._reached(index)
            return self._foreign(line, index)
        row = self._row(line, index)
        if row is None:
            return self._foreign(line, index)
        if index == self.final and not _is_whole(row.texts):
            self.found.cut = True
        else:
            self.found.rows.append(_Row(row.name or self.batch, row.texts, index, row.marked))
            self._reached(index)
        return True

    def _reached(self, index: int) -> None:
        self.found.last, self.idle = index, 0

    def _row(self, line: str, index: int) -> _Row | None:
        if self.csv_names is not None:
            return _csv_row(line, self.csv_names, index) if "," in line else None
        named = _BATCH.match(line)
        if named is not None:
            self.batch = named.group(1)
            return None
        return _row_of(line, self.heading, index)

    def _foreign(self, line: str, index: int) -> bool:
        if line.strip() and starts_result(line):
            return False
        self.found.cut |= index == self.final and _begins_row(line)
        self.idle += bool(line.strip())
        return True


def _read(page: Page, start: int, heading: str, csv_names: int | None) -> _Found:
    reader = _Reader(page, start, heading, csv_names)
    index = start + 1
    while index < len(page.lines) and reader.idle <= _PATIENCE and reader.take(index):
        index += 1
    reader.found.after = index
    return reader.found


def _begins_row(line: str) -> bool:
    first = line.split()[:1]
    return bool(first) and ("Final:".startswith(first[0]) or first[0][0].isdigit())


def _without_progress(rows: list[_Row], wanted: int) -> list[_Row]:
    """Of unmarked lines with a growing count, which old versions print, only those that reached the
    count asked for.
    """
    counts = [number(row.texts[0]) or 0.0 for row in rows]
    names = Counter(row.name for row in rows)
    alone = {name for name, times in names.items() if times == 1}
    pairs = zip(rows, counts, strict=True)
    return [row for row, count in pairs if row.marked or row.name in alone or count >= wanted]


def _size_of(row: _Row, said: int | None) -> int | None:
    """Bytes of a message: bandwidth / rate, where ``said`` wins if it fits. None when rounding
    leaves it open.
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
    return round(size) if doubt < 0.5 else _power_of_two(size, doubt)


def _power_of_two(size: float, doubt: float) -> int | None:
    """The only power of two that is within ``doubt`` of ``size``."""
    powers = [1 << bit for bit in range(48) if abs((1 << bit) - size) <= doubt]
    return powers[0] if len(powers) == 1 else None


def _size_named(name: str) -> int | None:
    """The size that a batch's line is named after: ``lat_8``, ``bw_64k``, ``4096``."""
    found = _SIZE_IN_NAME.findall(name)
    return int(found[-1][0]) * _UNITS[found[-1][1].lower()] if found else None


def _point(row: _Row, size: int, test: Benchmark, percentile: str) -> SeriesPoint | None:
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


def _tail(row: _Row, percentile: str) -> dict[str, float]:
    tail = number(row.texts[1]) if len(row.texts) == _COLUMNS and percentile else None
    if tail is None or tail < 0:
        return {}
    return {f"p{percentile.removesuffix('.0')}": tail * 1e3}


def _points(
    rows: list[_Row], table: _Table, setup: Setup, test: Benchmark
) -> tuple[list[SeriesPoint], list[str]]:
    """The points of a test, and what is said of rows that are left out or of computed sizes."""
    points, notes = list[SeriesPoint](), list[str]()
    for row in rows:
        said = setup.size if setup.size is not None else _size_named(row.name)
        size = _size_of(row, said)
        point = None if size is None else _point(row, size, test, table.percentile)
        if point is None:
            notes.append(
                f"line {row.line + 1} left out: its numbers leave the size open, or are no "
                "measurement"
            )
        else:
            points.append(point)
            if size != said:
                notes.append(f"{size} bytes is bandwidth / message rate of line {row.line + 1}")
    if any(point.percentiles for point in points):
        notes.append("the percentile is of the last 2048 samples only")
    return sorted(points, key=lambda point: point.message_bytes), notes


def _series(
    page: Page, start: int, name: str, rows: list[_Row], table: _Table, setup: Setup
) -> Series:
    test = test_of(_name_of(name, setup.test), table.heading)
    points, notes = _points(rows, table, setup, test)
    incomplete = table.incomplete or ("" if points else "no row could be used")
    return Series(
        tool="ucx_perftest",
        benchmark=test.name,
        metric=test.metric,
        traffic=test.traffic,
        points=points,
        formula=test.formula,
        unit="us; MB = 2^20 bytes",
        waits=test.waits,
        window=(setup.window or test.window) if test.window else None,
        protocol=setup.protocol,
        complete=not incomplete,
        incomplete=incomplete,
        notes=notes[:20],
        source=page.source,
        first_line=start + 1,
        last_line=max([row.line for row in rows] or [start]) + 1,
    )


def _name_of(batch: str, test: str) -> str:
    """The test's name within the names of a batch (``ucp_tag_lat/4096``), else the command's, else
    the batch's.
    """
    parts = batch.split("/")
    known = [
        part for part in parts if re.search(r"(?:^|_)(?:lat|bw|mr)(?:_|$)|get$|add$|swap$", part)
    ]
    return known[0] if known else test or "/".join(part for part in parts if not part.isdigit())


def _state(page: Page, found: _Found, rows: list[_Row]) -> str:
    if found.cut:
        return f"line {len(page.lines)}: the text ends inside a row"
    if not rows:
        return f"no final line after {found.progress} lines of progress"
    late = found.last > rows[-1].line
    return "the text ends in the progress of another test" if late else ""


def _heading(page: Page, start: int, setup: Setup) -> str:
    """``latency`` or ``overhead``, as the line above the column names says."""
    above = " ".join(page.lines[max(0, start - 3) : start])
    timed = "latency (usec)" in above or setup.test.endswith(("_lat", "get"))
    return "latency" if timed else "overhead"


def parse(page: Page, start: int) -> Parsed:
    """The table whose heading is on line index ``start``; one series per test of a batch."""
    line = page.lines[start]
    table, csv = _TABLE.search(line), _CSV.search(line)
    if table is not None:
        found = _read(page, start, table.group(1) or "", None)
        percentile = table.group(2) or ""
    elif csv is not None:
        found = _read(page, start, "", csv.group(1).count(","))
        percentile = csv.group(2) or ""
    else:
        return Parsed([], start + 1)
    setup = setup_before(page, start)
    rows = found.rows
    if not found.progress:
        rows = _without_progress(rows, setup.iterations or _DEFAULT_ITERATIONS)
    about = _Table(_heading(page, start, setup), percentile, _state(page, found, rows))
    groups: dict[str, list[_Row]] = {}
    for row in rows:
        groups.setdefault(_name_of(row.name, setup.test), []).append(row)
    series = [
        _series(page, start, name, some, about, setup)
        for name, some in (groups or {"": []}).items()
    ]
    return Parsed(series, max(found.after, start + 1))


def argv(request: ToolRequest) -> tuple[str, ...]:
    """``ucx_perftest n1 -t tag_bw -s 1048576 -n 10000 -c 2``; the network is chosen by
    UCX_NET_DEVICES, not here.
    """
    refuse_others(request, "ucx_perftest", "server", "port", "sizes", "iterations", "window", "cpu")
    size = one_size(request, "ucx_perftest measures one size a run")
    server = server_of(request, "ucx_perftest")
    test = given(
        ("-t", request.benchmark or "tag_lat"),
        ("-s", size),
        ("-n", request.iterations),
        ("-O", request.window),
    )
    own = [server, *test] if server else []
    options = given(("-p", request.port), ("-c", request.cpu))
    return (request.program, *own, *options, *request.extra)


ADAPTER = Adapter(
    name="ucx_perftest",
    signs=(
        Sign("# iterations", r"# iterations +(?:typical|\d{1,3}\.\d%ile) +average"),
        Sign("iterations,", r"\biterations,(?:typical|\d{1,3}\.\d_percentile)_lat,"),
    ),
    parse=parse,
    argv=argv,
)
