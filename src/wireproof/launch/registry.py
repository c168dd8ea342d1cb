"""A record for each MPI and for each scheduler, with everything that the rest of the program needs.

To add one, write a module that registers its record and add a line to ``known``. Readers of these
tables import them from ``known``, so that they are complete. Pure.
"""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Literal, TypeVar

from wireproof.launch.engines import EngineChoice, Family, MpiInstall
from wireproof.model.errors import BadInput, CouldNotMeasure
from wireproof.options.hosts import MOST_HOSTS, host_lines, parse_hosts

NicSelection = Literal["claimed", "none"]
Fabric = Literal["", "tcp", "verbs", "psm3", "psm2", "mlx", "opx"]
Netmod = Literal["", "ucx", "ofi"]
Starter = Literal["mpi", "scheduler"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class LaunchRequest:
    """A launch: one engine per entry of ``hosts``, in rank order; a host that occurs twice gets two
    ranks.

    ``hosts`` empty with ``ranks``: this machine. ``nics``: the claimed NIC of each rank ("" none),
    used only with ``nic_selection`` ``claimed``. ``agent``: path of a program called like ssh (""
    for ssh). ``machine_ranks``: number of ranks that share the cores of a machine, if the host
    names do not show this (a lab's nodes are the same machine); ``cores``: number of cores of that
    machine. ``shared_memory`` False: the MPI must not use shared memory. ``meet``: ADDRESS:PORT for
    tcp and ofi; ``over``: the measured transport if it differs from the launcher's ("": MPI, or
    tcp). ``program``: another program and its arguments, started instead of the engine; ``folder``:
    the working folder of its ranks. ``windows``: remote memory access is used. ``scheduler``: the
    name of the scheduler whose allocation contains the hosts ("" none), ``job``: its id.
    ``starter``: the launcher of the ranks there: the scheduler's (``scheduler``) or the MPI's
    (``mpi``). ``prefix``: a site command through which every rank is started (modules, a
    container), such as ``apptainer exec image.sif``. ``plugin``: the plugin of the scheduler's
    launcher for the MPI ("": the default). ``in_job_order``: the hosts are in the job's order, each
    the same number of times.
    """

    engine: EngineChoice
    install: MpiInstall | None = None
    hosts: tuple[str, ...] = ()
    ranks: int = 0
    nics: tuple[str, ...] = ()
    agent: str = ""
    nic_selection: NicSelection = "claimed"
    fabric: Fabric = ""
    netmod: Netmod = ""
    shared_memory: bool | None = None
    machine_ranks: int = 0
    cores: int = 0
    root: bool = False
    meet: str = ""
    over: Literal["", "ofi"] = ""
    extra: tuple[tuple[str, str], ...] = ()
    program: tuple[str, ...] = ()
    folder: str = ""
    windows: bool = True
    scheduler: str = ""
    job: str = ""
    starter: Starter = "mpi"
    prefix: tuple[str, ...] = ()
    plugin: str = ""
    in_job_order: bool = False

    @property
    def rank_argv(self) -> list[str]:
        """The command of each rank. If an MPI starts the ranks but is not measured, it contains an
        option for this.
        """
        by_mpi = ("--transport", self.over) if self.over and not self.meet else ()
        return [*self.prefix, *(self.program or (str(self.engine.path), "run", *by_mpi))]

    @property
    def meet_argv(self) -> list[str]:
        """The options with which a rank finds the others without an MPI, and the transport."""
        return ["--meet", self.meet, *(("--transport", self.over) if self.over else ())]

    @property
    def mpi_install(self) -> MpiInstall:
        """The selected MPI. Raise ``CouldNotMeasure`` if there is none."""
        if self.install is None:
            raise CouldNotMeasure("no MPI was selected for the launch.")
        return self.install

    @property
    def size(self) -> int:
        return len(self.hosts) or self.ranks

    @property
    def local(self) -> bool:
        """True if no other host is involved, so that the launcher forks."""
        return not self.hosts

    @property
    def crowded(self) -> bool:
        """True if a machine has more ranks than cores, so that they must yield to each other."""
        most = self.machine_ranks or (
            max(Counter(self.hosts).values()) if self.hosts else self.size
        )
        return bool(self.cores) and most > self.cores

    def crowding(self, measure: str) -> tuple[str, ...]:
        """Return a note about the ``measure`` against oversubscribed cores, if it is needed."""
        if not self.crowded:
            return ()
        return (f"{self.size} ranks on {self.cores} cores: {measure}",)

    @property
    def shares_memory(self) -> bool:
        """True if several ranks are started on the same host, so that the MPI may use shared memory
        between them.
        """
        return self.local or len(set(self.hosts)) < len(self.hosts)

    @property
    def claimed_nics(self) -> tuple[str, ...]:
        """The distinct NICs that the MPI should use; empty if the MPI chooses."""
        return (
            ()
            if self.nic_selection == "none"
            else tuple(dict.fromkeys(nic for nic in self.nics if nic))
        )

    def only_nic(self, refusal: str) -> str:
        """Return the NIC that the MPI should use, "" if the MPI chooses. Raise ``BadInput`` with
        ``refusal``, whose ``{}`` is replaced by the NICs, if there are several.
        """
        nics = self.claimed_nics
        if len(nics) > 1:
            raise BadInput(refusal.format(", ".join(nics[:4])))
        return nics[0] if nics else ""

    def started(
        self,
        launcher: str,
        argv: Sequence[str],
        environment: dict[str, str],
        *,
        clear: tuple[str, ...],
        notes: tuple[str, ...] = (),
    ) -> LaunchCommand:
        """Return the command with which ``launcher`` fulfils this request."""
        return LaunchCommand(
            argv=tuple(argv),
            environment=environment,
            launcher=launcher,
            clear=clear,
            notes=notes,
            library=str(self.install.library or "") if self.install else "",
            expect=self.engine.expect,
            engine=self.engine.path,
        )

    def equal_count(self) -> int | None:
        """Return the number of ranks of each host if it is the same for all and the ranks of each
        host are consecutive; else None.
        """
        hosts = [host for host, _, _ in self.sections()]
        counts = {count for _, _, count in self.sections()}
        return counts.pop() if len(set(hosts)) == len(hosts) and len(counts) == 1 else None

    def sections(self) -> list[tuple[str, str, int]]:
        """Sequences of ranks as (host, claimed NIC, count), in rank order, for launchers that place
        rank by rank.
        """
        nics = self.nics if self.nic_selection == "claimed" and self.nics else ("",) * self.size
        hosts = self.hosts or ("",) * self.size
        return [(*key, len(list(group))) for key, group in groupby(zip(hosts, nics, strict=True))]


@dataclasses.dataclass(frozen=True, kw_only=True)
class LaunchCommand:
    """The ``argv`` to start, the ``environment`` to set, the names to remove, and notes for a
    reader.

    ``clear``: prefixes of inherited variables that must not reach this MPI. ``expect``: text that
    the version of the loaded library must contain, for the plan's ``Transport``. ``why``: the
    reason for this command, if several commands can start the ranks.
    """

    argv: tuple[str, ...]
    environment: dict[str, str]
    launcher: str
    clear: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    library: str = ""
    expect: str = ""
    engine: Path = Path()
    why: str = ""

    def noted(self, note: str) -> LaunchCommand:
        """Return the command with an additional note."""
        return dataclasses.replace(self, notes=(*self.notes, note))


# --- The records of schedulers and MPIs.


# --- An allocation of a scheduler, and the functions that read its parts from an environment.

_JOB = re.compile(r"[A-Za-z0-9ƒ][A-Za-z0-9ƒ._\[\]-]{0,127}")
_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9._,@+-]{0,127}", re.ASCII)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Allocation:
    """An allocation. ``hosts``: the granted nodes, in the scheduler's order, each once.
    ``give_back``: releases the allocation if wireproof requested it.

    ``ends_unix_s``: the time at which the scheduler will end it, None if unknown.
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
    """Return the value of the first variable that is set; it is only shown and recorded, so an
    unusual value is left out.
    """
    value = next((environment[name] for name in names if environment.get(name)), "")
    return value if _WORD.fullmatch(value) else ""


def hosts_in(text: str, origin: str) -> tuple[str, ...]:
    """Return the hosts in order, each once. ``origin``: the variable or file, for messages."""
    try:
        if (strange := re.search(r"[@!&^]|^file:", text)) is not None:
            raise BadInput(f"{strange.group()!r} cannot be part of a host's name.")
        return tuple(dict.fromkeys(parse_hosts(text, repeats=True)))
    except BadInput as error:
        raise BadInput(f"{origin} cannot be used: {error}") from error


def hosts_of_slots(path: str, variable: str) -> tuple[str, ...]:
    """Return the hosts in a file that contains a line with the host name for each slot."""
    origin = f"{variable}={path[:200]}"
    names = list(dict.fromkeys(host_lines(path, origin)))
    if len(names) > MOST_HOSTS:
        raise BadInput(
            f"{origin} contains more than {MOST_HOSTS} hosts, too many for a list of hosts."
        )
    return hosts_in(",".join(names), origin)


Builder = Callable[[LaunchRequest], LaunchCommand]
Ask = Callable[[Sequence[str], Mapping[str, str]], str]
"""Runs an argument list in an environment and returns its output, "" if it failed."""


Record = TypeVar("Record", bound="Mpi | Scheduler")


class Registry(dict[str, Record]):
    """Records by name, in the order of registration."""

    def register(self, record: Record) -> Record:
        """Add ``record``. Raise ``ValueError`` for a name that exists."""
        if record.name in self:
            raise ValueError(f"{record.name} is registered twice")
        self[record.name] = record
        return record


@dataclasses.dataclass(frozen=True, kw_only=True)
class Mpi:
    """An MPI. ``title``: its name for people. ``launcher``: the usual name of its launcher,
    ``launcher_says``: texts that identify it in the version output of its launcher.
    ``library_says``: text that identifies it in the version of its library. ``sonames``: the
    libraries that programs built with it need. ``foreign``: prefixes of other MPIs' variables that
    must not reach it. ``build``: builds the command. ``uniform``: its variables, with the common
    NIC, if all ranks have the same environment. ``pmi``: its protocol with a scheduler that starts
    its ranks, ``pmi_variable``: the variable with the path of the scheduler's library for this
    protocol. ``placed``: variables without which a scheduler's placement overrides ours;
    ``detailed``: variables that make it print provider and placement. ``pins``: variables that pin
    a host's only rank, if the MPI would override another mask; ``{cpu}`` is the core.
    ``windows_over_tcp``, ``without_fabric``: hints for users who start it by hand.
    ``libfabric_variable``: the variable with the path of the libfabric to load;
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
    """The method with which an MPI's launcher starts its daemons on the hosts of a job. ``hydra``:
    Hydra's options; ``openmpi``, ``prte``: their component ``plm``; ``agent``: a program that takes
    ssh's arguments, for launchers without such a component.
    """

    hydra: tuple[str, ...] = ("-launcher", "ssh")
    openmpi: str = ""
    prte: str = ""
    agent: str = ""


@dataclasses.dataclass(frozen=True, kw_only=True)
class NodeState:
    """The state of a node as its scheduler reports it: ``state`` is the scheduler's name without
    its marks; ``reason`` the administrator's reason; ``usable``: jobs can run there.
    """

    name: str
    state: str
    reason: str
    usable: bool


@dataclasses.dataclass(frozen=True, kw_only=True)
class Queries:
    """Queries to a scheduler about its jobs and nodes. The last argument of each is the argv before
    the scheduler's commands. ``job_ended``: the reason why a job no longer runs; ``node_states``:
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
"""Maps (request, the job's hosts, argv before the scheduler's commands) to the requests that can
start, best first, each with its reason.
"""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Scheduler:
    """A scheduler. ``detect``: returns the allocation to which an environment belongs. ``build``:
    builds the command that starts ranks in a job. ``program``: its launcher, searched for on PATH.
    ``reach``: the method with which the MPIs' launchers start their daemons there, by the request's
    ``starter``. ``nested``: it runs inside allocations of others, so it is tried first.
    ``sockets``: it also starts the engine without MPI. ``options``: given if the scheduler itself
    determines the ways to start ranks. ``queries``: given if it can be queried. ``endings``:
    pattern and sentence for its log messages about the end of the job. ``check_task`` raises
    ``BadInput`` in a task that must not start a launch.
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
    queries: Queries | None = None
    endings: tuple[tuple[str, str], ...] = ()
    check_task: Callable[[Mapping[str, str]], None] | None = None
    step: Callable[[str, str], Sequence[str]] | None = None


MPIS: Registry[Mpi] = Registry()
SCHEDULERS: Registry[Scheduler] = Registry()


def reach_of(request: LaunchRequest) -> Reach:
    """Return the method with which the hosts of ``request`` are reached without an ``agent``: ssh
    outside a job.
    """
    scheduler = SCHEDULERS.get(request.scheduler)
    return Reach() if scheduler is None else scheduler.reach.get(request.starter, Reach())
