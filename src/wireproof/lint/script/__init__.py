"""Rules for job scripts, MPI launches and benchmark commands."""

from wireproof.lint.rule import Check, Rule
from wireproof.lint.script import batch, mistyped

__all__ = ["CHECKS", "RULES"]

_PARTS = (mistyped, batch)
RULES: tuple[Rule, ...] = tuple(rule for part in _PARTS for rule in part.RULES)
CHECKS: tuple[Check, ...] = tuple(check for part in _PARTS for check in part.CHECKS)
