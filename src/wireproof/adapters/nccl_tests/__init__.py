"""NVIDIA's and AMD's collective tests: nccl-tests, rccl-tests."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from wireproof.adapters.adapter import Adapter, Parsed, Sign
from wireproof.adapters.nccl_tests.setup import (
    NcclRun,
    bus_factor,
    guessed_name,
    read_end,
    run_before,
)
from wireproof.adapters.options import given, refuse_others
from wireproof.adapters.page import Page
from wireproof.adapters.registry import starts_result
from wireproof.adapters.rows import integer, number, step_of
from wireproof.model.quantity import counted
from wireproof.model.series import Series, SeriesPoint
from wireproof.model.tool import ToolRequest

__all__ = ["ADAPTER"]


# --- nccl-tests and rccl-tests: the tables of all_reduce_perf and its sisters, out of place and in
# place.
#
# GB = 10^9 bytes. Ranks may share a node, so that a table proves nothing of a network unless its
# devices' list names more than one host.

_HEADING = re.compile(r"\bsize +count +type\b([ \w]{0,60}?)( +(?:cpu)?time +algbw +busbw\b.*)$")
_TYPE = re.compile(r"[a-z][a-z0-9_]{1,15}")
_PATIENCE = 3000
_LAST_LINES = 6
_LONGEST_LINE = 500
_ALIKE = 5
_PLACES = ("out-of-place", "in-place")
_FORMULA = (
    "time: mean over iterations and ranks; algorithm bandwidth = size / time; bus bandwidth "
    "(values) = algorithm bandwidth x {factor}, which is what a link would carry"
)


@dataclass(slots=True)
class _NcclTable:
    """``columns`` of a row. ``rows``: words and line index."""

    columns: list[str]
    rows: list[tuple[list[str], int]] = field(default_factory=list)
    torn: int = 0
    cut: bool = False
    after: int = 0


def _columns(line: str) -> list[str]:
    """``time`` and its followers get their place's number: time0, algbw0, busbw0, wrong0, time1
    ...
    """
    columns, place = list[str](), -1
    for word in line.replace("#wrong", " wrong ").replace("#", " ").split():
        name = "time" if word == "cputime" else "wrong" if word == "wrong" else word
        place += name == "time"
        columns.append(
            f"{name}{place}" if name in ("time", "algbw", "busbw", "wrong", "error") else name
        )
    return columns


def _whole(line: str, before: list[str]) -> bool:
    """A last line without a line end counts only if it is as long as the padded rows before it."""
    text = line.rstrip()
    return bool(before) and "  " in text and all(len(one.rstrip()) == len(text) for one in before)


def _is_row(words: list[str]) -> bool:
    sizes = [integer(word) for word in words[:2]]
    return len(words) >= 3 and None not in sizes and _TYPE.fullmatch(words[2]) is not None


class _NcclReader:
    """Reads the rows below a heading and the last lines of the run."""

    def __init__(self, page: Page, start: int, run: NcclRun) -> None:
        heading = _HEADING.search(page.lines[start][:_LONGEST_LINE])
        self.page, self.run = page, run
        self.table = _NcclTable(_columns(heading.group(0) if heading else ""))
        self.idle = 0

    def take(self, index: int) -> bool:
        """Reads one line; False when the table ended before it."""
        line = self.page.lines[index][:_LONGEST_LINE]
        words = line.split()
        if len(words) > 3 and words[0].endswith(":"):
            words = words[1:]
        if words and words[0].isdigit():
            self._numbers(line, words, index)
        elif self.run.ended and "nThread" in line:
            return False
        elif read_end(self.run, line):
            self.idle = max(self.idle, _PATIENCE - _LAST_LINES)
        elif words and starts_result(line):
            return False
        else:
            self.idle += bool(words)
        return True

    def _numbers(self, line: str, words: list[str], index: int) -> None:
        table = self.table
        if self._is_torn(line, index):
            table.cut = True
        elif _is_row(words) and len(words) == len(table.columns):
            table.rows.append((words, index))
            self.idle = 0
        elif _is_row(words):
            table.torn = table.torn or index + 1

    def _is_torn(self, line: str, index: int) -> bool:
        lines = self.page.lines
        if not self.page.cut or index < len(lines) - 1:
            return False
        return not _whole(line, [lines[at] for _, at in self.table.rows[-_ALIKE:]])


def _read(page: Page, start: int, run: NcclRun) -> _NcclTable:
    reader, index = _NcclReader(page, start, run), start + 1
    while index < len(page.lines) and reader.idle <= _PATIENCE and reader.take(index):
        index += 1
    reader.table.after = max(index, start + 1)
    return reader.table


def _point(texts: dict[str, str], place: int, run: NcclRun, line: int) -> SeriesPoint | None:
    """One place of one row; None when it was not measured (N/A), is no number, or sent nothing."""
    names = ("time", "algbw", "busbw", "wrong", "error")
    time, rate, bus, wrong, error = (number(texts.get(f"{name}{place}", "")) for name in names)
    size = integer(texts["size"])
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
    """Bus / algorithm bandwidth where rounding hurts least."""
    known = [point for point in points if point.goodput_bytes_per_s]
    best = max(known, key=lambda point: point.goodput_bytes_per_s or 0.0, default=None)
    return (
        best.values["bus_bytes_per_s"] / (best.goodput_bytes_per_s or 1.0)
        if best is not None
        else None
    )


def _state(page: Page, table: _NcclTable, run: NcclRun, usable: bool) -> str:
    if table.cut:
        return f"line {len(page.lines)}: the text ends inside a row"
    if table.torn:
        return f"line {table.torn}: a row is torn"
    if not table.rows:
        return "no row that can be read follows the heading"
    if not usable:
        return "no row holds a measured time"
    largest = max(integer(words[0]) or 0 for words, _ in table.rows)
    if not run.ended and run.most_bytes is not None and 2 * largest <= run.most_bytes:
        return (
            f"the rows end at {largest} bytes, the run was asked for {run.most_bytes}, and no "
            "last line follows"
        )
    return ""


def _notes(run: NcclRun, program: str, ratio: float | None, left_out: int) -> list[str]:
    notes = _notes_on_hosts(run)
    factor = _factor(run, program)
    if factor is not None and ratio is not None and abs(ratio - factor) > 0.02 * max(factor, 0.5):
        notes.append(
            f"bus / algorithm bandwidth is {ratio:.3f}; {program} over {run.ranks} ranks has "
            f"{factor:.3f}"
        )
    if run.average:
        notes.append(
            f"printed average bus bandwidth: {run.average[:30]} GB/s over all sizes, small ones "
            "included"
        )
    if run.wrong:
        notes.append(f"{counted(run.wrong, 'value')} out of bounds")
    if left_out:
        notes.append(
            f"{counted(left_out, 'row')} left out: not measured, or nothing was sent (0 bytes)"
        )
    return notes


def _notes_on_hosts(run: NcclRun) -> list[str]:
    notes = []
    if len(run.hosts) == 1:
        notes.append(f"all {run.ranks} ranks are on one host: no network was measured")
    if not run.hosts:
        notes.append("no list of devices: how many hosts took part is not known")
    if run.repeated:
        notes.append(
            "a rank is listed more than once: each process ran alone (a build without MPI), no "
            "exchange"
        )
    return notes


def _factor(run: NcclRun, program: str) -> float | None:
    return bus_factor(program, run.ranks) if run.ranks else None


def _series(page: Page, start: int, table: _NcclTable, run: NcclRun, place: int) -> Series:
    rows = [(dict(zip(table.columns, words, strict=True)), line) for words, line in table.rows]
    points = [_point(texts, place, run, line) for texts, line in rows]
    good = [point for point in points if point is not None]
    good.sort(key=lambda point: point.message_bytes)
    first = rows[0][0] if rows else {}
    ratio = _ratio(good)
    guess = guessed_name(first.get("redop", ""), first.get("root", ""), ratio, run.ranks)
    program = run.program or guess
    factor = _factor(run, program)
    incomplete = _state(page, table, run, bool(good))
    return Series(
        tool="nccl_tests",
        version=run.version,
        benchmark=f"{program or 'nccl-tests'} {_PLACES[min(place, 1)]}",
        metric="time",
        traffic="ring" if program.startswith("sendrecv") else "collective",
        points=good,
        formula=_FORMULA.format(
            factor="a factor of the collective" if factor is None else f"{factor:.4g}"
        ),
        unit="us; GB = 10^9 bytes",
        processes=run.ranks,
        complete=not incomplete,
        incomplete=incomplete,
        hosts=run.hosts,
        notes=_notes(run, program, ratio, len(points) - len(good)),
        source=page.source,
        first_line=start + 1,
        last_line=table.rows[-1][1] + 1 if table.rows else start + 1,
    )


def parse(page: Page, start: int) -> Parsed:
    """The table whose column names are on line index ``start``: a series per place (out of place,
    in place).
    """
    if _HEADING.search(page.lines[start][:_LONGEST_LINE]) is None:
        return Parsed([], start + 1)
    run = run_before(page, start)
    table = _read(page, start, run)
    places = sum(name.startswith("time") for name in table.columns)
    return Parsed(
        [_series(page, start, table, run, place) for place in range(min(places, 2))], table.after
    )


def argv(request: ToolRequest) -> tuple[str, ...]:
    """``all_reduce_perf -b 8 -e 134217728 -f 2 -n 20 -g 1``: a range of doubling sizes, one device
    per process.
    """
    refuse_others(request, "nccl-tests", "sizes", "iterations")
    sizes = request.sizes
    options = given(
        ("-b", min(sizes) if sizes else None),
        ("-e", max(sizes) if sizes else None),
        ("-f", 2 if sizes else None),
        ("-n", request.iterations),
        ("-g", None if "-g" in request.extra else 1),
    )
    return (request.program, *options, *request.extra)


ADAPTER = Adapter(
    name="nccl_tests",
    signs=(Sign("algbw", r"\bsize +count +type\b[ \w]{0,60}time +algbw +busbw\b"),),
    parse=parse,
    argv=argv,
)
