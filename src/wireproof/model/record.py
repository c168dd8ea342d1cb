# pure
"""Records: the frames that the engine writes, one JSON object per line.

Times are in nanoseconds, sizes in bytes. ``None`` means unknown, never zero.
docs/reference/engine-interface.md describes the interface.
"""

from typing import Literal

import msgspec

from wireproof.model.pattern import Form, Pattern

Label = Literal["stable", "multimodal", "unstable"]


class Clock(msgspec.Struct, frozen=True, kw_only=True):
    source: Literal["tsc", "cntvct", "monotonic", "virtual"]
    ns_per_tick: float
    quantum_ns: float
    read_cost_ns: float


class Open(msgspec.Struct, frozen=True, kw_only=True, tag_field="frame", tag="open"):
    schema: int
    engine: str
    abi: str
    transport: str
    run_id: str
    seed: int
    ranks: int
    clock: Clock


class Rdma(msgspec.Struct, frozen=True, kw_only=True):
    """An RDMA port. ``driver``: driver of the device (``device/driver`` in sysfs), which may differ
    from that of its interface.
    """

    device: str
    port: int
    rate: str = ""
    link_layer: str = ""
    state: str = ""
    driver: str = ""

    @property
    def in_software(self) -> bool:
        """True if the kernel emulates the port on an interface (soft-RoCE, soft-iWARP).

        ``rate`` is then derived from the interface's speed. Observed with rdma_rxe of Linux 6.1: it
        assumes 1 Gb/s if the speed is unknown, and prints 2.5 Gb/s for that.
        """
        return self.driver in ("rdma_rxe", "rxe", "siw")


class AdapterIdentity(msgspec.Struct, frozen=True, kw_only=True):
    """The hardware behind a port; "" means unknown. Ports with an equal, non-empty identity are
    functions of one adapter.

    ``system_guid``, ``node_guid``: GUIDs of the RDMA device. ``switch_id``, ``port_id``: IDs of the
    interface (``phys_switch_id``, ``phys_port_id``). ``serial``: PCI device serial number.
    ``physical``: PCI address of the adapter that a virtual function belongs to.
    """

    system_guid: str = ""
    node_guid: str = ""
    switch_id: str = ""
    port_id: str = ""
    serial: str = ""
    physical: str = ""


class Nic(msgspec.Struct, frozen=True, kw_only=True):
    """One network interface as the engine found it, or an RDMA port without an interface (``name``
    is then ``device:port``).

    ``lower``: the interfaces below it (members of a bond or bridge, parent of a VLAN, macvlan or
    ipvlan). ``master``: the interface that it is a member of. ``link_kind``: the kernel's name for
    the kind of virtual interface (``vlan``, ``bond``, ``macvlan``, ``veth`` ...). ``function``:
    kind of function of an SR-IOV or scalable-function adapter. ``pcie``: the slot as negotiated
    (``gen4x16``). ``hidden``: the reason if a part of its sysfs could not be read, otherwise "".
    """

    name: str
    address: list[str] = msgspec.field(default_factory=list)
    driver: str = ""
    mtu: int | None = None
    speed_mbps: int | None = None
    carrier: bool | None = None
    operstate: str = ""
    numa_node: int | None = None
    pci: str = ""
    kind: Literal["ethernet", "infiniband", "loopback", "virtual"] = "ethernet"
    rdma: Rdma | None = None
    mac: str = ""
    lower: list[str] = msgspec.field(default_factory=list)
    master: str = ""
    link_kind: str = ""
    function: Literal["", "physical", "virtual", "scalable"] = ""
    adapter: AdapterIdentity | None = None
    pcie: str = ""
    hidden: str = ""


class LibfabricUsed(msgspec.Struct, frozen=True, kw_only=True):
    """The selection of libfabric, with its names ("": libfabric does not report it).

    ``completion``: the guarantee that the completion of a send gives: ``inject``, ``transmit`` or
    ``delivery`` ("": the provider's default). ``inject_bytes``: messages up to this size are sent
    without a completion. ``protocol``: libfabric's number for the protocol on the wire. ``remote``:
    what completes a remote write: its delivery, a ``read-back`` after it, or only the local end
    (``local``); "" if there was none. ``exchange``: the channel over which addresses were
    exchanged; ``exchange_library``: the MPI that exchanged them.
    """

    provider: str
    provider_version: str = ""
    domain: str = ""
    fabric: str = ""
    nic: str = ""
    api_version: str = ""
    messages: Literal["tagged", "msg"] = "tagged"
    completion: Literal["", "inject", "transmit", "delivery"] = ""
    progress: Literal["", "auto", "manual"] = ""
    inject_bytes: int = 0
    protocol: int = 0
    protocol_version: int = 0
    remote: Literal["", "delivery", "read-back", "local"] = ""
    exchange: Literal["", "meeting", "mpi"] = ""
    exchange_library: str = ""


class Host(msgspec.Struct, frozen=True, kw_only=True, tag_field="frame", tag="host"):
    """The host that a rank actually ran on, and the MPI library that answered there."""

    rank: int
    host: str
    hostname: str
    boot_id: str = ""
    machine_id: str = ""
    netns: int = 0
    ipcns: int = 0
    pidns: int = 0
    pid: int = 0
    cpus_allowed: str = ""
    cpu_count: int = 0
    core: int | None = None
    pinned: int | None = None
    nic_numa_node: int | None = None
    library: str = ""
    library_path: str = ""
    mpi_standard: str = ""
    shared_ranks: int | None = None
    fabric: LibfabricUsed | None = None
    nics: list[Nic] = msgspec.field(default_factory=list)


class FactFrame(msgspec.Struct, frozen=True, kw_only=True, tag_field="frame", tag="fact"):
    rank: int
    kind: Literal["file", "glob", "command"]
    status: Literal["ok", "missing", "denied", "timeout", "failed"]
    path: str = ""
    argv: list[str] = msgspec.field(default_factory=list)
    text: str = ""
    exit_status: int | None = None
    truncated: bool = False
    reason: str = ""


class Floor(msgspec.Struct, frozen=True, kw_only=True, tag_field="frame", tag="floor"):
    """Harness floor: time per operation of the same loop on the null transport."""

    pattern: Pattern
    form: Form
    floor_ns: float


class NamespaceCounters(msgspec.Struct, frozen=True, kw_only=True):
    """Counters of one network namespace over an interval, as ``rank`` read them.

    ``shared_with``: the rank whose reading also applies to this rank. ``foreign_sysfs``: /sys
    showed another namespace, so it was not read (no InfiniBand counters).
    """

    rank: int
    interval_ns: float
    shared_with: int | None = None
    source: str = ""
    foreign_sysfs: bool = False


class Idle(NamespaceCounters, frozen=True, kw_only=True, tag_field="frame", tag="idle"):
    """Counter changes on one host while wireproof sent nothing.

    ``standing``: values of the readable byte counters before the run; None for an older
    engine.
    """

    counters: dict[str, int] = msgspec.field(default_factory=dict)
    standing: dict[str, int] | None = None


class Start(msgspec.Struct, frozen=True, kw_only=True, tag_field="frame", tag="start"):
    id: int


class Estimate(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Median time per operation with its distribution-free 95 % interval."""

    median_ns: float
    low_ns: float
    high_ns: float
    blocks: int
    effective_blocks: float
    autocorrelation: float
    half_width: float
    label: Label


class Warmup(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    operations: int
    elapsed_ns: float
    stationary: bool


class Sentinel(msgspec.Struct, frozen=True, kw_only=True):
    """Disturbances of the host while one block was timed."""

    clock_read_ns: float
    involuntary_switches: int
    steal_ns: float
    bounce_ns: float | None = None


class Timed(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The timed batches of one point, and why they ended."""

    status: Literal["ok", "deadline", "error"]
    stop: Literal["precision", "budget", "deadline", "iterations"]
    operations_per_batch: int
    batch_ns: list[float]
    block_batches: list[int]
    warmup: Warmup
    window_used: int
    estimate: Estimate | None = None
    formula_value_ns: float | None = None
    integrity: Literal["ok", "corrupt", "unchecked"] = "unchecked"


class PairResult(Timed, frozen=True, kw_only=True, gc=False):
    """The result of one pair at one point. ``origin_waited_ns``, ``target_waited_ns``: time that
    the process of that end waited for a processor while timed.
    """

    origin: int
    target: int
    messages_forward: int
    messages_backward: int
    payload_forward_bytes: int
    payload_backward_bytes: int
    target_elapsed_ns: float | None = None
    origin_waited_ns: float | None = None
    target_waited_ns: float | None = None
    sentinels: list[Sentinel] = msgspec.field(default_factory=list)
    origin_core: int | None = None
    target_core: int | None = None


class Quantiles(msgspec.Struct, frozen=True, kw_only=True):
    """Quantiles of single half round trips, in ns."""

    samples: int
    p50_ns: float
    p95_ns: float
    p99_ns: float
    max_ns: float


class Overlap(msgspec.Struct, frozen=True, kw_only=True):
    """Overlap of a non-blocking collective with computation. ``pure_ns``: the collective alone;
    ``compute_ns``: the computation alone; ``total_ns``: both started together. ``share`` = (pure
    + compute - total) / min(pure, compute), from 0 to 1.
    """

    pure_ns: float
    compute_ns: float
    total_ns: float
    share: float


class GroupResult(Timed, frozen=True, kw_only=True):
    """A point that all ``members`` (ranks) measured together. The time of a batch is that of its
    slowest member.

    ``member_ns``: mean time per operation of each member. ``sent_bytes``, ``received_bytes``:
    payload per member over the whole point, warm-up included; with ``exact`` False, the least
    that any algorithm must move (a library's collective may move more).
    ``messages_per_operation``: over all members. For ``congestion``, the
    estimate is the loaded half round trip.
    """

    members: list[int]
    messages_per_operation: int
    member_ns: list[float]
    sent_bytes: list[int]
    received_bytes: list[int]
    exact: bool
    overlap: Overlap | None = None
    quiet: Quantiles | None = None
    loaded: Quantiles | None = None


class QuietWindows(msgspec.Struct, frozen=True, kw_only=True):
    """Changes of counters while nothing was measured: other traffic. Those just before and just
    after a point are summed.
    """

    interval_ns: float
    counters: dict[str, int] = msgspec.field(default_factory=dict)


class WitnessReading(NamespaceCounters, frozen=True, kw_only=True):
    """Counters before and after a point, in raw units."""

    counters: dict[str, tuple[int, int]] = msgspec.field(default_factory=dict)
    unreadable: list[str] = msgspec.field(default_factory=list)
    quiet: QuietWindows | None = None


class Total(WitnessReading, frozen=True, kw_only=True, tag_field="frame", tag="total"):
    """Counters before the first point and after the last one, once every counter had settled.

    ``settled_ns``: time that the engine waited for counters with late refresh. For such counters,
    the whole run is the evidence. ``tail``: the changes in that wait and, if a counter rose in it,
    in a second wait of the same length: both contain only other traffic.
    """

    settled_ns: float = 0.0
    tail: list[QuietWindows] = msgspec.field(default_factory=list)


class PointRecord(msgspec.Struct, frozen=True, kw_only=True, tag_field="frame", tag="point"):
    id: int
    pattern: Pattern
    form: Form
    message_bytes: int
    window: int
    formula: str
    started_unix_ns: int
    elapsed_ns: float
    pairs: list[PairResult]
    witness: list[WitnessReading] = msgspec.field(default_factory=list)
    window_kind: str = ""
    repeat: int = 0
    group: GroupResult | None = None
    order: str = ""
    blocking: bool = True
    threads: int = 1
    partitions: int = 1
    load_bytes: int | None = None


class EngineError(msgspec.Struct, frozen=True, kw_only=True, tag_field="frame", tag="error"):
    code: str
    message: str
    id: int | None = None
    rank: int | None = None


class PlanRead(msgspec.Struct, frozen=True, kw_only=True, tag_field="frame", tag="plan"):
    """The number of bytes of a paced plan that rank 0 has read. It is not a measurement and is not
    stored."""

    read_bytes: int


class Close(msgspec.Struct, frozen=True, kw_only=True, tag_field="frame", tag="close"):
    points: int
    failed: int
    elapsed_ns: float
    peak_rss_bytes: int


Frame = (
    Open
    | Host
    | FactFrame
    | Floor
    | Idle
    | Start
    | PointRecord
    | Total
    | EngineError
    | PlanRead
    | Close
)
