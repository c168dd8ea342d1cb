"""Finds what works on this machine: capabilities, MPIs (two ranks, one point, bounded), transports
and their providers.
"""

import shutil
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from wireproof.instrument.measure import Recording, measure
from wireproof.launch.command import prepare, provenance
from wireproof.launch.engines import find_engine
from wireproof.launch.here import meeting_point
from wireproof.launch.known import MPIS
from wireproof.launch.mpi.discovery import choose_mpi, find_mpis
from wireproof.launch.mpi.elf import read_needed
from wireproof.launch.mpi.install import MpiInstall
from wireproof.launch.mpi.libfabrics import (
    ask,
    candidates,
    choose_provider,
    described,
    library_of,
    openmpi_parameters,
)
from wireproof.launch.request import LaunchCommand
from wireproof.model.claim import Claim, HostClaim
from wireproof.model.diagnosis import (
    Diagnosis,
    LibfabricFound,
    Listing,
    ProviderChoice,
    ProviderReport,
    TransportTried,
)
from wireproof.model.errors import WireproofError
from wireproof.model.plan import Plan, Point, Policy, RankPlace, Transport, TransportKind
from wireproof.probes.machine import look
from wireproof.workflow.reporter import Reporter

DEADLINE_S = 40.0


def small_plan(transport: TransportKind, expect: str = "") -> Plan:
    """Return a plan with two ranks and one half round trip at 8 B, which suffices to see that
    frames arrive.
    """
    return Plan(
        run_id="doctor",
        seed=1,
        transport=Transport(kind=transport, expect=expect),
        ranks=tuple(RankPlace(index=rank, host="localhost") for rank in range(2)),
        points=(Point(id=0, pattern="pingpong", message_bytes=8, pairs=((0, 1),), budget_ms=100),),
        policy=Policy(
            point_budget_ms=100, point_deadline_ms=10_000, run_deadline_ms=30_000, yield_=1
        ),
    )


def _blank(install: MpiInstall | None, name: str) -> TransportTried:
    if install is None:
        return TransportTried(
            name=name,
            family="",
            launcher="",
            version="",
            abi="nompi",
            abi_version="",
            engine="",
            works=False,
        )
    return TransportTried(
        name=name,
        family=install.family,
        launcher=str(install.launcher),
        version=install.version,
        abi=install.abi or "",
        abi_version=install.abi_version,
        engine=f"wireproof-engine.{install.abi}" if install.abi else "",
        works=False,
        problem=install.problem,
    )


def _command(transport: TransportKind, install: MpiInstall | None) -> LaunchCommand:
    if transport not in ("tcp", "ofi"):
        return prepare(transport, install, ranks=2)
    # Any Hydra starts plain processes and gives them rank and size.
    return prepare(
        transport,
        install or choose_mpi("mpich"),
        ranks=2,
        meet=meeting_point("127.0.0.1"),
        over="ofi" if transport == "ofi" else "",
    )


def try_transport(transport: TransportKind, install: MpiInstall | None = None) -> TransportTried:
    """Run the small plan over ``transport``.

    Never raises if it does not work: ``problem`` holds the reason.
    """
    blank = _blank(install, install.title if install else transport)
    if install is not None and install.problem:
        return blank
    begun = time.monotonic()
    try:
        command = _command(transport, install)
        claim = Claim(
            hosts=[HostClaim(rank=rank, host="localhost") for rank in range(2)], wire=False
        )
        outcome = measure(
            small_plan(transport, command.expect),
            command,
            claim=claim,
            provenance=provenance(command, install),
            recording=Recording(deadline_s=DEADLINE_S, on_this_machine=True),
        )
    except WireproofError as error:
        return msgspec.structs.replace(blank, problem=str(error))
    shutil.rmtree(outcome.folder, ignore_errors=True)
    library = outcome.run.hosts[0].library if outcome.run.hosts else ""
    seconds = round(time.monotonic() - begun, 2)
    problem = "" if outcome.complete else outcome.ending.reason
    return msgspec.structs.replace(
        blank, works=outcome.complete, library=library, problem=problem, seconds=seconds
    )


def try_mpis(installs: Sequence[MpiInstall] | None = None) -> list[TransportTried]:
    """Try every MPI of this machine in turn; see ``find_mpis``."""
    return [
        try_transport("mpi", install) for install in (find_mpis() if installs is None else installs)
    ]


def diagnose(reporter: Reporter, *, start: bool = True) -> Diagnosis:
    """Examine the machine; ``start``: also start each MPI that is found, with two ranks,
    briefly.
    """
    machine = look()
    if not start:
        return Diagnosis(machine=machine, transports=[])
    reporter.say("trying the transports and every MPI that is found; a few seconds each")
    answers = [*(try_transport(kind) for kind in ("null", "tcp", "ofi")), *try_mpis()]
    return Diagnosis(machine=machine, transports=answers)


def providers(environment: Mapping[str, str]) -> ProviderReport:
    """Load every libfabric with the engine, each in a separate process.

    Raises ``CouldNotMeasure`` if the engine is not built.
    """
    engine = find_engine("nompi", environment)
    installs = find_mpis(environment)
    libraries: list[LibfabricFound] = []
    listings: dict[str, Listing] = {}
    for path, origin in candidates(installs, environment):
        listing, version_text, problem = ask(engine, path, environment)
        described_library = described(path, origin, listing, version_text, problem)
        if listing is not None:
            listings[path] = listing
            if any(
                Path(described_library.path).resolve() == Path(library.path).resolve()
                for library in libraries
            ):
                continue
        libraries.append(described_library)
    return ProviderReport(
        libfabrics=libraries,
        choices=[_choice(install, listings, environment) for install in installs],
    )


def _choice(
    install: MpiInstall, listings: Mapping[str, Listing], environment: Mapping[str, str]
) -> ProviderChoice:
    library, record = library_of(install), MPIS[install.family]
    path = environment.get(record.libfabric_variable) or (str(library) if library else "")
    needed = read_needed(install.library) if install.library else ()
    parameters = openmpi_parameters(install, environment) if record.parameter_files else {}
    return choose_provider(install, listings.get(path), needed, {**parameters, **environment})
