"""Which columns of a table fit a width: the least important go first, and are named."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, NamedTuple

from wireproof.report.text.ink import Paragraph, Piece, cell_length, wrapped

if TYPE_CHECKING:
    from wireproof.report.text.look import Look

__all__ = ["Head", "fitting", "grid"]

_LEAST = 3


class Head(NamedTuple):
    """``keep``: the higher, the longer the column stays when the width is short."""

    title: str
    keep: int
    left: bool = False


def fitting(
    heads: Sequence[Head], cells: Sequence[Sequence[str]], width: int
) -> tuple[list[int], int, list[str]]:
    """Indices of the columns that fit in ``width``, the gap between them, and the titles of those
    left out.
    """
    need = [
        max([cell_length(row[i]) for row in cells] + [cell_length(head.title)])
        for i, head in enumerate(heads)
    ]
    kept = list(range(len(heads)))
    dropped: list[str] = []
    while True:
        for gap in (2, 1):
            if sum(need[i] for i in kept) + gap * (len(kept) - 1) <= width or len(kept) <= _LEAST:
                return kept, gap, dropped
        least = min(kept, key=lambda i: heads[i].keep)
        kept.remove(least)
        dropped.append(heads[least].title)


def grid(
    heads: Sequence[Head], cells: Sequence[Sequence[str]], styles: Sequence[str], look: Look
) -> tuple[list[Paragraph], list[str]]:
    """The lines of the table, one style for each row, and the titles that found no room. ``cells``
    are safe text; what the last columns cannot hold is folded.
    """
    kept, gap, dropped = fitting(heads, cells, look.width)
    rows = [[look.say(heads[i].title) for i in kept], *([row[i] for i in kept] for row in cells)]
    widths = [max(cell_length(row[at]) for row in rows) for at in range(len(kept))]
    while sum(widths) + gap * (len(kept) - 1) > look.width:
        widths[widths.index(max(widths))] -= 1
    lefts = [heads[i].left for i in kept]
    lines: list[Paragraph] = []
    for row, style in zip(rows, ["dim", *styles], strict=True):
        for line in _folded(row, widths):
            joined = (" " * gap).join(map(_aligned, line, widths, lefts))
            lines.append(Paragraph.of(joined.rstrip(), style))
    return lines, dropped


def _folded(row: Sequence[str], widths: Sequence[int]) -> Iterator[tuple[str, ...]]:
    """One row of cells as lines of cells."""
    folded = (
        ["".join(piece.text for piece in line) for line in wrapped([Piece(cell)], width)]
        for cell, width in zip(row, widths, strict=True)
    )
    return zip_longest(*folded, fillvalue="")


def _aligned(cell: str, width: int, left: bool) -> str:
    blanks = " " * (width - cell_length(cell))
    return cell + blanks if left else blanks + cell
