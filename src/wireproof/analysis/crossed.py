"""What crossed one place of a host, out of the ledger's entries: parts added up, the same bytes
counted once. Pure.

A place is a port, or a port with everything that it stands on. The best evidence is a counter of
the physical port that includes every carrier; else the parts by carrier are added, and a part that
nothing counts makes the sum a lower bound.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from wireproof.model.ledger import Carrier, Direction, Entry, Ledger, Level, PortLedger, Quality

__all__ = [
    "Crossed",
    "added",
    "crossed_at",
    "everywhere",
    "inner",
    "is_real",
    "others_than",
    "related",
]

_HARDLY = 65_536.0  # bytes
_SMALLEST_FRAME = 40.0  # bytes, by counters that leave the link's own header out
_EXCLUSIVE = ("bond", "bonding", "team", "netvsc", "failover")
"""Kinds that own what is below them: the members' bytes are theirs and nobody else's."""
_LEVELS: tuple[Level, ...] = ("wire", "function", "stack")
_WORSE: tuple[Quality, ...] = (
    "unreadable",
    "pegged",
    "wrapped",
    "stale",
    "double",
    "lower-bound",
    "exact",
)


@dataclass(frozen=True)
class Crossed:
    """Bytes in one direction. ``bytes`` None: nothing could be read. ``complete`` False: a carrier
    is not counted.

    ``inside``: what function or stack counters say beside ``bytes`` of the physical port, None
    where the two are one. ``by``: bytes by carrier, where counters tell these apart. ``level``,
    ``quality``: the weakest of what was added.
    """

    bytes: float | None
    packets: float | None = None
    background: float = 0.0
    peak_bytes_per_s: float | None = None
    level: Level = "stack"
    quality: Quality = "unreadable"
    complete: bool = True
    inside: float | None = None
    by: tuple[tuple[Carrier, float], ...] = ()
    counters: tuple[str, ...] = ()
    wrap_bytes: float | None = None
    remark: str = ""

    def carried(self, carrier: Carrier) -> float | None:
        """Bytes of one carrier; None where no counter tells."""
        return dict(self.by).get(carrier)


NOTHING = Crossed(None, remark="there is no counter of it")


def is_real(port: PortLedger) -> bool:
    """A port of an adapter, with a carrier or without a word about it."""
    return port.nic.kind in ("ethernet", "infiniband") and port.nic.carrier is not False


def crossed_at(ledger: Ledger, name: str, way: Direction) -> Crossed:
    """What crossed the port ``name``, with what it stands on where that is its own."""
    port = ledger.ports[name]
    below = [ledger.ports[one] for one in _leaves(ledger, name)]
    if not below:
        return _port(port.way(way))
    if _exclusive(port):
        whole = added([_port(one.way(way)) for one in below])
        return (
            whole
            if whole.bytes is not None and whole.complete
            else _more(_port(port.way(way)), whole)
        )
    return _shared(port, below, way)


def _exclusive(port: PortLedger) -> bool:
    words = f"{port.nic.link_kind} {port.nic.driver}".lower()
    return any(kind in words for kind in _EXCLUSIVE)


def _more(own: Crossed, whole: Crossed) -> Crossed:
    """A member cannot be read: the larger of what it itself and what the other members counted, as
    a lower bound.
    """
    known = [one for one in (own, whole) if one.bytes is not None]
    if not known:
        return own
    return replace(max(known, key=lambda one: one.bytes or 0.0), complete=False)


def _shared(port: PortLedger, below: Sequence[PortLedger], way: Direction) -> Crossed:
    """A VLAN, macvlan or bridge shares what it stands on: its own sockets, and the RDMA of the
    ports below.
    """
    own = _port(port.way(way))
    rdma = [
        _part([entry for entry in one.way(way) if entry.carrier in ("rdma", "psm")])
        for one in below
    ]
    if own.carried("rdma") is not None:
        return own
    return added([own, *(part for part in rdma if part is not None)])


def _port(entries: Sequence[Entry]) -> Crossed:
    """One port by itself."""
    whole = _first(entry for entry in entries if entry.carrier == "any")
    parts = _parts(entries)
    if whole is None:
        return parts if parts.bytes is not None else _lost(entries)
    if whole.bytes is None:  # it would have had RDMA too, which the parts may not have
        known = parts.bytes is not None
        apart = len(parts.by) > 1 and parts.by[-1] != ("rdma", 0.0)
        return (
            replace(parts, complete=apart, remark=whole.remark, quality=whole.quality)
            if known
            else _lost(entries)
        )
    complete = True
    if whole.quality == "lower-bound":
        rest = _port([entry for entry in entries if entry is not whole])
        if rest.bytes is not None and rest.bytes > whole.bytes:
            return rest
        # what else is counted says that no more crossed
        complete = rest.bytes is not None and rest.complete
    inside = parts.bytes if whole.level == "wire" and parts.complete else None
    found = replace(_single(whole, by=_apart(whole.bytes, parts), inside=inside), complete=complete)
    # A driver's own statistics are too costly to be read many times a second: the peak is that of
    # the parts.
    return (
        found
        if found.peak_bytes_per_s is not None
        else replace(found, peak_bytes_per_s=parts.peak_bytes_per_s)
    )


def _apart(whole: float, parts: Crossed) -> tuple[tuple[Carrier, float], ...]:
    """By carrier: what is in the whole and not the kernel's is RDMA's, where RDMA has no counter of
    its own.
    """
    kernel = parts.carried("kernel")
    if kernel is None or len(parts.by) > 1:
        return parts.by
    return (*parts.by, ("rdma", max(0.0, whole - kernel)))


def _lost(entries: Sequence[Entry]) -> Crossed:
    if not entries:
        return NOTHING
    worst = min(entries, key=lambda entry: _WORSE.index(entry.quality))
    return Crossed(None, quality=worst.quality, counters=tuple(worst.counters), remark=worst.remark)


def _first(entries: Iterable[Entry]) -> Entry | None:
    """The readable entry of the strongest level; an unreadable one where none is."""
    ranked = sorted(entries, key=lambda entry: (entry.bytes is None, _LEVELS.index(entry.level)))
    return ranked[0] if ranked else None


def _parts(entries: Sequence[Entry]) -> Crossed:
    """The carriers that are told apart, added up."""
    found = []
    for carrier in ("kernel", "rdma", "psm"):
        part = _part([entry for entry in entries if entry.carrier == carrier])
        found += [part] if part is not None else []
    return added(found)


def _part(entries: Sequence[Entry]) -> Crossed | None:
    best = _first(entries)
    if best is None:
        return None
    if best.bytes is None:
        return Crossed(
            None,
            quality=best.quality,
            counters=tuple(best.counters),
            complete=False,
            remark=best.remark,
        )
    return _single(best, by=((best.carrier, best.bytes),))


def _single(
    entry: Entry, *, by: tuple[tuple[Carrier, float], ...], inside: float | None = None
) -> Crossed:
    return Crossed(
        entry.bytes,
        entry.packets,
        entry.background,
        entry.peak_bytes_per_s,
        entry.level,
        entry.quality,
        complete=entry.quality != "lower-bound",
        inside=inside,
        by=by,
        counters=tuple(entry.counters),
        wrap_bytes=entry.wrap_bytes,
        remark=entry.remark,
    )


def added(parts: Sequence[Crossed]) -> Crossed:
    """Parts that share no byte. An unreadable part leaves a lower bound."""
    known = [part for part in parts if part.bytes is not None]
    lost = [part for part in parts if part.bytes is None]
    if not known:
        return lost[0] if lost else NOTHING
    return Crossed(
        _whole([part.bytes for part in known]),
        _whole([_packets(part) for part in known]),
        sum(part.background for part in known),
        _known(sum, [part.peak_bytes_per_s for part in known]),
        max((part.level for part in known), key=_LEVELS.index),
        min((part.quality for part in known), key=_WORSE.index),
        complete=not lost and all(part.complete for part in known),
        inside=_whole([part.inside for part in known]),
        by=_by_carrier(known, complete=not lost),
        counters=tuple(name for part in known for name in part.counters),
        wrap_bytes=_known(min, [part.wrap_bytes for part in known]),
        remark=next((part.remark for part in (*lost, *known) if part.remark), ""),
    )


def _whole(values: Sequence[float | None]) -> float | None:
    """The sum; None as soon as one is not known."""
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None


def _known(
    join: Callable[[Sequence[float]], float], values: Sequence[float | None]
) -> float | None:
    """``join`` of those that are known; None when none is."""
    known = [value for value in values if value is not None]
    return join(known) if known else None


def _by_carrier(parts: Sequence[Crossed], *, complete: bool) -> tuple[tuple[Carrier, float], ...]:
    """Bytes by carrier. Where everything is counted and only the kernel's is there, RDMA moved
    nothing.
    """
    by: dict[Carrier, float] = {}
    for part in parts:
        for carrier, count in part.by:
            by[carrier] = by.get(carrier, 0.0) + count
    alone = complete and list(by) == ["kernel"]
    return (*by.items(), ("rdma", 0.0)) if alone else tuple(by.items())


def _packets(part: Crossed) -> float | None:
    """Packets of a part; where nothing counts them and it moved hardly anything, the most that its
    bytes can be.
    """
    if part.packets is None and part.bytes is not None and part.bytes < _HARDLY:
        return part.bytes / _SMALLEST_FRAME
    return part.packets


def _leaves(ledger: Ledger, name: str) -> list[str]:
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


def others_than(ledger: Ledger, name: str, way: Direction, own: float | None) -> dict[str, Crossed]:
    """What crossed ports that are not ``name`` nor count its bytes again, loopback apart.

    Of an interface that ``name`` shares with others, what is not ``name``'s own (``own`` bytes)
    counts as another port.
    """
    kin = related(ledger, name)
    beside = [
        leaf
        for owner in kin - {name}
        if _exclusive(ledger.ports[owner])
        for leaf in _leaves(ledger, owner)
    ]
    found = {
        one: crossed_at(ledger, one, way) for one in (*tops(ledger), *beside) if one not in kin
    }
    if _exclusive(ledger.ports[name]):
        return found
    for one in _leaves(ledger, name):
        rest = _port(
            [entry for entry in ledger.ports[one].way(way) if entry.carrier in ("kernel", "any")]
        )
        if rest.bytes is not None:
            left = max(0.0, rest.bytes - (own or 0.0))
            found[one] = Crossed(
                left, None, rest.background, None, rest.level, rest.quality, rest.complete
            )
    return found


def tops(ledger: Ledger) -> list[str]:
    """One port for each way out of the host: real ports that nothing exclusive stands on, and what
    owns others.

    Beside a real port a virtual one leads to a container or a guest of the same host.
    """
    real = any(is_real(port) and not port.nic.lower for port in ledger.ports.values())
    owned = {
        leaf
        for name, port in ledger.ports.items()
        if _exclusive(port)
        for leaf in _leaves(ledger, name)
    }
    found = []
    for name, port in ledger.ports.items():
        if port.nic.kind == "loopback" or name in owned:
            continue
        shares = (
            bool(port.nic.lower)
            and any(one in ledger.ports for one in port.nic.lower)
            and not _exclusive(port)
        )
        if not shares and (not real or is_real(port) or _exclusive(port)):
            found.append(name)
    return found


def inner(ledger: Ledger) -> list[str]:
    """Virtual ports that are no way out of the host: they lead to its own containers and guests."""
    out = set(tops(ledger))
    out |= {leaf for name in out for leaf in _leaves(ledger, name)}
    return [
        name
        for name, port in ledger.ports.items()
        if port.nic.kind == "virtual" and not port.nic.lower and name not in out
    ]


def everywhere(ledger: Ledger, way: Direction) -> dict[str, Crossed]:
    """What crossed each way out of the host."""
    return {name: crossed_at(ledger, name, way) for name in tops(ledger)}
