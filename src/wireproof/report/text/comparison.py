"""Results held against each other, for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from wireproof.model import quantity
from wireproof.model.comparison import (
    LAUNCHES,
    Comparison,
    Difference,
    Ratio,
    Scaling,
    ScalingCurve,
    Side,
    Source,
)
from wireproof.report.names import clean
from wireproof.report.text.look import Look
from wireproof.report.text.scale import BAR, bar

__all__ = ["change_text", "comparison_lines", "conclusion_text", "scaling_lines", "side_text"]

_MOST = 40
_WORDS = {
    "better": "B is better",
    "worse": "B is worse",
    "no-difference": "no difference",
    "undecided": "undecided",
    "not-compared": "not compared",
}


def comparison_lines(found: Comparison, look: Look, *, everything: bool = False) -> list[str]:
    """Both results, what differs between them, and a line for each number. ``everything``: also
    what is not compared, and why.
    """
    head = [
        f"A: {_source(found.a)}",
        f"B: {_source(found.b)}",
        *_differences("What differs", found.differ),
        *_differences("Settings that differ", found.settings),
    ]
    if not found.differ and not found.settings:
        head.append("No condition that is recorded differs.")
    compared = [row for row in found.rows if row.ratio is not None]
    left = [row for row in found.rows if row.ratio is None]
    how = "as the logs claim" if found.claimed else "95 % interval"
    title = f"B against A, {how}; above 0 % B is better" if compared else "Nothing to compare"
    shown = left if everything or not compared else []
    tail = [f"  not compared: {_what(row)}: {clean(row.reason)}" for row in shown[:_MOST]]
    if left and not shown:
        tail.append(f"{len(left)} numbers are not compared (--all says why).")
    tail += [f"note: {note}" for note in found.notes]
    return [
        *_said(head, look),
        "",
        title,
        *_table(compared),
        *_said(tail, look),
    ]


def _said(lines: Sequence[str], look: Look) -> list[str]:
    return [" " * (len(line) - len(line.lstrip())) + look.say(line.strip(), 600) for line in lines]


def _source(one: Source) -> str:
    return f"{clean(one.name)}, {clean(one.hosts)}, {clean(one.measured)}, {one.verdict}"


def scaling_lines(found: Scaling, look: Look, *, everything: bool = False) -> list[str]:
    """The results, then a table with bars for each number. ``everything``: every message size, not
    the two of each number that are looked at first.
    """
    shown = found.curves if everything else _first_sizes(found.curves)
    lines = [look.say(_source(one), 600) for one in found.sources[:_MOST]]
    for curve in shown:
        lines += ["", look.say(f"{curve.name}, {quantity.size(curve.message_bytes)}")]
        lines += _bars(curve, found.against, look)
    left = len(found.curves) - len(shown)
    lines += ["", f"{left} other message sizes are not shown (--all)."] if left else [""]
    return [*lines, *(look.say(f"note: {note}", 600) for note in found.notes)]


def _first_sizes(curves: Sequence[ScalingCurve]) -> list[ScalingCurve]:
    """8 B of times and 1 MiB of rates, or what is nearest."""
    nearest: dict[tuple[str, str], ScalingCurve] = {}
    for one in curves:
        wanted = 8 if one.unit == "ns" else 1 << 20
        best = nearest.setdefault((one.name, one.unit), one)
        if abs(one.message_bytes - wanted) < abs(best.message_bytes - wanted):
            nearest[one.name, one.unit] = one
    return list(nearest.values())


def _bars(curve: ScalingCurve, against: str, look: Look) -> list[str]:
    most = max(one.value for one in curve.points)
    row = Ratio(name="", pattern="", message_bytes=0, unit=curve.unit, conclusion="not-compared")
    first = curve.points[0].value
    lines = []
    for one in curve.points:
        value, low, high = (
            side_text(row, None if each is None else Side(value=each, results=1))
            for each in (one.value, one.low, one.high)
        )
        interval = "" if one.low is None else f"  95 %: {low} to {high}"
        picture = bar(one.value / most, look)
        lines.append(
            f"  {one.count:>7,} {against}  {value:>12}  x {one.value / first:<5.3g}  "
            f"{picture:{BAR}}{interval}".rstrip()
        )
    return lines


def _differences(title: str, found: Sequence[Difference]) -> list[str]:
    lines = [
        f"  {clean(one.name)}: {clean(one.a, 120)} -> {clean(one.b, 120)}" for one in found[:_MOST]
    ]
    if len(found) > _MOST:
        lines.append(f"  and {len(found) - _MOST} more")
    return ["", title, *lines] if lines else []


def _what(row: Ratio) -> str:
    return f"{clean(row.name)}, {quantity.size(row.message_bytes)}"


def side_text(row: Ratio, side: Side | None) -> str:
    """What one side has measured, with its unit."""
    if side is None:
        return "-"
    if row.unit == "ns":
        return f"{quantity.microseconds(side.value)} us"
    return f"{quantity.megabytes(side.value)} MB/s"


def _table(rows: Sequence[Ratio]) -> list[str]:
    cells = [
        (
            clean(row.name),
            quantity.size(row.message_bytes),
            side_text(row, row.a),
            side_text(row, row.b),
            change_text(row.ratio),
            "" if row.low is None else f"{change_text(row.low)} to {change_text(row.high)}",
            conclusion_text(row),
        )
        for row in rows
    ]
    widths = [max((len(row[column]) for row in cells), default=0) for column in range(6)]
    return ["  " + _line(row, widths) for row in cells]


def conclusion_text(row: Ratio) -> str:
    """``B is better``, and whether few launches say so."""
    few = row.launches < LAUNCHES and row.conclusion != "undecided"
    return _WORDS[row.conclusion] + (" (few launches)" if few else "")


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    name, *middle, last = row
    padded = [text.rjust(width) for text, width in zip(middle, widths[1:], strict=True)]
    return "  ".join([name.ljust(widths[0]), *padded, last])


def change_text(ratio: float | None) -> str:
    """``+3.2 %``."""
    return "-" if ratio is None else f"{(ratio - 1) * 100:+.1f} %"
