# pure
"""One IMB table, from its heading to its last row, as one series, or one per group with ``-multi
1``.
"""

from dataclasses import replace

from msgspec import structs

from wireproof.logs.readers.imb.benchmarks import ImbTest, described
from wireproof.logs.readers.imb.cells import (
    MEGA,
    CellTable,
    clock_of,
    megabyte,
    ratios_of,
    rows_of_cells,
    table_of,
    with_remarks,
)
from wireproof.logs.readers.imb.heading import Heading, ImbRun, ends_table, is_table, read_heading
from wireproof.logs.readers.page import Page
from wireproof.logs.readers.registry import Parsed
from wireproof.logs.readers.rows import (
    Rows,
    as_count,
    number,
    read_rows,
    scaled,
    step_of,
    times,
)
from wireproof.model.quantity import counted
from wireproof.model.series import Series, SeriesPoint

# --- Reasons why an IMB table is incomplete.

_FAILURES = {
    "time-out": "the time limit of the run was reached (option -time)",
    "out-of-mem": "it needs more memory than allowed (option -mem)",
    "int-overflow": "size x processes does not fit the program's integers",
}


def _failure(page: Page, rows: Rows, first: int) -> str:
    """Return why a row is missing: the program's reason (``4096 time-out.; ...``), or other output
    in its line.
    """
    measured = set(rows.lines)
    for index in range(first, min(rows.after, len(page.lines))):
        line = page.lines[index]
        words = line.split(None, 3)
        if index in measured or not words or not words[0].isdigit():
            continue
        for mark, why in _FAILURES.items():
            if mark in line:
                size = line[: line.index(mark)].split()[-1:] or words
                return f"line {index + 1}: {size[0][:20]} bytes were not measured: {why}"
        begins = len(words) > 2 and words[1].isdigit() and number(words[2]) is not None
        if begins and {index - 1, index + 1} & measured:
            return f"line {index + 1}: other output is mixed into a row"
    return ""


def _stopped(page: Page, rows: Rows, table: CellTable, run: ImbRun, test: ImbTest) -> str:
    """Return why a table without further IMB output ends before the size that the heading
    announces; "" if it does not.
    """
    most, sizes = run.told.number("largest"), [row.get("bytes") for row, _, _ in table.rows]
    if most is None or None in sizes or test.one_size or not sizes:
        return ""
    after = page.lines[rows.after].lstrip() if rows.after < len(page.lines) else ""
    # IMB prints these after a complete table
    if after.startswith("#-") or "MPI_Finalize" in after or is_table(after):
        return ""
    largest = int(max(size or 0.0 for size in sizes))
    if largest >= most:
        return ""
    return (
        f"line {table.rows[-1][2] + 1}: the table stops at {largest} bytes, but the run was to "
        f"reach {most}"
    )


def why_incomplete(
    page: Page, rows: Rows, table: CellTable, run: ImbRun, test: ImbTest, first: int
) -> str:
    if rows.fault(page):
        return rows.fault(page)
    failure = _failure(page, rows, first)
    if failure:
        return failure
    if table.odd:
        return (
            f"line {table.odd[0] + 1}: a row has text in place of numbers ({len(table.odd)} in all)"
        )
    if not table.rows:
        return "no readable row follows the heading"
    return _stopped(page, rows, table, run, test)


_CELLS = "each cell of a row is on a separate line; in the order used, size / t is the bandwidth"
_OWN = {
    "t_avg": "t_avg_us",
    "t_ovrl": "t_ovrl_us",
    "t_cpu": "t_cpu_us",
    "overlap": "overlap_percent",
    "defects": "defects",
}
_ZERO_DEFECTS = 0.01  # the program's own tolerance


def _pairs(heading: Heading, test: ImbTest) -> int:
    """Return the number of pairs (in a ring: processes) that the printed bandwidth sums over."""
    if not test.per_pair or heading.processes is None:
        return 1
    return max(1, heading.processes if test.traffic == "ring" else heading.processes // 2)


def _unit(
    table: CellTable, test: ImbTest, pairs: int, version: tuple[int, int]
) -> tuple[float | None, str, list[float]]:
    """Return the bytes of an MB in the table, the evidence against them, and the bytes for each
    row: 0 if neither a version nor the row determines them.
    """
    ratios = ratios_of(table, test, pairs)
    if {"t", "rate"} <= set(table.columns):  # IMB-P2P, which came with 2019
        version = max(version, (2019, 0))
    unit, doubt, by_version = megabyte(version, ratios)
    each = [(unit or 0.0) if by_version or one is not None else 0.0 for one in ratios]
    return unit, doubt, each


def _point(
    row: dict[str, float], words: dict[str, str], line: int, mega: float, clock: str, half: bool
) -> SeriesPoint:
    hrt, time = times(row[clock] * 1e3 if clock else None, half)
    defects = row.get("defects")
    return SeriesPoint(
        message_bytes=int(row.get("bytes", 0.0)),
        hrt_ns=hrt,
        time_ns=time,
        time_min_ns=scaled(row.get("t_min"), 1e3),
        time_max_ns=scaled(row.get("t_max"), 1e3),
        goodput_bytes_per_s=scaled(row.get("goodput"), mega) if mega else None,
        messages_per_s=row.get("rate"),
        iterations=as_count(row.get("repetitions")),
        time_step_ns=step_of(words[clock]) * 1e3 if clock else 0.0,
        goodput_step=step_of(words["goodput"]) * mega if "goodput" in words else 0.0,
        values={key: row[name] for name, key in _OWN.items() if name in row and name != clock},
        valid=None if defects is None else defects < _ZERO_DEFECTS,
        line=line + 1,
    )


def _guess(table: CellTable) -> str:
    """Return the benchmark of bare column names, from the columns and the relation between
    bandwidth, size and time.
    """
    if "goodput" not in table.columns:
        return ""
    if "t_max" not in table.columns:
        return "PingPong" if "t" in table.columns else "Uniband"
    one = replace(described("Sendrecv", table.columns), messages=1)
    ties = sorted(tie for tie in ratios_of(table, one, 1) if tie is not None)
    middle = ties[len(ties) // 2] if ties else 0.0
    for name, messages in (("Exchange", 4), ("Sendrecv", 2), ("PingPong", 1)):
        if abs(middle / messages - 0.977) < 0.05:
            return name
    return ""


def _notes(heading: Heading, table: CellTable, guessed: bool, only: int | None) -> list[str]:
    notes = []
    if guessed:
        notes.append(
            "the text does not contain the benchmark's name: it is inferred from the columns and "
            "their arithmetic"
        )
    if mode := heading.told.text("mode"):
        notes.append(f"mode {mode}")
    if only is not None and heading.groups > 1:
        notes.append(f"group {only} of {heading.groups} that ran at the same time")
    elif heading.groups > 1:
        notes.append(
            f"{heading.groups} groups ran at the same time; the slowest process of all groups "
            "determines the time"
        )
    if waiting := heading.told.number("waiting"):
        notes.append(f"{waiting} more processes waited meanwhile")
    if threads := heading.told.number("threads"):
        notes.append(f"{threads} threads per process; sizes are sums over the threads")
    if table.odd:
        where = ", ".join(str(line + 1) for line in table.odd[:5])
        notes.append(
            f"{counted(len(table.odd), 'row')} left out because they contain no measured number: "
            f"lines {where}"
        )
    return notes


def _base(heading: Heading, run: ImbRun, name: str, test: ImbTest) -> Series:
    window = heading.told.number("window")
    if test.window and test.per_pair:
        window = window or run.told.number("window")
    return test.series(
        "imb",
        [],
        version=run.version_text,
        benchmark=name or "unknown",
        unit="us",
        processes=heading.processes,
        pairs=_pairs(heading, test),
        window=window or test.window,
        incomplete=f"line {heading.first}: no line of column names follows the heading",
        hosts=run.hosts,
        notes=run.notes,
        first_line=heading.line,
        last_line=heading.first,
    )


def _rows(page: Page, heading: Heading) -> tuple[Rows, bool]:
    """Return the rows below a heading; True if each cell is on a separate line."""
    rows = read_rows(page, heading.first, (len(heading.columns),), ends_table)
    cells = None
    if rows.torn and not rows.fields:
        cells = rows_of_cells(page, heading.first, heading.columns)
    if cells:
        return cells, True
    return with_remarks(page, rows, heading.first, len(heading.columns)), False


def _without_columns(heading: Heading, run: ImbRun) -> Parsed:
    named = heading.name and not heading.hinted
    test = described(heading.name, [], heading.told.text("mode"), run.part, run.version)
    return Parsed([_base(heading, run, heading.name, test)] if named else [], heading.first)


def _test_of(heading: Heading, name: str, run: ImbRun) -> ImbTest:
    test = described(name, heading.columns, heading.told.text("mode"), run.part, run.version)
    several = test.window and _pairs(heading, test) > 1
    if several and test.traffic in ("stream", "exchange"):
        return replace(test, traffic="rate")
    return test


def read_table(page: Page, start: int, run: ImbRun) -> Parsed:
    """Parse the table whose heading begins on line index ``start``. No series if the text ends
    inside that line.
    """
    heading = read_heading(page, start)
    if not heading.columns:
        return _without_columns(heading, run)
    rows, of_cells = _rows(page, heading)
    table = table_of(page, heading.columns, rows)
    name = heading.name or _guess(table)
    test = _test_of(heading, name, run)
    unit, doubt, megabytes = _unit(table, test, _pairs(heading, test), run.version)
    guessed = heading.hinted and not heading.name
    base = structs.replace(
        _base(heading, run, name, test),
        unit=_unit_text(table, unit),
        incomplete=why_incomplete(page, rows, table, run, test, heading.first),
        unit_doubt=doubt if "goodput" in table.columns else "",
        last_line=table.rows[-1][2] + 1 if table.rows else heading.first,
    )
    end, clock = [_CELLS] if of_cells else [], clock_of(table, test)
    groups: dict[int | None, list[SeriesPoint]] = {} if table.rows else {None: []}
    for (row, words, line), mega in zip(table.rows, megabytes, strict=True):
        group = int(row["group"]) if "group" in row else None
        point = _point(row, words, line, mega, clock, test.half_round_trip)
        groups.setdefault(group, []).append(point)
    found = [
        structs.replace(
            base,
            points=groups[only],
            notes=[*base.notes, *_notes(heading, table, guessed, only), *end],
        )
        for only in sorted(groups, key=lambda group: group or 0)
    ]
    return Parsed(found, rows.after)


def _unit_text(table: CellTable, unit: float | None) -> str:
    if "goodput" not in table.columns:
        return "us"
    if unit is None:
        return "us; MB of an unknown size"
    return "us; MB = 10^6 bytes" if unit == MEGA else "us; MB = 2^20 bytes"
