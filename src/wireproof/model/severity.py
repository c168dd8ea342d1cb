"""Which of several severities, verdicts or proofs speaks for all: one order of each, one fold."""

from __future__ import annotations

from collections.abc import Iterable

from wireproof.model.finding import Proof, Severity, Verdict

__all__ = ["SEVERITIES", "rank", "verdict_of", "worst", "worst_proof"]

SEVERITIES: tuple[Severity, ...] = ("fail", "inconclusive", "warning", "note")
"""The worst first."""
_PROOFS: tuple[Proof, ...] = ("off-wire", "wrong-path", "mixed", "unproven", "on-wire")


def rank(severity: Severity) -> int:
    """Sorts the worst first."""
    return SEVERITIES.index(severity)


def verdict_of(severities: Iterable[Severity]) -> Verdict:
    """The verdict that remarks of these severities leave; without any it is a pass."""
    found = set(severities)
    if "fail" in found:
        return "fail"
    return "inconclusive" if "inconclusive" in found else "pass"


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """The verdict of several: any fail fails; zero verdicts, or any inconclusive one, is never a
    pass.
    """
    found = set(verdicts)
    if "fail" in found:
        return "fail"
    return "pass" if found == {"pass"} else "inconclusive"


def worst_proof(proofs: Iterable[Proof]) -> Proof:
    """The proof of several; of none it is unproven."""
    found = set(proofs)
    return next((one for one in _PROOFS if one in found), "unproven")
