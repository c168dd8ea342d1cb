"""Shorthand for the rows that many drivers have alike."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from wireproof.analysis.catalogue.row import Row
from wireproof.model.ledger import Carrier, Level

__all__ = ["ethtool", "hw_counters", "netdev", "of_the_port", "port_data"]

WORD = 4
"""Bytes per count of InfiniBand's PortXmitData and PortRcvData (IB specification volume 1,
16.1.3.5).
"""


def netdev(source: str, carrier: Carrier = "kernel", level: Level = "stack", **more: Any) -> Row:
    """The kernel's statistics of the interface."""
    return Row(
        tx=("net/{nic}/tx_bytes",),
        rx=("net/{nic}/rx_bytes",),
        packets_tx=("net/{nic}/tx_packets",),
        packets_rx=("net/{nic}/rx_packets",),
        carrier=carrier,
        level=level,
        source=source,
        **more,
    )


def ethtool(
    tx: str, rx: str, source: str, carrier: Carrier = "any", level: Level = "wire", **more: Any
) -> Row:
    """Statistics of the driver; several names, divided by spaces, are added up."""
    places: dict[str, Any] = {
        key: _each("ethtool/{nic}/", more.pop(key, "")) for key in ("packets_tx", "packets_rx")
    }
    return Row(
        tx=_each("ethtool/{nic}/", tx),
        rx=_each("ethtool/{nic}/", rx),
        carrier=carrier,
        level=level,
        source=source,
        **places,
        **more,
    )


def of_the_port(row: Row) -> tuple[Row, Row]:
    """``row`` where the kernel says that the function is the physical one, and where it does not
    say.

    A virtual function may list the port's registers at 0, or not at all, and in a guest nothing
    says that it is one: there they are a lower bound.
    """
    return replace(row, function="physical"), replace(row, function="unsaid", quality="lower-bound")


def port_data(source: str, carrier: Carrier, level: Level, **more: Any) -> Row:
    """PortXmitData and PortRcvData of an RDMA port, 4-byte words unless ``unit`` says otherwise."""
    place = "ib/{device}/{port}/counters/"
    more.setdefault("unit", WORD)
    return Row(
        tx=(f"{place}port_xmit_data",),
        rx=(f"{place}port_rcv_data",),
        packets_tx=(f"{place}port_xmit_packets",),
        packets_rx=(f"{place}port_rcv_packets",),
        carrier=carrier,
        level=level,
        source=source,
        **more,
    )


def hw_counters(tx: str, rx: str, source: str, of_port: bool = True, **more: Any) -> Row:
    """``hw_counters`` of an RDMA port or device; the kernel keeps them for 10 ms unless
    ``lifespan`` was changed.
    """
    place = "ib/{device}/{port}/hw_counters/" if of_port else "ib/{device}/hw_counters/"
    places: dict[str, Any] = {
        key: _each(place, more.pop(key, "")) for key in ("packets_tx", "packets_rx")
    }
    values: dict[str, Any] = {"carrier": "rdma", "level": "function", "refresh_ms": 10.0}
    return Row(tx=_each(place, tx), rx=_each(place, rx), source=source, **places, **(values | more))


def _each(place: str, names: str) -> tuple[str, ...]:
    return tuple(place + name for name in names.split())
