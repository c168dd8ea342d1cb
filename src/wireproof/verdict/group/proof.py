"""Did a group's bytes use the wire? What must cross each node, held against its claimed port.
Pure.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from wireproof.analysis.witness import readers
from wireproof.model.ledger import Direction, Ledger
from wireproof.model.record import GroupResult, PointRecord
from wireproof.verdict.context import Context
from wireproof.verdict.group.flows import Crossing, crossings
from wireproof.verdict.path.proof import PairProof, conclude, weakest
from wireproof.verdict.path.sight import Due, Sighting, blindly, look

__all__ = ["nodes_of", "prove_group"]

_CONTROL_BYTES = 262_144  # the tool's own control traffic during one point
_CONTROL_RATE = 500_000  # bytes/s of it in a long point
_CONTROL_PER_MEMBER = 20_000  # commands and sums travel along a tree of the members
_HEADER_ALLOWANCE = 300  # bytes per message, as for pairs


def nodes_of(ctx: Context, point: PointRecord, group: GroupResult) -> dict[int, int]:
    """Rank to a number of its node: the rank that reads its namespace's counters; -2 - rank where
    nobody does.
    """
    reader = readers(point, ctx.hosts)
    return {rank: reader.get(rank, -2 - rank) for rank in group.members}


def prove_group(ctx: Context, point: PointRecord, ledgers: Mapping[int, Ledger]) -> PairProof:
    """The proof of a group point: every node's claimed port, both directions; the worst sighting
    speaks.
    """
    group = point.group
    assert group is not None  # noqa: S101  asked for groups only
    if ctx.moves_nothing:
        return PairProof("unproven", "instrument-only", (), None, None)
    node_of = nodes_of(ctx, point, group)
    if len(set(node_of.values())) == 1:
        return PairProof("off-wire", "shared-memory-suspected", (), 0, None)
    sightings: list[Sighting] = []
    for node, crossing in crossings(point, node_of).items():
        rank = next(rank for rank in group.members if node_of[rank] == node)
        sightings += _both_directions(ctx, point, rank, ledgers.get(node), crossing)
    proof, code = conclude(tuple(sightings), None)
    level, quality = weakest(sightings)
    if proof == "on-wire" and level != "wire" and _share_adapter(ctx, sightings, node_of):
        proof, code = "unproven", "same-adapter"
    telling = max(sightings, key=lambda one: one.need)
    seen = None if telling.seen is None else int(telling.seen)
    return PairProof(proof, code, tuple(sightings), int(telling.need), seen, level, quality)


def _share_adapter(ctx: Context, sightings: Sequence[Sighting], node_of: Mapping[int, int]) -> bool:
    """Two nodes of the group are behind one adapter."""
    behind: dict[tuple[str, str], int] = {}
    for one in sightings:
        for identity in ctx.adapter_of(one.rank, one.nic):
            if behind.setdefault(identity, node_of[one.rank]) != node_of[one.rank]:
                return True
    return False


def _both_directions(
    ctx: Context, point: PointRecord, rank: int, ledger: Ledger | None, crossing: Crossing
) -> tuple[Sighting, Sighting]:
    nic = ctx.claimed_nic(rank)
    name = nic.name if nic is not None else ""

    def in_direction(direction: Direction, need: float) -> Sighting:
        due = Due(need, need, _most(ctx, point, crossing, need), math.inf)
        if ledger is None or (nic is None and ctx.claims_a_nic(rank)):
            return blindly(rank, name, direction, due, ctx.criteria, "its counters were not read")
        return look(ledger, rank, name, direction, due, ctx.criteria)

    return in_direction("tx", crossing.tx), in_direction("rx", crossing.rx)


def _most(ctx: Context, point: PointRecord, crossing: Crossing, need: float) -> float:
    """The most that the point may have moved through one port; no bound where only the least is
    known.
    """
    group = point.group
    if group is None or not crossing.exact:
        return math.inf
    messages = max(group.sent_bytes + group.received_bytes, default=0) / max(1, point.message_bytes)
    control = (
        _CONTROL_BYTES
        + _CONTROL_RATE * point.elapsed_ns * 1e-9
        + _CONTROL_PER_MEMBER * len(group.members)
    )
    return (
        (need + 0.08 * need) * ctx.criteria.on_wire_max + 2 * messages * _HEADER_ALLOWANCE + control
    )
