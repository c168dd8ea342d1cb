"""What one session measures, and by what means."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import msgspec

from wireproof.launch.request import Fabric, NicSelection
from wireproof.model.claim import Criteria
from wireproof.model.plan import (
    FactRequest,
    Libfabric,
    ModelFault,
    ModelWorld,
    Point,
    Policy,
    TransportKind,
)
from wireproof.physics.table import Table

__all__ = ["Session"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Session:
    """What to measure and by what; the target says where. ``until``: no launch goes on after this
    moment (monotonic).

    ``kept``: the folder ``out`` stays, so that a reader can be sent to it.
    """

    title: str
    points: tuple[Point, ...]
    seed: int
    transport: TransportKind = "mpi"
    mpi: str = ""
    fabric: Fabric = ""
    ofi: Libfabric = dataclasses.field(default_factory=Libfabric)
    nic_selection: NicSelection = "claimed"
    policy: Policy = dataclasses.field(default_factory=Policy)
    model: ModelWorld | None = None
    model_faults: tuple[ModelFault, ...] = ()
    facts: tuple[FactRequest, ...] = ()
    out: Path | None = None
    resume: bool = False
    kept: bool = True
    deadline_s: float | None = None
    until: float | None = None
    extra: tuple[tuple[str, str], ...] = ()
    lead: str = ""
    launches: int = 1
    table: Table | None = None
    site: Path | None = None
    criteria: Criteria = dataclasses.field(default_factory=Criteria)

    @property
    def plays_hosts(self) -> bool:
        """All ranks are played by one process: their hosts are names only, and none can be lost."""
        return self.transport in ("null", "model")

    @property
    def by_mpi(self) -> bool:
        """An MPI starts the ranks: it is measured, or libfabric's addresses go through it, as they
        do where one is named and nothing else was asked for.
        """
        if self.transport != "ofi":
            return self.transport == "mpi"
        return (self.ofi.exchange or ("mpi" if self.mpi else "meeting")) == "mpi"

    def launch(self, number: int) -> Session:
        """Launch ``number`` (from 0): the same points in the same order, numbered apart, in a
        folder of their own.
        """
        if self.launches == 1:
            return self
        count = len(self.points)
        points = tuple(
            msgspec.structs.replace(
                point, id=point.id + number * count, repeat=point.repeat + number * count
            )
            for point in self.points
        )
        out = self.out and self.out.with_name(f"{self.out.name}-{number + 1}")
        title = f"{self.title}, launch {number + 1} of {self.launches}"
        resume = self.resume and out is not None and (out / "run.json").is_file()
        return dataclasses.replace(self, points=points, out=out, title=title, resume=resume)
