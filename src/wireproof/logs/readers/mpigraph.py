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


@dataclass(slots=True)
class _Run:
    """``told``: the arguments, the average, and the last line."""

    version: str
    told: Facts = field(default_factory=lambda: Facts(_FORMS))
    tables: list[_PairTable] = field(default_factory=list)
    after: int = 0

    @property
    def numbers(self) -> dict[str, int]:
        """The arguments: ``size``, ``times``, ``window`` and ``Procs``."""
        told = [(one[1].replace(" ", ""), int(one[2])) for one in self.told["argument"]]
        return {_ARGUMENTS.get(name, name): number for name, number in reversed(told)}


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


def _take(run: _Run, line: str, index: int) -> bool:
    """Read a line of mpiGraph; return False if it is not one."""
    row = _ROW.match(line) if run.tables else None
    if row is not None:
        _read_row(run.tables[-1], line, row, index)
    elif (heading := _HEADING.match(line)) is not None:
        side: Side = "Send" if heading.group(1) == "Send" else "Recv"
        run.tables.append(_PairTable(side, index, _hosts(line), last=index))
    else:
        return run.told.take(line)
    return True


def _read(page: Page, start: int) -> _Run:
    """Read everything from ``START mpiGraph`` (or its arguments) to ``END mpiGraph`` or another
    result.
    """
    opening = _START.search(page.lines[start])
    run = _Run(opening[1] or "" if opening else "", after=len(page.lines))
    for index in range(start, len(page.lines)):
        line = page.lines[index]
        if not _take(run, line, index) and index > start and starts_result(line):
            run.after = index
            break
        if run.told["end"]:
            run.after = index + 1
            break
    return run


def _state(run: _Run, table: _PairTable, page: Page) -> str:
    ranks = len(table.hosts)
    if not ranks or run.numbers.get("Procs", ranks) != ranks:
        return f"line {table.line + 1}: the names of the ranks are torn"
    if table.torn:
        return f"line {table.torn}: a row of the table is torn"
    if len(table.seen) < ranks:
        return (
            f"{len(table.seen)} of {ranks} rows are in the log, which ends on line "
            f"{len(page.lines)}"
        )
    return "" if table.pairs else "no pair was measured"


def _notes(run: _Run, table: _PairTable) -> list[str]:
    notes = []
    if table.count:
        mean = table.total / table.count
        notes.append(
            f"over {table.count} pairs: min {table.lowest:.3f}, mean {mean:.3f}, max "
            f"{table.highest:.3f} MiB/s"
        )
    if average := run.told.text(f"{table.side} avg"):
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


def _series(page: Page, run: _Run, table: _PairTable) -> Series:
    numbers = run.numbers
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
        version=run.version,
        unit="MB = 2^20 bytes",
        processes=numbers.get("Procs") or len(table.hosts) or None,
        window=numbers.get("window"),
        incomplete=_state(run, table, page),
        hosts=table.hosts,
        notes=_notes(run, table),
        first_line=table.line + 1,
        last_line=table.last + 1,
    )


def parse(page: Page, start: int) -> Parsed:
    """Parse the run that begins on line index ``start``: a series for the senders and one for the
    receivers.
    """
    run = _read(page, start)
    sides: tuple[Side, ...] = ("Send", "Recv")
    missing = [side for side in sides if all(table.side != side for table in run.tables)]
    tables = [*run.tables, *(_PairTable(side, start, [], last=start) for side in missing)]
    series = [_series(page, run, table) for table in tables if "size" in run.numbers]
    return Parsed(series, max(run.after, start + 1))


ADAPTER = Adapter(
    name="mpigraph",
    parse=parse,
)
