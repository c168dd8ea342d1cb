"""Checks of job scripts, MPI launches and benchmark commands."""

from __future__ import annotations

from collections.abc import Iterator

from wireproof.lint.rule import Broken, Check, Recipe
from wireproof.lint.script import batch, imb, mistyped, mpi, network, variables, wire

__all__ = ["CHECKS"]

_PARTS = (mistyped, batch, variables, mpi, wire, imb, network)


def _of_scripts(check: Check) -> Check:
    def checked(recipe: Recipe) -> Iterator[Broken]:
        return check(recipe) if recipe.kind == "script" else iter(())

    return checked


CHECKS: tuple[Check, ...] = tuple(_of_scripts(check) for part in _PARTS for check in part.CHECKS)
"""Each looks at scripts only: a check need not ask."""
