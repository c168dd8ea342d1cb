"""A route that was measured several times: one sample that is too wide, or moved too few bytes,
does not undo another that passes. Pure.

Screens repeat the rounds of a few nodes, and what is open is measured once more. What is in doubt
in one sample only because its interval is wide or its bytes were too few is settled by a sample of
the same route, pattern and size that passes. It stays in the JSON document as `settled`, is no
result of its own for a reader, and its findings become warnings.
"""

from __future__ import annotations

import msgspec

from wireproof.model.finding import Finding, Judgement, PairVerdict, Route, worst_proof
from wireproof.verdict.issue import overall

__all__ = ["may_settle", "settled_by_repeats", "too_few_bytes"]

_WIDE = frozenset({"unstable", "below-expectation", "multimodal", "launches-disagree"})
"""Codes that a wide interval alone brings about; what is wrong with a path is not among them."""
_FAST = "above-ceiling"
"""Inconclusive if the interval reaches down to the ceiling or the times are in doubt. Of bytes that
are proven on the wire, another sample tells; a link that is claimed too slow is too fast again.
"""
_FEW = "unproven-too-few-bytes"
_SOFTER = _WIDE | {"direction-slow", _FEW, _FAST}
"""Of the findings: also what two directions of one route say of each other."""
_BESIDE = frozenset({"oversubscribed", "clock-not-tsc", "far-core-state"})
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
    pairs = [
        msgspec.structs.replace(pair, settled=True) if _is_settled(pair, passing) else pair
        for pair in judgement.pairs
    ]
    routes = {_route(pair) for pair in pairs if pair.settled}
    if not routes:
        return judgement
    left = [pair for pair in pairs if not pair.settled]
    routes -= {_route(pair) for pair in left if pair.verdict != "pass"}
    findings = [_softer(finding, routes) for finding in judgement.findings]
    return msgspec.structs.replace(
        judgement,
        pairs=pairs,
        findings=findings,
        verdict=overall(findings, left, judgement.groups),
        proof=worst_proof([*(one.proof for one in left), *(one.proof for one in judgement.groups)]),
    )


def _is_settled(pair: PairVerdict, passing: set[Measurement]) -> bool:
    return _measurement(pair) in passing and may_settle(pair)


def may_settle(pair: PairVerdict) -> bool:
    """Whether another sample may settle this inconclusive one: nothing is open but the width of its
    interval, a number above the ceiling or the number of its bytes. An unknown reason settles
    nothing.
    """
    codes = set(pair.codes)
    if pair.verdict != "inconclusive" or not codes <= _WIDE | _BESIDE | {_FEW, _FAST}:
        return False
    if pair.proof == "on-wire":
        return bool(codes & (_WIDE | {_FAST}))
    return too_few_bytes(pair) and _FAST not in codes


def too_few_bytes(pair: PairVerdict) -> bool:
    """Whether its path is not proven because too few bytes moved, and for nothing else."""
    return pair.proof == "unproven" and _FEW in pair.codes


def _softer(finding: Finding, routes: set[Route]) -> Finding:
    if (
        finding.severity != "inconclusive"
        or finding.code not in _SOFTER
        or finding.about not in routes
    ):
        return finding
    message = f"{finding.message}; measured again, the same route passes"
    return msgspec.structs.replace(finding, severity="warning", message=message)
