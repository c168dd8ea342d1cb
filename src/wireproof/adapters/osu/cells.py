"""A table of two columns that stands a cell a line, as text out of a PDF has it.

The order of a size and its value may be lost on the way, the order down each column is not: with as
many values as sizes, and sizes that double from row to row, the columns are paired in their own
order. Anything less is no row.
"""

from __future__ import annotations

from itertools import pairwise

from wireproof.adapters.page import Page
from wireproof.adapters.rows import Rows, number

__all__ = ["rows_of_cells"]

_FEWEST_ROWS = 3
_MOST_CELLS = 1000


def _columns(page: Page, start: int) -> tuple[list[tuple[str, int]], list[tuple[str, int]], int]:
    """Whole numbers and decimals with their line indexes, and the index of the line that ends
    them.
    """
    sizes: list[tuple[str, int]] = []
    values: list[tuple[str, int]] = []
    index, last = start, len(page.lines) - 1
    while index <= last and len(sizes) + len(values) < _MOST_CELLS:
        words = page.lines[index].split()
        if any(number(word) is None for word in words):
            break
        if not (index == last and page.cut):
            for word in words:
                (values if "." in word else sizes).append((word, index))
        index += 1
    return sizes, values, index


def rows_of_cells(page: Page, start: int) -> Rows | None:
    """The rows from line index ``start`` on; None when the cells do not pair up without doubt."""
    sizes, values, after = _columns(page, start)
    if (
        len(sizes) != len(values)
        or len(sizes) < _FEWEST_ROWS
        or not all(word.isdigit() for word, _ in sizes)
    ):
        return None
    numbers = [int(word) for word, _ in sizes]
    if any(later != max(1, 2 * one) for one, later in pairwise(numbers)):
        return None
    pairs = zip(sizes, values, strict=True)
    rows = Rows(after=after)
    for (size, line), (value, _) in pairs:
        rows.fields.append([size, value])
        rows.lines.append(line)
    return rows
