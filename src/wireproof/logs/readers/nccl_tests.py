# pure
"""nccl-tests and rccl-tests: the tables of all_reduce_perf and the related programs, out of place
and in place.

GB = 10^9 bytes. Ranks may share a node, so a table proves nothing about a network unless its list
of devices names more than one host.
"""

import re
from dataclasses import dataclass, field
from typing import Any

import msgspec

from wireproof.logs.readers.documents import document_at, items, member, text
from wireproof.logs.readers.page import Page
from wireproof.logs.readers.registry import Adapter, Benchmark, Parsed, starts_result
from wireproof.logs.readers.rows import (
    Facts,
    Rows,
    What,
    above,
    is_padded,
    number,
    scan_rows,
    step_of,
)
from wireproof.model.quantity import counted, whole
from wireproof.model.series import Series, SeriesPoint, Traffic

_HEADING = re.compile(r"\bsize +count +type\b([ \w]{0,60}?)( +(?:cpu)?time +algbw +busbw\b.*)$")
_ROW_COLUMNS = "size count type redop root" + 2 * " time algbw busbw #wrong"
_AGREE = 0.02
_ROW = re.compile(r"\d{1,18} \d{1,18} [a-z][a-z0-9_]{1,15}(?: |$)", re.ASCII)
_PATIENCE = 3000
_LAST_LINES = 6
_LONGEST_LINE = 500
_LONGEST_WORD = 40
_PLACES = ("out-of-place", "in-place")
_FORMULA = (
    "time: mean over iterations and ranks; algorithm bandwidth = size / time; bus bandwidth "
    "(values) = algorithm bandwidth x {factor}, the rate that a link would carry"
)


# --- The lines around a table: the list of devices, the arguments, the program's name, the last
# lines.

_HYPERCUBE = (
    "#wrong is not used: with several devices per thread, hypercube_perf sends before it has "
    "received and fails its check on sound hardware; run it with -g 1 and one process per device"
)
_ALONE = (
    "a rank is listed more than once: each process ran alone (a build without MPI), without "
    "exchanging data"
)
_STARTING = re.compile(r"Collective test (?:starting|concluded): +([\w-]{1,60})")
_NAMES = (
    "all_reduce|all_gather|reduce_scatter|broadcast|reduce|alltoallv?|sendrecv|gather|scatter"
    "|hypercube"
)
_BEFORE = {
    "rank": re.compile(
        r"\bRank +(\d{1,7}) +(?:Group +\d{1,5} +)?Pid +\d{1,10} +on +(\S{1,255}) +device +\d"
    ),
    "arguments": re.compile(
        r"\bnThread +(\d{1,6}) +nGpus +(\d{1,6}) +minBytes +\d{1,18} +maxBytes +(\d{1,18})\b"
        r"(?:.*?(?<!warmup )(?<!agg )\biters: +(\d{1,9}))?"
    ),
    "starting": _STARTING,
    "program": re.compile(rf"(?:^|[\s/'\"=])((?:{_NAMES})_perf)(?:_mpi)?(?=[\s'\"]|$)"),
    "version": re.compile(r"\b(?:nccl|rccl)-tests:? [Vv]ersion:? ?([\w.:-]{1,40})"),
}
_END = {
    "average": re.compile(r"Avg bus bandwidth *: *(\S{1,30})"),
    "wrong": re.compile(r"Out of bounds values *: *(\d{1,18})\b"),
    "named": _STARTING,
}
_TABLE_BEFORE = ("busbw", "Avg bus bandwidth", "concluded")
_TELLING = ("Rank", "_perf", "nThread", "ersion")
_LOOK_BACK = 5000

# multiplied by (n - 1) / n for n ranks
_FACTORS = {
    "all_reduce": 2.0,
    "reduce_scatter": 1.0,
    "all_gather": 1.0,
    "alltoall": 1.0,
    "gather": 1.0,
    "scatter": 1.0,
}


@dataclass(slots=True)
class NcclRun:
    """``hosts``: by rank, without repeats, none if the rows of a single host are part of a list;
    ``repeated``: a rank is listed more than once, so each process ran alone; ``devices``: number
    per thread; ``end``: the content of the last lines.
    """

    program: str
    version: str
    hosts: list[str]
    ranks: int | None
    repeated: bool
    devices: int | None
    most_bytes: int | None
    iterations: int | None
    end: Facts = field(default_factory=lambda: Facts(_END))

    @property
    def ended(self) -> bool:
        """True if one of the last lines was read."""
        return any(self.end.values())


def bus_factor(program: str, ranks: int | None) -> float | None:
    """Return bus bandwidth / algorithm bandwidth as nccl-tests defines it, such as 2 (n - 1) / n
    for all_reduce; None if unknown.
    """
    name = program.removesuffix("_perf").removesuffix("v")
    if not ranks or name in ("broadcast", "reduce", "sendrecv"):
        return 1.0 if ranks else None
    return _FACTORS[name] * (ranks - 1) / ranks if name in _FACTORS else None


def guessed_name(redop: str, root: str, ratio: float | None, ranks: int | None) -> str:
    """Return the program that the columns indicate, if the log does not name it; "" if several
    fit.
    """
    if root.isdigit():
        return "broadcast_perf" if redop in ("", "none") else "reduce_perf"
    if redop in ("", "none") or ratio is None or not ranks or ranks < 2:
        return ""
    for name in ("all_reduce_perf", "reduce_scatter_perf"):
        if abs(ratio - (bus_factor(name, ranks) or 0.0)) < 0.02:
            return name
    return ""


def run_before(page: Page, start: int) -> NcclRun:
    """Read backwards from the table's heading, but not beyond the previous table."""
    lines = above(page, start, _LOOK_BACK, lambda line: any(word in line for word in _TABLE_BEFORE))
    telling = (line[:_LONGEST_LINE] for line in lines if any(word in line for word in _TELLING))
    told = Facts(_BEFORE, telling)
    hosts = {int(rank[1]): rank[2] for rank in reversed(told["rank"])}
    threads, devices = told.number("arguments", 0), told.number("arguments", 0, 2)
    ranks = max(hosts, default=-1) + 1
    names = list(dict.fromkeys(hosts[rank] for rank in sorted(hosts)))
    return NcclRun(
        program=(told.text("starting", 0) or told.text("program", 0)).removesuffix("_mpi"),
        version=told.text("version", 0),
        hosts=names if len(hosts) == ranks or len(names) > 1 else [],
        ranks=ranks or (threads or 0) * (devices or 0) or None,
        repeated=len(told["rank"]) > len(hosts),
        devices=devices,
        most_bytes=told.number("arguments", 0, 3),
        iterations=told.number("arguments", 0, 4),
    )


# --- The table.


def _columns(line: str) -> list[str]:
    """Return the column names; ``time`` and the columns after it get the number of their place (out
    of place, in place): time0, algbw0, busbw0, wrong0, time1 ...
    """
    columns, place = list[str](), -1
    line = line.replace("#wrong", " wrong ").replace("timestamp", "date clock")
    for word in line.replace("#", " ").replace(",", " ").split():
        name = "time" if word == "cputime" else "wrong" if word == "wrong" else word
        place += name == "time"
        columns.append(
            f"{name}{place}" if name in ("time", "algbw", "busbw", "wrong", "error") else name
        )
    return columns


def _read(page: Page, start: int, columns: list[str], run: NcclRun) -> Rows:
    """Return the rows below a heading, and record the last lines of the run."""

    def take(rows: Rows, index: int) -> list[str] | What:
        line = page.lines[index][:_LONGEST_LINE].replace(",", " ")
        words = line.split()
        if len(words) > 3 and words[0].endswith(":"):
            words = words[1:]
        if words and words[0].isdigit():
            if index == page.ragged and not is_padded(line, rows, page):
                return "cut"
            if not _ROW.match(" ".join(words)):
                return "skipped"
            words = _with_operation(words, columns)
            return words if len(words) == len(columns) else "torn"
        if run.ended and "nThread" in line:
            return "end"
        if run.end.take(line):
            rows.idle = max(rows.idle, _PATIENCE - _LAST_LINES)
            return "skipped"
        if words and starts_result(line):
            return "end"
        return "foreign" if words else "skipped"

    return scan_rows(page, start + 1, take, _PATIENCE)


def _with_operation(words: list[str], columns: list[str]) -> list[str]:
    """Return the words of a row with "" for the operation that old all-to-all tests leave blank."""
    at = columns.index("redop") if "redop" in columns else len(words)
    if len(words) != len(columns) - 1 or not words[at:] or number(words[at]) is None:
        return words
    return [*words[:at], "", *words[at:]]


def _point(texts: dict[str, str], place: int, run: NcclRun, line: int) -> SeriesPoint | None:
    """Return one place of one row; None if it was not measured (N/A), is not a number, or sent
    nothing.
    """
    names = ("time", "algbw", "busbw", "wrong", "error")
    time, rate, bus, wrong, error = (number(texts.get(f"{name}{place}", "")) for name in names)
    size = whole(texts["size"])
    if not size or not time or rate is None or bus is None or min(time, rate, bus) < 0:
        return None
    return SeriesPoint(
        message_bytes=size,
        time_ns=time * 1e3,
        goodput_bytes_per_s=rate * 1e9,
        iterations=run.iterations,
        time_step_ns=step_of(texts[f"time{place}"]) * 1e3,
        goodput_step=step_of(texts[f"algbw{place}"]) * 1e9,
        values={"bus_bytes_per_s": bus * 1e9} | ({} if error is None else {"error": error}),
        valid=None if wrong is None else wrong == 0,
        line=line + 1,
    )


def _ratio(points: list[SeriesPoint]) -> float | None:
    """Return bus / algorithm bandwidth for the point with the smallest rounding error."""
    known = [point for point in points if point.goodput_bytes_per_s]
    best = max(known, key=lambda point: point.goodput_bytes_per_s or 0.0, default=None)
    return (
        best.values["bus_bytes_per_s"] / (best.goodput_bytes_per_s or 1.0)
        if best is not None
        else None
    )


def _state(page: Page, rows: Rows, run: NcclRun, usable: bool) -> str:
    fault = rows.fault(page)
    if fault:
        return fault
    if not rows.fields:
        return "no readable row follows the heading"
    if not usable:
        return "no row contains a measured time"
    largest = max(whole(words[0]) or 0 for words in rows.fields)
    if not run.ended and run.most_bytes is not None and 2 * largest <= run.most_bytes:
        return (
            f"the rows end at {largest} bytes, but the run was to reach {run.most_bytes}, and no "
            "last line follows"
        )
    return ""


def _notes(run: NcclRun, program: str, ratio: float | None, left_out: int) -> list[str]:
    on_hosts = (
        (len(run.hosts) == 1, f"all {run.ranks} ranks are on one host: no network was measured"),
        (not run.hosts, "the list of devices is not complete: the number of hosts is unknown"),
        (run.repeated, _ALONE),
    )
    notes = [text for holds, text in on_hosts if holds]
    factor = bus_factor(program, run.ranks)
    if factor is not None and ratio is not None and abs(ratio - factor) > 0.02 * max(factor, 0.5):
        notes.append(
            f"bus / algorithm bandwidth is {ratio:.3f}; {program} over {run.ranks} ranks has "
            f"{factor:.3f}"
        )
    if average := run.end.text("average"):
        notes.append(
            f"printed average bus bandwidth: {average} GB/s over all sizes, small ones included"
        )
    if _checks_itself_wrong(run, program):
        notes.append(_HYPERCUBE)
    if wrong := run.end.number("wrong"):
        notes.append(f"{counted(wrong, 'value')} out of bounds")
    if left_out:
        notes.append(
            f"{counted(left_out, 'row')} left out: not measured, or nothing was sent (0 bytes)"
        )
    return notes


def _checks_itself_wrong(run: NcclRun, program: str) -> bool:
    """Return True if the program's check fails on healthy hardware. With several devices per
    thread, all steps of the hypercube are in one group (issue 190 of nccl-tests): from the second
    step on, a rank sends what it has not received yet.
    """
    several = (run.devices or 1) > 1
    return program.startswith("hypercube") and several and (run.ranks or 0) > 2


def _series(page: Page, columns: list[str], found: Rows, run: NcclRun, place: int) -> Series:
    rows = [dict(zip(columns, words, strict=True)) for words in found.fields]
    read = (_point(row, place, run, at) for row, at in zip(rows, found.lines, strict=True))
    good = sorted(filter(None, read), key=lambda point: point.message_bytes)
    if _checks_itself_wrong(run, run.program):
        good = [msgspec.structs.replace(point, valid=None) for point in good]
    first = rows[0] if rows else {}
    ratio = _ratio(good)
    guess = guessed_name(first.get("redop", ""), first.get("root", ""), ratio, run.ranks)
    program = run.program or guess
    factor = bus_factor(program, run.ranks)
    formula = _FORMULA.format(
        factor="a factor of the collective" if factor is None else f"{factor:.4g}"
    )
    traffic: Traffic = "ring" if program.startswith("sendrecv") else "collective"
    name = f"{program or 'nccl-tests'} {_PLACES[min(place, 1)]}"
    return Benchmark(name, "time", traffic, formula).series(
        "nccl_tests",
        good,
        version=run.version,
        unit="us; GB = 10^9 bytes",
        processes=run.ranks,
        incomplete=_state(page, found, run, bool(good)),
        hosts=run.hosts,
        notes=_notes(run, program, ratio, len(rows) - len(good)),
        last_line=found.last_line,
    )


def parse(page: Page, start: int) -> Parsed:
    """Parse the table whose column names are on line index ``start``: a series per place (out of
    place, in place).

    Its first row may be on that line instead: the columns are then those of the current programs,
    if the arithmetic of the rows confirms it.
    """
    if '"start_time"' in page.lines[start][:_LONGEST_LINE]:
        return _of_document(page, start)
    heading = _HEADING.search(page.lines[start][:_LONGEST_LINE])
    run, columns = run_before(page, start), _columns(heading.group() if heading else _ROW_COLUMNS)
    rows = _read(page, start if heading else start - 1, columns, run)
    run.program = run.program or run.end.text("named", 0)
    told = [_by_arithmetic(words, columns) for words in rows.fields if heading is None]
    if heading is None and not (told and all(told)):
        return Parsed([], start + 1)
    places = range(min(sum(name.startswith("time") for name in columns), 2))
    return Parsed([_series(page, columns, rows, run, place) for place in places], rows.after)


def _by_arithmetic(words: list[str], columns: list[str]) -> bool:
    """Return True if size / time is the algorithm bandwidth, within the printed digits."""
    row = dict(zip(columns, words, strict=True))
    size, time, rate = (number(row[name]) for name in ("size", "time0", "algbw0"))
    if size is None or not time or rate is None:
        return False
    true = size / time / 1e3
    hidden = step_of(row["algbw0"]) + true * step_of(row["time0"]) / time
    return abs(rate - true) <= hidden + _AGREE * true


# --- The document that the programs write beside their table (-J FILE): its values become the lines
# of a table, so that both are read in the same way.

_DOCUMENT = re.compile(r'"version" ?: ?\d{1,3}, *')


def _as_printed(value: dict[str, Any]) -> list[str]:
    """Return lines with the same content as the document; the heading is the first."""
    config, end = member(value, "config"), member(value, "average_bus_bandwidth")
    sizes = f"nGpus {config.get('ngpus')} minBytes 0 maxBytes {config.get('maximum_bytes')}"
    begin = [
        f"nThread {config.get('nthreads')} {sizes} iters: {config.get('iterations')}",
        *map(text, items(value.get("args"))),
        *(
            f"Rank {one.get('rank')} Pid 1 on {text(one.get('hostname'))} device 0"
            for one in map(member, items(config.get("devices")))
        ),
    ]
    wrong = f"Out of bounds values : {member(value, 'out_of_bounds').get('count')}"
    last = [wrong, f"Avg bus bandwidth : {end.get('bandwidth')}"] if end else []
    return [*begin, _ROW_COLUMNS, *map(_row, items(value.get("results"))), *last]


def _row(result: object) -> str:
    words = [member(result).get(name) for name in ("size", "count", "type", "redop", "root")]
    for place in ("out_of_place", "in_place"):
        cells = {"time": member(result, place).get("cpu_time")} | member(result, place)
        words += [cells.get(name) for name in ("time", "alg_bw", "bus_bw", "nwrong")]
    return " ".join("N/A" if word is None else str(word)[:_LONGEST_WORD].strip() for word in words)


def _of_document(page: Page, start: int) -> Parsed:
    """Parse the document whose first member, or the one after it, is on line index ``start``."""
    begin = start if _DOCUMENT.search(page.lines[start]) else max(0, start - 1)
    document = document_at(page, begin, _DOCUMENT)
    if '"nccl_version"' not in "".join(page.lines[begin : document.after]):
        return Parsed([], start + 1)
    lines = _as_printed(document.value or {})
    read = parse(Page(page.source, lines, cut=False), lines.index(_ROW_COLUMNS)).series
    last = document.after
    return Parsed([_placed(one, document.why, begin + 1, last) for one in read], last)


def _placed(one: Series, why: str, first: int, last: int) -> Series:
    points = [msgspec.structs.replace(point, line=first) for point in one.points]
    return msgspec.structs.replace(
        one, points=points, incomplete=why or one.incomplete, first_line=first, last_line=last
    )


ADAPTER = Adapter(
    name="nccl_tests",
    parse=parse,
)
