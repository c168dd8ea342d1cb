# pure
"""The output of ``wireproof plan`` for headroom, scale and validation, with bounds of numbers."""

from __future__ import annotations

from typing import Literal

import msgspec

from wireproof.model.finding import Verdict


class Bounds(msgspec.Struct, frozen=True):
    """``low`` <= true value <= ``high``, in the unit of the field that contains the bounds."""

    low: float
    high: float

    def __add__(self, other: Bounds) -> Bounds:
        return Bounds(self.low + other.low, self.high + other.high)

    def times(self, other: Bounds | float) -> Bounds:
        """Return the product of two numbers that are 0 or more."""
        if isinstance(other, Bounds):
            return Bounds(self.low * other.low, self.high * other.high)
        return Bounds(self.low * other, self.high * other)

    @property
    def known(self) -> bool:
        """True if both bounds are equal."""
        return self.low == self.high


def exactly(value: float) -> Bounds:
    """Return bounds for a value that is known exactly."""
    return Bounds(value, value)


class Delay(msgspec.Struct, frozen=True, kw_only=True):
    """One term of the round trip, in bit times. ``low``: as fast as real ports are; ``high``: the
    maximum that the standard allows.
    """

    name: str
    bits: Bounds
    formula: str
    source: str


class CableFit(msgspec.Struct, frozen=True, kw_only=True):
    """A speed and an MTU for which a configured headroom is checked. ``longest_m``: the longest
    cable that it covers, null if it covers none. ``worst_m``: the same with the interface delays
    that the standard allows. For a cable of exactly that length, the calculation results in the
    configured headroom.
    """

    speed_gbps: float
    mtu_bytes: int
    least_bytes: int
    longest_m: float | None
    worst_m: float | None


class Configured(msgspec.Struct, frozen=True, kw_only=True):
    """A configured headroom compared with the required headroom."""

    headroom_bytes: int
    enough: bool | None
    sentences: list[str]
    fits: list[CableFit]


class Pfc(msgspec.Struct, frozen=True, kw_only=True):
    """The output of ``wireproof plan pfc --json``; bytes are counted at the receiving port.

    ``headroom_bytes``: headroom of one priority of one port. ``xon_bytes``, ``xoff_bytes``: fill
    level of that priority's buffer below which traffic resumes, and above which it is paused;
    ``buffer_bytes``: XOFF plus headroom. ``total_*``: for all ports and priorities.
    ``refill_bytes``: bytes that leave the buffer before new data can arrive after XON; if less
    remains below XON, the link idles.
    """

    speed_gbps: float
    mtu_bytes: int
    other_mtu_bytes: int
    cable_m: float
    ports: int
    priorities: int
    cell_bytes: int
    delays: list[Delay]
    headroom_bytes: Bounds
    headroom_in_cells_bytes: Bounds
    xon_bytes: int
    xoff_bytes: int
    refill_bytes: int
    buffer_bytes: int
    total_headroom_bytes: int
    total_buffer_bytes: int
    sources: list[str]
    validity: list[str]
    budget_bytes: int | None = None
    fits_budget: bool | None = None
    configured: Configured | None = None
    sentences: list[str] = msgspec.field(default_factory=list)

    @property
    def verdict(self) -> Verdict | None:
        """Whether the configured headroom and the buffer are enough; None if neither is given."""
        held = [] if self.configured is None else [self.configured.enough]
        held += [] if self.budget_bytes is None else [self.fits_budget]
        if not held or all(held):
            return "pass" if held else None
        return "fail" if False in held else "inconclusive"


ScalePattern = Literal["ring", "barrier", "allreduce", "alltoall", "sweep"]
PATTERNS: tuple[ScalePattern, ...] = ("ring", "barrier", "allreduce", "alltoall", "sweep")


class Parameter(msgspec.Struct, frozen=True, kw_only=True):
    """A number that the simulation uses, with its source."""

    name: str
    value: float
    unit: str
    source: str


class Prediction(msgspec.Struct, frozen=True, kw_only=True):
    """One pattern at one scale.

    ``time_ns``: one operation of all ranks (for a sweep, all rounds); ``latency_ns``: per message,
    as HPCC defines it for rings, otherwise equal to ``time_ns``. ``spread_ns``: bounds of
    ``time_ns``, as ``method`` explains. ``simulated``: number of the ``total`` rings or phases that
    were simulated.
    """

    pattern: ScalePattern
    order: str
    nodes: int
    ppn: int
    ranks: int
    message_bytes: int
    time_ns: float
    latency_ns: float
    spread_ns: Bounds
    simulated: int
    total: int
    method: str


class Scale(msgspec.Struct, frozen=True, kw_only=True):
    """The output of ``wireproof plan scale --json``."""

    topology: str
    seed: int
    parameters: list[Parameter]
    predictions: list[Prediction]
    sources: list[str]
    validity: list[str]


class ScreenDesign(msgspec.Struct, frozen=True, kw_only=True):
    """A screen with ``rounds`` rounds of disjoint pairs. ``least_slowdown``: the smallest slowdown
    that it finds with the requested power; ``found``: probability that one slow port becomes a
    suspect; ``seconds``: from the minimum time that gives intervals to the whole budget.
    """

    rounds: int
    pairs: int
    least_slowdown: float
    found: float
    seconds: Bounds


class Validation(msgspec.Struct, frozen=True, kw_only=True):
    """The output of ``wireproof plan validate --json``.

    ``least``: the design with the fewest rounds that suffices; null if no number of rounds does.
    ``check``: the default of ``wireproof check``; ``enough``: true if that suffices.
    ``false_suspects``: expected number in one sweep of healthy nodes, before suspects are measured
    again; ``confirm_s``: time per suspect.
    """

    nodes: int
    slowdown: float
    noise: float
    spread: float
    false_alarms: float
    power: float
    metric: str
    practical: float
    least: ScreenDesign | None
    check: ScreenDesign
    enough: bool
    others: list[ScreenDesign]
    false_suspects: float
    confirm_s: float
    message_bytes: int
    parameters: list[Parameter]
    sentences: list[str]
    sources: list[str]
    validity: list[str]


# --- Queue pairs and memory of a job, as ``wireproof plan footprint`` prints them.

Unit = Literal["rank", "peer rank", "peer node"]
"""The unit that a part is counted per: each rank, each remote rank that a rank talks to, or each
remote node that a node talks to.
"""
Basis = Literal["source", "assumed"]
"""``source``: sizes and counts come from the library's source code. ``assumed``: bounds taken from
adapters in use (a work queue entry of 64 to 128 B); a measurement can replace them.
"""


class FormulaSetting(msgspec.Struct, frozen=True, kw_only=True):
    """A variable that the formulas use. ``given``: the user set it; otherwise it has its
    default.
    """

    name: str
    value: int
    given: bool
    meaning: str


class Peers(msgspec.Struct, frozen=True, kw_only=True):
    """Who talks to whom between nodes.

    ``node_pairs``: unordered pairs of nodes that talk; ``most_pairs``: all possible pairs.
    ``rank``: remote ranks of one rank; ``node_ranks``, ``job_ranks``: the same summed over the
    ranks of a node and over all ranks. ``node``: remote nodes of one node.
    """

    rank: Bounds
    node_ranks: Bounds
    job_ranks: Bounds
    node: Bounds
    node_pairs: Bounds
    most_pairs: int
    assumed: str


class Sums(msgspec.Struct, frozen=True, kw_only=True):
    """One quantity per rank, per node and for the whole job. ``node`` includes what the kernel
    allocates.
    """

    rank: Bounds
    node: Bounds
    job: Bounds


class FootprintPart(msgspec.Struct, frozen=True, kw_only=True):
    """One part of the footprint, which exists once for each ``per``, with its QPs and bytes."""

    name: str
    per: Unit
    qps: Bounds
    bytes: Bounds
    formula: str
    basis: Basis
    kind: str = ""


class LimitCheck(msgspec.Struct, frozen=True, kw_only=True):
    """The QP limit of an adapter compared with what one node needs. ``fits``: null if it depends on
    who talks to whom.
    """

    adapter: str
    max_qps: int
    fits: bool | None
    sentence: str
    source: str


class QpReading(msgspec.Struct, frozen=True, kw_only=True):
    """One assumption that makes the formula match the observed number: ``connection`` QPs for each
    pair that talks, and ``pairs`` such pairs.
    """

    connection: int
    pairs: float
    share: float
    whole: bool
    sentence: str


class Observed(msgspec.Struct, frozen=True, kw_only=True):
    """The resources that a real run used, compared with the formula; null: not observed."""

    what: str
    qps: int
    by_kind: dict[str, int]
    processes: int | None
    registered_bytes: int | None
    inside: bool
    sentences: list[str]
    readings: list[QpReading]
    job_qps: float | None


class Footprint(msgspec.Struct, frozen=True, kw_only=True):
    """The output of ``wireproof plan footprint --json``. ``bytes``: resident memory that the
    transport uses for messages, without the application's memory and the memory that it registers.
    """

    mode: str
    nodes: int
    ppn: int
    rails: int
    mtu_bytes: int
    peers: Peers
    qps: Sums
    bytes: Sums
    parts: list[FootprintPart]
    settings: list[FormulaSetting]
    limits: list[LimitCheck]
    observed: list[Observed]
    sources: list[str]
    validity: list[str]
