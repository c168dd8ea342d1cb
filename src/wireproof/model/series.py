# pure
"""Requests to other benchmark programs, independent of their options; and series: the results that
these programs print, with units and formula.

Times are in nanoseconds, sizes in bytes, rates in bytes per second. ``None`` means that the program
did not print it.
"""

from collections.abc import Iterable
from typing import Literal

import msgspec

from wireproof.model.atlas import Place
from wireproof.model.finding import Evidence, Proof, Severity, Verdict

Role = Literal["rank", "server", "client"]


class ToolRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One process of one program. None or an empty value leaves the choice to the program's
    default.

    ``benchmark``: the program's name for the test (``PingPong``, ``tcp_bw``); ``server``: the
    address that a client connects to; ``device``: an RDMA device or a netdev; ``cpu``: the core to
    run on. Times are in seconds, sizes in bytes.
    """

    program: str
    benchmark: str = ""
    role: Role = "rank"
    server: str = ""
    port: int | None = None
    sizes: tuple[int, ...] = ()
    iterations: int | None = None
    seconds: float | None = None
    omit_seconds: float | None = None
    socket_buffer_bytes: int | None = None
    cpu: int | None = None
    device: str = ""
    rdma_cm: bool = False
    extra: tuple[str, ...] = ()


SOFTWARE = "software: "
"""Prefix of a note that names the MPI, the system or its kernel."""
IN_GPU = "Buffer on DEVICE"
"""Text of a note about a buffer in the memory of a GPU."""
ONE_HOST = "launched on one host: "
"""Prefix of a note with the launch option that places all ranks on one host."""
BYPASS = "kernel bypass: "
"""Prefix of a note that names the library whose sockets do not use the kernel."""

Traffic = Literal[
    "pingpong", "stream", "exchange", "put", "get", "rate", "ring", "collective", "atomic", "other"
]
"""``rate``: several pairs stream at the same time. ``exchange``: both directions at the same time.
``other``: not compared with a link.
"""


class SeriesPoint(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One printed row. JSON omits values that were not printed.

    ``hrt_ns`` is half a round trip; any other time of one operation is ``time_ns``.
    ``goodput_bytes_per_s`` is as the program defines it (``Series.directions`` is the number of
    directions that it sums, ``Series.pairs`` the number of pairs). ``*_step`` is the value of one
    unit in the last printed digit: the most that rounding may hide.
    """

    message_bytes: int
    hrt_ns: float | None = None
    time_ns: float | None = None
    time_min_ns: float | None = None
    time_max_ns: float | None = None
    goodput_bytes_per_s: float | None = None
    messages_per_s: float | None = None
    iterations: int | None = None
    time_step_ns: float = 0.0
    goodput_step: float = 0.0
    percentiles: dict[str, float] = msgspec.field(default_factory=dict)
    values: dict[str, float] = msgspec.field(default_factory=dict)
    valid: bool | None = None
    line: int = 0


class SeriesTable(msgspec.Struct, frozen=True, kw_only=True):
    """A table as a program printed it. ``line`` numbers count from 1 in ``source``.

    ``tool`` and ``benchmark`` are the program's names (``osu``, ``osu_put_bw``). ``metric``: the
    quantity in the table: ``half_round_trip``, ``latency``, ``bandwidth``,
    ``bidirectional_bandwidth``, ``message_rate``, ``time`` (of a collective), ``overlap``.
    ``protocol``: the protocol that carries the bytes if the program determines it (``rdma`` for
    perftest, ``tcp`` for iperf3), otherwise "". ``complete`` False: the table was cut off;
    ``incomplete`` tells where.
    """

    tool: str
    benchmark: str
    metric: str
    traffic: Traffic
    points: list[SeriesPoint]
    formula: str
    unit: str
    version: str = ""
    directions: int = 1
    processes: int | None = None
    pairs: int = 1
    window: int | None = None
    protocol: Literal["", "tcp", "udp", "rdma"] = ""
    complete: bool = True
    incomplete: str = ""
    hosts: list[str] = msgspec.field(default_factory=list)
    notes: list[str] = msgspec.field(default_factory=list)
    source: str = ""
    first_line: int = 0
    last_line: int = 0


class Series(SeriesTable, frozen=True, kw_only=True):
    """One table, to be judged. ``waits``: each operation is answered before the next starts.
    ``unit_doubt``: the reason if the printed unit may be wrong, "" if it is certain.
    """

    waits: bool = False
    unit_doubt: str = ""


class Reason(msgspec.Struct, frozen=True, kw_only=True):
    """A reason for the verdict on a series. ``code`` is in the catalogue that ``wireproof explain``
    prints.
    """

    code: str
    severity: Severity
    message: str
    evidence: Evidence = msgspec.field(default_factory=dict)


class SeriesVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """The verdict on a series.

    ``efficiency`` is best goodput per direction / attainable, never / nominal. ``proof`` is
    ``off-wire`` if the numbers themselves rule out the claimed wire; a log without port counters is
    never better than ``unproven``. ``explained_by``: links whose limits fit the curve. ``places``:
    where its numbers lie among published numbers.
    """

    proof: Proof
    verdict: Verdict
    efficiency: float | None = None
    attainable_bytes_per_s: float | None = None
    best_bytes_per_s: float | None = None
    start_ns: float | None = None
    reasons: list[Reason] = msgspec.field(default_factory=list)
    explained_by: list[str] = msgspec.field(default_factory=list)
    places: list[Place] = msgspec.field(default_factory=list)
    derivation: list[str] = msgspec.field(default_factory=list)


def software_of(notes: Iterable[str]) -> str:
    """Return the MPI, system and kernel that the notes of a series name; "" if there are none."""
    return ", ".join(note.removeprefix(SOFTWARE) for note in notes if note.startswith(SOFTWARE))
