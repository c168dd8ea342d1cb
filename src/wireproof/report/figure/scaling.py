"""Numbers against the count of nodes or ranks, as a picture."""

from __future__ import annotations

from collections.abc import Sequence

from wireproof.model import quantity
from wireproof.model.comparison import Scaling, ScalingCurve
from wireproof.report.figure.chart import Axis, Chart, Line, Mark
from wireproof.report.figure.file import standalone
from wireproof.report.figure.ticks import decades
from wireproof.report.names import clean

__all__ = ["scaling_figure"]

_MOST = 12


def scaling_figure(found: Scaling) -> str:
    """The text of an SVG file of the times, or of the rates if there are no times: both are no one
    picture.
    """
    unit = "ns" if any(one.unit == "ns" for one in found.curves) else "bytes_per_s"
    chosen = [one for one in found.curves if one.unit == unit]
    lines = tuple(_line(one, found.against) for one in chosen[:_MOST])
    places, ends = _reach(lines)
    left = f" {len(found.curves) - len(lines)} more curves are not drawn." if chosen[_MOST:] else ""
    claimed = " The numbers are claims of logs." if found.claimed else ""
    return standalone(
        Chart(
            id="scaling",
            title=f"Measured against the number of {found.against}",
            note=f"Bands are 95 % intervals.{claimed}{left}",
            alt="; ".join(
                f"{line.name}: {line.marks[0].tip} to {line.marks[-1].tip}" for line in lines
            ),
            x=_axis(f"number of {found.against}", places),
            y=_axis("time (µs)" if unit == "ns" else "goodput (MB/s)", ends),
            lines=lines,
        )
    )


def _reach(lines: Sequence[Line]) -> tuple[list[float], list[float]]:
    """All counts, and both ends of all intervals."""
    marks = [mark for line in lines for mark in line.marks] or [Mark(1, 1, 1, 1, "")]
    return [mark.x for mark in marks], [end for mark in marks for end in (mark.low, mark.high)]


def _line(curve: ScalingCurve, against: str) -> Line:
    factor = 1e-3 if curve.unit == "ns" else 1e-6
    marks = []
    for one in curve.points:
        ends = one.value, one.low or one.value, one.high or one.value
        value, low, high = (each * factor for each in ends)
        marks.append(Mark(one.count, value, low, high, f"{value:.4g} at {one.count} {against}"))
    return Line(f"{clean(curve.name, 60)} {quantity.size(curve.message_bytes)}", tuple(marks))


def _axis(label: str, values: list[float]) -> Axis:
    low, high = min(values) / 1.15, max(values) * 1.15
    return Axis(label, True, low, high, decades(low, high))
