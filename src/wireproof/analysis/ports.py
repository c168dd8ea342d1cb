"""Which ports of a host may count the same bytes, and which lead out of it. Pure."""

from __future__ import annotations

from wireproof.analysis.rails import RAILS
from wireproof.model.ledger import Ledger, PortLedger

__all__ = ["inner", "is_real", "leaves", "owns_what_is_below", "related", "tops"]

_OWNERS = ("bond", "bonding", "team", "netvsc", "failover", RAILS)
"""Kinds that own what is below them: the members' bytes are theirs and nobody else's."""


def is_real(port: PortLedger) -> bool:
    """A port of an adapter, with a carrier or without a word about it."""
    return port.nic.kind in ("ethernet", "infiniband") and port.nic.carrier is not False


def owns_what_is_below(port: PortLedger) -> bool:
    """Whether the bytes of what the port stands on are its own and nobody else's."""
    words = f"{port.nic.link_kind} {port.nic.driver}".lower()
    return any(kind in words for kind in _OWNERS)


def leaves(ledger: Ledger, name: str) -> list[str]:
    """The ports at the bottom of what ``name`` stands on; empty for a port that stands on
    nothing.
    """
    found: dict[str, None] = {}
    seen = {name}
    waiting = list(ledger.ports[name].nic.lower)
    while waiting:
        one = waiting.pop(0)
        if one in seen or one not in ledger.ports:
            continue
        seen.add(one)
        lower = [below for below in ledger.ports[one].nic.lower if below in ledger.ports]
        waiting += lower
        if not lower:
            found[one] = None
    return list(found)


def related(ledger: Ledger, name: str) -> set[str]:
    """``name``, what it stands on and what stands on it: ports that may count the same bytes."""
    found = {name, *_beneath(ledger, name)}
    return found | {one for one in ledger.ports if name in _beneath(ledger, one)}


def _beneath(ledger: Ledger, name: str) -> set[str]:
    seen: set[str] = set()
    waiting = [name]
    while waiting:
        for one in ledger.ports[waiting.pop()].nic.lower:
            if one in ledger.ports and one not in seen:
                seen.add(one)
                waiting.append(one)
    return seen - {name}


def tops(ledger: Ledger) -> list[str]:
    """One port for each way out of the host: real ports that nothing exclusive stands on, and what
    owns others.

    Beside a real port a virtual one leads to a container or a guest of the same host.
    """
    real = any(is_real(port) and not port.nic.lower for port in ledger.ports.values())
    owned = {
        leaf
        for name, port in ledger.ports.items()
        if owns_what_is_below(port)
        for leaf in leaves(ledger, name)
    }
    return [
        name
        for name, port in ledger.ports.items()
        if name not in owned and _leads_out(ledger, port, beside_real=real)
    ]


def _leads_out(ledger: Ledger, port: PortLedger, *, beside_real: bool) -> bool:
    if port.nic.kind == "loopback":
        return False
    if owns_what_is_below(port):
        return True
    shares = any(one in ledger.ports for one in port.nic.lower)
    return not shares and (is_real(port) or not beside_real)


def inner(ledger: Ledger) -> list[str]:
    """Virtual ports that are no way out of the host: they lead to its own containers and guests."""
    out = set(tops(ledger))
    out |= {leaf for name in out for leaf in leaves(ledger, name)}
    return [
        name
        for name, port in ledger.ports.items()
        if port.nic.kind == "virtual" and not port.nic.lower and name not in out
    ]
