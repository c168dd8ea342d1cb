"""Finds what works on this machine: capabilities, MPIs, transports and their providers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from wireproof.instrument.answers import try_mpis, try_transport
from wireproof.launch.engines import find_engine
from wireproof.launch.known import MPIS
from wireproof.launch.mpi.discovery import find_mpis
from wireproof.launch.mpi.elf import read_needed
from wireproof.launch.mpi.install import MpiInstall
from wireproof.launch.mpi.provider_choice import choose_provider
from wireproof.model.diagnosis import Diagnosis
from wireproof.model.providers import LibfabricFound, Listing, ProviderChoice, ProviderReport
from wireproof.probes.libfabrics import ask, candidates, described, library_of, openmpi_parameters
from wireproof.probes.machine import look
from wireproof.workflow.reporter import Reporter

__all__ = ["diagnose", "providers"]


def diagnose(reporter: Reporter, *, start: bool = True) -> Diagnosis:
    """Look at the machine; ``start``: also start each MPI that is found, with two ranks for a
    moment.
    """
    machine = look()
    if not start:
        return Diagnosis(machine=machine, transports=[])
    reporter.say("trying the transports and every MPI that is found; some seconds each")
    answers = [*(try_transport(kind) for kind in ("null", "tcp", "ofi")), *try_mpis()]
    return Diagnosis(machine=machine, transports=answers)


def providers(environment: Mapping[str, str]) -> ProviderReport:
    """Every libfabric is loaded by the engine in a process of its own. Raises ``CouldNotMeasure``
    when the engine is not built.
    """
    engine = find_engine("nompi", environment)
    installs = find_mpis(environment)
    libraries: list[LibfabricFound] = []
    listings: dict[str, Listing] = {}
    for path, origin in candidates(installs, environment):
        listing, said, problem = ask(engine, path, environment)
        found = described(path, origin, listing, said, problem)
        if listing is not None:
            listings[path] = listing
            if any(Path(found.path).resolve() == Path(one.path).resolve() for one in libraries):
                continue
        libraries.append(found)
    return ProviderReport(
        libfabrics=libraries,
        choices=[_choice(install, listings, environment) for install in installs],
    )


def _choice(
    install: MpiInstall, listings: Mapping[str, Listing], environment: Mapping[str, str]
) -> ProviderChoice:
    own, record = library_of(install), MPIS[install.family]
    path = environment.get(record.libfabric_variable) or (str(own) if own else "")
    needed = read_needed(install.library) if install.library else ()
    parameters = openmpi_parameters(install, environment) if record.parameter_files else {}
    return choose_provider(install, listings.get(path), needed, {**parameters, **environment})
