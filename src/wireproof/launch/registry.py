"""A record for each MPI and for each scheduler, with everything that the rest of the program needs.

To add one, write a module that registers its record and add a line to ``known``. Readers of these
tables import them from ``known``, so that they are complete. Pure.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Generic, Literal, Protocol, TypeVar

from wireproof.launch.engines import Family
from wireproof.launch.request import LaunchCommand, LaunchRequest, Starter
from wireproof.model.errors import BadInput
from wireproof.settings.hosts import MOST_HOSTS, host_lines, parse_hosts

# --- An allocation of a scheduler, and how its parts are read from an environment.

_JOB = re.compile(r"[A-Za-z0-9ƒ][A-Za-z0-9ƒ._\[\]-]{0,127}")
_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9._,@+-]{0,127}", re.ASCII)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Allocation:
    """An allocation. ``hosts``: the granted nodes, in the scheduler's order, each once.
    ``give_back``: releases the allocation if wireproof requested it.

    ``ends_unix_s``: when the scheduler will end it, None if unknown.
    """

    scheduler: str
    job: str
    hosts: tuple[str, ...]
    partition: str = ""
    ends_unix_s: float | None = None
    notes: tuple[str, ...] = ()
    give_back: Callable[[], None] | None = dataclasses.field(
        default=None, compare=False, repr=False
    )

    @property
    def owned(self) -> bool:
        return self.give_back is not None


def job_id(environment: Mapping[str, str], name: str) -> str:
    value = environment.get(name, "").strip()
    if value and _JOB.fullmatch(value) is None:
        raise BadInput(
            f"{name}={value[:60]!r} is not the id of a job: unset it, or run inside the job."
        )
    return value


def shown_word(environment: Mapping[str, str], *names: str) -> str:
    """Return the first variable that is set; the value is only shown and recorded, so a strange
    value is left out.
    """
    value = next((environment[name] for name in names if environment.get(name)), "")
    return value if _WORD.fullmatch(value) else ""


def hosts_in(text: str, origin: str) -> tuple[str, ...]:
    """Return the hosts in order, each once. ``origin`` names the variable or file in an error
    message.
    """
    try:
        if (strange := re.search(r"[@!&^]|^file:", text)) is not None:
            raise BadInput(f"{strange.group()!r} is no part of a host's name.")
        return tuple(dict.fromkeys(parse_hosts(text, repeats=True)))
    except BadInput as error:
        raise BadInput(f"{origin} cannot be used: {error}") from error


def hosts_of_slots(path: str, variable: str) -> tuple[str, ...]:
    """Return the hosts of a file with a host name on each line, one line for each slot."""
    origin = f"{variable}={path[:200]}"
    names = list(dict.fromkeys(host_lines(path, origin)))
    if len(names) > MOST_HOSTS:
        raise BadInput(f"{origin} names more than {MOST_HOSTS} hosts: that is no list of hosts.")
    return hosts_in(",".join(names), origin)


Builder = Callable[[LaunchRequest], LaunchCommand]
Ask = Callable[[Sequence[str], Mapping[str, str]], str]
"""Runs an argument list in an environment and returns its output, "" if it failed."""


class _Named(Protocol):
    @property
    def name(self) -> str: ...


Record = TypeVar("Record", bound=_Named)


class Registry(Generic[Record]):
    """Records by name, in the order of registration."""

    def __init__(self) -> None:
        self._records: dict[str, Record] = {}

    def register(self, record: Record) -> Record:
        """Add ``record``. Raise ``ValueError`` for a name that exists."""
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
    """An MPI. ``title``: its name for people. ``launcher``: the usual name of its program,
    ``launcher_says`` the mark in its version. ``library_says``: the mark in the version of its
    library. ``sonames``: the libraries that programs built with it need. ``foreign``: prefixes of
    other MPIs' variables that must not reach it. ``build``: the command. ``uniform``: its variables
    if the same environment serves all ranks, with the common NIC. ``pmi``: its protocol with a
    scheduler that starts its ranks, ``pmi_variable`` the variable that names the scheduler's
    library for it. ``placed``: variables without which a scheduler's placement overrides ours;
    ``detailed``: variables that make it print provider and placement. ``pins``: variables that pin
    a host's only rank, if the MPI would undo another mask; ``{cpu}`` is the core.
    ``windows_over_tcp``, ``without_fabric``: hints for somebody who starts it by hand.
    ``libfabric_variable``: the variable that names the libfabric that it loads;
    ``parameter_files``: its variables may also be in files of MCA parameters.
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
    """How an MPI's launcher starts its daemons on the hosts of a job. ``hydra``: Hydra's options;
    ``openmpi``, ``prte``: their component ``plm``; ``agent``: a program that takes ssh's arguments,
    for launchers without such a component.
    """

    hydra: tuple[str, ...] = ("-launcher", "ssh")
    openmpi: str = ""
    prte: str = ""
    agent: str = ""


class NodeState(Protocol):
    """The state of a node as its scheduler reports it."""

    @property
    def state(self) -> str: ...
    @property
    def reason(self) -> str: ...
    @property
    def usable(self) -> bool: ...


@dataclasses.dataclass(frozen=True, kw_only=True)
class Queries:
    """Questions to a scheduler about its jobs and nodes. The last argument of each is the argv
    before the scheduler's commands. ``job_ended``: why a job no longer runs; ``node_states`` by
    host; ``topology``: its description of the fabric, as ``topology_command`` prints it.
    """

    title: str
    job_ended: Callable[[str, Sequence[str]], str]
    node_states: Callable[[Sequence[str], Sequence[str]], Mapping[str, NodeState]]
    topology: Callable[[Sequence[str]], str]
    topology_command: str


Options = Callable[
    [LaunchRequest, Sequence[str], Sequence[str]], Sequence[tuple[LaunchRequest, str]]
]
"""From (request, the job's hosts, argv before the scheduler's commands) to each request that can
start, best first, with the reason.
"""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Scheduler:
    """A scheduler. ``detect``: the allocation that an environment belongs to. ``build``: the
    command that starts ranks in a job. ``program``: its launcher, searched for on PATH. ``reach``:
    how the MPIs' launchers start their daemons there, by the request's ``starter``. ``nested``: it
    runs inside allocations of others, so it is tried first. ``sockets``: it also starts the engine
    without MPI. ``options``: given if the scheduler itself says how ranks can be started.
    ``queries``: given if it can be queried. ``endings``: pattern and sentence for its messages in a
    log when it ended the job. ``check_task`` raises ``BadInput`` in a task that must not start a
    launch.
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
    """Return how the hosts of ``request`` are reached without an ``agent``: by ssh outside of a
    job.
    """
    scheduler = SCHEDULERS.get(request.scheduler)
    return Reach() if scheduler is None else scheduler.reach.get(request.starter, Reach())
