"""A record judged, with the headroom that its ports need by ``plan pfc``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from wireproof.model.errors import BadInput
from wireproof.model.pfc import Headroom, PfcRecord, PfcReport
from wireproof.model.rails import rails_of
from wireproof.model.record import Nic
from wireproof.plan.pfc import pfc
from wireproof.verdict.pfc.judge import judge_pfc, read

__all__ = ["judged", "refuse"]

CABLES_M = (3.0, 100.0)
"""In a rack and across a hall, where nobody says."""


def judged(record: PfcRecord, priority: int | None, cable_m: float | None = None) -> PfcReport:
    """``cable_m``: of the links to the switch, for the headroom. Raises ``BadInput`` where the
    named interface is on no host, or where PFC is nothing that its link has.
    """
    refuse(record)
    readings = read(record)
    cables = CABLES_M if cable_m is None else (cable_m,)
    kinds = {
        (one.speed_bits_per_s / 1e9, one.mtu)
        for one in readings
        if one.speed_bits_per_s and one.mtu
    }
    needed = {kind: [need for each in cables if (need := _need(*kind, each))] for kind in kinds}
    return judge_pfc(record, readings, priority, needed)


def _need(speed_gbps: float, mtu: int, cable_m: float) -> Headroom | None:
    """None: no response time is known for this speed."""
    try:
        found = pfc(speed_gbps, mtu, cable_m, 1)
    except BadInput:
        return None
    return Headroom(
        speed_gbps=speed_gbps,
        mtu=mtu,
        cable_m=cable_m,
        least_bytes=int(found.headroom_bytes.low),
        most_bytes=int(found.headroom_bytes.high),
    )


def refuse(record: PfcRecord) -> None:
    """Raises ``BadInput``: a name that no host has is a slip, not a missing counter."""
    listed = {one.host: one.about.nics for one in record.hosts if one.about is not None}
    asked = {rail for name in record.nics.values() for rail in rails_of(name)}
    for name in sorted(asked) if listed else ():
        _refuse_one(name, listed)


def _refuse_one(name: str, listed: Mapping[str, Sequence[Nic]]) -> None:
    found = [nic for nics in listed.values() for nic in nics if name in _names(nic)]
    if not found:
        host, nics = next(iter(listed.items()))
        known = sorted(nic.name for nic in nics if nic.kind != "loopback")[:12]
        raise BadInput(
            f"no host has the interface {name[:60]!r}: {host} has {', '.join(known) or 'none'}."
        )
    if all(nic.kind == "infiniband" for nic in found):
        raise BadInput(
            f"{name[:60]} is an InfiniBand or Omni-Path port: its links are lossless by credits;"
            " priority flow control is Ethernet's."
        )


def _names(nic: Nic) -> tuple[str, ...]:
    """What the port may be called: its interface, its RDMA device."""
    rdma = nic.rdma
    return (nic.name,) if rdma is None else (nic.name, rdma.device, f"{rdma.device}:{rdma.port}")
