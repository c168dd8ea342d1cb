"""Intel MPI's Hydra. Pure."""

from wireproof.launch.mpi.environment import clearings, intel_nic, library_path
from wireproof.launch.mpi.hydra import hydra_argv
from wireproof.launch.registry import MPIS, LaunchCommand, LaunchRequest, Mpi

CROWDED = {"I_MPI_THREAD_YIELD": "2", "I_MPI_PIN": "0"}
"""Yield by ``sched_yield`` and do not pin: with more ranks than cores a pinned spinning rank
starves its neighbour.
"""


def _settings(request: LaunchRequest) -> dict[str, str]:
    # Each lab node sees the whole machine as its own: rank 0 of every node would be pinned to one
    # core.
    lab = {"I_MPI_PIN": "0"} if request.machine_ranks and not request.local else {}
    wired = {"I_MPI_FABRICS": "ofi"} if request.shared_memory is False else {}
    return {**lab, **wired, **(CROWDED if request.crowded else {})}


def intel(request: LaunchRequest) -> LaunchCommand:
    """Return the command of the engine under Intel MPI (oneAPI or the ``impi-rt`` wheel)."""
    environment = {**library_path(request), **dict(request.extra), **_settings(request)}
    crowded = (
        f"{request.size} ranks on {request.cores} cores: Intel MPI is set to yield and not to pin"
    )
    argv = hydra_argv(request, environment, intel_nic, request.rank_argv)
    notes = (crowded,) if request.crowded else ()
    return request.started("intel-hydra", argv, environment, clear=clearings("intel"), notes=notes)


def _uniform(request: LaunchRequest, nic: str) -> dict[str, str]:
    return {**intel_nic(request, nic), **_settings(request)}


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
        uniform=_uniform,
        pmi_variable="I_MPI_PMI_LIBRARY",
        libfabric_variable="I_MPI_OFI_LIBRARY",
        placed={"I_MPI_JOB_RESPECT_PROCESS_PLACEMENT": "0"},
        detailed={"I_MPI_DEBUG": "5"},
        pins={"I_MPI_PIN": "1", "I_MPI_PIN_PROCESSOR_LIST": "{cpu}"},
    )
)
