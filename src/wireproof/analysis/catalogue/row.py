"""The shape of a catalogue row: one counter (or a sum of counters) of one kind of port."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from wireproof.model.ledger import Carrier, Direction, Level

__all__ = ["Family", "Row", "Where"]

Where = Literal["ethernet", "infiniband", "any"]
Function = Literal["physical", "virtual", "scalable", "any"]


@dataclass(frozen=True)
class Row:
    """``tx``, ``rx``: names of counters to add up, with ``{nic}``, ``{device}`` and ``{port}`` to be filled in, in the
    engine's spelling (``net/{nic}/tx_bytes``, ``ethtool/{nic}/tx_bytes_phy``, ``ib/{device}/{port}/counters/...``).

    ``unit``: bytes per count. ``carrier``: what the count includes; ``misses``: what it does not, in words.
    ``payload_only``: headers of the wire are not in it. ``width``: bits; ``pegs``: it stops at its largest value and
    does not wrap. ``refresh_ms``: how old the value may be. ``where``: link layer of the port; ``function``: of SR-IOV.
    ``packets_tx``, ``packets_rx``: counters of the same traffic's packets. ``source``: where this is known from.
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

    def names(self, direction: Direction) -> tuple[str, ...]:
        """Templates of the byte counters of one direction."""
        return self.tx if direction == "tx" else self.rx

    def packets(self, direction: Direction) -> tuple[str, ...]:
        """Templates of the packet counters of one direction; empty when there are none."""
        return self.packets_tx if direction == "tx" else self.packets_rx


@dataclass(frozen=True)
class Family:
    """One kind of adapter: by the driver of the interface or of the RDMA device, never by a name that a user may give.

    ``drivers``: shell patterns, lower case. ``rows``: the best first, per carrier. ``blind``: carriers that no counter
    of this family shows (``rdma`` of usNIC, of qedr): what they carry stays unproven. ``stacked``: its bytes count
    again in the interfaces below. ``note``: what a reader of the documentation page should know.
    """

    name: str
    drivers: tuple[str, ...]
    rows: tuple[Row, ...]
    source: str
    blind: tuple[Carrier, ...] = ()
    stacked: bool = False
    note: str = ""
