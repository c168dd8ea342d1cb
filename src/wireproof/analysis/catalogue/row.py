"""The shape of a catalogue row: one counter (or a sum of counters) of one kind of port."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from wireproof.model.ledger import Carrier, Direction, Level, Quality
from wireproof.model.record import Nic

__all__ = ["Family", "Function", "Row", "Where", "link_layer_of"]

Where = Literal["ethernet", "infiniband", "any"]
Function = Literal["physical", "virtual", "scalable", "unsaid", "any"]


@dataclass(frozen=True)
class Row:
    """``tx``, ``rx``: names of counters to add up, with ``{nic}``, ``{device}`` and ``{port}`` to
    be filled in, in the engine's spelling (``net/{nic}/tx_bytes``, ``ethtool/{nic}/tx_bytes_phy``,
    ``ib/{device}/{port}/counters/...``).

    ``unit``: bytes per count. ``carrier``: what the count includes; ``misses``: what it does not,
    in words. ``payload_only``: headers of the wire are not in it. ``width``: bits; ``pegs``: it
    stops at its largest value and does not wrap. ``refresh_ms``: how old the value may be.
    ``where``: link layer of the port; ``function``: of SR-IOV (``unsaid``: the kernel does not say,
    as of a virtual function in a guest). ``packets_tx``, ``packets_rx``: counters of the same
    traffic's packets. ``source``: where this is known from; it has ``unchecked:`` before what
    nobody has read in the driver. ``quality``: ``lower-bound`` where a part may be missing (too
    little is then no evidence of absence), ``double`` where a part may be in it twice. ``fcs``: the
    4 bytes of each frame's check sequence are in it; None: not known. ``stops``: the setting with
    which it stands still whatever crosses; where nothing of the port moved, it says nothing.
    ``turned``: counters of the bytes of both directions, among these, that the adapter's own switch
    turned round.
    """

    tx: tuple[str, ...]
    rx: tuple[str, ...]
    carrier: Carrier
    level: Level
    source: str
    unit: int = 1
    packets_tx: tuple[str, ...] = ()
    packets_rx: tuple[str, ...] = ()
    misses: str = ""
    payload_only: bool = False
    width: int = 64
    pegs: bool = False
    refresh_ms: float = 0.0
    where: Where = "any"
    function: Function = "any"
    quality: Quality = "exact"
    fcs: bool | None = None
    stops: str = ""
    turned: tuple[str, ...] = ()

    def names(self, direction: Direction) -> tuple[str, ...]:
        """Templates of the byte counters of one direction."""
        return self.tx if direction == "tx" else self.rx

    def packets(self, direction: Direction) -> tuple[str, ...]:
        """Templates of the packet counters of one direction; empty when there are none."""
        return self.packets_tx if direction == "tx" else self.packets_rx

    def fits(self, nic: Nic) -> bool:
        """Whether this row is for a port of this link layer and function."""
        return self.where in ("any", link_layer_of(nic)) and self.function in (
            "any",
            nic.function or "unsaid",
        )

    def is_pegged(self, value: int) -> bool:
        """True at the largest value exactly: a larger one shows that this adapter has the wide
        counter after all.
        """
        return self.pegs and value == 2**self.width - 1


def link_layer_of(nic: Nic) -> Where:
    """The RDMA port's link layer where it says one, else the interface's."""
    said = nic.rdma.link_layer.lower() if nic.rdma is not None else ""
    if said in ("ethernet", "infiniband"):
        return "infiniband" if said == "infiniband" else "ethernet"
    return "infiniband" if nic.kind == "infiniband" else "ethernet"


@dataclass(frozen=True)
class Family:
    """One kind of adapter: by the driver of the interface or of the RDMA device, never by a name
    that a user may give.

    ``drivers``: shell patterns, lower case; ``kinds``: the kernel's words for virtual interfaces
    (``link_kind``). ``rows``: the best first, per carrier; where the first of a carrier cannot be
    read, the next one serves. ``blind``: carriers that no counter of their own shows (``rdma`` of
    usNIC, of qedr): where no row of carrier ``any`` can be read, what they carry stays unproven.
    ``deviceless``: they pass it without a device in /sys/class/infiniband. ``stacked``: its bytes
    count again in the interfaces below. ``rdma_packets``: counters of the packets of its RDMA,
    whose bytes the interface has: where none of them moved, all were the kernel's. ``note``: what a
    reader of the documentation page should know.
    """

    name: str
    drivers: tuple[str, ...]
    rows: tuple[Row, ...]
    source: str
    blind: tuple[Carrier, ...] = ()
    stacked: bool = False
    note: str = ""
    kinds: tuple[str, ...] = ()
    deviceless: bool = False
    rdma_packets: tuple[str, ...] = ()

    @property
    def has_rdma(self) -> bool:
        """Whether the adapter itself does RDMA that the kernel's interface does not show."""
        return "rdma" in self.blind or any(
            "{device}" in name for row in self.rows for name in row.tx
        )

    def rows_for(self, nic: Nic) -> tuple[Row, ...]:
        """The rows that are for a port of this link layer and function, the best first."""
        return tuple(row for row in self.rows if row.fits(nic))
