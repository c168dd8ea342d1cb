"""Did a group's bytes use the wire? What must cross each node, held against its claimed port. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping

from wireproof.analysis.counters import Direction
from wireproof.analysis.witness import HostTraffic, PortTraffic, readers
from wireproof.model.record import GroupResult, PointRecord
from wireproof.verdict.context import Context
from wireproof.verdict.group_flows import Crossing, crossings
from wireproof.verdict.proof import PairProof, Sighting, conclude

__all__ = ["nodes_of", "prove_group"]

_CONTROL_BYTES = 262_144  # the tool's own control traffic during one point
_CONTROL_RATE = 500_000  # bytes/s of it in a long point
_CONTROL_PER_MEMBER = 20_000  # commands and sums travel along a tree of the members
_HEADER_ALLOWANCE = 300  # bytes per message, as for pairs
_LOUD_BACKGROUND = 0.2
_ELSEWHERE = 0.5
_QUIET = 4096.0


def nodes_of(ctx: Context, point: PointRecord, group: GroupResult) -> dict[int, int]:
    """Rank to a number of its node: the rank that reads its namespace's counters; -2 - rank where nobody does."""
    reader = readers(point, ctx.hosts)
    return {rank: reader.get(rank, -2 - rank) for rank in group.members}


def prove_group(ctx: Context, point: PointRecord, traffic: Mapping[int, HostTraffic]) -> PairProof:
    """The proof of a group point: every node's claimed port, both directions; the worst sighting speaks."""
    group = point.group
    assert group is not None  # noqa: S101  asked for groups only
    if ctx.run.open is not None and ctx.run.open.transport in ("null", "model"):
        return PairProof("unproven", "instrument-only", (), None, None)
    node_of = nodes_of(ctx, point, group)
    if len(set(node_of.values())) == 1:
        return PairProof("off-wire", "shared-memory-suspected", (), 0, None)
    sightings: list[Sighting] = []
    for node, crossing in crossings(point, node_of).items():
        rank = next(rank for rank in group.members if node_of[rank] == node)
        for way in ("tx", "rx"):
            sightings.append(_sighting(ctx, point, rank, traffic.get(node), crossing, way))
    proof, code = conclude(tuple(sightings), None)
    telling = max(sightings, key=lambda one: one.need)
    seen = None if telling.seen is None else int(telling.seen)
    return PairProof(proof, code, tuple(sightings), int(telling.need), seen)


def _port(ctx: Context, rank: int, host: HostTraffic, way: Direction) -> PortTraffic | None:
    nic = ctx.claimed_nic(rank)
    if nic is not None:
        return host.ports.get(nic.name)
    real = [p for p in host.ports.values() if not p.loopback and not p.stacked and p.way(way).bytes is not None]
    return max(real, key=lambda p: (p.way(way).bytes or 0.0, p.nic), default=None)


def _sighting(
    ctx: Context, point: PointRecord, rank: int, host: HostTraffic | None, crossing: Crossing, way: Direction
) -> Sighting:
    need = crossing.tx if way == "tx" else crossing.rx
    nic = ctx.claimed_nic(rank)
    name = nic.name if nic else ""
    small = need < ctx.criteria.min_payload_bytes
    port = _port(ctx, rank, host, way) if host is not None else None
    if host is None or port is None:
        return Sighting("small" if small else "blind", rank, name, way, need, None, {}, 0.0)
    seen = port.way(way)
    others = {p.nic: p.way(way).bytes or 0.0 for p in host.ports.values() if not p.loopback and p.nic != port.nic}
    loop = sum(p.way(way).bytes or 0.0 for p in host.ports.values() if p.loopback)
    if small:
        kind = "small"
    elif seen.bytes is None:
        kind = "wrapped" if seen.trouble in ("reset", "saturated", "negative") else "blind"
    elif seen.background > _LOUD_BACKGROUND * need:
        kind = "background"
    elif seen.bytes >= ctx.criteria.on_wire_min * need:
        kind = "background" if seen.bytes > _most(ctx, point, crossing, need) else "on-wire"
    elif seen.bytes + seen.background >= ctx.criteria.on_wire_min * need:
        kind = "background"
    else:
        kind = _missing(seen.bytes / need, sum(others.values()) / need, loop / need, need, ctx.criteria.stray_share)
    return Sighting(kind, rank, port.nic, way, need, seen.bytes, others, loop, seen.counter, seen.wrapped)


def _most(ctx: Context, point: PointRecord, crossing: Crossing, need: float) -> float:
    """The most that the point may have moved through one port; no bound where only the least is known."""
    group = point.group
    if group is None or not crossing.exact:
        return math.inf
    messages = max(group.sent_bytes + group.received_bytes, default=0) / max(1, point.message_bytes)
    control = _CONTROL_BYTES + _CONTROL_RATE * point.elapsed_ns * 1e-9 + _CONTROL_PER_MEMBER * len(group.members)
    return (need + 0.08 * need) * ctx.criteria.on_wire_max + 2 * messages * _HEADER_ALLOWANCE + control


def _missing(here: float, elsewhere: float, loop: float, need: float, stray_share: float) -> str:
    """The claimed port saw too little: where did the payload go? All in shares of what was needed."""
    quiet = max(stray_share, min(_ELSEWHERE, _QUIET / need))
    if here < quiet:
        if loop >= _ELSEWHERE and loop > elsewhere:
            return "loopback"
        return "wrong-path" if elsewhere >= _ELSEWHERE else "off-wire"
    return "mixed" if elsewhere >= quiet else "partly"
