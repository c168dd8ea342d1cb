"""What a judged run says of each node: healthy is only who took part and passed. Pure.

A node fails by what is found of itself. What is found of a pair whose ends are not told apart, or
of the run as a whole, leaves both ends, or every node, undecided.
"""

import math
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean

import numpy as np

from wireproof.model import quantity
from wireproof.model.finding import (
    Both,
    Finding,
    GroupVerdict,
    Judgement,
    Link,
    Node,
    PairVerdict,
    Port,
    Route,
    Subject,
    Switch,
    Verdict,
    rank,
    worst,
    worst_proof,
)
from wireproof.model.gate import NodeVerdict
from wireproof.model.located import Located, Metric
from wireproof.model.run import Run


def node_verdicts(
    run: Run, judgement: Judgement, located: Sequence[Located] = ()
) -> list[NodeVerdict]:
    """One verdict for each claimed node, in rank order. Without a claim about a wire there is no
    evidence of one, and numbers of a model are no evidence either.
    """
    names = list(dict.fromkeys(one.host for one in run.claim.hosts))
    why = _no_evidence(run)
    if why:
        return [NodeVerdict(node=name, verdict="inconclusive", reason=why) for name in names]
    evidence = _by_node(run, judgement, located, names)
    return [_verdict(name, evidence[name]) for name in names]


@dataclass
class _Evidence:
    """What concerns one node: findings that keep it from passing, its results, and those of its
    pairs and groups that do not pass.
    """

    findings: list[Finding] = field(default_factory=list)
    results: list[PairVerdict | GroupVerdict] = field(default_factory=list)
    open: list[PairVerdict | GroupVerdict] = field(default_factory=list)


def joined_nodes(parts: Sequence[Sequence[NodeVerdict]]) -> list[NodeVerdict]:
    """One verdict for each node of several parts; a part that a node took no part in says nothing
    of it.
    """
    found: dict[str, list[NodeVerdict]] = {}
    for part in parts:
        for one in part:
            found.setdefault(one.node, []).append(one)
    return [_joined(each) for each in found.values()]


def _joined(each: Sequence[NodeVerdict]) -> NodeVerdict:
    verdict = worst(one.verdict for one in each)
    telling = next(one for one in each if one.verdict == verdict)
    return NodeVerdict(
        node=telling.node,
        verdict=verdict,
        reason=telling.reason,
        proof=worst_proof(one.proof for one in each),
        passing=sum(one.passing for one in each),
    )


def _no_evidence(run: Run) -> str:
    if not run.claim.wire:
        return "no wire was measured: memory and loopback of one machine prove nothing about a link"
    if run.played:
        return "the hosts were played by a model: its numbers prove nothing about a link"
    return ""


def _by_node(
    run: Run, judgement: Judgement, located: Sequence[Located], names: Sequence[str]
) -> Mapping[str, _Evidence]:
    grave = [one for one in judgement.findings if one.severity in ("fail", "inconclusive")]
    named = _named(grave)
    below = {blame.about: blame.nodes for one in located for blame in one.blames}
    # who is named and took no part gets evidence too, which is not looked at
    found: defaultdict[str, _Evidence] = defaultdict(_Evidence, {one: _Evidence() for one in names})
    for finding in sorted(grave, key=_telling):
        for name in _concerned(finding, named, below, names):
            found[name].findings.append(finding)
    for name, result in _results(run, judgement):
        found[name].results.append(result)
    for result, ends in _open(run, judgement, named):
        for name in ends:
            found[name].open.append(result)
    return found


def _named(findings: Sequence[Finding]) -> set[str]:
    """The nodes that have findings of their own."""
    return {
        one.about.node if isinstance(one.about, Port) else one.about.name
        for one in findings
        if isinstance(one.about, Node | Port)
    }


def _open(
    run: Run, judgement: Judgement, named: Collection[str]
) -> Iterator[tuple[PairVerdict | GroupVerdict, Collection[str]]]:
    """Results that do not pass and that nothing explains, with the nodes that they leave open."""
    for pair in _open_pairs(judgement):
        yield pair, _undecided_ends(pair.origin_host, pair.target_host, named)
    yield from _open_groups(run, judgement, named)


def _telling(finding: Finding) -> tuple[bool, int]:
    """What is found of a node itself comes first, then the gravest."""
    own_fail = isinstance(finding.about, Node | Port) and finding.severity == "fail"
    return not own_fail, rank(finding.severity)


def _concerned(
    finding: Finding,
    named: Collection[str],
    below: Mapping[Subject | None, Sequence[str]],
    names: Sequence[str],
) -> Sequence[str]:
    """The nodes that the finding keeps from passing. ``named``: those with findings of their own,
    which explain their pairs; ``below``: the nodes behind a culprit.
    """
    match finding.about:
        case Node(name=node) | Port(node=node):
            return [node]
        case Route(origin=one, target=other) | Both(one=one, other=other):
            return _undecided_ends(one, other, named)
        case Link() | Switch():
            return below.get(finding.about, names)
    return names


def _undecided_ends(one: str, other: str, named: Collection[str]) -> list[str]:
    """The ends of a pair that does not pass, without those that a fault of the other explains."""
    return [end for end, far in ((one, other), (other, one)) if far not in named]


def _results(run: Run, judgement: Judgement) -> Iterator[tuple[str, PairVerdict | GroupVerdict]]:
    for pair in judgement.pairs:
        yield pair.origin_host, pair
        yield pair.target_host, pair
    members = _members(run)
    for group in judgement.groups:
        for name in members.get(group.point, ()):
            yield name, group


def _members(run: Run) -> Mapping[int, Collection[str]]:
    """The hosts of each group, by its point."""
    hosts = {one.rank: one.host for one in run.claim.hosts}
    return {
        point.id: {hosts.get(member, "") for member in point.group.members}
        for point in run.points
        if point.group is not None
    }


def _open_groups(
    run: Run, judgement: Judgement, named: Collection[str]
) -> Iterator[tuple[GroupVerdict, Collection[str]]]:
    """Groups that do not pass, with their nodes; a fault of one of these explains it."""
    members = _members(run)
    for group in judgement.groups:
        nodes = members.get(group.point, ())
        if group.verdict != "pass" and not set(named) & set(nodes):
            yield group, nodes


def _open_pairs(judgement: Judgement) -> list[PairVerdict]:
    """Results that do not pass, and that no repeat of theirs settles. What a repeat settles is a
    number, not a path that is not proven.
    """
    passing = {_measurement(one) for one in judgement.pairs if one.verdict == "pass"}
    return [
        one
        for one in judgement.pairs
        if one.verdict != "pass" and (one.proof != "on-wire" or _measurement(one) not in passing)
    ]


def _measurement(pair: PairVerdict) -> tuple[str, ...]:
    what = pair.pattern, pair.form, pair.formula, str(pair.message_bytes)
    return pair.origin_host, pair.target_host, *what


def _verdict(name: str, evidence: _Evidence) -> NodeVerdict:
    passing = [one for one in evidence.results if one.verdict == "pass" and one.proof == "on-wire"]
    verdict, reason = _concluded(evidence, len(passing))
    return NodeVerdict(
        node=name,
        verdict=verdict,
        reason=reason,
        proof=worst_proof(one.proof for one in passing or evidence.results),
        passing=len(passing),
    )


def _concluded(evidence: _Evidence, passing: int) -> tuple[Verdict, str]:
    """Verdict and reason; a pass needs a result that passes and nothing that is open."""
    if evidence.findings:
        telling = evidence.findings[0]
        if not isinstance(telling.about, Node | Port):
            return "inconclusive", f"not decided for this node: {telling.message}"
        return ("fail" if telling.severity == "fail" else "inconclusive"), telling.message
    if evidence.open:
        return "inconclusive", (
            f"{len(evidence.open)} of its results do not pass, such as {_what(evidence.open[0])}"
        )
    if passing:
        return "pass", f"{passing} results pass and crossed the wire"
    measured = "no result of it passes with its path proven" if evidence.results else ""
    return "inconclusive", measured or "it was not measured"


def _what(one: PairVerdict | GroupVerdict) -> str:
    between = (
        f"from {one.origin_host} to {one.target_host}"
        if isinstance(one, PairVerdict)
        else f"of {one.members} ranks"
    )
    return f"{one.pattern} of {quantity.size(one.message_bytes)} {between}"


# --- Which nodes or pairs changed apart from the others between two results. Pure. The ratios of
# all routes are a table of pairs: what stands out among them by the rows alone
# (``locate.screen.few``) has become slower, or, of the inverse ratios, faster than the rest has.

Ends = tuple[str, ...]


def changed_apart(ratios: Mapping[Ends, float], metric: Metric) -> list[tuple[str, list[Ends]]]:
    """Each node or pair that changed otherwise than the rest, in words, with its routes; no route
    twice. ``ratios``: the value of the second result over that of the first, by route.
    """
    left = dict(ratios)
    found: list[tuple[str, list[Ends]]] = []
    # That one node is slower and that all others are faster are the same rows: what leaves the
    # rest nearest to no change comes first.
    for sign in sorted((1.0, -1.0), key=lambda sign: _rest(ratios, metric, sign)):
        for about in _standing_out({ends: value**sign for ends, value in left.items()}, metric):
            routes = [ends for ends in left if _takes_part(about, ends)]
            if routes:
                found.append((_words(about), routes))
            for ends in routes:
                del left[ends]
    return found


def _rest(ratios: Mapping[Ends, float], metric: Metric, sign: float) -> float:
    """How far the routes that do not stand out have changed."""
    apart = _standing_out({ends: value**sign for ends, value in ratios.items()}, metric)
    rest = [
        math.log(value)
        for ends, value in ratios.items()
        if not any(_takes_part(about, ends) for about in apart)
    ]
    return abs(fmean(rest)) if apart and rest else math.inf


def _standing_out(ratios: Mapping[Ends, float], metric: Metric) -> Sequence[Subject]:
    # A run's verdicts need no screen: only a comparison loads it.
    from wireproof.locate.samples import Samples
    from wireproof.locate.screen.few import by_rows
    from wireproof.locate.screen.sweep import screen

    routes = [ends for ends in ratios if len(ends) == 2]
    nodes = tuple(dict.fromkeys(name for ends in routes for name in ends))
    if len(nodes) < 3:
        return []
    number = {name: at for at, name in enumerate(nodes)}
    located, _ = by_rows(
        screen(
            Samples(
                metric=metric,
                nodes=nodes,
                origin=np.asarray([number[origin] for origin, _ in routes], dtype=np.int32),
                target=np.asarray([number[target] for _, target in routes], dtype=np.int32),
                round=np.zeros(len(routes), dtype=np.int32),
                value=np.asarray([ratios[ends] for ends in routes], dtype=np.float64),
                half_width=np.full(len(routes), np.nan),
            )
        )
    )
    return [blame.about for blame in located.blames if blame.about is not None]


def _takes_part(about: Subject, ends: Ends) -> bool:
    match about:
        case Node(node):
            return node in ends
        case Port(node, direction):
            return ends[0 if direction == "tx" else 1] == node
        case Route(origin, target):
            return ends == (origin, target)
        case Both(one, other):
            return set(ends) == {one, other}
    return False


def _words(about: Subject) -> str:
    if isinstance(about, Port):
        return f"{about.node} {'sends' if about.direction == 'tx' else 'receives'}"
    return str(about)
