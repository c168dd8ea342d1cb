# pure
"""A remark about one subject at one point, before remarks are merged into findings."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from wireproof.model import gathered
from wireproof.model.finding import (
    Evidence,
    Finding,
    GroupVerdict,
    PairVerdict,
    Severity,
    Subject,
    Verdict,
    rank,
    verdict_of,
    worst,
)
from wireproof.verdict.catalogue import CATALOGUE

__all__ = ["SLOW", "Evidence", "Issue", "as_finding", "merge", "overall", "sorted_findings"]

SLOW = ("below-expectation", "direction-slow", "node-direction-slow")
"""Codes of issues about low goodput."""


@dataclass(frozen=True, slots=True)
class Issue:
    """A remark. ``weight`` selects the message that represents all points of a subject: the message
    with the largest weight.
    """

    code: str
    severity: Severity
    subject: Subject
    message: str
    evidence: Evidence = field(default_factory=dict)
    point: int | None = None
    weight: float = 0.0

    def __post_init__(self) -> None:
        if self.code not in CATALOGUE:
            raise KeyError(f"code {self.code!r} is not in the catalogue")


def as_finding(
    code: str,
    severity: Severity,
    message: str,
    about: Subject | None = None,
    evidence: Evidence | None = None,
    *,
    subject: str = "",
    advice: str = "",
) -> Finding:
    """Return a finding with the catalogue's next action, unless ``advice`` replaces it."""
    return Finding(
        code=code,
        severity=severity,
        message=message,
        evidence=evidence or {},
        advice=advice or CATALOGUE[code].next_action,
        subject=str(about) if about is not None else subject,
        about=about,
    )


def sorted_findings(findings: Iterable[Finding]) -> list[Finding]:
    """Return the worst first, then by the catalogue's order and by subject."""
    order = {code: place for place, code in enumerate(CATALOGUE)}
    return sorted(
        findings,
        key=lambda one: (rank(one.severity), order.get(one.code, len(order)), one.subject),
    )


def merge(issues: list[Issue]) -> list[Finding]:
    """Return one finding per code, severity and subject.

    The worst come first, then by code and subject; the order of the input does not matter.
    """
    groups = gathered(
        ((str(one.subject), type(one.subject).__name__, one.code, one.severity), one)
        for one in issues
    )
    return sorted_findings(_finding(groups[key]) for key in sorted(groups))


def _finding(group: list[Issue]) -> Finding:
    speaker = max(group, key=lambda issue: (issue.weight, -(issue.point or 0), issue.message))
    points = sorted({issue.point for issue in group if issue.point is not None})
    message, evidence = speaker.message, dict(speaker.evidence)
    if len(points) > 1:
        message = (
            f"{message} (and at {len(points) - 1} other point{'s' if len(points) > 2 else ''})"
        )
    if points:
        evidence["points"] = [str(point) for point in points]
    return as_finding(speaker.code, speaker.severity, message, speaker.subject, evidence)


def overall(
    findings: Iterable[Finding], pairs: Iterable[PairVerdict], groups: Iterable[GroupVerdict] = ()
) -> Verdict:
    """Return fail if anything fails, inconclusive if anything is inconclusive or nothing is judged,
    else pass.
    """
    judged = worst([*(pair.verdict for pair in pairs), *(group.verdict for group in groups)])
    return worst([judged, verdict_of(finding.severity for finding in findings)])
