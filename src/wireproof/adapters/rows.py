"""Rows of numbers under a heading: the part that all tables of all tools have in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from wireproof.adapters.page import Page

__all__ = ["Rows", "integer", "number", "read_rows", "scaled", "step_of", "times", "whole"]

PATIENCE = 60
"""Lines that are no rows (warnings, banners between rows) before a table is taken to have ended."""

_LONGEST_NUMBER = 32
_ABSURD = 1e18
_TINY = 1e-15
_ALIKE = 5
_STEPS = tuple(float(f"1e-{digits}") for digits in range(31))


def number(text: str) -> float | None:
    """A decimal number as benchmarks print it; None for all else (``nan``, ``inf``, ``1_000``,
    ``0x1``, ``1e300``, ``1e-320``).
    """
    if len(text) > _LONGEST_NUMBER or not text.isascii() or "_" in text:
        return None
    try:
        value = float(text)
    except ValueError:
        return None
    # No comparison holds for nan. What is nearer to zero than any clock or rate is not divided by.
    return value if value == 0 or _TINY < abs(value) < _ABSURD else None


def integer(text: str) -> int | None:
    """A non-negative whole number without sign; None for all else."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None


def step_of(text: str) -> float:
    """The value of one unit in the last printed digit: 0.01 for ``116.96``, 1 for ``28``."""
    if "e" in text or "E" in text:
        mantissa, _, exponent = text.lower().partition("e")
        power = number(exponent) or 0.0
        return float(10.0 ** max(-30.0, min(30.0, power - len(mantissa.partition(".")[2]))))
    point = text.find(".")
    return _STEPS[min(30, len(text) - 1 - point)] if point >= 0 else 1.0


def scaled(value: float | None, factor: float) -> float | None:
    """A printed number in base units; None stays None."""
    return None if value is None else value * factor


def whole(value: float | None) -> int | None:
    """A printed count; None stays None."""
    return None if value is None else int(value)


def times(time_ns: float | None, half: bool) -> tuple[float | None, float | None]:
    """(half round trip, time of one operation): a tool prints one of them."""
    return (time_ns, None) if half else (None, time_ns)


@dataclass(slots=True)
class Rows:
    """``fields[i]`` are the words of the row on line index ``lines[i]``. ``torn``: line indexes of
    rows with too few columns; ``cut``: the text ended inside a row. ``after``: index of the first
    line not used.
    """

    fields: list[list[str]] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    torn: list[int] = field(default_factory=list)
    cut: bool = False
    after: int = 0


def _whole(last: str, before: Sequence[str]) -> bool:
    """A last line without a line end is believed only in a padded table whose rows all have its
    length and decimals.
    """
    line = last.rstrip()
    if not before or "  " not in line or line != last:
        return False
    digits = len(line.rpartition(".")[2])
    return all(
        len(row.rstrip()) == len(line) and len(row.rstrip().rpartition(".")[2]) == digits
        for row in before
    )


def _is_torn(rows: Rows, page: Page, index: int) -> bool:
    if not page.cut or index < len(page.lines) - 1:
        return False
    return not _whole(page.lines[index], [page.lines[one] for one in rows.lines[-_ALIKE:]])


def _take(rows: Rows, page: Page, index: int, fits: bool, idle: int) -> int:
    """Puts a line that begins with a whole number where it belongs. Returns the number of lines
    since the last row, of ``idle`` before it.
    """
    words = page.lines[index].split()
    if _is_torn(rows, page, index):
        rows.cut = True
    elif fits:
        rows.fields.append(words)
        rows.lines.append(index)
        return 0
    elif all(number(word) is not None for word in words):
        rows.torn.append(index)
    else:
        return idle + 1
    return idle


def read_rows(
    page: Page,
    start: int,
    columns: Sequence[int],
    ends: Callable[[str], bool],
    is_row: Callable[[list[str]], bool] | None = None,
) -> Rows:
    """Rows from line index ``start`` on whose number of words is in ``columns`` and whose first
    word is a whole number.

    ``ends(line)`` True: the table ended before that line. ``is_row`` looks at the words of a line
    with a fitting number of words. Lines that are no rows are skipped; a line of numbers with other
    columns is torn.
    """
    rows, lines, idle = Rows(), page.lines, 0
    allowed = frozenset(columns)
    index = start
    while index < len(lines):
        words = lines[index].split()
        if words and words[0].isdigit() and words[0].isascii():
            fits = len(words) in allowed and (is_row is None or is_row(words))
            idle = _take(rows, page, index, fits, idle)
        elif words:
            idle += 1
            if idle > PATIENCE or ends(lines[index]):
                break
        index += 1
    rows.after = max(index, start + 1)
    return rows
