"""The files of ``nics/``: adapter families, the counters of their ports, and those of pauses."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Any, Literal

import msgspec

from wireproof.analysis.catalogue.row import Family, Function, Row, Where
from wireproof.model.ledger import Carrier, Level, Quality
from wireproof.model.packaged import packaged
from wireproof.model.toml import read_rows

__all__ = ["families", "families_in", "texts"]

FILES = (
    *("mellanox", "omnipath", "intel", "broadcom", "makers", "cloud", "live", "plain"),
    "virtual",
)
WORD = 4
"""Bytes per count of InfiniBand's PortXmitData and PortRcvData (IB specification volume 1,
16.1.3.5).
"""
_INTERFACE = {
    "tx": "tx_bytes",
    "rx": "rx_bytes",
    "packets_tx": "tx_packets",
    "packets_rx": "rx_packets",
    "carrier": "kernel",
    "level": "stack",
}
_PORT = {
    "tx": "port_xmit_data",
    "rx": "port_rcv_data",
    "packets_tx": "port_xmit_packets",
    "packets_rx": "port_rcv_packets",
    "unit": WORD,
}
_RDMA = {"carrier": "rdma", "level": "function", "refresh_ms": 10.0}
"""The kernel keeps ``hw_counters`` for 10 ms unless ``lifespan`` was changed."""
_PLACES: dict[str, tuple[str, dict[str, Any]]] = {
    "interface": ("net/{nic}/", _INTERFACE),
    "ethtool": ("ethtool/{nic}/", {"carrier": "any", "level": "wire"}),
    "port": ("ib/{device}/{port}/counters/", _PORT),
    "port-hw": ("ib/{device}/{port}/hw_counters/", _RDMA),
    "device-hw": ("ib/{device}/hw_counters/", _RDMA),
    "telemetry": ("cxi/{device}/", {}),
}
"""Where counters are, in the engine's spelling, and what holds there unless a row says more."""
_NAMES = ("tx", "rx", "packets_tx", "packets_rx")


class _Counters(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """``Row`` as a file has it: counters of ``of``, by their names there, divided by spaces.

    ``function = "physical-first"``: the port's registers. A virtual function may list them at 0 or
    not at all, and in a guest nothing says that it is one: if the kernel does not say which
    function this is, they are a lower bound.
    """

    of: Literal["interface", "ethtool", "port", "port-hw", "device-hw", "telemetry"]
    source: str
    tx: str = ""
    rx: str = ""
    packets_tx: str | None = None
    packets_rx: str | None = None
    carrier: Carrier | None = None
    level: Level | None = None
    unit: int | None = None
    misses: str = ""
    payload_only: bool = False
    width: int = 64
    pegs: bool = False
    refresh_ms: float | None = None
    where: Where = "any"
    function: Function | Literal["physical-first"] = "any"
    quality: Quality = "exact"
    fcs: bool | None = None
    stops: str = ""
    turned: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _, known = _PLACES[self.of]
        for name in ("tx", "rx", "carrier", "level"):
            if not getattr(self, name) and name not in known:
                raise ValueError(f"counters of {self.of!r} have no {name!r}")
        if len(self.tx.split()) != len(self.rx.split()):
            raise ValueError("'tx' and 'rx' name different numbers of counters")


class _Family(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    source: str
    counters: tuple[_Counters, ...] = ()
    drivers: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    blind: tuple[Carrier, ...] = ()
    stacked: bool = False
    deviceless: bool = False
    note: str = ""
    rdma_packets: tuple[str, ...] = ()


def texts() -> Iterator[tuple[str, str]]:
    """(text, name) of each file that comes with wireproof."""
    for name in FILES:
        yield packaged(__package__, f"nics/{name}.toml"), f"nics/{name}.toml"


@lru_cache(maxsize=1)
def families() -> tuple[Family, ...]:
    """All families that come with wireproof."""
    return tuple(family for text, name in texts() for family in families_in(text, name))


def families_in(text: str, source: str) -> tuple[Family, ...]:
    """The families of one file. Raises ``BadInput`` with ``source``, line and field."""
    found = read_rows(text, source, "family", _Family, beside=("pauses",))
    return tuple(_family(one) for one in found)


def _family(read: _Family) -> Family:
    rows = tuple(row for counters in read.counters for row in _rows(counters))
    kept = msgspec.structs.asdict(read)
    del kept["counters"]
    return Family(rows=rows, **kept)


def _rows(counters: _Counters) -> Iterator[Row]:
    place, values = _PLACES[counters.of]
    given = {
        name: value
        for name, value in msgspec.structs.asdict(counters).items()
        if value is not None and value != "" and name != "of"
    }
    values = values | given
    for key in _NAMES:
        values[key] = tuple(place + name for name in values.get(key, "").split())
    first = counters.function == "physical-first"
    if first:
        values["function"] = "physical"
    row = Row(**values)
    yield row
    if first:
        yield replace(row, function="unsaid", quality="lower-bound")
