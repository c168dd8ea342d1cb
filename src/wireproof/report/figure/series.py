"""Charts of numbers against a count: published curves against message size, results against the
number of nodes or ranks, predictions against the number of nodes.
"""

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from html import escape

from wireproof.model import gathered, quantity
from wireproof.model.atlas import AtlasView, Spread
from wireproof.model.history import (
    Group,
    NodeNow,
    Number,
    NumberChange,
    Scaling,
    ScalingCurve,
    State,
    Trend,
)
from wireproof.model.run import seconds_of
from wireproof.report.figure import Axis, Chart, Ink, Line, Mark, decades, plain
from wireproof.report.gate import age
from wireproof.report.html import in_script
from wireproof.report.names import clean, harmless

# --- Pictures of a history: a number over time with its intervals and changes, and a map of
# every node.

DAY_S = 86400.0
_HOURS = (1 / 12, 0.25, 1, 3, 6, 12)
_DAYS = (1, 2, 7, 14, 30, 61, 91, 182, 365, 730, 1826, 3652)
_STEPS_S = tuple([3600.0 * one for one in _HOURS] + [DAY_S * one for one in _DAYS])
_TICKS = 6
_MOST_STEPS = 8


def value_text(number: Number | Trend, value: float) -> str:
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


def trend_chart(number: Number, found: Trend, name: str) -> Chart | None:
    """Return the chart of a series, whose newest number is ``number``; None if fewer than two
    results have a date.
    """
    marks = [mark for at in range(len(found.ids)) if (mark := _mark(found, at)) is not None]
    if len(marks) < 2 or marks[0].x >= marks[-1].x:
        return None
    shown = found.changes[-_MOST_STEPS:]
    changes = "; ".join(f"{percent_change(one)} since {clean(one.measured, 40)}" for one in shown)
    return Chart(
        id=name,
        title=f"{number_name(number)} over time",
        note=(
            "The band is the 95 % interval of each result; a dotted line shows where the number"
            " changed. Point at a mark, or select it with the arrow keys, to read it."
        ),
        alt=(
            f"Curve of {number_name(number)} over {len(marks)} results, last"
            f" {value_text(number, number.value)}. {changes or 'No change was found'}."
        ),
        x=_time_axis(marks[0].x, marks[-1].x),
        y=_value_axis(number, marks),
        lines=(Line(number_name(number), tuple(marks)),),
        steps=tuple(
            (percent_change(one), when)
            for one in shown
            if (when := seconds_of(one.measured)) is not None
        ),
    )


def _mark(found: Trend, at: int) -> Mark | None:
    when = seconds_of(found.measured[at])
    if when is None:
        return None
    factor = 1e-3 if found.unit == "ns" else 1e-6
    value, low, high = found.values[at], found.low[at], found.high[at]
    said = (
        f"{_date(when, 3600)}: {value_text(found, value)},"
        f" 95 % {value_text(found, low)} to {value_text(found, high)},"
        f" {found.ids[at]}"
    )
    return Mark(when, value * factor, low * factor, high * factor, said)


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
    return f"{when:%Y-%m-%d}" if step >= DAY_S else f"{when:%m-%d %H:%M}"


# --- The map of a history: every node of the cluster as a small square, by group.

_AGES = (DAY_S, 7 * DAY_S, 30 * DAY_S)
_STATES: tuple[State, ...] = ("pass", "inconclusive", "fail", "never")
_WORDS = ("pass", "inconclusive", "fail", "never measured")
_MANY = 2500
"""With more nodes, squares are small."""
_LEAST_COLUMN = 96
"""Pixels; wide enough for a name such as n[00001-00064]."""
_LEGEND = (
    ("k0", "passed, proven within a day"),
    ("k1", "within a week"),
    ("k2", "within a month"),
    ("k3", "longer ago"),
    ("i", "inconclusive"),
    ("f", "fails"),
    ("n", "never measured"),
)


def node_map(groups: Sequence[Group], places: Mapping[str, str]) -> Ink:
    """Return the map. ``places``: pages of nodes whose names cannot be file names."""
    cell = 9 if sum(len(one.nodes) for one in groups) > _MANY else 13
    column = max([_LEAST_COLUMN, *(_columns(len(one.nodes)) * cell for one in groups)]) + 4
    key = "".join(
        '<li><svg class="cells" viewBox="0 0 1 1" width="14" height="14" aria-hidden="true">'
        f"{_cells(kind, [(0, 0)])}</svg>{words}</li>"
        for kind, words in _LEGEND
    )
    drawn = "".join(_group(number, one, cell) for number, one in enumerate(groups))
    return Ink(
        '<p class="muted">Each square is a node, coloured by its last verdict; the older its'
        " proof, the paler it is. Point at a square to read it; click it to open it.</p>"
        f'<ul class="key">{key}</ul>'
        '<p class="now"><a class="over" href="#after-map">Skip the map</a>'
        ' <output id="told" aria-live="polite"></output></p>'
        f'<ul class="map" style="--column:{column}px">{drawn}</ul>'
        f'<script type="application/json" id="map-data">{in_script(_data(groups, places))}</script>'
        '<div id="after-map"></div>'
    )


def _columns(count: int) -> int:
    return max(1, min(count, 8)) if count <= 64 else math.ceil(math.sqrt(count))


def _group(number: int, group: Group, cell: int) -> str:
    """Return a link to the nodes of the group; its label describes them for screen readers."""
    counted = Counter(one.state for one in group.nodes)
    columns = _columns(len(group.nodes))
    rows = -(-len(group.nodes) // columns)
    places = gathered(
        (_kind(one), (at % columns, at // columns)) for at, one in enumerate(group.nodes)
    )
    drawn = "".join(_cells(kind, places[kind]) for kind in sorted(places))
    name = escape(harmless(clean(group.name, 60)))
    said = ", ".join(
        f"{counted[state]} {_WORDS[at]}" for at, state in enumerate(_STATES) if counted[state]
    )
    tone = "fail" if counted["fail"] else "inconclusive" if counted["inconclusive"] else ""
    kind = f' class="{tone}"' if tone else ""
    return (
        f'<li{kind}><a href="group-{number}.html" aria-label="{name}: {said}{_oldest(group)}">'
        f'<span>{name}</span><svg class="cells" viewBox="0 0 {columns} {rows}"'
        f' width="{columns * cell}" height="{rows * cell}" aria-hidden="true">{drawn}</svg>'
        "</a></li>"
    )


def _oldest(group: Group) -> str:
    """Return the age of the oldest proof among passing nodes; "" if no node passes."""
    passing = (one for one in group.nodes if one.state == "pass")
    ages = [one.age_s for one in passing if one.age_s is not None]
    return f", oldest proof {age(max(ages))} ago" if ages else ""


def _kind(one: NodeNow) -> str:
    if one.state != "pass":
        return one.state[0]
    age_s = math.inf if one.age_s is None else one.age_s
    return f"k{sum(age_s > most for most in _AGES)}"


def _cells(kind: str, places: Sequence[tuple[int, int]]) -> str:
    """Return squares of one kind. Kinds also differ in shape: a bar, a crossed square, a frame."""
    if kind == "n":
        path = "".join(f"M{x + 0.14:g} {y + 0.14:g}h.72v.72h-.72z" for x, y in places)
        return f'<path class="n" d="{path}"/>'
    path = "".join(f"M{x + 0.08:g} {y}.5h.84" for x, y in places)
    cross = ""
    if kind == "f":
        marks = "".join(f"M{x + 0.25:g} {y + 0.25:g}l.5 .5m0 -.5l-.5 .5" for x, y in places)
        cross = f'<path class="x" d="{marks}"/>'
    return f'<path class="{kind}" d="{path}"/>{cross}'


def _data(groups: Sequence[Group], places: Mapping[str, str]) -> str:
    """Return the data for the pointer's text, by group: names, states as digits, ages in s (-1:
    never). ``odd``: pages of nodes whose names cannot be file names.
    """
    return json.dumps(
        {
            "words": _WORDS,
            "odd": {
                f"{number},{at}": places[node.node]
                for number, one in enumerate(groups)
                for at, node in enumerate(one.nodes)
                if node.node in places
            },
            "columns": [_columns(len(one.nodes)) for one in groups],
            "names": [[clean(node.node, 80) for node in one.nodes] for one in groups],
            "states": [
                "".join(str(_STATES.index(node.state)) for node in one.nodes) for one in groups
            ],
            "ages": [
                [-1 if node.age_s is None else round(node.age_s) for node in one.nodes]
                for one in groups
            ],
        },
        separators=(",", ":"),
    )


# --- Charts against a count.

_MOST_PUBLISHED, _MOST_CURVES = 24, 12
"""Times that differ by a larger factor are drawn on a logarithmic axis."""
_TIME, _RATE = "time (µs)", "goodput (MB/s)"


def marks_of(lines: Iterable[Line]) -> list[Mark]:
    return [mark for line in lines for mark in line.marks] or [Mark(1, 1, 1, 1, "")]


def in_words(lines: Iterable[Line]) -> str:
    """Return both ends of each line."""
    return "; ".join(f"{line.name}: {line.marks[0].tip} to {line.marks[-1].tip}" for line in lines)


def atlas_chart(found: AtlasView) -> Chart:
    """Return the pattern with most series, a line for each. Only one pattern is drawn, because
    several do not fit into one picture.
    """
    patterns = [(one.pattern, one.quantity) for one in found.series]
    chosen = max(dict.fromkeys(patterns), key=patterns.count, default=("", "time"))
    shown = [one for one in found.series if (one.pattern, one.quantity) == chosen]
    lines = tuple(line for one in shown[:_MOST_PUBLISHED] if (line := _published(one)).marks)
    marks = marks_of(lines)
    names = ", ".join(dict.fromkeys(one.link for one in shown))
    left = len(shown) - _MOST_PUBLISHED
    more = f"; {left} more are not drawn" if left > 0 else ""
    return Chart(
        id="atlas",
        title=f"{names} {chosen[0]}: published numbers",
        note=f"One line for each series{more}.",
        alt=f"Published curves. {in_words(lines)}.",
        x=_powers("message size (bytes)", [mark.x for mark in marks], 2.0),
        y=_powers(_TIME if chosen[1] == "time" else _RATE, [mark.y for mark in marks], 10.0),
        lines=lines,
    )


def _published(one: Spread) -> Line:
    scale, unit = (1e3, "µs") if one.quantity == "time" else (1e6, "MB/s")
    marks = (
        Mark(float(size), *(value / scale,) * 3, f"{value / scale:.4g} {unit} at {size} B")
        for size, value in one.si
        if size
    )
    return Line(clean(f"{one.source}, {one.tool}", 60), tuple(marks))


def _powers(label: str, values: Sequence[float], base: float) -> Axis:
    """Return a logarithmic axis from one power of the base to another."""
    low = math.floor(math.log(min(values), base))
    high = max(low + 1, math.ceil(math.log(max(values), base) - 1e-9))
    ticks = [base**power for power in range(low, high + 1)]
    words = [quantity.size(int(tick)) if base == 2 else f"{tick:g}" for tick in ticks]
    return Axis(label, True, ticks[0], ticks[-1], tuple(zip(ticks, words, strict=True)))


def scaling_chart(found: Scaling) -> Chart:
    """Return the times, or the rates if there are no times; both do not fit into one picture."""
    unit = "ns" if any(one.unit == "ns" for one in found.curves) else "bytes_per_s"
    chosen = [one for one in found.curves if one.unit == unit]
    lines = tuple(_measured(one, found.against) for one in chosen[:_MOST_CURVES])
    marks = marks_of(lines)
    left = len(found.curves) - len(lines) if chosen[_MOST_CURVES:] else 0
    more = f" {left} more curves are not drawn." if left else ""
    what = "Claims of logs, without intervals." if found.claimed else "Bands are 95 % intervals."
    return Chart(
        id="scaling",
        title=f"Measured against the number of {found.against}",
        note=f"{what}{more}",
        alt=f"Curves against the number of {found.against}. {in_words(lines)}.",
        x=_around(f"number of {found.against}", [mark.x for mark in marks]),
        y=_around(
            _TIME if unit == "ns" else _RATE,
            [end for mark in marks for end in (mark.low, mark.high)],
        ),
        lines=lines,
    )


def _measured(curve: ScalingCurve, against: str) -> Line:
    factor = 1e-3 if curve.unit == "ns" else 1e-6
    marks = []
    for one in curve.points:
        ends = one.value, one.low or one.value, one.high or one.value
        value, low, high = (each * factor for each in ends)
        marks.append(Mark(one.count, value, low, high, f"{value:.4g} at {one.count} {against}"))
    return Line(f"{clean(curve.name, 60)} {quantity.size(curve.message_bytes)}", tuple(marks))


def _around(label: str, values: Sequence[float]) -> Axis:
    low, high = min(values) / 1.15, max(values) * 1.15
    return Axis(label, True, low, high, decades(low, high))
