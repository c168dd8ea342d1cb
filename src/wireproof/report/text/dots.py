"""A strip of dots: published numbers from the slowest to the fastest, and where ours lies."""

from __future__ import annotations

import math
from collections.abc import Sequence

from wireproof.model.atlas import Place, Quantity
from wireproof.model.quantity import short_time, throughput
from wireproof.report.text.look import Look

__all__ = ["dots", "place_lines"]

_WIDTH = 40
_MARKS, _ASCII = "·:∴⁘", ".:%#"


def dots(
    values: Sequence[float], quantity: Quantity, look: Look, *, value: float | None = None
) -> str:
    """``4.1 us |·   :·▲··| 0.9 us``: faster to the right, on a logarithmic scale. More numbers at
    one place have a denser mark.
    """
    every = [*values, *([value] if value else [])]
    low, high = min(every), max(every)
    shown = short_time if quantity == "time" else throughput
    cells = [0] * _WIDTH
    for each in values:
        cells[_cell(each, low, high, quantity)] += 1
    marks = _ASCII if look.ascii else _MARKS
    text = [" " if not count else marks[min(count, len(marks)) - 1] for count in cells]
    if value:
        text[_cell(value, low, high, quantity)] = "^" if look.ascii else "▲"
    ends = (high, low) if quantity == "time" else (low, high)
    return f"{shown(ends[0])} |{''.join(text)}| {shown(ends[1])}"


def _cell(value: float, low: float, high: float, quantity: Quantity) -> int:
    share = math.log(value / low) / math.log(high / low) if high > low else 0.5
    return round((1 - share if quantity == "time" else share) * (_WIDTH - 1))


def place_lines(found: Place, look: Look) -> list[str]:
    """The sentence, and the strip where there are enough sources for it."""
    lines = [look.say(found.sentence, 600)]
    if found.faster_than is not None:
        mark = "^" if look.ascii else "▲"
        strip = dots(found.values, found.quantity, look, value=found.value)
        lines.append(f"{strip}  {mark} here")
    return lines
