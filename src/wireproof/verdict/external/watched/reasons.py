"""Reasons about traffic as values."""

from __future__ import annotations

from collections.abc import Mapping

from wireproof.model.finding import Severity
from wireproof.model.series import Reason

__all__ = ["reason"]

_SEVERITY: dict[str, Severity] = {
    "traffic-off-wire": "fail",
    "traffic-loopback": "fail",
    "traffic-wrong-path": "fail",
    "traffic-mixed": "fail",
    "traffic-rate-above-peak": "fail",
}
Evidence = Mapping[str, str | float | None]


def reason(
    code: str, message: str, evidence: Evidence | None = None, severity: Severity | None = None
) -> Reason:
    """A reason with the severity that its code usually has."""
    severity = severity or _SEVERITY.get(code, "inconclusive")
    return Reason(code=code, severity=severity, message=message, evidence={**(evidence or {})})
