"""Tables of group points for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wireproof.report.columns import grid
from wireproof.report.group_cells import cells_of
from wireproof.report.group_rows import group_tables
from wireproof.report.judged_run import JudgedRun
from wireproof.report.text.ink import Paragraph

if TYPE_CHECKING:
    from wireproof.report.text.look import Look

__all__ = ["LEGEND", "group_parts"]

MOST_ROWS = 40
_STYLES = {"bad": "bold red", "unsure": "bold yellow", "": ""}
LEGEND = (
    "µs per operation of the slowest rank in each batch; mean and max over ranks, each by its own "
    "mean; msg/s and MB/s over all ranks"
)


def group_parts(section: JudgedRun, look: Look) -> list[Paragraph]:
    """One table per pattern, then the legend; nothing without group points."""
    parts: list[Paragraph] = []
    for table in group_tables(section):
        found = cells_of(table)
        cells = [[look.say(cell, 80) for cell in row] for row in found.cells[:MOST_ROWS]]
        styles = [_STYLES[tone] for tone in found.tones[:MOST_ROWS]]
        shown, dropped = grid(found.heads, cells, styles, look)
        parts += [Paragraph.of(""), Paragraph.of(look.say(table.title), "bold"), *shown]
        if len(found.cells) > MOST_ROWS:
            parts.append(
                Paragraph.of(
                    f"{len(found.cells) - MOST_ROWS} more rows are in the report and in --json",
                    "dim",
                )
            )
        if dropped:
            parts.append(
                Paragraph.of(look.say(f"not shown at this width: {', '.join(dropped)}"), "dim")
            )
    return [*parts, Paragraph.of(""), Paragraph.of(look.say(LEGEND), "dim")] if parts else []
