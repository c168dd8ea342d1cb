"""Settle samples of a route by repeats: one that is too wide or too small does not undo one that
passes. Pure.

Screens repeat the rounds of a few nodes, and undecided pairs are measured again. If one sample is
in doubt only because its interval is wide or its bytes were too few, a passing sample of the same
route, pattern and size settles it. The settled sample stays in the JSON document as `settled`, is
not shown as a result, and its findings become warnings.
"""

from collections.abc import Sequence

import msgspec

from wireproof.model.finding import Finding, Judgement, Node, PairVerdict, Route, worst_proof
from wireproof.verdict.issue import overall

_WIDE = frozenset({"unstable", "below-expectation", "multimodal", "launches-disagree"})
"""Codes that a wide interval alone can cause; none of them is about the path."""
_FAST = "above-ceiling"
"""Inconclusive if the interval reaches down to the ceiling or the times are in doubt. If the bytes
are proven on the wire, another sample decides; a link claimed too slow exceeds the ceiling again.
"""
_FEW = "unproven-too-few-bytes"
_LATE, _WAITED = "slow-start", "oversubscribed"
"""A late answer of processes that waited for a processor: another sample decides."""
_SOFTER = _WIDE | {"direction-slow", _FEW, _FAST, _LATE}
"""Codes of findings that may be softened; they include comparisons of a route's two directions."""
_BESIDE = frozenset({_WAITED, "clock-not-tsc", "far-core-state"})
"""Warnings about the machine that accompany a wide interval and decide nothing."""
_FEW_LOST = 1000.0
"""Lost segments per million that a repeat may settle: a busy host's queue loses some hundreds. If a
link loses more, one passing sample does not excuse it.
"""
Measurement = tuple[Route, str, int]


def _measurement(pair: PairVerdict) -> Measurement:
    return pair.route, pair.pattern, pair.message_bytes


def settled_by_repeats(judgement: Judgement) -> Judgement:
    """Judge again without the inconclusive samples that a repeat of their route settles."""
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
    """Return the findings, with those that a repeat settled as warnings."""
    routes = {pair.route for pair in pairs if pair.settled}
    open_ = {pair.route for pair in pairs if not pair.settled and pair.verdict != "pass"}
    return [_softer(each) if _is_over(each, routes, open_) else each for each in findings]


def _is_settled(pair: PairVerdict, passing: set[Measurement]) -> bool:
    return _measurement(pair) in passing and may_settle(pair)


def may_settle(pair: PairVerdict) -> bool:
    """Return whether another sample may settle this inconclusive one.

    Only the width of its interval, a number above the ceiling or the number of its bytes may be
    open. An unknown reason settles nothing.
    """
    codes = set(pair.codes)
    late = {_LATE} if _WAITED in codes else set[str]()
    if pair.verdict != "inconclusive" or not codes <= _WIDE | _BESIDE | {_FEW, _FAST} | late:
        return False
    if pair.proof == "on-wire":
        return bool(codes & (_WIDE | {_FAST, _LATE}))
    return too_few_bytes(pair) and _FAST not in codes


def too_few_bytes(pair: PairVerdict) -> bool:
    """Return whether the path is unproven only because too few bytes moved."""
    return pair.proof == "unproven" and _FEW in pair.codes


def _is_over(finding: Finding, routes: set[Route], still_open: set[Route]) -> bool:
    """Return whether a finding was open only for a wide interval and is settled: for its route, or
    for every route that loses packets.
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
