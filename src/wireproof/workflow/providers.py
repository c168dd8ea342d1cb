"""Which libfabrics are on this machine, what they offer, and what each MPI would take of it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from wireproof.launch.engines import find_engine
from wireproof.launch.known import MPIS
from wireproof.launch.mpi.discovery import find_mpis
from wireproof.launch.mpi.elf import read_needed
from wireproof.launch.mpi.install import MpiInstall
from wireproof.launch.mpi.provider_choice import choose_provider
from wireproof.model.providers import Libfabric, Listing, ProviderChoice, ProviderReport
from wireproof.probes.libfabrics import ask, candidates, described, library_of, openmpi_parameters

__all__ = ["providers"]


def providers(environment: Mapping[str, str]) -> ProviderReport:
    """Every libfabric is loaded by the engine in a process of its own. Raises ``CouldNotMeasure``
    when the engine is not built.
    """
    engine = find_engine("nompi", environment)
    installs = find_mpis(environment)
    libraries: list[Libfabric] = []
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
