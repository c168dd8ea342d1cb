# pure
"""libfabric's fabtests."""

import re

from msgspec.structs import replace

from wireproof.logs.readers.fi_pingpong import (
    FabricRow,
    command_before,
    points_of,
    read_fabric_rows,
)
from wireproof.logs.readers.page import Page
from wireproof.logs.readers.registry import Adapter, Benchmark, Parsed, option_of, starts_result
from wireproof.logs.readers.rows import Rows, What, number, scaled, scan_rows, step_of
from wireproof.model.quantity import counted, whole
from wireproof.model.series import Series, SeriesPoint

# --- The fabtests of libfabric (fi_rdm_pingpong, fi_rdm_bw, fi_rma_bw ...): tables and ``-m``
# machine lines. MB = 10^6 bytes; the clock is truncated to whole microseconds. Only the command
# before the table names the test.

# --- The tests of libfabric's fabtests: the operation that each times, and the formula of the
# printed number.

# never fi_getinfo() and similar calls, which fill logs: only a program's name identifies its test
PROGRAM = re.compile(
    r"(?:^|[\s/'\"$=])(fi_(?:[a-z0-9]{1,12}_){0,4}(?:pingpong|bw|bw_mt|rma|atomic|latency|lat"
    r"|mr)(?:_[a-z0-9]{1,12}){0,2})(?=\s|$|:)"
)


_PINGPONG = Benchmark(
    "",
    "half_round_trip",
    "pingpong",
    "elapsed / (2 x iterations): half of a mean round trip; MB/sec = 2 x iterations x size / "
    "elapsed",
    waits=True,
)
_STREAM = Benchmark(
    "",
    "bandwidth",
    "stream",
    "iterations x size / elapsed; each window of messages ends with a short reply",
    window=64,
)
_BOTH = (
    "iterations x size / elapsed of this side; the other side does the same at the same time and "
    "prints its result"
)


def _rma(rest: str) -> Benchmark:
    operation = re.search(r"-o ?(writedata|write|read)\b", rest)
    what = operation.group(1) if operation else "write"
    if what == "writedata":
        text = "iterations x size / elapsed; one side writes"
        return Benchmark("", "bandwidth", "put", text, window=64)
    return Benchmark("", "bandwidth", "get" if what == "read" else "put", _BOTH, window=64)


def test_of(program: str, rest: str, transfers: int) -> Benchmark:
    """Return the test that the program's name indicates; without a name, the bytes per iteration
    (``transfers``) decide.
    """
    if "atomic" in program:
        return Benchmark("", "latency", "atomic", "elapsed / iterations of one atomic operation")
    if "rma" in program and "pingpong" not in program:
        return _rma(rest)
    if "pingpong" in program or program.endswith(("_lat", "_latency")):
        return _PINGPONG
    if "_bw" in program:
        return _STREAM
    return _PINGPONG if transfers == 2 else _STREAM


_HEADING = re.compile(
    r"(name +)?\bbytes +(xfers +)?iters +total +time +([MG])([Bb])/sec +usec/xfer( +Mxfers/sec)?"
)
_MACHINE = re.compile(r"xfer_size: *(\d{1,18}),")
_FIELDS = re.compile(
    r"(iterations|total|time|MB/sec|usec/xfer|Mxfers/sec): ?(-?[0-9.]{1,30}|-?inf|-?nan)"
)
_COLUMNS = ["bytes", "count", "total", "time", "rate", "usec"]


def _transfers(size: int, iterations: int, total: int) -> int:
    """Return 2 if the bytes of an iteration went both ways, otherwise 1: total / (size x
    iterations).
    """
    return 2 if size and iterations and total > 1.5 * size * iterations else 1


def _series(
    name: str,
    rest: str,
    test: Benchmark,
    points: list[SeriesPoint],
    incomplete: str,
    notes: list[str],
) -> Series:
    window = whole(option_of(rest, "W")) or test.window
    provider = option_of(rest, "p")
    above = [f"provider {provider} (from the command line)"] if provider else []
    if not name:
        above.append("the test's name is not in the log: judged by its bytes per iteration")
    missing = "" if points else "no readable row follows the heading"
    return test.series(
        "fabtests",
        points,
        benchmark=name or f"fabtests {test.traffic}",
        unit="us; MB = 10^6 bytes; in tables sizes 1k = 1024 bytes, two digits",
        window=window if test.window else None,
        incomplete=incomplete or missing,
        notes=[*above, *notes],
    )


def _parse_table(page: Page, start: int, heading: re.Match[str]) -> Parsed:
    """Return one series per name in the rows (such as an operation), or a single series if rows
    have no names.
    """
    columns = [*_COLUMNS, *(["mxfers"] if heading.group(5) else [])]
    if heading.group(2):
        columns.insert(1, "xfers")
    found, rows = read_fabric_rows(page, start + 1, columns, heading.group(1) is not None)
    program, rest = command_before(page, start, PROGRAM)
    groups: dict[str, list[FabricRow]] = {} if rows else {"": []}
    for row in rows:
        groups.setdefault(row.name, []).append(row)
    series = []
    for name, some in groups.items():
        known = [_transfers(row.size, row.iterations, row.total_bytes) for row in some if row.size]
        test = test_of(program, rest, _most_frequent(known))
        transfers = 2 if test.half_round_trip else 1
        points, notes = points_of(some, transfers, _rate_unit(heading))
        title = f"{program} {name}".strip()
        series.append(_series(title, rest, test, points, found.fault(page), notes))
    return Parsed(series, found.after)


def _rate_unit(heading: re.Match[str]) -> float:
    """Return bytes per second for one unit of the rate column: MB/sec, or Gb/sec in old
    versions.
    """
    return (1e6 if heading.group(3) == "M" else 1e9) / (8.0 if heading.group(4) == "b" else 1.0)


_NEEDED = {"iterations", "total", "MB/sec", "usec/xfer"}


def _machine_point(line: str, index: int) -> tuple[SeriesPoint | None, int] | None:
    """Return (point, transfers) of a ``-m`` line; None if the line is incomplete, point None if a
    value is absurd.
    """
    size = _MACHINE.search(line)
    texts = dict(_FIELDS.findall(line))
    if size is None or "}" not in line[size.end() :] or not texts.keys() >= _NEEDED:
        return None
    count, total = whole(texts["iterations"]), whole(texts["total"])
    rate, time = number(texts["MB/sec"]), number(texts["usec/xfer"])
    messages = number(texts.get("Mxfers/sec", "0"))
    if not count or total is None or messages is None or rate is None or rate < 0:
        return None, 0
    if not time or time < 0:
        return None, 0
    transfers = _transfers(int(size.group(1)), count, total)
    point = SeriesPoint(
        message_bytes=int(size.group(1)),
        time_ns=scaled(time, 1e3),
        goodput_bytes_per_s=scaled(rate, 1e6),
        messages_per_s=messages * 1e6 if messages > 0 else None,
        iterations=count,
        time_step_ns=max(step_of(texts["usec/xfer"]) * 1e3, 1e3 / (count * transfers)),
        goodput_step=step_of(texts["MB/sec"]) * 1e6,
        line=index + 1,
    )
    return point, transfers


def _most_frequent(counts: list[int]) -> int:
    return max(set(counts), key=counts.count) if counts else 1


def _parse_machine(page: Page, start: int) -> Parsed:
    """Parse consecutive ``-m`` lines; the command precedes the first line, after ``---``."""
    known: list[tuple[SeriesPoint | None, int]] = []

    def take(rows: Rows, index: int) -> list[str] | What:
        line = page.lines[index]
        found = _machine_point(line, index) if _MACHINE.search(line) else None
        if found is not None:
            known.append(found)
            return [line]
        if "xfer_size" in line:
            return "torn"
        if line.strip() == "---" or starts_result(line):
            return "end"
        return "foreign" if line.strip() else "skipped"

    rows = scan_rows(page, start, take)
    program, rest = command_before(page, start, PROGRAM)
    good = [(point, transfers) for point, transfers in known if point is not None]
    test = test_of(program, rest, _most_frequent([transfers for _, transfers in good]))
    points = [point for point, _ in good]
    if test.half_round_trip:
        points = [replace(point, hrt_ns=point.time_ns, time_ns=None) for point in points]
    odd = len(known) - len(good)
    left_out = f"{counted(odd, 'row')} left out: an impossible value"
    notes = [left_out] if odd else []
    return Parsed([_series(program, rest, test, points, rows.fault(page), notes)], rows.after)


def parse(page: Page, start: int) -> Parsed:
    """Parse the table or the machine lines that begin on line index ``start``."""
    heading = _HEADING.search(page.lines[start])
    if heading is not None:
        return _parse_table(page, start, heading)
    if _MACHINE.search(page.lines[start]) is not None:
        return _parse_machine(page, start)
    return Parsed([], start + 1)


ADAPTER = Adapter(
    name="fabtests",
    parse=parse,
)
