"""A series as one curve: time of one operation and goodput of one direction against size, with what
rounding hides.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from wireproof.model import quantity
from wireproof.model.series import Series, SeriesPoint

__all__ = ["SMALL", "Curve", "Row", "curve_of"]

SMALL = 1024
"""Messages up to this size tell the latency that larger ones start from; bytes."""

_POINTS = 20_000  # more rows than any sweep prints: what is above is not read
_SAME = 0.02
_LARGEST = 1 << 50
_SLOWEST = 1e-6  # bytes/s: less is no rate of anything
_WAITED = ("pingpong", "put", "get", "atomic", "exchange")


@dataclass(frozen=True, slots=True)
class Row:
    """One size. ``wait_ns``: time of an operation that is answered before the next; ``goodput``:
    bytes/s of one direction, over all pairs; ``doubt``: share of both that rounding may hide.
    """

    size: int
    wait_ns: float | None
    goodput: float | None
    doubt: float
    point: SeriesPoint


@dataclass(slots=True)
class Curve:
    """``bad`` names the rows whose numbers cannot be measurements (nan, zero or negative times)."""

    rows: list[Row] = field(default_factory=list)
    bad: list[str] = field(default_factory=list)
    start: Row | None = None
    best: Row | None = None

    @property
    def waited(self) -> list[Row]:
        return [row for row in self.rows if row.wait_ns is not None]

    @property
    def moved(self) -> list[Row]:
        return [row for row in self.rows if row.goodput is not None]


def curve_of(series: Series) -> Curve:
    """Rows by size; several rows of one size (intervals of one test) become their middle one."""
    curve = Curve()
    by_size: dict[int, list[Row]] = {}
    waits = series.waits or series.traffic == "pingpong"
    for point in series.points[:_POINTS]:
        trouble = _trouble(point)
        if trouble:
            curve.bad.append(trouble)
        else:
            by_size.setdefault(point.message_bytes, []).append(_row(series, point, waits))
    curve.rows = [_middle(by_size[size]) for size in sorted(by_size)]
    # Nothing is sent for a put or get of nothing; an empty message is one.
    least = 0 if series.traffic == "pingpong" else 1
    small = [row for row in curve.waited if least <= row.size <= SMALL]
    curve.start = min(small, key=lambda row: row.wait_ns or 0.0, default=None)
    curve.best = max(curve.moved, key=lambda row: row.goodput or 0.0, default=None)
    return curve


def _middle(same: list[Row]) -> Row:
    if len(same) > 1:
        same.sort(key=lambda row: (row.goodput or 0.0, -(row.wait_ns or 0.0)))
    return same[len(same) // 2]


def _trouble(point: SeriesPoint) -> str:
    if not 0 <= point.message_bytes <= _LARGEST:
        return f"line {point.line}: a message of {quantity.size(point.message_bytes)}"
    named = (
        ("half round trip", point.hrt_ns),
        ("time", point.time_ns),
        ("shortest time", point.time_min_ns),
        ("longest time", point.time_max_ns),
        ("goodput", point.goodput_bytes_per_s),
        ("message rate", point.messages_per_s),
    )
    for name, value in named:
        if value is None:
            continue
        if not math.isfinite(value) or value < 0:
            return f"{quantity.size(point.message_bytes)}: {name} {value:g}"
        # "0.00" is a number that rounding has hidden; a bare 0 with a size is none.
        if value == 0 and name in ("half round trip", "time") and point.time_step_ns <= 0:
            return f"{quantity.size(point.message_bytes)}: {name} 0"
    return ""


def _row(series: Series, point: SeriesPoint, waits: bool) -> Row:
    """A ping-pong's goodput is size / half round trip, whatever the program prints (IMB-P2P, ucx:
    both directions).
    """
    time = point.hrt_ns if point.hrt_ns is not None else point.time_ns
    wait: float | None = None
    doubt = 0.0
    if time is not None and waits and series.traffic in _WAITED:
        wait = max(time, point.time_step_ns / 2)
        doubt = min(1.0, point.time_step_ns / 2 / wait) if wait else 1.0
    if series.traffic in ("collective", "ring", "other"):
        return Row(point.message_bytes, None, None, 0.0, point)
    if wait is None and waits and series.traffic == "pingpong":
        wait, doubt = _wait_of(point)
    if wait and point.message_bytes and series.traffic != "atomic":
        goodput: float | None = _of_wait(point, wait)
    else:
        goodput, hidden = _printed(series, point, None if waits else time)
        doubt = doubt if hidden is None else hidden
    return Row(point.message_bytes, wait, goodput, doubt, point)


def _wait_of(point: SeriesPoint) -> tuple[float | None, float]:
    """(time, share that rounding hides) of a ping-pong that prints its goodput only."""
    printed = point.goodput_bytes_per_s
    if not printed or printed < _SLOWEST or not point.message_bytes:
        return None, 0.0
    return point.message_bytes / printed * 1e9, min(1.0, point.goodput_step / 2 / printed)


def _of_wait(point: SeriesPoint, wait_ns: float) -> float:
    """The printed goodput has more digits; it is only taken where its definition is this one."""
    goodput = point.message_bytes / wait_ns * 1e9
    printed = point.goodput_bytes_per_s
    return printed if printed and abs(printed / goodput - 1) < _SAME else goodput


def _printed(
    series: Series, point: SeriesPoint, time: float | None
) -> tuple[float | None, float | None]:
    """(goodput of one direction, share that rounding hides where the column tells): of the first
    column that tells it. ``time``: of a message, where nothing waits for an answer.
    """
    printed, size, ways = point.goodput_bytes_per_s, point.message_bytes, max(1, series.directions)
    if printed:
        return printed / ways, min(1.0, point.goodput_step / 2 / printed)
    if time and size:
        return size / time * 1e9, min(1.0, point.time_step_ns / 2 / time)
    if point.messages_per_s and size:
        return point.messages_per_s * size / ways, None
    return None, None
