"""What crossed one place of a host, out of the ledger's entries: parts added up, the same bytes
counted once. Pure.

A place is a port, or a port with everything that it stands on. The best evidence is a counter of
the physical port that includes every carrier; else the parts by carrier are added, and a part that
nothing counts makes the sum a lower bound.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import msgspec

from wireproof.analysis.ports import leaves, owns_what_is_below, related, tops
from wireproof.analysis.rails import are_rails
from wireproof.model.ledger import (
    LEVELS,
    QUALITIES,
    Carrier,
    Direction,
    Entry,
    Ledger,
    Level,
    PortLedger,
    Quality,
)

__all__ = [
    "Crossed",
    "added",
    "crossed_at",
    "everywhere",
    "fresh_at",
    "others_than",
]

_HARDLY = 65_536.0  # bytes
_SMALLEST_FRAME = 40.0  # bytes, by counters that leave the link's own header out


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


def crossed_at(ledger: Ledger, name: str, direction: Direction) -> Crossed:
    """What crossed the port ``name``, with what it stands on where that is its own."""
    port = ledger.ports[name]
    if are_rails(port.nic):
        return added([crossed_at(ledger, one, direction) for one in port.nic.lower])
    below = [ledger.ports[one] for one in leaves(ledger, name)]
    if not below:
        return _port(port.entries(direction))
    if owns_what_is_below(port):
        whole = added([_port(one.entries(direction)) for one in below])
        return (
            whole
            if whole.bytes is not None and whole.complete
            else _more(_port(port.entries(direction)), whole)
        )
    return _shared(port, below, direction)


def fresh_at(ledger: Ledger, name: str, direction: Direction) -> Crossed | None:
    """What the counters that are up to date show of the port ``name``: a lower bound, to which a
    late counter may only add. None where a late one of all carriers sits on the wire, and the
    others do not: it may yet show that the bytes were turned round before it.
    """
    places = [name, *leaves(ledger, name)]
    late = [
        entry
        for one in places
        for entry in ledger.ports[one].entries(direction)
        if entry.quality == "stale"
    ]
    found = crossed_at(_up_to_date(ledger), name, direction)
    if any((one.carrier, one.level) == ("any", "wire") for one in late) and found.level != "wire":
        return None
    # that a carrier moved nothing does not follow from entries that were left out
    return replace(found, complete=False, by=tuple(one for one in found.by if one[1] > 0))


def _up_to_date(ledger: Ledger) -> Ledger:
    """The ledger without the entries of late counters."""
    ports = {
        name: msgspec.structs.replace(port, tx=_not_late(port.tx), rx=_not_late(port.rx))
        for name, port in ledger.ports.items()
    }
    return msgspec.structs.replace(ledger, ports=ports)


def _not_late(entries: Iterable[Entry]) -> list[Entry]:
    return [entry for entry in entries if entry.quality != "stale"]


def _more(own: Crossed, whole: Crossed) -> Crossed:
    """A member cannot be read: the larger of what it itself and what the other members counted, as
    a lower bound.
    """
    known = [one for one in (own, whole) if one.bytes is not None]
    if not known:
        return own
    return replace(max(known, key=lambda one: one.bytes or 0.0), complete=False)


def _shared(port: PortLedger, below: Sequence[PortLedger], direction: Direction) -> Crossed:
    """A VLAN, macvlan or bridge shares what it stands on: its own sockets, and the RDMA of the
    ports below.
    """
    own = _port(port.entries(direction))
    rdma = [
        _part([entry for entry in one.entries(direction) if entry.carrier in ("rdma", "psm")])
        for one in below
    ]
    if own.carried("rdma") is not None:
        return own
    return added([own, *(part for part in rdma if part is not None)])


def _port(entries: Sequence[Entry]) -> Crossed:
    """One port by itself."""
    whole = _first(entry for entry in entries if entry.carrier == "any")
    parts = _parts(entries)
    if whole is not None and whole.bytes is not None:
        return _with_whole(whole, whole.bytes, parts, entries)
    if parts.bytes is None:
        return _lost(entries)
    return parts if whole is None else _without_whole(whole, parts)


def _with_whole(whole: Entry, count: float, parts: Crossed, entries: Sequence[Entry]) -> Crossed:
    """A counter of every carrier, beside its parts."""
    complete = True
    if whole.quality == "lower-bound":
        rest = _port([entry for entry in entries if entry is not whole])
        if rest.bytes is not None and rest.bytes > count:
            return rest
        # what else is counted says that no more crossed
        complete = rest.bytes is not None and rest.complete
    inside = parts.bytes if whole.level == "wire" and parts.complete else None
    # A driver's own statistics are too costly to be read many times a second: the peak is then that
    # of the parts.
    peak = whole.peak_bytes_per_s if whole.peak_bytes_per_s is not None else parts.peak_bytes_per_s
    return Crossed(
        count,
        whole.packets,
        whole.background,
        peak,
        whole.level,
        whole.quality,
        complete=complete,
        inside=inside,
        by=_apart(count, parts),
        counters=tuple(whole.counters),
        wrap_bytes=whole.wrap_bytes,
        remark=whole.remark,
    )


def _without_whole(whole: Entry, parts: Crossed) -> Crossed:
    """The parts in place of a whole that cannot be read: it would have had RDMA too, which the
    parts may not have.
    """
    apart = len(parts.by) > 1 and parts.by[-1] != ("rdma", 0.0)
    return replace(parts, complete=apart, remark=whole.remark, quality=whole.quality)


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
    worst = max(entries, key=lambda entry: QUALITIES.index(entry.quality))
    return Crossed(None, quality=worst.quality, counters=tuple(worst.counters), remark=worst.remark)


def _first(entries: Iterable[Entry]) -> Entry | None:
    """The readable entry of the strongest level; an unreadable one where none is."""
    ranked = sorted(entries, key=lambda entry: (entry.bytes is None, LEVELS.index(entry.level)))
    return ranked[0] if ranked else None


def _parts(entries: Sequence[Entry]) -> Crossed:
    """The carriers that have counters of their own, added up."""
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
    return Crossed(
        best.bytes,
        best.packets,
        best.background,
        best.peak_bytes_per_s,
        best.level,
        best.quality,
        complete=best.quality != "lower-bound",
        by=((best.carrier, best.bytes),),
        counters=tuple(best.counters),
        wrap_bytes=best.wrap_bytes,
        remark=best.remark,
    )


def added(parts: Sequence[Crossed]) -> Crossed:
    """Parts that share no byte. An unreadable part leaves a lower bound."""
    known = [part for part in parts if part.bytes is not None]
    lost = [part for part in parts if part.bytes is None]
    if not known:
        return lost[0] if lost else NOTHING
    remark = next((part.remark for part in (*lost, *known) if part.remark), "")
    return _sum(known, complete=not lost, remark=remark)


def _sum(parts: Sequence[Crossed], *, complete: bool, remark: str) -> Crossed:
    peaks = _known([part.peak_bytes_per_s for part in parts])
    return Crossed(
        _whole([part.bytes for part in parts]),
        _whole([_packets(part) for part in parts]),
        sum([part.background for part in parts]),
        sum(peaks) if peaks else None,
        max([part.level for part in parts], key=LEVELS.index),
        max([part.quality for part in parts], key=QUALITIES.index),
        complete=complete and all(part.complete for part in parts),
        inside=_whole([part.inside for part in parts]),
        by=_by_carrier(parts, complete=complete),
        counters=tuple([name for part in parts for name in part.counters]),
        wrap_bytes=min(_known([part.wrap_bytes for part in parts]), default=None),
        remark=remark,
    )


def _whole(values: Sequence[float | None]) -> float | None:
    """The sum; None as soon as one is not known."""
    known = _known(values)
    return sum(known) if len(known) == len(values) else None


def _known(values: Iterable[float | None]) -> list[float]:
    return [value for value in values if value is not None]


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


def others_than(
    ledger: Ledger, name: str, direction: Direction, own: float | None
) -> dict[str, Crossed]:
    """What crossed ports that are not ``name`` nor count its bytes again, loopback apart.

    Of an interface that ``name`` shares with others, what is not ``name``'s own (``own`` bytes)
    counts as another port.
    """
    port, kin = ledger.ports[name], related(ledger, name)
    others = [one for one in (*tops(ledger), *_members(ledger, kin - {name})) if one not in kin]
    found = {one: crossed_at(ledger, one, direction) for one in others}
    if are_rails(port.nic):
        for one in port.nic.lower:
            rail = crossed_at(ledger, one, direction).bytes
            found |= _beside(ledger, one, direction, rail)
        return found
    return found | _beside(ledger, name, direction, own)


def _beside(
    ledger: Ledger, name: str, direction: Direction, own: float | None
) -> dict[str, Crossed]:
    """What others moved through the ports that ``name`` shares with them."""
    if owns_what_is_below(ledger.ports[name]):
        return {}
    shared = {
        one: _not_own(ledger.ports[one].entries(direction), own or 0.0)
        for one in leaves(ledger, name)
    }
    return {one: rest for one, rest in shared.items() if rest is not None}


def _members(ledger: Ledger, names: Iterable[str]) -> list[str]:
    """The ports at the bottom of those of ``names`` that own what is below them."""
    owners = [name for name in names if owns_what_is_below(ledger.ports[name])]
    return [leaf for owner in owners for leaf in leaves(ledger, owner)]


def _not_own(entries: Iterable[Entry], own: float) -> Crossed | None:
    """What the kernel moved over a shared port, less the ``own`` bytes of who shares it."""
    rest = _port([entry for entry in entries if entry.carrier in ("kernel", "any")])
    if rest.bytes is None:
        return None
    left = max(0.0, rest.bytes - own)
    return Crossed(left, None, rest.background, None, rest.level, rest.quality, rest.complete)


def everywhere(ledger: Ledger, direction: Direction) -> dict[str, Crossed]:
    """What crossed each way out of the host."""
    return {name: crossed_at(ledger, name, direction) for name in tops(ledger)}
