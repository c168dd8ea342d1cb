"""What a figure shows, apart from how it is drawn: axes, lines with their intervals, limits, zones
and steps. Values are in the unit that the axis names.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Axis", "Chart", "ChartStep", "Limit", "Line", "Mark", "Zone"]


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
