"""Compares two logs of other programs: claims, without a proof of the path and without an
interval.
"""

import statistics
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal

from wireproof.model.comparison import Comparison, Difference, Ratio, Side, Source
from wireproof.model.series import Traffic, software_of
from wireproof.report.json.judgement import JudgedSeries, JudgementDocument
from wireproof.report.names import clean, fold
from wireproof.verdict.comparison import PRACTICAL
from wireproof.workflow.history.logs import headline_of
from wireproof.workflow.judge import judge

_NOTE = "both are logs: claims of other programs, with no proof of their path and no interval"
_MOST = 200

_Key = tuple[str, Literal["ns", "bytes_per_s"], int, int]
"""Pattern, unit, directions and message size."""
_OF_A_PAIR: tuple[Traffic, ...] = ("pingpong", "stream", "exchange", "put", "get")


def compare_logs(a: Path, b: Path) -> Comparison:
    """Compare two logs point by point: equal pattern, size, unit and directions give a ratio of the
    printed values, or of their medians if a log has several. Raises ``BadInput`` if a file holds no
    result.
    """
    first, second = judge(a), judge(b)
    left, right = _points(first.series), _points(second.series)
    differ = _differences(first.series, second.series)
    return Comparison(
        a=log_source(a, first),
        b=log_source(b, second),
        practical=PRACTICAL,
        claimed=True,
        differ=differ,
        rows=[_row(key, left.get(key, []), right.get(key, [])) for key in sorted({*left, *right})],
        notes=[_NOTE],
    )


def log_source(path: Path, document: JudgementDocument) -> Source:
    """Return the one-line description of a log."""
    hosts = {name for table in document.series for name in table.hosts}
    named = fold([clean(name, 80) for name in sorted(hosts)]) if hosts else "hosts not named"
    return Source(name=str(path), hosts=named, measured="claimed", verdict=document.verdict)


def _points(series: Sequence[JudgedSeries]) -> dict[_Key, list[float]]:
    found: dict[_Key, list[float]] = {}
    for table in series:
        for point in table.points:
            unit, value = headline_of(table, point)
            if value > 0:
                key: _Key = (_pattern(table), unit, table.directions, point.message_bytes)
                found.setdefault(key, []).append(value)
    return found


def _pattern(table: JudgedSeries) -> str:
    """Return the key by which tables match.

    Point-to-point patterns match across programs; a collective matches only with the same program
    and number of ranks.
    """
    pairs = f" of {table.pairs} pairs" if table.pairs > 1 else ""
    if table.traffic in _OF_A_PAIR:
        return table.traffic + pairs
    ranks = f" of {table.processes} ranks" if table.processes else ""
    return clean(table.benchmark.lower() + (pairs or ranks), 80)


def _row(key: _Key, a: Sequence[float], b: Sequence[float]) -> Ratio:
    pattern, unit, directions, size = key
    sides = [
        Side(value=statistics.median(one), results=len(one)) if one else None for one in (a, b)
    ]
    missing = "" if a and b else f"{'B' if a else 'A'} has no such row"
    ratio = None
    if sides[0] and sides[1]:
        ratio = sides[1].value / sides[0].value
        ratio = 1 / ratio if unit == "ns" else ratio
    return Ratio(
        name=f"{pattern}{', both directions' if directions > 1 else ''} (claimed)",
        pattern=pattern,
        message_bytes=size,
        unit=unit,
        conclusion="not-compared" if missing else "undecided",
        a=sides[0],
        b=sides[1],
        ratio=ratio,
        reason=missing,
    )


def _differences(a: Sequence[JudgedSeries], b: Sequence[JudgedSeries]) -> list[Difference]:
    """Return the conditions in which tables of the same pattern differ."""
    differences = []
    for pattern in dict.fromkeys(_pattern(table) for table in a):
        sides = [[table for table in side if _pattern(table) == pattern] for side in (a, b)]
        if not all(sides):
            continue
        for name, field in _CONDITIONS:
            left, right = (_values(getattr(table, field) for table in side) for side in sides)
            if left != right:
                differences.append(Difference(name=f"{name} of {pattern}", a=left, b=right))
        left, right = (_values(software_of(table.notes) for table in side) for side in sides)
        if left != right:
            differences.append(Difference(name=f"software of {pattern}", a=left, b=right))
    return differences


_CONDITIONS = (
    ("benchmark", "benchmark"),
    ("version", "version"),
    ("formula", "formula"),
    ("ranks", "processes"),
    ("window", "window"),
    ("protocol", "protocol"),
)


def _values(printed: Iterable[object]) -> str:
    values = {str(value or "not said") for value in printed}
    return clean(", ".join(sorted(values)), _MOST)
