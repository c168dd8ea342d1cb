"""Reasons about traffic as values, and the troubles that ports and sockets counted."""

from __future__ import annotations

from collections.abc import Mapping

from wireproof.model.finding import Severity
from wireproof.model.series import Reason
from wireproof.model.traffic import Traffic

__all__ = ["reason", "troubles"]

_SEVERITY: dict[str, Severity] = {
    "traffic-off-wire": "fail",
    "traffic-loopback": "fail",
    "traffic-wrong-path": "fail",
    "traffic-mixed": "fail",
    "traffic-rate-above-peak": "fail",
}
RETRANSMIT_SHARE = 1e-3
"""Of the segments sent: above this, TCP's rate suffers (Mathis et al. 1997: rate ~
1/sqrt(loss)).
"""
Evidence = Mapping[str, str | float | None]


def reason(
    code: str, message: str, evidence: Evidence | None = None, severity: Severity | None = None
) -> Reason:
    """A reason with the severity that its code usually has."""
    severity = severity or _SEVERITY.get(code, "inconclusive")
    return Reason(code=code, severity=severity, message=message, evidence={**(evidence or {})})


def troubles(traffic: Traffic) -> list[Reason]:
    """Retransmits, drops and pauses that were counted while the command ran; they never decide
    about the path.
    """
    found = []
    for host in traffic.hosts:
        if host.retransmits:
            found.append(_retransmits(host.host, host.retransmits, host.tcp_segments))
        if host.drops:
            text = f"{host.host} dropped: {_listed(host.drops)}."
            found.append(
                reason("traffic-drops", text, {"host": host.host, **host.drops}, "warning")
            )
        if host.pauses:
            text = f"{host.host} was told to pause or told others: {_listed(host.pauses)}."
            found.append(reason("traffic-pauses", text, {"host": host.host, **host.pauses}, "note"))
    return found


def _retransmits(host: str, counters: dict[str, int], segments: int | None) -> Reason:
    again = counters.get("ip/Tcp/RetransSegs", 0)
    share = again / segments if segments else None
    beyond = any(name != "ip/Tcp/RetransSegs" for name in counters)
    of = f" ({share:.2%} of {segments} segments)" if share is not None and again else ""
    grave = beyond or share is None or share > RETRANSMIT_SHARE
    text = f"{host} sent again: {_listed(counters)}{of}."
    return reason(
        "traffic-retransmits", text, {"host": host, **counters}, "warning" if grave else "note"
    )


def _listed(counters: dict[str, int]) -> str:
    names = sorted(counters.items(), key=lambda one: -one[1])
    text = ", ".join(f"{name.removeprefix('ip/')} {count}" for name, count in names[:5])
    return text + (f" and {len(names) - 5} more" if len(names) > 5 else "")
