"""The page of one set of hosts: its numbers over time, and what has changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from wireproof.model import quantity
from wireproof.model.board import SeriesLine, SeriesTrend
from wireproof.model.history import Change, Entry
from wireproof.report.figure.chart import Chart
from wireproof.report.figure.drawing import NARROW, WIDE, Size, drawn
from wireproof.report.figure.trend import number_name, percent_change, trend_chart, value_text
from wireproof.report.html.board.frame import Page, framed
from wireproof.report.html.board.rows import Turn
from wireproof.report.html.markup import trusted
from wireproof.report.html.views import FigureView
from wireproof.report.names import clean

__all__ = ["trends_page"]

_LONG = Size(900, WIDE.height)
_MOST_CHANGED = 12


@dataclass(frozen=True)
class SeriesRow:
    name: str
    place: str
    bytes: int
    size: str
    window: str
    results: int
    value: str
    raw: float
    interval: str


@dataclass(frozen=True)
class ChangeView:
    """``compare``: where the results before and after it are compared, "" where one is missing."""

    words: str
    measured: str
    since: str
    compare: str
    lines: list[str]


@dataclass(frozen=True)
class TrendView:
    """``none``: said where there are no changes."""

    name: str
    figure: FigureView
    page: Turn
    changes: list[ChangeView]
    none: str


def trends_page(
    root: str, newest: Entry, series: Sequence[SeriesLine], trends: Sequence[SeriesTrend]
) -> Page:
    """``trends``: those that are drawn, of ``series``."""
    mpi = clean(newest.mpi.partition(" (")[0], 40)
    kinds = (clean(newest.hosts, 120), clean(newest.link, 30), clean(newest.transport, 20), mpi)
    views = [view for at, one in enumerate(trends, 1) if (view := _view(one, at)) is not None]
    return framed(
        "trends",
        "Trends",
        root,
        "trends",
        about=", ".join(one for one in kinds if one),
        undrawn="" if views or not series else "A curve needs two results of one number.",
        trends=views,
        series=[_row(one) for one in series],
    )


def _place(one: SeriesLine, until: int | None = None) -> str:
    asked = {
        "set": one.newest.fingerprint,
        "number": one.number.name,
        "size": str(one.number.message_bytes),
        "window": str(one.number.window),
    }
    return f"trends?{urlencode(asked | ({'until': str(until)} if until is not None else {}))}"


def _row(one: SeriesLine) -> SeriesRow:
    number = one.number
    return SeriesRow(
        name=clean(number.name, 60),
        place=_place(one),
        bytes=number.message_bytes,
        size=quantity.size(number.message_bytes),
        window=str(number.window) if number.window else "-",
        results=one.results,
        value=value_text(number, number.value),
        raw=number.value,
        interval=f"{value_text(number, number.low)} to {value_text(number, number.high)}",
    )


def _view(found: SeriesTrend, at: int) -> TrendView | None:
    chart = trend_chart(found, f"trend{at}")
    if chart is None:
        return None
    words = "result" if len(found.values) == 1 else "results"
    return TrendView(
        name=number_name(found.line.number),
        figure=_figure(chart),
        page=_turn(found),
        changes=[_change(found, one) for one in reversed(found.changes)],
        none=f"No change was found in these {len(found.values)} {words}."
        " A series without any shows one in 1 of 100 cases.",
    )


def _figure(chart: Chart) -> FigureView:
    return FigureView(
        chart=chart,
        wide=trusted(drawn(chart, _LONG)),
        narrow=trusted(drawn(chart, NARROW)),
        legend=[("s0", chart.lines[0].name)],
    )


def _turn(found: SeriesTrend) -> Turn:
    count = len(found.values)
    if found.total <= count:
        return Turn(f"{found.total:,} results")
    end = found.first + count
    return Turn(
        words=f"Results {found.first + 1:,} to {end:,} of {found.total:,}: changes are looked for"
        " among these",
        before=_place(found.line, found.first) if found.first else "",
        after=_place(found.line, min(found.total, end + count)) if end < found.total else "",
        before_words="older",
        after_words="newer",
    )


def _change(found: SeriesTrend, one: Change) -> ChangeView:
    at = found.ids.index(one.since)
    lines = [clean(text, 240) for text in one.changed[:_MOST_CHANGED]]
    if len(one.changed) > _MOST_CHANGED:
        lines.append(f"and {len(one.changed) - _MOST_CHANGED} more conditions")
    asked = urlencode({"a": found.ids[at - 1], "b": one.since})
    return ChangeView(
        words=f"{percent_change(one)} (p {one.p:.4f})",
        measured=clean(one.measured, 40),
        since=one.since,
        compare=f"compare?{asked}" if at else "",
        lines=lines or ["No condition that is recorded changed there."],
    )
