"""Flux: ``flux run`` inside an instance. Pure.

Options: flux-run(1) and flux-shell-options(7) of flux-core 0.7x; all but ``pmi=`` also exist in
0.49.
"""

from collections.abc import Mapping

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
    Scheduler,
    hosts_in,
    job_id,
)
from wireproof.model.errors import BadInput
from wireproof.options.hosts import fold_hosts


def _rule(name: str, value: str) -> str:
    """Return a rule of ``--env``; Flux would replace ``$NAME`` in the value."""
    return f"--env={name}={value.replace('$', '$$')}"


def _options(request: LaunchRequest, environment: dict[str, str]) -> list[str]:
    each, in_turn = placed_evenly(request, "flux run")
    hosts = tuple(dict.fromkeys(request.hosts))
    options = [
        f"--nodes={len(hosts)}",
        f"--tasks-per-node={each}",
        "--exclusive",
        f"--requires=host:{fold_hosts(hosts)}",
    ]
    options += ["--taskmap=cyclic"] if in_turn else []
    # Flux does not choose a task's cores by the NIC; the engine reports the cores on which it ran.
    options += ["-o", "cpu-affinity=off"]
    if MPIS[request.mpi_install.family].pmi == "pmix":
        # Open MPI 5 needs PMIx (the plugin of the project flux-pmix); 4 also accepts it. Others use
        # PMI-1.
        options += ["-o", "pmi=pmix"]
    options += [f"--cwd={request.folder}"] if request.folder else []
    return options + [_rule(name, value) for name, value in sorted(environment.items())]


def flux(request: LaunchRequest) -> LaunchCommand:
    """Return the command of the engine under ``flux run`` (standard input only to rank 0,
    unbuffered output), or under the MPI's launcher.
    """
    family = request.mpi_install.family
    if request.starter != "scheduler":
        return MPIS[family].build(request)
    environment = uniform_environment(request, one_nic(request, "flux run"))
    argv = ["flux", "run", "--unbuffered", "--input=0", *_options(request, environment)]
    argv += request.rank_argv
    note = "Flux numbers the hosts in its own order: the engine reports the host of each rank"
    return request.started("flux", argv, environment, clear=clearings(family), notes=(note,))


def _detect(environment: Mapping[str, str], ask: Ask) -> Allocation | None:
    """Return the allocation. A batch or alloc job is a separate instance (``FLUX_URI``), whose id
    is in ``FLUX_ENCLOSING_ID``; a task of the system's instance has only the id of its job. In an
    instance without an id, all hosts belong to us.
    """
    if not environment.get("FLUX_URI") and not environment.get("FLUX_JOB_ID"):
        return None
    enclosing, task = job_id(environment, "FLUX_ENCLOSING_ID"), job_id(environment, "FLUX_JOB_ID")
    # flux-resource(1) of flux-core 0.6x, one set on each line; flux-jobs(1)
    instance = ["flux", "resource", "list", "-s", "all", "-no", "{nodelist}"]
    questions = [instance, ["flux", "getattr", "hostlist"]]
    if task and not enclosing:
        questions.insert(0, ["flux", "jobs", "-no", "{nodelist}", task])
    for argv in questions:
        text = ",".join(ask(argv, environment).split())
        if text:
            hosts = hosts_in(text, f"the output of `{' '.join(argv[:3])}`")
            return Allocation(scheduler="flux", job=enclosing or task, hosts=hosts)
    if environment.keys() & {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID"}:
        return None  # inherited from the shell that submitted the job
    raise BadInput(
        "FLUX_URI or FLUX_JOB_ID is set, but `flux resource list` prints no hosts: put flux on"
        " PATH, or unset them."
    )


FLUX = SCHEDULERS.register(
    Scheduler(
        name="flux",
        title="Flux",
        detect=_detect,
        build=flux,
        program="flux",
        nested=True,
        endings=((r"job\.exception type=timeout", "Flux ended the job at its time limit"),),
    )
)
