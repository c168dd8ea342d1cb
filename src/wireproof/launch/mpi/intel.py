"""Intel MPI's Hydra. Pure."""

from __future__ import annotations

from wireproof.launch.mpi.environment import clearings, intel_nic, library_path
from wireproof.launch.mpi.hydra import hydra_argv
from wireproof.launch.registry import launcher
from wireproof.launch.request import LaunchCommand, LaunchRequest

__all__ = ["intel"]

CROWDED = {"I_MPI_THREAD_YIELD": "2", "I_MPI_PIN": "0"}
"""Yield by ``sched_yield`` and no pinning: with more ranks than cores a pinned spinning rank
starves its neighbour.
"""


@launcher("intel")
def intel(request: LaunchRequest) -> LaunchCommand:
    """The engine under Intel MPI (oneAPI or the ``impi-rt`` wheel)."""
    environment = {**library_path(request), **dict(request.extra)}
    notes: list[str] = []
    if request.machine_ranks and not request.local:
        # Each lab node believes that it owns the whole machine: every node's rank 0 would be pinned
        # to one core.
        environment["I_MPI_PIN"] = "0"
    if request.shared_memory is False:
        environment["I_MPI_FABRICS"] = "ofi"
    if request.crowded:
        environment.update(CROWDED)
        notes.append(
            f"{request.size} ranks on {request.cores} cores: Intel MPI was told to yield and not to pin"
        )
    argv = hydra_argv(request, environment, intel_nic, request.words)
    return LaunchCommand(
        argv=tuple(argv),
        environment=environment,
        launcher="intel-hydra",
        clear=clearings("intel"),
        notes=tuple(notes),
        library=str(request.install.library) if request.install else "",
        expect=request.engine.expect,
        engine=request.engine.path,
    )
