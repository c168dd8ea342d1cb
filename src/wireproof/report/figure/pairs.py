"""Every pair of up to 1,024 hosts as packed numbers, which the page's script draws and zooms.
Without scripts, only the map of leaves is shown.
"""

from __future__ import annotations

import base64
import json
import math
import sys
from array import array
from collections.abc import Sequence
from html import escape
from typing import Any

from wireproof.model import quantity
from wireproof.report.figure import Ink
from wireproof.report.figure.drawing import LEVELS, scale_line, shade
from wireproof.report.html import in_script
from wireproof.report.names import clean
from wireproof.report.rows import Cell, ResultTable, shown_hosts

MOST_HOSTS = 1024
_MOST = 65_534
"""Largest value in 16 bits; 0 means no value."""
_VERDICTS = ("pass", "fail", "inconclusive")
_PROOFS = ("on-wire", "off-wire", "wrong-path", "mixed", "unproven")
_NARROWEST, _DECADES, _WIDTHS = 1e-4, 5.0, 253
"""A half-width takes one byte, on a logarithmic scale from 0.01 % to a factor of 10 in steps of 4.7
%.
"""


def packed(table: ResultTable) -> dict[str, Any] | None:
    """Return the data of one table of rates for the script, or None with fewer than two
    directions.
    """
    size, cells = table.directed
    if size is None or len(cells) < 2:
        return None
    hosts, left = shown_hosts(cells, MOST_HOSTS)
    place = {host: index for index, host in enumerate(hosts)}
    shown = [cell for cell in cells if cell.origin in place and cell.target in place]
    best = max(cell.goodput for cell in shown)
    return {
        "hosts": [clean(host, 80) for host in hosts],
        "left_out": left,
        "most": best / 1e6,
        "reference": _reference(shown, best) / 1e6,
        "shades": [shade(level / LEVELS)[0] for level in range(LEVELS + 1)],
        "verdicts": _VERDICTS,
        "proofs": _PROOFS,
        "narrowest": _NARROWEST,
        "decades": _DECADES,
        "widths": _WIDTHS,
        **_packed(shown, place, best),
    }


def pair_map(table: ResultTable, name: str) -> Ink | None:
    """Return the map as a picture that the page's script draws. ``name`` begins its identifier on
    the page.
    """
    data = packed(table)
    if data is None:
        return None
    total = len(data["hosts"]) + data["left_out"]
    more = (
        f" Of {total} hosts, those with the slowest directions are shown."
        if data["left_out"]
        else ""
    )
    title = f"Every pair: {table.pattern} at {quantity.size(table.directed[0] or 0)}"
    text = in_script(json.dumps(data, separators=(",", ":"), allow_nan=False))
    scale = scale_line(f"of {quantity.megabytes(data['reference'] * 1e6)} MB/s")
    markup = (
        f'<canvas width="600" height="600" tabindex="0" role="img" aria-label="{escape(title)}">'
        f"</canvas>{scale}"
        f'<script type="application/json" id="{name}-data">{text}</script>'
    )
    note = (
        "Rows send, columns receive. Point at a cell or use the arrow keys to read it; + and - "
        "zoom. When zoomed out, a point shows the slowest of the pairs that it covers."
    )
    return Ink(markup, title, note + more, "pairs")


def _reference(cells: Sequence[Cell], best: float) -> float:
    """Return the rate with full shade: the attainable goodput if known, otherwise the fastest."""
    known = [cell.goodput / cell.efficiency for cell in cells[:200] if cell.efficiency]
    return max(known, default=best)


def _packed(cells: Sequence[Cell], place: dict[str, int], best: float) -> dict[str, str]:
    """Return rows of little-endian numbers, ordered by cell number: row x hosts + column.

    ``at`` contains the cell numbers. It is empty if most cells are known: then every cell is in the
    rows, and unknown cells have the value 0.
    """
    count = len(place)
    at = [place[one.origin] * count + place[one.target] for one in cells]
    dense = 2 * len(cells) > count * count
    length = count * count if dense else len(cells)
    values, widths, marks = array("H", [0]) * length, bytearray(length), bytearray(length)
    for number, (one, cell) in enumerate(zip(cells, at, strict=True)):
        where = cell if dense else number
        values[where] = 1 + min(_MOST, round(_MOST * one.goodput / best))
        widths[where] = _width(one.half_width)
        marks[where] = _mark(one)
    return {
        "at": "" if dense else _base64(array("I", at)),
        "value": _base64(values),
        "width": base64.b64encode(widths).decode("ascii"),
        "mark": base64.b64encode(marks).decode("ascii"),
    }


def _width(share: float | None) -> int:
    """Return a half-width as a byte; 0 if unknown."""
    if share is None or not math.isfinite(share) or share < 0:
        return 0
    if share <= _NARROWEST:
        return 1
    return 1 + min(_WIDTHS, round(_WIDTHS * math.log10(share / _NARROWEST) / _DECADES))


def _mark(cell: Cell) -> int:
    verdict = _VERDICTS.index(cell.verdict) if cell.verdict in _VERDICTS else 2
    return verdict + 4 * (_PROOFS.index(cell.proof) if cell.proof in _PROOFS else 4)


def _base64(numbers: array[int]) -> str:
    if sys.byteorder == "big":
        numbers.byteswap()
    return base64.b64encode(numbers.tobytes()).decode("ascii")
