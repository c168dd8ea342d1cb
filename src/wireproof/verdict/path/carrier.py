"""Compare what carried the bytes, according to the ledger, with the claim, and derive the link.

Pure.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

import msgspec

from wireproof.model.claim import LinkClaim
from wireproof.model.record import Nic, PairResult, PointRecord
from wireproof.model.traffic import Carrier
from wireproof.physics.claims import carried_by
from wireproof.physics.from_port import link_of_port
from wireproof.physics.table import PhysicsError
from wireproof.verdict.context import Context
from wireproof.verdict.issue import Issue
from wireproof.verdict.path.proof import PairProof
from wireproof.verdict.path.questions import mostly, other_protocol
from wireproof.verdict.path.sight import Sighting


def carrier_of(sighting: Sighting) -> Carrier | None:
    """Return what carried the payload past this port; None if counters do not tell or several
    did.
    """
    return mostly(dict(sighting.by), sighting.need)


def _carriers(proofs: Iterable[PairProof]) -> Counter[Carrier]:
    """Return bytes by carrier, over everything that was seen to cross."""
    by_carrier: Counter[Carrier] = Counter()
    for proof in proofs:
        for sighting in proof.sightings:
            carrier = carrier_of(sighting) if sighting.proves else None
            if carrier is not None:
                by_carrier[carrier] += int(sighting.need)
    return by_carrier


def observed_link(ctx: Context, proofs: Iterable[PairProof]) -> LinkClaim | None:
    """Return the link to judge by: the claimed link as the traffic uses it; without a claim, what
    ports state.

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
    """Return the slowest link that the claimed ports state; None if one of them states none."""
    links = []
    for rank in sorted(ctx.claims):
        nic, host = ctx.claimed_nic(rank), ctx.hosts.get(rank)
        if nic is None or host is None:
            return None
        link = link_of_port(nic, carrier or _usual(nic), host.nics)
        if link is None or not link.line_rate:
            return None
        links.append(link)
    return min(links, key=lambda link: link.line_rate or 0.0, default=None)


def _usual(nic: Nic) -> Carrier:
    return "rdma" if nic.kind == "infiniband" else "kernel"


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
    """Report that the claimed port carried the payload by another protocol than claimed."""
    claimed = ctx.claimed_link
    busiest = max(proof.sightings, key=lambda sighting: sighting.need, default=None)
    if claimed is None or busiest is None or busiest.need < ctx.criteria.min_payload_bytes:
        return []
    who = ctx.route(pair)
    contradiction = other_protocol(claimed, dict(busiest.by), busiest.need, busiest.nic)
    if contradiction is None:
        return []
    code, severity, text = contradiction
    issue = Issue(code, severity, who, f"{who}: {text}")
    return [replace(issue, point=point.id, weight=busiest.need)]
