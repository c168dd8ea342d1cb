"""What crossed the ports of every host while some command ran, and whether it explains what the
command printed.

Bytes are payload and headers, as the ports count them. ``None`` means unknown, never zero.
"""

import msgspec

from wireproof.model.finding import Proof, Verdict
from wireproof.model.ledger import Ledger
from wireproof.model.record import Nic
from wireproof.model.series import Reason


class WatchStart(msgspec.Struct, frozen=True, kw_only=True, tag_field="frame", tag="watch"):
    """First line of the engine's ``watch``: whose counters these are."""

    schema: int
    hostname: str
    interval_ms: int
    engine: str = ""
    boot_id: str = ""
    netns: int = 0
    foreign_sysfs: bool = False
    nics: list[Nic] = msgspec.field(default_factory=list)


class Reading(msgspec.Struct, frozen=True, kw_only=True, tag_field="frame", tag="reading"):
    """Counters that changed since the reading before; ``asked`` counts the full readings that were
    asked for.
    """

    t_ns: int
    counters: dict[str, int]
    asked: int = 0
    source: str = ""
    lost: list[str] = msgspec.field(default_factory=list)


class CounterMark(msgspec.Struct, frozen=True, kw_only=True):
    """All counters of one host at one moment of its own clock, in the driver's units."""

    t_ns: int
    counters: dict[str, int]


class Watched(msgspec.Struct, frozen=True, kw_only=True):
    """One host between the readings: ``start`` to ``before`` nothing of ours ran, ``before`` to
    ``after`` the command.

    ``peaks``: highest rate of each counter between two readings, counts per second. ``gap_s``: the
    longest time between two readings. ``settled_s``: how long was waited for late counters.
    ``error``: why it was not watched.
    """

    host: str
    about: WatchStart | None = None
    start: CounterMark | None = None
    before: CounterMark | None = None
    after: CounterMark | None = None
    peaks: dict[str, float] = msgspec.field(default_factory=dict)
    gap_s: float = 0.0
    settled_s: float = 0.0
    error: str = ""


class DirectionTraffic(msgspec.Struct, frozen=True, kw_only=True):
    """One direction of one port. ``bytes`` has the ``background`` subtracted, which is as uncertain
    as it is large.
    """

    bytes: float | None
    background: float = 0.0
    peak_bytes_per_s: float | None = None
    counters: list[str] = msgspec.field(default_factory=list)
    trouble: str = ""


class PortTraffic(msgspec.Struct, frozen=True, kw_only=True):
    """``stacked``: a bond, bridge or VLAN, whose bytes another port counts too."""

    nic: str
    kind: str
    driver: str
    tx: DirectionTraffic
    rx: DirectionTraffic
    rdma: str = ""
    stacked: bool = False
    speed_bits_per_s: float | None = None


class HostTraffic(msgspec.Struct, frozen=True, kw_only=True):
    """One host. ``machine`` is its kernel and network namespace, "" unknown: two names may be one
    machine.

    ``ledger``: what every counter says of every port; ``ports`` shows of it what a person looks at.
    The troubles are counters that rose: name to how much.
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
    """``seconds``: of the command. ``idle_s``: how long the background was looked at before it.

    ``unwatched``: hosts that the command's output names and whose ports nobody read.
    """

    hosts: list[HostTraffic]
    seconds: float
    idle_s: float
    interval_s: float
    unwatched: list[str] = msgspec.field(default_factory=list)


class Printed(msgspec.Struct, frozen=True, kw_only=True):
    """What the command's own numbers claim to have moved.

    ``least_bytes``: in the busier direction, from one host, at least. ``counted``: from printed
    iterations, not only one message per row. ``rate_bytes_per_s``: best printed goodput in one
    direction; ``lasted_s``: how long the row that has it must have taken, None when unknown.
    ``least_packets``: of messages that cannot be merged. ``bursts``: of each row whose iterations
    are printed, its bytes and its seconds. ``most_bytes_per_s``: what any row can put on a port in
    one direction, headers included, None if a row does not say. ``most_bytes``: of all rows of a
    ping-pong in one direction, headers included, None without printed iterations. ``arithmetic``:
    where the numbers come from.
    """

    least_bytes: float
    counted: bool
    rate_bytes_per_s: float | None = None
    lasted_s: float | None = None
    least_packets: float = 0.0
    bursts: list[tuple[float, float]] = msgspec.field(default_factory=list)
    most_bytes_per_s: float | None = None
    most_bytes: float | None = None
    arithmetic: list[str] = msgspec.field(default_factory=list)


class TrafficVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """``port``: the claimed one, or the one that carried most. ``crossed_bytes``: on it, in the
    busier direction.

    ``level``, ``quality``: of the evidence, in the ledger's words.
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
