"""The last lines of the tests below one heading, without the lines of progress."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field, replace

from wireproof.adapters.page import Page
from wireproof.adapters.registry import starts_result
from wireproof.adapters.rows import Rows, What, number, scan_rows

__all__ = ["COLUMNS", "Found", "LastLine", "read", "without_progress"]

_BATCH = re.compile(r"^\s*\+([A-Za-z0-9_][\w/.]{0,80})-+(?:\+|$)")
_THREAD = re.compile(r"^\s*\[thread \d{1,4}\]")
_GROUPED = re.compile(r"\d{1,3}(?:,\d{3}){1,5}")
_LONGEST_LINE = 500
_PATIENCE = 2000  # UCX_PROTO_INFO=y prints a table per protocol between the heading and the result
COLUMNS = 8
_THREADED = 4
_DECIMALS = {(0, 3, 3, 3, 2, 2, 0, 0), (0, 3, 2, 0)}
"""Digits after the point of each column, of one thread and of several."""


@dataclass(frozen=True, slots=True)
class LastLine:
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


@dataclass(slots=True)
class Found:
    """``rows``: the last lines; ``progress``: lines of progress; ``last``: index of the last of
    either.
    """

    rows: list[LastLine] = field(default_factory=list)
    progress: int = 0
    last: int = 0


def _plain(word: str) -> str:
    return word.replace(",", "") if _GROUPED.fullmatch(word) else word


def _is_whole(texts: list[str]) -> bool:
    """Rate x time = 1 in every row: a last line without a line end is believed only if this still
    holds.
    """
    if len(texts) != COLUMNS:
        return False
    time, rate = number(texts[-5]), number(texts[-1])
    if not time or not rate:
        return False
    return abs(time * 1e-6 * rate - 1) <= 0.01 + 0.5e-6 * time


def _row_of(line: str, heading: str, index: int) -> LastLine | None:
    """The last line of a test: ``Final:`` and numbers; under ``Test`` an optional name and
    numbers.
    """
    words = line.split()
    first = next((at for at, word in enumerate(words) if number(_plain(word)) is not None), None)
    if first is None:
        return None
    names = words[:first]
    texts = [_plain(word) for word in words[first : first + COLUMNS]]
    if any(number(text) is None for text in texts[_THREADED:]):
        texts = texts[:_THREADED]
    named = heading == "Test" and len(names) <= 1
    final = named or names == ["Final:"]
    if not _fits(texts) or not (final or not names):
        return None
    return LastLine(names[0] if names and heading == "Test" else "", texts, index, final)


def _fits(texts: list[str]) -> bool:
    """Every column a number with the digits that the program prints: a row torn in its middle has
    others.
    """
    shape = tuple(len(text.partition(".")[2]) for text in texts)
    return shape in _DECIMALS and all(number(text) is not None for text in texts)


def _csv_row(line: str, names: int, index: int) -> LastLine | None:
    """The batch files' names and the numbers; some versions write ``Final:`` before the first
    number.
    """
    cells = [cell.strip() for cell in line.split(",")]
    texts = cells[names:]
    final = bool(texts) and texts[0].startswith("Final:")
    texts = [texts[0].removeprefix("Final:").strip(), *texts[1:]] if final else texts
    return LastLine("/".join(cells[:names])[:160], texts, index, final) if _fits(texts) else None


def read(page: Page, start: int, heading: str, csv_names: int | None) -> tuple[Rows, Found]:
    """The last lines of all tests under one heading. ``csv_names``: columns of names before the
    numbers, None in a table of blanks.
    """
    found, batch = Found(last=start), ""

    def row(line: str, index: int) -> LastLine | None:
        nonlocal batch
        if csv_names is not None:
            return _csv_row(line, csv_names, index) if "," in line else None
        named = _BATCH.match(line)
        if named is not None:
            batch = named.group(1)
        return None if named is not None else _row_of(line, heading, index)

    def take(rows: Rows, index: int) -> list[str] | What:
        line = page.lines[index][:_LONGEST_LINE]
        progress = _THREAD.match(line) or ",[thread " in line
        last = None if progress else row(line, index)
        if progress:
            found.progress += 1
            found.last, rows.idle = index, 0
        elif last is not None and index == page.ragged and not _is_whole(last.texts):
            return "cut"
        elif last is not None:
            found.rows.append(replace(last, name=last.name or batch))
            found.last = index
            return last.texts
        if not line.strip():
            return "skipped"
        if starts_result(line):
            return "end"
        return "cut" if index == page.ragged and _begins_row(line) else "foreign"

    return scan_rows(page, start + 1, take, _PATIENCE), found


def _begins_row(line: str) -> bool:
    first = line.split()[:1]
    return bool(first) and ("Final:".startswith(first[0]) or first[0][0].isdigit())


def without_progress(rows: list[LastLine], wanted: int) -> list[LastLine]:
    """Of unmarked lines with a growing count, which old versions print, only those that reached the
    count asked for.
    """
    counts = [number(row.texts[0]) or 0.0 for row in rows]
    names = Counter(row.name for row in rows)
    alone = {name for name, times in names.items() if times == 1}
    pairs = zip(rows, counts, strict=True)
    return [row for row, count in pairs if row.marked or row.name in alone or count >= wanted]
