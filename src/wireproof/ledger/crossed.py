# pure
"""Add up the traffic of a port, or of a port with all ports below it, counting each byte once.
Pure.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import msgspec

from wireproof.ledger.counted import Crossed, added, counted, counted_part, with_peak
from wireproof.ledger.functions import FRAMES, HELD, SharedPorts, shared_ports
from wireproof.ledger.places import (
    bases,
    bottoms,
    inner,
    overlapping,
    related,
    together,
    tops,
)
from wireproof.ledger.relations import are_rails, beneath, is_tunnel, owns_what_is_below
from wireproof.model import gathered
from wireproof.model.traffic import LEVELS, Direction, Ledger, LedgerEntry, Level, PortLedger

__all__ = [
    "Crossed",
    "added",
    "at_rails",
    "claimed_at",
    "crossed_at",
    "everywhere",
    "fresh_at",
    "inside",
    "others_than",
    "up_to_date",
]

_DOUBT = "another function of the adapter may be the same port"
_UNREAD = "is not in the catalogue of counters"
_MOST_NESTED = 16  # the kernel stops at 8 (linux include/linux/netdevice.h, MAX_NEST_DEV)


def crossed_at(ledger: Ledger, name: str, direction: Direction) -> Crossed:
    """Return the traffic of the port ``name``, including ports below that it owns."""
    return _Crossing(ledger, direction).at(name)


def claimed_at(ledger: Ledger, name: str, direction: Direction) -> Crossed:
    """Return the traffic of the port ``name`` by which the path is judged.

    If its driver is not in the catalogue, the bytes are a lower bound.
    """
    found, port = crossed_at(ledger, name, direction), ledger.ports[name]
    if port.known:
        return found
    return replace(found, complete=False, remark=f"{port.nic.driver or 'its driver'} {_UNREAD}")


class _Crossing:
    """The traffic of a host's ports in one direction, each summed over the ports below it."""

    def __init__(self, ledger: Ledger, direction: Direction) -> None:
        self.ports, self.ledger, self.direction = ledger.ports, ledger, direction
        self._known: dict[str, Crossed] = {}
        self._open: list[str] = []

    @cached_property
    def shared(self) -> SharedPorts:
        """The functions that share physical ports."""
        return shared_ports(self.ledger)

    def at(self, name: str) -> Crossed:
        if name not in self._known:
            self._open.append(name)
            self._known[name] = self._made(name)
            self._open.pop()
        return self._known[name]

    def _below(self, name: str) -> list[str]:
        """Return the ports directly below; untrusted files may describe cycles and deep stacks."""
        if len(self._open) > _MOST_NESTED:
            return []
        lower = self.ports[name].nic.lower
        return [one for one in dict.fromkeys(lower) if one in self.ports and one not in self._open]

    def _members(self, name: str) -> list[str]:
        """Return the ports whose bytes belong to the owner, through nested owners, each once."""
        found: list[str] = []
        seen, owners = {name}, [name]
        while owners:
            for one in self._below(owners.pop()):
                if one in seen:
                    continue
                seen.add(one)
                nested = owns_what_is_below(self.ports[one].nic) and self._below(one)
                (owners if nested else found).append(one)
        return found

    def _made(self, name: str) -> Crossed:
        port, below = self.ports[name], self._below(name)
        if are_rails(port.nic):
            return self._rails(below)
        own = counted(port.entries(self.direction))
        if not below:
            return self._passed(port, own)
        return self._owner(name, own, below) if owns_what_is_below(port.nic) else self._sharer(name)

    def _passed(self, port: PortLedger, own: Crossed) -> Crossed:
        """Return the traffic of a virtual function's physical port, if that is certainly less than
        the function moved, because the adapter's switch returned the rest.
        """
        if port.nic.adapter is None or not port.nic.adapter.physical or own.bytes is None:
            return own
        below = self.shared.below.get(port.nic.name, ())
        whole = added([counted(self.ports[one].entries(self.direction)) for one in below])
        sure = whole.bytes is not None and (whole.level, whole.quality) == ("wire", "exact")
        less = sure and (whole.bytes or 0.0) + FRAMES < HELD * own.bytes
        return replace(whole, inside=own.bytes) if less else own

    def _rails(self, names: Sequence[str]) -> Crossed:
        """Add up rails; rails on the same physical port are counted once."""
        doubtful = self.shared.doubtful
        parts: list[Crossed] = []
        for group in overlapping(self.ledger, names, self.shared):
            each = group if len(group) == 1 else together(self.ledger, group, self.shared)
            found = added([self.at(one) for one in each])
            doubt = len(group) > 1 and bool(doubtful & set(each))
            parts.append(replace(found, complete=False, remark=_DOUBT) if doubt else found)
        return added(parts)

    def _owner(self, name: str, own: Crossed, below: Sequence[str]) -> Crossed:
        """Add up the members. The RDMA device of a bond may count only one member."""
        whole = with_peak(added([self.at(one) for one in self._members(name)]), own)
        hidden = self.ports[name].nic.rdma is not None and len(below) > 1 and whole.level != "wire"
        if whole.bytes is None or not whole.complete or hidden:
            return _more(own, whole)
        kernel = whole.carried("kernel")
        if whole.level != "wire" or kernel is None or len(below) < 2:
            return whole
        return replace(whole, by=(("kernel", kernel), ("rdma", max(0.0, whole.bytes - kernel))))

    def _sharer(self, name: str) -> Crossed:
        """Add up a VLAN, macvlan or bridge: its socket traffic, and the RDMA of the ports below."""
        entries = self.ports[name].entries(self.direction)
        own = counted(entries)
        rdma = self._rdma(name) if self._has_rdma(name) else None
        if rdma is None or any(one.carrier == "any" and one.bytes is not None for one in entries):
            return own
        kernel = counted_part([entry for entry in entries if entry.carrier == "kernel"])
        return added([rdma] if kernel is None else [kernel, rdma])

    def _has_rdma(self, name: str) -> bool:
        """Return whether the port, or a port below it, can carry RDMA."""
        every = [self.ports[name], *(self.ports[one] for one in self._all_below(name))]
        return any(
            port.nic.rdma is not None or any(one.carrier in ("rdma", "psm") for one in port.tx)
            for port in every
        )

    def _all_below(self, name: str) -> list[str]:
        return beneath(name, self.ledger.lower)

    def _rdma(self, name: str) -> Crossed | None:
        """Return only the RDMA traffic, from the port's device or from the bytes of a bond's
        members beyond the kernel's.
        """
        port, below = self.ports[name], self._below(name)
        own = counted_part(
            [one for one in port.entries(self.direction) if one.carrier in ("rdma", "psm")]
        )
        if below and owns_what_is_below(port.nic):
            return _alone(self.at(name))
        if not below or (own is not None and own.bytes is not None and not self._bonds(name)):
            return own
        parts = [part for one in below if (part := self._rdma_below(one)) is not None]
        return added(parts) if parts else own

    def _rdma_below(self, name: str) -> Crossed | None:
        if name in self._open:
            return None
        self._open.append(name)
        found = self._rdma(name)
        self._open.pop()
        return found

    def _bonds(self, name: str) -> bool:
        """Return whether there is a bond below the port."""
        below = (self.ports[one].nic for one in self._all_below(name))
        return any(owns_what_is_below(nic) and len(nic.lower) > 1 for nic in below)


def _alone(whole: Crossed) -> Crossed | None:
    """Return the RDMA of a bond, with its share of the peak."""
    count, peak = whole.carried("rdma"), whole.peak_bytes_per_s
    if count is None:
        return None
    return Crossed(
        count,
        background=whole.background,
        peak_bytes_per_s=peak * count / whole.bytes if peak and whole.bytes else peak,
        level=whole.level,
        quality=whole.quality,
        complete=whole.complete,
        by=(("rdma", count),),
        counters=whole.counters,
        remark=whole.remark,
    )


def fresh_at(
    ledger: Ledger, name: str, direction: Direction, weakest: Level = "stack"
) -> Crossed | None:
    """Return the traffic of the port ``name`` according to up-to-date counters of at least this
    level: a lower bound. None if only a late counter of all carriers counts at the wire, because it
    may still show that the adapter's switch returned the bytes. A team counts the bytes that it
    sends, as a VLAN does, regardless of the ports below.
    """
    below = beneath(name, ledger.lower)
    if "team" in (ledger.ports[name].nic.link_kind, ledger.ports[name].nic.driver):
        below = []
    late = [
        entry
        for one in (name, *below)
        for entry in ledger.ports[one].entries(direction)
        if entry.quality == "stale"
    ]
    found = crossed_at(up_to_date(ledger, weakest), name, direction)
    if any((one.carrier, one.level) == ("any", "wire") for one in late) and found.level != "wire":
        return None
    # omitted entries do not prove that a carrier moved nothing
    return replace(found, complete=False, by=tuple(one for one in found.by if one[1] > 0))


def up_to_date(ledger: Ledger, weakest: Level) -> Ledger:
    """Return the ledger without the entries of late counters and of weaker levels."""
    kept = LEVELS[: LEVELS.index(weakest) + 1]

    def fresh(entries: Iterable[LedgerEntry]) -> list[LedgerEntry]:
        return [one for one in entries if one.quality != "stale" and one.level in kept]

    ports = {
        name: msgspec.structs.replace(port, tx=fresh(port.tx), rx=fresh(port.rx))
        for name, port in ledger.ports.items()
    }
    return msgspec.structs.replace(ledger, ports=ports)


def _more(own: Crossed, whole: Crossed) -> Crossed:
    """Return the larger of both counts as a lower bound, because a member cannot be read."""
    known = [one for one in (own, whole) if one.bytes is not None]
    if not known:
        return own
    return replace(max(known, key=lambda one: one.bytes or 0.0), complete=False)


def others_than(ledger: Ledger, name: str, direction: Direction) -> dict[str, Crossed]:
    """Return the traffic of ports other than ``name`` that do not count its bytes again, without
    loopback. If ``name`` shares an interface with others, the bytes of the others count as another
    port. The ports that carry a tunnel count its bytes again.
    """
    port, crossing = ledger.ports[name], _Crossing(ledger, direction)
    shared = crossing.shared
    users = gathered(
        (base, one)
        for one in (port.nic.lower if are_rails(port.nic) else [name])
        for base in (bases(ledger, one, shared) if one in ledger.ports else ())
    )
    kin = related(ledger, name)
    same = set(users).union(*(shared.mates(base) for base in users))
    same |= kin | _beneath_all(ledger, same)
    others = [
        one for one in (*tops(ledger, shared), *_members(ledger, kin - {name})) if one not in same
    ]
    rests = {base: _rest(crossing, base, each) for base, each in users.items() if base not in each}
    found = {one: crossing.at(one) for one in others}
    if is_tunnel(port.nic):
        found = _without(found, crossing.at(name).bytes or 0.0)
    return found | {base: rest for base, rest in rests.items() if rest is not None}


def _without(found: Mapping[str, Crossed], count: float) -> dict[str, Crossed]:
    """Subtract ``count`` bytes from these ports, the busiest first."""
    left: dict[str, Crossed] = {}
    for name, one in sorted(found.items(), key=lambda item: -(item[1].bytes or 0.0)):
        taken = min(count, one.bytes or 0.0)
        left[name] = replace(one, bytes=(one.bytes or 0.0) - taken, packets=None) if taken else one
        count -= taken
    return left


def inside(ledger: Ledger, direction: Direction, claimed: str = "") -> dict[str, Crossed]:
    """Return the traffic of ports that lead to containers and guests, without ``claimed``. For a
    tunnel, return the traffic that no egress port of the host shows.
    """
    shown = sum(way.bytes or 0.0 for way in everywhere(ledger, direction).values())
    found: dict[str, Crossed] = {}
    for name in inner(ledger):
        if name != claimed:
            whole = {name: crossed_at(ledger, name, direction)}
            found |= _without(whole, shown) if is_tunnel(ledger.ports[name].nic) else whole
    return found


def _rest(crossing: _Crossing, base: str, users: Sequence[str]) -> Crossed | None:
    """Return the bytes that others moved through the port ``base``, which ``users`` share with
    them. None if a user's bytes are unknown, because they cannot be separated. If no counter shows
    the RDMA of ``users``, only the kernel's bytes are known to belong to others.
    """
    whole, own = crossing.at(base), [crossing.at(one) for one in users]
    below = {one for user in users for one in bottoms(crossing.ledger, user)}
    seen, mine = whole.bytes, sum(one.bytes or 0.0 for one in own)
    if any(one.bytes is None or not one.complete for one in own):
        seen = whole.carried("kernel") if base in below else None
        mine = sum(one.carried("kernel") or 0.0 for one in own)
    if seen is None or any(one.bytes is None for one in own):
        return None
    left = max(0.0, seen - mine)
    return Crossed(left, None, whole.background, None, whole.level, whole.quality, whole.complete)


def _members(ledger: Ledger, names: Iterable[str]) -> list[str]:
    """Return the lowest ports below those ``names`` that own the ports below them."""
    owners = [name for name in names if owns_what_is_below(ledger.ports[name].nic)]
    below = _beneath_all(ledger, owners)
    return [name for name, port in ledger.ports.items() if name in below and not port.nic.lower]


def _beneath_all(ledger: Ledger, names: Iterable[str]) -> set[str]:
    lower = ledger.lower
    return {one for name in names for one in beneath(name, lower)}


def everywhere(ledger: Ledger, direction: Direction) -> dict[str, Crossed]:
    """Return the traffic of each egress port of the host."""
    crossing = _Crossing(ledger, direction)
    found = {name: crossing.at(name) for name in tops(ledger, crossing.shared)}
    return {
        name: replace(one, complete=False, remark=_DOUBT)
        if name in crossing.shared.doubtful
        else one
        for name, one in found.items()
    }


def at_rails(ledger: Ledger, names: Sequence[str], direction: Direction) -> dict[str, float | None]:
    """Return the bytes of each rail; None if no counter separates it from another rail."""
    crossing = _Crossing(ledger, direction)
    alone = {group[0] for group in overlapping(ledger, names, crossing.shared) if len(group) == 1}
    return {name: crossing.at(name).bytes if name in alone else None for name in names}
