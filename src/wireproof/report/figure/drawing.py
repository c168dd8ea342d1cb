"""A chart as SVG. Colours are classes, which the style of the page or of the file defines.

No element has an identifier, so a page may contain a chart twice: a wide version, and a narrow one
for phones, on which the text of the wide version would be too small.
"""

import itertools
import math
from collections.abc import Iterable, Sequence
from html import escape
from itertools import pairwise

import msgspec

from wireproof.report.figure import Axis, Chart, Line
from wireproof.report.names import harmless

WIDE, NARROW, PRINTED = (520, 330), (320, 280), (760, 460)
"""Width and height of a picture in pixels, before scaling."""
LONG = (900, 330)
"""For a series over time."""
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 12, 12, 44
_LETTER, _LINE = 7.0, 14.0
"""Approximate width of a letter at 13 px and height of its line, in pixels."""
_DASHES = ("", "", "7 4", "7 4", "2 3", "2 3")
_MOST_DOTS = 400
"""Maximum number of marks of one line; a longer line has none at some of its points."""
_CLIP = 6
"""Pixels around the axes in which marks and lines are still drawn."""


class _Frame(msgspec.Struct, frozen=True):
    """The area for the lines, and the position of values in it."""

    chart: Chart
    width: float
    height: float

    def x(self, value: float) -> float:
        return self.width * _share(self.chart.x, value)

    def y(self, value: float) -> float:
        return self.height * (1 - _share(self.chart.y, value))


def drawn(chart: Chart, size: tuple[int, int], legend: bool = False) -> str:
    """Return the ``svg`` element. ``legend``: it includes title, names of the lines and notes."""
    width, height = size
    head, rows = _head(chart, width) if legend else ("", 0)
    top = _TOP + rows
    frame = _Frame(chart, width - _LEFT - _RIGHT, height - _TOP - _BOTTOM)
    whole = f"0 0 {width} {height + rows}"
    ink = [
        *_zones(frame),
        *_limits(frame),
        *_steps(frame),
        *(_band(frame, line, number) for number, line in enumerate(chart.lines)),
        *(_curve(frame, line, number) for number, line in enumerate(chart.lines)),
    ]
    return (
        f'<svg viewBox="{whole}" class="figure" role="img" '
        f'aria-label="{_safe(chart.alt)}">{head}<g transform="translate({_LEFT} {top})">'
        f"{''.join(_axes(frame))}"
        f"<svg {_clip(frame)}>{''.join(ink)}</svg>"
        f"{''.join(_words(frame))}</g></svg>"
    )


def symbol(number: int, x: float, y: float) -> str:
    """Return the path of the mark of line ``number``; marks distinguish lines without colour."""
    shapes = (
        "m-3.4 0a3.4 3.4 0 1 0 6.8 0a3.4 3.4 0 1 0 -6.8 0z",
        "m-3.1 -3.1h6.2v6.2h-6.2z",
        "m0 -4l3.8 6.8h-7.6z",
        "m0 -4.4l4 4.4l-4 4.4l-4 -4.4z",
        "m0 4l3.8 -6.8h-7.6z",
        "m-2 -3.6h4l2 3.6l-2 3.6h-4l-2 -3.6z",
    )
    return f"M{_n(x)} {_n(y)}{shapes[(number + number // len(shapes)) % len(shapes)]}"


def dash(number: int) -> str:
    """Return the dash pattern of line ``number``; "" for a solid line."""
    return _DASHES[number % len(_DASHES)]


def hue(number: int) -> str:
    """Return the CSS class with the colour of line ``number``; when the colours repeat, the marks
    are others.
    """
    return f"s{number % len(_DASHES)}"


def _clip(frame: _Frame) -> str:
    """Return the area of the ink: the axes and a margin, so that no mark at an end is cut."""
    width, height = _n(frame.width + 2 * _CLIP), _n(frame.height + 2 * _CLIP)
    place = f'x="{-_CLIP}" y="{-_CLIP}" width="{width}" height="{height}"'
    return f'{place} viewBox="{-_CLIP} {-_CLIP} {width} {height}"'


def _share(axis: Axis, value: float) -> float:
    if axis.log:
        least = axis.low * 1e-9
        return math.log(max(value, least) / axis.low) / math.log(axis.high / axis.low)
    return (value - axis.low) / (axis.high - axis.low)


def _safe(text: str) -> str:
    """Return text, which may contain names from outside, made safe and escaped."""
    return escape(harmless(text))


def _n(value: float) -> str:
    """Return a coordinate with a precision of a tenth of a pixel."""
    return f"{max(-9999.0, min(9999.0, value)):.1f}".removesuffix(".0")


def _text(x: float, y: float, words: str, more: str = "") -> str:
    return f'<text x="{_n(x)}" y="{_n(y)}"{more}>{_safe(words)}</text>'


def _axes(frame: _Frame) -> Iterable[str]:
    chart = frame.chart
    free = math.inf
    for value, word in chart.y.ticks:
        at = frame.y(value)
        yield f'<path class="grid" d="M0 {_n(at)}H{_n(frame.width)}"/>'
        if at <= free:
            yield _text(-7, at + 4, word, ' class="tick" text-anchor="end"')
            free = at - _LINE
    for value, word in _fitting(frame, chart.x.ticks):
        at = frame.x(value)
        yield f'<path class="grid" d="M{_n(at)} 0V{_n(frame.height)}"/>'
        end = frame.width + _RIGHT - len(word) * _LETTER / 2
        yield _text(min(at, end), frame.height + 17, word, ' class="tick" text-anchor="middle"')
    below = frame.height + 37
    yield _text(frame.width / 2, below, chart.x.label, ' class="tick" text-anchor="middle"')
    turned = (
        f' class="tick" text-anchor="middle" transform="rotate(-90 -52 {_n(frame.height / 2)})"'
    )
    yield _text(-52, frame.height / 2, chart.y.label, turned)


def _fitting(frame: _Frame, ticks: Sequence[tuple[float, str]]) -> list[tuple[float, str]]:
    """Return all ticks, or every second, every fourth ..., as many as fit without overlapping."""
    for step in (1, 2, 3, 4, 6, 8, 12):
        chosen = list(ticks[::step])
        ends = [(frame.x(value), len(word) * _LETTER / 2 + 4) for value, word in chosen]
        pairs = itertools.pairwise(ends)
        if all(left + half <= right - other for (left, half), (right, other) in pairs):
            return chosen
    return list(ticks[:1])


def _zones(frame: _Frame) -> Iterable[str]:
    for words, right in frame.chart.zones:
        width = max(0.0, min(frame.width, frame.x(right)))
        yield (
            f'<rect class="zone" width="{_n(width)}" height="{_n(frame.height)}">'
            f"<title>{_safe(words)}</title></rect>"
        )


def _limits(frame: _Frame) -> Iterable[str]:
    for limit in frame.chart.limits:
        path = "L".join(f"{_n(frame.x(x))} {_n(frame.y(y))}" for x, y in limit.points)
        yield f'<path class="limit" d="M{path}"><title>{_safe(limit.words)}</title></path>'


def _steps(frame: _Frame) -> Iterable[str]:
    for words, place in frame.chart.steps:
        at = _n(frame.x(place))
        yield (
            f'<path class="step" d="M{at} 0V{_n(frame.height)}">'
            f"<title>{_safe(words)}</title></path>"
        )


def _words(frame: _Frame) -> Iterable[str]:
    """Yield the labels of limits and steps, each on a background so that lines do not cross the
    text.
    """
    for limit in frame.chart.limits:
        left, first = limit.points[0]
        room = frame.width - len(limit.words) * _LETTER - 6
        beside = max(4.0, min(frame.x(left) + 4, room))
        at = _free(frame, beside, frame.y(first), limit.words)
        yield _label(beside, at, limit.words, "limit")
    for number, (words, place) in enumerate(frame.chart.steps):
        room = len(words) * _LETTER + 8
        at = min(max(4.0, frame.x(place) + 4), max(4.0, frame.width - room))
        yield _label(at, frame.height - 8 - 16 * (number % 3), words, "step")


def _free(frame: _Frame, x: float, y: float, words: str) -> float:
    """Return the height of the label of a limit at ``y``: above it, below it or higher, where it
    covers no mark; above it if it covers some anywhere.
    """
    end = x + len(words) * _LETTER
    marks = [(frame.x(one.x), frame.y(one.y)) for line in frame.chart.lines for one in line.marks]
    near = [height for at, height in marks if x - 6 < at < end + 6]
    places = [min(max(y + off, 11), frame.height - 4) for off in (-6, 16, -24)]
    clear = (at for at in places if not any(at - 16 < height < at + 8 for height in near))
    return next(clear, places[0])


def _label(x: float, y: float, words: str, role: str) -> str:
    width = len(words) * _LETTER + 4
    ground = (
        f'<rect class="ground" x="{_n(x - 2)}" y="{_n(y - 11)}" width="{_n(width)}" height="15"/>'
    )
    return ground + _text(x, y, words, f' class="{role}"')


def _band(frame: _Frame, line: Line, number: int) -> str:
    """Return the intervals of all marks as one area."""
    if line.stairs or all(one.low == one.high for one in line.marks):
        return ""
    upper = [f"{_n(frame.x(one.x))} {_n(frame.y(one.high))}" for one in line.marks]
    lower = [f"{_n(frame.x(one.x))} {_n(frame.y(one.low))}" for one in reversed(line.marks)]
    return f'<path class="{hue(number)} band" d="M{"L".join([*upper, *lower])}z"/>'


def _curve(frame: _Frame, line: Line, number: int) -> str:
    places = [(frame.x(one.x), frame.y(one.y)) for one in line.marks]
    if not places:
        return ""
    if line.stairs:
        parts = [f"{_n(x)} {_n(y)}" for x, y in _stairs(places)]
        dots = ""
    else:
        parts = [f"{_n(x)} {_n(y)}" for x, y in places]
        step = math.ceil(len(places) / _MOST_DOTS)
        dots = "".join(
            f'<path class="dot" d="{symbol(number, x, y)}"><title>{_safe(one.tip)}</title></path>'
            for (x, y), one in zip(places[::step], line.marks[::step], strict=True)
        )
    dashes = f' stroke-dasharray="{dash(number)}"' if dash(number) else ""
    told = f"<title>{_safe(line.name)}</title>" if line.stairs else ""
    path = f'<path class="line"{dashes} d="M{"L".join(parts)}">{told}</path>'
    return f'<g class="{hue(number)}">{path}{dots}</g>'


def _stairs(places: Sequence[tuple[float, float]]) -> Iterable[tuple[float, float]]:
    before: float | None = None
    for x, y in places:
        if before is not None:
            yield x, before
        yield x, y
        before = y


def _head(chart: Chart, width: int) -> tuple[str, int]:
    """Return title and legend above the chart, for a picture outside a page."""
    rows = [_text(12, 22, chart.title, ' class="title"')]
    below = 44
    for number, line in enumerate(chart.lines):
        most = int((width - 60) / _LETTER)
        name = line.name if len(line.name) <= most else f"{line.name[: most - 1]}…"
        path = f'<path class="line" d="M14 {below - 4}h26" stroke-dasharray="{dash(number)}"/>'
        mark = f'<path class="dot" d="{symbol(number, 27, below - 4)}"/>'
        rows.append(f'<g class="{hue(number)}">{path}{mark}</g>{_text(48, below, name)}')
        below += 18
    return "".join(rows), below - 6


LEVELS = 20
"""Number of shades in a picture with few shades."""
_STOPS: tuple[tuple[float, tuple[int, int, int]], ...] = (
    (0.00, (124, 45, 10)),
    (0.40, (217, 95, 20)),
    (0.70, (250, 178, 107)),
    (0.88, (246, 236, 222)),
    (0.95, (213, 228, 244)),
    (1.00, (166, 202, 236)),
)


def shade(share: float) -> tuple[str, str]:
    """Return background and text colour for a share of the attainable goodput (limited to 0 …
    1).
    """
    at = min(1.0, max(0.0, share))
    for (low, first), (high, second) in pairwise(_STOPS):
        if at <= high:
            part = (at - low) / (high - low)
            rgb = tuple(round(a + (b - a) * part) for a, b in zip(first, second, strict=True))
            break
    light = 0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2]
    return f"rgb({rgb[0]},{rgb[1]},{rgb[2]})", "#1c2430" if light > 118 else "#ffffff"


def scale_line(words: str) -> str:
    """Return the key below a picture: the meaning of the colours."""
    stops = ",".join(f"rgb{rgb} {at:.0%}" for at, rgb in _STOPS)
    return (
        '<p class="scale" aria-hidden="true">0 % '
        f'<i style="background:linear-gradient(90deg,{stops})"></i> 100 % {escape(words)}</p>'
    )
