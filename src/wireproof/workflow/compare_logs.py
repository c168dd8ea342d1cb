"""Two logs of other programs held against each other: claims, with no proof and no interval."""

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
    """Every point of equal pattern, size, unit and directions as a ratio of the printed values; the
    median where a log has several. Raises ``BadInput`` for what holds no result.
    """
    one, other = judge(a), judge(b)
    left, right = _points(one.series), _points(other.series)
    differ = _differences(one.series, other.series)
    return Comparison(
        a=log_source(a, one),
        b=log_source(b, other),
        practical=PRACTICAL,
        claimed=True,
        differ=differ,
        rows=[_row(key, left.get(key, []), right.get(key, [])) for key in sorted({*left, *right})],
        notes=[_NOTE],
    )


def log_source(path: Path, found: JudgementDocument) -> Source:
    """A log, in one line."""
    hosts = {name for one in found.series for name in one.hosts}
    named = fold([clean(name, 80) for name in sorted(hosts)]) if hosts else "hosts not named"
    return Source(name=str(path), hosts=named, measured="claimed", verdict=found.verdict)


def _points(series: Sequence[JudgedSeries]) -> dict[_Key, list[float]]:
    found: dict[_Key, list[float]] = {}
    for one in series:
        for point in one.points:
            unit, value = headline_of(one, point)
            if value > 0:
                key: _Key = (_pattern(one), unit, one.directions, point.message_bytes)
                found.setdefault(key, []).append(value)
    return found


def _pattern(one: JudgedSeries) -> str:
    """Two programs agree on what a pair does; a collective is that of one program and its ranks."""
    pairs = f" of {one.pairs} pairs" if one.pairs > 1 else ""
    if one.traffic in _OF_A_PAIR:
        return one.traffic + pairs
    ranks = f" of {one.processes} ranks" if one.processes else ""
    return clean(one.benchmark.lower() + (pairs or ranks), 80)


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
    """Under what the tables of one pattern were measured, where that is not the same."""
    found = []
    for pattern in dict.fromkeys(_pattern(one) for one in a):
        sides = [[one for one in side if _pattern(one) == pattern] for side in (a, b)]
        if not all(sides):
            continue
        for name, field in _CONDITIONS:
            left, right = (_values(getattr(one, field) for one in side) for side in sides)
            if left != right:
                found.append(Difference(name=f"{name} of {pattern}", a=left, b=right))
        left, right = (_values(software_of(one.notes) for one in side) for side in sides)
        if left != right:
            found.append(Difference(name=f"software of {pattern}", a=left, b=right))
    return found


_CONDITIONS = (
    ("benchmark", "benchmark"),
    ("version", "version"),
    ("formula", "formula"),
    ("ranks", "processes"),
    ("window", "window"),
    ("protocol", "protocol"),
)


def _values(said: Iterable[object]) -> str:
    values = {str(one or "not said") for one in said}
    return clean(", ".join(sorted(values)), _MOST)
