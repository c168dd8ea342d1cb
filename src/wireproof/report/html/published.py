"""Where the numbers of a run lie among published ones: a strip of dots with the sentence beside."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

from wireproof.model.atlas import Place
from wireproof.model.quantity import short_time, size, throughput
from wireproof.report.html.markup import trusted
from wireproof.report.names import clean

__all__ = ["PlaceView", "place_views", "strip"]

_WIDE, _HIGH, _EDGE, _LINE = 640, 58, 14.0, 24.0


@dataclass(frozen=True)
class PlaceView:
    """``strip``: an SVG, "" below five sources; ``nearest``: source, value, adapter and MPI."""

    title: str
    sentence: str
    strip: str
    nearest: list[tuple[str, str, str]]


def place_views(places: Sequence[Place]) -> list[PlaceView]:
    """One for each number."""
    return [
        PlaceView(
            clean(f"{one.link} {one.pattern} of {size(one.message_bytes)}", 200),
            clean(one.sentence, 800),
            trusted(strip(one)) if one.faster_than is not None else "",
            [
                (
                    clean(f"{near.source} ({near.date})" if near.date else near.source, 200),
                    _shown(one, near.value),
                    clean(", ".join(filter(None, (near.adapter, near.mpi, near.file))), 300),
                )
                for near in one.nearest
            ],
        )
        for one in places
    ]


def _shown(one: Place, value: float) -> str:
    return short_time(value) if one.quantity == "time" else throughput(value)


def strip(one: Place) -> str:
    """Slower at the left, faster at the right, on a logarithmic scale; the measured number is the
    triangle. Dots of one place stand above each other.
    """
    low, high = min(*one.values, one.value), max(*one.values, one.value)
    label = f"Strip of {one.sources} published numbers. {one.sentence}"
    parts = [
        (
            f'<svg class="figure strip" viewBox="0 0 {_WIDE} {_HIGH}" role="img"'
            f' aria-label="{escape(clean(label, 800), {chr(34): "&quot;"})}">'
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


def _at(one: Place, value: float, low: float, high: float) -> float:
    share = math.log(value / low) / math.log(high / low) if high > low else 0.5
    share = 1 - share if one.quantity == "time" else share
    return 2 * _EDGE + share * (_WIDE - 4 * _EDGE)
