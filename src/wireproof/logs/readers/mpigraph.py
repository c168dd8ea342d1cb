# pure
"""mpiGraph: two tables of the bandwidth from every rank to every other, and its three arguments.

MB = 2^20 bytes. In step d, all ranks send to rank + d and receive from rank - d at the same time,
so each number is one direction of an interface that is loaded in both directions.
"""

import re
from dataclasses import dataclass, field
from typing import Literal

from wireproof.logs.readers.page import Page
from wireproof.logs.readers.registry import Adapter, Benchmark, Parsed, starts_result
from wireproof.logs.readers.rows import Facts
from wireproof.model.quantity import counted
from wireproof.model.series import Series, SeriesPoint

Side = Literal["Send", "Recv"]

_START = re.compile(r"\bSTART mpiGraph\b(?: +v?([\w.]{1,20}))?")
_ARGUMENT = re.compile(
    r"^\s*(Msg ?Size|Times|Iterations|Window(?: Size)?|Procs):?\s+(\d{1,18})(?: Bytes)?\s*$"
)
_FORMS = {
    "argument": _ARGUMENT,
    "Send avg": re.compile(r"^\s*Send \s*avg\s+(\d{1,15}\.\d{1,9})\s*$"),
    "Recv avg": re.compile(r"^\s*Recv \s*avg\s+(\d{1,15}\.\d{1,9})\s*$"),
    "end": re.compile("END mpiGraph"),
}
_HEADING = re.compile(r"^\s*(Send|Recv)\s+\S{1,255}:0(?:\s|$)")
_ROW = re.compile(r"^\s*(\S{1,255}):(\d{1,7})\s+(to|from)(?:\s|$)")
_NUMBER = re.compile(r"\d{1,15}\.\d{3}")
_MIB = float(1 << 20)
_MOST_PROCESSES = 256
"""With more processes there are too many pairs, so only the slowest and the fastest pair of each
row are kept.
"""

_FORMULA = (
    "size / mean over the repetitions of (time of a window / window), {side} side; "
    "all ranks send and receive at the same time; no warm-up; MB = 2^20 bytes"
)
_ARGUMENTS = {
    "MsgSize": "size",
    "Times": "times",
    "Iterations": "times",
    "Window": "window",
    "WindowSize": "window",
}


@dataclass(slots=True)
class _PairTable:
    """One n x n table. ``pairs``: (from, to, MiB/s, line index); ``seen``: rows that were read
    completely.
    """

    side: Side
    line: int
    hosts: list[str]
    pairs: list[tuple[int, int, float, int]] = field(default_factory=list)
    seen: set[int] = field(default_factory=set)
    torn: int = 0
    silent: int = 0
    total: float = 0.0
    count: int = 0
    lowest: float = 0.0
    highest: float = 0.0
    last: int = 0


def _numbers(told: Facts) -> dict[str, int]:
    """Return the arguments: ``size``, ``times``, ``window`` and ``Procs``."""
    found = [(one[1].replace(" ", ""), int(one[2])) for one in told["argument"]]
    return {_ARGUMENTS.get(name, name): number for name, number in reversed(found)}


def _hosts(line: str) -> list[str]:
    """Return the host of each rank in ``Send  n1:0  n2:1``; empty if the ranks do not count from
    0.
    """
    names = [word.rpartition(":") for word in line.split()[1:]]
    whole = all(rank == str(index) for index, (_, _, rank) in enumerate(names))
    return [name[:255] for name, _, _ in names] if whole else []


def _read_row(table: _PairTable, line: str, match: re.Match[str], index: int) -> None:
    """Add a row to its table, or mark it as torn if it does not have one number with three decimals
    per rank.
    """
    rank, texts = int(match.group(2)), line[match.end() :].split()
    wanted = "to" if table.side == "Send" else "from"
    whole = len(texts) == len(table.hosts) and all(map(_NUMBER.fullmatch, texts))
    if match.group(3) != wanted or rank >= len(table.hosts) or not whole:
        table.torn = table.torn or index + 1
        return
    values = [(float(text), other) for other, text in enumerate(texts) if other != rank]
    known = [one for one in values if one[0] > 0]
    table.silent += len(values) - len(known)
    table.seen.add(rank)
    table.last = index
    if known:
        _add(table, rank, known, index)


def _add(table: _PairTable, rank: int, known: list[tuple[float, int]], index: int) -> None:
    """Add the (MiB/s, other rank) of a row to the table's pairs and sums."""
    low, high = min(known), max(known)
    table.lowest = min(table.lowest or low[0], low[0])
    table.highest = max(table.highest, high[0])
    table.total += sum(value for value, _ in known)
    table.count += len(known)
    if len(table.hosts) > _MOST_PROCESSES:
        known = sorted({low, high}, key=lambda one: one[1])
    for value, other in known:
        origin, target = (rank, other) if table.side == "Send" else (other, rank)
        table.pairs.append((origin, target, value, index))


def _take(told: Facts, tables: list[_PairTable], line: str, index: int) -> bool:
    """Read a line of mpiGraph; return False if it is not one."""
    row = _ROW.match(line) if tables else None
    if row is not None:
        _read_row(tables[-1], line, row, index)
    elif (heading := _HEADING.match(line)) is not None:
        side: Side = "Send" if heading.group(1) == "Send" else "Recv"
        tables.append(_PairTable(side, index, _hosts(line), last=index))
    else:
        return told.take(line)
    return True


def _read(page: Page, start: int) -> tuple[Facts, list[_PairTable], int]:
    """Read everything from ``START mpiGraph`` (or its arguments) to ``END mpiGraph`` or another
    result. Return the facts, the tables, and the index of the line after them.
    """
    told, tables = Facts(_FORMS), list[_PairTable]()
    for index in range(start, len(page.lines)):
        line = page.lines[index]
        if not _take(told, tables, line, index) and index > start and starts_result(line):
            return told, tables, index
        if told["end"]:
            return told, tables, index + 1
    return told, tables, len(page.lines)


def _state(processes: int | None, table: _PairTable, page: Page) -> str:
    ranks = len(table.hosts)
    if not ranks or processes not in (None, ranks):
        return f"line {table.line + 1}: the names of the ranks are torn"
    if table.torn:
        return f"line {table.torn}: a row of the table is torn"
    if len(table.seen) < ranks:
        return (
            f"{len(table.seen)} of {ranks} rows are in the log, which ends on line "
            f"{len(page.lines)}"
        )
    return "" if table.pairs else "no pair was measured"


def _notes(told: Facts, table: _PairTable) -> list[str]:
    notes = []
    if table.count:
        mean = table.total / table.count
        notes.append(
            f"over {table.count} pairs: min {table.lowest:.3f}, mean {mean:.3f}, max "
            f"{table.highest:.3f} MiB/s"
        )
    if average := told.text(f"{table.side} avg"):
        notes.append(f"printed average {average} MiB/s averages times, not bandwidths")
    if table.silent:
        notes.append(
            f"{counted(table.silent, 'pair')} left out: a printed zero is not a measurement"
        )
    if len(table.hosts) > _MOST_PROCESSES:
        notes.append(
            f"{len(table.hosts)} ranks: only the slowest and the fastest pair of each row are kept"
        )
    return notes


def _series(page: Page, version: str, told: Facts, table: _PairTable) -> Series:
    numbers = _numbers(told)
    points = [
        SeriesPoint(
            message_bytes=numbers["size"],
            goodput_bytes_per_s=value * _MIB,
            goodput_step=0.001 * _MIB,
            iterations=numbers.get("times"),
            values={"from": float(source), "to": float(target)},
            line=line + 1,
        )
        for source, target, value, line in table.pairs
    ]
    formula = _FORMULA.format(side="sender's" if table.side == "Send" else "receiver's")
    return Benchmark(f"mpiGraph {table.side}", "bandwidth", "exchange", formula).series(
        "mpigraph",
        points,
        version=version,
        unit="MB = 2^20 bytes",
        processes=numbers.get("Procs") or len(table.hosts) or None,
        window=numbers.get("window"),
        incomplete=_state(numbers.get("Procs"), table, page),
        hosts=table.hosts,
        notes=_notes(told, table),
        first_line=table.line + 1,
        last_line=table.last + 1,
    )


def parse(page: Page, start: int) -> Parsed:
    """Parse the run that begins on line index ``start``: a series for the senders and one for the
    receivers.
    """
    opening, (told, read, after) = _START.search(page.lines[start]), _read(page, start)
    version = opening[1] or "" if opening else ""
    sides: tuple[Side, ...] = ("Send", "Recv")
    missing = [side for side in sides if all(table.side != side for table in read)]
    tables = [*read, *(_PairTable(side, start, [], last=start) for side in missing)]
    series = [_series(page, version, told, table) for table in tables if "size" in _numbers(told)]
    return Parsed(series, max(after, start + 1))


ADAPTER = Adapter(
    name="mpigraph",
    parse=parse,
)
