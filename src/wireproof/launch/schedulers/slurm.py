"""Slurm: start ranks with srun, or with the MPI's launcher, whose daemons Slurm starts, depending
on which is available. Pure.

Options according to srun(1) of 20.11 to 24.05. ``--nodelist`` with ``--distribution=arbitrary``
keeps the order and repetitions of the names (tested with 22.05), so that rank i runs on host i and
a host that occurs twice gets two ranks; with any other distribution Slurm sorts the nodes.
"""

import dataclasses
import math
import re
from collections.abc import Iterable, Mapping, Sequence

from wireproof.launch.engines import Family
from wireproof.launch.mpi.environment import (
    clearings,
    library_path,
    provider_nic,
    uniform_environment,
)
from wireproof.launch.registry import (
    MPIS,
    SCHEDULERS,
    Allocation,
    Ask,
    LaunchCommand,
    LaunchRequest,
    NodeState,
    Queries,
    Reach,
    Scheduler,
    hosts_in,
    job_id,
    shown_word,
)
from wireproof.launch.schedulers.slurm_answers import parse_node_states
from wireproof.launch.schedulers.slurm_commands import (
    JOB_ID,
    job_argv,
    node_states_argv,
    slurm_requests,
)
from wireproof.launch.schedulers.slurm_job import asked, job_ended, node_states, topology_text
from wireproof.model import gathered
from wireproof.model.errors import BadInput, WireproofError
from wireproof.model.quantity import whole
from wireproof.options.hosts import fold_hosts, parse_hosts

# --- Decide whether a Slurm node may be changed: only our job holds it, or it is out of service
# and empty.

_OUT_OF_SERVICE = ("drain", "maint", "down", "fail")
CONFIGURATION = (
    "/etc/slurm/slurm.conf",
    "/etc/slurm-llnl/slurm.conf",
    "/run/slurm/conf/slurm.conf",
)
"""Paths of the configuration on a Slurm node; the last is used if the controller provides it."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Slurm:
    """The state of Slurm. ``states``: the state of each node; ``jobs``: the current jobs on each
    node; ``ours``: the job of this process, "" for none; ``alone``: that job does not share its
    nodes.
    """

    states: Mapping[str, NodeState] = dataclasses.field(default_factory=dict)
    jobs: Mapping[str, frozenset[str]] = dataclasses.field(default_factory=dict)
    ours: str = ""
    alone: bool = False

    def refusals(self, hosts: Iterable[str]) -> dict[str, str]:
        """Return the reason why each host must not be changed, by host."""
        found = {host: self._refusal(host) for host in hosts}
        return {host: why for host, why in found.items() if why}

    def _refusal(self, host: str) -> str:
        node = self.states.get(host) or self.states.get(host.split(".", 1)[0])
        if node is None:
            return ""
        jobs = self.jobs.get(node.name, frozenset())
        if self.ours in jobs:
            return self._shared(node, jobs)
        if jobs:
            return f"Slurm job {min(jobs)} runs on it: wait until the job ends, or drain the node"
        if node.state.startswith(_OUT_OF_SERVICE):
            return ""
        return (
            f"its state in Slurm is {node.state}, so Slurm may start a job on it: drain it, or"
            " run inside a job that has it exclusively"
        )

    def _shared(self, node: NodeState, jobs: frozenset[str]) -> str:
        others = sorted(jobs - {self.ours})
        if others:
            return f"Slurm job {others[0]} also runs on it"
        if self.alone or node.state.startswith("allocated"):
            return ""
        return f"job {self.ours} does not have it exclusively: request the job with --exclusive"


def jobs_argv() -> list[str]:
    """Return the ``squeue`` command for all jobs that are now on nodes, including jobs that are
    completing.
    """
    states = "--states=RUNNING,COMPLETING,SUSPENDED,STOPPED,CONFIGURING"
    return ["squeue", "--noheader", states, "--format=%A|%N"]


def parse_jobs(text: str) -> dict[str, frozenset[str]]:
    """Return the jobs on each node."""
    found: list[tuple[str, str]] = []
    for line in text.splitlines():
        job, _, nodes = line.strip().partition("|")
        if not JOB_ID.fullmatch(job) or nodes in ("", "(null)"):
            continue
        try:
            names = parse_hosts(nodes)
        except BadInput:
            continue
        found += [(name, job) for name in names]
    return {name: frozenset(jobs) for name, jobs in gathered(found).items()}


def slurm_of(environment: Mapping[str, str], through: Sequence[str] = ()) -> Slurm | None:
    """Return Slurm's report on its nodes; None if it does not answer. ``environment``: that of the
    enclosing job, if any.
    """
    ours = environment.get("SLURM_JOB_ID", "")
    ours = ours if JOB_ID.fullmatch(ours) else ""
    try:
        states = asked(node_states_argv(), through)
        jobs = asked(jobs_argv(), through)
        job = asked(job_argv(ours), through) if ours else ""
    except WireproofError:
        return None
    return Slurm(
        states=parse_node_states(states),
        jobs=parse_jobs(jobs),
        ours=ours,
        alone=bool(re.search(r"(?:^| )OverSubscribe=NO(?: |$)", job, re.MULTILINE)),
    )


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
"""Variables of an enclosing step, and of other steps, which srun treats as options, in particular
SLURM_HOSTFILE.
"""
_SHARED = {"SLURM_OVERLAP": "1"}
"""The option ``--overlap`` as a variable, which Slurm before 20.11 ignores: ranks may share the job
with the enclosing step.
"""
_OWN_STEPS = {**_SHARED, "SLURM_CPU_BIND": "none"}
"""For the srun inside an MPI's launcher: a daemon bound to one core would keep all its ranks on
that core.
"""


def _srun_argv(request: LaunchRequest, plugin: str) -> list[str]:
    argv = ["srun", *([f"--jobid={request.job}"] if request.job else []), f"--mpi={plugin}"]
    if request.hosts:
        argv += [f"--nodes={len(set(request.hosts))}", f"--ntasks={request.size}"]
        argv += _placement(request)
    else:
        argv += ["--nodes=1", f"--ntasks={request.size}"]
    # Standard input only to rank 0, output unbuffered; the whole step ends when a rank ends; no
    # binding to cores.
    argv += ["--input=0", "--unbuffered", "--kill-on-bad-exit=1", "--cpu-bind=none", "--export=ALL"]
    argv += ["--overcommit"] if request.crowded else []
    argv += [f"--chdir={request.folder}"] if request.folder else []
    return argv


def _placement(request: LaunchRequest) -> list[str]:
    if request.in_job_order:
        hosts = list(dict.fromkeys(request.hosts))
        each = request.size // len(hosts)
        return [
            f"--ntasks-per-node={each}",
            f"--nodelist={fold_hosts(hosts)}",
            "--distribution=block",
        ]
    return [f"--nodelist={fold_hosts(request.hosts)}", "--distribution=arbitrary"]


_SRUN_NICS = (
    "srun sets the same environment for all ranks, but the NICs are {}: use --launcher mpi."
)


def _srun_environment(request: LaunchRequest, family: Family | None) -> dict[str, str]:
    """Return the variables that correspond to options of the MPI's launcher."""
    if family is None:
        named = provider_nic(request, request.only_nic(_SRUN_NICS)) if request.over else {}
        return {**library_path(request), **named, **dict(request.extra), **_SHARED}
    return {**uniform_environment(request, request.only_nic(_SRUN_NICS)), **_SHARED}


def _by_own_launcher(request: LaunchRequest) -> LaunchCommand:
    if request.install is None:
        raise BadInput("the engine without MPI is started by srun under Slurm.")
    mpi = MPIS[request.install.family]
    job = {name: value for name, value in request.extra if name.startswith("SLURM_")}
    if request.job:  # otherwise the launcher's srun would request a separate job and wait for it
        job |= dict.fromkeys(("SLURM_JOB_ID", "SLURM_JOBID"), request.job)
    kept = {name: value for name, value in request.extra if name not in (*job, mpi.pmi_variable)}
    extra = {**mpi.placed, **kept}
    command = mpi.build(dataclasses.replace(request, agent="", extra=tuple(sorted(extra.items()))))
    return dataclasses.replace(
        command,
        environment={**command.environment, **_OWN_STEPS, **job},
        launcher=f"{command.launcher}+slurm",
        clear=(*command.clear, *_STEP_MARKS),
        notes=(*command.notes, "Slurm starts the launcher's daemons"),
    )


def slurm(request: LaunchRequest) -> LaunchCommand:
    """Return the command of the ranks of ``request`` in a Slurm job: srun (``starter``
    ``scheduler``) or the MPI's launcher (``mpi``). The default plugin is the protocol of the MPI.
    """
    if request.starter == "mpi" and not request.meet:
        return _by_own_launcher(request)
    family = request.install.family if request.install and not request.meet else None
    plugin = request.plugin or (MPIS[family].pmi if family else "none")
    words = request.rank_argv
    if request.meet:
        words = [*request.prefix, str(request.engine.path), "run", *request.meet_argv]
    return LaunchCommand(
        argv=(*_srun_argv(request, plugin), *words),
        environment=_srun_environment(request, family),
        launcher=f"srun-{plugin}",
        clear=(*clearings(family), *_STEP_MARKS),
        notes=request.crowding("they are set to yield"),
        library=str(request.install.library or "") if request.install and family else "",
        expect=request.engine.expect,
        engine=request.engine.path,
    )


def _end(environment: Mapping[str, str], name: str) -> float | None:
    try:
        seconds = float(environment.get(name, ""))
    except ValueError:
        return None
    return seconds if math.isfinite(seconds) and seconds > 0 else None


def _detect(environment: Mapping[str, str], _ask: Ask) -> Allocation | None:
    """Return the allocation (sbatch(1), salloc(1)). ``SLURM_JOB_NODELIST`` contains the nodes of
    the whole job, also in a task of a step; the older name without JOB contains only those of the
    step, and is read second.
    """
    job = job_id(environment, "SLURM_JOB_ID") or job_id(environment, "SLURM_JOBID")
    if not job:
        return None
    origin = next(
        (name for name in ("SLURM_JOB_NODELIST", "SLURM_NODELIST") if environment.get(name)), ""
    )
    if not origin:
        raise BadInput(
            f"SLURM_JOB_ID={job} is set, but SLURM_JOB_NODELIST is not: run inside the job, or"
            " unset SLURM_JOB_ID."
        )
    notes: tuple[str, ...] = ()
    if environment.get("SLURM_HET_SIZE", "1") not in ("", "0", "1"):
        notes = ("heterogeneous job: only the nodes of its first component are used",)
    return Allocation(
        scheduler="slurm",
        job=job,
        hosts=hosts_in(environment[origin], origin),
        partition=shown_word(environment, "SLURM_JOB_PARTITION"),
        ends_unix_s=_end(environment, "SLURM_JOB_END_TIME"),
        notes=notes,
    )


def _check_task(environment: Mapping[str, str]) -> None:
    """Raise ``BadInput``: ``srun -N4 wireproof check`` would start four complete measurements at
    the same time, which disturb each other.
    """
    task = environment.get("SLURM_PROCID", "")
    if (whole(task) or 0) > 0 and environment.get("SLURM_STEP_NUM_TASKS", "1") != "1":
        raise BadInput(
            f"this is task {task} of a job step: start wireproof once in the job (without srun,"
            " or with srun -n 1); it starts the ranks on the nodes."
        )


_CANCELLED = r"ON \S{1,255} CANCELLED AT \S{1,40}"
_ENDINGS = (
    (
        rf"\*\*\* (?:JOB|STEP) \S{{1,60}} {_CANCELLED} DUE TO TIME LIMIT",
        "Slurm ended the job at its time limit",
    ),
    (r"CANCELLED AT \S{1,40} DUE TO PREEMPTION", "Slurm preempted the job"),
    (
        rf"slurmstepd: error: \*\*\* JOB \S{{1,60}} {_CANCELLED} \*\*\*",
        "the job was cancelled",
    ),
)
_REACH = Reach(hydra=("-launcher", "slurm"), openmpi="slurm", prte="slurm")


def _step(job: str, host: str) -> list[str]:
    """Return the srun command of a process with the job's limits and all its cores on a host. An
    inherited host file would place it on another host.
    """
    shared = [f"{name}={value}" for name, value in _SHARED.items()]
    srun = ["srun", f"--jobid={job}", "--nodes=1", "--ntasks=1", f"--nodelist={host}"]
    own = ["--mpi=none", "--cpu-bind=none", "--export=ALL", "--unbuffered"]
    return ["env", "-u", "SLURM_HOSTFILE", *shared, *srun, *own]


SLURM = SCHEDULERS.register(
    Scheduler(
        name="slurm",
        title="Slurm",
        detect=_detect,
        build=slurm,
        program="srun",
        reach={"mpi": _REACH, "scheduler": _REACH},
        sockets=True,
        options=slurm_requests,
        queries=Queries(
            title="Slurm",
            job_ended=job_ended,
            node_states=node_states,
            topology=topology_text,
            topology_command="scontrol show topology",
        ),
        check_task=_check_task,
        endings=_ENDINGS,
        step=_step,
    )
)
