"""Launchers register with one line: ``@launcher("mpich")`` above the function that builds the
command. Pure.
"""

from __future__ import annotations

from collections.abc import Callable

from wireproof.launch.request import LaunchCommand, LaunchRequest

__all__ = ["BUILDERS", "Builder", "launcher"]

Builder = Callable[[LaunchRequest], LaunchCommand]
BUILDERS: dict[str, Builder] = {}


def launcher(name: str) -> Callable[[Builder], Builder]:
    """Make the decorated function the builder of ``name``: an MPI family, a scheduler, ``direct``
    or ``sockets``.

    A scheduler's builder is asked when the hosts are an allocation of it, and sees ``starter``.
    """

    def register(builder: Builder) -> Builder:
        BUILDERS[name] = builder
        return builder

    return register
