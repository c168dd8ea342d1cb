"""From a launch request to the command: the one entry that the rest of the program uses."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping
from datetime import UTC, datetime

from wireproof import __version__
from wireproof.launch import direct, hydra, intel, openmpi
from wireproof.launch.engines import EngineChoice, choose_engine, find_engine
from wireproof.launch.environment import inherited
from wireproof.launch.install import MpiInstall
from wireproof.launch.registry import BUILDERS
from wireproof.launch.request import LaunchCommand, LaunchRequest
from wireproof.model.errors import BadInput
from wireproof.model.plan import TransportKind
from wireproof.model.run import Provenance

__all__ = ["build_command", "engine_for", "prepare", "provenance"]

_REGISTERED = (direct, hydra, intel, openmpi)


def engine_for(
    transport: TransportKind, install: MpiInstall | None, environment: Mapping[str, str] | None = None
) -> EngineChoice:
    """The engine program that ``transport`` needs. Raises ``CouldNotMeasure`` when it is not there."""
    if transport == "mpi":
        if install is None:
            raise BadInput("the transport mpi needs an MPI.")
        return choose_engine(install, environment)
    return EngineChoice(abi="nompi", path=find_engine("nompi", environment))


def build_command(transport: TransportKind, request: LaunchRequest) -> LaunchCommand:
    """The command of ``request``. Pure; raises ``BadInput`` for a request that no launcher can fulfil."""
    if transport in ("null", "model"):
        return BUILDERS["direct"](request)
    if request.nics and len(request.nics) != request.size:
        raise BadInput(
            f"{len(request.nics)} NICs were given for {request.size} ranks: give one for each, or one for all."
        )
    if request.size < 2:
        raise BadInput("a measurement between ranks needs at least two: give two hosts, or two ranks.")
    if transport == "tcp":
        return BUILDERS["sockets"](request)
    if request.install is None:
        raise BadInput("the transport mpi needs an MPI.")
    return BUILDERS[request.install.family](request)


def prepare(transport: TransportKind, install: MpiInstall | None, **wishes: object) -> LaunchCommand:
    """Choose the engine, fill in this machine's cores and whether we are root, and build the command.

    ``wishes`` are fields of ``LaunchRequest``.
    """
    request = LaunchRequest(engine=engine_for(transport, install), install=install, root=os.geteuid() == 0)
    request = dataclasses.replace(request, **wishes)  # type: ignore[arg-type]
    if not request.cores:
        request = dataclasses.replace(request, cores=len(os.sched_getaffinity(0)))
    return build_command(transport, request)


def provenance(command: LaunchCommand, install: MpiInstall | None) -> Provenance:
    """How the run is started: argv, the variables that we set, and the user's own that are left in force."""
    notes = list(command.notes)
    kept = inherited(command, os.environ)
    if kept:
        notes.append("inherited: " + ", ".join(f"{name}={value}" for name, value in sorted(kept.items())))
    return Provenance(
        wireproof=__version__,
        mpi=f"{install.version} ({install.library})" if install else "",
        engine=str(command.engine),
        argv=list(command.argv),
        environment=dict(command.environment),
        launcher=command.launcher,
        started=datetime.now(UTC).isoformat(timespec="seconds"),
        notes=notes,
    )
