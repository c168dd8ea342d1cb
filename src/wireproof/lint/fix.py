"""The text with its corrected lines."""

from __future__ import annotations

from collections.abc import Iterable

from wireproof.lint.check import lint_text
from wireproof.lint.rule import Kind
from wireproof.model.lint import LintFinding

__all__ = ["fixed", "repaired"]

ROUNDS = 40
"""A line with so many things wrong in it is left to a person."""


def fixed(text: str, findings: Iterable[LintFinding]) -> str:
    """The text with the fixes of the findings in it. Of several that change one line the first
    counts; ``repaired`` brings the others. Line ends are kept.
    """
    lines = text.split("\n")
    end = "\r" if lines and lines[0].endswith("\r") else ""
    taken: set[int] = set()
    chosen: list[LintFinding] = []
    for finding in findings:
        span = range(finding.line, max(finding.line, finding.last) + 1)
        if finding.fix and finding.last <= len(lines) and not taken.intersection(span):
            taken.update(span)
            chosen.append(finding)
    for finding in sorted(chosen, key=lambda each: each.line, reverse=True):
        new = [line + end for line in finding.fix.split("\n")]
        lines[finding.line - 1 : max(finding.line, finding.last)] = new
    return "\n".join(lines)


def repaired(text: str, name: str, kind: Kind | None = None, *, every: bool = False) -> str:
    """The text after all safe fixes (``every``: after all fixes), again and again until nothing
    changes.
    """
    for _ in range(ROUNDS):
        findings = [
            finding
            for finding in lint_text(text, name, kind)
            if finding.fix and (every or finding.safe)
        ]
        changed = fixed(text, findings)
        if changed == text:
            break
        text = changed
    return text
