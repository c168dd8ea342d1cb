"""Commands for Slurm: argument lists and job scripts. Pure.

Options according to the manuals of 22.05 to 24.05 (salloc(1), squeue(1), sinfo(1), scontrol(1)).
"""

import dataclasses
import math
import re
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from wireproof.files.held import real_path
from wireproof.files.programs import find_program, printed
from wireproof.launch.registry import MPIS, LaunchRequest, Mpi, Starter
from wireproof.launch.schedulers.slurm_answers import parse_job
from wireproof.model.errors import BadInput
from wireproof.options.hosts import fold_hosts

_WORD = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.,@+:/&|*()!=\[\]-]{0,1023}", re.ASCII)
JOB_ID = re.compile(r"[0-9]{1,12}(?:[_+][0-9]{1,9})?", re.ASCII)
_MOST_NODES = 100_000
_LONGEST_LIMIT_S = 366 * 86400


@dataclasses.dataclass(frozen=True, kw_only=True)
class JobRequest:
    """A job to request. ``nodes`` 0: as many as ``hosts``. ``limit_s`` 0: the limit of the
    partition.

    ``wait_s``: maximum time in the queue, ``poll_s``: interval between readings of its state.
    ``extra``: options of the site for salloc and sbatch. ``through``: argv in front of every
    command, of a program that runs the rest (a lab's ``enter``).
    """

    nodes: int = 0
    partition: str = ""
    limit_s: float = 0
    account: str = ""
    qos: str = ""
    hosts: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    reservation: str = ""
    constraint: str = ""
    exclusive: bool = True
    ranks_per_node: int = 1
    name: str = "wireproof"
    wait_s: float = 3600.0
    poll_s: float = 3.0
    extra: tuple[str, ...] = ()
    through: tuple[str, ...] = ()


def check_request(request: JobRequest) -> None:
    """Raise ``BadInput`` for values that salloc's options do not accept; no value may become
    another option.
    """
    _check_amounts(request)
    for what in ("partition", "account", "qos", "reservation", "constraint", "name"):
        value = getattr(request, what)
        if value and _WORD.fullmatch(value) is None:
            raise BadInput(
                f"the {what} {value[:60]!r} is not a valid name in Slurm: use letters, digits and"
                " _ . , - without spaces."
            )
    for word in request.extra:
        if not word.startswith("-") or not word.isprintable():
            raise BadInput(f"{word[:60]!r} is not an option of salloc: write --option=value.")


def _check_amounts(request: JobRequest) -> None:
    if not (0 <= request.nodes <= _MOST_NODES) or not (request.nodes or request.hosts):
        raise BadInput(f"{request.nodes} nodes cannot be requested: give 1 to {_MOST_NODES}.")
    if request.hosts and request.nodes > len(request.hosts):
        raise BadInput(
            f"{request.nodes} nodes are requested but only {len(request.hosts)} are listed: list"
            " more, or none."
        )
    if not 0 <= request.limit_s <= _LONGEST_LIMIT_S:
        raise BadInput(
            f"a time limit of {request.limit_s:g} s cannot be requested: give at most a year."
        )
    if not 1 <= request.ranks_per_node <= 4096:
        raise BadInput(
            f"{request.ranks_per_node} ranks per node cannot be requested: give 1 to 4096."
        )


def job_options(request: JobRequest) -> list[str]:
    """Return the common options of salloc and sbatch."""
    check_request(request)
    words = [
        f"--nodes={request.nodes or len(request.hosts)}",
        f"--ntasks-per-node={request.ranks_per_node}",
    ]
    for option in ("partition", "account", "qos", "reservation", "constraint"):
        if value := getattr(request, option):
            words.append(f"--{option}={value}")
    if request.limit_s:
        # Slurm counts whole minutes
        words.append(f"--time={max(1, math.ceil(request.limit_s / 60))}")
    if request.hosts:
        words.append(f"--nodelist={','.join(request.hosts)}")
    if request.exclude:
        words.append(f"--exclude={','.join(request.exclude)}")
    words += ["--exclusive"] if request.exclusive else []
    return [*words, f"--job-name={request.name}", *request.extra]


def salloc_argv(request: JobRequest, held: Sequence[str] = ()) -> list[str]:
    """Return the ``salloc`` command for the request. ``held``: the command that holds the job;
    without it, ``--no-shell`` is used and the job continues.
    """
    options = job_options(request)
    return ["salloc", *options, *(held or ["--no-shell"])]


def batch_script(argv: Sequence[str], request: JobRequest) -> str:
    """Return a script for ``sbatch`` with the same request that runs ``argv`` on the first node."""
    options = job_options(request)
    lines = [
        "#!/bin/bash",
        *(f"#SBATCH {option}" for option in options),
        f"#SBATCH --output={request.name}-%j.out",
    ]
    return "\n".join([*lines, "", shlex.join(argv), ""])


def queue_argv(job: str) -> list[str]:
    return ["squeue", "--noheader", "--states=all", f"--jobs={_checked(job)}", "--format=%T|%r|%S"]


def job_argv(job: str) -> list[str]:
    return ["scontrol", "--oneliner", "show", "job", _checked(job)]


def node_states_argv(hosts: Sequence[str] = ()) -> list[str]:
    """Return the ``sinfo`` command for ``hosts``, or for all nodes if the list would be too long
    for an argument.
    """
    argv = ["sinfo", "--noheader", "--Node", "--format=%N|%T|%E"]
    return [*argv, f"--nodes={','.join(hosts)}"] if 0 < len(hosts) <= 1000 else argv


def _checked(job: str) -> str:
    if JOB_ID.fullmatch(job) is None:
        raise BadInput(f"{job[:40]!r} is not the id of a Slurm job.")
    return job


# --- The ways in which this Slurm can start an MPI: srun with one of its plugins, or the MPI's
# launcher.


_PLUGIN = re.compile(r"[a-z][a-z0-9_]{0,31}", re.ASCII)
_NAMES = ("libpmi2.so", "libpmi2.so.0")
_FOLDERS = (
    "/usr/lib64",
    "/usr/lib64/slurm",
    "/usr/lib/*-linux-gnu",
    "/usr/lib",
    "/usr/local/lib",
    "/opt/slurm/lib*",
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class SlurmFound:
    """The ``plugins`` of ``srun --mpi=list``, and the path of libpmi2."""

    plugins: tuple[str, ...] = ()
    pmi2_library: str = ""


def _pmix(found: SlurmFound) -> str:
    """Return the PMIx plugin: ``pmix``, or the only version that exists (``pmix_v4``)."""
    offered = [name for name in found.plugins if name == "pmix" or name.startswith("pmix_v")]
    return "pmix" if "pmix" in offered else max(offered, default="")


def _with(request: LaunchRequest, variables: Mapping[str, str], **fields: Any) -> LaunchRequest:
    """Return ``request`` with ``variables``, as Slurm starts it."""
    extra = {**dict(request.extra), **variables}
    return dataclasses.replace(
        request, scheduler="slurm", extra=tuple(sorted(extra.items())), **fields
    )


def _by_srun(
    request: LaunchRequest, mpi: Mpi | None, found: SlurmFound
) -> tuple[LaunchRequest | None, str]:
    """Return srun for an MPI (None: the engine without MPI) and the reason, or None and the reason
    why it cannot be used.
    """
    offered, nics = ", ".join(found.plugins) or "no plugin list", request.claimed_nics
    if (mpi is None or mpi.pmi != "pmix") and len(nics) > 1:
        named = ", ".join(nics[:4])
        return None, f"the hosts' NICs have different names ({named}), but srun sets only one"
    by_srun = _with(request, {}, starter="scheduler", plugin="none")
    if mpi is None:
        return by_srun, "the engine without MPI needs only its rank"
    pmix = mpi.pmi == "pmix"
    speaks = f"{mpi.title} speaks {'PMIx' if pmix else 'PMI-2'}"
    plugin = _pmix(found) if pmix else "pmi2"
    if not plugin or (not pmix and plugin not in found.plugins):
        return None, f"{speaks}, and srun offers {offered}"
    by_srun = dataclasses.replace(by_srun, plugin=plugin)
    if not mpi.pmi_variable:
        return by_srun, f"{speaks}, and srun offers it"
    if not found.pmi2_library:
        return None, (
            f"{mpi.title} needs Slurm's libpmi2.so ({mpi.pmi_variable}) under srun, but it was not"
            " found"
        )
    why = f"{speaks} through {found.pmi2_library}, and srun offers it"
    return _with(by_srun, {mpi.pmi_variable: found.pmi2_library}), why


def slurm_options(
    request: LaunchRequest,
    found: SlurmFound,
    *,
    job_hosts: Sequence[str] = (),
    wanted: Starter | None = None,
) -> list[tuple[LaunchRequest, str]]:
    """Return (request for ``build_command``, reason in a sentence) for each way to start
    ``request`` under Slurm, best first; each is the fallback for the way before it.

    srun comes first, because Slurm accounts for, limits and ends its steps. ``wanted`` puts a kind
    first. ``job_hosts``: all nodes of the job in Slurm's order. An MPI's launcher uses its hosts in
    that order regardless of its options, so it does not support another order (observed with Open
    MPI 4, MPICH 4 and 5, Intel MPI 2021). Raise ``BadInput`` if no launcher can start the request.
    """
    mpi = MPIS[request.install.family] if request.install and not request.meet else None
    ordered = _in_order(request.hosts, job_hosts)
    by_srun, why = _by_srun(request, mpi, found)
    options: list[tuple[LaunchRequest, str]] = []
    if by_srun is not None:
        # Only in the job's order does Slurm tell an MPI which ranks share a node (without it, Intel
        # MPI uses no shared memory between two ranks of a node).
        even = bool(job_hosts) and ordered and len(set(Counter(request.hosts).values())) <= 1
        name = f"srun --mpi={by_srun.plugin}"
        by_srun = dataclasses.replace(by_srun, in_job_order=even)
        options.append((by_srun, f"started by {name}: {why}"))
        why = f"in case {name} does not start"
    if mpi is not None and ordered:
        variables = _job_variables(request, job_hosts)
        own = _with(request, variables, starter="mpi", plugin="", in_job_order=False)
        option = (own, f"started by the MPI's own launcher under Slurm: {why}")
        options = [option, *options] if wanted == "mpi" else [*options, option]
    if not options:
        raise BadInput(
            f"the ranks cannot be started here: {why}; other launchers use Slurm's order of the"
            " hosts."
        )
    return options


def _in_order(hosts: Sequence[str], job_hosts: Sequence[str]) -> bool:
    """Return whether the hosts, with adjacent repetitions, are in the job's order; True if the
    job's hosts are unknown.
    """
    place = {host: index for index, host in enumerate(job_hosts)}
    places = [place.get(host, -1) for host in hosts]
    return not job_hosts or (min(places, default=0) >= 0 and places == sorted(places))


def _job_variables(request: LaunchRequest, job_hosts: Sequence[str]) -> dict[str, str]:
    """Return the variables that Slurm sets in a job, for a launcher that is started outside it
    or that must start more ranks.
    """
    if not request.job or not job_hosts:
        return {}
    count, each = str(len(job_hosts)), max(Counter(request.hosts).values(), default=1)
    return {
        **dict.fromkeys(("SLURM_JOB_ID", "SLURM_JOBID"), request.job),
        **dict.fromkeys(("SLURM_JOB_NODELIST", "SLURM_NODELIST"), fold_hosts(job_hosts)),
        **dict.fromkeys(("SLURM_JOB_NUM_NODES", "SLURM_NNODES"), count),
        "SLURM_TASKS_PER_NODE": f"{each}(x{count})",
    }


def parse_plugins(text: str) -> tuple[str, ...]:
    """Return the names in ``srun --mpi=list`` (22.05: one on each line below a heading; before:
    each after ``srun: ``).
    """
    found: list[str] = []
    for line in text[: 1 << 16].splitlines():
        names = line.removeprefix("srun: ").strip()
        if ":" in names:
            names = names.partition(":")[2]  # specific pmix plugin versions available: pmix_v4
        found += (
            [name for name in names.replace(",", " ").split() if _PLUGIN.fullmatch(name)]
            if "..." not in line
            else []
        )
    return tuple(dict.fromkeys(found))


def _pmi2_library() -> str:
    """Return Slurm's libpmi2 from srun's prefix or the folders of distributions; it must also exist
    on the nodes.
    """
    srun = find_program("srun")
    beside = (
        [
            str(real_path(Path(srun)).parent.parent / name)
            for name in ("lib64", "lib", "lib64/slurm")
        ]
        if srun
        else []
    )
    for pattern in (*beside, *_FOLDERS):
        for folder in sorted(Path("/").glob(pattern.lstrip("/")))[:8]:
            for name in _NAMES:
                if (folder / name).is_file():
                    return str(folder / name)
    return ""


def find_slurm(through: Sequence[str] = ()) -> SlurmFound:
    """Query srun; missing answers are empty. ``through`` as in ``JobRequest``."""
    return SlurmFound(
        plugins=parse_plugins(printed([*through, "srun", "--mpi=list"], errors=True)),
        pmi2_library=_pmi2_library(),
    )


def _job_hosts(job: str, through: Sequence[str]) -> tuple[str, ...]:
    info = parse_job(printed([*through, *job_argv(job)], errors=True)) if job else None
    return info.hosts if info else ()


def slurm_requests(
    request: LaunchRequest, job_hosts: Sequence[str] = (), through: Sequence[str] = ()
) -> list[tuple[LaunchRequest, str]]:
    """Return (request for ``build_command``, reason in a sentence) for each option to start
    ``request`` in its Slurm job.

    The first is preferred; the next is the fallback if it ends as ``not-started``.
    ``request.starter``: the user's preference. ``job_hosts``: all nodes of the job; if empty, Slurm
    is queried. Raise ``BadInput`` if no launcher can start the request.
    """
    hosts = tuple(job_hosts) or _job_hosts(request.job, through)
    return slurm_options(request, find_slurm(through), job_hosts=hosts, wanted=request.starter)
