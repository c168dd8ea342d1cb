# pure
"""Judge each node of a judged run: a node is healthy only if it took part and passed. Pure.

A node fails because of findings about itself. A finding about a pair whose ends cannot be
distinguished, or about the whole run, leaves both ends, or every node, undecided.
"""

import math
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean

import numpy as np

from wireproof.model import gathered, quantity
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
    nodes_of,
    rank,
    worst,
    worst_proof,
)
from wireproof.model.located import Located, Metric
from wireproof.model.run import NodeVerdict, Run


def node_verdicts(
    run: Run, judgement: Judgement, located: Sequence[Located] = ()
) -> list[NodeVerdict]:
    """Return one verdict for each claimed node, in rank order.

    Without a claim about a wire, or with numbers from a model, nothing is proven about a wire.
    """
    names = list(dict.fromkeys(claim.host for claim in run.claim.hosts))
    why = _no_evidence(run)
    if why:
        return [NodeVerdict(node=name, verdict="inconclusive", reason=why) for name in names]
    evidence = _by_node(run, judgement, located, names)
    return [_verdict(name, evidence[name]) for name in names]


@dataclass
class _Evidence:
    """The evidence about one node: findings that keep it from passing, its results, and undecided
    results of its pairs and groups.
    """

    findings: list[Finding] = field(default_factory=list)
    results: list[PairVerdict | GroupVerdict] = field(default_factory=list)
    open: list[PairVerdict | GroupVerdict] = field(default_factory=list)


def joined_nodes(parts: Sequence[Sequence[NodeVerdict]]) -> list[NodeVerdict]:
    """Merge the verdicts of several parts into one per node; a part without the node does not
    affect it.
    """
    by_node = gathered((verdict.node, verdict) for part in parts for verdict in part)
    return [_joined(parts) for parts in by_node.values()]


def _joined(parts: Sequence[NodeVerdict]) -> NodeVerdict:
    verdict = worst(part.verdict for part in parts)
    telling = next(part for part in parts if part.verdict == verdict)
    return NodeVerdict(
        node=telling.node,
        verdict=verdict,
        reason=telling.reason,
        proof=worst_proof(part.proof for part in parts),
        passing=sum(part.passing for part in parts),
    )


def _no_evidence(run: Run) -> str:
    if not run.claim.wire:
        return "no wire was measured: memory and loopback of one machine prove nothing about a link"
    if run.played:
        return "the hosts were simulated by a model: its numbers prove nothing about a link"
    return ""


def _by_node(
    run: Run, judgement: Judgement, located: Sequence[Located], names: Sequence[str]
) -> Mapping[str, _Evidence]:
    serious = [
        finding for finding in judgement.findings if finding.severity in ("fail", "inconclusive")
    ]
    named = _named(serious)
    below = {blame.about: blame.nodes for sweep in located for blame in sweep.blames}
    # evidence about nodes that took no part is ignored
    evidence: defaultdict[str, _Evidence] = defaultdict(
        _Evidence, {name: _Evidence() for name in names}
    )
    for finding in sorted(serious, key=_telling):
        for name in _concerned(finding, named, below, names):
            evidence[name].findings.append(finding)
    passing = {_measurement(pair) for pair in judgement.pairs if pair.verdict == "pass"}
    for result, nodes in _results(run, judgement):
        for name in nodes:
            evidence[name].results.append(result)
        for name in _left_open(result, nodes, passing, named):
            evidence[name].open.append(result)
    return evidence


def _named(findings: Sequence[Finding]) -> set[str]:
    """Return the nodes that have separate findings."""
    own = [finding.about for finding in findings if isinstance(finding.about, Node | Port)]
    return {name for about in own for name in nodes_of(about)}


def _telling(finding: Finding) -> tuple[bool, int]:
    """Sort findings about a node itself first, then by severity."""
    own_fail = isinstance(finding.about, Node | Port) and finding.severity == "fail"
    return not own_fail, rank(finding.severity)


def _concerned(
    finding: Finding,
    named: Collection[str],
    below: Mapping[Subject | None, Sequence[str]],
    names: Sequence[str],
) -> Sequence[str]:
    """Return the nodes that the finding keeps from passing.

    ``named``: nodes with separate findings, which explain their pairs. ``below``: the nodes
    behind a culprit.
    """
    match finding.about:
        case Node(name=node) | Port(node=node):
            return [node]
        case Route(origin=a, target=b) | Both(one=a, other=b):
            return _undecided_ends((a, b), named)
        case Link() | Switch():
            return below.get(finding.about, names)
    return names


def _undecided_ends(ends: Sequence[str], named: Collection[str]) -> list[str]:
    """Return the ends of a pair that does not pass, unless a fault of the other end explains it."""
    return [end for end, far in zip(ends, reversed(ends), strict=True) if far not in named]


def _results(
    run: Run, judgement: Judgement
) -> Iterator[tuple[PairVerdict | GroupVerdict, Sequence[str]]]:
    """Yield each result with its nodes."""
    for pair in judgement.pairs:
        yield pair, (pair.origin_host, pair.target_host)
    hosts = {claim.rank: claim.host for claim in run.claim.hosts}
    members = {
        point.id: list({hosts.get(member, "") for member in point.group.members})
        for point in run.points
        if point.group is not None
    }
    for group in judgement.groups:
        yield group, members.get(group.point, [])


def _left_open(
    result: PairVerdict | GroupVerdict,
    nodes: Sequence[str],
    passing: Collection[tuple[str, ...]],
    named: Collection[str],
) -> Sequence[str]:
    """Return the nodes that a result leaves undecided: it does not pass, and nothing explains it.

    A repeat settles the number of a pair, but not an unproven path.
    """
    if result.verdict == "pass":
        return ()
    if isinstance(result, GroupVerdict):
        return () if set(named) & set(nodes) else nodes
    settled = result.proof == "on-wire" and _measurement(result) in passing
    return () if settled else _undecided_ends(nodes, named)


def _measurement(pair: PairVerdict) -> tuple[str, ...]:
    what = pair.pattern, pair.form, pair.formula, str(pair.message_bytes)
    return pair.origin_host, pair.target_host, *what


def _verdict(name: str, evidence: _Evidence) -> NodeVerdict:
    passing = [
        result
        for result in evidence.results
        if result.verdict == "pass" and result.proof == "on-wire"
    ]
    verdict, reason = _concluded(evidence, len(passing))
    return NodeVerdict(
        node=name,
        verdict=verdict,
        reason=reason,
        proof=worst_proof(result.proof for result in passing or evidence.results),
        passing=len(passing),
    )


def _concluded(evidence: _Evidence, passing: int) -> tuple[Verdict, str]:
    """Return verdict and reason; a pass needs a passing result and no open result."""
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
    measured = "none of its results passes with a proven path" if evidence.results else ""
    return "inconclusive", measured or "it was not measured"


def _what(result: PairVerdict | GroupVerdict) -> str:
    between = (
        f"from {result.origin_host} to {result.target_host}"
        if isinstance(result, PairVerdict)
        else f"of {result.members} ranks"
    )
    return f"{result.pattern} of {quantity.size(result.message_bytes)} {between}"


# --- Find the nodes or pairs that changed differently from the others between two results. Pure.
# The ratios of all routes form a table of pairs: a node or pair that stands out in it
# (``locate.screen.few``) has become slower than the rest; with inverse ratios, faster.

Ends = tuple[str, ...]


def changed_apart(ratios: Mapping[Ends, float], metric: Metric) -> list[tuple[str, list[Ends]]]:
    """Return each node or pair that changed differently from the rest, in words, with its routes.

    Each route appears once. ``ratios``: value of the second result divided by the first, by route.
    """
    left = dict(ratios)
    changes: list[tuple[str, list[Ends]]] = []
    # The rows are the same if one node is slower or all others are faster, so first try the sign
    # that leaves the rest closest to no change.
    for sign in sorted((1.0, -1.0), key=lambda sign: _rest(ratios, metric, sign)):
        for about in _standing_out({ends: value**sign for ends, value in left.items()}, metric):
            routes = [ends for ends in left if _takes_part(about, ends)]
            if routes:
                changes.append((_words(about), routes))
            for ends in routes:
                del left[ends]
    return changes


def _rest(ratios: Mapping[Ends, float], metric: Metric, sign: float) -> float:
    """Return the change of the routes that do not stand out."""
    apart = _standing_out({ends: value**sign for ends, value in ratios.items()}, metric)
    rest = [
        math.log(value)
        for ends, value in ratios.items()
        if not any(_takes_part(about, ends) for about in apart)
    ]
    return abs(fmean(rest)) if apart and rest else math.inf


def _standing_out(ratios: Mapping[Ends, float], metric: Metric) -> Sequence[Subject]:
    # Only a comparison needs the screen, so it is loaded here.
    from wireproof.locate.samples import Samples
    from wireproof.locate.screen import screen
    from wireproof.locate.screen.few import by_rows

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
        case Both(a, b):
            return set(ends) == {a, b}
    return False


def _words(about: Subject) -> str:
    if isinstance(about, Port):
        return f"{about.node} {'sends' if about.direction == 'tx' else 'receives'}"
    return str(about)
