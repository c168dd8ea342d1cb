"""A route that was measured several times: one sample that is too wide does not undo another that
passes. Pure.

Screens repeat the rounds of a few nodes. What is in doubt in one sample only because its interval
is wide is settled by a sample of the same route, pattern and size that passes; it stays as it is in
the results, and is a warning.
"""

from __future__ import annotations

import msgspec

from wireproof.model.finding import Finding, Judgement, PairVerdict
from wireproof.model.subject import Route
from wireproof.verdict.issue import overall

__all__ = ["settled_by_repeats"]

_WIDE = frozenset({"unstable", "below-expectation", "multimodal", "launches-disagree"})
"""Codes that a wide interval alone brings about; what is wrong with a path or too fast is not among
them.
"""
_SOFTER = _WIDE | {"direction-slow"}
"""Of the findings: also what two directions of one route say of each other."""
_BESIDE = frozenset({"oversubscribed", "clock-not-tsc"})
"""Warnings about the machine that go with a wide interval and decide nothing."""
Measurement = tuple[Route, str, int]


def _measurement(pair: PairVerdict) -> Measurement:
    return _route(pair), pair.pattern, pair.message_bytes


def _route(pair: PairVerdict) -> Route:
    return Route(pair.origin_host, pair.target_host)


def settled_by_repeats(judgement: Judgement) -> Judgement:
    """``judgement`` drawn again without the inconclusive samples that a repeat of their route
    settles.
    """
    passing = {_measurement(pair) for pair in judgement.pairs if pair.verdict == "pass"}
    settled: list[PairVerdict] = []
    left: list[PairVerdict] = []
    for pair in judgement.pairs:
        (settled if _is_settled(pair, passing) else left).append(pair)
    if not settled:
        return judgement
    routes = {_route(pair) for pair in settled}
    routes -= {_route(pair) for pair in left if pair.verdict != "pass"}
    findings = [_softer(finding, routes) for finding in judgement.findings]
    return msgspec.structs.replace(
        judgement, findings=findings, verdict=overall(findings, left, judgement.groups)
    )


def _is_settled(pair: PairVerdict, passing: set[Measurement]) -> bool:
    return pair.verdict == "inconclusive" and _measurement(pair) in passing and _only_wide(pair)


def _only_wide(pair: PairVerdict) -> bool:
    """Its bytes crossed, and a wide interval is named as what is open; an unknown reason settles
    nothing.
    """
    codes = set(pair.codes)
    return pair.proof == "on-wire" and bool(codes & _WIDE) and codes <= _WIDE | _BESIDE


def _softer(finding: Finding, routes: set[Route]) -> Finding:
    if (
        finding.severity != "inconclusive"
        or finding.code not in _SOFTER
        or finding.about not in routes
    ):
        return finding
    message = f"{finding.message}; measured again, the same route passes"
    return msgspec.structs.replace(finding, severity="warning", message=message)
