"""IBM Spectrum LSF: ``blaunch`` below the MPI's launcher, or ``jsrun`` of the Job Step Manager.
Pure.

Sources: LSF 10.1's command reference, blaunch(8) (it replaces rsh and ssh and ignores their other
options), and its pages on jsrun; Hydra's ``-launcher lsf`` starts ``blaunch -n HOST ...``.
"""

from collections.abc import Mapping
from pathlib import PurePath

from wireproof.launch.mpi.environment import (
    clearings,
    one_nic,
    placed_evenly,
    uniform_environment,
)
from wireproof.launch.registry import (
    MPIS,
    SCHEDULERS,
    Allocation,
    Ask,
    LaunchCommand,
    LaunchRequest,
    Reach,
    Scheduler,
    hosts_in,
    hosts_of_slots,
    job_id,
    shown_word,
)
from wireproof.model.errors import BadInput


def lsf(request: LaunchRequest) -> LaunchCommand:
    """Return the command of the MPI's launcher over ``blaunch``; for Open MPI, of ``jsrun`` if that
    is the agent (few sites have it).
    """
    if PurePath(request.agent).name == "jsrun":
        return _jsrun(request)
    command = MPIS[request.mpi_install.family].build(request)
    return command.noted(f"LSF job: its hosts are reached by {request.agent or 'blaunch'}")


def _jsrun(request: LaunchRequest) -> LaunchCommand:
    """Return the command with a resource set of all cores for each host. jsrun passes standard
    input to the first task and accepts no host names: it fills the job's hosts in its own order.
    """
    if request.mpi_install.family != "openmpi":
        raise BadInput(
            "jsrun starts only Open MPI and MPIs based on it: leave out --launcher to use blaunch."
        )
    each, in_turn = placed_evenly(request, "jsrun")
    environment = uniform_environment(request, one_nic(request, "jsrun"))
    argv = [request.agent, "--nrs", str(request.size // each), "--rs_per_host", "1"]
    argv += ["--tasks_per_rs", str(each)]
    argv += ["--cpu_per_rs", "ALL_CPUS", "--bind", "none", "--exit_on_error", "1"]
    argv += ["--launch_distribution", "cyclic" if in_turn else "packed"]
    argv += ["--chdir", request.folder] if request.folder else []
    argv += [
        word for name, value in sorted(environment.items()) for word in ("--env", f"{name}={value}")
    ]
    note = "jsrun chooses among the job's hosts itself: the engine reports the host of each rank"
    argv += request.rank_argv
    return request.started("jsrun", argv, environment, clear=clearings("openmpi"), notes=(note,))


def _detect(environment: Mapping[str, str], _ask: Ask) -> Allocation | None:
    """Return the allocation of IBM Spectrum LSF 10.1: ``LSB_MCPU_HOSTS`` is ``host slots host slots
    ...``; a file has a line for each slot (some versions omit ``LSB_HOSTS`` if the list is long).
    """
    job = job_id(environment, "LSB_JOBID")
    if not job:
        return None
    partition = shown_word(environment, "LSB_QUEUE")
    if words := environment.get("LSB_MCPU_HOSTS", "").split():
        if len(words) % 2 or not all(count.isdecimal() for count in words[1::2]):
            raise BadInput(
                "LSB_MCPU_HOSTS is not a list of hosts and slots: run inside the job, or unset"
                " LSB_JOBID."
            )
        hosts = hosts_in(",".join(words[::2]), "LSB_MCPU_HOSTS")
    elif path := environment.get("LSB_DJOB_HOSTFILE", ""):
        hosts = hosts_of_slots(path, "LSB_DJOB_HOSTFILE")
    elif words := environment.get("LSB_HOSTS", "").split():
        hosts = hosts_in(",".join(words), "LSB_HOSTS")
    else:
        raise BadInput(
            f"LSB_JOBID={job} is set, but no LSB_MCPU_HOSTS: run inside the job, or unset"
            " LSB_JOBID."
        )
    return Allocation(scheduler="lsf", job=job, hosts=hosts, partition=partition)


# Hydra has a launcher for LSF. blaunch accepts ssh's arguments (LSF 10.1: blaunch(8)): an Open MPI
# built without LSF's library has no component of that name.
_REACH = Reach(hydra=("-launcher", "lsf"), agent="blaunch")
LSF = SCHEDULERS.register(
    Scheduler(
        name="lsf",
        title="LSF",
        detect=_detect,
        build=lsf,
        program="blaunch",
        endings=((r"TERM_RUNLIMIT: job killed", "LSF ended the job at its run limit"),),
        reach={"mpi": _REACH, "scheduler": _REACH},
    )
)
