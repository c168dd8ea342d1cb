# pure
"""Find the functions of one physical port, whose counters include the bytes of all functions. Pure.

The kernel shows that two functions share a port (a virtual function refers to its adapter), or the
counters show it: the physical counters of ports of one adapter rise equally, by the total of these
functions' bytes. Names and numbers of an adapter alone prove nothing: two ports of a card also
share these.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet

import msgspec

from wireproof.ledger.relations import RAILS, identities, owns_what_is_below
from wireproof.model.record import Nic
from wireproof.model.traffic import (
    DIRECTIONS,
    LEVELS,
    Carrier,
    Direction,
    Ledger,
    LedgerEntry,
    Level,
    PortLedger,
)

_ALIKE, _ALIKE_UNSEEN, FRAMES = 0.01, 0.001, 2000.0
"""Tolerance between readings of one register: a share, and the bytes of a few frames."""
_ITS_OWN, _TOGETHER = 0.75, (0.5, 1.5)
"""Shares of a port's register: the bytes of its function if it is the only one, and the total of
several functions.
"""
HELD = 0.9


class SharedPorts(msgspec.Struct, frozen=True):
    """``holder``: function -> the port whose counters also include its bytes.

    ``doubtful``: holders of ports that may be separate, because the bytes of each function are not
    counted. ``shown``: ports whose counters are those of a physical port. ``below``: virtual
    function -> its physical port, or those of its bond, even if they lack its bytes.
    """

    holder: Mapping[str, str]
    doubtful: AbstractSet[str] = frozenset()
    shown: AbstractSet[str] = frozenset()
    below: Mapping[str, Sequence[str]] = {}

    def mates(self, name: str) -> set[str]:
        """Return the ports that are certainly one physical port with ``name``, without ``name``."""
        top = self.holder.get(name, name)
        if top in self.doubtful:
            return set()
        return {top, *(one for one, held in self.holder.items() if held == top)} - {name}


def is_real(port: PortLedger) -> bool:
    """Return whether this is a port of an adapter whose carrier is up or unknown."""
    return port.nic.kind in ("ethernet", "infiniband") and port.nic.carrier is not False


def shows_presence(port: PortLedger) -> bool:
    """Return whether bytes counted by the kernel certainly crossed this port.

    For an adapter with an unknown driver this is true if it has no RDMA device. Uncounted bytes may
    also have crossed, and its refresh delay is unknown.
    """
    nic = port.nic
    plain = nic.kind == "ethernet" and nic.rdma is None and bool(nic.driver) and not nic.lower
    return port.known or plain


class _Function:
    """A port of an adapter, with the counters of its physical port."""

    def __init__(self, port: PortLedger) -> None:
        self.port = port
        self.nic: Nic = port.nic
        self.whole: dict[Direction, float | None] = {way: _whole(port, way) for way in DIRECTIONS}
        self.shows_port = None not in self.whole.values()

    def all_bytes(self, way: Direction) -> float | None:
        """Return the bytes from a counter of the physical port, or from another counter of all
        carriers."""
        known = self.whole[way]
        return _whole(self.port, way, "function") if known is None else known

    def own(self, way: Direction) -> float | None:
        """Return the bytes that the function itself moved; None if a carrier is not counted."""
        parts: dict[Carrier, list[LedgerEntry]] = defaultdict(list)
        for entry in self.port.entries(way):
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


def _whole(port: PortLedger, way: Direction, level: Level = "wire") -> float | None:
    """Return the bytes of a complete counter of all carriers; None if there is none."""
    for entry in port.entries(way):
        if (entry.carrier, entry.level) == ("any", level) and entry.quality != "lower-bound":
            return entry.bytes
    return None


def shared_ports(ledger: Ledger) -> SharedPorts:
    """Find the functions whose bytes the counters of another port of the host include."""
    functions = [
        _Function(port)
        for port in ledger.ports.values()
        if port.nic.adapter is not None and is_real(port) and not port.nic.lower
    ]
    shown = frozenset(one.nic.name for one in functions if one.shows_port)
    if len(functions) < 2:
        return SharedPorts({}, shown=shown)
    owner = {one: name for name in ledger.ports for one in _owned(ledger, name)}
    holder, doubtful = _partitions(functions, owner)
    below: dict[str, list[str]] = {}
    for one in functions:
        ports = _physical(one, functions, owner)
        below[one.nic.name] = [port.nic.name for port in ports]
        if ports and all(_hold(ports, one, way) for way in DIRECTIONS):
            physical = below[one.nic.name][0]
            holder[one.nic.name] = holder.get(physical, physical)
    return SharedPorts(holder, frozenset(doubtful), shown, below)


def _partitions(
    functions: Iterable[_Function], owner: Mapping[str, str]
) -> tuple[dict[str, str], set[str]]:
    """Map functions that show the same physical port to a bond's member, else to the function with
    the most bytes; also return doubtful ones.

    ``owner``: port -> the bond that owns it.
    """
    holder: dict[str, str] = {}
    doubtful: set[str] = set()
    for group in _alike(functions, owner):
        sure = _is_one_port(group)
        if sure is False:
            continue
        first = max(
            group,
            key=lambda one: (one.nic.name in owner, sum(one.own(way) or 0.0 for way in DIRECTIONS)),
        )
        holder |= {one.nic.name: first.nic.name for one in group if one is not first}
        doubtful |= {first.nic.name} if sure is None else set()
    return holder, doubtful


def _owned(ledger: Ledger, name: str) -> list[str]:
    nic = ledger.ports[name].nic
    return nic.lower if owns_what_is_below(nic) and nic.link_kind != RAILS else []


def _physical(
    function: _Function, functions: Sequence[_Function], owner: Mapping[str, str]
) -> list[_Function]:
    """Return the physical port of a virtual function first, then the other members of its bond, all
    of which the function may use.

    Empty if two ports have that PCI address.
    """
    address = function.nic.adapter.physical if function.nic.adapter is not None else ""
    if not address or function.shows_port:
        return []
    found = [one for one in functions if one.nic.pci == address and one is not function]
    if len(found) != 1:
        return []
    bond = owner.get(found[0].nic.name)
    members = (one for one in functions if bond and owner.get(one.nic.name) == bond)
    return [*found, *(one for one in members if one is not found[0])]


def _hold(ports: Iterable[_Function], function: _Function, way: Direction) -> bool:
    """Return whether these ports show the function's bytes, if those are up to date."""
    counts, own = [one.all_bytes(way) for one in ports], function.own(way)
    whole = sum(count or 0.0 for count in counts)
    late = any(entry.quality == "stale" for entry in function.port.entries(way))
    return None not in counts and (own is None or late or whole + FRAMES >= HELD * own)


def _alike(functions: Iterable[_Function], owner: Mapping[str, str]) -> Iterator[list[_Function]]:
    """Yield groups of Ethernet ports of one adapter whose physical counters rose alike.

    Members of bonds are separate ports, each of which may be a function beside others. InfiniBand
    ports are also separate, because their functions have separate counters.
    """
    shown = [one for one in functions if one.shows_port and one.nic.kind == "ethernet"]
    left = sorted(shown, key=lambda one: one.nic.name not in owner)
    while left:
        first, *others = left
        group = [first]
        group += [
            one
            for one in others
            if one.nic.name not in owner
            and _rose_alike(first, one, _ALIKE)
            and _may_share(first, one)
        ]
        left = [one for one in others if one not in group]
        if len(group) > 1:
            yield group


def _may_share(one: _Function, other: _Function) -> bool:
    """Return whether both may be functions of one port: same adapter, and no different port ids.

    One function has an interface for each of its ports, so equal PCI addresses are different ports.
    """
    first, second = one.nic.adapter, other.nic.adapter
    if first is None or second is None or (one.nic.pci and one.nic.pci == other.nic.pci):
        return False
    elsewhere = first.port_id and second.port_id and first.port_id != second.port_id
    return not elsewhere and bool(identities(first) & identities(second))


def _rose_alike(one: _Function, other: _Function, tolerance: float) -> bool:
    pairs = [(one.whole[way] or 0.0, other.whole[way] or 0.0) for way in DIRECTIONS]
    return all(abs(a - b) <= tolerance * max(a, b) + FRAMES for a, b in pairs)


def _is_one_port(group: Sequence[_Function]) -> bool | None:
    """Return whether ports whose physical counters rose equally are one port. They are if the bytes
    that they moved together match the count of each. None if these bytes are not counted.
    """
    way = max(DIRECTIONS, key=lambda one: group[0].whole[one] or 0.0)
    whole, own = group[0].whole[way] or 0.0, [one.own(way) for one in group]
    known = [count for count in own if count is not None]
    if whole <= FRAMES:
        return False
    if len(known) == len(own):
        if all(count >= _ITS_OWN * whole for count in known):
            return False
        if _TOGETHER[0] * whole <= sum(known) <= _TOGETHER[1] * whole:
            return True
    closer = all(_rose_alike(group[0], one, _ALIKE_UNSEEN) for one in group[1:])
    return None if closer else False
