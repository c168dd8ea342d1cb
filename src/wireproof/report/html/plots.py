"""Curves as Bokeh documents. Colours are roles, not values: the page's script paints them for
light, dark and print.
"""

from __future__ import annotations

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


def latency(section: Section, tables: list[Table], target: str) -> Plot | None:
    """Half round trip (time per operation for put and get) against message size, both logarithmic,
    with the floor.
    """
    series, note = _series([table for table in tables if table.unit == "ns"])
    if not series:
        return None
    floor = section.limits.floor_ns if section.limits else None
    times = [row.time_ns / 1e3 for line in series for row in line.rows if row.time_ns]
    low, high = min([*times, *([floor / 1e3] if floor else [])]), max(times)
    plot = _canvas(series, "log", (low / 1.6, high * 1.6), "half round trip (µs)")
    for line in series:
        _draw(plot, line, [_scaled(row, 1e-3, "ns") for row in line.rows])
    if floor:
        _limit(plot, floor / 1e3, f"floor {quantity.microseconds(floor)} µs")
    _decades(plot, low / 1.6, high * 1.6)
    words = f"floor {quantity.microseconds(floor)} µs" if floor else "no floor known"
    alt = f"Curve of time against message size. {_in_words(series, 'µs')}; {words}."
    return _embed(plot, target, "Latency: half round trip against message size", alt, series, note)


def bandwidth(section: Section, tables: list[Table], target: str) -> Plot | None:
    """Goodput against message size (logarithmic), with the ceiling; logarithmic upwards when far
    above the ceiling.
    """
    series, note = _series(
        [table for table in tables if table.unit != "ns" or table.halved], rates=True
    )
    if not series:
        return None
    ceiling = section.limits.attainable_bytes_per_s if section.limits else None
    rates = [row.goodput / 1e6 for line in series for row in line.rows if row.goodput]
    top = max([*rates, *([ceiling / 1e6] if ceiling else [])])
    far = bool(ceiling and max(rates) > 4 * ceiling / 1e6)
    bounds = (min(rates) / 2, top * 3) if far else (0.0, top * 1.14)
    plot = _canvas(series, "log" if far else "linear", bounds, "goodput (MB/s)")
    for line in series:
        _draw(plot, line, [_scaled(row, 1e-6, "bytes_per_s") for row in line.rows])
    if ceiling:
        _limit(plot, ceiling / 1e6, f"attainable {quantity.megabytes(ceiling)} MB/s")
    if far:
        _decades(plot, *bounds)
    words = f"attainable {quantity.megabytes(ceiling)} MB/s" if ceiling else "no ceiling known"
    alt = f"Curve of goodput against message size. {_in_words(series, 'MB/s')}; {words}."
    return _embed(plot, target, "Bandwidth: goodput against message size", alt, series, note)


def _series(tables: list[Table], rates: bool = False) -> tuple[list[Series], str]:
    """Lines with at least three sizes; of many pairs the worst and the best stay, and the note says
    so.
    """
    lines: list[tuple[str, list[Row]]] = []
    for table in tables:
        found: dict[tuple[int, int], list[Row]] = {}
        for row in table.rows:
            if (row.goodput if rates else row.time_ns) is not None:
                found.setdefault((row.pair.origin, row.pair.target), []).append(row)
        for rows in found.values():
            merged = _merged(rows)
            if len(merged) >= 3:
                lines.append(
                    (
                        (
                            f"{_short(table)} "
                            f"{' → '.join(clean(name, 40) for name in rows[0].between)}"
                        ),
                        merged,
                    )
                )
    note = ""
    if len(lines) > MOST_SERIES:
        note = (
            f"{len(lines) - MOST_SERIES} of {len(lines)} curves are not drawn; the tables hold "
            "them all."
        )
        lines.sort(key=lambda line: median(row.goodput or 0.0 for row in line[1]))
        lines = [*lines[: MOST_SERIES // 2], *lines[-(MOST_SERIES - MOST_SERIES // 2) :]]
    return [Series(name, f"s{i}", rows) for i, (name, rows) in enumerate(lines)], note


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


def _canvas(series: list[Series], scale: str, bounds: tuple[float, float], label: str) -> Any:
    models = _bokeh("models")
    sizes = sorted({row.pair.message_bytes for line in series for row in line.rows})
    left, right = (size or ZERO_AT for size in (sizes[0], sizes[-1]))
    plot = _bokeh("plotting").figure(
        x_axis_type="log",
        y_axis_type=scale,
        x_range=models.Range1d(left / 1.5, right * 1.5),
        y_range=models.Range1d(*bounds),
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
    step = 6 if right / left > 1 << 16 else 4 if right / left > 1 << 8 else 2
    ticks = [size for size in (1 << shift for shift in range(0, 41, step)) if left <= size <= right]
    named: dict[float, str] = {tick: quantity.size(tick) for tick in ticks}
    if sizes[0] == 0:
        named = {ZERO_AT: "0", **{tick: name for tick, name in named.items() if tick > 1}}
    plot.xaxis.ticker = models.FixedTicker(ticks=list(named))
    plot.xaxis.major_label_overrides = named
    plot.xaxis.axis_label, plot.yaxis.axis_label = "message size", label
    _paint_frame(plot)
    return plot


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
            "size": [quantity.size(row.pair.message_bytes) for row in line.rows],
            "time": [quantity.microseconds(row.time_ns) + " µs" for row in line.rows],
            "rate": [
                f"{quantity.megabytes(r.goodput)} MB/s = {quantity.gigabits(r.goodput)} Gb/s"
                for r in line.rows
            ],
            "share": [f"{quantity.percent(row.efficiency)} of attainable" for row in line.rows],
            "interval": [quantity.plus_minus(row.pair.half_width) for row in line.rows],
            "proof": [
                f"{row.pair.proof}, {row.pair.label}, {row.pair.verdict}" for row in line.rows
            ],
            "line": [line.name for _ in line.rows],
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


def _in_words(series: list[Series], unit: str) -> str:
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
