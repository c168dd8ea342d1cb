"""Ranks of one launch and ranks of the whole plan: cutting a plan down, and putting its results
back. Pure.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import msgspec

from wireproof.model.claim import Claim
from wireproof.model.plan import Point
from wireproof.model.record import GroupResult, PairResult, PointRecord, WitnessReading
from wireproof.model.run import Run

__all__ = ["renumbered", "subset_claim", "subset_points"]


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


def renumbered(run: Run, ranks: Sequence[int], claim: Claim) -> Run:
    """``run`` with rank i called ``ranks[i]``, and the whole plan's ``claim``."""

    def new(rank: int) -> int:
        return ranks[rank] if 0 <= rank < len(ranks) else rank

    def maybe(rank: int | None) -> int | None:
        return None if rank is None else new(rank)

    def pair(one: PairResult) -> PairResult:
        return msgspec.structs.replace(one, origin=new(one.origin), target=new(one.target))

    def group(one: GroupResult | None) -> GroupResult | None:
        return one and msgspec.structs.replace(one, members=[new(rank) for rank in one.members])

    def reading(one: WitnessReading) -> WitnessReading:
        return msgspec.structs.replace(one, rank=new(one.rank), shared_with=maybe(one.shared_with))

    def point(one: PointRecord) -> PointRecord:
        return msgspec.structs.replace(
            one,
            pairs=[pair(it) for it in one.pairs],
            group=group(one.group),
            witness=[reading(w) for w in one.witness],
        )

    if list(ranks) == list(range(len(claim.hosts))):
        return msgspec.structs.replace(run, claim=claim)
    replace = msgspec.structs.replace
    return replace(
        run,
        claim=claim,
        hosts=[replace(host, rank=new(host.rank)) for host in run.hosts],
        points=[point(one) for one in run.points],
        idle=[
            replace(idle, rank=new(idle.rank), shared_with=maybe(idle.shared_with))
            for idle in run.idle
        ],
        totals=[
            replace(total, rank=new(total.rank), shared_with=maybe(total.shared_with))
            for total in run.totals
        ],
        facts=[replace(fact, rank=new(fact.rank)) for fact in run.facts],
        errors=[replace(error, rank=maybe(error.rank)) for error in run.errors],
    )
