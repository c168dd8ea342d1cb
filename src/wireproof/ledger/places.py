# pure
"""Find the ports of a host that count the same bytes, and the ports that lead out of the host.
Pure. Callers that add up bytes use these functions so that no byte is counted twice.
"""

import ipaddress
from collections.abc import Iterable, Mapping, Sequence

from wireproof.ledger.functions import SharedPorts, is_real, shared_ports
from wireproof.ledger.relations import RAILS, beneath, is_tunnel, owns_what_is_below
from wireproof.model.traffic import Ledger, PortLedger

_ENDS_ELSEWHERE = ("veth", "netkit", "macvlan", "macvtap", "ipvlan", "ipvtap")
"""Kinds of interfaces whose other end may be in another network namespace."""


# --- the interfaces below an interface


def bottoms(ledger: Ledger, name: str) -> list[str]:
    """Return the lowest ports below ``name``, which it may share with others; a bond counts as one
    port.
    """
    found: dict[str, None] = {}
    seen = {name}
    waiting = _known(ledger, ledger.ports[name].nic.lower)
    while waiting:
        one = waiting.pop(0)
        if one in seen:
            continue
        seen.add(one)
        lower = _known(ledger, ledger.ports[one].nic.lower)
        if not lower or is_exclusive(ledger, one):
            found[one] = None
        else:
            waiting += lower
    return list(found)


def _known(ledger: Ledger, names: Iterable[str]) -> list[str]:
    return [name for name in names if name in ledger.ports]


def is_exclusive(ledger: Ledger, name: str) -> bool:
    """Return whether ``name`` owns everything below it: a bond of ports, but not of VLANs."""
    if not owns_what_is_below(ledger.ports[name].nic):
        return False
    lower = ledger.lower
    every = [name, *beneath(name, lower)]
    return len(every) > 1 and all(
        owns_what_is_below(ledger.ports[one].nic) or not _known(ledger, lower[one]) for one in every
    )


def related(ledger: Ledger, name: str) -> set[str]:
    """Return ``name`` and the ports below and above it, which may count the same bytes."""
    lower = ledger.lower
    found = {name, *beneath(name, lower)}
    return found | {one for one in ledger.ports if name in beneath(one, lower)}


def one_place(ledger: Ledger, names: Iterable[str]) -> set[str]:
    """Return ``names`` and the ports that may count the same bytes.

    These are the ports below and above, and functions of the same physical ports.
    """
    shared, kin = shared_ports(ledger), set(names)
    for name in list(kin & ledger.ports.keys()):
        kin |= related(ledger, name).union(*map(shared.mates, bases(ledger, name, shared)))
    return kin


# --- counters that include the bytes of several ports


def overlapping(ledger: Ledger, names: Sequence[str], shared: SharedPorts) -> list[list[str]]:
    """Group ``names`` whose counters may include the same bytes.

    For example a bond and its member, a VLAN and its lower port, functions of one physical port.
    """
    atoms = {name: _atoms(name, names, ledger.lower, shared) for name in names}
    groups: list[list[str]] = []
    for name in names:
        same = [group for group in groups if any(atoms[name] & atoms[one] for one in group)]
        groups = [group for group in groups if group not in same]
        groups.append([*(one for group in same for one in group), name])
    return groups


def _atoms(
    name: str, names: Iterable[str], lower: Mapping[str, Sequence[str]], shared: SharedPorts
) -> set[str]:
    """Return the lowest ports of ``name`` and the ports whose counters hold their bytes. These
    holders count only if they are below another of ``names``, or if the function shows the physical
    port's counters.
    """
    found = set(_leaves(name, lower))
    others = {one for other in names if other != name for one in _leaves(other, lower)}
    held = {one: shared.holder[one] for one in found if one in shared.holder}
    return found | {above for one, above in held.items() if above in others or one in shared.shown}


def _leaves(name: str, lower: Mapping[str, Sequence[str]]) -> list[str]:
    below = beneath(name, lower)
    return [one for one in below if not any(two in lower for two in lower[one])] or [name]


def bases(ledger: Ledger, name: str, shared: SharedPorts) -> list[str]:
    """Return the ports whose counters include the bytes of ``name`` and of all that share a port
    with it.

    A bond is one port; for a function it is the port that also includes its bytes.
    """
    found: dict[str, None] = {}
    for one in _own_bases(ledger, name):
        holder = shared.holder.get(one, one)
        certain = holder != one and holder not in shared.doubtful
        found[_whole_bond(ledger, holder) if certain else one] = None
    return list(found)


def _own_bases(ledger: Ledger, name: str) -> list[str]:
    return [name] if is_exclusive(ledger, name) else bottoms(ledger, name) or [name]


def _whole_bond(ledger: Ledger, name: str) -> str:
    """Return the bond that owns a port, else the port: a member's function may use any member."""
    lower = ledger.lower
    bonds = [one for one, port in ledger.ports.items() if port.nic.link_kind != RAILS]
    owners = (one for one in bonds if is_exclusive(ledger, one) and name in beneath(one, lower))
    return max(owners, key=lambda one: len(beneath(one, lower)), default=name)


def together(ledger: Ledger, names: Iterable[str], shared: SharedPorts) -> list[str]:
    """Return the ports whose counters include the traffic of overlapping ``names``, each byte
    once.
    """
    lower = ledger.lower
    own = (base for name in names for base in _own_bases(ledger, name))
    found = dict.fromkeys(shared.holder.get(base, base) for base in own)
    owned = {one for base in found if is_exclusive(ledger, base) for one in beneath(base, lower)}
    return [base for base in found if base not in owned]


# --- the ports through which traffic can leave the host


def tops(ledger: Ledger, shared: SharedPorts | None = None) -> list[str]:
    """Return the egress ports of the host, one per path. These are real ports that no bond owns and
    no other port includes, and ports that own others. If there is a real port, a virtual port leads
    to a container or guest of this host, unless it may be a container's egress port. A tunnel is an
    egress port only if there is no other.
    """
    held = (shared or shared_ports(ledger)).holder
    real = any(is_real(port) and not port.nic.lower for port in ledger.ports.values())
    lower = ledger.lower
    owners = [name for name in ledger.ports if is_exclusive(ledger, name)]
    below = {one for name in owners for one in beneath(name, lower)}.union(held)
    found = [
        name
        for name, port in ledger.ports.items()
        if name not in below and (name in owners or _leads_out(ledger, port, beside_real=real))
    ]
    return [name for name in found if not is_tunnel(ledger.ports[name].nic)] or found


def _leads_out(ledger: Ledger, port: PortLedger, *, beside_real: bool) -> bool:
    if port.nic.kind == "loopback" or _known(ledger, port.nic.lower):
        return False
    if owns_what_is_below(port.nic):
        return True
    return is_real(port) or not beside_real or may_lead_out(port)


def may_lead_out(port: PortLedger) -> bool:
    """Return whether a virtual port's other end is in another namespace and it has a global
    address.

    In a container, this is the egress port; in a host, it leads into a container.
    """
    kind = port.nic.link_kind or port.nic.driver
    apart = port.nic.kind == "virtual" and not port.nic.lower and not port.nic.master
    return apart and kind in _ENDS_ELSEWHERE and any(map(_is_global, port.nic.address))


def _is_global(address: str) -> bool:
    try:
        found = ipaddress.ip_address(address.partition("/")[0].partition("%")[0])
    except ValueError:
        return False
    return not (found.is_link_local or found.is_loopback or found.is_unspecified)


def inner(ledger: Ledger) -> list[str]:
    """Return virtual ports that do not lead out of the host but to its containers and guests."""
    out = set(tops(ledger))
    lower = ledger.lower
    out |= {one for name in out for one in beneath(name, lower)}
    return [
        name
        for name, port in ledger.ports.items()
        if port.nic.kind == "virtual" and not port.nic.lower and name not in out
    ]
