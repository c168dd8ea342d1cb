"""Culprits whose ports others use: what is missing may be theirs, so nobody is failed for it.
Pure.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from wireproof.model.finding import Finding
from wireproof.model.located import Blame, Cause
from wireproof.model.quantity import goodput
from wireproof.model.subject import Direction, Port, Route, Subject
from wireproof.verdict.path.alongside import explains

__all__ = ["OTHER_TRAFFIC", "is_shared", "with_shared"]

OTHER_TRAFFIC = "other-traffic"


def with_shared(blame: Blame, findings: Iterable[Finding]) -> Blame:
    """``blame`` with other traffic as its first cause, where ``findings`` have seen enough of it at
    its ports.
    """
    if blame.metric != "goodput":
        return blame
    for finding in findings:
        seen = finding.evidence.get("bytes_per_s")
        if (
            finding.code != OTHER_TRAFFIC
            or finding.about not in _places(blame)
            or not isinstance(seen, float)
        ):
            continue
        if explains(blame.value, seen, blame.expected):
            cause = Cause(
                code=OTHER_TRAFFIC,
                confidence=0.9,
                evidence=[finding.message],
                fix=finding.advice,
                sentence=f"{finding.evidence.get('nic')} of {finding.subject} carries "
                f"{goodput(seen)} of other traffic",
            )
            return msgspec.structs.replace(blame, causes=[cause, *blame.causes])
    return blame


def is_shared(blame: Blame) -> bool:
    """Whether other traffic explains the culprit."""
    return bool(blame.causes) and blame.causes[0].code == OTHER_TRAFFIC


def _places(blame: Blame) -> set[Subject]:
    """Ports and directions that the culprit's samples cross."""
    if blame.kind in ("node", "port"):
        ways: tuple[Direction, ...] = (blame.direction,) if blame.direction else ("tx", "rx")
        return {Port(blame.subject, way) for way in ways}
    if isinstance(blame.about, Route):
        return {Port(blame.about.origin, "tx"), Port(blame.about.target, "rx")}
    return set()
