# pure
"""Priority flow control according to the counters of hosts: the readings, and the conclusions that
``wireproof pfc`` draws from them.

Directions are the host's: a host sends ``tx`` pauses to its switch port (to stop traffic to itself)
and receives ``rx`` pauses from it. ``None`` means unknown, never zero.
"""

from typing import Literal

import msgspec

from wireproof.model.finding import Finding, Proof, Verdict
from wireproof.model.traffic import Direction, Watched

Answer = Literal["pass", "fail", "unproven", "quiet"]
"""``quiet``: the counters exist but did not move, because this port saw no pressure."""
CONDITIONS: dict[str, str] = {
    "no-drops": "no packet was dropped, sent or received",
    "xon-xoff": "Xoff and Xon counters both rose under pressure",
    "priority": "the pressure was in this priority alone",
    "link-pause": "link-level flow control is off",
}


class Count(msgspec.Struct, frozen=True, kw_only=True):
    """The increase of one counter, or of the sum of several. ``least``: ``value`` is a lower bound,
    because the counter restarted within the interval. ``remark``: the reason if the value is
    unknown or inexact.
    """

    value: int | None
    least: bool = False
    remark: str = ""
    counters: list[str] = msgspec.field(default_factory=list)

    @property
    def moved(self) -> bool | None:
        """True if the counter moved; None if unknown."""
        if self.value is None:
            return None
        return True if self.value > 0 else None if self.least else False


class Pauses(msgspec.Struct, frozen=True, kw_only=True):
    """One direction of one priority. A field is null if the driver has no such counter or the host
    does not show it. ``frames``: pause frames, Xoff and Xon together. ``resumes``: number of pauses
    that ended. ``paused_us``: duration of pauses in microseconds. ``load``: bytes or packets of
    this priority.
    """

    xoff: Count | None = None
    xon: Count | None = None
    frames: Count | None = None
    resumes: Count | None = None
    paused_us: Count | None = None
    load: Count | None = None

    @property
    def stopped(self) -> bool | None:
        """True if a pause was requested; None if unknown."""
        for one in (self.xoff, self.frames, self.paused_us):
            if one is not None and one.moved is not None:
                return one.moved
        return None

    @property
    def resumed(self) -> bool | None:
        """True if a frame ended a pause; None if no counter shows that."""
        for one in (self.xon, self.resumes):
            if one is not None and one.moved is not None:
                return one.moved
        return None

    @property
    def sent(self) -> Count | None:
        """The best available count of pause frames."""
        return self.xoff if self.xoff is not None else self.frames


class PriorityReading(msgspec.Struct, frozen=True, kw_only=True):
    priority: int
    tx: Pauses
    rx: Pauses

    @property
    def paused(self) -> bool:
        """True if a pause is known to have been sent or received."""
        return bool(self.tx.stopped or self.rx.stopped)


class Drop(msgspec.Struct, frozen=True, kw_only=True):
    """Packets that a port dropped. ``priority``: null for all priorities together. ``proves``: a
    value of 0 shows that no packet in this direction was dropped for lack of buffers.
    """

    direction: Direction
    count: Count
    priority: int | None = None
    proves: bool = True


class PfcReading(msgspec.Struct, frozen=True, kw_only=True):
    """One port over one interval.

    ``seconds``: 0 if unknown. ``lost``: RDMA packets that were resent or missed; ``resent``: TCP
    segments resent by the whole host. ``by_kernel``: the kernel's sockets carried part of the
    counted traffic; null: unknown. ``link``: pause frames of link-level flow control. ``storms``:
    the adapter's alarms. ``marks``: congestion notifications and marked packets (ECN). ``total``:
    PFC frames of all priorities together, if no counter separates them. ``before``: pauses also
    moved in the quiet second before the load. ``unison``: priorities of one traffic class are
    counted together. ``shown_when_on``: the driver lists the pauses of a priority only if PFC is on
    for it. ``late``: a sentence if counters are refreshed less often than
    the interval requires, otherwise "".
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
    """Configuration of one port as it was read; null: not read. ``lossless``: priorities with PFC
    on. ``willing``: the port adopts what the switch advertises (DCBX).
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
    """The origin of the traffic.

    ``kind``: ``incast``: generated by wireproof; ``command``: the user's command; ``none``: a
    running job was watched; ``stored``: two stored readings. ``receivers``: hosts that all others
    sent to in turn; ``senders``: number of senders at a time. ``proof``: the proof of the path of
    its payload, "" if unknown. ``trouble``: the reason if it did not finish, otherwise "".
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
    """The complete input of the judgement: ``--snapshot`` stores it and ``--from`` judges it again.
    ``nics``: the interface that the user named for each host. ``rate_bits_per_s``: the claimed line
    rate, which replaces the rate that the interfaces report.
    """

    version: int = 1
    hosts: list[Watched]
    settings: list[PfcSettings]
    load: PfcLoad
    nics: dict[str, str] = msgspec.field(default_factory=dict)
    rate_bits_per_s: float | None = None


class Headroom(msgspec.Struct, frozen=True, kw_only=True):
    """Buffer that a port of this speed and MTU needs per lossless priority, as ``wireproof plan
    pfc`` calculates it, in bytes: ``least_bytes`` with fast interfaces, ``most_bytes`` with the
    slowest that the standard allows.
    """

    speed_gbps: float
    mtu: int
    cable_m: float
    least_bytes: int
    most_bytes: int


class Condition(msgspec.Struct, frozen=True, kw_only=True):
    """One of ``CONDITIONS`` on one port. ``because``: one sentence; ``code``: the finding's code if
    the condition does not hold or is not proven.
    """

    name: str
    answer: Answer
    because: str
    code: str = ""
    counters: list[str] = msgspec.field(default_factory=list)


class PauseRate(msgspec.Struct, frozen=True, kw_only=True):
    """Pauses in one direction. ``frames``: number of frames (with ``least``, at least that many);
    ``paused_share``: share of the time that was paused, if the driver reports it.
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
    """The output of ``wireproof pfc --json``. ``pressure``: whether the load put the ports under
    pressure, shown by ``pressure_evidence``; null: unknown. ``limits``: facts that the counters
    cannot show.
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
