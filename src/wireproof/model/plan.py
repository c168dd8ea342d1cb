# pure
"""Plans: the measurements that the engine is asked to make. Pure values; see ``instrument`` for the
text form."""

from typing import Literal

import msgspec

from wireproof.model.pattern import Form, Pattern

TransportKind = Literal["null", "model", "mpi", "tcp", "ofi"]
Completion = Literal["", "transmit", "delivery"]
Exchange = Literal["", "meeting", "mpi"]
Messages = Literal["", "tagged", "msg"]
Formula = Literal["robust", "osu", "imb-mpi1", "imb-p2p", "hpcc"]


class RankPlace(msgspec.Struct, frozen=True, kw_only=True):
    """The claimed host of rank ``index``, and the claimed NIC."""

    index: int
    host: str
    nic: str = ""
    address: str = ""


class Libfabric(msgspec.Struct, frozen=True, kw_only=True):
    """The requests of the ``ofi`` transport to libfabric; "" leaves the choice to libfabric.

    ``library``: path of the library on the nodes. ``messages``: the calls that carry payload ("":
    tagged). ``completion``: the guarantee that the completion of a send gives: the message has left
    (``transmit``) or is in the peer's memory (``delivery``). ``exchange``: the channel over which
    ranks exchange addresses: over sockets (``meeting``) or through the MPI that starts them
    (``mpi``); "" is ``mpi`` if an MPI was named.
    """

    provider: str = ""
    library: str = ""
    messages: Messages = ""
    completion: Completion = ""
    exchange: Exchange = ""


class Transport(msgspec.Struct, frozen=True, kw_only=True):
    kind: TransportKind
    expect: str = ""
    ofi: Libfabric | None = None


class Policy(msgspec.Struct, frozen=True, kw_only=True):
    """Stop rule and bounds. Half-widths are relative to the median (validation: 1 % bandwidth, 2 %
    latency).

    ``pin`` ``nic``: bind each rank to a core of the claimed NIC's socket if several are available
    to it. ``teardown`` ``point``: close the connections between pairs after each point, so that
    memory does not grow with the number of partners.
    """

    latency_half_width: float = 0.02
    bandwidth_half_width: float = 0.01
    point_budget_ms: int = 1000
    point_deadline_ms: int = 30_000
    run_deadline_ms: int = 600_000
    in_flight_bytes: int = 4 << 20
    block_us: int = 1500
    min_blocks: int = 10
    max_batches: int = 2000
    warmup_min_us: int = 2000
    warmup_min_operations: int = 1000
    yield_: int = msgspec.field(default=0, name="yield")
    pin: Literal["", "nic"] = ""
    teardown: Literal["", "point"] = ""


class WitnessPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """How counters are read.

    ``root``: folder whose files replace the machine's; ``{host}`` and ``{rank}`` in it stand for
    the rank's. ``settle_ms``: refresh delay of the slowest counter, waited for once before the
    first point and once after the last; None: unknown, so the engine waits and reads again after a
    point whose payload the counters should have shown. ``late``: for each driver, the time to wait
    for its slowest port, in ms; the engine waits once after the last point for ports that are up,
    unless other counters show all payload.
    """

    idle_ms: int = 200
    settle_ms: int | None = None
    root: str = "/"
    late: tuple[tuple[str, int], ...] = ()


class ModelWorld(msgspec.Struct, frozen=True, kw_only=True):
    """The known parameters of the model transport (LogGP with one protocol switch)."""

    latency_ns: float
    gap_ns_per_byte: float
    overhead_ns: float = 0.0
    eager_limit_bytes: int = 0
    rendezvous_ns: float = 0.0
    noise: float = 0.0
    stall: float = 0.0
    shared: int = 0


class ModelFault(msgspec.Struct, frozen=True, kw_only=True):
    """A planted fault of the model. ``tx``, ``rx``: the share of the rate at which ``rank`` sends
    and receives; ``latency_ns``: added to each of its messages.
    """

    rank: int
    tx: float = 1.0
    rx: float = 1.0
    latency_ns: float = 0.0


class ModelCounter(msgspec.Struct, frozen=True, kw_only=True):
    """A counter file in the tree of ``rank`` that the model updates as an adapter would.

    ``path``: an existing regular file below ``WitnessPolicy.root``, or one driver statistic,
    ``ethtool/hsn0#tx_bytes_phy``. It begins at ``start`` and counts per payload byte and per
    message that the rank sends (``tx_``) or receives (``rx_``). ``per_second``: other traffic, from
    ``from_ms`` to ``to_ms`` of the run (0: until its end). The counter wraps at ``width`` bits, or
    stops at its largest value (``pegs`` 1). ``refresh_ms``: it is updated only at multiples of this
    real time; 0: before each reading.
    """

    rank: int
    path: str
    start: int = 0
    width: int = 64
    pegs: int = 0
    refresh_ms: int = 0
    tx_byte: float = 0.0
    rx_byte: float = 0.0
    tx_message: float = 0.0
    rx_message: float = 0.0
    per_second: float = 0.0
    from_ms: int = 0
    to_ms: int = 0


class FactRequest(msgspec.Struct, frozen=True, kw_only=True):
    kind: Literal["file", "glob", "command"]
    path: str = ""
    argv: tuple[str, ...] = ()
    limit_bytes: int = 65536
    timeout_ms: int = 2000


class Point(msgspec.Struct, frozen=True, kw_only=True):
    """One measurement: a pattern at one size, between disjoint pairs of ranks (origin, target) or
    in a group.

    A group pattern has ``members`` (ranks, in the order in which the pattern numbers them) and no
    ``pairs``; congestion has ``pairs`` (the ping-pongs that are observed) and ``load`` (the streams
    that disturb them, with messages of ``load_bytes``). ``order``: for a ring; ``random`` uses the
    plan's seed. ``blocking`` False: the non-blocking form of the collective, with its overlap.
    ``least_operations``: below this number only the budget ends the point, not its precision.
    ``detail`` ``brief``: the record omits raw batches and quiet counters, for screens of many
    nodes.
    """

    id: int
    pattern: Pattern
    message_bytes: int
    pairs: tuple[tuple[int, int], ...] = ()
    members: tuple[int, ...] = ()
    load: tuple[tuple[int, int], ...] = ()
    load_bytes: int = 1 << 16
    order: Literal["natural", "random"] = "natural"
    blocking: bool = True
    threads: int = 1
    partitions: int = 1
    detail: Literal["full", "brief"] = "full"
    form: Form = "latency"
    window: int = 64
    formula: Formula = "robust"
    window_kind: Literal["allocate", "create"] = "allocate"
    repeat: int = 0
    budget_ms: int | None = None
    iterations: int = 0
    least_operations: int = 0


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    run_id: str
    seed: int
    transport: Transport
    ranks: tuple[RankPlace, ...]
    points: tuple[Point, ...]
    policy: Policy = Policy()
    witness: WitnessPolicy = WitnessPolicy()
    model: ModelWorld | None = None
    model_faults: tuple[ModelFault, ...] = ()
    model_counters: tuple[ModelCounter, ...] = ()
    facts: tuple[FactRequest, ...] = ()
