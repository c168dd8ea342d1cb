"""PBS Professional, OpenPBS and Torque: the MPI's own launcher, which reaches the hosts by PBS or
by ssh. Pure.

PBS has no launcher of its own: its task manager (TM) starts what an MPI asks for. ``starter``
``scheduler`` goes through it (``pbs_tmrsh`` for Hydra, the component ``tm`` of Open MPI), so that
PBS counts and ends the processes; ``mpi`` uses ssh. Sources: PBS Professional's user guide on MPI,
Open MPI 5.0's page on launching with PBS, ``mpiexec -help``.
"""

from __future__ import annotations

import dataclasses

from wireproof.launch.registry import BUILDERS, launcher
from wireproof.launch.request import LaunchCommand, LaunchRequest
from wireproof.model.errors import CouldNotMeasure

__all__ = ["pbs"]


@launcher("pbs")
def pbs(request: LaunchRequest) -> LaunchCommand:
    """The engine on named hosts of a PBS job."""
    if request.install is None:
        raise CouldNotMeasure("no MPI was chosen to launch with.")
    command = BUILDERS[request.install.family](request)
    if request.agent:
        way = request.agent
    elif request.starter != "scheduler":
        way = "ssh"
    else:
        way = "tm" if "tm" in command.argv else "pbs_tmrsh"
    return dataclasses.replace(
        command, notes=(*command.notes, f"a job of PBS: its hosts are reached by {way}")
    )
