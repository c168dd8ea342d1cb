"""Find which rails carried the payload of a launch if a library may use several. Pure."""

from collections import defaultdict
from collections.abc import Sequence

from wireproof.analysis.crossed import everywhere
from wireproof.analysis.relations import port_called
from wireproof.analysis.traffic import ports_of, watch
from wireproof.model.claim import Criteria
from wireproof.model.errors import BadInput
from wireproof.model.finding import Judgement, Proof, worst_proof
from wireproof.model.record import Host, Nic
from wireproof.model.run import Run


def path_of(run: Run, judgement: Judgement, rails: Sequence[str]) -> tuple[Proof, dict[str, float]]:
    """Return the path of the launch if ``rails`` may share the payload, and each port's share of
    sent bytes.

    ``judgement``: by the one claimed port. If there are points of large messages between pairs,
    only these are used: the ports can distinguish them.
    """
    proof = _claimed_path(judgement)
    sent, payload = _sent(run)
    whole = sum(sent.values())
    shares = {name: count / whole for name, count in sent.items() if count > 0.01 * whole}
    if proof not in ("mixed", "wrong-path") or len(rails) < 2 or not payload:
        return proof, shares
    criteria = Criteria()
    on_rails = sum(count for name, count in sent.items() if name in rails)
    if whole - on_rails > criteria.stray_share * payload:
        return proof, shares
    if criteria.on_wire_min * payload <= on_rails <= criteria.on_wire_max * payload:
        return "on-wire", shares
    return proof, shares


def _claimed_path(judgement: Judgement) -> Proof:
    """Return the worst path of the points with enough bytes."""
    large = Criteria().min_payload_bytes
    found = [pair.proof for pair in judgement.pairs if pair.message_bytes >= large]
    return worst_proof(found) if found else judgement.proof


def _sent(run: Run) -> tuple[dict[str, float], float]:
    """Return the bytes that left all hosts by port, and the payload that had to."""
    ports = ports_of({host.rank: host for host in run.hosts})
    idle = {one.rank: one for one in run.idle}
    sent: dict[str, float] = defaultdict(float)
    payload = 0.0
    for point in run.points:
        if not point.pairs or point.message_bytes < Criteria().min_payload_bytes:
            continue
        payload += sum(
            pair.payload_forward_bytes + pair.payload_backward_bytes for pair in point.pairs
        )
        for ledger in watch(point, ports, idle).values():
            for name, crossed in everywhere(ledger, "tx").items():
                sent[name] += crossed.bytes or 0.0
    return dict(sent), payload


def rails_of(host: Host, claimed: str) -> list[Nic]:
    """Return the claimed NIC first, then NICs like it; empty if it does not exist.

    They have its kind and stated speed, a carrier and an address.
    """
    own = port_called(host.nics, claimed)
    if own is None:
        return []
    like = [nic for nic in host.nics if nic.name != own.name and _is_like(nic, own)]
    return [own, *sorted(like, key=lambda nic: nic.name)]


def _is_like(nic: Nic, own: Nic) -> bool:
    return (
        nic.kind != "loopback"
        and (nic.kind, nic.link_kind) == (own.kind, own.link_kind)
        and nic.speed_mbps == own.speed_mbps
        and nic.carrier is not False
        and not nic.lower
        and bool(nic.address)
    )


# --- Which NICs may share the library's payload, the same on all hosts.


def agreed_rails(hosts: Sequence[Host], asked: Sequence[str]) -> tuple[tuple[str, ...], list[str]]:
    """Return the claimed NICs if there are several, else the claimed NIC and those like it on every
    host.

    Also return a remark about them. Raises ``BadInput`` for a rail that does not exist, has no
    address, or differs in speed from another.
    """
    if len(asked) > 1:
        for host in hosts:
            _check(host, asked)
        return tuple(asked), []
    claimed = asked[0].partition(":")[0] if asked else ""
    lists = [[nic.name for nic in rails_of(host, claimed)] for host in hosts]
    shared = [name for name in (lists[0] if lists else []) if all(name in one for one in lists)]
    if len(shared) < 2:
        return tuple(shared), []
    return tuple(shared), [
        f"rails: {', '.join(shared)} (of one speed on all hosts); --nic NIC,NIC names others"
    ]


def _check(host: Host, asked: Sequence[str]) -> None:
    where = host.host or host.hostname
    found: list[Nic] = []
    for name in asked:
        nic = next((one for one in host.nics if one.name == name), None)
        if nic is None:
            there = ", ".join(one.name for one in host.nics if one.kind != "loopback")
            raise BadInput(f"--nic: {where} has no NIC {name[:40]!r}; it has {there[:200]}.")
        if not nic.address:
            raise BadInput(f"--nic: {name} of {where} has no address.")
        found.append(nic)
    if len({one.speed_mbps for one in found}) > 1:
        speeds = ", ".join(f"{one.name} {one.speed_mbps or '?'} Mb/s" for one in found)
        raise BadInput(
            f"--nic: the rails of {where} differ in speed ({speeds}): the slowest would slow down"
            " all; name rails of one speed."
        )
