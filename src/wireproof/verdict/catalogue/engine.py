"""What each error code of a run means as a finding. A contract test holds the engine's and the
head node's codes together with this table.
"""

from __future__ import annotations

from wireproof.model.finding import Severity

__all__ = ["ENGINE", "code_of", "severity_of"]

ENGINE: dict[str, str] = {
    "bad-plan": "engine-error",
    "cannot-begin": "engine-error",
    "deadline": "deadline",
    "interrupted": "interrupted",
    "library-mismatch": "library-mismatch",
    "model-counter": "engine-error",
    "no-group": "engine-error",
    "no-memory": "engine-error",
    "no-partitions": "engine-error",
    "no-pattern": "engine-error",
    "no-threads": "engine-error",
    "no-window": "engine-error",
    "ofi-address": "engine-error",
    "ofi-depth": "engine-error",
    "ofi-disagree": "engine-error",
    "ofi-exchange": "engine-error",
    "ofi-garbled": "engine-error",
    "ofi-library": "engine-error",
    "ofi-lost": "rank-lost",
    "ofi-open": "engine-error",
    "ofi-provider": "engine-error",
    "ofi-size": "engine-error",
    "output": "engine-error",
    "peer-gone": "rank-lost",
    "tcp-absent": "engine-error",
    "tcp-bind": "engine-error",
    "tcp-connect": "engine-error",
    "tcp-garbled": "engine-error",
    "tcp-handshake": "engine-error",
    "tcp-listen": "engine-error",
    "tcp-lost": "rank-lost",
    "tcp-no-address": "engine-error",
    "tcp-no-nic": "nic-unknown",
    "tcp-refused": "engine-error",
    "tcp-socket": "engine-error",
    "tcp-stalled": "engine-error",
    "tcp-twice": "engine-error",
    "tcp-unreachable": "engine-error",
    "unsupported": "engine-error",
    # From the head node: what the launcher, the lab and a check of many nodes saw.
    "broken-off": "engine-error",
    "large-messages-hang": "large-messages-hang",
    "placement-changed": "engine-error",
    "rank-lost": "rank-lost",
    "wire-late": "wire-late",
}
_SEVERITIES: dict[str, Severity] = {
    "library-mismatch": "fail",
    "large-messages-hang": "fail",
    "wire-late": "warning",
}


def code_of(error: str) -> str:
    """Our code for an error's; ``engine-error`` for one that is not known here."""
    return ENGINE.get(error, "engine-error")


def severity_of(code: str) -> Severity:
    """How grave an error of that finding's code is."""
    return _SEVERITIES.get(code, "inconclusive")
