"""Tables of group points for the page."""

from __future__ import annotations

from dataclasses import dataclass

from wireproof.report.columns import Head
from wireproof.report.group_cells import Cells, cells_of
from wireproof.report.group_rows import group_tables
from wireproof.report.section import Section
from wireproof.report.text.groups import LEGEND

__all__ = ["GroupView", "group_views"]

MOST_ROWS = 400
OPEN_ROWS = 40


@dataclass(frozen=True)
class GroupView:
    """``rows``: cells, and whether the row is bad."""

    title: str
    caption: str
    count: str
    open: bool
    heads: list[Head]
    rows: list[tuple[list[str], bool]]


def group_views(section: Section) -> list[GroupView]:
    """One for each table of group points."""
    return [_view(table.title, cells_of(table)) for table in group_tables(section)]


def _view(title: str, found: Cells) -> GroupView:
    count = len(found.cells)
    caption = f"{LEGEND[0].upper()}{LEGEND[1:]}."
    if count > MOST_ROWS:
        caption += f" {count - MOST_ROWS} rows are left out here; the result file holds all."
    rows = list(zip(found.cells, found.bad, strict=True))[:MOST_ROWS]
    number = f"{count} results" if count != 1 else "1 result"
    return GroupView(title, caption, number, count <= OPEN_ROWS, found.heads, rows)
