"""The rows that fi_pingpong and the fabtests share: sizes as ``1.5k``, a time as ``0.12s``, rates with two decimals."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from wireproof.adapters.page import Page
from wireproof.adapters.rows import number, step_of
from wireproof.adapters.scan import starts_result
from wireproof.model.series import SeriesPoint

__all__ = ["FabricRow", "FabricRows", "command_before", "option_of", "point_of", "provider_of", "read_fabric_rows"]

_SIZE = re.compile(r"(\d{1,19})(?:\.(\d))?([kmgt]?)")
_COUNT = re.compile(r"(\d{1,19})([kmb]?)")
_TIME = re.compile(r"(\d{1,9}\.\d\d)s")
_RATE = re.compile(r"\d{1,15}\.\d\d|inf|-?nan")
_CELL = re.compile(r"[=+-]?\d{1,19}(?:\.\d{0,9})?[kmgtbs]?")
_BINARY = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
_DECIMAL = {"": 1, "k": 10**3, "m": 10**6, "b": 10**9}
_LOOK_BACK = 60
_LONGEST_LINE = 400
_PATIENCE = 500  # with -v the programs tell of every message between the rows


@dataclass(frozen=True, slots=True)
class FabricRow:
    """One row; ``total_bytes`` is rounded down as printed. ``acknowledged``: "" when there is no such column."""

    name: str
    size: int
    rounded: bool
    iterations: int
    acknowledged: str
    total_bytes: int
    rate: str
    time: str
    messages: str
    line: int


@dataclass(slots=True)
class FabricRows:
    rows: list[FabricRow] = field(default_factory=list)
    torn: list[int] = field(default_factory=list)
    cut: bool = False
    after: int = 0


def _bytes_of(text: str) -> int | None:
    """Bytes of ``64``, ``1.5k`` or ``12m`` (1024-based); what was rounded off is lost."""
    match = _SIZE.fullmatch(text)
    if match is None:
        return None
    unit = _BINARY[match.group(3)]
    return int(match.group(1)) * unit + int(match.group(2) or 0) * unit // 10


def _count_of(text: str) -> int | None:
    """``10``, ``20k`` (1000-based, rounded down)."""
    match = _COUNT.fullmatch(text)
    return None if match is None else int(match.group(1)) * _DECIMAL[match.group(2)]


def _row(words: list[str], columns: list[str], named: bool, line: int) -> FabricRow | None:
    """A row whose every column has the form that the program prints; None for all else."""
    spare = len(words) - len(columns)
    labelled = spare == 1 and words[0].endswith(":")
    if (named and not spare) or (spare and not named and not labelled):
        return None
    texts = dict(zip(columns, words[spare:], strict=True))
    size, count, total = _bytes_of(texts["bytes"]), _count_of(texts["count"]), _bytes_of(texts["total"])
    rates = [texts[key] for key in ("rate", "usec", "mxfers") if key in texts]
    if size is None or count is None or total is None or _TIME.fullmatch(texts["time"]) is None:
        return None
    if not all(_RATE.fullmatch(text) for text in rates):
        return None
    return FabricRow(
        name=" ".join(words[:spare])[:80] if named else "",
        size=size,
        rounded=not texts["bytes"].isdigit(),
        iterations=count,
        acknowledged=texts.get("ack", ""),
        total_bytes=total,
        rate=texts["rate"],
        time=texts["usec"],
        messages=texts.get("mxfers", ""),
        line=line,
    )


def _looks_torn(words: list[str]) -> bool:
    """A line that begins as a row does, with nothing but its kind of cells."""
    return len(words) > 1 and _bytes_of(words[0]) is not None and all(_CELL.fullmatch(word) for word in words)


def read_fabric_rows(page: Page, start: int, columns: list[str], named: bool) -> FabricRows:
    """Rows from line index ``start`` on. ``columns``: bytes, count, [ack], total, time, rate, usec, [mxfers].

    The decimals are fixed by the program, so that a row that was cut in its last number is known by its form.
    """
    found, lines, idle = FabricRows(), page.lines, 0
    last, index, width = len(lines) - 1, start, len(columns)
    while index <= last:
        line = lines[index]
        words = line.split() if len(line) <= _LONGEST_LINE else []
        row = _row(words, columns, named, index) if len(words) >= width else None
        if row is not None:
            found.rows.append(row)
            idle = 0
        elif not words:
            idle += bool(line.strip())
        elif starts_result(line):
            break
        elif index == last and page.cut and (words[0][0].isdigit() or named):
            found.cut = True
        elif _looks_torn(words):
            found.torn.append(index)
        else:
            idle += 1
        if idle > _PATIENCE:
            break
        index += 1
    found.after = max(index, start)
    return found


def point_of(row: FabricRow, transfers: int, rate_unit: float = 1e6) -> SeriesPoint | None:
    """The point of a row; None when a number is none (``inf`` of a run shorter than the clock's microsecond).

    ``transfers`` per iteration: 2 for a ping-pong, whose time is half a round trip; 1 for a stream. The program cuts
    the elapsed time to whole microseconds: one of them, shared by all transfers, is the least step of the time.
    ``rate_unit``: bytes per second of one unit of the rate's column.
    """
    time, rate, messages = number(row.time), number(row.rate), number(row.messages or "0")
    if time is None or rate is None or messages is None or time <= 0:
        return None
    step = max(step_of(row.time) * 1e3, 1e3 / max(1, row.iterations * transfers))
    return SeriesPoint(
        message_bytes=row.size,
        hrt_ns=time * 1e3 if transfers == 2 else None,
        time_ns=time * 1e3 if transfers != 2 else None,
        goodput_bytes_per_s=rate * rate_unit,
        messages_per_s=messages * 1e6 if messages >= 1.0 else None,  # below that two decimals say too little
        iterations=row.iterations,
        time_step_ns=step,
        goodput_step=step_of(row.rate) * rate_unit,
        line=row.line + 1,
    )


def command_before(page: Page, start: int, program: re.Pattern[str]) -> tuple[str, str]:
    """(program, the rest of its line) of the nearest command before line index ``start``, not beyond another result."""
    for index in range(start, max(-1, start - _LOOK_BACK), -1):
        line = page.lines[index]
        match = program.search(line[:_LONGEST_LINE])
        if match is not None:
            return match.group(1), line[match.end(1) : match.end(1) + _LONGEST_LINE]
        if index != start and starts_result(line):
            break
    return "", ""


def option_of(rest: str, letter: str) -> str:
    """The value of ``-p psm3`` or ``-ppsm3`` in the rest of a command line; "" without."""
    match = re.search(rf"(?:^|\s)-{letter} ?([^\s-]\S{{0,63}})", rest)
    return match.group(1).strip("'\":") if match else ""


def provider_of(rest: str) -> str:
    """The libfabric provider that a command line asks for."""
    return option_of(rest, "p")
