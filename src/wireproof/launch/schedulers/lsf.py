"""IBM Spectrum LSF: ``blaunch`` below the MPI's own launcher, or ``jsrun`` of the Job Step Manager.
Pure.

Sources: LSF 10.1's command reference, blaunch(8) (it takes the place of rsh and ssh and ignores
their other options), and its pages on jsrun; Hydra's ``-launcher lsf`` starts ``blaunch -n HOST
...``.
"""

from __future__ import annotations

import dataclasses
from pathlib import PurePath

from wireproof.launch.mpi.environment import clearings
from wireproof.launch.mpi.uniform import alike_environment, per_host, rank_order
from wireproof.launch.registry import BUILDERS, launcher
from wireproof.launch.request import LaunchCommand, LaunchRequest
from wireproof.model.errors import BadInput, CouldNotMeasure

__all__ = ["lsf"]


@launcher("lsf")
def lsf(request: LaunchRequest) -> LaunchCommand:
    """The MPI's own launcher over ``blaunch``; Open MPI by ``jsrun`` when that is the agent (few
    sites have it).
    """
    if request.install is None:
        raise CouldNotMeasure("no MPI was chosen to launch with.")
    if PurePath(request.agent).name == "jsrun":
        return _jsrun(request)
    command = BUILDERS[request.install.family](request)
    way = request.agent or "blaunch"
    return dataclasses.replace(
        command, notes=(*command.notes, f"a job of LSF: its hosts are reached by {way}")
    )


def _jsrun(request: LaunchRequest) -> LaunchCommand:
    """One resource set a host with all its cores. jsrun gives standard input to the first task and
    takes no host names: it fills the job's hosts in its own order.
    """
    if request.install is None or request.install.family != "openmpi":
        raise BadInput(
            "jsrun starts Open MPI and its relatives only: leave --launcher out, and blaunch is used."
        )
    each = per_host(request, "jsrun")
    order = rank_order(request)
    if order == "other":
        raise BadInput(
            "jsrun numbers ranks host after host or in turns: give the hosts in one of these orders."
        )
    environment = alike_environment(request, "jsrun")
    argv = [
        request.agent,
        "--nrs",
        str(request.size // each),
        "--rs_per_host",
        "1",
        "--tasks_per_rs",
        str(each),
    ]
    argv += ["--cpu_per_rs", "ALL_CPUS", "--bind", "none", "--exit_on_error", "1"]
    argv += ["--launch_distribution", "cyclic" if order == "cyclic" and each > 1 else "packed"]
    argv += ["--chdir", request.folder] if request.folder else []
    argv += [
        word for name, value in sorted(environment.items()) for word in ("--env", f"{name}={value}")
    ]
    return LaunchCommand(
        argv=(*argv, *request.words),
        environment=environment,
        launcher="jsrun",
        clear=clearings("openmpi"),
        notes=("jsrun chooses among the job's hosts itself: the engine says which rank ran where",),
        library=str(request.install.library or ""),
        expect=request.engine.expect,
        engine=request.engine.path,
    )
