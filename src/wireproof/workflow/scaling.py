"""Shows numbers of several results against the number of nodes or ranks: how latency grows."""

import dataclasses
import statistics
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from wireproof.model.errors import BadInput
from wireproof.model.history import Scaling, ScalingCurve, ScalingPoint, Source
from wireproof.report.json.judgement import JudgedSeries
from wireproof.report.judged_run import JudgedRun
from wireproof.report.names import clean
from wireproof.verdict.comparison import number_of
from wireproof.workflow.compare import PLAYED, log_source, samples_by_key, source_of
from wireproof.workflow.history.logs import headline_of
from wireproof.workflow.judge import judge
from wireproof.workflow.report import report
from wireproof.workflow.reporter import Reporter

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
        for row in table.points:
            unit, value = headline_of(table, row)
            if value > 0:
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
