"""PBS Professional, OpenPBS and Torque: the MPI's launcher, which reaches the hosts by PBS or by
ssh. Pure.

PBS has no launcher: its task manager (TM) starts the processes that an MPI requests. ``starter``
``scheduler`` uses it (``pbs_tmrsh`` for Hydra, the component ``tm`` of Open MPI), so that PBS
counts and ends the processes; ``mpi`` uses ssh. Sources: PBS Professional's user guide on MPI, Open
MPI 5.0's page on launching with PBS, ``mpiexec -help``.
"""

from collections.abc import Mapping

from wireproof.launch.registry import (
    MPIS,
    SCHEDULERS,
    Allocation,
    Ask,
    LaunchCommand,
    LaunchRequest,
    Reach,
    Scheduler,
    hosts_of_slots,
    job_id,
    shown_word,
)
from wireproof.model.errors import BadInput


def pbs(request: LaunchRequest) -> LaunchCommand:
    """Return the command of the engine on named hosts of a PBS job."""
    command = MPIS[request.mpi_install.family].build(request)
    by_scheduler = "tm" if "tm" in command.argv else "pbs_tmrsh"
    reached_by = request.agent or (by_scheduler if request.starter == "scheduler" else "ssh")
    return command.noted(f"PBS job: its hosts are reached by {reached_by}")


def _detect(environment: Mapping[str, str], _ask: Ask) -> Allocation | None:
    """Return the allocation of PBS Professional, OpenPBS and Torque: ``PBS_NODEFILE`` is only on
    the first node of the job.
    """
    job = job_id(environment, "PBS_JOBID")
    if not job:
        return None
    path = environment.get("PBS_NODEFILE", "")
    if not path:
        raise BadInput(
            f"PBS_JOBID={job} is set, but PBS_NODEFILE is not: run inside the job, or unset"
            " PBS_JOBID."
        )
    return Allocation(
        scheduler="pbs",
        job=job,
        hosts=hosts_of_slots(path, "PBS_NODEFILE"),
        partition=shown_word(environment, "PBS_QUEUE"),
    )


PBS = SCHEDULERS.register(
    Scheduler(
        name="pbs",
        title="PBS",
        detect=_detect,
        build=pbs,
        program="pbs_tmrsh",
        endings=(
            (
                r"PBS: job killed: walltime \d{1,12} exceeded limit",
                "PBS ended the job at its time limit",
            ),
        ),
        reach={
            # pbs_tmrsh (PBS Professional) accepts the arguments of rsh; Hydra's ssh launcher would
            # put -x before the host. Only Intel's Hydra has the launcher "pbs". PRRTE has the
            # components of the schedulers that existed when it was built.
            "scheduler": Reach(
                hydra=("-launcher", "rsh", "-launcher-exec", "pbs_tmrsh"),
                openmpi="tm",
                agent="pbs_tmrsh",
            ),
        },
    )
)
