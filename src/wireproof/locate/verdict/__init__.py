# pure
"""Add the located culprits to a run's findings, remove the findings that they explain, and decide
the verdict again. Pure.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

import msgspec

from wireproof.locate.verdict.issues import (
    advice_of,
    blame_issue,
    has_samples,
    key_of,
    located_issues,
    with_shared,
)
from wireproof.locate.verdict.slow_pairs import by_design, good_alone, harmless
from wireproof.model import gathered
from wireproof.model.claim import Claim, Criteria, is_several
from wireproof.model.finding import (
    Both,
    Finding,
    Judgement,
    Node,
    PairVerdict,
    Port,
    Route,
    Subject,
    nodes_of,
    worst,
)
from wireproof.model.located import OTHER_TRAFFIC, Blame, Fabric, Located
from wireproof.verdict.issue import SLOW, Issue, merge, overall, sorted_findings

# --- A slow node with rails: if the rails share evenly, the bytes do not show which rail is slow.

_SLOW = ("node-slow", "port-slow")


def with_rail_notes(judgement: Judgement, claim: Claim) -> Judgement:
    """Add a finding for each slow node with several claimed NICs whose slow rail is unknown.

    The message gives the command that finds the slow rail.
    """
    nics = {host.host: host.nic for host in claim.hosts if is_several(host.nic)}
    if not nics:
        return judgement
    named = {_node(finding) for finding in judgement.findings if finding.code == "slow-rail"}
    slow = {_node(finding): finding for finding in judgement.findings if finding.code in _SLOW}
    well = next((host for host in nics if host not in slow), "PARTNER")
    issues = [
        _note(node, nics[node], well, finding)
        for node, finding in slow.items()
        if node in nics and node not in named
    ]
    return msgspec.structs.replace(judgement, findings=[*judgement.findings, *merge(issues)])


def _node(finding: Finding) -> str:
    """Return the node that a finding is about, else its subject."""
    named = nodes_of(finding.about)
    return named[0] if len(named) == 1 else finding.subject


def _note(node: str, nics: str, partner: str, finding: Finding) -> Issue:
    receives = isinstance(finding.about, Port) and finding.about.direction == "rx"
    ends = f"{partner},{node}" if receives else f"{node},{partner}"
    command = f"wireproof measure stream --hosts {ends} --nic {nics} --gain"
    return Issue(
        "rail-not-told",
        "inconclusive",
        Node(node),
        (
            f"{node}: its rails {nics} carried their shares, so the bytes do not show which rail "
            f"is slow; measure each rail alone: {command}"
        ),
        {"command": command},
    )


# --- The findings of the judgement that a located culprit explains.

_WAYS = ("direction-slow", "node-direction-slow")
_BOTH_WAYS = ("pingpong", "exchange")
_FETCHES = ("get",)
_BY_HALF = 0.5
_WORSE = 0.85  # a pair below this share of its culprit's value has another problem as well


def explained(
    findings: Iterable[Finding],
    blames: Sequence[Blame],
    before: Sequence[PairVerdict],
    after: Sequence[PairVerdict],
    good_alone: Collection[Subject] = (),
) -> tuple[list[Finding], list[tuple[Finding, Blame]]]:
    """Return (findings that stay, removed findings with the culprit that explains each).

    ``before`` and ``after``: the pairs' verdicts before and after contention was taken into
    account. A finding is also removed, without a culprit, if all its pairs are cleared or its
    subject is in ``good_alone``.
    """
    slow = _slow_pairs(before)
    acquitted = {key for key in slow if key not in _slow_pairs(after)}
    index = _index(blames)
    kept: list[Finding] = []
    gone: list[tuple[Finding, Blame]] = []
    for finding in findings:
        if (finding.code, finding.about) in acquitted or (
            finding.code in _WAYS and finding.about in good_alone
        ):
            continue
        pairs = slow.get((finding.code, finding.about), [])
        near = _near(index, finding) if finding.code in SLOW else []
        blame = next((culprit for culprit in near if _tells(culprit, finding, pairs)), None)
        if blame is None:
            kept.append(finding)
        else:
            gone.append((finding, blame))
    return kept, gone


def _index(blames: Iterable[Blame]) -> dict[Subject, list[Blame]]:
    """Map each node or route to the culprits that may concern it, so that many findings are handled
    fast.
    """
    culprits: list[tuple[Subject, Blame]] = []
    for blame in blames:
        place = Node(blame.about.node) if isinstance(blame.about, Port) else blame.about
        near = [place] if place is not None else []
        subjects = dict.fromkeys([*near, *map(Node, blame.nodes)])
        culprits += [(subject, blame) for subject in subjects]
    return gathered(culprits)


def _near(index: dict[Subject, list[Blame]], finding: Finding) -> list[Blame]:
    about, near = finding.about, list[Subject]()
    if isinstance(about, Port):
        near = [Node(about.node)]
    elif isinstance(about, Route):
        origin, target = about.origin, about.target
        both = [Both(origin, target), Both(target, origin)]
        near = [about, Node(origin), Node(target), *both, about.back]
    return [blame for subject in near for blame in index.get(subject, [])]


def _slow_pairs(
    pairs: Iterable[PairVerdict],
) -> dict[tuple[str, Subject | None], list[PairVerdict]]:
    """Map (code, route) to the slow results that it is about."""
    return gathered(
        (("below-expectation", pair.route), pair)
        for pair in pairs
        if "below-expectation" in pair.codes
    )


def _tells(blame: Blame, finding: Finding, pairs: Sequence[PairVerdict]) -> bool:
    """Return whether the culprit explains the finding completely."""
    if finding.code not in SLOW or blame.metric != "goodput":
        return False
    about = finding.about
    if isinstance(about, Port):
        return _tells_node(blame, about)
    if pairs:
        return all(_takes(blame, pair) and not _far_worse(blame, pair) for pair in pairs)
    return isinstance(about, Route) and _uses(blame, about.origin, about.target)


def _tells_node(blame: Blame, port: Port) -> bool:
    if blame.kind in ("node", "port"):
        return blame.subject == port.node and blame.direction in ("", port.direction)
    return blame.kind == "switch" and port.node in blame.nodes


def _takes(blame: Blame, pair: PairVerdict) -> bool:
    sender, receiver = pair.origin_host, pair.target_host
    if pair.pattern in _FETCHES:
        sender, receiver = receiver, sender
    ways = [(sender, receiver)]
    if pair.pattern in _BOTH_WAYS:
        ways.append((receiver, sender))
    return any(_uses(blame, *way) for way in ways)


def _uses(blame: Blame, sender: str, receiver: str) -> bool:
    """Return whether data from ``sender`` to ``receiver`` passes the culprit."""
    if blame.kind in ("node", "port"):
        ends = {"": (sender, receiver), "tx": (sender,), "rx": (receiver,)}[blame.direction]
        return blame.subject in ends
    if blame.kind == "pair":
        route, both = Route(sender, receiver), Both(sender, receiver)
        return blame.about in (route, both, Both(receiver, sender))
    touched = (sender in blame.nodes) + (receiver in blame.nodes)
    # Two nodes on the same side of a link do not use it.
    return touched >= 1 if blame.kind == "switch" else touched == 1


def _far_worse(blame: Blame, pair: PairVerdict) -> bool:
    if pair.unit != "bytes_per_s" or pair.pattern in _BOTH_WAYS:
        return False
    return pair.value < _WORSE * blame.value * (1.0 - abs(blame.high - blame.slowdown))


def with_located(
    judgement: Judgement,
    located: Sequence[Located],
    criteria: Criteria | None = None,
    fabric: Fabric | None = None,
) -> Judgement:
    """Add the findings of ``located`` to ``judgement`` and decide the overall verdict again.

    Findings about slow streams that a culprit explains are removed: one bad port is one finding,
    not one for each pair. A pair does not fail if it reaches its limit alone and missed it only
    because others used its links, or if its kind of path in ``fabric`` is slower by design. All
    other pairs keep their verdicts. A culprit that explains failures fails, confirmed or not,
    unless other traffic at its port explains it. Too much noise is only a warning if every pair
    passes by its own limit. An empty ``located`` changes nothing.
    """
    if not located:
        return judgement
    located = [with_other_traffic(one, judgement.findings, judgement.pairs) for one in located]
    blames = [blame for sweep in located if has_samples(sweep) for blame in sweep.blames]
    innocent = harmless(judgement, located, (criteria or Criteria()).min_efficiency, fabric)
    pairs = [innocent.get(id(pair), pair) for pair in judgement.pairs]
    findings = _without_shared(judgement.findings, located, fabric)
    kept, gone = explained(findings, blames, judgement.pairs, pairs, good_alone(judgement, located))
    failing = _failing(gone)
    starved = _starved(pairs, blames, (criteria or Criteria()).min_efficiency)
    left = [pair for pair in pairs if not pair.settled]
    all_pass = worst(pair.verdict for pair in left) == "pass"
    issues = [
        _decided(issue, failing, starved, all_pass=all_pass)
        for sweep in located
        for issue in located_issues(sweep)
    ]
    kept = _as_reason(kept, blames)
    findings = sorted_findings([*kept, *_advised(merge(issues), blames)])
    verdict = overall(findings, left, judgement.groups)
    return msgspec.structs.replace(judgement, findings=findings, pairs=pairs, verdict=verdict)


def with_causes(judgement: Judgement, located: Sequence[Located]) -> Judgement:
    """Update the causes in the findings of culprits from ``located``.

    Severities and the verdict stay, because they come from the measurement.
    """
    located = [with_other_traffic(one, judgement.findings, judgement.pairs) for one in located]
    blames = [blame for sweep in located if has_samples(sweep) for blame in sweep.blames]
    renewed = {_place(finding): finding for finding in map(_finding_of, blames)}
    findings = [
        msgspec.structs.replace(
            finding, message=new.message, evidence=new.evidence, advice=new.advice
        )
        if (new := renewed.get(_place(finding))) is not None
        else finding
        for finding in judgement.findings
    ]
    return msgspec.structs.replace(judgement, findings=findings)


def _finding_of(blame: Blame) -> Finding:
    (finding,) = _advised(merge([blame_issue(blame)]), [blame])
    return finding


def _place(finding: Finding) -> tuple[str, object, bool]:
    """Return code, subject and metric: a node may be slow in both metrics."""
    return finding.code, finding.about, "value_ns" in finding.evidence


def with_other_traffic(
    located: Located, findings: Sequence[Finding], pairs: Sequence[PairVerdict]
) -> Located:
    """Return ``located`` with the other traffic that ``findings`` report as first causes.

    ``pairs``: the results, which show whose rate other traffic explains.
    """
    slow = [pair for pair in pairs if "below-expectation" in pair.codes]
    blames = [
        with_shared(
            blame,
            findings,
            [pair for pair in slow if _takes(blame, pair) and not _far_worse(blame, pair)],
        )
        for blame in located.blames
    ]
    return msgspec.structs.replace(located, blames=blames)


def _as_reason(findings: Iterable[Finding], blames: Iterable[Blame]) -> list[Finding]:
    """Return the findings; other traffic that excuses a culprit is why the run is inconclusive."""
    excused = {seen for blame in blames if blame.excused for seen in blame.causes[0].evidence}
    return [
        msgspec.structs.replace(one, severity="inconclusive")
        if one.code == OTHER_TRAFFIC and one.message in excused
        else one
        for one in findings
    ]


def _failing(gone: Iterable[tuple[Finding, Blame]]) -> set[tuple[str, Subject | None]]:
    """Return the culprits that explain a failure."""
    return {key_of(one) for why, one in gone if why.severity == "fail" and not one.excused}


def _starved(
    pairs: Sequence[PairVerdict], blames: Iterable[Blame], least: float
) -> set[tuple[str, Subject | None]]:
    """Return culprits that were compared with nodes that miss the link's rate themselves for lack
    of CPU.

    This applies if the processes of most results waited for a processor. Such waits are uneven, but
    they do not slow a node by half beside others that wait as much.
    """
    streams = [pair for pair in pairs if pair.unit == "bytes_per_s" and pair.limit is not None]
    waited = [pair for pair in streams if "oversubscribed" in pair.codes]
    if not streams or 2 * len(waited) <= len(streams):
        return set()
    usual = least * min(pair.limit or 0.0 for pair in streams)
    return {
        key_of(blame)
        for blame in blames
        if blame.metric == "goodput"
        and blame.expected < usual
        and min(blame.low, blame.high) < _BY_HALF
    }


def _decided(
    issue: Issue,
    failing: set[tuple[str, Subject | None]],
    starved: set[tuple[str, Subject | None]],
    *,
    all_pass: bool,
) -> Issue:
    """A culprit that explains a failure fails, unless its processes waited for a processor. If each
    pair reaches its own limit, an imprecise comparison is only a warning.
    """
    key = issue.code, issue.subject
    if key in starved and (issue.severity == "fail" or key in failing):
        text = f"{issue.message}. All processes waited for a processor: measure again on idle hosts"
        return replace(issue, severity="inconclusive", message=text)
    if key in failing:
        return replace(issue, severity="fail")
    blunt = all_pass and issue.code == "noise-too-high"
    return replace(issue, severity="warning") if blunt else issue


def _without_shared(
    findings: Sequence[Finding], located: Sequence[Located], fabric: Fabric | None
) -> list[Finding]:
    """Remove findings about slow directions on types of path that are slower by design.

    On such a path, many flows share a link, and one direction may share it with more flows than the
    other. The finding about the tier reports the goodput of these paths.
    """
    ways = [_slow_routes(finding) for finding in findings]
    routes = [route for slow in ways for route in slow]
    tiers = by_design(routes, located, fabric)
    shared = {route for route, tier in zip(routes, tiers, strict=True) if tier}
    return [
        finding
        for finding, slow in zip(findings, ways, strict=True)
        if not slow or not shared.issuperset(slow)
    ]


def _slow_routes(finding: Finding) -> list[Route]:
    """Return the routes that a finding reports as slow in one direction."""
    about = finding.about
    if finding.code == "direction-slow" and isinstance(about, Route):
        return [about]
    peers = finding.evidence.get("peers")
    if finding.code != "node-direction-slow" or not isinstance(about, Port):
        return []
    routes = [Route(about.node, peer) for peer in (peers if isinstance(peers, list) else [])]
    return routes if about.direction == "tx" else [route.back for route in routes]


def _advised(findings: Iterable[Finding], blames: Iterable[Blame]) -> list[Finding]:
    """Replace the advice with the fix for the likeliest cause."""
    fixes = {key_of(blame): fix for blame in blames if (fix := advice_of(blame.causes))}
    return [
        msgspec.structs.replace(
            finding, advice=fixes.get((finding.code, finding.about), finding.advice)
        )
        for finding in findings
    ]
