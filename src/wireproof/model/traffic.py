# pure
"""The traffic at the ports of every host while a command ran, and whether it explains the command's
output.

Bytes are payload and headers, as the ports count them. ``None`` means unknown, never zero.
"""

from typing import Literal

import msgspec

from wireproof.model.finding import Proof, Verdict
from wireproof.model.record import Nic
from wireproof.model.series import Reason

# --- The byte ledger: the bytes at each port of each host in an interval, by carrier, with the
# quality of each number.

Direction = Literal["tx", "rx"]
DIRECTIONS: tuple[Direction, Direction] = ("tx", "rx")
Carrier = Literal["kernel", "rdma", "psm", "any"]
"""The carrier of the bytes: the kernel's TCP/UDP, RDMA, PSM, or ``any`` if the counter does not
distinguish them.
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

    ``counters``: the counters that were read. ``remark``: the reason if the quality is not the
    best. ``peak_bytes_per_s``: the highest rate between two readings. ``refresh_ms``: maximum delay
    of the counter (0: never late). ``wrap_bytes``: bytes that a 32-bit counter loses each time it
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

    ``restarted``: its link went down, its interface disappeared or a counter was reset, so any of
    its counters may lack bytes.
    """

    nic: Nic
    tx: list[LedgerEntry]
    rx: list[LedgerEntry]
    known: bool = True
    restarted: bool = False

    def entries(self, direction: Direction) -> list[LedgerEntry]:
        """Return the entries of one direction."""
        return self.tx if direction == "tx" else self.rx


class Ledger(msgspec.Struct, frozen=True, kw_only=True):
    """One host (network namespace) over one interval."""

    host: str
    interval_ns: float
    ports: dict[str, PortLedger]

    @property
    def lower(self) -> dict[str, list[str]]:
        """The ports directly below each port."""
        return {name: port.nic.lower for name, port in self.ports.items()}


class WatchStart(msgspec.Struct, frozen=True, kw_only=True, tag_field="frame", tag="watch"):
    """First line of the engine's ``watch``: the host and namespace that the counters belong to."""

    schema: int
    hostname: str
    interval_ms: int
    engine: str = ""
    boot_id: str = ""
    netns: int = 0
    foreign_sysfs: bool = False
    nics: list[Nic] = msgspec.field(default_factory=list)


class Reading(msgspec.Struct, frozen=True, kw_only=True, tag_field="frame", tag="reading"):
    """Counters that changed since the previous reading. ``asked``: number of full readings
    requested so far.
    """

    t_ns: int
    counters: dict[str, int]
    asked: int = 0
    source: str = ""
    lost: list[str] = msgspec.field(default_factory=list)


class CounterMark(msgspec.Struct, frozen=True, kw_only=True):
    """All counters of one host at one moment of its clock, in the driver's units."""

    t_ns: int
    counters: dict[str, int]


class Watched(msgspec.Struct, frozen=True, kw_only=True):
    """One host with its readings. From ``start`` to ``before`` wireproof ran nothing; from
    ``before`` to ``after`` the command ran.

    ``peaks``: highest rate of each counter between two readings, in counts per second. ``fell``:
    counters that something reset while the command ran. ``aside``: readings in the quiet time
    before it and since its end, which show other traffic. ``gap_s``: longest time between two
    readings. ``settled_s``: time spent waiting for late counters. ``error``: the reason if the host
    was not watched.
    """

    host: str
    about: WatchStart | None = None
    start: CounterMark | None = None
    before: CounterMark | None = None
    after: CounterMark | None = None
    peaks: dict[str, float] = msgspec.field(default_factory=dict)
    fell: list[str] = msgspec.field(default_factory=list)
    aside: list[CounterMark] = msgspec.field(default_factory=list)
    gap_s: float = 0.0
    settled_s: float = 0.0
    error: str = ""


class DirectionTraffic(msgspec.Struct, frozen=True, kw_only=True):
    """One direction of one port. The ``background`` is already subtracted from ``bytes``; the
    larger it is, the less certain ``bytes`` is.
    """

    bytes: float | None
    background: float = 0.0
    peak_bytes_per_s: float | None = None
    counters: list[str] = msgspec.field(default_factory=list)
    trouble: str = ""


class PortTraffic(msgspec.Struct, frozen=True, kw_only=True):
    """One port. ``stacked``: a bond, bridge or VLAN, whose bytes another port counts too."""

    nic: str
    kind: str
    driver: str
    tx: DirectionTraffic
    rx: DirectionTraffic
    rdma: str = ""
    stacked: bool = False
    speed_bits_per_s: float | None = None


class HostTraffic(msgspec.Struct, frozen=True, kw_only=True):
    """One host.

    ``machine``: its kernel and network namespace, "" if unknown; two host names may be the same
    machine. ``ledger``: the content of every counter of every port; ``ports``: the part of it that
    reports show. ``retransmits``, ``drops``, ``pauses``: counters that rose, each with its
    increase.
    """

    host: str
    machine: str = ""
    seconds: float = 0.0
    ports: list[PortTraffic] = msgspec.field(default_factory=list)
    tcp_segments: int | None = None
    retransmits: dict[str, int] = msgspec.field(default_factory=dict)
    drops: dict[str, int] = msgspec.field(default_factory=dict)
    pauses: dict[str, int] = msgspec.field(default_factory=dict)
    gap_s: float = 0.0
    ledger: Ledger | None = None
    error: str = ""


class Traffic(msgspec.Struct, frozen=True, kw_only=True):
    """The traffic at the ports of all hosts. ``seconds``: duration of the command. ``idle_s``: time
    for which the background was measured before it. ``unwatched``: hosts in the command's output
    whose ports were not read.
    """

    hosts: list[HostTraffic]
    seconds: float
    idle_s: float
    interval_s: float
    unwatched: list[str] = msgspec.field(default_factory=list)

    @property
    def window_s(self) -> float:
        """The longest time between two readings of a port."""
        return max([self.interval_s, *(host.gap_s for host in self.hosts)])


class Printed(msgspec.Struct, frozen=True, kw_only=True):
    """The traffic that the command's printed numbers imply.

    ``least_bytes``: minimum number of bytes from one host, in the busier direction. ``counted``:
    derived from printed iterations, not only from one message per row. ``rate_bytes_per_s``: best
    printed goodput in one direction; ``lasted_s``: the minimum duration of that row, null if
    unknown. ``least_packets``: packets of messages that cannot be merged. ``bursts``: bytes and
    seconds of each row whose iterations are printed. ``most_bytes_per_s``: the maximum rate that
    any row can cause on a port in one direction, headers included; null if a row does not determine
    it. ``most_bytes``: bytes of all rows of ping-pongs and collectives in one direction, headers
    included, null without printed iterations. ``repeated_bytes``: bounds of the bytes in one
    direction if every row was repeated as printed, or as often as its tool does by default; null if
    the repetitions of a row are unknown, and for the upper bound of a collective whose number of
    processes is unknown. ``slowest_bytes_per_s``: the lowest rate of a host in the fastest row
    whose time implies no other rate of a port, as for collectives. ``arithmetic``: the derivation
    of the numbers.
    """

    least_bytes: float
    counted: bool
    rate_bytes_per_s: float | None = None
    lasted_s: float | None = None
    least_packets: float = 0.0
    bursts: list[tuple[float, float]] = msgspec.field(default_factory=list)
    most_bytes_per_s: float | None = None
    most_bytes: float | None = None
    repeated_bytes: tuple[float, float | None] | None = None
    slowest_bytes_per_s: float | None = None
    arithmetic: list[str] = msgspec.field(default_factory=list)


class TrafficVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """The verdict on a command. ``port``: the claimed port, or the port with the most traffic.
    ``crossed_bytes``: bytes on that port in the busier direction. ``level``, ``quality``: those of
    the evidence, in the ledger's terms.
    """

    proof: Proof
    verdict: Verdict
    reasons: list[Reason]
    port: str = ""
    crossed_bytes: float | None = None
    peak_bytes_per_s: float | None = None
    attainable_bytes_per_s: float | None = None
    printed: Printed | None = None
    derivation: list[str] = msgspec.field(default_factory=list)
    level: str = ""
    quality: str = ""
