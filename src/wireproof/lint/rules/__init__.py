"""The catalogue of rules: data only. The checks find where one is broken."""

from __future__ import annotations

from wireproof.lint.rule import Rule
from wireproof.lint.rules import (
    admin,
    benchmarks,
    interfaces,
    job_script,
    kernel,
    mpi,
    system,
)

__all__ = ["ADMIN", "FILES", "RULES", "SCRIPT", "by_code"]

SCRIPT: tuple[Rule, ...] = (*job_script.RULES, *mpi.RULES, *benchmarks.RULES)
ADMIN: tuple[Rule, ...] = admin.RULES
FILES: tuple[Rule, ...] = (*kernel.RULES, *interfaces.RULES, *system.RULES)


def by_code(rules: tuple[Rule, ...]) -> dict[str, Rule]:
    """The rules by their codes. Raises ValueError when a code stands for two."""
    found: dict[str, Rule] = {}
    for rule in rules:
        if rule.code in found:
            raise ValueError(f"two rules have the code {rule.code!r}")
        found[rule.code] = rule
    return found


RULES: dict[str, Rule] = by_code((*SCRIPT, *ADMIN, *FILES))
