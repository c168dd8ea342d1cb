"""Whether a variable under trial gets to what reads it: one that is overridden, or that nothing
reads, would have no effect for a reason that says nothing about it. Pure.
"""

from __future__ import annotations

from wireproof.launch.known import MPIS
from wireproof.launch.mpi.install import MpiInstall
from wireproof.launch.request import LaunchCommand
from wireproof.model.plan import TransportKind

__all__ = ["overridden", "unread"]

_OF_LIBFABRIC = ("FI_", "PSM3_", "PSM2_", "HFI_")
_MCA = "OMPI_MCA_"


def unread(name: str, transport: TransportKind, install: MpiInstall | None) -> str:
    """Why nothing in a launch over ``transport`` reads the variable; "" when something may, and
    where no messages are sent at all.
    """
    if transport == "tcp":
        return "the transport tcp has no MPI that reads it"
    if transport == "ofi" and not name.startswith(_OF_LIBFABRIC):
        return "libfabric does not read it"
    if transport == "mpi" and install is not None:
        mpi = MPIS[install.family]
        if name.startswith(mpi.foreign):
            return f"{mpi.title} does not read it: choose another --mpi"
    return ""


def overridden(command: LaunchCommand, name: str, value: str) -> str:
    """The value that the launch itself gives the variable in place of ``value``; "" when none."""
    given = [command.environment.get(name, value)]
    argv = ("", *command.argv, "")
    for before, word, after in zip(argv, argv[1:], argv[2:], strict=False):
        if before in ("-genv", "-env") and word == name:
            given.append(after)
        elif before == "-x" and word.startswith(f"{name}="):
            given.append(word.partition("=")[2])
        elif before == "--mca" and f"{_MCA}{word}" == name:
            given.append(after)
    return next((one for one in given if one != value), "")
