"""Tables of the page that can be sorted, filtered and saved: each cell as it is shown and, where
that is a number, as a program wants it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from wireproof.model import quantity
from wireproof.model.disclosure import Disclosed
from wireproof.model.finding import Finding
from wireproof.report.audit import setting_rows
from wireproof.report.group_cells import cells_of
from wireproof.report.group_rows import GroupTable
from wireproof.report.judged_run import JudgedRun, suspected
from wireproof.report.names import clean, fold
from wireproof.report.rows import ResultRow, ResultTable, chosen
from wireproof.report.text.groups import LEGEND

__all__ = [
    "MOST_ROWS",
    "Grid",
    "GridCell",
    "GridColumn",
    "count_of",
    "disclosure_grid",
    "group_grid",
    "number",
    "result_grid",
    "setting_grid",
]

MOST_ROWS = 400
OPEN_ROWS = 40


@dataclass(frozen=True)
class GridColumn:
    """``name``: in a CSV file, with the unit of the raw values. ``text``: words, set to the
    left. Lines of a title are parted by line breaks.
    """

    title: str
    name: str
    text: bool = False

    @property
    def lines(self) -> list[str]:
        return self.title.split("\n")


@dataclass(frozen=True)
class GridCell:
    """``raw`` is the number for sorting and for CSV; "" where the text itself is the value."""

    text: str
    raw: str = ""


@dataclass(frozen=True)
class Grid:
    """``rows``: a tone (``bad``, ``unsure`` or "") and the cells. ``left_out``: so many rows are in
    the result file alone.
    """

    id: str
    title: str
    caption: str
    columns: list[GridColumn]
    rows: list[tuple[str, list[GridCell]]]
    count: str
    open: bool
    words: bool = False
    left_out: int = 0


def count_of(number: int) -> str:
    """``1 result``, ``21 results``."""
    return f"{number} results" if number != 1 else "1 result"


def number(value: float | None, text: str, digits: int = 6) -> GridCell:
    """A cell with its raw value; one that is not known has none."""
    known = value is not None and math.isfinite(value)
    return GridCell(text, f"{value:.{digits}g}" if known else "")


def result_grid(table: ResultTable, name: str, findings: Iterable[Finding] = ()) -> Grid:
    """All results of one pattern; of very many the culprits' and those that do not pass stay."""
    rows = chosen(table.rows, findings, MOST_ROWS)
    left = len(table.rows) - len(rows)
    one = clean(" → ".join(table.rows[0].between), 200) + ". " if table.pairs == 1 else ""
    caption = f"{one}Median with half of its 95 % interval."
    if left:
        caption += f" {left} rows are left out here; the result file holds all."
    return Grid(
        id=name,
        title=table.title,
        caption=caption,
        columns=_columns(table),
        rows=[(_TONES[row.pair.verdict], _cells(row, table.unit == "ns")) for row in rows],
        count=count_of(len(table.rows)),
        open=len(rows) <= OPEN_ROWS,
        left_out=left,
    )


_TONES = {"pass": "", "fail": "bad", "inconclusive": "unsure"}


def _columns(table: ResultTable) -> list[GridColumn]:
    timed = table.unit == "ns"
    time = "half round trip" if table.halved else "time per message"
    interval = GridColumn("95 %\n±", "half_width_share")
    first = [
        GridColumn("size", "message_bytes"),
        GridColumn("from → to", "from_to", True),
        GridColumn(f"{time}\nµs", f"{time.replace(' ', '_')}_us"),
    ]
    rates = [
        GridColumn("goodput\nMB/s", "goodput_MB_per_s"),
        GridColumn("\nGb/s", "goodput_Gb_per_s"),
    ]
    rest = [
        GridColumn("of attain-\nable", "efficiency_share"),
        GridColumn("of line\nrate", "line_rate_share"),
        GridColumn("proof", "proof", True),
        GridColumn("label", "label", True),
        GridColumn("verdict", "verdict", True),
    ]
    between = [interval, *rates] if timed else [*rates, interval]
    return [*first, *between, *rest]


def _cells(row: ResultRow, timed: bool) -> list[GridCell]:
    pair = row.pair
    repeat = f" (#{pair.repeat + 1})" if pair.repeat else ""
    interval = number(pair.half_width, quantity.plus_minus(pair.half_width), 3)
    time = None if row.time_ns is None else row.time_ns / 1e3
    rate = row.goodput
    rates = [
        number(rate and rate / 1e6, quantity.megabytes(rate)),
        number(rate and rate * 8 / 1e9, quantity.gigabits(rate)),
    ]
    codes = f" ({clean(', '.join(pair.codes), 80)})" if pair.codes else ""
    return [
        GridCell(quantity.size(pair.message_bytes), str(pair.message_bytes)),
        GridCell(" → ".join(clean(name, 80) for name in row.between) + repeat),
        number(time, quantity.microseconds(row.time_ns)),
        *([interval, *rates] if timed else [*rates, interval]),
        number(row.efficiency, quantity.percent(row.efficiency), 4),
        number(row.nominal, quantity.percent(row.nominal), 4),
        GridCell(pair.proof),
        GridCell(clean(pair.label, 20)),
        GridCell(pair.verdict + codes),
    ]


def group_grid(table: GroupTable, name: str) -> Grid:
    """Points of many ranks together: only columns that have a value."""
    found = cells_of(table)
    count = len(found.cells)
    caption = f"{LEGEND[0].upper()}{LEGEND[1:]}."
    if count > MOST_ROWS:
        caption += f" {count - MOST_ROWS} rows are left out here; the result file holds all."
    return Grid(
        id=name,
        title=table.title,
        caption=caption,
        columns=[GridColumn(head.title, head.title, head.left) for head in found.heads],
        rows=[
            (tone, [GridCell(text) for text in cells])
            for cells, tone in zip(found.cells[:MOST_ROWS], found.tones, strict=False)
        ],
        count=count_of(count),
        open=count <= OPEN_ROWS,
        left_out=max(0, count - MOST_ROWS),
    )


def disclosure_grid(section: JudgedRun, name: str) -> Grid | None:
    """The configuration that it was measured with; what is not known says why."""
    found = section.disclosure
    if found is None:
        return None
    known = sum(bool(item.value) for item in found.items)
    rows = [
        ("" if item.value else "unsure", [GridCell(text) for text in _disclosed(item)])
        for item in found.items
    ]
    return Grid(
        id=f"{name}-disclosure",
        title="Configuration disclosure",
        caption="What it was measured with, for whoever compares or repeats it. Hosts are named "
        "where they differ.",
        columns=[GridColumn(one, one, True) for one in ("group", "item", "value", "hosts")],
        rows=rows,
        count=f"{known} items known, {len(rows) - known} not",
        open=False,
        words=True,
    )


def _disclosed(item: Disclosed) -> tuple[str, str, str, str]:
    value = clean(item.value, 600) or f"not known: {clean(item.why, 200)}"
    return item.group, clean(item.name, 80), value, fold(item.hosts)


_SETTING = ("setting", "hosts", "is", "should be", "why, expected effect", "fix, undo")
_CSV = ("setting", "hosts", "is", "should_be", "why", "fix_and_undo")


def setting_grid(section: JudgedRun, name: str) -> Grid | None:
    """What fails in the audit of the hosts, an entry once with its node set: what may be the cause,
    then the largest expected effect. None without an audit, or where nothing fails.
    """
    rows = setting_rows(section.settings, *suspected(section)) if section.settings else []
    if not rows:
        return None
    cause = "may be the cause" in rows[0][0]
    plural = "s" if len(rows) > 1 else ""
    return Grid(
        id=f"{name}-settings",
        title=f"{len(rows)} setting{plural} of these hosts not as the fabric needs",
        caption="What may be the cause first, then by the largest expected effect.",
        columns=[GridColumn(title, one, True) for title, one in zip(_SETTING, _CSV, strict=True)],
        rows=[("", [GridCell(cell) for cell in row]) for row in rows],
        count=f"{len(rows)} entr{'ies' if plural else 'y'}",
        open=cause,
        words=True,
    )
