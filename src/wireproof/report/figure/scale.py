"""Predicted latency against nodes as a chart: a line for each pattern and order."""

from __future__ import annotations

import math
from collections.abc import Sequence

from wireproof.model.errors import BadInput
from wireproof.model.planning import Prediction, Scale
from wireproof.model.quantity import short_time
from wireproof.report.figure.chart import Axis, Chart, Line, Mark
from wireproof.report.figure.file import standalone
from wireproof.report.figure.ticks import decades, plain

__all__ = ["scale_chart", "scale_svg"]

_FAR = 10.0
"""Times that differ by more stand on a logarithmic axis."""


def scale_chart(found: Scale) -> Chart | None:
    """None if no time is above 0."""
    groups: dict[tuple[str, str], list[Prediction]] = {}
    for one in found.predictions:
        if one.latency_ns > 0:
            groups.setdefault((one.pattern, one.order), []).append(one)
    if not groups:
        return None
    lines = [
        Line(f"{order} {pattern}".strip(), tuple(map(_mark, rows)))
        for (pattern, order), rows in groups.items()
    ]
    marks = [mark for line in lines for mark in line.marks]
    return Chart(
        id="scale",
        title="Predicted time by number of nodes",
        note=f"{found.topology}. The band is the spread. Point at a mark to read its time.",
        alt=f"Predicted time by number of nodes. {'; '.join(map(_in_words, lines))}.",
        x=_nodes(sorted({mark.x for mark in marks})),
        y=_times(min(mark.low for mark in marks), max(mark.high for mark in marks)),
        lines=tuple(lines),
    )


def scale_svg(found: Scale) -> str:
    """The chart as a file. Raises BadInput if there is nothing to draw."""
    chart = scale_chart(found)
    if chart is None:
        raise BadInput("--svg: every predicted time is 0, there is nothing to draw.")
    return standalone(chart)


def _mark(one: Prediction) -> Mark:
    share = one.latency_ns / one.time_ns / 1e3
    low, high = one.spread_ns.low * share, one.spread_ns.high * share
    tip = f"{one.nodes:,} nodes, {one.ranks:,} ranks: {short_time(one.latency_ns)}"
    return Mark(float(one.nodes), one.latency_ns / 1e3, low, high, tip)


def _in_words(line: Line) -> str:
    return f"{line.name}: {line.marks[0].tip} to {line.marks[-1].tip}"


def _nodes(nodes: Sequence[float]) -> Axis:
    ticks = tuple((each, f"{each:,.0f}") for each in nodes)
    return Axis("nodes", True, nodes[0] / 1.1, nodes[-1] * 1.1, ticks)


def _times(low: float, high: float) -> Axis:
    if low > 0 and high >= _FAR * low:
        low, high = 10.0 ** math.floor(math.log10(low)), 10.0 ** math.ceil(math.log10(high))
        return Axis("time (µs)", True, low, high, decades(low, high))
    return Axis("time (µs)", False, 0.0, high * 1.05, plain(0.0, high * 1.05))
