"""A launch request and the resulting command, as values. Pure."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Literal

from wireproof.launch.engines import EngineChoice, MpiInstall

NicSelection = Literal["claimed", "none"]
Fabric = Literal["", "tcp", "verbs", "psm3", "psm2", "mlx", "opx"]
Netmod = Literal["", "ucx", "ofi"]
Starter = Literal["mpi", "scheduler"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class LaunchRequest:
    """A launch: one engine per entry of ``hosts``, in rank order; a host that occurs twice gets two
    ranks on purpose.

    ``hosts`` empty with ``ranks``: this machine. ``nics``: the claimed NIC of each rank ("" none),
    used only with ``nic_selection`` ``claimed``. ``agent``: path of a program called like ssh (""
    for ssh). ``machine_ranks``: ranks that share the cores of a machine, if the hosts hide it (a
    lab's nodes are the same machine); ``cores``: of that machine. ``shared_memory`` False asks the
    MPI not to use it. ``meet``: ADDRESS:PORT for tcp and ofi; ``over``: the measured transport if
    it is not that of the launcher ("": MPI, or tcp). ``program``: another program and its
    arguments, started instead of the engine; ``folder``: the working folder of its ranks.
    ``windows``: remote memory access is used. ``scheduler``: the name of the scheduler whose
    allocation the hosts belong to ("" none), ``job`` its id. ``starter``: what starts the ranks
    there: the scheduler's launcher (``scheduler``) or the MPI's (``mpi``). ``prefix``: a command of
    the site through which every rank is started (modules, a container), such as ``apptainer exec
    image.sif``. ``plugin``: the plugin of the scheduler's launcher for the MPI ("": the usual one).
    ``in_job_order``: the hosts are in the job's order, equally often.
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
        option for that.
        """
        by_mpi = ("--transport", self.over) if self.over and not self.meet else ()
        return [*self.prefix, *(self.program or (str(self.engine.path), "run", *by_mpi))]

    @property
    def meet_argv(self) -> list[str]:
        """The options by which a rank finds the others without an MPI, and the transport."""
        return ["--meet", self.meet, *(("--transport", self.over) if self.over else ())]

    @property
    def size(self) -> int:
        return len(self.hosts) or self.ranks

    @property
    def local(self) -> bool:
        """Whether no other host is involved, so that the launcher forks."""
        return not self.hosts

    @property
    def crowded(self) -> bool:
        """Whether a machine has more ranks than cores, so that they must yield to each other."""
        most = self.machine_ranks or (
            max(Counter(self.hosts).values()) if self.hosts else self.size
        )
        return bool(self.cores) and most > self.cores

    @property
    def shares_memory(self) -> bool:
        """Whether several ranks are started on the same host, so that the MPI may use shared memory
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

    def started(
        self,
        launcher: str,
        argv: Sequence[str],
        environment: dict[str, str],
        *,
        clear: tuple[str, ...],
        notes: tuple[str, ...] = (),
    ) -> LaunchCommand:
        """Return the command by which ``launcher`` fulfils this request."""
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

    def sections(self) -> list[tuple[str, str, int]]:
        """Runs of (host, claimed NIC, count) in rank order, for launchers that place
        rank by rank.
        """
        nics = self.nics if self.nic_selection == "claimed" and self.nics else ("",) * self.size
        hosts = self.hosts or ("",) * self.size
        return [(*key, len(list(group))) for key, group in groupby(zip(hosts, nics, strict=True))]


@dataclasses.dataclass(frozen=True, kw_only=True)
class LaunchCommand:
    """The ``argv`` to start, the ``environment`` to set, the names to remove, and notes for a
    reader.

    ``clear`` are prefixes of inherited variables that must not reach this MPI. ``expect``: text
    that the version of the answering library must contain; it belongs in the plan's ``Transport``.
    """

    argv: tuple[str, ...]
    environment: dict[str, str]
    launcher: str
    clear: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    library: str = ""
    expect: str = ""
    engine: Path = Path()
