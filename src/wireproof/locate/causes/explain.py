"""The cause of what was located, as far as counters, Facts and sentinels tell. Pure; the rules are
``causes.rules``.

No rule fires without something seen; where none fires the culprit has no cause and its evidence
says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from wireproof.locate.causes.counters import growth, readings, timing, traffic
from wireproof.locate.causes.node import Node, Sign
from wireproof.locate.causes.properties import Properties, claimed_nic, machine, settings
from wireproof.locate.causes.rules import RULES, Rule
from wireproof.model.located import Blame, Cause, Located
from wireproof.model.record import FactFrame, Host, PairResult, PointRecord, WitnessReading
from wireproof.model.run import Run
from wireproof.model.subject import Both, Link, Port, Route, Switch
from wireproof.model.subject import Node as NodeSubject

__all__ = ["MOST_CAUSES", "explain"]

MOST_CAUSES = 5
_MOST_PEERS = 64
_MOST_CULPRITS = 256
_MOST_BELOW = 32
_MOST_SEEN = 8
_NEARBY = 0.7


def explain(located: Located, run: Run, rules: Sequence[Rule] = RULES) -> Located:
    """``located`` with the causes of each culprit, the likeliest first. Peers are nodes that no
    culprit names (64 of them, evenly taken). Cost grows with the facts and readings of the run, and
    not with its pairs squared.
    """
    if not located.blames:
        return located
    names = _names(run)
    accused = {node for blame in located.blames for node in _nodes_of(blame, names)}
    looked = sorted(accused)[: _MOST_CULPRITS * 2]
    peers = _evenly(sorted(set(names) - accused), _MOST_PEERS)
    known = _known(run, names, [*looked, *peers])
    others = [known[name] for name in peers if name in known]
    return msgspec.structs.replace(
        located,
        blames=[
            _explained(blame, located, known, others, names, rules) for blame in located.blames
        ],
    )


def _names(run: Run) -> dict[str, list[int]]:
    """Node, as the user gave it, to its ranks."""
    claims = {claim.rank: claim.host for claim in run.claim.hosts}
    found: dict[str, list[int]] = {}
    for host in run.hosts:
        found.setdefault(claims.get(host.rank) or host.host or host.hostname, []).append(host.rank)
    return found


def _nodes_of(blame: Blame, names: dict[str, list[int]]) -> list[str]:
    """The nodes to look at for a culprit; a pair's are its ends."""
    own = _named(blame)
    pair = isinstance(blame.about, Route | Both)
    wanted = blame.nodes if not own or (pair and blame.nodes) else own
    return [node for node in wanted if node in names][:_MOST_BELOW]


def _named(blame: Blame) -> tuple[str, ...]:
    """The nodes that a culprit names itself."""
    match blame.about:
        case NodeSubject(name=name) | Port(node=name):
            return (name,)
        case Route(origin=one, target=other) | Both(one=one, other=other):
            return one, other
    return ()


def _evenly(names: Sequence[str], most: int) -> list[str]:
    step = max(1, -(-len(names) // most))
    return list(names[::step])


def _known(run: Run, names: dict[str, list[int]], wanted: Sequence[str]) -> dict[str, Node]:
    node_of = {rank: name for name in wanted for rank in names[name]}
    hosts = {host.rank: host for host in run.hosts if host.rank in node_of}
    facts: dict[str, list[FactFrame]] = {}
    for fact in run.facts:
        if fact.rank in node_of:
            facts.setdefault(node_of[fact.rank], []).append(fact)
    results: dict[str, list[tuple[PairResult, bool]]] = {}
    for pair in (pair for point in run.points for pair in point.pairs):
        for rank, origin in ((pair.origin, True), (pair.target, False)):
            if rank in node_of:
                results.setdefault(node_of[rank], []).append((pair, origin))
    seen = readings(run, node_of)
    claims = {claim.rank: claim.nic for claim in run.claim.hosts}
    found = {}
    for name in wanted:
        host = hosts[names[name][0]]
        own = results.get(name, [])
        found[name] = _node(
            run, name, host, claims.get(host.rank, ""), facts.get(name, []), own, seen.get(name, [])
        )
    return found


def _node(
    run: Run,
    name: str,
    host: Host,
    claim: str,
    facts: list[FactFrame],
    results: list[tuple[PairResult, bool]],
    seen: list[tuple[PointRecord, WitnessReading]],
) -> Node:
    nic = claimed_nic(host, claim)
    payload = sum(pair.payload_forward_bytes + pair.payload_backward_bytes for pair, _ in results)
    properties: Properties = machine(host, nic, facts)
    properties |= timing(results)
    properties |= traffic(run, host, nic, seen, payload)
    return Node(
        name,
        nic.name if nic else "",
        nic.rdma.device if nic and nic.rdma else "",
        properties,
        settings(nic, facts),
        growth(seen),
        bool(seen),
        float(payload),
    )


def _explained(
    blame: Blame,
    located: Located,
    known: dict[str, Node],
    peers: list[Node],
    names: dict[str, list[int]],
    rules: Sequence[Rule],
) -> Blame:
    nodes = [known[name] for name in _nodes_of(blame, names) if name in known]
    causes = [
        *_shape(blame, located),
        *(cause for rule in rules if (cause := _match(rule, blame, nodes, peers))),
    ]
    causes.sort(key=lambda cause: (-cause.confidence, cause.code))
    if causes:
        return msgspec.structs.replace(blame, causes=causes[:MOST_CAUSES])
    return msgspec.structs.replace(
        blame, causes=[], evidence=[*blame.evidence, _silence(blame, nodes, peers)]
    )


def _match(rule: Rule, blame: Blame, nodes: Sequence[Node], peers: list[Node]) -> Cause | None:
    """The rule's cause when it fits the culprit and holds for its node; below a switch, for half of
    its nodes; on a link or pair, for one of them.
    """
    if blame.kind not in rule.kinds or blame.metric not in rule.metrics:
        return None
    factor = dict(rule.directions).get(blame.direction, 0.0)
    hits = [(node, found) for node in nodes if (found := _holds(rule.when, node, peers, blame))]
    needed = -(-len(nodes) // 2) if blame.kind == "switch" else 1
    if not factor or len(hits) < max(1, needed):
        return None
    node, evidence = hits[0]
    more = _holds(rule.surer, node, peers, blame) if rule.surer else []
    # Counters of one node below a link tell less of the link than of the node.
    factor *= _NEARBY if blame.kind in ("link", "pair") else 1.0
    confidence = (rule.sure if more else rule.confidence) * factor
    if len(hits) > 1:
        evidence = [*evidence, f"the same at {len(hits) - 1} more of {len(nodes)} nodes"]
    words = {"node": node.name, "nic": node.nic or "its NIC"}
    return Cause(
        code=rule.code,
        sentence=rule.sentence.format(**words),
        confidence=round(confidence, 3),
        fix=rule.fix.format(**words),
        evidence=list(dict.fromkeys([*evidence, *more]))[:_MOST_SEEN],
    )


def _holds(signs: Iterable[Sign], node: Node, peers: list[Node], blame: Blame) -> list[str]:
    """What was seen for all signs; empty when one does not hold."""
    seen: list[str] = []
    for sign in signs:
        found = sign.seen(node, peers, blame)
        if not found:
            return []
        seen += found
    return seen


def _shape(blame: Blame, located: Located) -> list[Cause]:
    """What the culprit's own shape tells, without counters."""
    causes = []
    told = [one for one in located.contention if one.subject == blame.subject]
    if isinstance(blame.about, Switch | Link) and told:
        causes.append(
            Cause(
                code="oversubscribed",
                sentence=f"{blame.subject} is slow only while many use it at once",
                confidence=0.8,
                fix="Nothing to repair: more up-links, or jobs placed below one switch.",
                evidence=[one.sentence for one in told][:_MOST_SEEN],
            )
        )
    if isinstance(blame.about, Route | Both):
        ends = {*blame.nodes, *_named(blame)}
        alike = [
            one
            for one in located.blames
            if isinstance(one.about, NodeSubject | Port) and one.subject in ends
        ]
        if not alike:
            causes.append(
                Cause(
                    code="route-between",
                    confidence=0.5,
                    sentence=f"neither end of {blame.subject} is slow with others: what lies between them is",
                    fix="Trace the route between the two (ibtracert, traceroute) and look at the errors of each port.",
                    evidence=[
                        "slow in this pair only; both ends reach what is expected with their other partners"
                    ],
                )
            )
    return causes


def _silence(blame: Blame, nodes: Sequence[Node], peers: Sequence[Node]) -> str:
    if not nodes:
        return f"cause: nothing is known about the machines of {blame.subject}"
    facts = sum(len(node.properties) + len(node.settings) for node in nodes)
    counters = (
        "counters were read" if any(node.counted for node in nodes) else "no counter was read"
    )
    return f"cause: none found ({counters}, {facts} facts compared with {len(peers)} other nodes)"
