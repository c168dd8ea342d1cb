"""A number over time as a chart: values with their intervals, and where the number changed."""

import math
from collections.abc import Sequence
from datetime import UTC, datetime

from wireproof.model import quantity
from wireproof.model.history import Number, NumberChange, SeriesTrend
from wireproof.model.run import seconds_of
from wireproof.report.figure.chart import Axis, Chart, ChartStep, Line, Mark, plain
from wireproof.report.names import clean

_DAY_S = 86400.0
_HOURS = (1 / 12, 0.25, 1, 3, 6, 12)
_DAYS = (1, 2, 7, 14, 30, 61, 91, 182, 365, 730, 1826, 3652)
_STEPS_S = tuple([3600.0 * one for one in _HOURS] + [_DAY_S * one for one in _DAYS])
_TICKS = 6
_MOST_STEPS = 8


def value_text(number: Number, value: float) -> str:
    """Return the value with its unit."""
    if number.unit == "ns":
        return f"{quantity.microseconds(value)} µs"
    return f"{quantity.megabytes(value)} MB/s"


def number_name(number: Number) -> str:
    """Return ``stream 1 MiB, window 64``."""
    window = f", window {number.window}" if number.window else ""
    return f"{clean(number.name, 60)} {quantity.size(number.message_bytes)}{window}"


def percent_change(one: NumberChange) -> str:
    """Return ``10.1 % worse``."""
    word = "better" if one.ratio > 1 else "worse"
    return f"{abs(one.ratio - 1) * 100:.1f} % {word}"


def trend_chart(found: SeriesTrend, name: str) -> Chart | None:
    """Return the chart; None if fewer than two results have a date."""
    marks = [
        mark
        for at, number in enumerate(found.values)
        if (mark := _mark(found, at, number)) is not None
    ]
    if len(marks) < 2 or marks[0].x >= marks[-1].x:
        return None
    number = found.line.number
    shown = found.changes[-_MOST_STEPS:]
    changes = "; ".join(f"{percent_change(one)} since {clean(one.measured, 40)}" for one in shown)
    return Chart(
        id=name,
        title=f"{number_name(number)} over time",
        note=(
            "The band is the 95 % interval of each result; a dotted line shows where the number"
            " changed. Point at a mark, or go from one to the next with the arrow keys."
        ),
        alt=(
            f"Curve of {number_name(number)} over {len(marks)} results, last"
            f" {value_text(number, number.value)}. {changes or 'No change was found'}."
        ),
        x=_time_axis(marks[0].x, marks[-1].x),
        y=_value_axis(number, marks),
        lines=(Line(number_name(number), tuple(marks)),),
        steps=tuple(
            ChartStep(percent_change(one), when)
            for one in shown
            if (when := seconds_of(one.measured)) is not None
        ),
    )


def _mark(found: SeriesTrend, at: int, number: Number) -> Mark | None:
    when = seconds_of(found.measured[at])
    if when is None:
        return None
    factor = 1e-3 if number.unit == "ns" else 1e-6
    value, low, high = (one * factor for one in (number.value, number.low, number.high))
    said = (
        f"{_date(when, 3600)}: {value_text(number, number.value)},"
        f" 95 % {value_text(number, number.low)} to {value_text(number, number.high)},"
        f" {found.ids[at]}"
    )
    return Mark(when, value, low, high, said)


def _value_axis(number: Number, marks: Sequence[Mark]) -> Axis:
    low, high = min(one.low for one in marks), max(one.high for one in marks)
    room = max((high - low) * 0.12, abs(high) * 0.01)
    low, high = max(0.0, low - room), high + room
    label = "time (µs)" if number.unit == "ns" else "goodput (MB/s)"
    return Axis(label, False, low, high, plain(low, high))


def _time_axis(low: float, high: float) -> Axis:
    step = next((one for one in _STEPS_S if (high - low) / one <= _TICKS), _STEPS_S[-1])
    first = math.ceil(low / step) * step
    count = min(12, int((high - first) // step) + 1) if high >= first else 0
    ticks = tuple((at, _date(at, step)) for at in (first + step * n for n in range(count)))
    room = (high - low) * 0.02
    return Axis("when it was measured, UTC", False, low - room, high + room, ticks)


def _date(seconds: float, step: float) -> str:
    try:
        when = datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, ValueError, OSError):
        return "?"
    return f"{when:%Y-%m-%d}" if step >= _DAY_S else f"{when:%m-%d %H:%M}"
