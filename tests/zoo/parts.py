"""What a port of an adapter is made of: its files, what moves each of them and where in the adapter
they count.

All facts here are read from the drivers' sources (each adapter names its source), never from the
product's catalogue: the zoo and the catalogue check each other.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal

Carrier = Literal["kernel", "rdma", "psm"]
Level = Literal["wire", "function", "stack", "turned"]
Way = Literal["tx", "rx", "both"]
KERNEL = frozenset({"kernel"})
RDMA = frozenset({"rdma", "psm"})
ALL = KERNEL | RDMA


@dataclass(frozen=True)
class File:
    """One counter. ``path`` is in the engine's spelling with ``{nic}``, ``{device}`` and ``{port}``
    left open.

    ``counts``: the carriers whose traffic moves it. ``level``: ``wire`` files stand still when the
    adapter's own switch turns traffic round, and ``turned`` ones move then alone. ``unit``: bytes
    per count. ``header``: bytes counted per packet beside the payload. ``pegs``: it stops at its
    largest value. ``age_ms``: how old the value may be. ``stuck``: it is there and never moves.
    """

    path: str
    way: Way
    what: Literal["bytes", "packets"]
    counts: frozenset[str]
    level: Level
    unit: int = 1
    header: int = 0
    width: int = 64
    pegs: bool = False
    age_ms: float = 0.0
    stuck: bool = False

    def rise(self, payload: float, packets: float, carrier: str) -> float:
        """Counts for so much payload in so many packets."""
        return (
            packets
            if self.what == "packets"
            else (payload + packets * self.headers(carrier)) / self.unit
        )

    def headers(self, carrier: str) -> int:
        """Of one packet. The kernel's packets have IP and TCP (52 bytes) inside a fabric's own
        header.
        """
        fabric = self.path.endswith(("port_xmit_data", "port_rcv_data"))
        return self.header + 64 if fabric and carrier == "kernel" else self.header


@dataclass(frozen=True)
class Port:
    """One network interface, RDMA port, or both. ``identity``: what the adapter says of itself (see
    ``Nic.adapter``).

    ``dark``: carriers that this port can use and that none of its byte counters shows.
    """

    nic: str
    driver: str
    files: tuple[File, ...]
    kind: Literal["ethernet", "infiniband", "virtual", "loopback"] = "ethernet"
    device: str = ""
    ib_port: int = 1
    rdma_driver: str = ""
    link_layer: str = ""
    rate: str = ""
    speed_mbps: int | None = None
    mtu: int = 9000
    lower: tuple[str, ...] = ()
    master: str = ""
    link_kind: str = ""
    function: Literal["", "physical", "virtual", "scalable"] = ""
    identity: Mapping[str, str] = field(default_factory=dict)
    pci: str = ""
    subsystem: str = "pci"
    address: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """As the engine calls it."""
        return self.nic or f"{self.device}:{self.ib_port}"

    def spelled(self, file: File) -> str:
        """The file's name in the engine's spelling."""
        return file.path.format(nic=self.nic, device=self.device, port=self.ib_port)


@dataclass(frozen=True)
class Adapter:
    """``shares``: carrier -> port name -> share of the flow's bytes that its files see, (tx, rx).

    ``fast``: the carrier of a healthy fast run ("" where there is only the kernel's). ``turns``:
    two functions of it can talk through its own switch. ``rate``: bytes/s that the link can carry.
    ``unsure``: the driver does not say what its byte counter leaves out. ``eth0``: the host's
    management port if it is no usual adapter. ``source``: where the facts are from.
    """

    key: str
    title: str
    ports: tuple[Port, ...]
    claimed: str
    shares: Mapping[str, Mapping[str, tuple[float, float]]]
    source: str
    fast: Literal["", "rdma", "psm"] = ""
    turns: bool = False
    rate: float = 12.5e9
    known: bool = True
    unsure: bool = False
    eth0: Port | None = None

    def port(self, name: str) -> Port:
        return next(port for port in self.ports if port.name == name)

    @property
    def carrier(self) -> Carrier:
        """Of the healthy run that a user of this adapter wants."""
        return self.fast or "kernel"

    def speaks_kernel(self) -> bool:
        return "kernel" in self.shares


def alone(key: str, title: str, port: Port, source: str, **more: Any) -> Adapter:
    """An adapter whose only port is the claimed one and carries all of TCP, and of what is
    ``fast``. ``more``: what else an :class:`Adapter` has.
    """
    carriers = sorted({"kernel", more.get("fast") or "kernel"})
    shares = {carrier: {port.name: (1.0, 1.0)} for carrier in carriers}
    return Adapter(key, title, (port,), port.name, shares, source, **more)


of_rdma = partial(alone, fast="rdma", turns=True)
"""One whose functions reach each other by RDMA through its own switch."""


def both_directions(
    template: str,
    counts: frozenset[str],
    level: Level,
    *,
    names: tuple[str, str] = ("tx", "rx"),
    what: Literal["bytes", "packets"] = "bytes",
    **more: Any,
) -> tuple[File, File]:
    """A pair of files: ``template`` with ``{way}`` filled by the two names. ``more``: what else a
    :class:`File` has.
    """
    tx, rx = (template.replace("{way}", name) for name in names)
    return (
        File(tx, "tx", what, counts, level, **more),
        File(rx, "rx", what, counts, level, **more),
    )


def stuck(files: tuple[File, ...]) -> tuple[File, ...]:
    """The same files on a function that may not read the port's registers: there, and zero for
    ever.
    """
    return tuple(replace(file, stuck=True) for file in files)
