"""Rows that do not stand as they were printed: a cell a line, as text out of a PDF has them, or
with a remark behind.

Five numbers are one row of size, repetitions, t, bandwidth and rate only if bandwidth x t = size
and rate x t = 1: the order inside a row may have been lost on the way, so the order that fits is
taken, and none if two fit.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice, permutations

from wireproof.adapters.page import Page
from wireproof.adapters.rows import Rows, number

__all__ = ["rows_of_cells", "with_remarks"]

_NEEDED = {"bytes", "t", "goodput"}
_KNOWN = _NEEDED | {"repetitions", "rate"}
_FEWEST_ROWS = 3
_MOST_CELLS = 20_000
_TOLERANCE = 0.02
_MEBI = 2.0**20 / 1e6


def _near(value: float, true: float, rounding: float) -> bool:
    return abs(value - true) <= rounding + _TOLERANCE * abs(true)


def _fits(columns: Sequence[str], words: Sequence[str]) -> bool:
    """True when the words, in this order, are a row: kinds of number and both identities, for one
    pair of processes.
    """
    row = dict(zip(columns, words, strict=True))
    if not all(row[name].isdigit() for name in ("bytes", "repetitions", "rate") if name in row):
        return False
    if "." not in row["t"] or "." not in row["goodput"]:
        return False
    size, time, goodput = (float(row[name]) for name in ("bytes", "t", "goodput"))
    if time <= 0 or (size > 0 and goodput <= 0):
        return False
    # half a digit of t and of the bandwidth
    rounding = 0.006 + size / time * 0.006 / time
    if not (_near(goodput, size / time, rounding) or _near(goodput * _MEBI, size / time, rounding)):
        return False
    return "rate" not in row or _near(float(row["rate"]), 1e6 / time, 1.0 + 1e6 * 0.006 / time**2)


def _row(columns: Sequence[str], words: Sequence[str]) -> list[str] | None:
    """The words in the order of the columns; None when no order, or more than one, makes a row."""
    if _fits(columns, words):
        return list(words)
    orders = (order for order in permutations(words) if _fits(columns, order))
    found = list(islice(dict.fromkeys(orders), 2))
    return list(found[0]) if len(found) == 1 else None


def _cells(page: Page, start: int) -> tuple[list[tuple[str, int]], int]:
    """(word, line index) of the lines that hold one number each, and the index of the line that
    ends them.
    """
    found: list[tuple[str, int]] = []
    index, last = start, len(page.lines) - 1
    while index <= last and len(found) < _MOST_CELLS:
        word = page.lines[index].strip()
        if word and number(word) is None:
            break
        if word and not (index == last and page.cut):
            found.append((word, index))
        index += 1
    return found, index


def rows_of_cells(page: Page, start: int, columns: Sequence[str]) -> Rows | None:
    """The rows from line index ``start`` on; None when these are no such cells. What does not fit
    is ``torn``.
    """
    if not _NEEDED <= set(columns) <= _KNOWN:
        return None
    cells, after = _cells(page, start)
    width = len(columns)
    if len(cells) < _FEWEST_ROWS * width:
        return None
    rows, place, largest = Rows(after=after), columns.index("bytes"), -1
    for at in range(0, len(cells), width):
        some = cells[at : at + width]
        words = _row(columns, [word for word, _ in some]) if len(some) == width else None
        if words is None or int(words[place]) <= largest:
            rows.torn.append(some[0][1])
            break
        largest = int(words[place])
        rows.fields.append(words)
        rows.lines.append(some[0][1])
    return rows if len(rows.fields) >= _FEWEST_ROWS else None


def with_remarks(page: Page, rows: Rows, first: int, width: int) -> Rows:
    """The rows, and those with a remark behind the last number (``97.62 <-- drops here``).

    A blank stands between them: other output that fell into a row is glued to a number that may be
    short. Such a row stands next to another row: further down, numbers with words behind them are
    something else.
    """
    measured = set(rows.lines)
    for index in range(first, min(rows.after, len(page.lines) - page.cut)):
        line = page.lines[index]
        if (
            index in measured
            or not line.lstrip()[:1].isdigit()
            or not {index - 1, index + 1} & measured
        ):
            continue
        words = line.split(None, width)
        remark = words[width] if len(words) > width else ""
        if (
            remark
            and not remark[0].isdigit()
            and all(number(word) is not None for word in words[:width])
        ):
            rows.fields.append(words[:width])
            rows.lines.append(index)
            measured.add(index)
    return rows
