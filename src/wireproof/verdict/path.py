"""Sentences about the path: what the counters saw, said so that a person believes it."""

from __future__ import annotations

from collections.abc import Mapping

from wireproof.analysis.counters import SOFT_RDMA
from wireproof.analysis.witness import HostTraffic, readers
from wireproof.model.finding import Severity
from wireproof.model.record import PairResult, PointRecord
from wireproof.verdict.context import Context
from wireproof.verdict.issue import Evidence, Issue, amount
from wireproof.verdict.proof import PairProof, Sighting

__all__ = ["path_issues"]

_RDMA = ("rocev2", "infiniband", "omnipath", "truescale")
_KERNEL_SHARE = 0.9


def path_issues(
    ctx: Context, point: PointRecord, pair: PairResult, proof: PairProof, traffic: Mapping[int, HostTraffic]
) -> list[Issue]:
    """Issues of one pair's path: at most one that decides, and notes."""
    issues = _fallback(ctx, point, pair, proof, traffic)
    if proof.code and ctx.run.claim.wire:
        issues.append(_deciding(ctx, point, pair, proof))
    if any(sighting.wrapped for sighting in proof.sightings):
        text = f"{ctx.route(pair)}: a port counter wrapped once during the point; the difference was repaired"
        issues.append(Issue("counter-wrapped", "note", ctx.route(pair), text, point=point.id))
    if proof.proof == "on-wire" and any(sighting.stray for sighting in proof.sightings):
        text = f"{ctx.route(pair)}: other ports were busy too: {_others(proof.sightings)}"
        issues.append(Issue("background-traffic", "warning", ctx.route(pair), text, point=point.id))
    return issues


def _deciding(ctx: Context, point: PointRecord, pair: PairResult, proof: PairProof) -> Issue:
    severity: Severity = "inconclusive" if proof.proof == "unproven" else "fail"
    where = f"{ctx.route(pair)}, {point.pattern} of {point.message_bytes} B"
    evidence: Evidence = {
        "proof": proof.proof,
        "expected_bytes": proof.expected,
        "seen_bytes": proof.seen,
        "ports": [_line(ctx, sighting) for sighting in proof.sightings],
        "shared_ranks": _shared(ctx, pair),
    }
    message = f"{where}: {_moved(proof)}; {_SENTENCES[proof.code].format(others=_others(proof.sightings))}"
    return Issue(proof.code, severity, ctx.route(pair), message, evidence, point.id, weight=float(proof.expected or 0))


_SENTENCES = {
    "instrument-only": "this transport moves nothing",
    "shared-memory-suspected": "both ranks are on one machine and memory was measured, not a wire",
    "nolocal-shm": "the library believed the ranks remote, yet the bytes never left the machine",
    "off-wire": "no port carried the rest",
    "loopback": "the loopback interface carried it",
    "wrong-path": "it went through {others}",
    "striped": "the rest went through {others}",
    "partly-off-wire": "no port carried the rest",
    "ends-disagree": "one end's counters saw it and the other end's did not",
    "unproven-no-counters": "the claimed port's counters cannot be read, so the path is not proven",
    "unproven-too-few-bytes": "too little to be told from other traffic, so the path is not proven",
    "counter-wrapped": "a counter was reset, saturated or ran backwards, so the path is not proven",
    "background-traffic": "other traffic on the ports is too loud to prove the path ({others})",
}


def _moved(proof: PairProof) -> str:
    if proof.expected is None:
        return "nothing was moved"
    port = next((s for s in proof.sightings if s.need == max(t.need for t in proof.sightings)), None)
    name = f"port {port.nic}" if port and port.nic else "the wire"
    seen = "an unknown amount" if proof.seen is None else amount(proof.seen)
    return f"of {amount(proof.expected)} to be moved {name} saw {seen}"


def _others(sightings: tuple[Sighting, ...]) -> str:
    totals: dict[str, float] = {}
    for sighting in sightings:
        for nic, count in {**sighting.others, "lo": sighting.loopback}.items():
            totals[nic] = max(totals.get(nic, 0.0), count)
    loud = sorted(((count, nic) for nic, count in totals.items() if count >= 1000), reverse=True)
    return ", ".join(f"{nic} ({amount(count)})" for count, nic in loud[:4]) or "no other port"


def _line(ctx: Context, sighting: Sighting) -> str:
    seen = "unreadable" if sighting.seen is None else amount(sighting.seen)
    who = f"{ctx.name(sighting.rank)} {sighting.nic or '(no NIC claimed)'} {sighting.direction}"
    return f"{who}: needed {amount(sighting.need)}, saw {seen}; others {_others((sighting,))}"


def _shared(ctx: Context, pair: PairResult) -> int | None:
    counts = [ctx.hosts[r].shared_ranks for r in (pair.origin, pair.target) if r in ctx.hosts]
    known = [count for count in counts if count is not None]
    return max(known) if known else None


def _fallback(
    ctx: Context, point: PointRecord, pair: PairResult, proof: PairProof, traffic: Mapping[int, HostTraffic]
) -> list[Issue]:
    """RDMA was claimed, and the sender's netdev statistics, which do not see RDMA, carried the payload: kernel TCP."""
    forward = pair.payload_forward_bytes >= pair.payload_backward_bytes
    sender = pair.origin if forward else pair.target
    payload = max(pair.payload_forward_bytes, pair.payload_backward_bytes)
    nic = ctx.claimed_nic(sender)
    if ctx.link is None or ctx.link.protocol not in _RDMA or payload < ctx.criteria.min_payload_bytes:
        return []
    if nic is None or nic.rdma is None or nic.rdma.device.startswith(SOFT_RDMA):
        return []
    host = traffic.get(readers(point, ctx.hosts).get(sender, -1))
    kernel = host.deltas.get(f"net/{nic.name}/tx_bytes", 0) if host else 0
    if kernel < _KERNEL_SHARE * payload:
        return []
    text = (
        f"{ctx.route(pair)}: {ctx.link.kind} was claimed, and {nic.name}'s netdev statistics, which do not see RDMA, "
        f"carried {amount(kernel)} of {amount(payload)}: kernel TCP was measured"
    )
    return [Issue("tcp-instead-of-rdma", "fail", ctx.route(pair), text, point=point.id, weight=float(payload))]
