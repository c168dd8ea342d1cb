"""The cause of what was located, as far as counters, Facts and sentinels show. Pure; the catalogue
is ``causes.rules``.

No rule holds without something seen; where none holds the culprit has no cause and its evidence
says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from wireproof.locate.causes.machine import Machine, Peers
from wireproof.locate.causes.observed import machines_of, ranks_of
from wireproof.locate.causes.rules import OVERSUBSCRIBED, ROUTE_BETWEEN, RULES, Rule
from wireproof.locate.causes.signs import Sign
from wireproof.model.located import Blame, Cause, Located
from wireproof.model.run import Run
from wireproof.model.setting import Setting
from wireproof.model.subject import Both, Link, Node, Port, Route, Switch

__all__ = ["MOST_CAUSES", "explain"]

MOST_CAUSES = 5
_MOST_PEERS = 64
_MOST_CULPRITS = 256
_MOST_BELOW = 32
_MOST_SEEN = 8
_NEARBY = 0.7


def explain(
    located: Located,
    run: Run,
    rules: Sequence[Rule] = RULES,
    settings: Mapping[str, Setting] | None = None,
) -> Located:
    """``located`` with the causes of each culprit, the likeliest first. Peers are nodes that no
    culprit names (64 of them, evenly taken). Cost grows with the facts and readings of the run, and
    not with its pairs squared. ``settings``: the catalogue, which has fix and undo of causes that
    are settings.
    """
    if not located.blames:
        return located
    ranks = ranks_of(run)
    accused = {node for blame in located.blames for node in _nodes_of(blame) if node in ranks}
    looked = sorted(accused)[: _MOST_CULPRITS * 2]
    peers = _evenly(sorted(set(ranks) - accused), _MOST_PEERS)
    machines = machines_of(run, ranks, [*looked, *peers])
    view = _View(
        located=located,
        known=set(ranks),
        machines=machines,
        peers=Peers([machines[name] for name in peers]),
        rules=rules,
        settings=settings or {},
    )
    return msgspec.structs.replace(located, blames=[view.explained(one) for one in located.blames])


def _nodes_of(blame: Blame) -> Sequence[str]:
    """The nodes to look at for a culprit; a pair's are its ends."""
    match blame.about:
        case Node(name=name) | Port(node=name):
            return (name,)
        case Route(origin=one, target=other) | Both(one=one, other=other) if not blame.nodes:
            return one, other
    return blame.nodes


def _evenly(names: Sequence[str], most: int) -> list[str]:
    step = max(1, -(-len(names) // most))
    return list(names[::step])


@dataclass(frozen=True)
class _View:
    """What is known of the run. ``known``: its nodes; ``machines``: of culprits and peers."""

    located: Located
    known: set[str]
    machines: Mapping[str, Machine]
    peers: Peers
    rules: Sequence[Rule]
    settings: Mapping[str, Setting]

    def explained(self, blame: Blame) -> Blame:
        below = [name for name in _nodes_of(blame) if name in self.known][:_MOST_BELOW]
        machines = [self.machines[name] for name in below if name in self.machines]
        causes = [*self._of_shape(blame)]
        causes += [one for rule in self.rules if (one := self._match(rule, blame, machines))]
        if not causes:
            evidence = [*blame.evidence, self._silence(blame, machines)]
            return msgspec.structs.replace(blame, causes=[], evidence=evidence)
        causes.sort(key=lambda cause: (-cause.confidence, cause.code))
        return msgspec.structs.replace(blame, causes=causes[:MOST_CAUSES])

    def _match(self, rule: Rule, blame: Blame, machines: Sequence[Machine]) -> Cause | None:
        """The rule's cause when it fits the culprit and holds for its machine; below a switch, for
        half of its machines; on a link or pair, for one of them.
        """
        factor = rule.factor(blame)
        needed = -(-len(machines) // 2) if isinstance(blame.about, Switch) else 1
        if not factor:
            return None
        seen = [(machine, self._seen(rule.when, machine, blame)) for machine in machines]
        hits = [(machine, found) for machine, found in seen if found]
        if len(hits) < max(1, needed):
            return None
        machine, evidence = hits[0]
        more = self._seen(rule.surer, machine, blame) if rule.surer else []
        if len(hits) > 1:
            evidence = [*evidence, f"the same at {len(hits) - 1} more of {len(machines)} nodes"]
        # Counters of one node below a link say less of the link than of the node.
        factor *= _NEARBY if isinstance(blame.about, Link | Route | Both) else 1.0
        return rule.cause(
            node=machine.name,
            nic=machine.nic or "its NIC",
            confidence=round((rule.sure if more else rule.confidence) * factor, 3),
            evidence=list(dict.fromkeys([*evidence, *more]))[:_MOST_SEEN],
            settings=self.settings,
        )

    def _seen(self, signs: Iterable[Sign], machine: Machine, blame: Blame) -> list[str]:
        """What was seen for all signs; empty when one does not hold."""
        found: list[str] = []
        for sign in signs:
            own = sign.seen(machine, self.peers, blame)
            if not own:
                return []
            found += own
        return found

    def _of_shape(self, blame: Blame) -> list[Cause]:
        """What the culprit's own shape shows, without counters."""
        match blame.about:
            case Switch() | Link():
                own = [one for one in self.located.contention if one.subject == blame.subject]
                seen = [one.sentence for one in own][:_MOST_SEEN]
                return [OVERSUBSCRIBED.of_shape(blame, seen)] if own else []
            case Route(origin=one, target=other) | Both(one=one, other=other):
                ends = {*blame.nodes, one, other}
                slow = (each for each in self.located.blames if each.subject in ends)
                if not any(isinstance(each.about, Node | Port) for each in slow):
                    return [ROUTE_BETWEEN.of_shape(blame)]
        return []

    def _silence(self, blame: Blame, machines: Sequence[Machine]) -> str:
        if not machines:
            return f"cause: nothing is known about the machines of {blame.subject}"
        facts = sum(len(one.properties) + len(one.settings) for one in machines)
        counted = any(one.counted for one in machines)
        counters = "counters were read" if counted else "no counter was read"
        compared = f"{facts} facts compared with {len(self.peers)} other nodes"
        return f"cause: none found ({counters}, {compared})"
