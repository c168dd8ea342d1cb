"""Where a number lies among published ones: a strip of dots as SVG."""

from __future__ import annotations

import math
from html import escape

from wireproof.model.quantity import short_time, throughput
from wireproof.report.document import Dots
from wireproof.report.names import clean

__all__ = ["strip"]

_WIDE, _HIGH, _EDGE, _LINE = 640, 58, 14.0, 24.0


def _shown(one: Dots, value: float) -> str:
    return short_time(value) if one.quantity == "time" else throughput(value)


def strip(one: Dots) -> str:
    """Slower at the left, faster at the right, on a logarithmic scale; the measured number is the
    triangle. Dots of one place stand above each other.
    """
    every = [*one.values, *([one.value] if one.value else [])]
    low, high = min(every), max(every)
    label = f"Strip of {len(one.values)} published numbers. {one.words}"
    parts = [
        (
            f'<svg class="figure strip" viewBox="0 0 {_WIDE} {_HIGH}" role="img"'
            f' aria-label="{escape(clean(label, 800))}">'
        ),
        f'<path class="grid" d="M{_EDGE} {_LINE + 8}H{_WIDE - _EDGE}"/>',
    ]
    taken: dict[int, int] = {}
    for value in one.values:
        at = _at(one, value, low, high)
        above = taken[round(at / 6)] = taken.get(round(at / 6), -1) + 1
        tip = f"<title>{escape(_shown(one, value))}</title>"
        place = max(4.0, _LINE - 6 * above)
        parts.append(f'<g class="s4"><circle class="dot" cx="{at:.1f}" cy="{place:.1f}" r="3">')
        parts.append(f"{tip}</circle></g>")
    if one.value:
        at = _at(one, one.value, low, high)
        mark = f"M{at:.1f} {_LINE + 4:.1f}l6 11h-12z"
        tip = f"<title>{escape(f'this run: {_shown(one, one.value)}')}</title>"
        parts.append(f'<g class="s1"><path class="dot mine" d="{mark}">{tip}</path></g>')
    ends = (high, low) if one.quantity == "time" else (low, high)
    for x, anchor, value in ((_EDGE, "start", ends[0]), (_WIDE - _EDGE, "end", ends[1])):
        shown = escape(_shown(one, value))
        parts.append(
            f'<text class="tick" x="{x:.0f}" y="{_HIGH - 4}" text-anchor="{anchor}">{shown}</text>'
        )
    return "".join([*parts, "</svg>"])


def _at(one: Dots, value: float, low: float, high: float) -> float:
    share = math.log(value / low) / math.log(high / low) if high > low else 0.5
    share = 1 - share if one.quantity == "time" else share
    return 2 * _EDGE + share * (_WIDE - 4 * _EDGE)
