"""The byte ledger: what crossed each port of each host in an interval, by carrier, with the quality
of each number.

It is built from the counters alone and does not depend on claims. ``None`` means unknown, never
zero.
"""

from typing import Literal

import msgspec

from wireproof.model.record import Nic

Direction = Literal["tx", "rx"]
DIRECTIONS: tuple[Direction, Direction] = ("tx", "rx")
Carrier = Literal["kernel", "rdma", "psm", "any"]
"""What carried the bytes: the kernel's TCP/UDP, RDMA, PSM, or ``any`` if the counter does not
distinguish.
"""
Level = Literal["wire", "function", "stack"]
"""``wire``: counted at the physical port. ``function``: counted at a virtual port of the adapter,
which also counts traffic that the adapter's internal switch returns. ``stack``: counted at the
kernel's interface.
"""
LEVELS: tuple[Level, ...] = ("wire", "function", "stack")
"""Strongest first."""
Quality = Literal["exact", "lower-bound", "double", "pegged", "wrapped", "stale", "unreadable"]
QUALITIES: tuple[Quality, ...] = (
    "exact",
    "lower-bound",
    "double",
    "stale",
    "wrapped",
    "pegged",
    "unreadable",
)
"""Best first."""


class LedgerEntry(msgspec.Struct, frozen=True, kw_only=True):
    """Bytes and packets of one carrier in one direction. ``background`` bytes, which do not belong
    to the payload, are already subtracted.

    ``counters``: the counters that were read. ``remark``: why the quality is not better.
    ``peak_bytes_per_s``: the highest rate between two readings. ``refresh_ms``: how late the
    counter may be (0: never late). ``wrap_bytes``: bytes that a 32-bit counter loses each time it
    wraps.
    """

    carrier: Carrier
    level: Level
    quality: Quality
    bytes: float | None
    packets: float | None = None
    background: float = 0.0
    peak_bytes_per_s: float | None = None
    counters: list[str] = msgspec.field(default_factory=list)
    refresh_ms: float = 0.0
    wrap_bytes: float | None = None
    remark: str = ""


class PortLedger(msgspec.Struct, frozen=True, kw_only=True):
    """One port: its entries by direction. Several carriers are parts of the total, unless one of
    them is ``any``.
    """

    nic: Nic
    tx: list[LedgerEntry]
    rx: list[LedgerEntry]
    known: bool = True

    def entries(self, direction: Direction) -> list[LedgerEntry]:
        """Return the entries of one direction."""
        return self.tx if direction == "tx" else self.rx


class Ledger(msgspec.Struct, frozen=True, kw_only=True):
    """One host (network namespace) over one interval."""

    host: str
    interval_ns: float
    ports: dict[str, PortLedger]
