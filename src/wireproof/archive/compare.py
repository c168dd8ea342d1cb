"""Compare two results, for example of two dates, two MPIs or two fabrics; or several results by
number of nodes.
"""

import dataclasses
import re
import statistics
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from wireproof.archive.logs import headlines
from wireproof.files.held import real_path
from wireproof.logs.job import judge
from wireproof.logs.json import JudgedSeries, JudgementDocument
from wireproof.measure.comparison import ComparedResult, Key, compared, number_of, samples_of
from wireproof.measure.conditions import differing_conditions, differing_settings
from wireproof.measure.report import report
from wireproof.model import gathered
from wireproof.model.errors import BadInput
from wireproof.model.finding import worst
from wireproof.model.history import (
    LAUNCHES,
    PRACTICAL,
    Comparison,
    Difference,
    Ratio,
    Scaling,
    ScalingCurve,
    ScalingPoint,
    Side,
    Source,
)
from wireproof.model.series import Traffic, software_of
from wireproof.report.judged_run import JudgedRun
from wireproof.report.names import clean, fold
from wireproof.report.reporter import Reporter

# --- Compare two logs of other programs: their numbers are claims, without a proof of the path and
# without an interval.

_NOTE = "both are logs: claims of other programs, with no proof of their path and no interval"
_MOST = 200

_Key = tuple[str, Literal["ns", "bytes_per_s"], int, int]
"""Pattern, unit, directions and message size of a point."""
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
    """Return a one-line description of a log."""
    hosts = {name for table in document.series for name in table.hosts}
    named = fold([clean(name, 80) for name in sorted(hosts)]) if hosts else "hosts not named"
    return Source(name=str(path), hosts=named, measured="claimed", verdict=document.verdict)


def _points(series: Sequence[JudgedSeries]) -> dict[_Key, list[float]]:
    return gathered(
        ((_pattern(table), unit, table.directions, point.message_bytes), value)
        for table, point, unit, value in headlines(series)
    )


def _pattern(table: JudgedSeries) -> str:
    """Return the key by which tables are matched.

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


_FIRST = (
    ("half round trip of 8 B", "pingpong", 8, ""),
    ("stream of 1 MiB", "stream", 1 << 20, ""),
    ("message rate of 8 B", "message_rate", 8, ""),
    ("natural ring of 8 B", "ring", 8, "natural"),
    ("random ring of 8 B", "ring", 8, "random"),
)
HEADLINES = tuple(dict.fromkeys((pattern, size) for _, pattern, size, _ in _FIRST))
"""The numbers that a comparison shows first: latency, bandwidth, message rate, rings."""
_NUMBERED = re.compile(r"-[0-9]+$", re.ASCII)
PLAYED = "numbers of a model say nothing about a machine and are not compared"


def compare(a: Path, b: Path, reporter: Reporter) -> Comparison:
    """Compare every number that both results have, as a ratio with its interval, and list the
    conditions that differ.

    A result is the folder of a check or a measurement, or a log that ``judge`` reads. Both are
    judged by the current rules. Raises ``BadInput`` if a folder contains no result, or if a result
    is damaged or was written by a newer version.
    """
    if real_path(a) == real_path(b):
        raise BadInput(f"{a} is given twice: give two results.")
    for path in (a, b):
        if not path.exists():
            raise BadInput(f"{path} does not exist.")
    logs = [path.is_file() for path in (a, b)]
    if all(logs):
        return compare_logs(a, b)
    if any(logs):
        raise BadInput(
            "a log cannot be compared with a wireproof result: give two results or two logs."
        )
    first, second = (each.sections for each in report([a, b], reporter, pages=False))
    same, differ = differing_conditions(first, second)
    return Comparison(
        a=source_of(a, first),
        b=source_of(b, second),
        practical=PRACTICAL,
        same=same,
        differ=differ,
        settings=differing_settings(first[0].settings, second[0].settings),
        rows=compared(
            samples_by_key(first),
            samples_by_key(second),
            HEADLINES,
            launches=min(_launches(first), _launches(second)),
        ),
        notes=_notes(first, second),
    )


def samples_by_key(sections: Sequence[JudgedRun]) -> dict[Key, list[ComparedResult]]:
    """Return the results of a folder's parts by their key."""
    return gathered(
        (key, sample)
        for section in sections
        for key, samples in samples_of(section.judgement, section.run).items()
        for sample in samples
    )


def source_of(folder: Path, sections: Sequence[JudgedRun]) -> Source:
    """Return a one-line description of the result in a folder."""
    hosts = {rank.host for section in sections for rank in section.run.claim.hosts}
    return Source(
        name=str(folder),
        hosts=fold(hosts),
        measured=max(section.run.provenance.started for section in sections),
        verdict=worst(section.judgement.verdict for section in sections),
    )


def _notes(a: Sequence[JudgedRun], b: Sequence[JudgedRun]) -> list[str]:
    notes = []
    if min(_launches(a), _launches(b)) < LAUNCHES:
        notes.append(
            "results vary from launch to launch, and one of the results has fewer than three"
            " launches: the intervals do not include that variation (use --profile standard)"
        )
    if any(section.run.played for section in (*a, *b)):
        notes.append(PLAYED)
    if any(section.settings is None for section in (a[0], b[0])):
        notes.append(
            "one of the results does not contain the settings of its hosts: settings are not"
            " compared"
        )
    known = {
        (key.pattern, key.message_bytes, key.order)
        for key in (*samples_by_key(a), *samples_by_key(b))
    }
    if absent := [name for name, *of in _FIRST if tuple(of) not in known]:
        notes.append(f"neither result contains: {', '.join(absent)} (`measure` measures each)")
    return notes


def _launches(sections: Sequence[JudgedRun]) -> int:
    """Return the largest number of independent launches in any part, from their numbered
    folders.
    """
    return max(
        sum(_NUMBERED.search(folder.name) is not None for folder in section.records)
        for section in sections
    )


# --- Numbers of several results against the number of nodes or ranks: how latency grows.

Against = Literal["nodes", "ranks"]
_CLAIMED = "numbers of logs are claims: their paths are not proven, and they have no intervals"


class _Point(NamedTuple):
    name: str
    message_bytes: int
    unit: Literal["ns", "bytes_per_s"]
    nodes: int | None
    ranks: int | None
    values: ScalingPoint


def scaling(
    paths: Sequence[Path],
    reporter: Reporter,
    *,
    against: Against | None = None,
    nodes: Sequence[int] = (),
) -> Scaling:
    """Return a curve for each number that exists for at least two counts.

    ``paths``: folders of checks or measurements, and logs that `judge` reads. ``nodes``: the node
    count of each result, for logs that do not state it, or (). ``against`` None: nodes if every
    number states them, else ranks.

    Raises ``BadInput`` for a result that cannot be read, or a wrong number of node counts.
    """
    if not paths:
        raise BadInput("give the results to show: folders of --out, or logs.")
    if nodes and len(nodes) != len(paths):
        raise BadInput(
            f"--nodes has {len(nodes)} counts for {len(paths)} results: give one count for each"
            " result, in the same order."
        )
    sources: list[Source] = []
    points: list[_Point] = []
    notes: dict[str, None] = {}
    for index, path in enumerate(paths):
        given = nodes[index] if nodes else None
        if path.is_file():
            document = judge(path)
            sources.append(log_source(path, document))
            points += _of_log(document.series, index, given)
            notes[_CLAIMED] = None
        else:
            (again,) = report([path], reporter, pages=False)
            sources.append(source_of(path, again.sections))
            points += _of_run(again.sections, index, given)
            if any(section.run.played for section in again.sections):
                notes[PLAYED] = None
    on_nodes = points and all(point.nodes for point in points)
    against = against or ("nodes" if on_nodes else "ranks")
    curves = _curves(points, against)
    if not curves:
        notes[_nothing(points, against)] = None
    claimed = _CLAIMED in notes
    return Scaling(
        against=against, sources=sources, curves=curves, notes=list(notes), claimed=claimed
    )


def _of_log(series: Iterable[JudgedSeries], index: int, nodes: int | None) -> Iterable[_Point]:
    for table in series:
        count = nodes or (len(set(table.hosts)) if len(set(table.hosts)) > 1 else None)
        program = "" if table.benchmark.lower().startswith(table.tool) else f"{table.tool} "
        pairs = f" of {table.pairs} pairs" if table.pairs > 1 and table.traffic != "stream" else ""
        name = clean(f"{program}{table.benchmark}{pairs}", 80)
        ranks = table.processes or (2 * table.pairs if table.pairs > 1 else None)
        for _, row, unit, value in headlines([table]):
            point = ScalingPoint(count=0, value=value, source=index)
            yield _Point(name, row.message_bytes, unit, count, ranks, point)


def _of_run(sections: Sequence[JudgedRun], index: int, nodes: int | None) -> Iterable[_Point]:
    hosts = {rank.host for section in sections for rank in section.run.claim.hosts}
    for key, samples in samples_by_key(sections).items():
        number = number_of(dataclasses.replace(key, members=2), samples)
        if number is None:
            continue
        point = ScalingPoint(
            count=0,
            value=number.value,
            low=number.low,
            high=number.high,
            results=number.results,
            source=index,
        )
        count = nodes or len(hosts)
        yield _Point(number.name, key.message_bytes, number.unit, count, key.members, point)


def _curves(points: Sequence[_Point], against: Against) -> list[ScalingCurve]:
    groups: dict[tuple[str, int, Literal["ns", "bytes_per_s"]], dict[int, list[_Point]]] = {}
    for point in points:
        count = point.nodes if against == "nodes" else point.ranks
        if count:
            key = point.name, point.message_bytes, point.unit
            groups.setdefault(key, {}).setdefault(count, []).append(point)
    return [
        ScalingCurve(
            name=name,
            message_bytes=size,
            unit=unit,
            points=[_together(count, found) for count, found in sorted(counts.items())],
        )
        for (name, size, unit), counts in sorted(groups.items())
        if len(counts) > 1
    ]


def _together(count: int, points: Sequence[_Point]) -> ScalingPoint:
    """Return the results at one count: a single result unchanged, several as geometric mean and
    range.
    """
    values = [point.values for point in points]
    if len(values) == 1:
        return msgspec.structs.replace(values[0], count=count)
    lows = [value.low for value in values if value.low is not None]
    highs = [value.high for value in values if value.high is not None]
    return ScalingPoint(
        count=count,
        value=statistics.geometric_mean(value.value for value in values),
        low=min(lows) if len(lows) == len(values) else None,
        high=max(highs) if len(highs) == len(values) else None,
        results=sum(value.results for value in values),
        source=values[0].source,
    )


def _nothing(points: Sequence[_Point], against: Against) -> str:
    if not points:
        return "no result contains a number with a proven path"
    if not any(point.nodes if against == "nodes" else point.ranks for point in points):
        return f"no result states its number of {against}: give --nodes N,N,.. in order"
    return f"no number exists at two different counts of {against}"
