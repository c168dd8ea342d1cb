"""The page of one set of hosts: its numbers over time, and what has changed."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from wireproof.model import quantity
from wireproof.model.history import Entry, SeriesLine, SeriesTrend, Shift
from wireproof.report.figure.drawing import WIDE, Size
from wireproof.report.figure.trend import number_name, percent_change, trend_chart, value_text
from wireproof.report.html.board.frame import framed
from wireproof.report.html.board.places import TRENDS, file_of
from wireproof.report.html.shell import FigureView, figure_view
from wireproof.report.names import clean

__all__ = ["trends_page"]

_LONG = Size(900, WIDE.height)
_MOST_CHANGED = 12


@dataclass(frozen=True)
class SeriesRow:
    name: str
    bytes: int
    size: str
    window: str
    results: int
    value: str
    raw: float
    interval: str


@dataclass(frozen=True)
class ChangeView:
    """``place``: the page of the result, ``compare``: that of its comparison with the one before;
    "" if there is none.
    """

    words: str
    measured: str
    since: str
    place: str
    compare: str
    lines: list[str]


@dataclass(frozen=True)
class TrendView:
    """``none``: said where there are no changes."""

    name: str
    figure: FigureView
    window: str
    changes: list[ChangeView]
    none: str


def trends_page(
    root: str,
    newest: Entry,
    series: Sequence[SeriesLine],
    trends: Sequence[SeriesTrend],
    places: Collection[str],
) -> str:
    """``trends``: those that are drawn, of ``series``. ``places``: pages of results and comparisons
    that are there.
    """
    mpi = clean(newest.mpi.partition(" (")[0], 40)
    kinds = (clean(newest.hosts, 120), clean(newest.link, 30), clean(newest.transport, 20), mpi)
    views = [
        view for at, one in enumerate(trends, 1) if (view := _view(one, at, places)) is not None
    ]
    return framed(
        "trends",
        "Trends",
        root,
        TRENDS,
        about=", ".join(one for one in kinds if one),
        undrawn="" if views or not series else "A curve needs two results of one number.",
        trends=views,
        all_sets=TRENDS,
        series=[_row(one) for one in series],
    )


def _row(one: SeriesLine) -> SeriesRow:
    number = one.number
    return SeriesRow(
        name=clean(number.name, 60),
        bytes=number.message_bytes,
        size=quantity.size(number.message_bytes),
        window=str(number.window) if number.window else "-",
        results=one.results,
        value=value_text(number, number.value),
        raw=number.value,
        interval=f"{value_text(number, number.low)} to {value_text(number, number.high)}",
    )


def _view(found: SeriesTrend, at: int, places: Collection[str]) -> TrendView | None:
    chart = trend_chart(found, f"trend{at}")
    if chart is None:
        return None
    words = "result" if len(found.values) == 1 else "results"
    return TrendView(
        name=number_name(found.line.number),
        figure=figure_view(chart, _LONG),
        window=_window(found),
        changes=[_change(found, one, places) for one in reversed(found.changes)],
        none=f"No change was found in these {len(found.values)} {words}."
        " False alarms: about 1 in 100 series that have not changed.",
    )


def _window(found: SeriesTrend) -> str:
    count = len(found.values)
    if found.total <= count:
        return f"{found.total:,} results"
    return f"The newest {count:,} of {found.total:,} results: changes are looked for among these."


def _change(found: SeriesTrend, one: Shift, places: Collection[str]) -> ChangeView:
    lines = [clean(text, 240) for text in one.changed[:_MOST_CHANGED]]
    if len(one.changed) > _MOST_CHANGED:
        lines.append(f"and {len(one.changed) - _MOST_CHANGED} more conditions")
    place, compare = file_of("run", one.since), file_of("compare", one.since)
    return ChangeView(
        words=f"{percent_change(one)} (p {one.p:.4f})",
        measured=clean(one.measured, 40),
        since=one.since,
        place=place if place in places else "",
        compare=compare if compare in places else "",
        lines=lines or ["No condition that is recorded changed there."],
    )
