"""The process manager Hydra of MPICH, which also starts the engine without MPI for the tcp
transport, and Intel MPI's Hydra. Pure.
"""

from collections.abc import Callable

from wireproof.launch.mpi.environment import (
    clearings,
    intel_nic,
    library_path,
    mpich_nic,
    provider_nic,
)
from wireproof.launch.registry import MPIS, LaunchCommand, LaunchRequest, Mpi, reach_of
from wireproof.model.errors import CouldNotMeasure

Nic = Callable[[LaunchRequest, str], dict[str, str]]

CROWDED = {"MPIR_CVAR_POLLS_BEFORE_YIELD": "1"}
"""For shared memory with more ranks than cores: ranks that spin without yielding the core take a
time slice per message (measured, 4 ranks on 2 cores: half round trip 900 us without, 2 us with).
Never the heavy yield, which sleeps: 120 us for each message. Sockets are not changed: their polls
enter the kernel, where a yield costs a time slice (6 us without, 240 with).
"""


def _bootstrap(request: LaunchRequest) -> list[str]:
    if request.local:
        # Without this, Hydra would use an enclosing Slurm allocation, whose first host may be
        # another machine.
        return ["-launcher", "fork", "-rmk", "user"]
    if request.agent:
        return ["-launcher", "ssh", "-launcher-exec", request.agent]
    return list(reach_of(request).hydra)


def _variables(environment: dict[str, str], flag: str = "-genv") -> list[str]:
    return [word for name, value in sorted(environment.items()) for word in (flag, name, value)]


def hydra_argv(
    request: LaunchRequest, common: dict[str, str], nic: Nic, engine: list[str]
) -> list[str]:
    """Return the arguments of ``mpiexec``: a single block if all hosts have the same number of
    ranks, else a section for each sequence of ranks.
    """
    argv = [str(request.mpi_install.launcher), *_bootstrap(request)]
    argv += ["-wdir", request.folder] if request.folder else []
    sections, each = request.sections(), request.equal_count()
    if each and len({nic_name for _, nic_name, _ in sections}) == 1:
        argv += _variables({**common, **nic(request, sections[0][1])})
        if not request.local:
            argv += ["-hosts", ",".join(host for host, _, _ in sections), "-ppn", str(each)]
        return [*argv, "-n", str(request.size), *engine]
    argv += _variables(common)
    for index, (host, nic_name, count) in enumerate(sections):
        argv += [":"] if index else []
        argv += [*_variables(nic(request, nic_name), "-env"), "-n", str(count)]
        argv += [*(["-host", host] if host else []), *engine]
    return argv


def mpich(request: LaunchRequest) -> LaunchCommand:
    """Return the command of the engine under MPICH (the embedded wheel or the site's)."""
    environment = {**library_path(request), **dict(request.extra)}
    notes = request.crowding("the kernel decides how they share them")
    if request.crowded and request.shares_memory:
        environment = {**CROWDED, **environment}
        notes = request.crowding("MPICH is set to yield between polls")
    argv = hydra_argv(request, environment, mpich_nic, request.rank_argv)
    return request.started("hydra", argv, environment, clear=clearings("mpich"), notes=notes)


_SOCKETS_NOTE = {
    "": "plain kernel sockets; the launcher only starts the processes",
    "ofi": "libfabric without an MPI; the launcher only starts the processes",
}


def sockets(request: LaunchRequest) -> LaunchCommand:
    """Return the command of the engine without MPI, one per rank: any Hydra passes it rank and size
    (``PMI_RANK``, ``PMI_SIZE``).
    """
    if not request.meet:
        raise CouldNotMeasure(
            "this transport needs an address of rank 0's host at which the ranks connect."
        )
    engine = [*request.rank_argv, *request.meet_argv]
    argv = hydra_argv(request, dict(request.extra), provider_nic, engine)
    return LaunchCommand(
        argv=tuple(argv),
        environment=dict(request.extra),
        launcher="hydra",
        # if libfabric is measured, remove variables with which an MPI selects its providers
        clear=clearings(None if request.over == "ofi" else "mpich"),
        notes=(_SOCKETS_NOTE[request.over],),
        expect=request.engine.expect,
        engine=request.engine.path,
    )


def _mpich_uniform(request: LaunchRequest, nic: str) -> dict[str, str]:
    crowded = CROWDED if request.crowded and request.shares_memory else {}
    return {**mpich_nic(request, nic), **crowded}


MPICH = MPIS.register(
    Mpi(
        name="mpich",
        title="MPICH",
        launcher="mpiexec",
        launcher_says=("hydra build details",),
        library_says="MPICH",
        sonames=("libmpi.so.12", "libmpich.so.12", "libmpi_abi.so.0", "libmpi_abi.so.1"),
        foreign=("I_MPI_", "OMPI_", "OPAL_PREFIX", "FI_PROVIDER_PATH"),
        build=mpich,
        uniform=_mpich_uniform,
    )
)


# --- Intel MPI's Hydra.


INTEL_CROWDED = {"I_MPI_THREAD_YIELD": "2", "I_MPI_PIN": "0"}
"""Yield by ``sched_yield`` and do not pin: with more ranks than cores a pinned spinning rank
starves its neighbour.
"""


def _intel_settings(request: LaunchRequest) -> dict[str, str]:
    # Each lab node sees all cores, so rank 0 of every node would be pinned to the same
    # core.
    lab = {"I_MPI_PIN": "0"} if request.machine_ranks and not request.local else {}
    wired = {"I_MPI_FABRICS": "ofi"} if request.shared_memory is False else {}
    return {**lab, **wired, **(INTEL_CROWDED if request.crowded else {})}


def intel(request: LaunchRequest) -> LaunchCommand:
    """Return the command of the engine under Intel MPI (oneAPI or the ``impi-rt`` wheel)."""
    environment = {**library_path(request), **dict(request.extra), **_intel_settings(request)}
    argv = hydra_argv(request, environment, intel_nic, request.rank_argv)
    notes = request.crowding("Intel MPI is set to yield and not to pin")
    return request.started("intel-hydra", argv, environment, clear=clearings("intel"), notes=notes)


def _intel_uniform(request: LaunchRequest, nic: str) -> dict[str, str]:
    return {**intel_nic(request, nic), **_intel_settings(request)}


INTEL = MPIS.register(
    Mpi(
        name="intel",
        title="Intel MPI",
        launcher="mpiexec.hydra",
        launcher_says=("intel(r) mpi",),
        library_says="Intel(R) MPI",
        sonames=("libmpi.so.12", "libmpi_abi.so.0", "libmpi_abi.so.1"),
        foreign=("OMPI_", "OPAL_PREFIX", "FI_PROVIDER_PATH", "MPIR_CVAR_"),
        build=intel,
        uniform=_intel_uniform,
        pmi_variable="I_MPI_PMI_LIBRARY",
        libfabric_variable="I_MPI_OFI_LIBRARY",
        placed={"I_MPI_JOB_RESPECT_PROCESS_PLACEMENT": "0"},
        detailed={"I_MPI_DEBUG": "5"},
        pins={"I_MPI_PIN": "1", "I_MPI_PIN_PROCESSOR_LIST": "{cpu}"},
    )
)
