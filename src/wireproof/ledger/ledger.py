# pure
"""Build the byte ledger of one host: the traffic of each port, by carrier, level and quality. Pure.
The driver determines the counters that are read (``ledger.catalogue``), never the user's claim.
"""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

import msgspec

from wireproof.ledger.catalogue import AT_ONCE_MS, family_of
from wireproof.ledger.catalogue.read import CounterRow, Family
from wireproof.ledger.changes import ABSENT, SILENT, Changes, Rise
from wireproof.ledger.relations import is_known, stacks, stated
from wireproof.model.record import Nic
from wireproof.model.traffic import (
    DIRECTIONS,
    Carrier,
    Direction,
    Ledger,
    LedgerEntry,
    PortLedger,
    Quality,
)

STANDS_AT_0 = "shows 0 although other counters of the port moved"
"""Remark on a register of a physical port that always reads 0 although the port is in use."""

_LATE_SHARE = 50.0
"""If the interval is this many times a counter's refresh, the count is accurate to 2 %."""
_STUCK_PACKETS = 64
_STUCK_BYTES_PER_PACKET = 4
_JUMP = 1.1
_MOVED = 1 << 20  # counts: a port that moved this many cannot have a working counter that shows 0
_TURNED_BYTES, _TURNED_SHARE = 65_536.0, 0.01  # smaller amounts do not matter
_32_BITS = 1 << 32
_STANDARD = ("/tx_bytes", "/rx_bytes", "/port_xmit_data", "/port_rcv_data")
"""Counters that every interface, or every InfiniBand port, has."""
_FOREIGN = "its /sys belongs to another network namespace"

_KERNEL = CounterRow(
    tx=("net/{nic}/tx_bytes",),
    rx=("net/{nic}/rx_bytes",),
    packets_tx=("net/{nic}/tx_packets",),
    packets_rx=("net/{nic}/rx_packets",),
    carrier="kernel",
    level="stack",
    source="linux Documentation/networking/statistics.rst",
)


class HostPorts:
    """The ports of one host with their counters; created once and used for every interval.

    ``moved``: counters that moved at any time of the run; None: not known.
    """

    def __init__(
        self,
        host: str,
        nics: Iterable[Nic],
        *,
        foreign: bool = False,
        moved: AbstractSet[str] | None = None,
    ) -> None:
        self.host = host
        given = list(nics)
        listed = [stated(nic, given) for nic in given]
        members = stacks(listed)
        self._ports = [
            _CountedPort(
                nic, members[nic.name], known=is_known(nic, listed), foreign=foreign, moved=moved
            )
            for nic in listed
        ]

    def ledger(self, changes: Changes) -> Ledger:
        """Return the traffic of each port in the interval of ``changes``."""
        ports = {port.nic.name: port.read(changes) for port in self._ports}
        return Ledger(host=self.host, interval_ns=changes.interval_ns, ports=ports)


@dataclass(frozen=True)
class _Slot:
    """One row of the catalogue with the names of this port's counters.

    ``back``: counters of the other direction. ``turned``: counters of bytes that the adapter's
    switch returned, in both directions.
    """

    row: CounterRow
    names: tuple[str, ...]
    packets: tuple[str, ...]
    back: tuple[str, ...] = ()
    turned: tuple[str, ...] = ()


class _CountedPort:
    """One port with its counters."""

    def __init__(
        self,
        nic: Nic,
        lower: list[str],
        *,
        known: bool,
        foreign: bool,
        moved: AbstractSet[str] | None,
    ) -> None:
        self.nic = msgspec.structs.replace(nic, lower=lower) if lower != nic.lower else nic
        self._known_family, self._foreign = known, foreign
        self._family = family_of(nic)
        fitting = self._family.rows_for(nic) if self._family is not None else (_KERNEL,)
        self._slots = {one: [_slot(row, nic, one) for row in fitting] for one in DIRECTIONS}
        stopping = self._stopping()
        self._stoppable = frozenset() if moved and stopping & moved else stopping
        self._whole_run_known = moved is not None
        self._unread = list(_unread(self._family, nic, foreign=foreign))
        self._rdma_packets = _filled(
            self._family.rdma_packets if self._family is not None else (), nic
        )

    def _stopping(self) -> frozenset[str]:
        """Return the counters that one setting stops together."""
        slots = [slot for each in self._slots.values() for slot in each if slot.row.stops]
        return frozenset(name for slot in slots for name in (*slot.names, *slot.packets))

    def read(self, changes: Changes) -> PortLedger:
        tx, rx = (self._whole(direction, changes) for direction in DIRECTIONS)
        if self._rdma_packets and _stood_still(self._rdma_packets, changes):
            tx, rx = _kernel_s(tx, self._rdma_packets), _kernel_s(rx, self._rdma_packets)
        lost = changes.rise(f"net/{self.nic.name}/carrier_changes").count
        gone = changes.rise(f"net/{self.nic.name}/tx_bytes").remark == "unreadable"
        again = bool(lost) or gone or any(one.remark == "reset" for one in (*tx, *rx))
        return PortLedger(nic=self.nic, tx=tx, rx=rx, known=self._known_family, restarted=again)

    def _whole(self, direction: Direction, changes: Changes) -> list[LedgerEntry]:
        """Return the entries of one direction, with entries for uncounted traffic."""
        found = [*self._entries(direction, changes), *self._unread]
        if self.nic.rdma is not None and all(entry.carrier == "kernel" for entry in found):
            found.append(_uncounted("rdma", "no counter for its RDMA exists"))
        return found

    def _entries(self, direction: Direction, changes: Changes) -> Iterable[LedgerEntry]:
        """Return the first readable row of each carrier and level, late and up-to-date rows
        separately.

        If none is readable, return the first unreadable row; among lower bounds, return the
        highest.
        """
        found: dict[tuple[str, str, bool], LedgerEntry] = {}
        for slot in self._slots[direction]:
            known = found.get((slot.row.carrier, slot.row.level, False))
            if known is not None and _speaks(known) and known.quality != "lower-bound":
                continue
            entry = self._entry(slot, changes)
            if entry is None:
                continue
            key = (entry.carrier, entry.level, entry.quality == "stale")
            if _is_better(entry, found.get(key)):
                found[key] = entry
        telling = {key[:2] for key, one in found.items() if _speaks(one)}
        kept = [one for key, one in found.items() if _speaks(one) or key[:2] not in telling]
        return _heard([self._counting(one, kept, changes) for one in kept])

    def _counting(
        self, entry: LedgerEntry, others: Iterable[LedgerEntry], changes: Changes
    ) -> LedgerEntry:
        """Turn a physical port's register at 0 into a lower bound if other counters of the port
        moved.

        This host may not be allowed to read it (a restricted function).
        """
        known = entry.quality == "exact" and _speaks(entry)
        if entry.level != "wire" or entry.bytes != 0.0 or not known:
            return entry
        stand = [changes.last(name) or 0 for one in others for name in one.counters]
        if max(stand) < _MOVED or any(changes.last(name) != 0 for name in entry.counters):
            return entry
        return msgspec.structs.replace(entry, quality="lower-bound", remark=STANDS_AT_0)

    def _entry(self, slot: _Slot, changes: Changes) -> LedgerEntry | None:
        found = {name: changes.rise(name, slot.row.width) for name in slot.names}
        rises = {name: rise for name, rise in found.items() if rise.remark != ABSENT}
        if not rises:
            return None
        packets = _packets(slot.packets, changes)
        lost = self._lost(slot, rises, changes)
        stuck = _is_stuck(_count(rises) * slot.row.unit, packets)
        if lost or stuck:
            remark = lost or f"{packets:.0f} packets were counted, but none of their bytes"
            pegged = stuck or lost == "saturated"
            return _unknown(slot.row, list(rises), packets, remark, pegged=pegged)
        return _on_wire(self._known(slot.row, rises, packets, changes), slot, changes)

    def _lost(self, slot: _Slot, rises: Mapping[str, Rise], changes: Changes) -> str:
        """Return why the counters prove nothing, or ""."""
        if self._foreign and not slot.names[0].startswith("net/"):
            return _FOREIGN
        if slot.row.pegs and any(slot.row.is_pegged(changes.last(name) or 0) for name in rises):
            return "saturated"
        return next((rise.remark for rise in rises.values() if rise.count is None), "")

    def _known(
        self, row: CounterRow, rises: Mapping[str, Rise], packets: float | None, changes: Changes
    ) -> LedgerEntry:
        background = sum(changes.background(name) for name in rises) * row.unit
        peaks = [peak for name in rises if (peak := changes.peak(name)) is not None]
        peaks = [] if _is_a_jump(sum(peaks), _count(rises), row.refresh_ms) else peaks
        refresh = row.refresh_ms if row.refresh_ms > AT_ONCE_MS else 0.0
        late = _is_late(refresh, changes)
        quality, remark = self._quality(row, rises, late=late)
        if row.stops and (self._whole_run_known or not late) and self._stand_still(changes):
            quality, remark = "lower-bound", f"no counter of the port moved, as with {row.stops}"
        return LedgerEntry(
            carrier=row.carrier,
            level=row.level,
            quality=quality,
            remark=SILENT if all(one.remark == SILENT for one in rises.values()) else remark,
            packets=packets,
            bytes=max(0.0, _count(rises) * row.unit - background),
            background=background,
            peak_bytes_per_s=sum(peaks) * row.unit if peaks else None,
            counters=list(rises),
            refresh_ms=refresh,
            wrap_bytes=float(_32_BITS * row.unit) if row.width == 32 and not row.pegs else None,
        )

    def _stand_still(self, changes: Changes) -> bool:
        """Return whether none of the counters that one setting stops moved, in this interval or
        over the run.
        """
        return bool(self._stoppable) and not any(changes.rise(one).count for one in self._stoppable)

    def _quality(
        self, row: CounterRow, rises: Mapping[str, Rise], *, late: bool
    ) -> tuple[Quality, str]:
        if any(rise.remark == "wrapped" for rise in rises.values()):
            return "wrapped", "wrapped once"
        if late:
            return "stale", f"refreshed every {row.refresh_ms:g} ms"
        if row.payload_only or row.quality != "exact":
            return "lower-bound" if row.payload_only else row.quality, row.misses
        if self.nic.lower:
            return "double", f"counted again on {', '.join(self.nic.lower[:4])}"
        return "exact", ""


def _is_better(entry: LedgerEntry, known: LedgerEntry | None) -> bool:
    """Return whether ``entry`` replaces the entry of an earlier row of the catalogue."""
    if known is None or not _speaks(entry) or not _speaks(known):
        return known is None or _speaks(entry)
    bounds = entry.quality == known.quality == "lower-bound"
    return bounds and (entry.bytes or 0.0) > (known.bytes or 0.0)


def _on_wire(entry: LedgerEntry, slot: _Slot, changes: Changes) -> LedgerEntry:
    """Subtract the bytes that the adapter's switch certainly returned. These are the returned bytes
    of both directions beyond the count of the other direction.
    """
    if not slot.turned:  # as with most adapters
        return entry
    certain = _moved(slot.turned, changes) - _moved(slot.back, changes) * slot.row.unit
    seen = entry.bytes or 0.0
    if not seen or certain <= max(_TURNED_BYTES, _TURNED_SHARE * seen):
        return entry
    left = max(0.0, seen - certain)
    peak = entry.peak_bytes_per_s
    return msgspec.structs.replace(
        entry,
        bytes=left,
        packets=None,
        peak_bytes_per_s=None if peak is None else peak * left / seen,
        remark="the adapter's switch returned a part of it",
    )


def _moved(names: Iterable[str], changes: Changes) -> float:
    """Return counts less other traffic; 0 for counters without a value."""
    counts = ((changes.rise(name).count or 0) - changes.background(name) for name in names)
    return sum(max(0.0, count) for count in counts)


def _speaks(entry: LedgerEntry) -> bool:
    return entry.bytes is not None and entry.remark != SILENT


def _count(rises: Mapping[str, Rise]) -> int:
    return sum(rise.count or 0 for rise in rises.values())


def _is_stuck(count: float, packets: float | None) -> bool:
    """Return whether packets passed while almost no bytes were counted."""
    seen = packets or 0
    return seen > _STUCK_PACKETS and count < _STUCK_BYTES_PER_PACKET * seen


def _is_a_jump(peak: float, count: float, refresh_ms: float) -> bool:
    """Return whether a peak rate would move more than ``count`` between two refreshes.

    Then the counter rose at once by all bytes since its last refresh.
    """
    return refresh_ms > AT_ONCE_MS and peak * refresh_ms / 1e3 > _JUMP * count


def _is_late(refresh_ms: float, changes: Changes) -> bool:
    """Return whether the counter may include bytes from before the interval, or lack the last
    bytes."""
    return refresh_ms > changes.settled_ms and refresh_ms * 1e6 * _LATE_SHARE > changes.interval_ns


def _stood_still(names: Sequence[str], changes: Changes) -> bool:
    """Return whether these counters exist, did not rise, and the kernel's cache had expired."""
    return not _is_late(AT_ONCE_MS, changes) and all(
        (rise := changes.rise(name)).count == 0 and rise.remark != SILENT for name in names
    )


def _kernel_s(entries: Iterable[LedgerEntry], packets: Sequence[str]) -> list[LedgerEntry]:
    """Return the entries of an interface whose software RDMA moved no packet."""
    found = [
        msgspec.structs.replace(one, carrier="kernel")
        if (one.carrier, one.level) == ("any", "stack")
        else one
        for one in entries
    ]
    none = LedgerEntry(
        carrier="rdma",
        level="stack",
        quality="exact",
        bytes=0.0,
        packets=0.0,
        counters=list(packets),
    )
    return [*found, none]


def _heard(entries: Iterable[LedgerEntry]) -> list[LedgerEntry]:
    """Remove counters that may not exist: driver-specific ones, and standard ones if others of the
    same traffic moved.
    """
    kept = [one for one in entries if one.remark != SILENT or one.counters[0].endswith(_STANDARD)]
    moved = {one.carrier for one in kept if one.remark != SILENT}

    def shared(carrier: Carrier) -> bool:
        return bool(moved & {carrier, "any"}) or (carrier == "any" and bool(moved))

    return [one for one in kept if one.remark != SILENT or not shared(one.carrier)]


def _slot(row: CounterRow, nic: Nic, direction: Direction) -> _Slot:
    back = row.names("rx" if direction == "tx" else "tx") if row.turned else ()
    return _Slot(
        row,
        _filled(row.names(direction), nic),
        _filled(row.packets(direction), nic),
        _filled(back, nic),
        _filled(row.turned, nic),
    )


def _filled(templates: Iterable[str], nic: Nic) -> tuple[str, ...]:
    """Fill in the counters' names, without those of an interface or device that the port lacks."""
    device, port = (nic.rdma.device, nic.rdma.port) if nic.rdma is not None else ("", 0)
    bare = bool(device) and nic.name == f"{device}:{port}"
    lacking = (() if device else ("{device}", "{port}")) + (("{nic}",) if bare else ())
    return tuple(
        template.format(nic=nic.name, device=device, port=port)
        for template in templates
        if not any(word in template for word in lacking)
    )


def _packets(names: Sequence[str], changes: Changes) -> float | None:
    rises = [rise for name in names if (rise := changes.rise(name)).remark != ABSENT]
    if all(rise.remark == SILENT for rise in rises) or any(rise.count is None for rise in rises):
        return None
    return max(
        0.0,
        sum(rise.count or 0 for rise in rises) - sum(changes.background(name) for name in names),
    )


def _unknown(
    row: CounterRow, names: list[str], packets: float | None, remark: str, *, pegged: bool
) -> LedgerEntry:
    quality: Quality = "pegged" if pegged else "unreadable"
    return LedgerEntry(
        carrier=row.carrier,
        level=row.level,
        quality=quality,
        bytes=None,
        packets=packets,
        counters=names,
        remark=remark,
    )


def _unread(family: Family | None, nic: Nic, *, foreign: bool) -> Iterable[LedgerEntry]:
    """Yield entries for traffic that passes this port without a counter."""
    if family is not None and (nic.rdma is not None or family.deviceless):
        yield from (_uncounted(one, f"{family.name} has no counter for it") for one in family.blind)
    elif family is None and nic.rdma is not None:
        driver = nic.rdma.driver or nic.driver or "(none)"
        yield _uncounted("rdma", f"the driver {driver} is not in the catalogue")
    if (foreign or nic.hidden) and nic.kind in ("ethernet", "infiniband"):
        yield _uncounted("rdma", nic.hidden or _FOREIGN)


def _uncounted(carrier: Carrier, remark: str) -> LedgerEntry:
    return LedgerEntry(
        carrier=carrier, level="function", quality="unreadable", bytes=None, remark=remark
    )
