"""One record for each MPI and for each scheduler: all that the rest of the program asks about them.

A new one is one module that registers its record, and a line in ``known``. What reads these tables
imports them from ``known``, so that they are full. Pure.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Generic, Literal, Protocol, TypeVar

from wireproof.launch.mpi.install import Family
from wireproof.launch.request import LaunchCommand, LaunchRequest, Starter

if TYPE_CHECKING:
    from wireproof.launch.schedulers.allocation import Allocation


Builder = Callable[[LaunchRequest], LaunchCommand]
Ask = Callable[[Sequence[str], Mapping[str, str]], str]
"""Runs an argument list in an environment and gives what it printed, "" when it failed."""


class _Named(Protocol):
    @property
    def name(self) -> str: ...


Record = TypeVar("Record", bound=_Named)


class Registry(Generic[Record]):
    """Records by name, in the order of registration."""

    def __init__(self) -> None:
        self._records: dict[str, Record] = {}

    def register(self, record: Record) -> Record:
        """Raises ``ValueError`` for a name that is taken."""
        if record.name in self._records:
            raise ValueError(f"{record.name} is registered twice")
        self._records[record.name] = record
        return record

    def __getitem__(self, name: str) -> Record:
        return self._records[name]

    def get(self, name: str) -> Record | None:
        return self._records.get(name)

    def all(self) -> tuple[Record, ...]:
        return tuple(self._records.values())


@dataclasses.dataclass(frozen=True, kw_only=True)
class Mpi:
    """``title``: as people write it. ``launcher``: the usual name of its program, ``launcher_says``
    what that prints as its version. ``library_says``: what the version of its library has.
    ``sonames``: what programs that were built with it are linked with. ``foreign``: prefixes of
    other MPIs' variables that must not reach it. ``build``: the command. ``uniform``: its variables
    where one environment serves all ranks, with the one NIC. ``pmi``: what it speaks with a
    scheduler that starts its ranks, ``pmi_variable`` the one that leads it to the scheduler's
    library for that. ``placed``: variables without which a scheduler's placement is stronger than
    ours; ``detailed``: those that make it print provider and placement. ``pins``: variables that
    pin a host's only rank, where it would undo another's mask; ``{cpu}`` is the core.
    ``windows_over_tcp``, ``without_fabric``: what somebody who starts it by hand should know.
    ``libfabric_variable``: the one that names the libfabric that it loads; ``parameter_files``: its
    variables may stand in files of MCA parameters, too.
    """

    name: Family
    title: str
    launcher: str
    launcher_says: tuple[str, ...]
    library_says: str
    sonames: tuple[str, ...]
    foreign: tuple[str, ...]
    build: Builder
    uniform: Callable[[LaunchRequest, str], dict[str, str]]
    pmi: Literal["pmi2", "pmix"] = "pmi2"
    pmi_variable: str = ""
    placed: Mapping[str, str] = dataclasses.field(default_factory=dict)
    detailed: Mapping[str, str] = dataclasses.field(default_factory=dict)
    pins: Mapping[str, str] = dataclasses.field(default_factory=dict)
    windows_over_tcp: str = ""
    without_fabric: str = ""
    libfabric_variable: str = ""
    parameter_files: bool = False


@dataclasses.dataclass(frozen=True, kw_only=True)
class Reach:
    """How an MPI's own launcher starts its daemons on the hosts of a job. ``hydra``: Hydra's
    options; ``openmpi``, ``prte``: their component ``plm``; ``agent``: a program that takes ssh's
    arguments, for those without such a component.
    """

    hydra: tuple[str, ...] = ("-launcher", "ssh")
    openmpi: str = ""
    prte: str = ""
    agent: str = ""


class NodeState(Protocol):
    """What a scheduler says of one of its nodes."""

    @property
    def state(self) -> str: ...
    @property
    def reason(self) -> str: ...
    @property
    def usable(self) -> bool: ...


@dataclasses.dataclass(frozen=True, kw_only=True)
class Queries:
    """What a scheduler answers of its jobs and nodes. The last argument of each is the argv ahead
    of the scheduler's own commands. ``job_ended``: why a job does not run any more; ``node_states``
    by host; ``topology``: its description of the fabric, as ``topology_command`` prints it.
    """

    title: str
    job_ended: Callable[[str, Sequence[str]], str]
    node_states: Callable[[Sequence[str], Sequence[str]], Mapping[str, NodeState]]
    topology: Callable[[Sequence[str]], str]
    topology_command: str


Options = Callable[
    [LaunchRequest, Sequence[str], Sequence[str]], Sequence[tuple[LaunchRequest, str]]
]
"""(request, the job's hosts, argv ahead of the scheduler's commands) to each request that can
start, best first, with the reason.
"""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Scheduler:
    """``detect``: the allocation that an environment belongs to. ``build``: the command that starts
    ranks in a job. ``program``: what starts them, looked for on PATH. ``reach``: how the MPIs' own
    launchers start their daemons there, by the request's ``starter``. ``nested``: it runs inside
    allocations of others, so it is asked first. ``sockets``: it starts the engine without MPI too.
    ``options``: given where the scheduler itself says how ranks can be started.
    ``queries``: given where it can be asked. ``endings``: pattern and sentence for what stands in a
    log when it ended the job. ``check_task`` raises ``BadInput`` in a task that must
    not start a launch of its own.
    """

    name: str
    title: str
    detect: Callable[[Mapping[str, str], Ask], Allocation | None]
    build: Builder
    program: str
    reach: Mapping[Starter, Reach] = dataclasses.field(default_factory=dict)
    nested: bool = False
    sockets: bool = False
    options: Options | None = None
    queries: Callable[[], Queries] | None = None
    endings: tuple[tuple[str, str], ...] = ()
    check_task: Callable[[Mapping[str, str]], None] | None = None
    step: Callable[[str, str], Sequence[str]] | None = None


MPIS: Registry[Mpi] = Registry()
SCHEDULERS: Registry[Scheduler] = Registry()


def reach_of(request: LaunchRequest) -> Reach:
    """How the hosts of ``request`` are reached where no ``agent`` was given: ssh outside of a
    job.
    """
    scheduler = SCHEDULERS.get(request.scheduler)
    return Reach() if scheduler is None else scheduler.reach.get(request.starter, Reach())
