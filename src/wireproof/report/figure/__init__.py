"""The content of a figure, separate from its drawing: axes, lines with intervals, limits, zones and
steps. Values are in the unit that the axis names.
"""

import math

import msgspec

from wireproof.model import quantity


class Axis(msgspec.Struct, frozen=True):
    """``low`` and ``high``: its ends (above 0 if ``log``); ``ticks``: values with their labels."""

    label: str
    log: bool
    low: float
    high: float
    ticks: tuple[tuple[float, str], ...]


class Mark(msgspec.Struct, frozen=True):
    """A point with its interval. ``tip``: text shown for the pointer or the arrow keys."""

    x: float
    y: float
    low: float
    high: float
    tip: str


class Line(msgspec.Struct, frozen=True):
    """A line. ``stairs``: the value is constant until the next mark, as in a cumulative share; the
    line then has no dots. The position of a line in the chart determines its colour and dash
    pattern.
    """

    name: str
    marks: tuple[Mark, ...]
    stairs: bool = False


class Limit(msgspec.Struct, frozen=True):
    """A physical limit: a dashed curve with its label at the left end."""

    words: str
    points: tuple[tuple[float, float], ...]


Labelled = tuple[str, float]
"""The label of a position on the horizontal axis: an event, or the right end of a zone."""


class Chart(msgspec.Struct, frozen=True):
    """A chart. ``alt``: description of the content; ``note``: advice on reading it. ``zones``:
    ranges from the left end in which the limits do not apply, with the reason; ``steps``: events.
    """

    id: str
    title: str
    note: str
    alt: str
    x: Axis
    y: Axis
    lines: tuple[Line, ...]
    limits: tuple[Limit, ...] = ()
    zones: tuple[Labelled, ...] = ()
    steps: tuple[Labelled, ...] = ()


class Ink(msgspec.Struct, frozen=True):
    """A picture as markup in which every foreign text is escaped. ``kind``: its CSS class; without
    a ``title``, the page shows only the markup.
    """

    markup: str
    title: str = ""
    note: str = ""
    kind: str = ""


def decades(low: float, high: float) -> tuple[tuple[float, str], ...]:
    """Return ticks at 1, 10, 100 …, also at 2 and 5 if there would be fewer than three."""
    ticks: list[float] = []
    for steps in ((1,), (1, 2, 5), range(1, 10)):
        exact = [step * 10.0**power for power in range(-9, 16) for step in steps]
        ticks = [value for value in exact if low <= value <= high]
        if len(ticks) >= 3:
            break
    return tuple((value, _number(value)) for value in ticks)


def plain(low: float, high: float, about: int = 6) -> tuple[tuple[float, str], ...]:
    """Return ticks at multiples of 1, 2 or 5 times a power of ten, about as many as requested."""
    if not (math.isfinite(low) and math.isfinite(high)) or high <= low:
        return ()
    rough = (high - low) / about
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(one * power for one in (1, 2, 5, 10) if one * power >= rough)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return tuple((number * step, _number(number * step)) for number in range(first, last + 1))


def sizes(low: float, high: float, zero_at: float) -> tuple[tuple[float, str], ...]:
    """Return ticks at powers of two, and 0 at the left end if a message of 0 bytes is drawn
    there.
    """
    step = 2 if high / low > 1 << 6 else 1
    found = [float(1 << shift) for shift in range(0, 41, step) if low <= 1 << shift <= high]
    if low > zero_at:
        return tuple((value, quantity.size(int(value))) for value in found)
    return ((zero_at, "0"), *((one, quantity.size(int(one))) for one in found if one > 2))


def _number(value: float) -> str:
    return f"{value:.9f}".rstrip("0").rstrip(".")
