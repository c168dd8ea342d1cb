"""A route that was measured several times: one sample that is too wide, or moved too few bytes,
does not undo another that passes. Pure.

Screens repeat the rounds of a few nodes, and what is open is measured once more. What is in doubt
in one sample only because its interval is wide or its bytes were too few is settled by a sample of
the same route, pattern and size that passes. It stays in the JSON document as `settled`, is no
result of its own for a reader, and its findings become warnings.
"""

from collections.abc import Sequence

import msgspec

from wireproof.model.finding import Finding, Judgement, Node, PairVerdict, Route, worst_proof
from wireproof.verdict.issue import overall

_WIDE = frozenset({"unstable", "below-expectation", "multimodal", "launches-disagree"})
"""Codes that a wide interval alone brings about; what is wrong with a path is not among them."""
_FAST = "above-ceiling"
"""Inconclusive if the interval reaches down to the ceiling or the times are in doubt. Of bytes that
are proven on the wire, another sample tells; a link that is claimed too slow is too fast again.
"""
_FEW = "unproven-too-few-bytes"
_LATE, _WAITED = "slow-start", "oversubscribed"
"""A late answer of processes that waited for a processor: another sample tells."""
_SOFTER = _WIDE | {"direction-slow", _FEW, _FAST, _LATE}
"""Of the findings: also what two directions of one route say of each other."""
_BESIDE = frozenset({_WAITED, "clock-not-tsc", "far-core-state"})
"""Warnings about the machine that go with a wide interval and decide nothing."""
_FEW_LOST = 1000.0
"""Lost segments of a million that a repeat may settle: a busy host's queue loses some hundreds. A
link that loses more is no better for a sample that passes.
"""
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
    left = [pair for pair in pairs if not pair.settled]
    if len(left) == len(pairs):
        return judgement
    findings = _over(judgement.findings, pairs)
    return msgspec.structs.replace(
        judgement,
        pairs=pairs,
        findings=findings,
        verdict=overall(findings, left, judgement.groups),
        proof=worst_proof([*(one.proof for one in left), *(one.proof for one in judgement.groups)]),
    )


def _over(findings: Sequence[Finding], pairs: Sequence[PairVerdict]) -> list[Finding]:
    """``findings``; those that a repeat settled are warnings."""
    routes = {_route(pair) for pair in pairs if pair.settled}
    open_ = {_route(pair) for pair in pairs if not pair.settled and pair.verdict != "pass"}
    return [_softer(each) if _is_over(each, routes, open_) else each for each in findings]


def _is_settled(pair: PairVerdict, passing: set[Measurement]) -> bool:
    return _measurement(pair) in passing and may_settle(pair)


def may_settle(pair: PairVerdict) -> bool:
    """Whether another sample may settle this inconclusive one: nothing is open but the width of its
    interval, a number above the ceiling or the number of its bytes. An unknown reason settles
    nothing.
    """
    codes = set(pair.codes)
    late = {_LATE} if _WAITED in codes else set[str]()
    if pair.verdict != "inconclusive" or not codes <= _WIDE | _BESIDE | {_FEW, _FAST} | late:
        return False
    if pair.proof == "on-wire":
        return bool(codes & (_WIDE | {_FAST, _LATE}))
    return too_few_bytes(pair) and _FAST not in codes


def too_few_bytes(pair: PairVerdict) -> bool:
    """Whether its path is not proven because too few bytes moved, and for nothing else."""
    return pair.proof == "unproven" and _FEW in pair.codes


def _is_over(finding: Finding, routes: set[Route], still_open: set[Route]) -> bool:
    """Whether what a finding leaves open was only a wide interval, and is settled: of its route, or
    of every route that loses packets.
    """
    about = finding.about
    if finding.severity != "inconclusive":
        return False
    if finding.code == "packet-loss":
        share = finding.evidence.get("per_million")
        if not isinstance(share, int | float) or share > _FEW_LOST:
            return False
        ends = {about.name} if isinstance(about, Node) else set()
        ends |= {about.origin, about.target} if isinstance(about, Route) else set()
        return bool(ends) and not any(ends & {one.origin, one.target} for one in still_open)
    return finding.code in _SOFTER and about in routes - still_open


def _softer(finding: Finding) -> Finding:
    message = f"{finding.message}; measured again, the same route passes"
    return msgspec.structs.replace(finding, severity="warning", message=message)
