"""Latency against nodes as one SVG: a line for each pattern and order.

Nodes stand on a logarithmic axis; latencies on one from 0, or on a logarithmic one where they
differ by a factor of ten or more.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from xml.sax.saxutils import escape

from wireproof.model.planning.scale import Prediction, Scale
from wireproof.report.text.scale import time_text

__all__ = ["scale_svg"]

_WIDE, _HIGH, _LEFT, _BOTTOM, _TOP, _RIGHT = 800.0, 460.0, 80.0, 400.0, 40.0, 780.0
_FAR = 10.0
_DASHES = ("", "8 4", "2 3", "10 3 2 3")
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00")


def scale_svg(found: Scale) -> str:
    """The chart; a line differs by dashes, marks' titles give every value."""
    lines: dict[tuple[str, str], list[Prediction]] = {}
    for one in found.predictions:
        if one.latency_ns > 0:
            lines.setdefault((one.pattern, one.order), []).append(one)
    every = [one for rows in lines.values() for one in rows]
    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDE:.0f} {_HIGH:.0f}"'
            ' font-family="sans-serif" font-size="13" role="img">'
        ),
        f"<title>{escape('Predicted latency by number of nodes; ' + found.topology)}</title>",
        f'<rect width="{_WIDE:.0f}" height="{_HIGH:.0f}" fill="#ffffff"/>',
    ]
    if every:
        axes = _Axes(every)
        parts += axes.marks()
        for number, (key, rows) in enumerate(lines.items()):
            parts += _line(axes, number, " ".join(filter(None, reversed(key))), rows)
    return "\n".join([*parts, "</svg>", ""])


class _Axes:
    """From nodes and ns to places."""

    def __init__(self, every: Sequence[Prediction]) -> None:
        self.nodes = sorted({one.nodes for one in every})
        low, high = (edge(one.latency_ns for one in every) for edge in (min, max))
        self.logarithmic = high >= _FAR * low
        if self.logarithmic:
            first, last = math.floor(math.log10(low)), math.ceil(math.log10(high * 1.0001))
            self.ticks = [10.0**power for power in range(first, last + 1)]
        else:
            step = 10.0 ** math.floor(math.log10(high))
            step *= next(part for part in (0.2, 0.5, 1.0, 2.0) if high < 6 * part * step)
            self.ticks = [number * step for number in range(math.ceil(1.05 * high / step) + 1)]

    def x(self, nodes: int) -> float:
        first, last = math.log(self.nodes[0]), math.log(self.nodes[-1])
        share = (math.log(nodes) - first) / (last - first) if last > first else 0.5
        return _LEFT + share * (_RIGHT - _LEFT)

    def y(self, ns: float) -> float:
        low, high = self.ticks[0], self.ticks[-1]
        share = math.log(ns / low) / math.log(high / low) if self.logarithmic else ns / high
        return _BOTTOM - share * (_BOTTOM - _TOP)

    def marks(self) -> list[str]:
        """Lines of the grid with their numbers."""
        found = []
        for tick in self.ticks:
            at = self.y(tick)
            found.append(f'<path d="M{_LEFT} {at:.1f}H{_RIGHT}" stroke="#cccccc"/>')
            label = escape(time_text(tick)) if tick else "0"
            found.append(f'<text x="72" y="{at + 4:.1f}" text-anchor="end">{label}</text>')
        for nodes in self.nodes:
            at = self.x(nodes)
            found.append(f'<text x="{at:.1f}" y="420" text-anchor="middle">{nodes:,}</text>')
        found.append('<text x="430" y="445" text-anchor="middle">nodes</text>')
        return found


def _line(axes: _Axes, number: int, name: str, rows: Sequence[Prediction]) -> list[str]:
    colour, dash = _COLOURS[number % len(_COLOURS)], _DASHES[number % len(_DASHES)]
    places = [(axes.x(one.nodes), axes.y(one.latency_ns)) for one in rows]
    path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
    found = [
        (
            f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="2"'
            f' stroke-dasharray="{dash}"/>'
        )
    ]
    for one, (x, y) in zip(rows, places, strict=True):
        title = escape(f"{name}: {one.nodes:,} nodes, {time_text(one.latency_ns)}")
        circle = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}">'
        found.append(f"{circle}<title>{title}</title></circle>")
    left = _LEFT + 180 * (number % 4)
    high = 14 + 16 * (number // 4)
    sample = f'<path d="M{left} {high - 4}h40" stroke="{colour}" stroke-width="2"'
    found.append(f'{sample} stroke-dasharray="{dash}"/>')
    found.append(f'<text x="{left + 48}" y="{high}">{escape(name)}</text>')
    return found
