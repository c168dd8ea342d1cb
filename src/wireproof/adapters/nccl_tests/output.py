"""nccl-tests and rccl-tests: the tables of all_reduce_perf and its sisters, out of place and in
place.

GB = 10^9 bytes. Ranks may share a node, so that a table proves nothing of a network unless its
devices' list names more than one host.
"""

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
from wireproof.adapters.options import refuse_others
from wireproof.adapters.page import Page
from wireproof.adapters.registry import starts_result
from wireproof.adapters.rows import integer, number, step_of
from wireproof.model.series import Series, SeriesPoint
from wireproof.model.tool import ToolRequest

__all__ = ["ADAPTER"]

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
class _Table:
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


def _read(page: Page, start: int, run: NcclRun) -> _Table:
    heading = _HEADING.search(page.lines[start][:_LONGEST_LINE])
    table, lines, idle = _Table(_columns(heading.group(0) if heading else "")), page.lines, 0
    index, last = start + 1, len(page.lines) - 1
    while index <= last and idle <= _PATIENCE:
        line = lines[index][:_LONGEST_LINE]
        words = line.split()
        if len(words) > 3 and words[0].endswith(":"):
            words = words[1:]
        if words and words[0].isdigit():
            torn = (
                index == last
                and page.cut
                and not _whole(line, [lines[at] for _, at in table.rows[-_ALIKE:]])
            )
            if torn:
                table.cut = True
            elif _is_row(words) and len(words) == len(table.columns):
                table.rows.append((words, index))
                idle = 0
            elif _is_row(words):
                table.torn = table.torn or index + 1
        elif run.ended and "nThread" in line:
            break
        elif read_end(run, line):
            idle = max(idle, _PATIENCE - _LAST_LINES)
        elif words and starts_result(line):
            break
        else:
            idle += bool(words)
        index += 1
    table.after = max(index, start + 1)
    return table


def _point(texts: dict[str, str], place: int, run: NcclRun, line: int) -> SeriesPoint | None:
    """One place of one row; None when it was not measured (N/A), is no number, or sent nothing."""
    time, rate = number(texts.get(f"time{place}", "")), number(texts.get(f"algbw{place}", ""))
    bus = number(texts.get(f"busbw{place}", ""))
    size = integer(texts["size"])
    if not size or time is None or rate is None or bus is None or time <= 0 or rate < 0 or bus < 0:
        return None
    wrong = texts.get(f"wrong{place}", "")
    error = number(texts.get(f"error{place}", ""))
    return SeriesPoint(
        message_bytes=size,
        time_ns=time * 1e3,
        goodput_bytes_per_s=rate * 1e9,
        iterations=run.iterations,
        time_step_ns=step_of(texts[f"time{place}"]) * 1e3,
        goodput_step=step_of(texts[f"algbw{place}"]) * 1e9,
        values={"bus_bytes_per_s": bus * 1e9} | ({"error": error} if error is not None else {}),
        valid=None if number(wrong) is None else number(wrong) == 0,
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


def _state(page: Page, table: _Table, run: NcclRun, usable: bool) -> str:
    if table.cut:
        return f"line {len(page.lines)}: the text ends inside a row"
    if table.torn:
        return f"line {table.torn}: a row is torn"
    if not table.rows:
        return "no row follows the heading"
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
    factor = bus_factor(program, run.ranks) if run.ranks else None
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
        notes.append(f"{run.wrong} values out of bounds")
    if left_out:
        notes.append(f"{left_out} rows left out: not measured, or nothing was sent (0 bytes)")
    return notes


def _series(page: Page, start: int, table: _Table, run: NcclRun, place: int) -> Series:
    texts = [dict(zip(table.columns, words, strict=True)) for words, _ in table.rows]
    points = [
        _point(row, place, run, line) for row, (_, line) in zip(texts, table.rows, strict=True)
    ]
    good = sorted(
        (point for point in points if point is not None), key=lambda point: point.message_bytes
    )
    first = texts[0] if texts else {}
    ratio = _ratio(good)
    program = run.program or guessed_name(
        first.get("redop", ""), first.get("root", ""), ratio, run.ranks
    )
    factor = bus_factor(program, run.ranks) if run.ranks else None
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
    words = [request.program]
    if request.sizes:
        words += ["-b", str(min(request.sizes)), "-e", str(max(request.sizes)), "-f", "2"]
    if request.iterations is not None:
        words += ["-n", str(request.iterations)]
    if "-g" not in request.extra:
        words += ["-g", "1"]
    return (*words, *request.extra)


ADAPTER = Adapter(
    name="nccl_tests",
    signs=(Sign("algbw", r"\bsize +count +type\b[ \w]{0,60}time +algbw +busbw\b"),),
    parse=parse,
    argv=argv,
)
