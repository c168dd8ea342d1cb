"""Curves as Bokeh documents. Colours are roles, not values: the page's script paints them for
light, dark and print.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from statistics import median
from typing import Any

from wireproof.model import quantity
from wireproof.report.names import clean
from wireproof.report.rows import Row, Table
from wireproof.report.section import Section

__all__ = ["Plot", "Series", "bandwidth", "latency"]

MOST_SERIES = 6
ZERO_AT = 0.5
"""Where a message of 0 bytes stands on the logarithmic axis; its tick says 0."""

_MARKS = ("circle", "square", "triangle", "diamond", "inverted_triangle", "hex")
_DASHES = ("solid", "solid", "dashed", "dashed", "dotted", "dotted")
_LIGHT = {
    "ink": "#1c2430",
    "muted": "#5a6573",
    "line": "#d9dee5",
    "limit": "#b3261e",
    "card": "#ffffff",
}
_SERIES_LIGHT = ("#1f5fb4", "#b45309", "#0f766e", "#8b3fa0", "#5b6470", "#a3245b")


@dataclass(frozen=True)
class Series:
    """One line: name, role of its colour, and parallel lists over message sizes."""

    name: str
    role: str
    rows: list[Row]


@dataclass(frozen=True)
class Plot:
    """A drawn figure: the JSON item that BokehJS embeds, its legend, and what it shows in words."""

    target: str
    title: str
    item: dict[str, Any]
    alt: str
    legend: list[Series] = field(default_factory=list)
    note: str = ""


@dataclass(frozen=True)
class _Axis:
    """What is drawn upwards: ``factor`` turns a stored ``unit`` into that of the ``label``."""

    label: str
    unit: str
    factor: float
    scale: str
    bounds: tuple[float, float]


def latency(section: Section, tables: list[Table], target: str) -> Plot | None:
    """Half round trip (time per operation for put and get) against message size, both logarithmic,
    with the floor.
    """
    series, note = _series([table for table in tables if table.unit == "ns"])
    if not series:
        return None
    floor = section.limits.floor_ns if section.limits else None
    times = [row.time_ns / 1e3 for line in series for row in line.rows if row.time_ns]
    low = min(times, default=math.inf)
    bounds = (min(low, floor / 1e3) if floor else low) / 1.6, max(times) * 1.6
    axis = _Axis("half round trip (µs)", "ns", 1e-3, "log", bounds)
    words = f"floor {quantity.microseconds(floor)} µs" if floor else ""
    plot = _figure(series, axis, floor / 1e3 if floor else None, words)
    said = f"{_in_words(series, 'µs')}; {words or 'no floor known'}."
    alt = f"Curve of time against message size. {said}"
    return _embed(plot, target, "Latency: half round trip against message size", alt, series, note)


def bandwidth(section: Section, tables: list[Table], target: str) -> Plot | None:
    """Goodput against message size (logarithmic), with the ceiling; logarithmic upwards when far
    above the ceiling.
    """
    chosen = [table for table in tables if table.unit != "ns" or table.halved]
    series, note = _series(chosen, rates=True)
    if not series:
        return None
    ceiling = section.limits.attainable_bytes_per_s if section.limits else None
    rates = [row.goodput / 1e6 for line in series for row in line.rows if row.goodput]
    most = ceiling / 1e6 if ceiling else None
    words = f"attainable {quantity.megabytes(ceiling)} MB/s" if ceiling else ""
    plot = _figure(series, _goodput_axis(rates, most), most, words)
    said = f"{_in_words(series, 'MB/s')}; {words or 'no ceiling known'}."
    alt = f"Curve of goodput against message size. {said}"
    return _embed(plot, target, "Bandwidth: goodput against message size", alt, series, note)


def _goodput_axis(rates: Sequence[float], ceiling: float | None) -> _Axis:
    label, unit = "goodput (MB/s)", "bytes_per_s"
    top = max([*rates, *([ceiling] if ceiling else [])])
    if ceiling and max(rates) > 4 * ceiling:
        return _Axis(label, unit, 1e-6, "log", (min(rates) / 2, top * 3))
    return _Axis(label, unit, 1e-6, "linear", (0.0, top * 1.14))


def _figure(series: Sequence[Series], axis: _Axis, limit: float | None, words: str) -> Any:
    plot = _canvas(series, axis)
    for line in series:
        _draw(plot, line, [_scaled(row, axis.factor, axis.unit) for row in line.rows])
    if limit:
        _limit(plot, limit, words)
    if axis.scale == "log":
        _decades(plot, *axis.bounds)
    return plot


def _series(tables: list[Table], rates: bool = False) -> tuple[list[Series], str]:
    """Lines with at least three sizes; of many pairs the worst and the best stay, and the note says
    so.
    """
    lines = [line for table in tables for line in _lines(table, rates)]
    note = ""
    if len(lines) > MOST_SERIES:
        note = (
            f"{len(lines) - MOST_SERIES} of {len(lines)} curves are not drawn; the tables hold "
            "them all."
        )
        lines.sort(key=lambda line: median(row.goodput or 0.0 for row in line[1]))
        lines = [*lines[: MOST_SERIES // 2], *lines[-(MOST_SERIES - MOST_SERIES // 2) :]]
    return [Series(name, f"s{i}", rows) for i, (name, rows) in enumerate(lines)], note


def _lines(table: Table, rates: bool) -> Iterator[tuple[str, list[Row]]]:
    """One line for each pair of ranks, with its name."""
    found: dict[tuple[int, int], list[Row]] = {}
    for row in table.rows:
        if (row.goodput if rates else row.time_ns) is not None:
            found.setdefault((row.pair.origin, row.pair.target), []).append(row)
    for rows in found.values():
        merged = _merged(rows)
        if len(merged) >= 3:
            between = " → ".join(clean(name, 40) for name in rows[0].between)
            yield f"{_short(table)} {between}", merged


def _short(table: Table) -> str:
    form = f" {table.form}" if table.pattern not in ("pingpong", "stream", "exchange") else ""
    return f"{table.pattern}{form}" + ("" if table.formula == "robust" else f" ({table.formula})")


def _merged(rows: list[Row]) -> list[Row]:
    """One row per size, in order: of several repetitions the median one."""
    sizes: dict[int, list[Row]] = {}
    for row in rows:
        sizes.setdefault(row.pair.message_bytes, []).append(row)
    return [
        sorted(found, key=lambda row: row.pair.value)[(len(found) - 1) // 2]
        for _, found in sorted(sizes.items())
    ]


def _scaled(row: Row, factor: float, unit: str) -> tuple[float, float, float]:
    """Value, low, high in the plot's unit; a ping-pong drawn as goodput turns its interval
    round.
    """
    pair = row.pair
    if pair.unit == unit:
        return pair.value * factor, pair.low * factor, pair.high * factor
    turn = pair.message_bytes * 1e9 * factor
    value = turn / pair.value
    return (
        value,
        turn / pair.high if pair.high > 0 else value,
        turn / pair.low if pair.low > 0 else value,
    )


def _canvas(series: Sequence[Series], axis: _Axis) -> Any:
    models = _bokeh("models")
    sizes = sorted({row.pair.message_bytes for line in series for row in line.rows})
    left, right = (size or ZERO_AT for size in (sizes[0], sizes[-1]))
    plot = _bokeh("plotting").figure(
        x_axis_type="log",
        y_axis_type=axis.scale,
        x_range=models.Range1d(left / 1.5, right * 1.5),
        y_range=models.Range1d(*axis.bounds),
        sizing_mode="stretch_width",
        height=340,
        min_width=240,
        tools=[models.PanTool(), models.BoxZoomTool(), models.ResetTool(), models.SaveTool()],
        toolbar_location="above",
        toolbar_inner=True,
        background_fill_alpha=0,
        border_fill_alpha=0,
        output_backend="canvas",
    )
    # Nothing is active at first: a finger that scrolls the page must not be caught by a plot.
    plot.toolbar.logo, plot.toolbar.autohide, plot.toolbar.active_drag = None, True, None
    named = _ticks(left, right)
    plot.xaxis.ticker = models.FixedTicker(ticks=list(named))
    plot.xaxis.major_label_overrides = named
    plot.xaxis.axis_label, plot.yaxis.axis_label = "message size", axis.label
    _paint_frame(plot)
    return plot


def _ticks(left: float, right: float) -> dict[float, str]:
    """Powers of two with their names; at the left end 0 where a message of 0 bytes is drawn."""
    step = 6 if right / left > 1 << 16 else 4 if right / left > 1 << 8 else 2
    sizes = [size for size in (1 << shift for shift in range(0, 41, step)) if left <= size <= right]
    if left != ZERO_AT:
        return {size: quantity.size(size) for size in sizes}
    return {ZERO_AT: "0", **{size: quantity.size(size) for size in sizes if size > 1}}


def _paint_frame(plot: Any) -> None:
    for axis in (*plot.xaxis, *plot.yaxis):
        axis.axis_label_text_font_style = "normal"
        axis.axis_label_text_font = axis.major_label_text_font = "system-ui, sans-serif"
        axis.major_label_text_font_size = axis.axis_label_text_font_size = "13px"
        axis.minor_tick_line_color = None
        axis.axis_line_color = axis.major_tick_line_color = None
        _role(axis, axis_label_text_color="muted", major_label_text_color="muted")
    for grid in (*plot.xgrid, *plot.ygrid):
        _role(grid, grid_line_color="line")
    plot.outline_line_color = None


def _role(model: Any, **roles: str) -> None:
    """Give ``model`` its light colours now and leave the roles in its tags for the page's
    script.
    """
    for name, role in roles.items():
        setattr(model, name, _SERIES_LIGHT[int(role[1:])] if role[1:].isdigit() else _LIGHT[role])
    model.tags = [*model.tags, roles]


def _draw(plot: Any, line: Series, values: list[tuple[float, float, float]]) -> None:
    """Band of the 95 % interval, line, markers and what a pointer shows."""
    models = _bokeh("models")
    index = int(line.role[1:])
    source = models.ColumnDataSource(
        {
            "x": [row.pair.message_bytes or ZERO_AT for row in line.rows],
            "y": [value for value, _, _ in values],
            "low": [low for _, low, _ in values],
            "high": [high for _, _, high in values],
            **_pointed_at(line),
        }
    )
    band = plot.varea(x="x", y1="low", y2="high", source=source, fill_alpha=0.22)
    stroke = plot.line(x="x", y="y", source=source, line_width=2.2, line_dash=_DASHES[index])
    marks = plot.scatter(x="x", y="y", source=source, size=7, marker=_MARKS[index], line_width=1.5)
    _role(band.glyph, fill_color=line.role)
    _role(stroke.glyph, line_color=line.role)
    _role(marks.glyph, line_color=line.role, fill_color="card")
    rows = [("", "@line"), ("size", "@size"), ("time", "@time"), ("goodput", "@rate")]
    rows += [("efficiency", "@share"), ("95 % interval", "@interval"), ("", "@proof")]
    plot.add_tools(models.HoverTool(renderers=[marks], tooltips=rows, visible=False))


def _pointed_at(line: Series) -> dict[str, list[str]]:
    """What a pointer shows of each point, by name."""
    rates = [quantity.megabytes(row.goodput) + " MB/s" for row in line.rows]
    shown = [
        {
            "size": quantity.size(row.pair.message_bytes),
            "time": f"{quantity.microseconds(row.time_ns)} µs",
            "rate": f"{rate} = {quantity.gigabits(row.goodput)} Gb/s",
            "share": f"{quantity.percent(row.efficiency)} of attainable",
            "interval": quantity.plus_minus(row.pair.half_width),
            "proof": f"{row.pair.proof}, {row.pair.label}, {row.pair.verdict}",
            "line": line.name,
        }
        for row, rate in zip(line.rows, rates, strict=True)
    ]
    return {name: [one[name] for one in shown] for name in shown[0]}


def _limit(plot: Any, at: float, words: str) -> None:
    """A physical limit: a dashed line across the plot with its value written on it."""
    models = _bokeh("models")
    span = models.Span(location=at, dimension="width", line_dash="dashed", line_width=1.6)
    _role(span, line_color="limit")
    label = models.Label(
        x=8, y=at, x_units="screen", y_units="data", text=words, text_font_size="13px", y_offset=4
    )
    label.text_font = "system-ui, sans-serif"
    label.background_fill_alpha = 0.8
    _role(label, text_color="limit", background_fill_color="card")
    plot.add_layout(span)
    plot.add_layout(label)


def _decades(plot: Any, low: float, high: float) -> None:
    """Ticks at 1, 10, 100 … (and 2, 5 when fewer than three would show), written as plain
    numbers.
    """
    for steps in ((1,), (1, 2, 5)):
        ticks = [
            s * 10.0**power
            for power in range(-6, 13)
            for s in steps
            if low <= s * 10.0**power <= high
        ]
        if len(ticks) >= 3:
            break
    plot.yaxis.ticker = _bokeh("models").FixedTicker(ticks=ticks)
    plot.yaxis.major_label_overrides = {
        tick: f"{tick:.9f}".rstrip("0").rstrip(".") for tick in ticks
    }


def _in_words(series: Sequence[Series], unit: str) -> str:
    parts = []
    for line in series:
        first, last = line.rows[0], line.rows[-1]
        said = [
            quantity.microseconds(row.time_ns) if unit == "µs" else quantity.megabytes(row.goodput)
            for row in (first, last)
        ]
        sizes = (quantity.size(first.pair.message_bytes), quantity.size(last.pair.message_bytes))
        parts.append(
            f"{line.name}: {said[0]} {unit} at {sizes[0]} to {said[1]} {unit} at {sizes[1]}"
        )
    return "; ".join(parts)


def _embed(plot: Any, target: str, title: str, alt: str, series: list[Series], note: str) -> Plot:
    return Plot(target, title, dict(_bokeh("embed").json_item(plot, target)), alt, series, note)


def _bokeh(part: str) -> Any:
    """Bokeh takes long to import and ships partial types: it is loaded when the first plot is
    drawn, untyped.
    """
    return import_module(f"bokeh.{part}")
