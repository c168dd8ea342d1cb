"""A run: everything that was measured and claimed, and nothing that was concluded."""

from __future__ import annotations

import msgspec

from wireproof.model.claim import Claim
from wireproof.model.record import (
    Close,
    EngineError,
    FactFrame,
    Floor,
    Host,
    Idle,
    Open,
    PointRecord,
    Total,
)

__all__ = ["Provenance", "Run"]


class Provenance(msgspec.Struct, frozen=True, kw_only=True):
    """How the run was started: which MPI, which engine, the exact argv and the environment that we
    set.
    """

    wireproof: str
    mpi: str
    engine: str
    argv: list[str]
    environment: dict[str, str]
    launcher: str
    started: str
    notes: list[str] = msgspec.field(default_factory=list)


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """``missing`` names the points that were planned and not sealed, each with the reason seen."""

    claim: Claim
    provenance: Provenance
    open: Open | None
    hosts: list[Host]
    points: list[PointRecord]
    idle: list[Idle] = msgspec.field(default_factory=list)
    totals: list[Total] = msgspec.field(default_factory=list)
    floors: list[Floor] = msgspec.field(default_factory=list)
    facts: list[FactFrame] = msgspec.field(default_factory=list)
    errors: list[EngineError] = msgspec.field(default_factory=list)
    close: Close | None = None
    missing: dict[int, str] = msgspec.field(default_factory=dict)
