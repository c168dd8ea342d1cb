"""What a figure shows, apart from how it is drawn: axes, lines with their intervals, limits, zones
and steps. Values are in the unit that the axis names.
"""

import math
from dataclasses import dataclass

from wireproof.model import quantity


@dataclass(frozen=True)
class Axis:
    """``low`` and ``high`` are its ends (above 0 where ``log``); ``ticks`` a value and its word."""

    label: str
    log: bool
    low: float
    high: float
    ticks: tuple[tuple[float, str], ...]


@dataclass(frozen=True)
class Mark:
    """A point with its interval. ``tip``: what a pointer or the arrow keys say of it."""

    x: float
    y: float
    low: float
    high: float
    tip: str


@dataclass(frozen=True)
class Line:
    """``stairs``: the value holds until the next mark, as in a cumulative share; such a line has no
    dots. Each line has a colour and a dash of its own by its place in the chart.
    """

    name: str
    marks: tuple[Mark, ...]
    stairs: bool = False


@dataclass(frozen=True)
class Limit:
    """What cannot be passed: a dashed curve with its words, which stand at its left end."""

    words: str
    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Zone:
    """From the left end to ``until`` the limits do not hold, and ``words`` say why."""

    words: str
    until: float


@dataclass(frozen=True)
class ChartStep:
    """Something that happens at ``at`` of the horizontal axis."""

    words: str
    at: float


@dataclass(frozen=True)
class Chart:
    """``alt`` says what can be seen, ``note`` how to read it."""

    id: str
    title: str
    note: str
    alt: str
    x: Axis
    y: Axis
    lines: tuple[Line, ...]
    limits: tuple[Limit, ...] = ()
    zones: tuple[Zone, ...] = ()
    steps: tuple[ChartStep, ...] = ()


@dataclass(frozen=True)
class Ink:
    """A picture as markup of ours, in which every foreign text is escaped. ``kind``: its class on a
    page; without a ``title`` the markup stands there alone.
    """

    markup: str
    title: str = ""
    note: str = ""
    kind: str = ""


def decades(low: float, high: float) -> tuple[tuple[float, str], ...]:
    """1, 10, 100 …, and 2 and 5 as well when fewer than three would show."""
    ticks: list[float] = []
    for steps in ((1,), (1, 2, 5), range(1, 10)):
        exact = [step * 10.0**power for power in range(-9, 16) for step in steps]
        ticks = [value for value in exact if low <= value <= high]
        if len(ticks) >= 3:
            break
    return tuple((value, _number(value)) for value in ticks)


def plain(low: float, high: float, about: int = 6) -> tuple[tuple[float, str], ...]:
    """Multiples of 1, 2 or 5 times a power of ten, about as many as asked."""
    if not (math.isfinite(low) and math.isfinite(high)) or high <= low:
        return ()
    rough = (high - low) / about
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(one * power for one in (1, 2, 5, 10) if one * power >= rough)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return tuple((number * step, _number(number * step)) for number in range(first, last + 1))


def sizes(low: float, high: float, zero_at: float) -> tuple[tuple[float, str], ...]:
    """Powers of two with their names; at the left end 0 where a message of 0 bytes is drawn."""
    step = 2 if high / low > 1 << 6 else 1
    found = [float(1 << shift) for shift in range(0, 41, step) if low <= 1 << shift <= high]
    if low > zero_at:
        return tuple((value, quantity.size(int(value))) for value in found)
    return ((zero_at, "0"), *((one, quantity.size(int(one))) for one in found if one > 2))


def _number(value: float) -> str:
    """Plain digits, without an exponent."""
    return f"{value:.9f}".rstrip("0").rstrip(".")
