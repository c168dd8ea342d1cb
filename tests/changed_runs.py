"""Synthetic runs with one thing changed, for tests of the judgement."""

from collections.abc import Callable
from typing import Any

import msgspec
from tests.synthetic import World

from wireproof.model.finding import Judgement
from wireproof.model.record import Estimate, PairResult, PointRecord, WitnessReading
from wireproof.model.run import Run

set_ = msgspec.structs.replace
SMALL = World(sizes=(8, 65536, 1 << 20))


def each_pair(run: Run, **changes: Any) -> Run:
    """A change that is a function gets the pair and gives the new value."""

    def changed(pair: PairResult) -> PairResult:
        values = {name: new(pair) if callable(new) else new for name, new in changes.items()}
        return set_(pair, **values)

    points = [set_(point, pairs=list(map(changed, point.pairs))) for point in run.points]
    return set_(run, points=points)


def each_estimate(run: Run, **changes: Any) -> Run:
    return each_pair(run, estimate=lambda pair: set_(pair.estimate, **changes))


def each_host(run: Run, **changes: Any) -> Run:
    return set_(run, hosts=[set_(host, **changes) for host in run.hosts])


def each_nic(run: Run, **changes: Any) -> Run:
    hosts = [
        set_(host, nics=[set_(nic, **changes) if nic.name == "hsn0" else nic for nic in host.nics])
        for host in run.hosts
    ]
    return set_(run, hosts=hosts)


def each_counter(run: Run, change: Callable[[str, tuple[int, int]], tuple[int, int] | None]) -> Run:
    """``change`` gets name and reading of every counter and gives the new reading, or None to leave
    it out.
    """

    def changed(reading: WitnessReading, _: PointRecord) -> WitnessReading:
        new = {name: change(name, pair) for name, pair in reading.counters.items()}
        return set_(reading, counters={name: pair for name, pair in new.items() if pair})

    return each_reading(run, changed)


def each_reading(run: Run, change: Callable[[WitnessReading, PointRecord], WitnessReading]) -> Run:
    """``change`` gets every reading with its point and gives the new reading."""
    points = [set_(p, witness=[change(one, p) for one in p.witness]) for p in run.points]
    return set_(run, points=points)


def unread(run: Run) -> Run:
    """Nobody read the counters."""
    return set_(run, points=[set_(point, witness=[]) for point in run.points])


def codes(found: Judgement, *severities: str) -> set[str]:
    return {f.code for f in found.findings if not severities or f.severity in severities}


def _estimate(estimate: Estimate, change: Callable[[float], float]) -> Estimate:
    names = ("median_ns", "low_ns", "high_ns")
    return set_(estimate, **{name: change(getattr(estimate, name)) for name in names})


def slower(run: Run, factor: float, only: Callable[[PointRecord], bool] | None = None) -> Run:
    """All times multiplied, or those of some points; the counters stay."""

    def changed(point: PointRecord) -> PointRecord:
        if only is not None and not only(point):
            return point
        pairs = []
        for pair in point.pairs:
            assert pair.estimate is not None
            estimate = _estimate(pair.estimate, lambda time: time * factor)
            batches = [time * factor for time in pair.batch_ns]
            pairs.append(set_(pair, batch_ns=batches, estimate=estimate))
        return set_(point, pairs=pairs, elapsed_ns=point.elapsed_ns * factor)

    return set_(run, points=[changed(point) for point in run.points])


def later(run: Run, extra_ns: float, above: int) -> Run:
    """Messages of more than ``above`` bytes take so much longer each way."""

    def changed(point: PointRecord) -> PointRecord:
        if point.message_bytes <= above:
            return point
        pair = point.pairs[0]
        assert pair.estimate is not None
        batches = [t + 2 * extra_ns * pair.operations_per_batch for t in pair.batch_ns]
        estimate = _estimate(pair.estimate, lambda time: time + extra_ns)
        pair = set_(pair, batch_ns=batches, estimate=estimate)
        return set_(point, elapsed_ns=sum(batches) * 1.1, pairs=[pair])

    return set_(run, points=[changed(point) for point in run.points])
