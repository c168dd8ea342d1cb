# pure
"""Turn the conclusions of one sweep into issues: culprits, nodes without samples, slowdowns that
would go unnoticed, and slow paths that are not faults. Pure.
"""

import math
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from wireproof.model import gathered
from wireproof.model.finding import (
    Evidence,
    Finding,
    Link,
    Node,
    PairVerdict,
    Port,
    Subject,
    Switch,
    Whole,
)
from wireproof.model.located import ABOUT, LIKELY, OTHER_TRAFFIC, Blame, Cause, Located
from wireproof.model.quantity import first_few, goodput
from wireproof.verdict.issue import Issue
from wireproof.verdict.path.alongside import crossed_places, explains

# --- Culprits whose ports carry other traffic, which may explain the shortfall, so they do not
# fail.


def with_shared(
    blame: Blame, findings: Iterable[Finding], slow: Sequence[PairVerdict] = ()
) -> Blame:
    """Add other traffic as the first cause if ``findings`` report enough at the culprit's ports.

    ``slow``: results below the expectation that the culprit explains. If there are any, other
    traffic must have slowed most of them down, each by its own point.
    """
    if blame.metric != "goodput" or blame.excused:
        return blame
    shared = [pair for pair in slow if OTHER_TRAFFIC in pair.codes]
    if slow and 2 * len(shared) <= len(slow):
        return blame
    places = crossed_places(_subject(blame))
    for pair in shared:
        places = {**crossed_places(pair.route), **places}
    seen = {
        rate: finding
        for finding in findings
        if (rate := _rate_at(finding, places)) > 0.0
        and (shared or explains(blame.value, rate, blame.expected, back=_is_back(finding, places)))
    }
    return _shared_by(blame, seen[max(seen)], max(seen)) if seen else blame


def _rate_at(finding: Finding, places: Mapping[Port, bool]) -> float:
    """Return the rate of other traffic in bytes/s that a finding reports at one of ``places``."""
    rate, place = finding.evidence.get("bytes_per_s"), finding.about
    here = finding.code == OTHER_TRAFFIC and isinstance(place, Port) and place in places
    return rate if here and isinstance(rate, float) else 0.0


def _is_back(finding: Finding, places: Mapping[Port, bool]) -> bool:
    return isinstance(finding.about, Port) and places[finding.about]


def _shared_by(blame: Blame, finding: Finding, bytes_per_s: float) -> Blame:
    """Return the culprit with the other traffic that ``finding`` reports as its first cause."""
    cause = Cause(
        code=OTHER_TRAFFIC,
        confidence=0.9,
        evidence=[finding.message],
        fix=finding.advice,
        sentence=f"{finding.evidence.get('nic')} of {finding.subject} carries "
        f"{goodput(bytes_per_s)} of other traffic",
    )
    others = [one for one in blame.causes if one.code != OTHER_TRAFFIC]
    return msgspec.structs.replace(blame, causes=[cause, *others])


def cause_sentence(causes: Sequence[Cause]) -> str:
    """Return a sentence with the likeliest sufficient cause; if there is none, with the first other
    cause."""
    enough = [cause for cause in causes if cause.explains]
    if enough:
        first = enough[0]
        word = "Cause" if first.confidence >= LIKELY else "The cause may be"
        return f"{word}: {first.sentence} (confidence {first.confidence:.2g})"
    text = "No counter or configuration difference explains it"
    return f"{text}: {causes[0].sentence}" if causes else text


def cause_evidence(causes: Sequence[Cause]) -> Evidence:
    """Return the causes as evidence.

    ``cause``: the likeliest sufficient cause, with its code, setting, confidence, fix and undo.
    ``other_causes``: other sufficient causes. ``not_enough``: causes that are not sufficient.
    """
    evidence: Evidence = {}
    enough = [cause for cause in causes if cause.explains]
    if enough:
        first = enough[0]
        evidence = {
            "cause": first.sentence,
            "cause_code": first.code,
            "cause_confidence": first.confidence,
            "cause_seen": list(first.evidence),
        }
        if first.setting:
            evidence |= {"cause_setting": first.setting}
        if first.fix:
            evidence |= {"cause_fix": first.fix}
        if first.undo:
            evidence |= {"cause_undo": first.undo}
    others = [f"{cause.sentence} ({cause.confidence:.2g})" for cause in enough[1:]]
    if others:
        evidence["other_causes"] = others
    lacking = [cause.sentence for cause in causes if not cause.explains]
    if lacking:
        evidence["not_enough"] = lacking
    return evidence


def advice_of(causes: Sequence[Cause]) -> str:
    """Return the fix of the likeliest sufficient cause and its undo, or "" if there is none."""
    first = next((cause for cause in causes if cause.explains and cause.fix), None)
    if first is None:
        return ""
    return f"{first.fix} Undo: {first.undo}." if first.undo else first.fix


_CODES = {
    "node": "node-slow",
    "port": "port-slow",
    "link": "link-slow",
    "switch": "switch-slow",
    "pair": "pair-slow",
}
_WHAT = {"goodput": "the goodput", "hrt": "the half round trip"}
_MOST_NAMES = 8
_MOST_MISSING = 50


def located_issues(located: Located) -> list[Issue]:
    """Return everything that one sweep concludes, worst first within each kind.

    A culprit that was not measured again alone is inconclusive: it may be contention.
    """
    if not has_samples(located):
        return [
            *_missing(located),
            Issue(
                "nothing-screened",
                "inconclusive",
                Whole(located.metric),
                (f"no sample of {_WHAT[located.metric]}: it is unknown whether any node is slow"),
            ),
        ]
    issues = [blame_issue(blame) for blame in located.blames]
    issues += [_not_confirmed(blame) for blame in located.blames if blame.stage != "confirmed"]
    return [*issues, *_missing(located), *_blind(located), *_innocent(located)]


def has_samples(located: Located) -> bool:
    return located.samples > 0 and located.measured > 0


def key_of(blame: Blame) -> tuple[str, Subject | None]:
    """Return code and subject of the finding that reports this culprit."""
    return _CODES[blame.kind], _subject(blame)


def _subject(blame: Blame) -> Subject:
    """Return the culprit, in the direction in which it is slow."""
    about = blame.about
    if isinstance(about, Node) and blame.direction:
        return Port(about.name, blame.direction)
    if isinstance(about, Link | Switch):
        return msgspec.structs.replace(about, direction=blame.direction)
    return about if about is not None else Node(blame.subject)


def blame_sentence(blame: Blame) -> str:
    """Return one sentence with the numbers: the culprit, direction, shortfall and confidence."""
    verb = {"": "is slow: it reaches", "tx": "sends slowly:", "rx": "receives slowly:"}[
        blame.direction
    ]
    value, expected = _quantity(blame, blame.value), _quantity(blame, blame.expected)
    low, high = sorted((blame.low, blame.high))
    more = "less" if blame.metric == "goodput" else "more"
    sure = (
        "confirmed alone against known-good partners"
        if blame.stage == "confirmed"
        else "not confirmed alone"
    )
    return (
        f"{_who(blame)} {verb} {value} instead of the expected {expected}, "
        f"{_share(blame.slowdown)} {more} "
        f"(95 % interval {_share(low)} to {_share(high)}; confidence {_sure(blame.confidence)}; "
        f"{sure})"
    )


def _who(blame: Blame) -> str:
    what = {"node": "", "port": "", "link": "the link ", "switch": "switch ", "pair": "the pair "}
    return what[blame.kind] + blame.subject


def _quantity(of: Blame | Located, value: float) -> str:
    if not math.isfinite(value) or value < 0:
        return "an unknown value"
    return goodput(value) if of.metric == "goodput" else f"{value / 1e3:.4g} us"


def _share(share: float) -> str:
    if not math.isfinite(share):
        return "?"
    return f"{100 * share:.0f} %" if abs(share) >= 0.0995 else f"{100 * share:.1f} %"


def _sure(confidence: float) -> str:
    """Return the confidence as text, never as 1, because an estimate is not certain."""
    if not math.isfinite(confidence):
        return "unknown"
    return "above 0.999" if confidence > 0.999 else f"{max(0.0, confidence):.3g}"


def blame_issue(blame: Blame) -> Issue:
    """Return the culprit as one issue, with its causes."""
    code, subject = _CODES[blame.kind], _subject(blame)
    message = blame_sentence(blame)
    message += f". {cause_sentence(blame.causes)}"
    return Issue(
        code,
        "fail" if blame.stage == "confirmed" and not blame.excused else "inconclusive",
        subject,
        message,
        _evidence(blame),
        weight=blame.slowdown,
    )


def _evidence(blame: Blame) -> Evidence:
    unit = "bytes_per_s" if blame.metric == "goodput" else "ns"
    evidence: Evidence = {
        "kind": blame.kind,
        "node" if blame.kind in ("node", "port") else "where": blame.subject,
        "direction": blame.direction,
        "metric": blame.metric,
        "slowdown": blame.slowdown,
        "slowdown_low": blame.low,
        "slowdown_high": blame.high,
        "confidence": blame.confidence,
        "stage": blame.stage,
        f"value_{unit}": blame.value,
        f"expected_{unit}": blame.expected,
    }
    if blame.nodes:
        evidence["nodes"] = list(blame.nodes)
    if blame.evidence:
        evidence["seen"] = list(blame.evidence)
    return evidence | cause_evidence(blame.causes)


def _not_confirmed(blame: Blame) -> Issue:
    code, subject = _CODES[blame.kind], _subject(blame)
    return Issue(
        "not-confirmed",
        "warning",
        subject,
        f"{_who(blame)} was found slow by the screen ({code}) and was not measured again alone",
    )


def _missing(located: Located) -> list[Issue]:
    """Return one issue per node, or one per reason if there are too many nodes."""
    if len(located.missing) <= _MOST_MISSING:
        return [
            Issue("node-missing", "inconclusive", Node(node), _unsampled(node, reason))
            for node, reason in sorted(located.missing.items())
        ]
    reasons = gathered(
        (reason or "the reason is unknown", node)
        for node, reason in sorted(located.missing.items())
    )
    return [
        Issue(
            "node-missing",
            "inconclusive",
            Whole(f"{len(nodes)} nodes: {reason}"),
            f"{len(nodes)} nodes have no sample ({first_few(nodes, _MOST_NAMES)}): {reason}",
            {"nodes": nodes},
        )
        for reason, nodes in sorted(reasons.items())
    ]


def _unsampled(node: str, reason: str) -> str:
    """Return a sentence about a node without samples; do not repeat "no sample" if the reason
    contains it."""
    if reason.startswith("no sample"):
        return f"{node} has {reason}"
    return f"{node} has no sample: {reason or 'the reason is unknown'}"


def _blind(located: Located) -> list[Issue]:
    """Report slowdowns that the sweep may miss: the absence of culprits proves something only if a
    fault would have been detected."""
    if located.detectable <= ABOUT * located.practical:
        return []
    # NaN also arrives here: unknown does not count as good.
    known = math.isfinite(located.detectable)
    least = (
        f"only a slowdown of {_share(located.detectable)} or more"
        if known
        else "no slowdown at all"
    )
    return [
        Issue(
            "noise-too-high",
            "inconclusive",
            Whole(located.metric),
            f"{least} would be found reliably in {_WHAT[located.metric]} ({located.samples} "
            "samples of "
            f"{located.measured} nodes scatter by {_share(located.noise)}); "
            f"{_share(located.practical)} is of interest",
            {
                "detectable": located.detectable,
                "practical": located.practical,
                "noise": located.noise,
                "rounds": located.rounds,
                "samples": located.samples,
            },
        )
    ]


def _innocent(located: Located) -> list[Issue]:
    """Return issues that are not faults: contention, tiers, cleared suspects."""
    issues = [
        Issue("contention", "note", case.about or Whole(case.subject), case.sentence)
        for case in located.contention
    ]
    for tier in located.tiers:
        if tier.oversubscription > 1.0 + located.practical:
            issues.append(
                Issue(
                    "tier-oversubscribed",
                    "note",
                    Whole(tier.name),
                    f"paths of type '{tier.name}' are {tier.oversubscription:.2g} times slower "
                    f"than the best type ({tier.samples} samples): a property of the fabric, not a "
                    f"fault; {_quantity(located, tier.median)} is expected there under full load",
                    {
                        "oversubscription": tier.oversubscription,
                        "samples": tier.samples,
                        "expected": tier.median,
                        "spread": tier.spread,
                    },
                )
            )
    issues += [
        Issue(
            "suspect-cleared",
            "note",
            suspect,
            f"{suspect} was a suspect of the screen, but is not slow when measured alone",
        )
        for suspect in located.acquitted
    ]
    return issues
