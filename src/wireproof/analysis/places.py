"""Which ports of a host are one place: what stands on what, which functions share one physical
port, and which ports lead out of the host. Whoever adds up bytes asks here, so that none is counted
twice. Pure.

A counter of the physical port holds the bytes of all its functions. That two functions share a port
follows from the kernel (a virtual function names its adapter), or from the counters: ports of one
adapter whose physical counters rise alike, and rise by more than one of them moved itself. Names
and numbers of an adapter alone say nothing: two ports of a card have these in common too.
"""

from __future__ import annotations

import ipaddress
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from wireproof.analysis.relations import RAILS, beneath, identities, owns_what_is_below
from wireproof.model.ledger import LEVELS, Carrier, Direction, Entry, Ledger, PortLedger

__all__ = [
    "bottoms",
    "inner",
    "is_exclusive",
    "is_real",
    "mates",
    "may_lead_out",
    "related",
    "shared_ports",
    "tops",
]

_DIRECTIONS: tuple[Direction, Direction] = ("tx", "rx")
_ALIKE, _ALIKE_UNSEEN, _FRAMES = 0.01, 0.001, 2000.0
"""Readings of one register differ by what passed between them; bytes of a few frames beside it."""
_ITS_OWN = 0.5  # of what a port's register shows: what its function moved itself, when it was this
_MOST = 0.9
_ENDS_ELSEWHERE = ("veth", "netkit", "macvlan", "macvtap", "ipvlan", "ipvtap")
"""Kinds whose other half may be in another network namespace."""


def is_real(port: PortLedger) -> bool:
    """A port of an adapter, with a carrier or without a word about it."""
    return port.nic.kind in ("ethernet", "infiniband") and port.nic.carrier is not False


# --- what stands on what


def _lower(ledger: Ledger) -> dict[str, list[str]]:
    return {name: port.nic.lower for name, port in ledger.ports.items()}


def bottoms(ledger: Ledger, name: str) -> list[str]:
    """What ``name`` shares with others: the ports at the bottom of it, a bond with its members as
    one.
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
    """Whether everything that crosses what ``name`` stands on is its own: a bond of ports, not one
    of VLANs.
    """
    lower = _lower(ledger)
    every = [name, *beneath(name, lower)]
    return len(every) > 1 and all(
        owns_what_is_below(ledger.ports[one].nic) or not _known(ledger, lower[one]) for one in every
    )


def related(ledger: Ledger, name: str) -> set[str]:
    """``name``, what it stands on and what stands on it: ports that may count the same bytes."""
    lower = _lower(ledger)
    found = {name, *beneath(name, lower)}
    return found | {one for one in ledger.ports if name in beneath(one, lower)}


# --- functions of one physical port


@dataclass(frozen=True)
class SharedPorts:
    """``holder``: function to the port whose counters hold its bytes too. ``doubtful``: holders of
    ports that may as well be apart, because what each moved itself is not counted.
    """

    holder: Mapping[str, str]
    doubtful: AbstractSet[str] = frozenset()


_APART = SharedPorts({})


def mates(ledger: Ledger, name: str) -> set[str]:
    """Ports that are one physical port with ``name`` for certain, ``name`` apart."""
    shared = shared_ports(ledger)
    top = shared.holder.get(name, name)
    if top in shared.doubtful:
        return set()
    return {top, *(one for one, held in shared.holder.items() if held == top)} - {name}


def shared_ports(ledger: Ledger) -> SharedPorts:
    """The functions whose bytes the counters of another port of the host hold."""
    ports = [port for port in ledger.ports.values() if is_real(port) and not port.nic.lower]
    named = [port for port in ports if port.nic.adapter is not None]
    if len(named) < 2:
        return _APART
    holder: dict[str, str] = {}
    doubtful: set[str] = set()
    for group in _alike(ledger, [port for port in named if _shows_port(port)]):
        sure = _is_one_port(group)
        if sure is not False:
            first = max(group, key=_moved)
            holder |= {port.nic.name: first.nic.name for port in group if port is not first}
            doubtful |= {first.nic.name} if sure is None else set()
    for port in named:
        physical = _physical(port, named)
        if physical is not None and port.nic.name not in holder:
            holder[port.nic.name] = holder.get(physical.nic.name, physical.nic.name)
    return SharedPorts(holder, frozenset(doubtful)) if holder else _APART


def _physical(port: PortLedger, ports: Iterable[PortLedger]) -> PortLedger | None:
    """The port of the adapter whose virtual function ``port`` is, where the physical counters show
    its bytes; None where two ports have that PCI address, or the adapter's own switch turned bytes
    round.
    """
    address = port.nic.adapter.physical if port.nic.adapter is not None else ""
    if not address or _shows_port(port):
        return None
    found = [one for one in ports if one.nic.pci == address and one is not port]
    if len(found) != 1 or not _shows_port(found[0]):
        return None
    return found[0] if all(_holds(found[0], port, way) for way in _DIRECTIONS) else None


def _holds(physical: PortLedger, port: PortLedger, way: Direction) -> bool:
    whole, own = _whole(physical, way), _own(port, way)
    return own is None or (whole is not None and whole + _FRAMES >= _MOST * own)


def _alike(ledger: Ledger, ports: Sequence[PortLedger]) -> Iterator[list[PortLedger]]:
    """Ethernet ports of one adapter whose physical counters rose alike. Members of a bond are ports
    of their own, and so are InfiniBand's: a function of these has counters of its own.
    """
    owned = {one: name for name in ledger.ports for one in _owned(ledger, name)}
    left = [one for one in ports if one.nic.name not in owned and one.nic.kind == "ethernet"]
    while left:
        first, *others = left
        group = [first, *(one for one in others if _rose_alike(first, one, _ALIKE))]
        left = [one for one in others if one not in group]
        if len(group) > 1:
            yield group


def _owned(ledger: Ledger, name: str) -> list[str]:
    nic = ledger.ports[name].nic
    return nic.lower if owns_what_is_below(nic) and nic.link_kind != RAILS else []


def _rose_alike(one: PortLedger, other: PortLedger, tolerance: float) -> bool:
    if one.nic.adapter is None or other.nic.adapter is None:
        return False
    first, second = one.nic.adapter, other.nic.adapter
    elsewhere = first.port_id and second.port_id and first.port_id != second.port_id
    of_one_function = one.nic.pci and one.nic.pci == other.nic.pci  # has an interface for each port
    if elsewhere or of_one_function or not identities(first) & identities(second):
        return False
    pairs = [(_whole(one, way), _whole(other, way)) for way in _DIRECTIONS]
    return all(
        a is not None and b is not None and abs(a - b) <= tolerance * max(a, b) + _FRAMES
        for a, b in pairs
    )


def _is_one_port(group: Sequence[PortLedger]) -> bool | None:
    """Whether ports whose physical counters rose alike are one port: these show more than one of
    them moved itself, and together they moved it. None where that is not counted.
    """
    way = max(_DIRECTIONS, key=lambda one: _whole(group[0], one) or 0.0)
    whole, own = _whole(group[0], way) or 0.0, [_own(port, way) for port in group]
    known = [count for count in own if count is not None]
    if whole > _FRAMES and len(known) == len(own):
        if all(count >= _ITS_OWN * whole for count in known):
            return False
        if sum(known) >= _ITS_OWN * whole:
            return True
    closer = all(_rose_alike(group[0], port, _ALIKE_UNSEEN) for port in group[1:])
    return None if closer and whole > _FRAMES else False


def _shows_port(port: PortLedger) -> bool:
    return all(_whole(port, way) is not None for way in _DIRECTIONS)


def _whole(port: PortLedger, way: Direction) -> float | None:
    """Bytes by a counter of the physical port that leaves nothing out; None without one."""
    found = [
        entry.bytes
        for entry in port.entries(way)
        if (entry.carrier, entry.level) == ("any", "wire") and entry.quality != "lower-bound"
    ]
    return next((count for count in found if count is not None), None)


def _own(port: PortLedger, way: Direction) -> float | None:
    """Bytes that the function itself moved; None where a carrier of it is not counted."""
    parts: dict[Carrier, list[Entry]] = defaultdict(list)
    for entry in port.entries(way):
        if entry.level != "wire":
            parts[entry.carrier].append(entry)
    best = {
        carrier: min(entries, key=lambda one: (one.bytes is None, LEVELS.index(one.level)))
        for carrier, entries in parts.items()
    }
    if "any" in best and best["any"].bytes is not None:
        return best["any"].bytes
    counts = [entry.bytes for entry in best.values()]
    return sum(count or 0.0 for count in counts) if counts and None not in counts else None


def _moved(port: PortLedger) -> float:
    return sum(_own(port, way) or 0.0 for way in _DIRECTIONS)


# --- ways out of the host


def tops(ledger: Ledger) -> list[str]:
    """One port for each way out of the host: real ports that nothing exclusive stands on and that
    no other port holds, and what owns others.

    Beside a real port a virtual one leads to a container or a guest of the same host, unless it may
    be a container's own way out.
    """
    held = shared_ports(ledger).holder
    real = any(is_real(port) and not port.nic.lower for port in ledger.ports.values())
    lower = _lower(ledger)
    owners = [name for name in ledger.ports if is_exclusive(ledger, name)]
    owned = {one for name in owners for one in beneath(name, lower)}
    return [
        name
        for name, port in ledger.ports.items()
        if name not in owned
        and name not in held
        and (name in owners or _leads_out(ledger, port, beside_real=real))
    ]


def _leads_out(ledger: Ledger, port: PortLedger, *, beside_real: bool) -> bool:
    if port.nic.kind == "loopback" or _known(ledger, port.nic.lower):
        return False
    if owns_what_is_below(port.nic):
        return True
    return is_real(port) or not beside_real or may_lead_out(port)


def may_lead_out(port: PortLedger) -> bool:
    """A virtual port whose other half is in another namespace, with an address of its own: in a
    container that is the way out, in a host it leads into a container.
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
    """Virtual ports that are no way out of the host: they lead to its own containers and guests."""
    out = set(tops(ledger))
    lower = _lower(ledger)
    out |= {one for name in out for one in beneath(name, lower)}
    return [
        name
        for name, port in ledger.ports.items()
        if port.nic.kind == "virtual" and not port.nic.lower and name not in out
    ]
