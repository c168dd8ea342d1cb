"""The pair picture: goodput from every host to every host, coloured by its share of what is
attainable.

Colours go from dark orange (slow) over white to blue (full rate): safe for colour-blind readers,
and lightness alone tells the order up to full rate. A failed direction is outlined and worded as
well, never shown by colour alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from wireproof.model import quantity
from wireproof.report.names import clean, natural
from wireproof.report.rows import Cell, ResultTable

__all__ = ["GRADIENT", "HeatCell", "HeatMap", "HeatRow", "heat_map", "shade"]

PRINTED_HOSTS = 16
MOST_HOSTS = 64
_STOPS: tuple[tuple[float, tuple[int, int, int]], ...] = (
    (0.00, (124, 45, 10)),
    (0.40, (217, 95, 20)),
    (0.70, (250, 178, 107)),
    (0.88, (246, 236, 222)),
    (0.95, (213, 228, 244)),
    (1.00, (166, 202, 236)),
)
GRADIENT = (
    "linear-gradient(90deg,"
    + ",".join(f"rgb{rgb} {at:.0%}" for at, rgb in _STOPS).replace(" ", " ")
    + ")"
)


@dataclass(frozen=True)
class HeatCell:
    value: str
    share: str
    word: str
    fill: str
    ink: str
    bad: bool
    title: str
    self: bool = False


@dataclass(frozen=True)
class HeatRow:
    host: str
    cells: list[HeatCell | None]


@dataclass(frozen=True)
class HeatMap:
    """``many``: too many hosts to print values in the cells; the pointer and screen readers still
    get them.
    """

    id: str
    pattern: str
    size: str
    hosts: list[str]
    rows: list[HeatRow]
    many: bool
    shares: bool
    scale: str
    note: str
    gradient: str = GRADIENT


def shade(share: float) -> tuple[str, str]:
    """Background and text colour for a share of the attainable goodput (clamped to 0 … 1)."""
    at = min(1.0, max(0.0, share))
    for (low, first), (high, second) in pairwise(_STOPS):
        if at <= high:
            part = (at - low) / (high - low)
            rgb = tuple(round(a + (b - a) * part) for a, b in zip(first, second, strict=True))
            break
    light = 0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2]
    return f"rgb({rgb[0]},{rgb[1]},{rgb[2]})", "#1c2430" if light > 118 else "#ffffff"


def heat_map(table: ResultTable, name: str) -> HeatMap | None:
    """The picture of one table, or None when it holds fewer than two directions between different
    hosts.
    """
    size, cells = table.directed
    if size is None or len(cells) < 2:
        return None
    by_route = {(cell.origin, cell.target): cell for cell in cells}
    hosts, note = _shown_hosts(cells)
    many = len(hosts) > PRINTED_HOSTS
    shares = any(cell.efficiency is not None for cell in cells)
    best = max(cell.goodput for cell in cells)
    rows = [
        HeatRow(clean(a, 80), [_cell(by_route.get((a, b)), a == b, best, many) for b in hosts])
        for a in hosts
    ]
    return HeatMap(
        name,
        table.pattern,
        quantity.size(size),
        [clean(host, 80) for host in hosts],
        rows,
        many,
        shares,
        "of the attainable goodput" if shares else "of the fastest direction",
        note,
    )


def _shown_hosts(cells: Sequence[Cell]) -> tuple[list[str], str]:
    """The hosts of the picture, and which are left out: those with the slowest directions stay."""
    hosts = sorted({host for cell in cells for host in (cell.origin, cell.target)}, key=natural)
    if len(hosts) <= MOST_HOSTS:
        return hosts, ""
    slow = sorted(cells, key=lambda cell: cell.goodput)
    first = dict.fromkeys(host for cell in slow for host in (cell.origin, cell.target))
    note = f"The {MOST_HOSTS} hosts with the slowest directions of {len(hosts)} are shown."
    return sorted(list(first)[:MOST_HOSTS], key=natural), note


def _cell(cell: Cell | None, same: bool, best: float, many: bool) -> HeatCell | None:
    if same:
        return HeatCell("", "", "", "", "", False, "", self=True)
    if cell is None:
        return None
    share = cell.efficiency if cell.efficiency is not None else cell.goodput / best
    fill, ink = shade(share)
    bad = cell.verdict == "fail"
    word = "" if cell.verdict == "pass" else "fail" if bad else "not sure"
    title = (
        f"{clean(cell.origin, 80)} → {clean(cell.target, 80)}: {quantity.megabytes(cell.goodput)} "
        f"MB/s {quantity.plus_minus(cell.half_width)}"
    )
    title += f", {cell.proof}, {cell.verdict}"
    shown = quantity.percent(cell.efficiency) if cell.efficiency is not None else cell.verdict
    value = quantity.significant(cell.goodput / 1e6, 4 if many else 3)
    return HeatCell(value, shown, word, fill, ink, bad, title)
