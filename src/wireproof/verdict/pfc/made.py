"""A finding about one host, or about the fabric. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from wireproof.model.finding import Evidence, Finding, Severity
from wireproof.model.subject import Node, Subject, Whole
from wireproof.verdict.catalogue import CATALOGUE

__all__ = ["made"]


def made(
    code: str,
    severity: Severity,
    message: str,
    hosts: Sequence[str] = (),
    *,
    evidence: Evidence | None = None,
    advice: str = "",
) -> Finding:
    """``hosts``: those that it is about. ``advice``: in place of the catalogue's next action."""
    about: Subject = Node(hosts[0]) if len(set(hosts)) == 1 else Whole("the fabric")
    return Finding(
        code=code,
        severity=severity,
        message=message,
        evidence={**({"hosts": list(hosts)} if hosts else {}), **(evidence or {})},
        advice=advice or CATALOGUE[code].next_action,
        subject=str(about),
        about=about,
    )
