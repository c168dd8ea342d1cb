"""Rules for job scripts, MPI launches and benchmark commands."""

from wireproof.lint.rule import Check
from wireproof.lint.script import batch, imb, mistyped, mpi, network, variables, wire

__all__ = ["CHECKS"]

_PARTS = (mistyped, batch, variables, mpi, wire, imb, network)
CHECKS: tuple[Check, ...] = tuple(check for part in _PARTS for check in part.CHECKS)
