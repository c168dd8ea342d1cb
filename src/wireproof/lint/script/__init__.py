"""Checks of job scripts, MPI launches and benchmark commands."""

from wireproof.lint.rule import Check
from wireproof.lint.script import batch, benchmarks, mistyped, mpi, variables, wire

__all__ = ["CHECKS"]

_PARTS = (mistyped, batch, variables, mpi, wire, benchmarks)
CHECKS: tuple[Check, ...] = tuple(check for part in _PARTS for check in part.CHECKS)
"""Each check gets only scripts and need not test the kind."""
