"""All known MPIs and schedulers: the modules that register records in the tables."""

import os
from collections.abc import Mapping

from wireproof.files.programs import printed
from wireproof.launch.mpi import hydra, openmpi
from wireproof.launch.registry import MPIS, SCHEDULERS, Allocation, Ask
from wireproof.launch.schedulers import flux, lsf, pbs, slurm

__all__ = ["MPIS", "SCHEDULERS", "check_task", "current"]

REGISTERED = (hydra, openmpi, flux, lsf, pbs, slurm)


# --- The allocation in which this process runs.


def current(environment: Mapping[str, str] | None = None, ask: Ask = printed) -> Allocation | None:
    """Return the allocation to which ``environment`` (default: that of this process) belongs, None
    if there is none.

    A task of a job step belongs to the step's whole job. Raise ``BadInput`` with the variable if
    its value cannot be used.
    """
    environment = os.environ if environment is None else environment
    for one in sorted(SCHEDULERS.values(), key=lambda one: not one.nested):
        if (found := one.detect(environment, ask)) is not None:
            return found
    return None


def check_task(environment: Mapping[str, str]) -> None:
    """Raise ``BadInput`` if a scheduler runs this program once for each of several tasks."""
    for one in SCHEDULERS.values():
        if one.check_task is not None:
            one.check_task(environment)
