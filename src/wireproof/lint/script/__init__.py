"""Rules for job scripts, MPI launches and benchmark commands."""

from wireproof.lint.rule import Check, Rule
from wireproof.lint.script import batch, imb, mistyped, mpi, network, variables, wire

__all__ = ["CHECKS", "RULES"]

_PARTS = (mistyped, batch, variables, mpi, wire, imb, network)
RULES: tuple[Rule, ...] = tuple(rule for part in _PARTS for rule in part.RULES)
CHECKS: tuple[Check, ...] = tuple(check for part in _PARTS for check in part.CHECKS)
