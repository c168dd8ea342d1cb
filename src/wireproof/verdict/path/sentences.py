# pure
"""Compare the carrier of the bytes, according to the ledger, with the claim, derive the link, and
write the sentences about the path, with the bytes that the counters show. Pure.
"""

from collections import Counter
from collections.abc import Iterable

import msgspec

from wireproof.ledger.relations import is_radio
from wireproof.model import quantity
from wireproof.model.claim import LinkClaim
from wireproof.model.finding import Severity
from wireproof.model.quantity import volume
from wireproof.model.record import PairResult, PointRecord
from wireproof.model.traffic import Carrier
from wireproof.physics.claims import carried_by
from wireproof.physics.from_port import link_of_port
from wireproof.physics.table import PhysicsError
from wireproof.verdict.context import Context
from wireproof.verdict.issue import Issue
from wireproof.verdict.path import mostly, other_protocol
from wireproof.verdict.path.proof import PairProof
from wireproof.verdict.path.sight import Sighting


def carrier_of(sighting: Sighting) -> Carrier | None:
    """Return the carrier of the payload at this port; None if the counters do not show it or there
    were several.
    """
    return mostly(dict(sighting.by), sighting.need)


def _carriers(proofs: Iterable[PairProof]) -> Counter[Carrier]:
    """Return bytes by carrier, over all counted traffic."""
    by_carrier: Counter[Carrier] = Counter()
    for proof in proofs:
        for sighting in proof.sightings:
            carrier = carrier_of(sighting) if sighting.proves else None
            if carrier is not None:
                by_carrier[carrier] += int(sighting.need)
    return by_carrier


def observed_link(ctx: Context, proofs: Iterable[PairProof]) -> LinkClaim | None:
    """Return the link to judge by: the claimed link as the traffic uses it; without a claim, the
    link that the ports report.

    None if neither is known.
    """
    seen = _carriers(proofs)
    carrier = seen.most_common(1)[0][0] if seen else None
    if ctx.link is not None:
        if carrier in ("rdma", "psm") and ctx.link.protocol == "tcp":
            return _as_rdma(ctx.link)
        return ctx.link
    return _stated_link(ctx, carrier) if ctx.run.claim.wire else None


def _stated_link(ctx: Context, carrier: Carrier | None) -> LinkClaim | None:
    """Return the slowest link that the claimed ports report; None if one of them reports none."""
    links = []
    for rank in sorted(ctx.claims):
        nic, host = ctx.claimed_nic(rank), ctx.hosts.get(rank)
        if nic is None or host is None:
            return None
        usual: Carrier = "rdma" if nic.kind == "infiniband" else "kernel"
        link = link_of_port(nic, carrier or usual, host.nics)
        if link is None or not link.line_rate:
            return None
        links.append(link)
    return min(links, key=lambda link: link.line_rate or 0.0, default=None)


def _as_rdma(link: LinkClaim) -> LinkClaim:
    try:
        return msgspec.structs.replace(
            carried_by(link, "rdma"), source=f"{link.source}; RDMA was seen on the port"
        )
    except PhysicsError:
        return link


def carrier_issues(
    ctx: Context, point: PointRecord, pair: PairResult, proof: PairProof
) -> list[Issue]:
    """Report that the claimed port carried the payload with a protocol other than the claimed
    one."""
    claimed = ctx.claimed_link
    busiest = max(proof.sightings, key=lambda sighting: sighting.need, default=None)
    if claimed is None or busiest is None or busiest.need < ctx.criteria.min_payload_bytes:
        return []
    who = ctx.route(pair)
    contradiction = other_protocol(claimed, dict(busiest.by), busiest.need, busiest.nic)
    if contradiction is None:
        return []
    code, severity, text = contradiction
    text = f"{who}: {text}"
    return [Issue(code, severity, who, text, point=point.id, weight=busiest.need)]


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
            "corrected"
        )
        issues.append(Issue("counter-wrapped", "note", ctx.route(pair), text, point=point.id))
    if proof.proof == "on-wire" and any(sighting.stray for sighting in proof.sightings):
        text = f"{ctx.route(pair)}: other ports were busy too: {_others(proof.sightings)}"
        issues.append(Issue("background-traffic", "warning", ctx.route(pair), text, point=point.id))
    return issues


def _deciding(ctx: Context, point: PointRecord, pair: PairResult, proof: PairProof) -> Issue:
    severity: Severity = "inconclusive" if proof.proof == "unproven" else "fail"
    where = f"{ctx.route(pair)}, {point.pattern} of {quantity.size(point.message_bytes)}"
    return Issue(
        proof.code,
        severity,
        ctx.route(pair),
        f"{where}: {_moved(proof)}; {sentence(ctx, proof)}",
        {
            "proof": proof.proof,
            "expected_bytes": proof.expected,
            "seen_bytes": proof.seen,
            "level": proof.level,
            "quality": proof.quality,
            "ports": [_line(ctx, sighting) for sighting in proof.sightings],
            "shared_ranks": _shared(ctx, pair),
        },
        point.id,
        weight=float(proof.expected or 0),
    )


_SENTENCES = {
    "shared-memory-suspected": "both ranks are on one machine: memory was measured, not a wire",
    "nolocal-shm": "the library treated the ranks as remote, but the bytes never left the machine",
    "off-wire": "no port carried the rest",
    "loopback": "the loopback interface carried it",
    "wrong-path": "it went through {others}",
    "striped": "the rest went through {others}",
    "partly-off-wire": "no port carried the rest",
    "ends-disagree": "the counters of one end show it, those of the other end do not",
    "inside-adapter": "the adapter returned it internally: nothing left the physical port",
    "same-adapter": (
        "both ports are functions of one adapter, and no counter of its physical port shows "
        "that the traffic left"
    ),
    "identity-shared": (
        "both hosts have the same identity, and a port of each counted it: wireproof cannot "
        "distinguish them"
    ),
    "unproven-no-counters": (
        "the claimed port's counters cannot be read{remark}, so the path is not proven"
    ),
    "adapter-unknown": "{adapter}, so the path is not proven",
    "port-uncounted": (
        "another port may have carried it without counting it{remark}, so the path is not proven"
    ),
    "counters-late": (
        "the port's counters are refreshed too rarely for one point{remark}, so the path is not "
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
        "a counter was reset, is at its maximum or wrapped{remark}, so the path is not proven"
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
        return f"{nic.name} is a Wi-Fi interface, not a wire"
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
    return f"{who}: needed {volume(sighting.need)}, counted {seen}; others {_others((sighting,))}"


def _shared(ctx: Context, pair: PairResult) -> int | None:
    counts = [ctx.hosts[r].shared_ranks for r in (pair.origin, pair.target) if r in ctx.hosts]
    known = [count for count in counts if count is not None]
    return max(known) if known else None
