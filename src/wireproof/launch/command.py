"""Convert a launch request to a command: the entry point for the rest of the program."""

import dataclasses
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import PurePath
from typing import Any

from wireproof.launch.engines import EngineChoice, MpiInstall, choose_engine, find_engine
from wireproof.launch.known import MPIS, SCHEDULERS
from wireproof.launch.mpi.environment import clearings, inherited
from wireproof.launch.mpi.hydra import sockets
from wireproof.launch.mpi.rails import one_nic_only
from wireproof.launch.request import LaunchCommand, LaunchRequest
from wireproof.model.claim import is_several
from wireproof.model.errors import BadInput
from wireproof.model.plan import TransportKind
from wireproof.model.run import Provenance
from wireproof.model.secrets import masked
from wireproof.version import version

_CONTAINERS = (
    "apptainer",
    "singularity",
    "podman",
    "docker",
    "enroot",
    "ch-run",
    "shifter",
    "sarus",
)


def engine_for(
    transport: TransportKind,
    install: MpiInstall | None,
    environment: Mapping[str, str] | None = None,
) -> EngineChoice:
    """Return the engine program that ``transport`` needs. Raise ``CouldNotMeasure`` if it does not
    exist.
    """
    if transport == "mpi":
        if install is None:
            raise BadInput("the transport mpi needs an MPI.")
        engine = choose_engine(install, environment)
        return dataclasses.replace(engine, expect=MPIS[install.family].library_says)
    return EngineChoice(abi="nompi", path=find_engine("nompi", environment))


def check_prefix(prefix: tuple[str, ...]) -> None:
    """Raise ``BadInput`` for a prefix that cannot be used.

    Launchers read options up to the program's name, and Hydra and Open MPI start another program at
    a ``:``.
    """
    for word in prefix:
        if not word or word == ":" or not word.isprintable():
            raise BadInput(
                f"--prefix: {word[:40]!r} cannot be a word of the command that the ranks are"
                " started through."
            )
    if prefix and prefix[0].startswith("-"):
        raise BadInput(f"--prefix begins with the option {prefix[0][:40]}: begin with a program.")


def _noted(command: LaunchCommand, request: LaunchRequest) -> LaunchCommand:
    if not request.prefix:
        return command
    note = f"ranks are started through {' '.join(request.prefix)}"[:300]
    if PurePath(request.prefix[0]).name in _CONTAINERS:
        inside = request.program[0] if request.program else request.engine.path
        note += (
            f"; {inside} and the MPI's library must be seen inside the container at the same path"
        )
    return dataclasses.replace(command, notes=(*command.notes, note))


def build_command(transport: TransportKind, request: LaunchRequest) -> LaunchCommand:
    """Return the command of ``request``. Pure; raise ``BadInput`` for a request that no launcher
    can fulfil.
    """
    check_prefix(request.prefix)
    return _noted(_built(transport, request), request)


def _built(transport: TransportKind, request: LaunchRequest) -> LaunchCommand:
    if transport in ("null", "model"):
        # a single process simulates all ranks: no launcher
        return request.started(
            "none", request.rank_argv, dict(request.extra), clear=clearings(None)
        )
    _check_ranks(request)
    scheduler = SCHEDULERS.get(request.scheduler) if request.hosts else None
    if transport in ("tcp", "ofi"):
        _check_rails(transport, request)
        # In a job there need be no ssh; elsewhere any Hydra starts the processes.
        return (scheduler.build if scheduler and scheduler.sockets else sockets)(request)
    if request.install is None:
        raise BadInput("the transport mpi needs an MPI.")
    return (scheduler or MPIS[request.install.family]).build(request)


def _check_ranks(request: LaunchRequest) -> None:
    if request.nics and len(request.nics) != request.size:
        raise BadInput(
            f"{len(request.nics)} NICs were given for {request.size} ranks: give one for each, or"
            " one for all."
        )
    if request.size < 2:
        raise BadInput(
            "a measurement between ranks needs at least two: give two hosts, or two ranks."
        )


def _check_rails(transport: TransportKind, request: LaunchRequest) -> None:
    """Raise ``BadInput`` if several NICs are requested without an MPI, unless the
    provider is PSM3.
    """
    several = next((nic for nic in request.nics if is_several(nic)), "")
    if several and request.fabric != "psm3":
        what = "the transport tcp" if transport == "tcp" else "libfabric without an MPI"
        raise one_nic_only(what, several)


def request_for(
    transport: TransportKind, install: MpiInstall | None, **wishes: Any
) -> LaunchRequest:
    """Choose the engine, and add the number of this machine's cores and whether the user is root.

    ``wishes``: further fields of ``LaunchRequest``.
    """
    request = LaunchRequest(
        engine=engine_for(transport, install),
        install=install,
        root=os.geteuid() == 0,
        cores=len(os.sched_getaffinity(0)),
    )
    return dataclasses.replace(request, **wishes)


def prepare(transport: TransportKind, install: MpiInstall | None, **wishes: Any) -> LaunchCommand:
    """Return the command of ``request_for``."""
    return build_command(transport, request_for(transport, install, **wishes))


def provenance(command: LaunchCommand, install: MpiInstall | None) -> Provenance:
    """Return how the run is started: argv, the variables that we set, and the user's variables that
    stay in force.
    """
    notes = list(command.notes)
    kept = inherited(command, os.environ)
    if kept:
        notes.append(
            "inherited: "
            + ", ".join(masked(f"{name}={value}") for name, value in sorted(kept.items()))
        )
    return Provenance(
        wireproof=version(),
        mpi=f"{install.version} ({install.library})" if install else "",
        engine=str(command.engine),
        argv=list(command.argv),
        environment=dict(command.environment),
        launcher=command.launcher,
        started=datetime.now(UTC).isoformat(timespec="seconds"),
        notes=notes,
    )
