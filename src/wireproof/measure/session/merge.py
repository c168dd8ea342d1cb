"""Reduce a plan to the remaining points, and merge the results of several launches into one run.
Pure.
"""

from collections.abc import Collection, Mapping, Sequence
from itertools import chain
from typing import TypeVar

import msgspec

from wireproof.ledger.changes import joined_totals
from wireproof.model import gathered
from wireproof.model.claim import Claim
from wireproof.model.plan import Point
from wireproof.model.record import (
    EngineError,
    Host,
)
from wireproof.model.run import Missing, Run


def subset_points(
    points: Sequence[Point],
    done: Collection[tuple[int, int, int]],
    lost: Collection[int],
    missing: Collection[int],
) -> tuple[Point, ...]:
    """Return ``points`` without the pairs that are done or have a lost rank; a group is measured
    completely or not at all.
    """
    rest: list[Point] = []
    for point in points:
        if point.id in missing:
            continue
        if point.members:
            if (point.id, -1, -1) not in done and not set(point.members) & set(lost):
                rest.append(point)
            continue
        pairs = tuple(
            pair
            for pair in point.pairs
            if (point.id, *pair) not in done and not (pair[0] in lost or pair[1] in lost)
        )
        if pairs:
            rest.append(msgspec.structs.replace(point, pairs=pairs))
    return tuple(rest)


def subset_claim(claim: Claim, ranks: Sequence[int]) -> Claim:
    """Return the claim about ``ranks`` alone, numbered from 0 in their order."""
    by_rank = {host.rank: host for host in claim.hosts}
    hosts = [msgspec.structs.replace(by_rank[rank], rank=index) for index, rank in enumerate(ranks)]
    return msgspec.structs.replace(claim, hosts=hosts)


def ranks_by_host(claim: Claim, whole: Claim) -> tuple[int, ...] | None:
    """Return the rank in ``whole`` of each rank of ``claim``, matched by host; ranks of one host
    are matched in order. Return None if ``whole`` does not contain them.
    """
    free = gathered((host.host, host.rank) for host in whole.hosts)
    ordered = sorted(claim.hosts, key=lambda host: host.rank)
    try:
        return tuple(free[host.host].pop(0) for host in ordered)
    except (KeyError, IndexError):
        return None


def renumbered(run: Run, ranks: Sequence[int], claim: Claim) -> Run:
    """Return ``run`` with rank i renumbered to ``ranks[i]``, and with the whole plan's
    ``claim``.
    """
    if list(ranks) == list(range(len(claim.hosts))):
        return msgspec.structs.replace(run, claim=claim)
    number = dict(enumerate(ranks))
    points = [
        msgspec.structs.replace(
            point,
            pairs=[_moved(pair, number) for pair in point.pairs],
            group=point.group
            and msgspec.structs.replace(
                point.group, members=[number.get(rank, rank) for rank in point.group.members]
            ),
            witness=[_moved(reading, number) for reading in point.witness],
        )
        for point in run.points
    ]
    return msgspec.structs.replace(
        run,
        claim=claim,
        hosts=[_moved(host, number) for host in run.hosts],
        points=points,
        idle=[_moved(port, number) for port in run.idle],
        totals=[_moved(port, number) for port in run.totals],
        facts=[_moved(fact, number) for fact in run.facts],
        errors=[_moved(error, number) for error in run.errors],
    )


_RANKS = frozenset({"rank", "shared_with", "origin", "target"})
"""Fields of records that refer to a rank."""
_Record = TypeVar("_Record", bound=msgspec.Struct)


def _moved(record: _Record, number: Mapping[int, int]) -> _Record:
    """Return the record with its ranks renumbered; a rank outside of the launch keeps its
    number.
    """
    ranks = {name: getattr(record, name) for name in _RANKS.intersection(record.__struct_fields__)}
    new = {name: number.get(rank, rank) for name, rank in ranks.items()}
    return msgspec.structs.replace(record, **new)


def merged_run(runs: Sequence[Run]) -> Run:
    """Merge several launches into one run: all points, all errors.

    The placement of ranks is that of the first launch and must not change.
    """
    if len(runs) == 1:
        return runs[0]
    hosts, moved = _placed(runs)
    idle = {idle.rank: idle for run in reversed(runs) for idle in run.idle}
    # An attempt that did not start (a dead host) contains no record of the method.
    begun = next((run for run in runs if run.open is not None), runs[0])
    return msgspec.structs.replace(
        begun,
        hosts=[hosts[rank] for rank in sorted(hosts)],
        points=list(chain.from_iterable(run.points for run in runs)),
        idle=[idle[rank] for rank in sorted(idle)],
        totals=joined_totals(total for run in runs for total in run.totals),
        facts=list(chain.from_iterable(run.facts for run in runs)),
        floors=list(
            {(floor.pattern, floor.form): floor for run in runs for floor in run.floors}.values()
        ),
        errors=[*chain.from_iterable(run.errors for run in runs), *moved],
        missing=_still_missing(runs),
        close=runs[-1].close,
    )


def _placed(runs: Sequence[Run]) -> tuple[dict[int, Host], list[EngineError]]:
    """Return the host of each rank by the first launch that reports it, and an error for each
    launch that differs.
    """
    hosts = {host.rank: host for host in runs[0].hosts}
    errors = []
    for launch, run in enumerate(runs[1:], start=2):
        if _differs(hosts, run):
            text = (
                f"launch {launch} placed ranks on different hosts from launch 1: check each"
                " placement separately"
            )
            errors.append(EngineError(code="placement-changed", message=text))
        hosts = {**{host.rank: host for host in run.hosts}, **hosts}
    return hosts, errors


def _still_missing(runs: Sequence[Run]) -> dict[int, Missing]:
    """Return the points that no launch has sealed."""
    sealed = {point.id for run in runs for point in run.points}
    return {point: why for run in runs for point, why in run.missing.items() if point not in sealed}


def _differs(before: Mapping[int, Host], run: Run) -> bool:
    """Return whether a rank is on another machine than before, by boot ID and network namespace."""
    return any(
        (host.boot_id, host.netns) != (before[host.rank].boot_id, before[host.rank].netns)
        for host in run.hosts
        if host.rank in before
    )


def with_lost(
    run: Run, lost: Mapping[int, str], missing: Mapping[int, Missing], *, complete: bool
) -> Run:
    """Return the run with lost hosts as errors: missing evidence about a host is never a pass.

    ``lost``: a sentence for each rank; ``missing``: the reason why a point has no data.
    ``complete``: the last launch ran to its end.
    """
    errors = [
        EngineError(code="rank-lost", message=why, rank=rank) for rank, why in sorted(lost.items())
    ]
    close = run.close and msgspec.structs.replace(
        run.close, points=len(run.points), failed=run.close.failed
    )
    return msgspec.structs.replace(
        run,
        errors=[*run.errors, *errors],
        missing=dict(missing),
        close=close if complete else None,
    )
