"""The byte ledger: what crossed each port of each host in an interval, by what carried it, and how
sure that is.

It is built from the counters alone, whatever was claimed. ``None`` means unknown, never zero.
"""

from typing import Literal

import msgspec

from wireproof.model.record import Nic

Direction = Literal["tx", "rx"]
DIRECTIONS: tuple[Direction, Direction] = ("tx", "rx")
Carrier = Literal["kernel", "rdma", "psm", "any"]
"""What carried the bytes: the kernel's TCP/UDP, RDMA, PSM, or everything that the counter cannot
tell apart.
"""
Level = Literal["wire", "function", "stack"]
"""``wire``: counted at the physical port. ``function``: a virtual port of the adapter, where
traffic that the adapter's own switch turned round counts too. ``stack``: the kernel's interface.
"""
LEVELS: tuple[Level, ...] = ("wire", "function", "stack")
"""The strongest first."""
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
"""The best first."""


class LedgerEntry(msgspec.Struct, frozen=True, kw_only=True):
    """Bytes and packets of one carrier in one direction, less the ``background`` bytes that are not
    the payload's.

    ``counters``: what was read. ``remark``: why the quality is what it is. ``peak_bytes_per_s``:
    the highest rate between two readings. ``refresh_ms``: how late the counter may be (0: at once).
    ``wrap_bytes``: what a counter of 32 bits loses each time that it passes its end.
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
    """One port: its entries by direction; several carriers are parts of the whole unless one is
    ``any``.
    """

    nic: Nic
    tx: list[LedgerEntry]
    rx: list[LedgerEntry]
    known: bool = True

    def entries(self, direction: Direction) -> list[LedgerEntry]:
        """The entries of one direction."""
        return self.tx if direction == "tx" else self.rx


class Ledger(msgspec.Struct, frozen=True, kw_only=True):
    """One host (network namespace) over one interval."""

    host: str
    interval_ns: float
    ports: dict[str, PortLedger]
