"""Patterns of communication at any scale, from measured or given parameters of one pair."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path

from wireproof.model.errors import BadInput
from wireproof.model.planning.bounds import Bounds
from wireproof.model.planning.scale import PATTERNS, Prediction, Scale, ScalePattern
from wireproof.plan.numbers import chosen, whole
from wireproof.plan.scale.network import MachineCosts
from wireproof.plan.scale.predict import ORDERS, SOURCES, VALIDITY, predictions
from wireproof.plan.scale.topology import KINDS, ScaleTopology
from wireproof.workflow.planning.duration import screen_time
from wireproof.workflow.planning.machine import machine_of

__all__ = ["ScaleSpecification", "scale"]

_LARGEST = 1 << 30
_MOST_SCALES = 100


@dataclasses.dataclass(frozen=True, kw_only=True)
class ScaleSpecification:
    """``nodes``: each scale of interest. ``parameters``: of the machine, by the names of
    ``plan.scale.network.Machine``; ``folder``: a run that the others come from. ``leaf``,
    ``group``, ``uplinks``, ``routing``: see ``plan.scale.topology``.
    """

    nodes: Sequence[int]
    ppn: int = 1
    patterns: Sequence[str] = ("ring",)
    order: str = "both"
    size: int = 8
    topology: str = "fat-tree"
    leaf: int = 32
    group: int = 32
    uplinks: int = 0
    routing: str = "destination"
    seed: int = 1
    folder: Path | None = None
    parameters: Mapping[str, float | None] = dataclasses.field(default_factory=dict)


def scale(wanted: ScaleSpecification) -> Scale:
    """Raises ``BadInput``."""
    chosen("--order", wanted.order, ORDERS)
    whole("--size", wanted.size, 0, _LARGEST)
    whole("--seed", wanted.seed, 0, 1 << 62)
    whole("the number of scales", len(wanted.nodes), 1, _MOST_SCALES)
    patterns = [_pattern(name) for name in wanted.patterns]
    machine, parameters = machine_of(wanted.folder, wanted.parameters)
    topologies = [_topology(wanted, nodes) for nodes in wanted.nodes]
    found = predictions(machine, topologies, patterns, order=wanted.order, size=wanted.size)
    if "sweep" in patterns:
        found += [_sweep(machine, one) for one in topologies if one.nodes > 1]
    return Scale(
        topology=_described(wanted),
        seed=wanted.seed,
        parameters=parameters,
        predictions=found,
        sources=list(SOURCES),
        validity=list(VALIDITY),
    )


def _pattern(name: str) -> ScalePattern:
    return next(one for one in PATTERNS if one == chosen("--pattern", name, PATTERNS))


def _topology(wanted: ScaleSpecification, nodes: int) -> ScaleTopology:
    chosen("--topology", wanted.topology, KINDS)
    chosen("--routing", wanted.routing, ("destination", "chance"))
    return ScaleTopology(
        nodes=nodes,
        ppn=wanted.ppn,
        kind=next(one for one in KINDS if one == wanted.topology),
        leaf=wanted.leaf,
        group=wanted.group,
        uplinks=wanted.uplinks,
        routing="chance" if wanted.routing == "chance" else "destination",
        seed=wanted.seed,
    )


def _described(wanted: ScaleSpecification) -> str:
    if wanted.topology == "one-switch":
        return "one switch"
    links = f"{wanted.uplinks} uplinks" if wanted.uplinks else "links that never block"
    block = "leaves of a pod" if wanted.topology == "fat-tree" else "routers of a group"
    return (
        f"{wanted.topology}, {wanted.leaf} nodes of a leaf, {wanted.group} {block}, {links}, routed"
        f" by {wanted.routing}"
    )


def _sweep(machine: MachineCosts, topology: ScaleTopology) -> Prediction:
    """The screen of a check: all rounds, between the time at the best and the budget."""
    if not machine.byte_ns > 0:
        raise BadInput("a sweep's duration needs a rate: give --rate above 0.")
    found = screen_time(machine, topology)
    return Prediction(
        pattern="sweep",
        order="",
        nodes=topology.nodes,
        ppn=1,
        ranks=topology.nodes,
        message_bytes=found.size,
        time_ns=found.seconds.high * 1e9,
        latency_ns=found.seconds.high * 1e9,
        spread_ns=Bounds(found.seconds.low * 1e9, found.seconds.high * 1e9),
        simulated=found.rounds,
        total=found.rounds,
        method=f"{found.rounds} rounds of disjoint pairs, as check; from its precision to its"
        " budget",
    )
