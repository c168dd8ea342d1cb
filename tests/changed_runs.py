"""Synthetic runs with one thing changed, for tests of the judgement."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from tests.synthetic import World

from wireproof.model.finding import Judgement
from wireproof.model.run import Run

set_ = msgspec.structs.replace
SMALL = World(sizes=(8, 65536, 1 << 20))


def each_pair(run: Run, **changes: Any) -> Run:
    points = [
        set_(point, pairs=[set_(pair, **changes) for pair in point.pairs]) for point in run.points
    ]
    return set_(run, points=points)


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
    points = []
    for point in run.points:
        witness = []
        for reading in point.witness:
            changed = {name: change(name, pair) for name, pair in reading.counters.items()}
            witness.append(
                set_(
                    reading,
                    counters={name: pair for name, pair in changed.items() if pair is not None},
                )
            )
        points.append(set_(point, witness=witness))
    return set_(run, points=points)


def codes(found: Judgement, *severities: str) -> set[str]:
    return {f.code for f in found.findings if not severities or f.severity in severities}


def slower(run: Run, factor: float) -> Run:
    """All times multiplied; the counters stay."""
    points = []
    for point in run.points:
        pairs = []
        for pair in point.pairs:
            assert pair.estimate is not None
            e = pair.estimate
            estimate = set_(
                e,
                median_ns=e.median_ns * factor,
                low_ns=e.low_ns * factor,
                high_ns=e.high_ns * factor,
            )
            pairs.append(
                set_(pair, batch_ns=[t * factor for t in pair.batch_ns], estimate=estimate)
            )
        points.append(set_(point, pairs=pairs, elapsed_ns=point.elapsed_ns * factor))
    return set_(run, points=points)
