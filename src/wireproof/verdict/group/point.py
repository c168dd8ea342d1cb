"""Judge a point of a group of ranks: did its bytes cross, is the time possible and precise enough?

Pure.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from wireproof.analysis.traffic import readers
from wireproof.model import quantity
from wireproof.model.finding import GroupVerdict, Severity, Verdict, Whole, verdict_of
from wireproof.model.ledger import Direction, Ledger
from wireproof.model.pattern import CATALOGUE
from wireproof.model.quantity import volume
from wireproof.model.record import Estimate, GroupResult, PointRecord
from wireproof.physics.bounds import bounds_of
from wireproof.physics.limits import shaper_credit_bytes
from wireproof.verdict.context import Context
from wireproof.verdict.group.flows import CrossingBytes, crossings, operations
from wireproof.verdict.issue import Issue
from wireproof.verdict.path.proof import (
    CONTROL_BYTES,
    CONTROL_RATE,
    HEADER_ALLOWANCE,
    PairProof,
    conclude,
    may_be_inside,
    weakest,
)
from wireproof.verdict.path.sentences import sentence
from wireproof.verdict.path.sight import Due, Sighting, blindly, look
from wireproof.verdict.run.plateau import fills_link
from wireproof.verdict.run.quality import decides, enough_samples, payload_issues

# --- Did a group's bytes use the wire? Compare what must cross each node with its claimed port.

_CONTROL_PER_MEMBER = 20_000  # commands and sums travel along a tree of the members


def nodes_of(ctx: Context, point: PointRecord, group: GroupResult) -> dict[int, int]:
    """Map each rank to its node: the rank that reads its namespace's counters, or -2 - rank without
    a reader.
    """
    reader = readers(point, ctx.hosts)
    return {rank: reader.get(rank, -2 - rank) for rank in group.members}


def prove_group(ctx: Context, point: PointRecord, ledgers: Mapping[int, Ledger]) -> PairProof:
    """Prove the path of a group point by every node's claimed port in both directions; the worst
    decides.
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
    if proof == "on-wire" and may_be_inside(ctx, sightings, node_of.__getitem__):
        proof, code = "unproven", "same-adapter"
    telling = max(sightings, key=lambda sighting: sighting.need)
    seen = None if telling.seen is None else int(telling.seen)
    return PairProof(proof, code, tuple(sightings), int(telling.need), seen, level, quality)


def _both_directions(
    ctx: Context, point: PointRecord, rank: int, ledger: Ledger | None, crossing: CrossingBytes
) -> tuple[Sighting, Sighting]:
    nic = ctx.claimed_nic(rank)
    name = nic.name if nic is not None else ""

    def in_direction(direction: Direction, need: float) -> Sighting:
        due = Due(need, need, _most(ctx, point, crossing, need), math.inf)
        if ledger is None or (nic is None and ctx.claims_a_nic(rank)):
            return blindly(rank, name, direction, due, ctx.criteria, "its counters were not read")
        return look(ledger, rank, name, direction, due, ctx.criteria)

    return in_direction("tx", crossing.tx), in_direction("rx", crossing.rx)


def _most(ctx: Context, point: PointRecord, crossing: CrossingBytes, need: float) -> float:
    """Return the most that the point may have moved through one port; no bound if only the least is
    known.
    """
    group = point.group
    if group is None or not crossing.exact:
        return math.inf
    messages = max(group.sent_bytes + group.received_bytes, default=0) / max(1, point.message_bytes)
    control = (
        CONTROL_BYTES
        + CONTROL_RATE * point.elapsed_ns * 1e-9
        + _CONTROL_PER_MEMBER * len(group.members)
    )
    return (
        (need + 0.08 * need) * ctx.criteria.on_wire_max + 2 * messages * HEADER_ALLOWANCE + control
    )


def judge_group(
    ctx: Context, point: PointRecord, ledgers: Mapping[int, Ledger]
) -> tuple[GroupVerdict | None, list[Issue]]:
    """Return the verdict on a group point (None if it has no number) and the issues about it."""
    group = point.group
    assert group is not None  # noqa: S101  asked for groups only
    who = _who(ctx, point, group)
    proof = prove_group(ctx, point, ledgers)
    issues = [*_status(point, group, who), *_path(ctx, point, group, who, proof)]
    estimate = group.estimate
    if estimate is None:
        return None, issues
    issues += _precision(ctx, point, estimate, who)
    node_of = nodes_of(ctx, point, group)
    least = _shortest(ctx, point, group, node_of)
    if least is not None and proof.proof != "off-wire":
        # An operation without bytes cannot be proven by bytes.
        doubted = proof.proof == "on-wire" or point.message_bytes == 0
        sure = least.hard_ns if doubted else least.limit_ns
        issues += _possible(ctx, point, estimate, (least.limit_ns, sure), who)
    nodes = len(set(node_of.values()))
    return _judged(ctx, point, (group, estimate), nodes, proof, least, issues), issues


def _judged(
    ctx: Context,
    point: PointRecord,
    measured: tuple[GroupResult, Estimate],
    nodes: int,
    proof: PairProof,
    least: _Least | None,
    issues: list[Issue],
) -> GroupVerdict:
    group, estimate = measured
    codes = {issue.code for issue in issues} | _codes_of_the_run(ctx, proof)
    limit = least.limit_ns if least is not None else None
    telling = least is not None and least.of_bytes and group.exact
    return GroupVerdict(
        point=point.id,
        pattern=point.pattern,
        message_bytes=point.message_bytes,
        members=len(group.members),
        nodes=nodes,
        value=estimate.median_ns,
        low=estimate.low_ns,
        high=estimate.high_ns,
        half_width=estimate.half_width,
        label=estimate.label,
        proof=proof.proof,
        verdict=_verdict(ctx, issues, proof, limit),
        limit=limit,
        efficiency=limit / estimate.median_ns if telling and limit is not None else None,
        codes=sorted(codes),
        expected_bytes=proof.expected,
        seen_bytes=proof.seen,
        formula=point.formula,
        order=point.order,
        blocking=point.blocking,
        repeat=point.repeat,
        level=proof.level or "",
        quality=proof.quality or "",
    )


def _codes_of_the_run(ctx: Context, proof: PairProof) -> set[str]:
    """Return codes that are reported once for the whole run and hold for each of its points."""
    if not ctx.run.claim.wire:
        return {"no-wire-claimed"}
    return {proof.code} if ctx.moves_nothing else set()


def _who(ctx: Context, point: PointRecord, group: GroupResult) -> Whole:
    order = f"{point.order} " if point.order else ""
    kind = "" if point.blocking else "non-blocking "
    hosts = len({ctx.name(rank) for rank in group.members})
    return Whole(f"{order}{kind}{point.pattern} of {len(group.members)} ranks on {hosts} hosts")


def _verdict(ctx: Context, issues: list[Issue], proof: PairProof, limit: float | None) -> Verdict:
    worst_verdict = verdict_of(issue.severity for issue in issues)
    sure = proof.proof == "on-wire" and limit is not None and ctx.run.claim.wire
    return worst_verdict if sure or worst_verdict == "fail" else "inconclusive"


def _status(point: PointRecord, group: GroupResult, who: Whole) -> list[Issue]:
    where = f"{who}, {quantity.size(point.message_bytes)}"
    code, what = "", ""
    if group.status == "deadline" or group.stop == "deadline":
        code, what = "deadline", "stopped at its deadline"
    elif group.status == "error" or group.estimate is None:
        code, what = "points-missing", "ended without a number"
    ended = [Issue(code, "inconclusive", who, f"{where}: {what}", point=point.id)] if code else []
    checkable = group.status == "ok"
    return [*ended, *payload_issues(who, where, point, group.integrity, checkable=checkable)]


def _path(
    ctx: Context, point: PointRecord, group: GroupResult, who: Whole, proof: PairProof
) -> list[Issue]:
    """Return at most one issue: what is wrong with the path."""
    if not proof.code or not ctx.run.claim.wire or ctx.moves_nothing:
        return []  # a transport that moves nothing is reported once, for the whole run
    severity: Severity = "inconclusive" if proof.proof == "unproven" else "fail"
    worst = min(
        proof.sightings, key=lambda end: (end.seen or 0.0) / max(1.0, end.need), default=None
    )
    shown = ""
    if worst is not None and worst.need > 0:
        seen = "an unknown amount" if worst.seen is None else volume(worst.seen)
        shown = (
            f"; {ctx.name(worst.rank)} {worst.nic} {worst.direction}: of {volume(worst.need)} "
            f"{seen}"
        )
    text = f"{who}, {quantity.size(point.message_bytes)}: {sentence(ctx, proof)}{shown}"
    weight = float(proof.expected or 0)
    return [Issue(proof.code, severity, who, text, {"proof": proof.proof}, point.id, weight)]


def _precision(ctx: Context, point: PointRecord, estimate: Estimate, who: Whole) -> list[Issue]:
    where = f"{who}, {quantity.size(point.message_bytes)}"
    issues = []
    wide = estimate.half_width > ctx.criteria.max_half_width or not enough_samples(estimate)
    if wide:
        text = (
            f"{where}: too noisy: {quantity.plus_minus(estimate.half_width)}"
            f" ({quantity.counted(estimate.blocks, 'sample')})"
        )
        issues.append(
            Issue("unstable", "inconclusive", who, text, point=point.id, weight=estimate.half_width)
        )
    if estimate.label == "multimodal":
        text = f"{where}: the samples fall in separate groups"
        issues.append(
            Issue("multimodal", "warning", who, text, point=point.id, weight=estimate.half_width)
        )
    return issues


@dataclass(frozen=True, slots=True)
class _Least:
    """The shortest possible time of one operation.

    ``hard_ns``: a shorter time is a contradiction, whatever the literature says. ``of_bytes``: the
    limit comes from the bytes, not from the latency.
    """

    limit_ns: float
    hard_ns: float
    of_bytes: bool


def _shortest(
    ctx: Context, point: PointRecord, group: GroupResult, node_of: Mapping[int, int]
) -> _Least | None:
    """Return the time of the busiest node's bytes at the link's rate, at least the latency floor.

    The floor applies only if an operation waits for another node. None without a link.
    """
    link = ctx.link
    bounds = bounds_of(link, ctx.table) if link is not None else None
    if link is None or bounds is None or bounds.most is None:
        return None
    waits = CATALOGUE[point.pattern].waits
    floor, hard = (bounds.floor, bounds.hard) if waits else (0.0, 0.0)
    done = max(1.0, operations(point))
    due = [max(node.tx, node.rx) for node in crossings(point, node_of).values()]
    credit = shaper_credit_bytes(link, idle_between_messages=waits, table=ctx.table)
    beyond = max(0.0, max(due, default=0.0) / done - credit * len(group.members))
    wire = beyond / bounds.most * 1e9
    of_bytes = wire > floor and fills_link(link, point.message_bytes)
    return _Least(max(floor, wire), max(hard, wire), of_bytes)


def _possible(
    ctx: Context, point: PointRecord, estimate: Estimate, least: tuple[float, float], who: Whole
) -> list[Issue]:
    """Report a time below the shortest possible time.

    ``least``: (the shortest time, the time below which it is a contradiction). In between it is a
    doubt.
    """
    limit, hard = least
    tolerance = 1 - ctx.criteria.floor_tolerance
    if estimate.high_ns >= limit * tolerance:
        return []
    text = (
        f"{who}, {quantity.size(point.message_bytes)}: {estimate.median_ns / 1e3:.2f} us for"
        f" one operation is less than the {limit / 1e3:.2f} us that its bytes need on the wire"
    )
    severity: Severity = (
        "fail" if decides(estimate) and estimate.high_ns < hard * tolerance else "inconclusive"
    )
    return [
        Issue("below-floor", severity, who, text, {"limit_ns": limit}, point.id, estimate.median_ns)
    ]
