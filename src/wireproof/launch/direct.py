"""No launcher: the transports ``null`` and ``model`` need one process. Pure."""

from __future__ import annotations

from wireproof.launch.mpi.environment import clearings
from wireproof.launch.request import LaunchCommand, LaunchRequest

__all__ = ["direct"]


def direct(request: LaunchRequest) -> LaunchCommand:
    """The engine itself."""
    return LaunchCommand(
        argv=tuple(request.rank_argv),
        environment=dict(request.extra),
        launcher="none",
        clear=clearings(None),
        engine=request.engine.path,
    )
