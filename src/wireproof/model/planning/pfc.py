"""Headroom of priority flow control, as ``wireproof plan pfc`` gives it."""

from __future__ import annotations

import msgspec

from wireproof.model.planning.bounds import Bounds

__all__ = ["CableFit", "Configured", "Delay", "Pfc"]


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
