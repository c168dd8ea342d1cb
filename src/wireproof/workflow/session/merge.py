"""Parts of a plan and the whole of it: what is left to measure, and the results of several launches
as one run. Pure.
"""

from collections.abc import Collection, Mapping, Sequence
from itertools import chain

import msgspec

from wireproof.analysis.counters import joined_totals
from wireproof.model.claim import Claim
from wireproof.model.plan import Point
from wireproof.model.record import (
    EngineError,
    GroupResult,
    Host,
    PairResult,
    PointRecord,
    WitnessReading,
)
from wireproof.model.run import Missing, Run


def subset_points(
    points: Sequence[Point],
    done: Collection[tuple[int, int, int]],
    lost: Collection[int],
    missing: Collection[int],
) -> tuple[Point, ...]:
    """``points`` without the pairs that are done or have a lost rank; a group is measured whole or
    not at all.
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
    """The claim about ``ranks`` alone, numbered from 0 in their order."""
    by_rank = {one.rank: one for one in claim.hosts}
    hosts = [msgspec.structs.replace(by_rank[rank], rank=index) for index, rank in enumerate(ranks)]
    return msgspec.structs.replace(claim, hosts=hosts)


def ranks_by_host(claim: Claim, whole: Claim) -> tuple[int, ...] | None:
    """The rank in ``whole`` of each rank of ``claim``: by host, ranks of one host in order. None
    when ``whole`` does not have them.
    """
    free: dict[str, list[int]] = {}
    for one in whole.hosts:
        free.setdefault(one.host, []).append(one.rank)
    try:
        return tuple(free[one.host].pop(0) for one in sorted(claim.hosts, key=lambda it: it.rank))
    except (KeyError, IndexError):
        return None


def renumbered(run: Run, ranks: Sequence[int], claim: Claim) -> Run:
    """``run`` with rank i called ``ranks[i]``, and the whole plan's ``claim``."""
    if list(ranks) == list(range(len(claim.hosts))):
        return msgspec.structs.replace(run, claim=claim)
    replace, new = msgspec.structs.replace, _Numbers(ranks)
    return replace(
        run,
        claim=claim,
        hosts=[replace(host, rank=new.rank(host.rank)) for host in run.hosts],
        points=[new.point(one) for one in run.points],
        idle=[
            replace(one, rank=new.rank(one.rank), shared_with=new.maybe(one.shared_with))
            for one in run.idle
        ],
        totals=[
            replace(one, rank=new.rank(one.rank), shared_with=new.maybe(one.shared_with))
            for one in run.totals
        ],
        facts=[replace(fact, rank=new.rank(fact.rank)) for fact in run.facts],
        errors=[replace(error, rank=new.maybe(error.rank)) for error in run.errors],
    )


class _Numbers:
    """The plan's number of each rank of a launch, and records with it."""

    def __init__(self, ranks: Sequence[int]) -> None:
        self._ranks = ranks

    def rank(self, rank: int) -> int:
        return self._ranks[rank] if 0 <= rank < len(self._ranks) else rank

    def maybe(self, rank: int | None) -> int | None:
        return None if rank is None else self.rank(rank)

    def point(self, one: PointRecord) -> PointRecord:
        return msgspec.structs.replace(
            one,
            pairs=[self._pair(pair) for pair in one.pairs],
            group=one.group and self._group(one.group),
            witness=[self._reading(reading) for reading in one.witness],
        )

    def _pair(self, one: PairResult) -> PairResult:
        return msgspec.structs.replace(
            one, origin=self.rank(one.origin), target=self.rank(one.target)
        )

    def _group(self, one: GroupResult) -> GroupResult:
        return msgspec.structs.replace(one, members=[self.rank(rank) for rank in one.members])

    def _reading(self, one: WitnessReading) -> WitnessReading:
        return msgspec.structs.replace(
            one, rank=self.rank(one.rank), shared_with=self.maybe(one.shared_with)
        )


def merged_run(runs: Sequence[Run]) -> Run:
    """Several launches as one run: all points, all errors; who ran where is that of the first, and
    must stay so.
    """
    if len(runs) == 1:
        return runs[0]
    hosts, moved = _placed(runs)
    idle = {idle.rank: idle for run in reversed(runs) for idle in run.idle}
    # An attempt that did not start (a dead host) says nothing of how the others were measured.
    begun = next((run for run in runs if run.open is not None), runs[0])
    return msgspec.structs.replace(
        begun,
        hosts=[hosts[rank] for rank in sorted(hosts)],
        points=list(chain.from_iterable(run.points for run in runs)),
        idle=[idle[rank] for rank in sorted(idle)],
        totals=joined_totals(total for run in runs for total in run.totals),
        facts=list(chain.from_iterable(run.facts for run in runs)),
        floors=list({(one.pattern, one.form): one for run in runs for one in run.floors}.values()),
        errors=[*chain.from_iterable(run.errors for run in runs), *moved],
        missing=_still_missing(runs),
        close=runs[-1].close,
    )


def _placed(runs: Sequence[Run]) -> tuple[dict[int, Host], list[EngineError]]:
    """Who ran where, by the first launch that says it; an error for each that differs."""
    hosts = {host.rank: host for host in runs[0].hosts}
    errors = []
    for launch, run in enumerate(runs[1:], start=2):
        if _moved(hosts, run):
            text = (
                f"launch {launch} put ranks on other hosts than launch 1: check each placement by"
                " itself"
            )
            errors.append(EngineError(code="placement-changed", message=text))
        hosts = {**{host.rank: host for host in run.hosts}, **hosts}
    return hosts, errors


def _still_missing(runs: Sequence[Run]) -> dict[int, Missing]:
    """Points that no launch has sealed."""
    sealed = {point.id for run in runs for point in run.points}
    return {point: why for run in runs for point, why in run.missing.items() if point not in sealed}


def _moved(before: Mapping[int, Host], run: Run) -> bool:
    """By machine identity, (boot id, network namespace): some rank is on another machine than it
    was.
    """
    return any(
        (host.boot_id, host.netns) != (before[host.rank].boot_id, before[host.rank].netns)
        for host in run.hosts
        if host.rank in before
    )


def with_lost(
    run: Run, lost: Mapping[int, str], missing: Mapping[int, Missing], *, complete: bool
) -> Run:
    """The run with the hosts that were lost as errors: zero evidence about them is never a pass.

    ``lost``: rank to one sentence; ``missing``: point to why nothing of it is there. ``complete``:
    the last launch came to its end.
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
