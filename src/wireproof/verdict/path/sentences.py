"""Sentences about the path that quote what the counters saw."""

from wireproof.analysis.relations import is_radio
from wireproof.model import quantity
from wireproof.model.finding import Evidence, Severity
from wireproof.model.quantity import volume
from wireproof.model.record import PairResult, PointRecord
from wireproof.verdict.context import Context
from wireproof.verdict.issue import Issue
from wireproof.verdict.path.carrier import carrier_issues
from wireproof.verdict.path.proof import PairProof
from wireproof.verdict.path.sight import Sighting


def path_issues(
    ctx: Context, point: PointRecord, pair: PairResult, proof: PairProof
) -> list[Issue]:
    """Return the issues of one pair's path: at most one that decides, and notes."""
    issues = carrier_issues(ctx, point, pair, proof)
    # a transport that moves nothing is reported once, for the whole run
    if proof.code and ctx.run.claim.wire and not ctx.moves_nothing:
        issues.append(_deciding(ctx, point, pair, proof))
    if any(sighting.wrapped for sighting in proof.sightings):
        text = (
            f"{ctx.route(pair)}: a port counter wrapped once during the point; the difference was "
            "repaired"
        )
        issues.append(Issue("counter-wrapped", "note", ctx.route(pair), text, point=point.id))
    if proof.proof == "on-wire" and any(sighting.stray for sighting in proof.sightings):
        text = f"{ctx.route(pair)}: other ports were busy too: {_others(proof.sightings)}"
        issues.append(Issue("background-traffic", "warning", ctx.route(pair), text, point=point.id))
    return issues


def _deciding(ctx: Context, point: PointRecord, pair: PairResult, proof: PairProof) -> Issue:
    severity: Severity = "inconclusive" if proof.proof == "unproven" else "fail"
    where = f"{ctx.route(pair)}, {point.pattern} of {quantity.size(point.message_bytes)}"
    evidence: Evidence = {
        "proof": proof.proof,
        "expected_bytes": proof.expected,
        "seen_bytes": proof.seen,
        "level": proof.level,
        "quality": proof.quality,
        "ports": [_line(ctx, sighting) for sighting in proof.sightings],
        "shared_ranks": _shared(ctx, pair),
    }
    message = f"{where}: {_moved(proof)}; {sentence(ctx, proof)}"
    return Issue(
        proof.code,
        severity,
        ctx.route(pair),
        message,
        evidence,
        point.id,
        weight=float(proof.expected or 0),
    )


_SENTENCES = {
    "shared-memory-suspected": "both ranks are on one machine and memory was measured, not a wire",
    "nolocal-shm": "the library believed the ranks remote, yet the bytes never left the machine",
    "off-wire": "no port carried the rest",
    "loopback": "the loopback interface carried it",
    "wrong-path": "it went through {others}",
    "striped": "the rest went through {others}",
    "partly-off-wire": "no port carried the rest",
    "ends-disagree": "one end's counters saw it and the other end's did not",
    "inside-adapter": "the adapter turned it round inside: nothing left the physical port",
    "same-adapter": (
        "both ports are functions of one adapter, and no counter of its physical port tells that "
        "it left"
    ),
    "identity-shared": (
        "both hosts state one identity, and each one's port saw it: they cannot be distinguished"
    ),
    "unproven-no-counters": (
        "the claimed port's counters cannot be read{remark}, so the path is not proven"
    ),
    "adapter-unknown": "{adapter}, so the path is not proven",
    "port-uncounted": (
        "another port may have carried it uncounted{remark}, so the path is not proven"
    ),
    "counters-late": (
        "the port's counters are refreshed too late for one point{remark}, so the path is not "
        "proven"
    ),
    "points-disagree": (
        "larger points of the same two hosts did not cross, so the path is not proven"
    ),
    "rival-port": (
        "another port carried enough to have been the path ({others}), so the path is not proven"
    ),
    "unproven-too-few-bytes": (
        "too little to separate from other traffic, so the path is not proven"
    ),
    "counter-wrapped": (
        "a counter was reset, stands at its end or passed it{remark}, so the path is not proven"
    ),
    "background-traffic": "other traffic on the ports is too heavy to prove the path ({others})",
}


def sentence(ctx: Context, proof: PairProof) -> str:
    """Return the sentence about the deciding evidence, with the first remark of a sighting."""
    remark = next((one.remark for one in proof.sightings if one.remark), "")
    adapter = next(
        (_adapter(ctx, one.rank) for one in proof.sightings if one.kind == "unknown"), ""
    )
    return _SENTENCES[proof.code].format(
        others=_others(proof.sightings), remark=f" ({remark})" if remark else "", adapter=adapter
    )


def _adapter(ctx: Context, rank: int) -> str:
    """Return why the counters of the claimed port prove no path."""
    nic = ctx.claimed_nic(rank)
    if nic is not None and is_radio(nic):
        return f"{nic.name} is a Wi-Fi interface and no wire"
    names = [nic.driver, nic.rdma.driver if nic.rdma is not None else ""] if nic is not None else []
    driver = next((repr(name) for name in names if name), "(none stated)")
    return f"the adapter's driver {driver} is not in the catalogue of counters"


def _moved(proof: PairProof) -> str:
    if proof.expected is None:
        return "nothing was moved"
    port = next(
        (s for s in proof.sightings if s.need == max(t.need for t in proof.sightings)), None
    )
    name = f"port {port.nic}" if port and port.nic else "the wire"
    seen = "an unknown amount" if proof.seen is None else volume(proof.seen)
    return f"{volume(proof.expected)} sent; {name} counted {seen}"


def _others(sightings: tuple[Sighting, ...]) -> str:
    totals: dict[str, float] = {}
    for sighting in sightings:
        for nic, count in {**sighting.others, "lo": sighting.loopback}.items():
            totals[nic] = max(totals.get(nic, 0.0), count)
    loud = sorted(((count, nic) for nic, count in totals.items() if count >= 1000), reverse=True)
    return ", ".join(f"{nic} ({volume(count)})" for count, nic in loud[:4]) or "no other port"


def _line(ctx: Context, sighting: Sighting) -> str:
    seen = "unreadable" if sighting.seen is None else volume(sighting.seen)
    who = f"{ctx.name(sighting.rank)} {sighting.nic or '(no NIC claimed)'} {sighting.direction}"
    return f"{who}: needed {volume(sighting.need)}, saw {seen}; others {_others((sighting,))}"


def _shared(ctx: Context, pair: PairResult) -> int | None:
    counts = [ctx.hosts[r].shared_ranks for r in (pair.origin, pair.target) if r in ctx.hosts]
    known = [count for count in counts if count is not None]
    return max(known) if known else None
