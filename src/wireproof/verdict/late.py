"""Counters that are refreshed late say nothing about one short point: there the whole run is held against them. Pure.

The engine reads once before the first point and once after the last, each time when every counter has settled. What all
points together were due is held against that. A point is proven by the sum when it is too large to be what is missing:
its payload exceeds all that the port saw beyond the least that was due.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from wireproof.analysis.changes import WitnessChanges
from wireproof.model.ledger import Direction
from wireproof.model.record import PairResult, PointRecord
from wireproof.verdict.context import Context
from wireproof.verdict.proof import PairProof, Place, Witnessed, pair_proof
from wireproof.verdict.sight import Due, Sighting, look

__all__ = ["summed"]

_LATE = "counters-late"


def summed(ctx: Context, points: Sequence[PointRecord], witnessed: Sequence[Witnessed]) -> list[PairProof]:
    """The proofs of all pairs of all points in their order, those with late counters by the sum over the run."""
    if not any(proof.code == _LATE for seen in witnessed for proof in seen.pairs):
        return [proof for seen in witnessed for proof in seen.pairs]
    whole = _Whole(ctx, witnessed)
    return [
        whole.proof(pair, proof, seen) if proof.code == _LATE else proof
        for point, seen in zip(points, witnessed, strict=True)
        for pair, proof in zip(point.pairs, seen.pairs, strict=True)
    ]


class _Whole:
    """The sum of a run at each place."""

    def __init__(self, ctx: Context, witnessed: Sequence[Witnessed]) -> None:
        self.ctx = ctx
        self.dues: dict[Place, Due] = {}
        for seen in witnessed:
            for place, due in seen.dues.items():
                self.dues[place] = _plus(self.dues[place], due) if place in self.dues else due
        self.ledgers = {
            total.rank: ctx.ports[total.rank].ledger(WitnessChanges(total, ctx.idle.get(total.rank)))
            for total in ctx.run.totals
            if total.shared_with is None and total.rank in ctx.ports
        }

    def proof(self, pair: PairResult, late: PairProof, seen: Witnessed) -> PairProof:
        sightings = tuple(self._again(one, seen) for one in late.sightings)
        return pair_proof(self.ctx, pair, sightings)

    def _again(self, one: Sighting, seen: Witnessed) -> Sighting:
        """The same end and direction by the whole run."""
        reader = seen.reader_of.get(one.rank)
        nic = self.ctx.claimed_nic(one.rank)
        due = self.dues.get((reader, nic.name if nic is not None else "", one.direction))
        if one.kind != "stale" or reader is None or reader not in self.ledgers or due is None:
            return one
        return self._by_sum(one, self._look(one, reader, due), due)

    def _look(self, one: Sighting, reader: int, due: Due) -> Sighting:
        way: Direction = one.direction
        return look(self.ledgers[reader], one.rank, one.nic, way, due, self.ctx.criteria)

    def _by_sum(self, one: Sighting, whole: Sighting, due: Due) -> Sighting:
        found = dataclasses.replace(whole, need=one.need, quality="stale", remark="summed over the run")
        if whole.kind != "on-wire" or whole.seen is None:
            return found
        spare = max(0.0, whole.seen - due.need) + (1 - self.ctx.criteria.on_wire_min) * due.need
        return found if one.need > spare else dataclasses.replace(found, kind="stale", remark=one.remark)


def _plus(one: Due, other: Due) -> Due:
    """Both points together."""
    packets = (one.packets or 0.0) + (other.packets or 0.0) if one.packets or other.packets else None
    elsewhere = {**(one.elsewhere or {})}
    for name, most in (other.elsewhere or {}).items():
        elsewhere[name] = elsewhere.get(name, 0.0) + most
    need = one.need + other.need
    return Due(need, need, one.most + other.most, one.control + other.control, packets, elsewhere)
