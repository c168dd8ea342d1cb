"""Plans: what the engine is asked to measure. Pure values; see ``instrument`` for the text form."""

from typing import Literal

import msgspec

from wireproof.model.pattern import Form, Pattern

TransportKind = Literal["null", "model", "mpi", "tcp", "ofi"]
Completion = Literal["", "transmit", "delivery"]
Exchange = Literal["", "meeting", "mpi"]
Messages = Literal["", "tagged", "msg"]
Formula = Literal["robust", "osu", "imb-mpi1", "imb-p2p", "hpcc"]


class RankPlace(msgspec.Struct, frozen=True, kw_only=True):
    """Where rank ``index`` is claimed to run, and through which NIC it is claimed to talk."""

    index: int
    host: str
    nic: str = ""
    address: str = ""


class Libfabric(msgspec.Struct, frozen=True, kw_only=True):
    """What the transport ``ofi`` asks of libfabric; "" leaves it to libfabric.

    ``library``: path of the library on the nodes. ``messages``: the calls that carry payload ("":
    tagged). ``completion``: what the completion of a send
    promises, that the message has left (``transmit``) or is in the peer's memory (``delivery``).
    ``exchange``: how ranks say their addresses, over sockets (``meeting``) or through the MPI that
    starts them (``mpi``; "": ``mpi`` where one was named).
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

    ``pin`` ``nic``: each rank is bound to a core of the claimed NIC's socket, where several were
    left to it. ``teardown`` ``point``: connections between pairs are given up after each point
    (many partners, flat memory).
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
    """``root``: the folder whose files are read in place of the machine's own; ``{host}`` and
    ``{rank}`` in it stand for the rank's. ``settle_ms``: how late the slowest counter may be
    refreshed: waited for once before the first point and once after the last; ``None``: unknown, so
    the engine watches once after a point that should have shown. ``late``: drivers, each with how
    long its slowest port is waited for, in ms; the engine waits once after the last point for ports
    that are up, if counters that are not late do not show all payload.
    """

    idle_ms: int = 200
    settle_ms: int | None = None
    root: str = "/"
    late: tuple[tuple[str, int], ...] = ()


class ModelWorld(msgspec.Struct, frozen=True, kw_only=True):
    """The known truth of the model transport (LogGP with one protocol switch)."""

    latency_ns: float
    gap_ns_per_byte: float
    overhead_ns: float = 0.0
    eager_limit_bytes: int = 0
    rendezvous_ns: float = 0.0
    noise: float = 0.0
    stall: float = 0.0
    shared: int = 0


class ModelFault(msgspec.Struct, frozen=True, kw_only=True):
    """A planted fault of the model: ``rank`` sends (``tx``) and receives (``rx``) at that share of
    the rate; ``latency_ns`` is added to each of its messages.
    """

    rank: int
    tx: float = 1.0
    rx: float = 1.0
    latency_ns: float = 0.0


class ModelCounter(msgspec.Struct, frozen=True, kw_only=True):
    """A counter file of ``rank``'s tree that the model moves as an adapter would.

    ``path``: an existing regular file below ``WitnessPolicy.root``, or one driver statistic,
    ``ethtool/hsn0#tx_bytes_phy``. It holds ``start``, and so many counts for each payload byte and
    message that the rank sends (``tx_``) and receives (``rx_``); ``per_second``: other traffic,
    from ``from_ms`` to ``to_ms`` of the run (0: to its end). It wraps at ``width`` bits, or stops
    at the largest value (``pegs`` 1). ``refresh_ms``: it is shown anew at multiples of that of real
    time only; 0: before each reading.
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
    """One measurement: a pattern at one size between disjoint pairs of ranks (origin, target), or
    by a group.

    A group pattern has ``members`` (ranks, in the order that the pattern numbers them) and no
    ``pairs``; congestion has ``pairs`` (the ping-pongs that are watched) and ``load`` (the streams
    that disturb them, by messages of ``load_bytes``). ``order``: of a ring, ``random`` by the
    plan's seed. ``blocking`` False: the collective's non-blocking form, with its overlap.
    ``least_operations``: with fewer the precision does not end the point; the budget does.
    ``detail`` ``brief``: raw batches and quiet counters are left out of the record (screens of many
    nodes).
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
