"""Which columns of a table fit a width: the least important go first, and are named."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from rich.table import Table

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
    from rich.cells import cell_len

    need = [
        max([cell_len(row[i]) for row in cells] + [cell_len(head.title)])
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
) -> tuple[Table, list[str]]:
    """The table, one style for each row, and the titles that found no room. ``cells`` are safe
    text.
    """
    from rich.table import Table
    from rich.text import Text

    kept, gap, dropped = fitting(heads, cells, look.width)
    table = Table(box=None, padding=(0, gap, 0, 0), pad_edge=False, header_style="dim")
    for i in kept:
        table.add_column(
            Text(look.say(heads[i].title)), justify="left" if heads[i].left else "right"
        )
    for row, style in zip(cells, styles, strict=True):
        table.add_row(*(Text(row[i], style=style) for i in kept))
    return table, dropped
