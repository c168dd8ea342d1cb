"""Every MPI and every scheduler that we know: the modules whose records stand in the tables."""

from __future__ import annotations

from wireproof.launch.mpi import hydra, intel, openmpi
from wireproof.launch.registry import MPIS, SCHEDULERS
from wireproof.launch.schedulers import flux, lsf, pbs, slurm

__all__ = ["MPIS", "REGISTERED", "SCHEDULERS"]

REGISTERED = (hydra, intel, openmpi, flux, lsf, pbs, slurm)
