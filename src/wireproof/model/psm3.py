# pure
"""Report of PSM3 (or PSM2): its identity, the settings that it uses, and its counters.

Counts and bytes are as the library prints them, totals since the process began. ``line`` numbers
count from 1 in the text that was read. ``None`` means that the text does not state it, never zero.
"""

from typing import Literal

import msgspec

from wireproof.model.finding import Finding, Proof, Verdict

NOT_SAID = "not said"
"""The value of a setting that the output does not mention."""
Kind = Literal["observed", "taken", "given", "not said"]
"""Degrees of certainty about a value. ``observed``: the behaviour of the library. ``taken``: the
value that the library reports it has parsed. ``given``: the text of the variable, repeated; the
library may have parsed another value.
"""


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """One setting as the output shows it. ``line``: the line that states it, "" if none does;
    ``source``: the text (``identify``, or the name of a statistics file); ``who``: the process.
    """

    setting: str
    value: str
    kind: Kind
    line: str = ""
    number: int = 0
    source: str = ""
    who: str = ""


class LibrarySetting(msgspec.Struct, frozen=True, kw_only=True):
    """A variable as the library prints it. ``kind``: ``taken`` or ``given``. ``default``: the text
    after ``default was``; ``forced``: a higher layer set it (``*``); ``refused``: the requested
    value if it is invalid.
    """

    name: str
    value: str
    kind: Kind
    line: int
    default: str | None = None
    forced: bool = False
    refused: str = ""
    who: str = ""


class Rail(msgspec.Struct, frozen=True, kw_only=True):
    """One NIC that an endpoint uses. ``ports``: the numbers after ``TCP=``, ``UDP=``, ``QP=``.
    ``mbps``: the speed that the library assumes; ``numa_node``: -1 if the library does not know
    it.
    """

    unit: int
    name: str
    port: int
    mbps: int
    numa_node: int
    address: str
    ports: dict[str, int]
    line: int
    loopback: bool = False
    srq: bool = False


class Identity(msgspec.Struct, frozen=True, kw_only=True):
    """One process according to its identify lines.

    ``label``: the beginning of these lines (``n1:rank0``). ``hal``: ``sockets`` or ``verbs``;
    ``flavour``: the text in parentheses after it. ``path``: ``shm`` or ``self`` for an endpoint
    without a NIC. ``lines``: the line number for each item.
    """

    label: str
    host: str = ""
    rank: int | None = None
    ranks: int | None = None
    local_rank: int | None = None
    local_ranks: int | None = None
    version: str = ""
    build: str = ""
    location: str = ""
    hal: str = ""
    flavour: str = ""
    pid: int | None = None
    path: str = ""
    rails: list[Rail] = msgspec.field(default_factory=list)
    warnings: dict[int, str] = msgspec.field(default_factory=dict)
    lines: dict[str, int] = msgspec.field(default_factory=dict)


class CounterSection(msgspec.Struct, frozen=True, kw_only=True):
    """The counters of one group. ``endpoint``: the text after ``id``; ``nic``: the text after the
    endpoint. The library omits counters that are zero unless it was asked to print them.
    """

    heading: str
    counters: dict[str, int]
    line: int
    endpoint: str = ""
    nic: str = ""
    thread: int | None = None


class Statistics(msgspec.Struct, frozen=True, kw_only=True):
    """One process according to its statistics file: the last value of every counter.

    ``blocks``: number of times that counters were printed; ``seconds``: time of the last.
    ``library``: ``psm3`` or ``psm2``; ``checked`` False: no real file of this layout has been seen.
    ``doubts``: contradictions within the file, one sentence each. ``complete`` False: the file may
    be cut off.
    """

    source: str
    library: Literal["psm3", "psm2"]
    layout: str
    host: str
    pid: int | None
    identity: Identity
    settings: list[LibrarySetting]
    sections: list[CounterSection]
    blocks: int
    seconds: int | None
    complete: bool = True
    checked: bool = True
    zeros: bool = False
    program: str = ""
    job: str = ""
    doubts: list[str] = msgspec.field(default_factory=list)

    @property
    def who(self) -> str:
        """Return ``n1 rank 0``, or as much of it as is known."""
        rank = self.identity.rank
        label = f"rank {rank}" if rank is not None else f"pid {self.pid}" if self.pid else ""
        return " ".join(part for part in (self.host, label) if part) or self.source


class NicCounted(msgspec.Struct, frozen=True, kw_only=True):
    """The library's counters for one NIC: payload bytes of its messages, without headers.

    ``packets``: at least this many were sent. ``again``: packets sent again. ``losses``: replies
    that report a gap. ``late``: queries sent because an answer did not arrive in time. ``stalls``:
    sends that waited for credits. ``rdma_bytes`` and ``long_bytes``: bytes of rendezvous messages,
    by RDMA and by packets.
    """

    name: str
    sent_bytes: int = 0
    received_bytes: int = 0
    packets: int = 0
    again: int = 0
    losses: int = 0
    late: int = 0
    stalls: int = 0
    rdma_bytes: int = 0
    long_bytes: int = 0
    errors: dict[str, int] = msgspec.field(default_factory=dict)


class _Bytes(msgspec.Struct, frozen=True, kw_only=True):
    """Messages and payload bytes by path, null if the layout does not contain them."""

    host: str
    sent: int = 0
    sent_bytes: int = 0
    received_bytes: int = 0
    shm_bytes: int | None = None
    self_bytes: int | None = None
    nic_bytes: int | None = None
    nics: list[NicCounted] = msgspec.field(default_factory=list)


class Counted(_Bytes, frozen=True, kw_only=True):
    """One process."""

    who: str
    rank: int | None
    received: int = 0
    shm_sent: int = 0
    self_sent: int = 0
    nic_sent: int = 0
    unexpected: int = 0
    rendezvous: int = 0
    rendezvous_bytes: int = 0
    search: int = 0


class CountedHost(_Bytes, frozen=True, kw_only=True):
    """The processes of one host together. ``nics``: one entry per name, in the order of their
    appearance.
    """

    processes: int


class JudgedStatistics(msgspec.Struct, frozen=True, kw_only=True):
    """The statistics files of one job, judged. ``proof`` is never better than ``unproven`` unless
    port counters were read too and agree: the library's counters are not counters of a port.
    """

    sources: list[str]
    library: str
    build: str
    hal: str
    ranks: int
    wanted_ranks: int | None
    verdict: Verdict
    proof: Proof
    hosts: list[CountedHost]
    findings: list[Finding]
    seen: list[Seen] = msgspec.field(default_factory=list)
