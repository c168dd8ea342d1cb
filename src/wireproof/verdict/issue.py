"""A remark about one subject at one point, before remarks are merged into findings."""

from __future__ import annotations

from dataclasses import dataclass, field

from wireproof.model.finding import Finding, Severity
from wireproof.verdict.catalogue import CATALOGUE

__all__ = ["Evidence", "Issue", "amount", "merge", "rate"]

Evidence = dict[str, str | float | int | bool | list[str] | None]

_RANK: dict[Severity, int] = {"fail": 0, "inconclusive": 1, "warning": 2, "note": 3}


@dataclass(frozen=True)
class Issue:
    """``weight`` picks the sentence that speaks for all the points of one subject: the most telling
    one.
    """

    code: str
    severity: Severity
    subject: str
    message: str
    evidence: Evidence = field(default_factory=dict)
    point: int | None = None
    weight: float = 0.0

    def __post_init__(self) -> None:
        if self.code not in CATALOGUE:
            raise KeyError(f"code {self.code!r} is not in the catalogue")


def merge(issues: list[Issue]) -> list[Finding]:
    """One finding per code, severity and subject; the worst first, then by code and subject: order
    of input is no matter.
    """
    order = {code: place for place, code in enumerate(CATALOGUE)}
    groups: dict[tuple[int, int, str], list[Issue]] = {}
    for issue in issues:
        groups.setdefault((_RANK[issue.severity], order[issue.code], issue.subject), []).append(
            issue
        )
    return [_finding(groups[key]) for key in sorted(groups)]


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
    return Finding(
        code=speaker.code,
        severity=speaker.severity,
        message=message,
        evidence=evidence,
        advice=CATALOGUE[speaker.code].next_action,
        subject=speaker.subject,
    )


def amount(count: float) -> str:
    """Bytes for a person: 475.2 MB."""
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if abs(count) >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count:.0f} B"


def rate(bytes_per_s: float) -> str:
    """Goodput as engineers of links say it, with both units: 297 Mb/s (37.1 MB/s)."""
    bits = bytes_per_s * 8
    big, unit = (bits / 1e9, "Gb/s") if bits >= 1e10 else (bits / 1e6, "Mb/s")
    return f"{_digits(big)} {unit} ({bytes_per_s / 1e6:.1f} MB/s)"


def _digits(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"
