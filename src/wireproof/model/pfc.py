"""Priority flow control as the counters of hosts show it: the readings that are judged, and what
``wireproof pfc`` says of them.

Directions are the host's: ``tx`` pauses are those that the host sends to its switch port (it asks
to be sent nothing), ``rx`` pauses those that its switch port sends to it. ``None`` means unknown,
never zero.
"""

from typing import Literal

import msgspec

from wireproof.model.finding import Finding, Proof, Verdict
from wireproof.model.ledger import Direction
from wireproof.model.traffic import Watched

Answer = Literal["pass", "fail", "unproven", "quiet"]
"""``quiet``: the counters are there and nothing moved: this port had no pressure to show it by."""
CONDITIONS: dict[str, str] = {
    "no-drops": "no packet was dropped, sent or received",
    "xon-xoff": "Xoff and Xon both moved where there was pressure",
    "priority": "the pressure was in this priority alone",
    "link-pause": "link-level flow control is off",
}


class Count(msgspec.Struct, frozen=True, kw_only=True):
    """How much one counter (or the sum of several) rose. ``least``: ``value`` is a lower bound
    (it began anew within the interval). ``remark``: why it is not known, or not exactly.
    """

    value: int | None
    least: bool = False
    remark: str = ""
    counters: list[str] = msgspec.field(default_factory=list)

    @property
    def moved(self) -> bool | None:
        """None: not known."""
        if self.value is None:
            return None
        return True if self.value > 0 else None if self.least else False


class Pauses(msgspec.Struct, frozen=True, kw_only=True):
    """One direction of one priority; None: the driver has no such counter, or this host does not
    show it. ``frames``: pause frames, Xoff and Xon together. ``resumes``: how often a pause ended.
    ``paused_us``: microseconds of pause. ``load``: bytes or packets of this priority's traffic.
    """

    xoff: Count | None = None
    xon: Count | None = None
    frames: Count | None = None
    resumes: Count | None = None
    paused_us: Count | None = None
    load: Count | None = None

    @property
    def stopped(self) -> bool | None:
        """Whether a pause was asked for; None: not known."""
        for one in (self.xoff, self.frames, self.paused_us):
            if one is not None and one.moved is not None:
                return one.moved
        return None

    @property
    def resumed(self) -> bool | None:
        """Whether a pause was taken back by a frame; None: nothing counts that."""
        for one in (self.xon, self.resumes):
            if one is not None and one.moved is not None:
                return one.moved
        return None

    @property
    def sent(self) -> Count | None:
        """The best count of pause frames."""
        return self.xoff if self.xoff is not None else self.frames


class PriorityReading(msgspec.Struct, frozen=True, kw_only=True):
    priority: int
    tx: Pauses
    rx: Pauses

    @property
    def paused(self) -> bool:
        """A pause is known to have been sent or received."""
        return bool(self.tx.stopped or self.rx.stopped)


class Drop(msgspec.Struct, frozen=True, kw_only=True):
    """Packets that a port lost. ``priority``: of these alone; None: of all of them together.
    ``proves``: at 0 it shows that nothing was lost for want of buffers in this direction.
    """

    direction: Direction
    count: Count
    priority: int | None = None
    proves: bool = True


class PfcReading(msgspec.Struct, frozen=True, kw_only=True):
    """One port over one interval. ``seconds``: 0 where it is not known. ``lost``: packets of RDMA
    that were sent again or missed; ``resent``: segments of TCP, of the whole host. ``by_kernel``:
    the kernel's sockets carried a part of the traffic that counts; None: not known. ``link``: pause
    frames of link-level flow control. ``storms``: the adapter's own alarms. ``marks``:
    congestion notifications and marked packets (ECN). ``total``: PFC frames of all priorities
    together, where no counter tells them apart. ``before``: pauses moved in the
    quiet second before the load, too. ``unison``: priorities of one traffic class count together.
    ``shown_when_on``: the driver lists pauses of a priority only where its PFC is on. ``late``:
    refreshed less often than the interval allows.
    """

    host: str
    nic: str
    driver: str
    family: str = ""
    speed_bits_per_s: float | None = None
    mtu: int | None = None
    seconds: float = 0.0
    priorities: list[PriorityReading] = msgspec.field(default_factory=list)
    drops: list[Drop] = msgspec.field(default_factory=list)
    lost: list[Count] = msgspec.field(default_factory=list)
    resent: Count | None = None
    by_kernel: bool | None = None
    link: list[Count] = msgspec.field(default_factory=list)
    storms: list[Count] = msgspec.field(default_factory=list)
    marks: list[Count] = msgspec.field(default_factory=list)
    total: list[Count] = msgspec.field(default_factory=list)
    tx_bytes: float | None = None
    rx_bytes: float | None = None
    rx_peak_bytes_per_s: float | None = None
    before: bool = False
    unison: bool = False
    shown_when_on: bool = False
    late: str = ""

    def of(self, priority: int) -> PriorityReading:
        return self.priorities[priority]


class PfcSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What is configured on one port, as it was read; None: not read. ``lossless``: priorities that
    PFC is on for. ``willing``: whether the port takes what the switch says (DCBX).
    """

    host: str
    nic: str
    lossless: list[int] | None = None
    link_rx: bool | None = None
    link_tx: bool | None = None
    traffic_class: int | None = None
    trust: str = ""
    willing: bool | None = None
    sources: list[str] = msgspec.field(default_factory=list)


class PfcLoad(msgspec.Struct, frozen=True, kw_only=True):
    """What made the traffic. ``kind``: ``incast`` is our own, ``command`` the user's, ``none`` a
    job that was watched, ``stored`` a pair of stored readings. ``receivers``: hosts of our own load
    that all others sent to, each in its turn; ``senders``: how many at once.
    ``proof``: whether its payload crossed the claimed port, by its own evidence; "" unknown.
    ``trouble``: why it did not run to its end; "" where it did.
    """

    kind: Literal["incast", "command", "none", "stored"]
    receivers: list[str] = msgspec.field(default_factory=list)
    senders: int = 0
    seconds: float = 0.0
    exit_status: int | None = None
    transport: str = ""
    proof: Proof | Literal[""] = ""
    trouble: str = ""


class PfcRecord(msgspec.Struct, frozen=True, kw_only=True, tag_field="schema", tag="wireproof.pfc"):
    """All that is judged; ``--snapshot`` keeps it and ``--from`` judges it again. ``nics``: the
    interface that was named, by host. ``rate_bits_per_s``: the claimed line rate, in place of what
    interfaces say of themselves.
    """

    version: int = 1
    hosts: list[Watched]
    settings: list[PfcSettings]
    load: PfcLoad
    nics: dict[str, str] = msgspec.field(default_factory=dict)
    rate_bits_per_s: float | None = None


class Headroom(msgspec.Struct, frozen=True, kw_only=True):
    """What a port of this speed and MTU needs per lossless priority, by ``wireproof plan pfc``:
    bytes with fast interfaces, and with the slowest that the standard allows.
    """

    speed_gbps: float
    mtu: int
    cable_m: float
    least_bytes: int
    most_bytes: int


class Condition(msgspec.Struct, frozen=True, kw_only=True):
    """One of ``CONDITIONS`` on one port: ``because`` is one sentence, ``code`` the finding's where
    it does not hold or is not proven.
    """

    name: str
    answer: Answer
    because: str
    code: str = ""
    counters: list[str] = msgspec.field(default_factory=list)


class PauseRate(msgspec.Struct, frozen=True, kw_only=True):
    """Pauses of one direction: how many frames (``least``: or more), per second, and the share of
    the time that was paused, where the driver has it.
    """

    frames: int | None = None
    least: bool = False
    xon: int | None = None
    per_second: float | None = None
    paused_share: float | None = None


class PfcPort(msgspec.Struct, frozen=True, kw_only=True):
    """One port judged for one priority."""

    host: str
    nic: str
    driver: str
    priority: int | None
    answer: Answer
    conditions: list[Condition]
    tx: PauseRate
    rx: PauseRate
    dropped: int | None = None
    receives: bool = False


class PfcReport(msgspec.Struct, frozen=True, kw_only=True):
    """What ``wireproof pfc --json`` prints. ``pressure``: whether the load made any, with what
    shows it; None: that is not known. ``idle``: ports that sent or got pauses before the load.
    """

    verdict: Verdict
    priority: int | None
    priority_from: str
    load: PfcLoad
    pressure: bool | None
    pressure_evidence: list[str]
    ports: list[PfcPort]
    findings: list[Finding]
    settings: list[PfcSettings]
    headroom: list[Headroom] = msgspec.field(default_factory=list)
    limits: list[str] = msgspec.field(default_factory=list)
