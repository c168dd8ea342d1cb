"""The published curves of one link as a picture: value against size, a line for each series."""

from __future__ import annotations

import math

from wireproof.model import quantity
from wireproof.model.atlas import AtlasView, Spread
from wireproof.report.figure.chart import Axis, Chart, Line, Mark
from wireproof.report.figure.file import standalone
from wireproof.report.names import clean

__all__ = ["figure"]

_MOST = 24


def figure(found: AtlasView) -> str:
    """The text of an SVG file of the pattern that has most series: several are no one picture."""
    patterns = [(one.pattern, one.quantity) for one in found.series]
    chosen = max(dict.fromkeys(patterns), key=patterns.count, default=("", "time"))
    shown = [one for one in found.series if (one.pattern, one.quantity) == chosen]
    lines = tuple(line for one in shown[:_MOST] if (line := _line(one)).marks)
    marks = [mark for line in lines for mark in line.marks] or [Mark(1, 1, 1, 1, "")]
    names = ", ".join(dict.fromkeys(one.link for one in shown))
    left = f"; {len(shown) - _MOST} more are not drawn" if len(shown) > _MOST else ""
    what = "time (us)" if chosen[1] == "time" else "goodput of one direction (MB/s)"
    chart = Chart(
        id="atlas",
        title=f"{names} {chosen[0]}: published numbers",
        note=f"One line for each series{left}.",
        alt="; ".join(_in_words(line) for line in lines),
        x=_axis("message size (bytes)", [mark.x for mark in marks], binary=True),
        y=_axis(what, [mark.y for mark in marks], binary=False),
        lines=lines,
    )
    return standalone(chart)


def _line(one: Spread) -> Line:
    scale = 1e3 if one.quantity == "time" else 1e6
    marks = tuple(
        Mark(float(size), value / scale, value / scale, value / scale, quantity.size(size))
        for size, value in one.si
        if size
    )
    return Line(clean(f"{one.source}, {one.tool}", 60), marks)


def _in_words(line: Line) -> str:
    first, last = line.marks[0], line.marks[-1]
    return f"{line.name}: {first.y:.4g} at {first.x:.0f} B to {last.y:.4g} at {last.x:.0f} B"


def _axis(label: str, values: list[float], *, binary: bool) -> Axis:
    base = 2.0 if binary else 10.0
    low = math.floor(math.log(min(values), base))
    high = max(low + 1, math.ceil(math.log(max(values), base) - 1e-9))
    ticks = [base**power for power in range(low, high + 1)]
    words = [quantity.size(int(tick)) if binary else f"{tick:g}" for tick in ticks]
    return Axis(label, True, ticks[0], ticks[-1], tuple(zip(ticks, words, strict=True)))
