# pure
"""Find the cause of each culprit from counters, Facts and sentinels. Pure; the rules are in
``causes.rules``.

A rule needs evidence to apply. If no rule applies, the culprit has no cause, and its evidence
states that.
"""

import statistics
from collections.abc import Iterable, Mapping, Sequence
from itertools import product

import msgspec

from wireproof.ledger.changes import WitnessChanges, counter_delta
from wireproof.ledger.crossed import crossed_at, others_than
from wireproof.ledger.ledger import HostPorts
from wireproof.ledger.measured import busy_blocks
from wireproof.ledger.relations import are_rails, claimed_nic, with_rails
from wireproof.locate.causes.properties import (
    NodeProperties,
    OtherNodes,
    Properties,
    properties_of,
    settings_of,
)
from wireproof.locate.causes.rules import CauseRule, oversubscribed, route_between
from wireproof.locate.causes.rules import rules as causes
from wireproof.locate.causes.signs import CauseSign
from wireproof.model import gathered, quantity
from wireproof.model.claim import first_rail
from wireproof.model.finding import Both, Link, Node, Port, Route, Switch, nodes_of
from wireproof.model.located import Blame, Cause, Located
from wireproof.model.record import FactFrame, Host, Nic, PairResult, PointRecord, WitnessReading
from wireproof.model.run import Run
from wireproof.model.setting import Setting
from wireproof.model.traffic import DIRECTIONS, Direction, Ledger

# --- A run's observations of each node: Facts, results, counters, sentinels and clocks.

RDMA = ("rocev2", "iwarp", "infiniband", "omnipath", "truescale", "efa", "slingshot", "fabric")
_LEAST_PAYLOAD = 1 << 20
_LEAST_NS = 1e6


class _Observed(msgspec.Struct):
    """Everything observed on one node. ``sent``: results of pairs whose origin is this node."""

    facts: list[FactFrame] = []
    sent: list[PairResult] = []
    received: list[PairResult] = []
    readings: list[WitnessReading] = []

    @property
    def results(self) -> list[PairResult]:
        return [*self.sent, *self.received]


def ranks_of(run: Run) -> dict[str, list[int]]:
    """Map each node, named as the user gave it, to its ranks."""
    claims = {claim.rank: claim.host for claim in run.claim.hosts}
    return gathered(
        (claims.get(host.rank) or host.host or host.hostname, host.rank) for host in run.hosts
    )


def machines_of(
    run: Run, ranks: Mapping[str, list[int]], wanted: Sequence[str]
) -> dict[str, NodeProperties]:
    """Return the properties of the ``wanted`` nodes, by name."""
    observed = _observed(run, {rank: name for name in wanted for rank in ranks[name]})
    hosts = {host.rank: host for host in run.hosts}
    claims = {claim.rank: claim.nic for claim in run.claim.hosts}
    machines = {}
    for name in wanted:
        host = hosts[ranks[name][0]]
        claim = claims.get(host.rank, "")
        nic = claimed_nic(host.nics, first_rail(claim))
        host = with_rails(host, claim)  # the first rail represents all rails, except for bytes
        machines[name] = _machine(run, name, host, nic, observed.get(name, _Observed()))
    return machines


def _observed(run: Run, node_of: Mapping[int, str]) -> dict[str, _Observed]:
    """Map each node to its observations. If ranks share the counters of a namespace, only
    the readings of the rank that read them are kept.
    """
    observed: dict[str, _Observed] = {name: _Observed() for name in node_of.values()}
    for fact in run.facts:
        if fact.rank in node_of:
            observed[node_of[fact.rank]].facts.append(fact)
    for point in run.points:
        _add_point(observed, node_of, point)
    return observed


def _add_point(nodes: dict[str, _Observed], node_of: Mapping[int, str], point: PointRecord) -> None:
    for pair in point.pairs:
        if pair.origin in node_of:
            nodes[node_of[pair.origin]].sent.append(pair)
        if pair.target in node_of:
            nodes[node_of[pair.target]].received.append(pair)
    for reading in point.witness:
        if reading.rank in node_of and reading.shared_with is None:
            nodes[node_of[reading.rank]].readings.append(reading)


def _machine(run: Run, name: str, host: Host, nic: Nic | None, seen: _Observed) -> NodeProperties:
    payload = sum(
        result.payload_forward_bytes + result.payload_backward_bytes for result in seen.results
    )
    shares: Properties = {}
    if nic and payload >= _LEAST_PAYLOAD:
        shares = _shares(run, host, nic, seen.readings, payload)
    return NodeProperties(
        name=name,
        nic=nic.name if nic else "",
        rails=_rails(host),
        device=nic.rdma.device if nic and nic.rdma else "",
        properties=properties_of(host, nic, seen.facts) | _timing(seen) | shares,
        settings=settings_of(nic, seen.facts),
        rose=_growth(seen.readings),
        counted=bool(seen.readings),
        volume=float(payload),
    )


def _rails(host: Host) -> tuple[str, ...]:
    """Return the names of all rails, both as interfaces and as RDMA devices."""
    below = [name for nic in host.nics if are_rails(nic) for name in nic.lower]
    devices = [nic.rdma.device for nic in host.nics if nic.name in below and nic.rdma is not None]
    return (*below, *devices)


def _growth(readings: Sequence[WitnessReading]) -> dict[str, int]:
    """Return the rise of each counter over all readings. Resets are ignored."""
    total: dict[str, int] = {}
    for reading in readings:
        for name, (before, after) in reading.counters.items():
            delta, _ = counter_delta(before, after)
            if delta is not None and delta > 0:
                total[name] = total.get(name, 0) + delta
    return total


_Way = tuple[Ledger, str, Direction]
"""A ledger, the claimed NIC and the direction, for ``crossed_at``."""


def _ways(run: Run, host: Host, nic: Nic, readings: Sequence[WitnessReading]) -> list[_Way]:
    """Return both directions of each reading."""
    idle = next((frame for frame in run.idle if frame.rank == host.rank), None)
    ports = HostPorts(host.host or host.hostname, host.nics)
    ledgers = [ports.ledger(WitnessChanges(reading, idle)) for reading in readings]
    name = next((candidate.name for candidate in host.nics if are_rails(candidate)), nic.name)
    return list(product(ledgers, [name], DIRECTIONS))


def _shares(
    run: Run, host: Host, nic: Nic, readings: Sequence[WitnessReading], payload: int
) -> Properties:
    """Return shares of ``payload`` (bytes that the node sent and received): ``claimed_share``,
    ``other_share`` with ``other_nic``, and for RDMA ``kernel_share``. Empty if no counter was
    readable.
    """
    ways = _ways(run, host, nic, readings)
    crossed = [crossed_at(*way) for way in ways]
    if all(one.bytes is None for one in crossed):
        return {}
    shares: Properties = {"claimed_share": _total(one.bytes for one in crossed) / payload}
    if beside := _beside(ways):
        most = max(beside, key=lambda name: beside[name])
        shares |= {"other_share": beside[most] / payload, "other_nic": most}
    kernel = _total(one.carried("kernel") for one in crossed)
    rdma = _total(one.carried("rdma") for one in crossed)
    protocol = run.claim.link.protocol if run.claim.link else None
    if protocol in RDMA and nic.rdma is not None and rdma < kernel:
        shares["kernel_share"] = kernel / payload
    return shares


def _beside(ways: Iterable[_Way]) -> dict[str, float]:
    """Return the bytes that crossed each other port."""
    others = gathered(other for way in ways for other in others_than(*way).items())
    return {name: _total(one.bytes for one in seen) for name, seen in others.items()}


def _total(counts: Iterable[float | None]) -> float:
    return sum(count or 0.0 for count in counts)


def _timing(seen: _Observed) -> Properties:
    """Return ``busy_share`` (share of blocks in which the scheduler preempted the process),
    ``clock_read`` (median, ns) and ``clock_apart`` (median relative difference between both ends'
    clocks over the same time).
    """
    marks = [mark for pair in seen.sent for mark in pair.sentinels]
    timing: Properties = {}
    if marks:
        timing["busy_share"] = sum(map(busy_blocks, seen.sent)) / len(marks)
        timing["steal"] = sum(mark.steal_ns for mark in marks)
        timing["clock_read"] = statistics.median(mark.clock_read_ns for mark in marks)
    apart = [difference for pair in seen.results if (difference := _clocks_apart(pair)) is not None]
    if apart:
        timing["clock_apart"] = statistics.median(apart)
    return timing


def _clocks_apart(pair: PairResult) -> float | None:
    elapsed = sum(pair.batch_ns)
    if pair.target_elapsed_ns is None or elapsed < _LEAST_NS or pair.target_elapsed_ns <= 0:
        return None
    return abs(pair.target_elapsed_ns / elapsed - 1.0)


MOST_CAUSES = 5
_MOST_PEERS = 64
_MOST_CULPRITS = 256
_MOST_BELOW = 32
_MOST_SEEN = 8
_NEARBY = 0.7


def explain(
    located: Located,
    run: Run,
    rules: Sequence[CauseRule] | None = None,
    settings: Mapping[str, Setting] | None = None,
) -> Located:
    """Add to each culprit its causes, the most likely first. Peers are up to 64 nodes, evenly
    chosen from nodes outside every culprit. The cost grows with the facts and readings of the run,
    not with the square of its pairs. ``settings``: the catalogue, which supplies fix and undo for
    causes that are settings.
    """
    if not located.blames:
        return located
    ranks = ranks_of(run)
    accused = {node for blame in located.blames for node in _nodes_of(blame) if node in ranks}
    suspects, others = sorted(accused)[: _MOST_CULPRITS * 2], sorted(set(ranks) - accused)
    peers = others[:: max(1, -(-len(others) // _MOST_PEERS))]
    machines = machines_of(run, ranks, [*suspects, *peers])
    view = _RunView(
        located=located,
        known=set(ranks),
        machines=machines,
        peers=OtherNodes([machines[name] for name in peers]),
        rules=causes() if rules is None else rules,
        settings=settings or {},
    )
    return msgspec.structs.replace(
        located, blames=[view.explained(culprit) for culprit in located.blames]
    )


def _nodes_of(blame: Blame) -> Sequence[str]:
    """Return the nodes to examine for a culprit; for a pair, its ends."""
    named = nodes_of(blame.about)
    return named if len(named) == 1 else blame.nodes or named


class _RunView(msgspec.Struct, frozen=True):
    """The data about the run. ``known``: its nodes; ``machines``: properties of culprits and
    peers.
    """

    located: Located
    known: set[str]
    machines: Mapping[str, NodeProperties]
    peers: OtherNodes
    rules: Sequence[CauseRule]
    settings: Mapping[str, Setting]

    def explained(self, blame: Blame) -> Blame:
        below = [name for name in _nodes_of(blame) if name in self.known][:_MOST_BELOW]
        machines = [self.machines[name] for name in below if name in self.machines]
        causes = [*self._of_shape(blame)]
        causes += [
            matched for rule in self.rules if (matched := self._match(rule, blame, machines))
        ]
        if not causes:
            return msgspec.structs.replace(
                blame, causes=[], evidence=[*blame.evidence, self._silence(blame, machines)]
            )
        causes.sort(key=lambda cause: (-cause.confidence, cause.code))
        return msgspec.structs.replace(blame, causes=causes[:MOST_CAUSES])

    def _match(
        self, rule: CauseRule, blame: Blame, machines: Sequence[NodeProperties]
    ) -> Cause | None:
        """Return the rule's cause if it fits the culprit and applies to its machine. For a switch,
        it must apply to half of the machines below; for a link or pair, to one of them.
        """
        factor = rule.factor(blame)
        needed = -(-len(machines) // 2) if isinstance(blame.about, Switch) else 1
        if not factor:
            return None
        seen = [(machine, self._seen(rule.when, machine, blame)) for machine in machines]
        hits = [(machine, evidence_there) for machine, evidence_there in seen if evidence_there]
        if len(hits) < max(1, needed):
            return None
        machine, evidence = hits[0]
        more = self._seen(rule.surer, machine, blame) if rule.surer else []
        if len(hits) > 1:
            evidence = [*evidence, f"the same at {len(hits) - 1} more of {len(machines)} nodes"]
        # Counters of a node say more about the node than about a link above it.
        factor *= _NEARBY if isinstance(blame.about, Link | Route | Both) else 1.0
        return rule.cause(
            node=machine.name,
            nic=machine.nic or "its NIC",
            confidence=round((rule.sure if more else rule.confidence) * factor, 3),
            evidence=list(dict.fromkeys([*evidence, *more]))[:_MOST_SEEN],
            settings=self.settings,
        )

    def _seen(self, signs: Iterable[CauseSign], machine: NodeProperties, blame: Blame) -> list[str]:
        """Return the evidence for all signs; empty if a sign does not hold."""
        evidence: list[str] = []
        for sign in signs:
            seen = sign.seen(machine, self.peers, blame)
            if not seen:
                return []
            evidence += seen
        return evidence

    def _of_shape(self, blame: Blame) -> list[Cause]:
        """Return causes that follow from the kind of culprit alone, without counters."""
        match blame.about:
            case Switch() | Link():
                contended = [one for one in self.located.contention if one.subject == blame.subject]
                seen = [one.sentence for one in contended][:_MOST_SEEN]
                return [oversubscribed(blame, seen)] if contended else []
            case Route(origin=one, target=other) | Both(one=one, other=other):
                ends = {*blame.nodes, one, other}
                slow = (culprit for culprit in self.located.blames if culprit.subject in ends)
                compared = self.located.measured > 2  # two nodes have no other partners
                if compared and not any(isinstance(culprit.about, Node | Port) for culprit in slow):
                    return [route_between(blame)]
        return []

    def _silence(self, blame: Blame, machines: Sequence[NodeProperties]) -> str:
        if not machines:
            return f"cause: nothing is known about the machines of {blame.subject}"
        facts = sum(len(machine.properties) + len(machine.settings) for machine in machines)
        counted = any(machine.counted for machine in machines)
        counters = "counters were read" if counted else "no counter was read"
        peers = quantity.counted(len(self.peers), "other node")
        compared = f"{quantity.counted(facts, 'fact')} compared with {peers}"
        return f"cause: none found ({counters}, {compared})"
