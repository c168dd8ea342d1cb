"""A chart as a separate file: light, with its legend, and without CSS variables, which many SVG
programs do not support.

It also creates two charts of distributions: over the samples of one result, and over the pairs.
Unlike a median with its interval, cumulative shares show two modes, a long tail or a single slow
pair.
"""

import math
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import median

from wireproof.model import quantity
from wireproof.model.record import PairResult, PointRecord
from wireproof.report.figure import Axis, Chart, Limit, Line, Mark, plain
from wireproof.report.figure.curves import bandwidth, latency
from wireproof.report.figure.drawing import PRINTED, drawn
from wireproof.report.judged_run import JudgedRun
from wireproof.report.names import clean
from wireproof.report.rows import Cell, ResultTable, tables

_LEAST_SAMPLES = 12
_LEAST_PAIRS = 8
_MOST_LINES = 4
_STEPS = 80
_SHARES = tuple((float(one), str(one)) for one in (0, 25, 50, 75, 100))
_WIDEST = 4.0
"""Times above this many medians are drawn at the edge."""


def over_samples(section: JudgedRun, name: str) -> Chart | None:
    """Return the times of the batches of one pair at a few sizes, each relative to its median."""
    chosen = _chosen(section.run.points)
    if not chosen:
        return None
    lines = tuple(_samples(section, point, pair) for point, pair in chosen)
    lows = [line.marks[0].x for line in lines]
    highs = [_at_share(line, 99.0) for line in lines]
    low, high = max(0.0, min(*lows, 0.95) - 0.02), min(_WIDEST, max(*highs, 1.05) + 0.05)
    words = "; ".join(
        f"{line.name}: 99 % of batches took at most {tail:.3g} medians"
        for line, tail in zip(lines, highs, strict=True)
    )
    return Chart(
        id=name,
        title="Spread of the samples: share of batches that took no longer",
        note=(
            "Each time is relative to its median. A single step means that the times repeat; two "
            f"steps mean two modes. Times beyond {high:.3g} medians are not drawn."
        ),
        alt=f"Cumulative share of batches against their time. {words}.",
        x=Axis("time / median", False, low, high, plain(low, high)),
        y=Axis("share of batches (%)", False, 0.0, 104.0, _SHARES),
        lines=lines,
    )


def _chosen(points: Sequence[PointRecord]) -> list[tuple[PointRecord, PairResult]]:
    """Return the smallest and the largest size of ping-pong and of stream, for the pair with most
    points.
    """
    known = [
        (point, pair)
        for point in points
        for pair in point.pairs
        if pair.status == "ok" and len(pair.batch_ns) >= _LEAST_SAMPLES and min(pair.batch_ns) > 0
    ]
    found = []
    for pattern in ("pingpong", "stream"):
        mine = [one for one in known if one[0].pattern == pattern]
        routes = [(pair.origin, pair.target) for _, pair in mine]
        route = max(dict.fromkeys(routes), key=routes.count, default=None)
        ends = [one for one in mine if (one[1].origin, one[1].target) == route]
        ends.sort(key=lambda one: one[0].message_bytes)
        sizes = {point.message_bytes for point, _ in ends}
        found += [ends[0], ends[-1]] if len(sizes) > 1 else ends[:1]
    return found[:_MOST_LINES]


def _samples(section: JudgedRun, point: PointRecord, pair: PairResult) -> Line:
    names = {claim.rank: claim.host for claim in section.run.claim.hosts}
    ends = [clean(names.get(rank, f"rank {rank}"), 40) for rank in (pair.origin, pair.target)]
    title = f"{point.pattern} {quantity.size(point.message_bytes)} {' → '.join(ends)}"
    middle = median(pair.batch_ns)
    return Line(title, _cumulative([one / middle for one in pair.batch_ns]), stairs=True)


def _cumulative(values: Iterable[float]) -> tuple[Mark, ...]:
    """Return the cumulative share at each value; for very many values, only quantiles."""
    ordered = sorted(one for one in values if math.isfinite(one))
    count = len(ordered)
    places = (
        range(count)
        if count <= _STEPS
        else sorted({round(step * (count - 1) / (_STEPS - 1)) for step in range(_STEPS)})
    )
    marks = [(ordered[place], 100.0 * (place + 1) / count) for place in places]
    return tuple(Mark(x, y, y, y, "") for x, y in marks)


def _at_share(line: Line, share: float) -> float:
    return next((mark.x for mark in line.marks if mark.y >= share), line.marks[-1].x)


def over_pairs(section: JudgedRun, tables: Sequence[ResultTable], name: str) -> Chart | None:
    """Return goodput of all pairs at the size of the pair picture; None if there are few pairs."""
    found = [(table, *table.directed) for table in tables if table.unit != "ns"]
    shown = [(table, size, cells) for table, size, cells in found if len(cells) >= _LEAST_PAIRS]
    if not shown:
        return None
    lines = tuple(_pairs(table, size or 0, cells) for table, size, cells in shown[:_MOST_LINES])
    limits = _ceiling(section)
    ends = [mark.x for line in lines for mark in line.marks]
    high = max(*ends, *(limit.points[0][0] for limit in limits)) * 1.08
    told = "; ".join(_pairs_in_words(line) for line in lines)
    return Chart(
        id=name,
        title="Spread over the pairs: share of directions that are no faster",
        note="A tail on the left means slow directions; the steep part is the normal rate.",
        alt=f"Cumulative share of directions against goodput. {told}.",
        x=Axis("goodput (MB/s)", False, 0.0, high, plain(0.0, high)),
        y=Axis("share of directions (%)", False, 0.0, 104.0, _SHARES),
        lines=lines,
        limits=limits,
    )


def _ceiling(section: JudgedRun) -> tuple[Limit, ...]:
    """Return the attainable goodput as a vertical line, if known."""
    ceiling = section.limits.attainable_bytes_per_s if section.limits else None
    if not ceiling:
        return ()
    at = ceiling / 1e6
    return (Limit(f"attainable {quantity.megabytes(ceiling)} MB/s", ((at, 0.0), (at, 100.0))),)


def _pairs(table: ResultTable, size: int, cells: Sequence[Cell]) -> Line:
    title = f"{table.pattern} {quantity.size(size)}, {len(cells)} directions"
    return Line(title, _cumulative(cell.goodput / 1e6 for cell in cells), stairs=True)


def _pairs_in_words(line: Line) -> str:
    low, middle = line.marks[0].x, _at_share(line, 50.0)
    return (
        f"{line.name}: lowest {quantity.significant(low, 4)} MB/s, median "
        f"{quantity.significant(middle, 4)} MB/s"
    )


PALETTE = {
    "ink": "#1c2430",
    "muted": "#5a6573",
    "line": "#d9dee5",
    "limit": "#b3261e",
    "card": "#ffffff",
    "sunk": "#f0f2f5",
    "accent": "#1f5fb4",
    "s0": "#1f5fb4",
    "s1": "#b45309",
    "s2": "#0f766e",
    "s3": "#8b3fa0",
    "s4": "#5b6470",
    "s5": "#a3245b",
}
"""The colours of the page's light theme."""


def style() -> str:
    """Return the style of drawings; colours are variables of the page."""
    return (Path(__file__).parent / "figure.css").read_text(encoding="utf-8")


def charts(section: JudgedRun, found: Sequence[ResultTable], name: str) -> list[Chart]:
    """Return the charts in reading order; ``name`` begins the name of each."""
    drawn = [
        latency(section, found, f"{name}-latency"),
        bandwidth(section, found, f"{name}-bandwidth"),
        over_samples(section, f"{name}-samples"),
        over_pairs(section, found, f"{name}-over-pairs"),
    ]
    return [chart for chart in drawn if chart is not None]


def figures(sections: Sequence[JudgedRun]) -> dict[str, str]:
    """Return every figure of every run as the text of an SVG file, by name."""
    return {
        chart.id: standalone(chart)
        for number, section in enumerate(sections, 1)
        for chart in charts(section, tables(section), f"run{number}")
    }


def standalone(chart: Chart) -> str:
    """Return the whole text of an SVG file."""
    painted = re.sub(r"var\(--(\w+)\)", lambda found: PALETTE[found[1]], style())
    head, rest = drawn(chart, PRINTED, legend=True).split(">", 1)
    ground = f'<rect width="100%" height="100%" fill="{PALETTE["card"]}"/>'
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n{head} width="{PRINTED[0]}" '
        'xmlns="http://www.w3.org/2000/svg">'
        f"<style>{painted}</style>{ground}{rest}\n"
    )
