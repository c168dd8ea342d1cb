"""What the jobs of wireproof are asked for: one frozen value for each, built once, by the command
line from its options and settings or by a Python caller.
"""

from __future__ import annotations

import dataclasses
import secrets
from pathlib import Path
from typing import Literal, cast

import msgspec

from wireproof.launch.request import Fabric, NicSelection
from wireproof.launch.schedulers.slurm_job import JobRequest
from wireproof.model.claim import Criteria
from wireproof.model.dossier import Agreed
from wireproof.model.errors import BadInput
from wireproof.model.pattern import Form
from wireproof.model.plan import (
    Completion,
    Exchange,
    Formula,
    Libfabric,
    Messages,
    ModelFault,
    ModelWorld,
    Point,
    Policy,
    TransportKind,
)
from wireproof.physics.table import Table
from wireproof.plan.sweep import numbered
from wireproof.settings.criteria import read_criteria
from wireproof.settings.model_world import faults_of, model_of
from wireproof.settings.options import Options
from wireproof.settings.physics_table import read_table
from wireproof.workflow.resume import Invocation
from wireproof.workflow.session.session import Session
from wireproof.workflow.target.job import job_of
from wireproof.workflow.target.resolve import TargetSpecification

__all__ = [
    "CheckSpecification",
    "LocateSpecification",
    "MeasureSpecification",
    "Method",
    "Profile",
    "Storage",
]

Profile = Literal["quick", "standard", "acceptance"]
DEFAULT_WORLD = ModelWorld(latency_ns=1000, gap_ns_per_byte=0.1)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Storage:
    """Where records go. ``folder`` None: a new folder in the working directory, named after the
    subcommand. ``kept`` False: nothing is kept, and ``folder`` is not used.

    ``history``: the history whose index the result is put into; ``folder`` is then inside of it.
    ``resume``: continue the run in ``folder``. ``may_change_mode`` False: a file in the working
    directory has named the folder, so that its mode is not changed. ``command``: what repeats it,
    for whoever reads the result.
    """

    folder: Path | None = None
    history: Path | None = None
    kept: bool = True
    resume: bool = False
    may_change_mode: bool = True
    command: tuple[str, ...] = ()


def _libfabric(settings: Options) -> Libfabric:
    """Raises ``BadInput`` for a setting of libfabric with another transport: it would be ignored
    in silence.
    """
    chosen = Libfabric(
        provider=settings.provider,
        library=settings.libfabric,
        messages=cast(Messages, settings.messages),
        completion=cast(Completion, settings.completion),
        exchange=cast(Exchange, settings.exchange),
    )
    if settings.transport == "ofi" and settings.fabric:
        raise BadInput(
            f"{settings.source('fabric')} is for an MPI: with --transport ofi give --provider."
        )
    if settings.transport != "ofi" and chosen != Libfabric():
        names = ("provider", "libfabric", "messages", "completion", "exchange")
        named = next(settings.source(name) for name in names if getattr(settings, name))
        raise BadInput(
            f"{named} is for --transport ofi, and the transport is {settings.transport}."
        )
    return chosen


@dataclasses.dataclass(frozen=True, kw_only=True)
class Method:
    """By what means, for how long and in which order is measured.

    ``budget_s``: time for one point; ``deadline_s``: for a whole launch; ``seed``: of the order of
    the points, drawn where it is None; ``repeat``: how often each point is measured in a launch.
    ``table``: the constants of physics that the limits are made of, None for ours. ``site``: a
    folder of published numbers beside ours. ``agreed``: the
    criteria, None for ours.
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
    model: ModelWorld = DEFAULT_WORLD

    @classmethod
    def from_options(cls, settings: Options) -> Method:
        """The means that the options choose. Raises ``BadInput`` for a file that cannot be used."""
        world = settings.model if settings.transport == "model" else None
        return cls(
            transport=cast(TransportKind, settings.transport),
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
            agreed=read_criteria(settings.criteria),
            model=model_of(world) if world else DEFAULT_WORLD,
        )

    @property
    def plays_hosts(self) -> bool:
        """All ranks are played by one process: hosts are names only."""
        return self.transport in ("null", "model")

    def chosen_seed(self) -> int:
        """The seed, or a new one."""
        return self.seed if self.seed is not None else secrets.randbelow(1 << 31)

    def policy(self) -> Policy:
        """Budget and deadline as given; a point's deadline grows with its budget."""
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
        """A session of these points, numbered and in an order drawn by ``seed``."""
        return Session(
            title=title,
            points=numbered(points, seed=seed, repeats=self.repeat),
            seed=seed,
            transport=self.transport,
            mpi=self.mpi,
            fabric=self.fabric,
            ofi=self.ofi,
            nic_selection=self.nic_selection,
            policy=policy,
            model=self.model if self.transport == "model" else None,
            out=out,
            resume=storage.resume,
            kept=storage.kept,
            deadline_s=self.deadline_s,
            table=self.table,
            site=self.site,
            criteria=self.agreed.criteria if self.agreed else Criteria(),
        )


@dataclasses.dataclass(frozen=True, kw_only=True)
class CheckSpecification:
    """A check of some hosts, or of this machine. ``rounds`` and ``all_pairs`` are for more than two
    hosts. ``job``: a Slurm job to ask for, whose nodes are the hosts. ``until``: the moment
    (monotonic, s) after which no launch goes on. ``invocation``: what ``wireproof resume`` needs.
    ``audit``: whether the hosts' settings are read, too. ``least_proven``: only so many of the
    hosts, those whose proof in the history is the oldest.
    """

    target: TargetSpecification
    method: Method = dataclasses.field(default_factory=Method)
    storage: Storage = dataclasses.field(default_factory=Storage)
    profile: Profile = "quick"
    topology: Path | None = None
    rounds: int | None = None
    all_pairs: bool = False
    model_faults: tuple[ModelFault, ...] = ()
    job: JobRequest | None = None
    until: float | None = None
    invocation: Invocation | None = None
    audit: bool = True
    least_proven: int | None = None

    @classmethod
    def from_options(cls, options: Options, storage: Storage) -> CheckSpecification:
        """The check that the options ask for. Raises ``BadInput``."""
        return cls(
            target=TargetSpecification.from_options(options),
            method=Method.from_options(options),
            storage=storage,
            profile=cast(Profile, options.profile),
            topology=options.topology,
            rounds=options.rounds,
            all_pairs=options.all_pairs,
            model_faults=faults_of(options.model_fault),
            job=job_of(options),
            audit=not options.no_audit and not options.prolog,
            least_proven=options.least_proven,
        )


@dataclasses.dataclass(frozen=True, kw_only=True)
class MeasureSpecification:
    """One pattern over a range of sizes. ``sizes`` empty: the pattern's own; ``form`` None: its
    default. ``ranks`` counts on this machine alone, ``ppn`` on each host.
    """

    pattern: str
    target: TargetSpecification
    method: Method = dataclasses.field(default_factory=Method)
    storage: Storage = dataclasses.field(default_factory=Storage)
    sizes: tuple[int, ...] = ()
    window: int = 64
    formula: Formula = "robust"
    form: Form | None = None
    ppn: int = 1
    ranks: int = 2
    order: Literal["natural", "random"] | None = None
    nonblocking: bool = False
    threads: int | None = None
    partitions: int | None = None
    window_kind: Literal["allocate", "create"] = "allocate"
    both_directions: bool = False
    psm_statistics: bool = False


@dataclasses.dataclass(frozen=True, kw_only=True)
class LocateSpecification:
    """Where to look: ``source`` is a check's folder or a table of pairs, ``world`` a synthetic
    cluster (of which ``rounds`` are measured). One of the two.
    """

    source: Path | None = None
    world: Path | None = None
    topology: Path | None = None
    rounds: int | None = None
