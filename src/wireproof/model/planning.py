"""What ``wireproof plan`` prints of headroom, scale and validation, with bounds of numbers."""

from __future__ import annotations

from typing import Literal

import msgspec


class Bounds(msgspec.Struct, frozen=True):
    """``low`` <= the true number <= ``high``; the unit is that of the field that holds it."""

    low: float
    high: float

    def __add__(self, other: Bounds) -> Bounds:
        return Bounds(self.low + other.low, self.high + other.high)

    def times(self, other: Bounds | float) -> Bounds:
        """The product of two numbers that are 0 or more."""
        if isinstance(other, Bounds):
            return Bounds(self.low * other.low, self.high * other.high)
        return Bounds(self.low * other, self.high * other)

    @property
    def known(self) -> bool:
        """True where both bounds agree."""
        return self.low == self.high


def exactly(value: float) -> Bounds:
    """A number that is known."""
    return Bounds(value, value)


class Delay(msgspec.Struct, frozen=True, kw_only=True):
    """One term of the round trip, in bit times (bits that arrive meanwhile); ``low``: as fast as
    real ports are, ``high``: what the standard allows.
    """

    name: str
    bits: Bounds
    formula: str
    source: str


class CableFit(msgspec.Struct, frozen=True, kw_only=True):
    """A speed and an MTU that a configured headroom is held against. ``longest_m``: the cable that
    it covers, None: not even one of no length. ``worst_m`` counts the interface delays of the
    standard too. A cable of exactly that length gives the configured number.
    """

    speed_gbps: float
    mtu_bytes: int
    least_bytes: int
    longest_m: float | None
    worst_m: float | None


class Configured(msgspec.Struct, frozen=True, kw_only=True):
    """A headroom that a switch has, or had, against the need."""

    headroom_bytes: int
    enough: bool | None
    sentences: list[str]
    fits: list[CableFit]


class Pfc(msgspec.Struct, frozen=True, kw_only=True):
    """What ``wireproof plan pfc --json`` prints; bytes are counted at the receiving port.

    ``headroom_bytes``: of one priority of one port. ``xon_bytes``, ``xoff_bytes``: fill of that
    priority's buffer below which traffic goes on, and above which it is stopped; ``buffer_bytes``:
    XOFF and headroom. ``total_*``: of all ports and priorities. ``refill_bytes``: what leaves the
    buffer before new data can arrive after XON; with less below XON the link idles.
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


ScalePattern = Literal["ring", "barrier", "allreduce", "alltoall", "sweep"]
PATTERNS: tuple[ScalePattern, ...] = ("ring", "barrier", "allreduce", "alltoall", "sweep")


class Parameter(msgspec.Struct, frozen=True, kw_only=True):
    """A number that the simulation uses, and where it comes from."""

    name: str
    value: float
    unit: str
    source: str


class Prediction(msgspec.Struct, frozen=True, kw_only=True):
    """One pattern at one scale. ``time_ns``: of one operation of all ranks (of a sweep: of all
    rounds); ``latency_ns``: per message, as HPCC defines it for rings, else the same.
    ``spread_ns``: of ``time_ns``; what it is stands in ``method``. ``simulated`` of ``total``:
    rings, or phases.
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
    """What ``wireproof plan scale --json`` prints."""

    topology: str
    seed: int
    parameters: list[Parameter]
    predictions: list[Prediction]
    sources: list[str]
    validity: list[str]


class ScreenDesign(msgspec.Struct, frozen=True, kw_only=True):
    """A screen of so many ``rounds`` of disjoint pairs. ``least_slowdown``: that it finds with the
    power that is asked for; ``found``: probability that one slow port becomes a suspect;
    ``seconds``: from the least that gives intervals to the whole budget.
    """

    rounds: int
    pairs: int
    least_slowdown: float
    found: float
    seconds: Bounds


class Validation(msgspec.Struct, frozen=True, kw_only=True):
    """What ``wireproof plan validate --json`` prints.

    ``least``: the fewest rounds that do; None: no number of rounds does. ``check``: what
    ``wireproof check`` does by itself, which is ``enough`` or not. ``false_suspects``: expected in
    one sweep of healthy nodes, before they are measured again; ``confirm_s``: for each suspect.
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
