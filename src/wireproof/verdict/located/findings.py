"""What was located, as findings: one for each culprit, and the findings that it explains are not
told again. Pure.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

import msgspec

from wireproof.model.claim import Criteria
from wireproof.model.fabric import Fabric
from wireproof.model.finding import Evidence, Finding, Judgement, Severity
from wireproof.model.located import ABOUT, Blame, Located
from wireproof.model.quantity import goodput
from wireproof.model.severity import rank
from wireproof.model.subject import Link, Node, Port, Route, Subject, Switch, Whole
from wireproof.verdict.catalogue import CATALOGUE
from wireproof.verdict.issue import Issue, merge, overall
from wireproof.verdict.located.cleared import by_design, good_alone, harmless
from wireproof.verdict.located.explains import explained
from wireproof.verdict.located.shared import is_shared, with_shared

__all__ = ["blame_sentence", "located_issues", "with_located"]

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
    """Everything that one sweep concludes, worst first within each kind. A culprit that was not
    measured again alone is inconclusive: it may be contention.
    """
    if not _has_samples(located):
        text = (
            f"no sample of {_WHAT[located.metric]}: nobody is known to be slow, and nobody to be "
            "good"
        )
        return [
            *_missing(located),
            Issue("nothing-screened", "inconclusive", Whole(located.metric), text),
        ]
    issues = [_blame(blame) for blame in located.blames]
    issues += [_not_confirmed(blame) for blame in located.blames if blame.stage != "confirmed"]
    return [*issues, *_missing(located), *_blind(located), *_innocent(located)]


def with_located(
    judgement: Judgement,
    located: Sequence[Located],
    criteria: Criteria | None = None,
    fabric: Fabric | None = None,
) -> Judgement:
    """``judgement`` with the findings of ``located`` added and the overall verdict drawn again.

    A finding of the judge about slow streams that a culprit explains is left out (one bad port is
    one finding, not one for each pair). A pair that missed its limit only because others used its
    links, and reaches it alone, does not fail, nor one on a kind of path of ``fabric`` that is
    slower by design. The verdicts of all other pairs stay as they are. A culprit that stands for
    failures fails, confirmed or not, unless other traffic at its port explains it. Too much noise
    is only a warning where every pair passes by its own limit. An empty ``located`` changes
    nothing.
    """
    if not located:
        return judgement
    located = [
        msgspec.structs.replace(
            one, blames=[with_shared(blame, judgement.findings) for blame in one.blames]
        )
        for one in located
    ]
    blames = [blame for one in located if _has_samples(one) for blame in one.blames]
    innocent = harmless(judgement, located, (criteria or Criteria()).min_efficiency, fabric)
    pairs = [innocent.get(id(pair), pair) for pair in judgement.pairs]
    findings = _without_shared(judgement.findings, located, fabric)
    kept, gone = explained(findings, blames, judgement.pairs, pairs, good_alone(judgement, located))
    issues = [issue for one in located for issue in located_issues(one)]
    fails = {
        _key(blame)
        for finding, blame in gone
        if finding.severity == "fail" and not is_shared(blame)
    }
    issues = [
        replace(issue, severity="fail") if (issue.code, issue.subject) in fails else issue
        for issue in issues
    ]
    if pairs and all(pair.verdict == "pass" for pair in pairs):
        # Each pair reaches its own limit: a blunt comparison takes nothing away from that.
        issues = [
            replace(issue, severity="warning") if issue.code == "noise-too-high" else issue
            for issue in issues
        ]
    findings = _ordered([*kept, *_advised(merge(issues), blames)])
    verdict = overall(findings, pairs, judgement.groups)
    return msgspec.structs.replace(judgement, findings=findings, pairs=pairs, verdict=verdict)


def _without_shared(
    findings: Sequence[Finding], located: Sequence[Located], fabric: Fabric | None
) -> list[Finding]:
    """``findings`` without slow directions on kinds of path that are slower by design: there many
    flows share a link, and one direction may share it with more of them than the other. What such a
    path gives is said with its tier.
    """
    ways = [_slow_routes(finding) for finding in findings]
    routes = [route for own in ways for route in own]
    tiers = by_design(routes, located, fabric)
    shared = {route for route, tier in zip(routes, tiers, strict=True) if tier}
    return [
        finding
        for finding, own in zip(findings, ways, strict=True)
        if not own or not shared.issuperset(own)
    ]


def _slow_routes(finding: Finding) -> list[Route]:
    """The routes of which a finding says that they are slow in one direction."""
    about = finding.about
    if finding.code == "direction-slow" and isinstance(about, Route):
        return [about]
    peers = finding.evidence.get("peers")
    if finding.code != "node-direction-slow" or not isinstance(about, Port):
        return []
    routes = [Route(about.node, peer) for peer in (peers if isinstance(peers, list) else [])]
    return routes if about.direction == "tx" else [route.back for route in routes]


def _has_samples(located: Located) -> bool:
    return located.samples > 0 and located.measured > 0


def _key(blame: Blame) -> tuple[str, Subject | None]:
    """Code and subject of the finding that tells this culprit."""
    return _CODES[blame.kind], _subject(blame)


def _subject(blame: Blame) -> Subject:
    """What is blamed, in the direction in which it is slow."""
    about = blame.about
    if isinstance(about, Node) and blame.direction:
        return Port(about.name, blame.direction)
    if isinstance(about, Link | Switch):
        return msgspec.structs.replace(about, direction=blame.direction)
    return about if about is not None else Node(blame.subject)


def blame_sentence(blame: Blame) -> str:
    """One plain sentence with the numbers: who, which way, how much less than expected, how
    sure.
    """
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
        f"{_who(blame)} {verb} {value} where {expected} is expected, {_share(blame.slowdown)} "
        f"{more} "
        f"(95 % interval {_share(low)} to {_share(high)}; confidence {_sure(blame.confidence)}; "
        f"{sure})"
    )


def _who(blame: Blame) -> str:
    what = {"node": "", "port": "", "link": "the link ", "switch": "switch ", "pair": "the pair "}
    return what[blame.kind] + blame.subject


def _quantity(blame: Blame, value: float) -> str:
    if not math.isfinite(value) or value < 0:
        return "an unknown value"
    return goodput(value) if blame.metric == "goodput" else f"{value / 1e3:.4g} us"


def _quantity_of(located: Located, value: float) -> str:
    return goodput(value) if located.metric == "goodput" else f"{value / 1e3:.4g} us"


def _share(share: float) -> str:
    if not math.isfinite(share):
        return "?"
    return f"{100 * share:.0f} %" if abs(share) >= 0.0995 else f"{100 * share:.1f} %"


def _sure(confidence: float) -> str:
    """Never 1: what was estimated is not certain."""
    if not math.isfinite(confidence):
        return "unknown"
    return "above 0.999" if confidence > 0.999 else f"{max(0.0, confidence):.3g}"


def _blame(blame: Blame) -> Issue:
    code, subject = _CODES[blame.kind], _subject(blame)
    message = blame_sentence(blame)
    if blame.causes:
        first = blame.causes[0]
        message += f". Cause: {first.sentence} (confidence {first.confidence:.2g})"
    else:
        message += ". No counter or fact tells the cause"
    severity: Severity = (
        "fail" if blame.stage == "confirmed" and not is_shared(blame) else "inconclusive"
    )
    return Issue(code, severity, subject, message, _evidence(blame), weight=blame.slowdown)


def _evidence(blame: Blame) -> Evidence:
    unit = "bytes_per_s" if blame.metric == "goodput" else "ns"
    found: Evidence = {
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
        found["nodes"] = list(blame.nodes)
    if blame.evidence:
        found["seen"] = list(blame.evidence)
    if blame.causes:
        first = blame.causes[0]
        found |= {
            "cause": first.sentence,
            "cause_code": first.code,
            "cause_seen": list(first.evidence),
        }
        others = [f"{cause.sentence} ({cause.confidence:.2g})" for cause in blame.causes[1:]]
        if others:
            found["other_causes"] = others
    return found


def _not_confirmed(blame: Blame) -> Issue:
    code, subject = _CODES[blame.kind], _subject(blame)
    text = f"{_who(blame)} was found slow by the screen ({code}) and was not measured again alone"
    return Issue("not-confirmed", "warning", subject, text)


def _missing(located: Located) -> list[Issue]:
    """One for each node, up to a bound; above it one for all of one reason."""
    if len(located.missing) <= _MOST_MISSING:
        return [
            Issue("node-missing", "inconclusive", Node(node), _unsampled(node, reason))
            for node, reason in sorted(located.missing.items())
        ]
    reasons: dict[str, list[str]] = {}
    for node, reason in sorted(located.missing.items()):
        reasons.setdefault(reason or "no reason was seen", []).append(node)
    return [
        Issue(
            "node-missing",
            "inconclusive",
            Whole(f"{len(nodes)} nodes: {reason}"),
            f"{len(nodes)} nodes have no sample ({_names(nodes)}): {reason}",
            {"nodes": nodes},
        )
        for reason, nodes in sorted(reasons.items())
    ]


def _unsampled(node: str, reason: str) -> str:
    """A reason that says itself that there is no sample is not said twice."""
    if reason.startswith("no sample"):
        return f"{node} has {reason}"
    return f"{node} has no sample: {reason or 'no reason was seen'}"


def _names(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return ", ".join(names[:_MOST_NAMES]) + more


def _blind(located: Located) -> list[Issue]:
    """Silence proves something only when a fault would have been seen."""
    if located.detectable <= ABOUT * located.practical:
        return []
    # A NaN comes here too: not known is not good.
    known = math.isfinite(located.detectable)
    least = (
        f"only a slowdown of {_share(located.detectable)} or more"
        if known
        else "no slowdown at all"
    )
    text = (
        f"{least} would have been found reliably in {_WHAT[located.metric]} ({located.samples} "
        "samples of "
        f"{located.measured} nodes scatter by {_share(located.noise)}); "
        f"{_share(located.practical)} is of interest"
    )
    evidence: Evidence = {
        "detectable": located.detectable,
        "practical": located.practical,
        "noise": located.noise,
        "rounds": located.rounds,
        "samples": located.samples,
    }
    return [Issue("noise-too-high", "inconclusive", Whole(located.metric), text, evidence)]


def _innocent(located: Located) -> list[Issue]:
    """What was seen and is no fault: contention, tiers, acquitted suspects."""
    issues = [
        Issue("contention", "note", one.about or Whole(one.subject), one.sentence)
        for one in located.contention
    ]
    for tier in located.tiers:
        if tier.oversubscription > 1.0 + located.practical:
            text = (
                f"paths of the kind '{tier.name}' are {tier.oversubscription:.2g} times slower "
                "than the best kind "
                f"({tier.samples} samples): a property of the fabric, no fault; "
                f"{_quantity_of(located, tier.median)} is expected there when all use them"
            )
            evidence: Evidence = {
                "oversubscription": tier.oversubscription,
                "samples": tier.samples,
                "expected": tier.median,
                "spread": tier.spread,
            }
            issues.append(Issue("tier-oversubscribed", "note", Whole(tier.name), text, evidence))
    issues += [
        Issue(
            "suspect-cleared",
            "note",
            suspect,
            f"{suspect} was a suspect of the screen and is good when measured alone",
        )
        for suspect in located.acquitted
    ]
    return issues


def _advised(findings: Iterable[Finding], blames: Iterable[Blame]) -> list[Finding]:
    """The fix of the likeliest cause is the better advice."""
    fixes = {
        _key(blame): blame.causes[0].fix for blame in blames if blame.causes and blame.causes[0].fix
    }
    return [
        msgspec.structs.replace(
            finding, advice=fixes.get((finding.code, finding.about), finding.advice)
        )
        for finding in findings
    ]


def _ordered(findings: Iterable[Finding]) -> list[Finding]:
    order = {code: place for place, code in enumerate(CATALOGUE)}
    return sorted(
        findings,
        key=lambda one: (rank(one.severity), order.get(one.code, len(order)), one.subject),
    )
