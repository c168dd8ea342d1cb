"""Charts of numbers against a count: published curves against message size, results against the
number of nodes or ranks, predictions against the number of nodes.
"""

import math
from collections.abc import Iterable, Sequence

from wireproof.model import gathered, quantity
from wireproof.model.atlas import AtlasView, Spread
from wireproof.model.history import Scaling, ScalingCurve
from wireproof.model.planning import Prediction, Scale
from wireproof.report.figure import Axis, Chart, Line, Mark, decades, plain
from wireproof.report.names import clean

_MOST_PUBLISHED, _MOST_CURVES = 24, 12
_FAR = 10.0
"""Times that differ by a larger factor are drawn on a logarithmic axis."""
_TIME, _RATE = "time (µs)", "goodput (MB/s)"


def _marks(lines: Iterable[Line]) -> list[Mark]:
    return [mark for line in lines for mark in line.marks] or [Mark(1, 1, 1, 1, "")]


def _in_words(lines: Iterable[Line]) -> str:
    """Return both ends of each line."""
    return "; ".join(f"{line.name}: {line.marks[0].tip} to {line.marks[-1].tip}" for line in lines)


def atlas_chart(found: AtlasView) -> Chart:
    """Return the pattern with most series, a line for each. Only one pattern is drawn, because
    several do not fit into one picture.
    """
    patterns = [(one.pattern, one.quantity) for one in found.series]
    chosen = max(dict.fromkeys(patterns), key=patterns.count, default=("", "time"))
    shown = [one for one in found.series if (one.pattern, one.quantity) == chosen]
    lines = tuple(line for one in shown[:_MOST_PUBLISHED] if (line := _published(one)).marks)
    marks = _marks(lines)
    names = ", ".join(dict.fromkeys(one.link for one in shown))
    left = len(shown) - _MOST_PUBLISHED
    more = f"; {left} more are not drawn" if left > 0 else ""
    return Chart(
        id="atlas",
        title=f"{names} {chosen[0]}: published numbers",
        note=f"One line for each series{more}.",
        alt=f"Published curves. {_in_words(lines)}.",
        x=_powers("message size (bytes)", [mark.x for mark in marks], 2.0),
        y=_powers(_TIME if chosen[1] == "time" else _RATE, [mark.y for mark in marks], 10.0),
        lines=lines,
    )


def _published(one: Spread) -> Line:
    scale, unit = (1e3, "µs") if one.quantity == "time" else (1e6, "MB/s")
    marks = (
        Mark(float(size), *(value / scale,) * 3, f"{value / scale:.4g} {unit} at {size} B")
        for size, value in one.si
        if size
    )
    return Line(clean(f"{one.source}, {one.tool}", 60), tuple(marks))


def _powers(label: str, values: Sequence[float], base: float) -> Axis:
    """Return a logarithmic axis from one power of the base to another."""
    low = math.floor(math.log(min(values), base))
    high = max(low + 1, math.ceil(math.log(max(values), base) - 1e-9))
    ticks = [base**power for power in range(low, high + 1)]
    words = [quantity.size(int(tick)) if base == 2 else f"{tick:g}" for tick in ticks]
    return Axis(label, True, ticks[0], ticks[-1], tuple(zip(ticks, words, strict=True)))


def scaling_chart(found: Scaling) -> Chart:
    """Return the times, or the rates if there are no times; both do not fit into one picture."""
    unit = "ns" if any(one.unit == "ns" for one in found.curves) else "bytes_per_s"
    chosen = [one for one in found.curves if one.unit == unit]
    lines = tuple(_measured(one, found.against) for one in chosen[:_MOST_CURVES])
    marks = _marks(lines)
    left = len(found.curves) - len(lines) if chosen[_MOST_CURVES:] else 0
    more = f" {left} more curves are not drawn." if left else ""
    claimed = " The numbers are claims of logs." if found.claimed else ""
    return Chart(
        id="scaling",
        title=f"Measured against the number of {found.against}",
        note=f"Bands are 95 % intervals.{claimed}{more}",
        alt=f"Curves against the number of {found.against}. {_in_words(lines)}.",
        x=_around(f"number of {found.against}", [mark.x for mark in marks]),
        y=_around(
            _TIME if unit == "ns" else _RATE,
            [end for mark in marks for end in (mark.low, mark.high)],
        ),
        lines=lines,
    )


def _measured(curve: ScalingCurve, against: str) -> Line:
    factor = 1e-3 if curve.unit == "ns" else 1e-6
    marks = []
    for one in curve.points:
        ends = one.value, one.low or one.value, one.high or one.value
        value, low, high = (each * factor for each in ends)
        marks.append(Mark(one.count, value, low, high, f"{value:.4g} at {one.count} {against}"))
    return Line(f"{clean(curve.name, 60)} {quantity.size(curve.message_bytes)}", tuple(marks))


def _around(label: str, values: Sequence[float]) -> Axis:
    low, high = min(values) / 1.15, max(values) * 1.15
    return Axis(label, True, low, high, decades(low, high))


def scale_chart(found: Scale) -> Chart | None:
    """Return a line for each pattern and order; None if no predicted time is above 0."""
    groups = gathered(
        ((one.pattern, one.order), one) for one in found.predictions if one.latency_ns > 0
    )
    if not groups:
        return None
    lines = tuple(
        Line(f"{order} {pattern}".strip(), tuple(map(_predicted, rows)))
        for (pattern, order), rows in groups.items()
    )
    marks = _marks(lines)
    nodes = sorted({mark.x for mark in marks})
    ticks = tuple((each, f"{each:,.0f}") for each in nodes)
    return Chart(
        id="scale",
        title="Predicted time by number of nodes",
        note=f"{found.topology}. The band is the spread. Point at a mark to read its time.",
        alt=f"Predicted time by number of nodes. {_in_words(lines)}.",
        x=Axis("nodes", True, nodes[0] / 1.1, nodes[-1] * 1.1, ticks),
        y=_times(min(mark.low for mark in marks), max(mark.high for mark in marks)),
        lines=lines,
    )


def _predicted(one: Prediction) -> Mark:
    share = one.latency_ns / one.time_ns / 1e3
    low, high = one.spread_ns.low * share, one.spread_ns.high * share
    tip = f"{one.nodes:,} nodes, {one.ranks:,} ranks: {quantity.short_time(one.latency_ns)}"
    return Mark(float(one.nodes), one.latency_ns / 1e3, low, high, tip)


def _times(low: float, high: float) -> Axis:
    if low > 0 and high >= _FAR * low:
        low, high = 10.0 ** math.floor(math.log10(low)), 10.0 ** math.ceil(math.log10(high))
        return Axis(_TIME, True, low, high, decades(low, high))
    return Axis(_TIME, False, 0.0, high * 1.05, plain(0.0, high * 1.05))
