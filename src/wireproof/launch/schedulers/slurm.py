"""Slurm: by srun, or by the MPI's own launcher with Slurm starting its daemons; chosen by what is
there. Pure.

Options after srun(1) of 20.11 to 24.05. ``--nodelist`` with ``--distribution=arbitrary`` keeps
order and repeats of the names (tried with 22.05), so that rank i runs on host i and a host named
twice gets two ranks; by any other distribution Slurm sorts the nodes.
"""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Sequence

from wireproof.launch.mpi import hydra as mpich_launch
from wireproof.launch.mpi import intel as intel_launch
from wireproof.launch.mpi.environment import (
    clearings,
    intel_nic,
    library_path,
    mpich_nic,
    openmpi_nic,
)
from wireproof.launch.mpi.install import Family
from wireproof.launch.registry import BUILDERS, launcher
from wireproof.launch.request import LaunchCommand, LaunchRequest, Starter
from wireproof.model.errors import BadInput

__all__ = ["SlurmFound", "SlurmWay", "fold_hosts", "slurm", "slurm_ways", "way_request"]

MPI_TYPE = "SLURM_MPI_TYPE"
"""srun's own variable for ``--mpi``: by it a way tells the builder which plugin."""
DISTRIBUTION = "SLURM_DISTRIBUTION"
"""``block``: the hosts stand in the job's order, equally often. Then MPI learns from Slurm who
shares a node, which Slurm does not tell for an arbitrary distribution (Intel MPI: no shared memory
between two ranks of a node).
"""
PMI_LIBRARY = "I_MPI_PMI_LIBRARY"
_PLACED = {"I_MPI_JOB_RESPECT_PROCESS_PLACEMENT": "0"}
"""Under Slurm Intel MPI ignores ``-ppn`` without this."""
_STEP_MARKS = (
    "SLURM_HOSTFILE",
    "SLURM_STEP",
    "SLURM_PROCID",
    "SLURM_LOCALID",
    "SLURM_NODEID",
    "SLURM_TASK_",
    "SLURM_GTIDS",
    "SLURM_NTASKS",
    "SLURM_NPROCS",
    "SLURM_CPUS_PER",
    "SLURM_CPU_BIND",
    "SLURM_DISTRIBUTION",
    "SLURM_MPI_TYPE",
    "SLURM_LABELIO",
    "SLURM_STD",
    "SLURM_EXACT",
    "SLURM_TRES_PER_TASK",
    "SLURM_SRUN_COMM",
    "SLURM_LAUNCH_NODE",
    "SLURM_UMASK",
    "SLURM_EXPORT_ENV",
    "SLURM_MULTI_PROG",
    "SLURM_WAIT",
    "SLURM_TIMELIMIT",
)
"""A step that we may run in, and wishes for other steps: srun takes them for options,
SLURM_HOSTFILE above all.
"""
_SHARED = {"SLURM_OVERLAP": "1"}
"""The option ``--overlap`` as a variable, which Slurm before 20.11 passes over: ranks may share the
job with the step that we run in.
"""
_OWN_STEPS = {**_SHARED, "SLURM_CPU_BIND": "none"}
"""For the srun inside an MPI's launcher: a daemon that is bound to one core would keep all its
ranks there.
"""
_NUMBERED = re.compile(r"(.*?)([0-9]{1,9})", re.ASCII)


@dataclasses.dataclass(frozen=True, kw_only=True)
class SlurmFound:
    """``plugins`` of ``srun --mpi=list``, ``version`` of ``srun --version`` ((0, 0): unknown), path
    of libpmi2.
    """

    plugins: tuple[str, ...] = ()
    version: tuple[int, int] = (0, 0)
    pmi2_library: str = ""


@dataclasses.dataclass(frozen=True, kw_only=True)
class SlurmWay:
    """One way to start: by srun (``starter`` ``scheduler``) with ``plugin``, or by the MPI's
    launcher. ``why`` it.
    """

    starter: Starter
    plugin: str = ""
    variables: tuple[tuple[str, str], ...] = ()
    why: str = ""

    @property
    def name(self) -> str:
        return (
            f"srun --mpi={self.plugin}"
            if self.starter == "scheduler"
            else "the MPI's own launcher under Slurm"
        )


def _pmix(found: SlurmFound) -> str:
    """The PMIx plugin: ``pmix``, or the one version that is there (``pmix_v4``)."""
    offered = [name for name in found.plugins if name == "pmix" or name.startswith("pmix_v")]
    return "pmix" if "pmix" in offered else max(offered, default="")


def _by_srun(family: Family | None, found: SlurmFound) -> SlurmWay | str:
    """srun for an MPI of ``family`` (None: the engine without MPI), or why not."""
    offered = ", ".join(found.plugins) or "nothing that could be asked for"
    if family is None:
        return SlurmWay(
            starter="scheduler", plugin="none", why="the engine without MPI only needs its number"
        )
    if family == "openmpi":
        if plugin := _pmix(found):
            return SlurmWay(
                starter="scheduler", plugin=plugin, why="Open MPI speaks PMIx, and srun offers it"
            )
        return f"Open MPI speaks PMIx, and srun offers {offered}"
    if "pmi2" not in found.plugins:
        return f"this MPI speaks PMI-2, and srun offers {offered}"
    if family == "mpich":
        return SlurmWay(
            starter="scheduler", plugin="pmi2", why="MPICH speaks PMI-2, and srun offers it"
        )
    if not found.pmi2_library:
        return "Intel MPI needs Slurm's libpmi2.so (I_MPI_PMI_LIBRARY) under srun, and it was not found"
    return SlurmWay(
        starter="scheduler",
        plugin="pmi2",
        variables=((PMI_LIBRARY, found.pmi2_library),),
        why=f"Intel MPI speaks PMI-2 through {found.pmi2_library}, and srun offers it",
    )


def slurm_ways(
    request: LaunchRequest,
    found: SlurmFound,
    *,
    job_hosts: Sequence[str] = (),
    wanted: Starter | None = None,
) -> tuple[SlurmWay, ...]:
    """The ways to start ``request`` under Slurm, best first; each next one is the fallback when one
    does not start.

    srun comes first: its steps are accounted, bounded and ended by Slurm itself. ``wanted`` puts
    one kind first. ``job_hosts``: all nodes of the job in Slurm's order. An MPI's own launcher
    takes its hosts in that order, whatever it is told, so it is no way for another one (seen with
    Open MPI 4, MPICH 4 and 5, Intel MPI 2021). Raises ``BadInput`` when there is no way at all.
    """
    family = request.install.family if request.install and not request.meet else None
    chosen = _by_srun(family, found)
    nics = request.claimed_nics
    if family != "openmpi" and len(nics) > 1:
        chosen = f"the hosts' NICs have different names ({', '.join(nics[:4])}), and srun sets one"
    why = chosen if isinstance(chosen, str) else f"should {chosen.name} not start"
    if (
        isinstance(chosen, SlurmWay)
        and job_hosts
        and _in_order(request.hosts, job_hosts)
        and _even(request.hosts)
    ):
        chosen = dataclasses.replace(chosen, variables=(*chosen.variables, (DISTRIBUTION, "block")))
    own = SlurmWay(starter="mpi", variables=_job_variables(request, job_hosts), why=why)
    ways = [chosen] if isinstance(chosen, SlurmWay) else []
    if family is not None and _in_order(request.hosts, job_hosts):
        ways = [own, *ways] if wanted == "mpi" else [*ways, own]
    if not ways:
        raise BadInput(
            f"the ranks cannot be started here: {why}; and other launchers keep Slurm's order of the hosts."
        )
    return tuple(ways)


def _in_order(hosts: Sequence[str], job_hosts: Sequence[str]) -> bool:
    """The hosts, repeats side by side, stand as in the job; true when the job's hosts are not
    known.
    """
    place = {host: index for index, host in enumerate(job_hosts)}
    places = [place.get(host, -1) for host in hosts]
    return not job_hosts or (min(places, default=0) >= 0 and places == sorted(places))


def _even(hosts: Sequence[str]) -> bool:
    return len(set(Counter(hosts).values())) <= 1


def _job_variables(request: LaunchRequest, job_hosts: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """What Slurm sets in a job, for a launcher that we start from outside of it or that has to
    start more ranks.
    """
    if not request.job or not job_hosts:
        return ()
    count, each = str(len(job_hosts)), max(Counter(request.hosts).values(), default=1)
    return tuple(
        {
            **dict.fromkeys(("SLURM_JOB_ID", "SLURM_JOBID"), request.job),
            **dict.fromkeys(("SLURM_JOB_NODELIST", "SLURM_NODELIST"), fold_hosts(job_hosts)),
            **dict.fromkeys(("SLURM_JOB_NUM_NODES", "SLURM_NNODES"), count),
            "SLURM_TASKS_PER_NODE": f"{each}(x{count})",
        }.items()
    )


def way_request(request: LaunchRequest, way: SlurmWay) -> LaunchRequest:
    """``request`` as ``way`` starts it, for ``build_command``."""
    extra = dict(request.extra) | dict(way.variables)
    if way.starter == "scheduler":
        extra[MPI_TYPE] = way.plugin
    return dataclasses.replace(
        request, scheduler="slurm", starter=way.starter, extra=tuple(sorted(extra.items()))
    )


def fold_hosts(hosts: Sequence[str]) -> str:
    """``n[1-3],n7,n5`` for n1 n2 n3 n7 n5: rising runs are folded, the order stays.

    10,000 names written out would not fit into one argument of a program.
    """
    runs: list[tuple[str, str, int, int]] = []  # prefix, first number as written, its value, length
    for host in hosts:
        found = _NUMBERED.fullmatch(host)
        prefix, digits = (found.group(1), found.group(2)) if found else (host, "")
        if runs and digits:
            before, first, value, length = runs[-1]
            padded = str(value + length).zfill(len(first))
            if first and before == prefix and padded == digits:
                runs[-1] = (before, first, value, length + 1)
                continue
        runs.append((prefix, digits, int(digits or 0), 1))
    words = []
    for prefix, first, value, length in runs:
        last = str(value + length - 1).zfill(len(first))
        words.append(f"{prefix}{first}" if length == 1 else f"{prefix}[{first}-{last}]")
    return ",".join(words)


def _srun_argv(request: LaunchRequest, plugin: str) -> list[str]:
    argv = ["srun", *([f"--jobid={request.job}"] if request.job else []), f"--mpi={plugin}"]
    if request.hosts:
        argv += [f"--nodes={len(set(request.hosts))}", f"--ntasks={request.size}"]
        argv += _placement(request)
    else:
        argv += ["--nodes=1", f"--ntasks={request.size}"]
    # Standard input to rank 0 alone, its lines at once; the whole step goes when one rank does; no
    # core is taken away.
    argv += ["--input=0", "--unbuffered", "--kill-on-bad-exit=1", "--cpu-bind=none", "--export=ALL"]
    argv += ["--overcommit"] if request.crowded else []
    argv += [f"--chdir={request.folder}"] if request.folder else []
    return argv


def _placement(request: LaunchRequest) -> list[str]:
    if dict(request.extra).get(DISTRIBUTION) == "block":
        hosts = list(dict.fromkeys(request.hosts))
        each = request.size // len(hosts)
        return [
            f"--ntasks-per-node={each}",
            f"--nodelist={fold_hosts(hosts)}",
            "--distribution=block",
        ]
    return [f"--nodelist={fold_hosts(request.hosts)}", "--distribution=arbitrary"]


def _one_nic(request: LaunchRequest) -> str:
    nics = request.claimed_nics
    if len(nics) > 1:
        raise BadInput(
            f"srun gives all ranks one environment, and the NICs are {', '.join(nics[:4])}: use --launcher mpi."
        )
    return nics[0] if nics else ""


def _srun_environment(
    request: LaunchRequest, family: Family | None
) -> tuple[dict[str, str], list[str]]:
    """(variables for every rank, notes): what the MPI's own launcher would have been told by
    options.
    """
    extra = {name: value for name, value in request.extra if name not in (MPI_TYPE, DISTRIBUTION)}
    base, notes = {**library_path(request), **extra}, list[str]()
    if family == "openmpi":
        arguments, variables = openmpi_nic(request, _one_nic(request))
        if "ob1" in arguments and request.windows and not _is_five(request):
            # its default makes no window over TCP between hosts
            arguments = [*arguments, "--mca", "osc", "pt2pt"]
        settings = {
            f"OMPI_MCA_{key}": value
            for key, value in zip(arguments[1::3], arguments[2::3], strict=True)
        }
        yielding = {"OMPI_MCA_mpi_yield_when_idle": "1"} if request.crowded else {}
        base = {**settings, **yielding, **variables, **base}
    elif family == "intel":
        base = {**intel_nic(request, _one_nic(request)), **base}
        if request.machine_ranks:
            base["I_MPI_PIN"] = "0"  # each lab node believes that it owns the whole machine
        if request.shared_memory is False:
            base["I_MPI_FABRICS"] = "ofi"
        base |= intel_launch.CROWDED if request.crowded else {}
    elif family == "mpich":
        yielding = mpich_launch.CROWDED if request.crowded and request.shares_memory else {}
        base = {**yielding, **mpich_nic(request, _one_nic(request)), **base}
    base |= _SHARED
    if request.crowded:
        notes.append(f"{request.size} ranks on {request.cores} cores: they were told to yield")
    return base, notes


def _is_five(request: LaunchRequest) -> bool:
    found = re.search(r"v?([0-9]+)\.", request.install.version) if request.install else None
    return found is not None and int(found.group(1)) >= 5


def _without(words: Sequence[str], *marks: str, length: int) -> list[str]:
    """``words`` less each run of ``length`` words that begins with ``marks``."""
    kept: list[str] = []
    index = 0
    while index < len(words):
        if tuple(words[index : index + len(marks)]) == marks:
            index += length
        else:
            kept.append(words[index])
            index += 1
    return kept


def _own_argv(argv: Sequence[str], family: Family, engine: Sequence[str]) -> list[str]:
    """The MPI launcher's arguments with Slurm in the place of ssh. What the ranks run is left
    alone.
    """
    end = len(argv) - len(engine)
    head, tail = list(argv[:end]), list(argv[end:])
    if family == "openmpi":
        for key in ("plm", "plm_rsh_agent", "plm_ssh_agent"):
            head = _without(head, "--mca", key, length=3)
        return [head[0], "--mca", "plm", "slurm", *head[1:], *tail]
    head = _without(_without(head, "-launcher", length=2), "-launcher-exec", length=2)
    return [head[0], "-launcher", "slurm", *head[1:], *tail]


def _by_own_launcher(request: LaunchRequest) -> LaunchCommand:
    if request.install is None:
        raise BadInput("the engine without MPI is started by srun under Slurm.")
    family = request.install.family
    job = {
        name: value
        for name, value in request.extra
        if name.startswith("SLURM_") and name != MPI_TYPE
    }
    if request.job:  # without it the launcher's srun would ask for a job of its own, and wait
        job |= dict.fromkeys(("SLURM_JOB_ID", "SLURM_JOBID"), request.job)
    extra = {
        name: value for name, value in request.extra if name not in (*job, MPI_TYPE, PMI_LIBRARY)
    }
    if family == "intel":
        extra = {**_PLACED, **extra}
    command = BUILDERS[family](
        dataclasses.replace(request, agent="", extra=tuple(sorted(extra.items())))
    )
    return dataclasses.replace(
        command,
        argv=tuple(_own_argv(command.argv, family, request.words)),
        environment={**command.environment, **_OWN_STEPS, **job},
        launcher=f"{command.launcher}+slurm",
        clear=(*command.clear, *_STEP_MARKS),
        notes=(*command.notes, "Slurm starts the launcher's daemons"),
    )


@launcher("slurm")
def slurm(request: LaunchRequest) -> LaunchCommand:
    """The ranks of ``request`` in a Slurm job: by srun (``starter`` ``scheduler``) or the MPI's
    launcher (``mpi``).

    Without a way's word for it the plugin is PMIx for Open MPI and PMI-2 for the others.
    """
    if request.starter == "mpi" and not request.meet:
        return _by_own_launcher(request)
    family = request.install.family if request.install and not request.meet else None
    usual = {None: "none", "openmpi": "pmix"}.get(family, "pmi2")
    plugin = dict(request.extra).get(MPI_TYPE, usual)
    environment, notes = _srun_environment(request, family)
    engine = (
        [str(request.engine.path), "run", "--meet", request.meet] if request.meet else request.words
    )
    words = [*request.prefix, *engine] if request.meet else engine
    return LaunchCommand(
        argv=(*_srun_argv(request, plugin), *words),
        environment=environment,
        launcher=f"srun-{plugin}",
        clear=(*clearings(family), *_STEP_MARKS),
        notes=tuple(notes),
        library=str(request.install.library or "") if request.install and family else "",
        expect=request.engine.expect,
        engine=request.engine.path,
    )
