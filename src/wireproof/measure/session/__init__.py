"""The points that one session measures, and its method."""

from __future__ import annotations

import dataclasses
import secrets
from pathlib import Path
from typing import cast

import msgspec

from wireproof.launch.registry import Fabric, NicSelection
from wireproof.measure.points import numbered
from wireproof.model.claim import Criteria
from wireproof.model.dossier import Agreed
from wireproof.model.errors import BadInput
from wireproof.model.plan import (
    FactRequest,
    Libfabric,
    ModelFault,
    ModelWorld,
    Point,
    Policy,
    TransportKind,
)
from wireproof.options.resolve import model_of, read_criteria, read_table
from wireproof.options.table import Options
from wireproof.physics.table import Table

DEFAULT_WORLD = ModelWorld(latency_ns=1000, gap_ns_per_byte=0.1)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Storage:
    """The storage of the records.

    ``folder`` None: a new folder in the working directory, named after the subcommand. ``kept``
    False: nothing is kept, and ``folder`` is not used.

    ``history``: the history to which the result is added; ``folder`` is then inside it. ``resume``:
    continue the run in ``folder``. ``may_change_mode`` False: a file in the working directory
    specified the folder, so its mode must not be changed. ``command``: the command that repeats the
    measurement, for readers of the result.
    """

    folder: Path | None = None
    history: Path | None = None
    kept: bool = True
    resume: bool = False
    may_change_mode: bool = True
    command: tuple[str, ...] = ()


def _libfabric(settings: Options) -> Libfabric:
    """Return the settings of libfabric.

    Raises ``BadInput`` if they are given with another transport, which would silently ignore them.
    """
    chosen = Libfabric(
        provider=settings.provider,
        library=settings.libfabric,
        messages=settings.messages,
        completion=settings.completion,
        exchange=settings.exchange,
    )
    if settings.transport == "ofi" and settings.fabric:
        raise BadInput(
            f"{settings.source('fabric')} is for an MPI: with --transport ofi give --provider."
        )
    if settings.transport != "ofi" and chosen != Libfabric():
        names = ("provider", "libfabric", "messages", "completion", "exchange")
        named = next(settings.source(name) for name in names if getattr(settings, name))
        raise BadInput(
            f"{named} is for --transport ofi, but the transport is {settings.transport}."
        )
    return chosen


@dataclasses.dataclass(frozen=True, kw_only=True)
class Method:
    """The method of a measurement: its times, order and repetitions.

    ``budget_s``: time for one point; ``deadline_s``: time for a whole launch; ``seed``: determines
    the order of the points, None to draw a seed; ``repeat``: number of measurements of each point
    in a launch. ``table``: the physical constants of the limits, None for the defaults. ``site``: a
    folder of published numbers that are used in addition to wireproof's. ``agreed``: the file of
    criteria, None for the defaults.
    """

    transport: TransportKind = "mpi"
    mpi: str = ""
    fabric: Fabric = ""
    ofi: Libfabric = dataclasses.field(default_factory=Libfabric)
    nic_selection: NicSelection = "claimed"
    budget_s: float | None = None
    deadline_s: float | None = None
    seed: int | None = None
    repeat: int = 1
    table: Table | None = None
    site: Path | None = None
    agreed: Agreed | None = None
    criteria: Criteria = dataclasses.field(default_factory=Criteria)
    model: ModelWorld = DEFAULT_WORLD

    @classmethod
    def from_options(cls, settings: Options) -> Method:
        """Build the method from the options.

        Raises ``BadInput`` for a file that cannot be used.
        """
        if settings.model and settings.transport != "model":
            raise BadInput(
                f"{settings.source('model')} is for --transport model, but the transport is"
                f" {settings.transport}."
            )
        agreed = read_criteria(settings.criteria)
        return cls(
            transport=settings.transport,
            mpi=settings.mpi,
            fabric=cast(Fabric, settings.fabric),
            ofi=_libfabric(settings),
            nic_selection=cast(NicSelection, settings.nic_selection),
            budget_s=settings.budget,
            deadline_s=settings.deadline,
            seed=settings.seed,
            repeat=settings.repeat,
            table=read_table(settings.physics),
            site=settings.atlas,
            agreed=agreed,
            criteria=agreed.criteria if agreed else Criteria(),
            model=model_of(settings.model) if settings.model else DEFAULT_WORLD,
        )

    @property
    def plays_hosts(self) -> bool:
        """Return whether one process simulates all ranks: their hosts are only names, and none can
        be lost.
        """
        return self.transport in ("null", "model")

    def chosen_seed(self) -> int:
        """Return the given seed, or draw a seed."""
        return self.seed if self.seed is not None else secrets.randbelow(1 << 31)

    def bounds(self) -> Policy:
        """Return the policy with the given budget and deadline; a point's deadline grows with its
        budget.
        """
        policy = Policy()
        if self.budget_s is not None:
            budget = max(1, round(self.budget_s * 1000))
            deadline = max(policy.point_deadline_ms, 10 * budget)
            policy = msgspec.structs.replace(
                policy, point_budget_ms=budget, point_deadline_ms=deadline
            )
        if self.deadline_s is not None:
            policy = msgspec.structs.replace(
                policy, run_deadline_ms=max(1, round(self.deadline_s * 1000))
            )
        return policy

    def session(
        self,
        title: str,
        points: list[Point],
        *,
        policy: Policy,
        seed: int,
        out: Path | None,
        storage: Storage,
    ) -> Session:
        """Return a session of these points, numbered and in an order drawn from ``seed``."""
        means = {**vars(self), "seed": seed, "policy": policy}
        return Session(
            title=title,
            points=numbered(points, seed=seed, repeats=self.repeat),
            out=out,
            resume=storage.resume,
            kept=storage.kept,
            **means,
        )


@dataclasses.dataclass(frozen=True, kw_only=True)
class Session(Method):
    """The points to measure and the method; the target determines where.

    ``until``: the time (monotonic, s) after which no launch continues.

    ``kept``: the folder ``out`` stays, so that messages may refer to it.
    """

    title: str
    points: tuple[Point, ...]
    seed: int = 0
    policy: Policy = dataclasses.field(default_factory=Policy)
    model_faults: tuple[ModelFault, ...] = ()
    facts: tuple[FactRequest, ...] = ()
    out: Path | None = None
    resume: bool = False
    kept: bool = True
    until: float | None = None
    extra: tuple[tuple[str, str], ...] = ()
    lead: str = ""
    launches: int = 1

    @property
    def by_mpi(self) -> bool:
        """Return whether an MPI starts the ranks: for transport mpi, or to exchange libfabric's
        addresses, the default if an MPI is named.
        """
        if self.transport != "ofi":
            return self.transport == "mpi"
        return (self.ofi.exchange or ("mpi" if self.mpi else "meeting")) == "mpi"

    def launch(self, number: int) -> Session:
        """Return launch ``number`` (from 0): the same points in the same order, with separate
        numbers and a separate folder.
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
