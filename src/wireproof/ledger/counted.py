# pure
"""Add up the traffic of one port from its counters, counting each byte once. Pure.

The best evidence is a counter of the physical port that includes every carrier. Otherwise the parts
by carrier are added, and the sum is a lower bound if a part is not counted.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from wireproof.model.traffic import LEVELS, QUALITIES, Carrier, LedgerEntry, Level, Quality

_ABOUT_ALL = 0.8  # of the bytes: the peak of the rest is negligible
_HARDLY = 65_536.0  # bytes
_SMALLEST_FRAME = 40.0  # bytes, for counters that exclude the link's own header


@dataclass(frozen=True)
class Crossed:
    """Bytes in one direction.

    ``bytes`` None: nothing could be read. ``complete`` False: a carrier is not counted. ``inside``:
    the carriers' bytes beyond ``bytes`` of the whole; None if no counter shows more. ``by``: bytes
    by carrier, if counters separate them. ``level``, ``quality``: the weakest of the added parts.
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
        """Return the bytes of one carrier; None if no counter shows them."""
        return dict(self.by).get(carrier)


NOTHING = Crossed(None, remark="no counter exists for it")


def counted(entries: Sequence[LedgerEntry]) -> Crossed:
    """Add up one port alone."""
    whole = _first(entry for entry in entries if entry.carrier == "any")
    parts = _parts(entries)
    if whole is not None and whole.bytes is not None:
        return _with_whole(whole, whole.bytes, parts, entries)
    if parts.bytes is None:
        return _lost(entries)
    return parts if whole is None else _without_whole(whole, parts)


def _with_whole(
    whole: LedgerEntry, count: float, parts: Crossed, entries: Sequence[LedgerEntry]
) -> Crossed:
    """Return the traffic if there is a counter of all carriers in addition to counters of its
    parts."""
    complete = True
    if whole.quality == "lower-bound":
        rest = counted([entry for entry in entries if entry is not whole])
        with_background = count + whole.background
        if rest.bytes is not None and rest.bytes + rest.background > with_background:
            return rest
        # the other counters show that no more bytes crossed
        complete = rest.bytes is not None and rest.complete
    inside = parts.bytes if whole.level != "stack" and parts.complete else None
    found = Crossed(
        count,
        whole.packets,
        whole.background,
        whole.peak_bytes_per_s,
        whole.level,
        whole.quality,
        complete=complete,
        inside=inside,
        by=_apart(count, parts),
        counters=tuple(whole.counters),
        wrap_bytes=whole.wrap_bytes,
        remark=whole.remark,
    )
    return with_peak(found, parts)


def with_peak(whole: Crossed, parts: Crossed) -> Crossed:
    """Return ``whole`` with the peak of ``parts`` if it has none and they include almost all bytes.

    A driver's statistics take too long to read many times a second.
    """
    most = (parts.bytes or 0.0) >= _ABOUT_ALL * (whole.bytes or 0.0)
    known = whole.peak_bytes_per_s is not None or not most
    return whole if known else replace(whole, peak_bytes_per_s=parts.peak_bytes_per_s)


def _without_whole(whole: LedgerEntry, parts: Crossed) -> Crossed:
    """Use the parts instead of an unreadable whole, which would have included RDMA; the parts may
    not include it.
    """
    apart = len(parts.by) > 1 and parts.by[-1] != ("rdma", 0.0)
    return replace(parts, complete=apart, remark=whole.remark, quality=whole.quality)


def _apart(whole: float, parts: Crossed) -> tuple[tuple[Carrier, float], ...]:
    """Return bytes by carrier: without an RDMA counter, the bytes beyond the kernel's are
    RDMA's.
    """
    kernel = parts.carried("kernel")
    if kernel is None or len(parts.by) > 1:
        return parts.by
    return (*parts.by, ("rdma", max(0.0, whole - kernel)))


def _lost(entries: Sequence[LedgerEntry]) -> Crossed:
    if not entries:
        return NOTHING
    worst = max(entries, key=lambda entry: QUALITIES.index(entry.quality))
    return Crossed(None, quality=worst.quality, counters=tuple(worst.counters), remark=worst.remark)


def _first(entries: Iterable[LedgerEntry]) -> LedgerEntry | None:
    """Return the readable entry of the strongest level, or an unreadable one if none is
    readable.
    """
    ranked = sorted(entries, key=lambda entry: (entry.bytes is None, LEVELS.index(entry.level)))
    return ranked[0] if ranked else None


def _parts(entries: Sequence[LedgerEntry]) -> Crossed:
    """Add up the carriers that have separate counters."""
    found = []
    for carrier in ("kernel", "rdma", "psm"):
        part = counted_part([entry for entry in entries if entry.carrier == carrier])
        found += [part] if part is not None else []
    return added(found)


def counted_part(entries: Sequence[LedgerEntry]) -> Crossed | None:
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
    """Add parts that count different bytes. If a part is unreadable, the sum is a lower bound."""
    known = [part for part in parts if part.bytes is not None]
    lost = [part for part in parts if part.bytes is None]
    if not known:
        return lost[0] if lost else NOTHING
    if len(parts) == 1:
        return replace(known[0], packets=_packets(known[0]), by=_by_carrier(known, complete=True))
    remark = next((part.remark for part in (*lost, *known) if part.remark), "")
    return _sum(known, complete=not lost, remark=remark)


def _sum(parts: Sequence[Crossed], *, complete: bool, remark: str) -> Crossed:
    whole = _whole([part.bytes for part in parts])
    return Crossed(
        whole,
        _whole([_packets(part) for part in parts]),
        sum([part.background for part in parts]),
        _peak(parts, whole or 0.0),
        max([part.level for part in parts], key=LEVELS.index),
        max([part.quality for part in parts], key=QUALITIES.index),
        complete=complete and all(part.complete for part in parts),
        inside=_whole([part.inside for part in parts]),
        by=_by_carrier(parts, complete=complete),
        counters=tuple([name for part in parts for name in part.counters]),
        wrap_bytes=min(_known([part.wrap_bytes for part in parts]), default=None),
        remark=remark,
    )


def _peak(parts: Sequence[Crossed], whole: float) -> float | None:
    """Return the sum of the peaks; None if they cover only some of the bytes."""
    peaked = [part for part in parts if part.peak_bytes_per_s is not None]
    most = sum([part.bytes or 0.0 for part in peaked]) >= _ABOUT_ALL * whole
    return sum([part.peak_bytes_per_s or 0.0 for part in peaked]) if peaked and most else None


def _whole(values: Sequence[float | None]) -> float | None:
    """Return the sum; None if any value is unknown."""
    known = _known(values)
    return sum(known) if len(known) == len(values) else None


def _known(values: Iterable[float | None]) -> list[float]:
    return [value for value in values if value is not None]


def _by_carrier(parts: Sequence[Crossed], *, complete: bool) -> tuple[tuple[Carrier, float], ...]:
    """Return bytes by carrier.

    If all carriers are counted and only the kernel moved bytes, RDMA moved none.
    """
    by: dict[Carrier, float] = {}
    for part in parts:
        for carrier, count in part.by:
            by[carrier] = by.get(carrier, 0.0) + count
    alone = complete and list(by) == ["kernel"]
    return (*by.items(), ("rdma", 0.0)) if alone else tuple(by.items())


def _packets(part: Crossed) -> float | None:
    """Return the packets of a part; if they are not counted and almost no bytes moved, the maximum
    that these bytes allow. A counter that may have restarted does not show the number of bytes.
    """
    if part.packets is not None or part.bytes is None or part.wrap_bytes is not None:
        return part.packets
    return part.bytes / _SMALLEST_FRAME if part.bytes < _HARDLY else None
