# pure
"""Judge a point of a group of ranks: whether its bytes crossed, and whether its time is possible
and precise enough. Pure. Ranks of one node communicate through memory, so only bytes that leave a
node count. For point-to-point patterns they are known exactly. For a library's collective, only the
minimum that any algorithm must move is known; for a random ring over several ranks per node, only
that it enters and leaves every node at least once.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from wireproof.ledger.traffic import readers
from wireproof.model import gathered, quantity
from wireproof.model.finding import GroupVerdict, Severity, Verdict, Whole, verdict_of
from wireproof.model.pattern import CATALOGUE
from wireproof.model.quantity import volume
from wireproof.model.record import Estimate, GroupResult, PointRecord
from wireproof.model.traffic import Direction, Ledger
from wireproof.physics.bounds import bounds_of
from wireproof.physics.limits import shaper_credit_bytes
from wireproof.verdict.context import Context
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
from wireproof.verdict.run.quality import decides, precision_issues, status_issues

Node = int
"""Any number that identifies a node."""


@dataclass(frozen=True)
class CrossingBytes:
    """Payload bytes over a whole point. ``exact``: False if these are only the minimum."""

    tx: float
    rx: float
    exact: bool


def crossings(point: PointRecord, node_of: Mapping[int, Node]) -> dict[Node, CrossingBytes]:
    """Return the bytes that must cross each node's port, keyed by node; empty without a group."""
    group = point.group
    if group is None:
        return {}
    nodes = [node_of.get(rank, -1 - rank) for rank in group.members]
    if len(set(nodes)) == len(nodes):
        pairs = zip(nodes, group.sent_bytes, group.received_bytes, strict=True)
        return {
            node: CrossingBytes(float(sent), float(got), group.exact) for node, sent, got in pairs
        }
    if len(set(nodes)) == 1:
        return {nodes[0]: CrossingBytes(0.0, 0.0, True)}
    if not group.exact:
        return _collective(point.pattern, group, nodes)
    shares = _shares(point, nodes)
    if shares is None:
        return _least(group, nodes)
    return _summed(group, nodes, shares, exact=True)


def operations(point: PointRecord) -> float:
    """Return the number of group operations in the point's bytes, warm-up included.

    0 if the operation has no bytes (a barrier).
    """
    group = point.group
    if group is None or point.message_bytes == 0:
        return 0.0
    size, count = point.message_bytes, len(group.members)
    sent = CATALOGUE[point.pattern].sent
    # the load does not count as an operation: only member 0 is observed, with one message per
    # operation
    if sent is None:
        return group.sent_bytes[0] / size
    messages = sent(count)
    return sum(group.sent_bytes) / (messages * size) if messages else 0.0


def _summed(
    group: GroupResult, nodes: Sequence[Node], shares: Sequence[float], *, exact: bool
) -> dict[Node, CrossingBytes]:
    totals: dict[Node, list[float]] = {node: [0.0, 0.0] for node in nodes}
    for node, sent, got, share in zip(
        nodes, group.sent_bytes, group.received_bytes, shares, strict=True
    ):
        totals[node][0] += sent * share
        totals[node][1] += got * share
    return {node: CrossingBytes(tx, rx, exact) for node, (tx, rx) in totals.items()}


def _least(group: GroupResult, nodes: Sequence[Node]) -> dict[Node, CrossingBytes]:
    """Return the minimum for a ring: it enters and leaves every node at least once, at the member
    with the fewest bytes."""
    return {
        node: CrossingBytes(
            float(min(group.sent_bytes[index] for index in mine)),
            float(min(group.received_bytes[index] for index in mine)),
            exact=False,
        )
        for node, mine in _members(nodes).items()
    }


def _members(nodes: Sequence[Node]) -> dict[Node, list[int]]:
    return gathered((node, index) for index, node in enumerate(nodes))


def _shares(point: PointRecord, nodes: Sequence[Node]) -> list[float] | None:
    """Return the share of each member's sent and received bytes that crosses, or None if it is
    unknown.
    """
    partners = CATALOGUE[point.pattern].partners
    if partners == "halves":
        return _with_the_other_half(nodes)
    if partners == "first":
        away = [float(node != nodes[0]) for node in nodes]
        return [sum(away) / max(1, len(nodes) - 1), *away[1:]]
    if partners == "everyone":
        sizes = Counter(nodes)
        return [(len(nodes) - sizes[node]) / (len(nodes) - 1) for node in nodes]
    if partners == "twos":
        return [float(node != nodes[index ^ 1]) for index, node in enumerate(nodes)]
    if partners == "neighbours" and point.order != "random":
        return _with_neighbours(nodes)
    return None


def _with_the_other_half(nodes: Sequence[Node]) -> list[float]:
    half = len(nodes) // 2
    apart = [float(one != other) for one, other in zip(nodes[:half], nodes[half:], strict=False)]
    return [*apart, *apart]


def _with_neighbours(nodes: Sequence[Node]) -> list[float]:
    after = [*nodes[1:], nodes[0]]
    return [((node != after[i]) + (node != nodes[i - 1])) / 2 for i, node in enumerate(nodes)]


def _collective(
    pattern: str, group: GroupResult, nodes: Sequence[Node]
) -> dict[Node, CrossingBytes]:
    """Return the minimum for a collective: each node moves the bytes of its busiest member; for
    all-to-all, the sum over its members.
    """
    members, count = _members(nodes), len(nodes)
    away = {node: (count - len(mine)) / max(1, count - 1) for node, mine in members.items()}
    if pattern == "alltoall":
        return _summed(group, nodes, [away[node] for node in nodes], exact=False)
    crossing = {}
    for node, mine in members.items():
        sent = [group.sent_bytes[index] for index in mine]
        received = max(group.received_bytes[index] for index in mine)
        # In an allgather, the contributions of other nodes reach a node once, and each of its
        # members' parts leaves it once.
        gathers = pattern == "allgather"
        tx, rx = (sum(sent), received * away[node]) if gathers else (max(sent), received)
        crossing[node] = CrossingBytes(float(tx), float(rx), False)
    return crossing


# --- Check whether a group's bytes used the wire: compare the bytes of each node with its claimed
# port.

_CONTROL_PER_MEMBER = 20_000  # commands and sums are sent along a tree of the members


def nodes_of(ctx: Context, point: PointRecord, group: GroupResult) -> dict[int, int]:
    """Map each rank to its node: the rank that reads its namespace's counters, or -2 - rank without
    a reader.
    """
    reader = readers(point, ctx.hosts)
    return {rank: reader.get(rank, -2 - rank) for rank in group.members}


def prove_group(ctx: Context, point: PointRecord, ledgers: Mapping[int, Ledger]) -> PairProof:
    """Prove the path of a group point by the claimed port of every node in both directions; the
    worst result decides.
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
    """Return the maximum that the point may have moved through one port; no bound if only the
    minimum is known.
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


@dataclass(frozen=True, slots=True)
class _Least:
    """The shortest possible time of one operation.

    ``hard_ns``: a shorter time is a contradiction, whatever the literature says. ``of_bytes``: the
    limit comes from the bytes, not from the latency.
    """

    limit_ns: float
    hard_ns: float
    of_bytes: bool


def judge_group(
    ctx: Context, point: PointRecord, ledgers: Mapping[int, Ledger]
) -> tuple[GroupVerdict | None, list[Issue]]:
    """Return the verdict on a group point (None if it has no number) and the issues about it."""
    group = point.group
    assert group is not None  # noqa: S101  asked for groups only
    who = _who(ctx, point, group)
    proof = prove_group(ctx, point, ledgers)
    where = f"{who}, {quantity.size(point.message_bytes)}"
    issues = [
        *status_issues(ctx, point, who, where, group),
        *_path(ctx, point, who, where, proof),
    ]
    estimate = group.estimate
    if estimate is None:
        return None, issues
    issues += precision_issues(ctx, point, who, where, estimate, enough=False)
    node_of = nodes_of(ctx, point, group)
    least = _shortest(ctx, point, group, node_of)
    if least is not None and proof.proof != "off-wire":
        # An operation without bytes cannot be proven by bytes.
        doubted = proof.proof == "on-wire" or point.message_bytes == 0
        hard = least.hard_ns if doubted else least.limit_ns
        issues += _possible(ctx, point, estimate, least.limit_ns, hard, who)
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


def _path(
    ctx: Context, point: PointRecord, who: Whole, where: str, proof: PairProof
) -> list[Issue]:
    """Return at most one issue about the path."""
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
    text = f"{where}: {sentence(ctx, proof)}{shown}"
    weight = float(proof.expected or 0)
    return [Issue(proof.code, severity, who, text, {"proof": proof.proof}, point.id, weight)]


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
    ctx: Context, point: PointRecord, estimate: Estimate, limit: float, hard: float, who: Whole
) -> list[Issue]:
    """Report a time below the shortest possible time ``limit`` (ns). Below ``hard`` it is a
    contradiction, in between it is inconclusive.
    """
    tolerance = 1 - ctx.criteria.floor_tolerance
    if estimate.high_ns >= limit * tolerance:
        return []
    text = (
        f"{who}, {quantity.size(point.message_bytes)}: {estimate.median_ns / 1e3:.2f} us for"
        f" one operation is less than the {limit / 1e3:.2f} us that its bytes take on the wire"
    )
    sure = decides(estimate) and estimate.high_ns < hard * tolerance
    severity: Severity = "fail" if sure else "inconclusive"
    weight = estimate.median_ns
    return [Issue("below-floor", severity, who, text, {"limit_ns": limit}, point.id, weight)]
