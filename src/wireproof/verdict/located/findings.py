"""What was located, as findings of the run: the findings that a culprit explains go, and the
verdict is drawn again. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import msgspec

from wireproof.model.claim import Criteria
from wireproof.model.fabric import Fabric
from wireproof.model.finding import Finding, Judgement
from wireproof.model.located import Blame, Located
from wireproof.model.severity import rank, worst
from wireproof.model.subject import Port, Route
from wireproof.verdict.catalogue import CATALOGUE
from wireproof.verdict.issue import Issue, merge, overall
from wireproof.verdict.located.cleared import by_design, good_alone, harmless
from wireproof.verdict.located.explains import explained
from wireproof.verdict.located.issues import blame_issue, has_samples, key_of, located_issues
from wireproof.verdict.located.said import advice_of
from wireproof.verdict.located.shared import is_shared, with_shared

__all__ = ["with_causes", "with_located"]


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
    located = [_with_other_traffic(one, judgement.findings) for one in located]
    blames = [blame for one in located if has_samples(one) for blame in one.blames]
    innocent = harmless(judgement, located, (criteria or Criteria()).min_efficiency, fabric)
    pairs = [innocent.get(id(pair), pair) for pair in judgement.pairs]
    findings = _without_shared(judgement.findings, located, fabric)
    kept, gone = explained(findings, blames, judgement.pairs, pairs, good_alone(judgement, located))
    issues = [issue for one in located for issue in located_issues(one)]
    issues = _failing(issues, gone)
    if pairs and worst(pair.verdict for pair in pairs) == "pass":
        issues = [_blunt_but_good(issue) for issue in issues]
    findings = _ordered([*kept, *_advised(merge(issues), blames)])
    verdict = overall(findings, pairs, judgement.groups)
    return msgspec.structs.replace(judgement, findings=findings, pairs=pairs, verdict=verdict)


def with_causes(judgement: Judgement, located: Sequence[Located]) -> Judgement:
    """``judgement`` whose culprits' findings say the causes that ``located`` has now. Severities
    and the verdict stay: they are the measurement's.
    """
    located = [_with_other_traffic(one, judgement.findings) for one in located]
    blames = [blame for one in located if has_samples(one) for blame in one.blames]
    again = {_place(one): one for one in (_told(blame) for blame in blames)}
    findings = [
        msgspec.structs.replace(
            finding, message=said.message, evidence=said.evidence, advice=said.advice
        )
        if (said := again.get(_place(finding))) is not None
        else finding
        for finding in judgement.findings
    ]
    return msgspec.structs.replace(judgement, findings=findings)


def _told(blame: Blame) -> Finding:
    (finding,) = _advised(merge([blame_issue(blame)]), [blame])
    return finding


def _place(finding: Finding) -> tuple[str, object, bool]:
    """Code, subject and metric: a node may be slow by both metrics."""
    return finding.code, finding.about, "value_ns" in finding.evidence


def _with_other_traffic(located: Located, findings: Sequence[Finding]) -> Located:
    blames = [with_shared(blame, findings) for blame in located.blames]
    return msgspec.structs.replace(located, blames=blames)


def _failing(issues: Iterable[Issue], gone: Iterable[tuple[Finding, Blame]]) -> list[Issue]:
    """A culprit that stands for a failure fails."""
    fails = {
        key_of(blame)
        for finding, blame in gone
        if finding.severity == "fail" and not is_shared(blame)
    }
    return [
        replace(issue, severity="fail") if (issue.code, issue.subject) in fails else issue
        for issue in issues
    ]


def _blunt_but_good(issue: Issue) -> Issue:
    """Each pair reaches its own limit: a blunt comparison takes nothing away from that."""
    return replace(issue, severity="warning") if issue.code == "noise-too-high" else issue


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


def _advised(findings: Iterable[Finding], blames: Iterable[Blame]) -> list[Finding]:
    """The fix of the likeliest cause is the better advice."""
    fixes = {key_of(blame): fix for blame in blames if (fix := advice_of(blame.causes))}
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
