"""Predict patterns of communication at any scale from measured or given parameters of one pair, the
time of a check's screen, and the effort to prove N nodes, all before anything is started.
"""

import dataclasses
import functools
from collections.abc import Mapping, Sequence
from pathlib import Path

from wireproof.locate.significance import (
    LocateCriteria,
    false_suspects,
    found_with,
    least_found_by,
    rounds_for,
)
from wireproof.measure.schedule import screen_round_count, screen_size
from wireproof.measure.session.screen_plan import (
    CONFIRM_MS,
    screen_budget_ms,
    screen_repeats,
    screen_window,
)
from wireproof.model.errors import BadInput, chosen, real, whole
from wireproof.model.located import Metric
from wireproof.model.quantity import counted
from wireproof.plan import (
    PATTERNS,
    Bounds,
    Prediction,
    Scale,
    ScreenDesign,
    Validation,
)
from wireproof.plan.machine import machine_of
from wireproof.plan.scale import ORDERS, SOURCES, VALIDITY, predictions
from wireproof.plan.scale.network import (
    MachineCosts,
    ScaleTopology,
    SimulatedNetwork,
    barrier,
)

_WINDOWS = 8  # two windows to warm up, six for an interval
_ROUND_TRIPS = 8 * 128
_POINTS = 3  # a round: a stream each way, and half round trips with half of a stream's budget
_BUDGETS = 2.5
_BESIDE_S = 0.1
"""Longest time that a point spends outside its timed part, on counter readings and quiet windows.
On 3 to 8 nodes of a lab it was 80 to 97 ms.
"""


def all_rounds(nodes: int, rounds: int | None = None) -> int:
    """Return the rounds of a screen with their repeats, by default those of a check."""
    wanted = screen_round_count(nodes) if rounds is None else rounds
    return wanted * screen_repeats(wanted)


def screen_seconds(machine: MachineCosts, topology: ScaleTopology, rounds: int) -> Bounds:
    """Return the duration of a screen.

    The lower bound is the shortest time that results in intervals, the upper bound the budget of
    every point; both include a barrier of all ranks before each point. Start-up of the MPI and
    confirmation of suspects are not included.
    """
    rate_bits = 8e9 / machine.byte_ns
    size = screen_size(rate_bits)
    window = screen_window(size, rate_bits)
    one_per_node = dataclasses.replace(topology, ppn=1)
    apart = _POINTS * barrier(SimulatedNetwork(machine, one_per_node))
    stream = _WINDOWS * (window * size * machine.byte_ns + machine.start_ns)
    least = 2 * stream + _ROUND_TRIPS * machine.start_ns
    budget = _BUDGETS * screen_budget_ms(rounds) * 1e6
    return Bounds(
        rounds * (min(least, budget) + apart) * 1e-9,
        rounds * ((max(least, budget) + apart) * 1e-9 + _POINTS * _BESIDE_S),
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class ScaleSpecification:
    """``nodes``: each scale of interest.

    ``parameters``: the machine's parameters, named like the fields of
    ``plan.scale.network.MachineCosts``; ``folder``: a run that supplies the missing parameters.
    ``leaf``, ``group``, ``uplinks``, ``routing``: see ``plan.scale.network``.
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
    """Predict the patterns at each scale. Raises ``BadInput``."""
    chosen("--order", wanted.order, ORDERS)
    whole("--size", wanted.size, 0, 1 << 30)
    whole("--seed", wanted.seed, 0, 1 << 62)
    whole("the number of scales", len(wanted.nodes), 1, 100)
    patterns = [
        next(known for known in PATTERNS if known == chosen("--pattern", name, PATTERNS))
        for name in wanted.patterns
    ]
    machine, parameters = machine_of(wanted.folder, wanted.parameters)
    topologies = [_topology(wanted, nodes) for nodes in wanted.nodes]
    found = predictions(machine, topologies, patterns, order=wanted.order, size=wanted.size)
    if "sweep" in patterns:
        found += [_sweep(machine, topology) for topology in topologies if topology.nodes > 1]
    return Scale(
        topology=_described(wanted),
        seed=wanted.seed,
        parameters=parameters,
        predictions=found,
        sources=list(SOURCES),
        validity=list(VALIDITY),
    )


def _topology(wanted: ScaleSpecification, nodes: int) -> ScaleTopology:
    return ScaleTopology(
        nodes=nodes,
        ppn=wanted.ppn,
        kind=wanted.topology,
        leaf=wanted.leaf,
        group=wanted.group,
        uplinks=wanted.uplinks,
        routing=wanted.routing,
        seed=wanted.seed,
    )


def _described(wanted: ScaleSpecification) -> str:
    if wanted.topology == "one-switch":
        return "one switch"
    links = f"{wanted.uplinks} uplinks" if wanted.uplinks else "links that never block"
    block = "leaves of a pod" if wanted.topology == "fat-tree" else "routers of a group"
    return (
        f"{wanted.topology}, {wanted.leaf} nodes per leaf, {wanted.group} {block}, {links}, "
        f"routed by {wanted.routing}"
    )


def _sweep(machine: MachineCosts, topology: ScaleTopology) -> Prediction:
    """Return the duration of a check's screen with all rounds: from its shortest time to its
    budget.
    """
    if not machine.byte_ns > 0:
        raise BadInput("the duration of a sweep depends on the rate: give --rate above 0.")
    rounds = all_rounds(topology.nodes)
    seconds = screen_seconds(machine, topology, rounds)
    return Prediction(
        pattern="sweep",
        order="",
        nodes=topology.nodes,
        ppn=1,
        ranks=topology.nodes,
        message_bytes=screen_size(8e9 / machine.byte_ns),
        time_ns=seconds.high * 1e9,
        latency_ns=seconds.high * 1e9,
        spread_ns=seconds.times(1e9),
        simulated=rounds,
        total=rounds,
        method=(
            f"{rounds} rounds of disjoint pairs, as in check: from the shortest time for an"
            " interval to the full budget"
        ),
    )


# --- Rounds, pairs and time to prove N nodes: the design of a check and the slowdowns that it
# detects.

_ROUNDS = (2, 4, 6, 8, 12, 16, 20, 30, 40)
_CONFIRM_POINTS = 3 * 5 * 2.5  # partners, repeats; a stream each way and half round trips
_METRICS: tuple[Metric, ...] = ("goodput", "hrt")
_LEAST = {"start_ns": 1500.0, "byte_ns": 0.08}
_PROOF_SOURCES = (
    "rounds: plan.schedule, as check makes them; tests: locate.significance (Holm, loose suspects)",
    "k >= ((z_p + z_beta) 1.2533 sigma / d)^2, where sigma includes the spread of healthy ports",
)
_PROOF_VALIDITY = (
    "noise is nearly normal and independent between rounds, and few ports are slow",
    "contention and heavier tails of the noise reduce power: benchmarks/planning.py simulates them",
    "one direction of one node is slow; a node that is slow in both directions is found earlier",
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class ValidateSpecification:
    """``slowdown``: the effect as a fraction (0.05: goodput 5 % lower, or time 5 % longer);
    ``noise``: sigma of one pair's measurement, also a fraction. ``parameters``, ``folder``: the
    machine, as in ``ScaleSpecification``.
    """

    nodes: int
    slowdown: float = 0.05
    noise: float = 0.02
    false_alarms: float = 0.05
    power: float = 0.95
    metric: str = "goodput"
    rounds: int | None = None
    folder: Path | None = None
    parameters: Mapping[str, float | None] = dataclasses.field(default_factory=dict)


def validate(wanted: ValidateSpecification) -> Validation:
    """Return the power of a check's design, and of alternative designs. Raises ``BadInput``."""
    _check(wanted)
    metric = next(known for known in _METRICS if known == wanted.metric)
    criteria = dataclasses.replace(LocateCriteria(), alpha=wanted.false_alarms)
    assumed = {} if wanted.folder else _LEAST
    machine, parameters = machine_of(wanted.folder, wanted.parameters, assumed)
    design = functools.partial(_design, wanted, metric, criteria, machine)
    default = design(all_rounds(wanted.nodes, wanted.rounds))
    needed = rounds_for(wanted.nodes, wanted.slowdown, wanted.noise, wanted.power, metric, criteria)
    return Validation(
        nodes=wanted.nodes,
        slowdown=wanted.slowdown,
        noise=wanted.noise,
        spread=criteria.floor,
        false_alarms=wanted.false_alarms,
        power=wanted.power,
        metric=metric,
        practical=criteria.practical(metric),
        least=None if needed is None else design(needed),
        check=default,
        enough=default.found >= wanted.power,
        others=[design(rounds) for rounds in _ROUNDS],
        false_suspects=false_suspects(wanted.nodes, wanted.false_alarms),
        confirm_s=_CONFIRM_POINTS * CONFIRM_MS * 1e-3,
        message_bytes=screen_size(8e9 / machine.byte_ns),
        parameters=parameters,
        sentences=_sentences(wanted, default, needed),
        sources=list(_PROOF_SOURCES),
        validity=list(_PROOF_VALIDITY),
    )


def _check(wanted: ValidateSpecification) -> None:
    whole("--nodes", wanted.nodes, 3, 100_000)
    real("--slowdown", wanted.slowdown, 0.001, 0.99)
    real("--noise", wanted.noise, 0, 1)
    real("--false-alarms", wanted.false_alarms, 1e-9, 0.5)
    real("--power", wanted.power, 0.5, 0.999999)
    chosen("--metric", wanted.metric, _METRICS)
    if wanted.rounds is not None:
        whole("--rounds", wanted.rounds, 1, 10_000)


def _design(
    wanted: ValidateSpecification,
    metric: Metric,
    criteria: LocateCriteria,
    machine: MachineCosts,
    rounds: int,
) -> ScreenDesign:
    nodes = wanted.nodes
    return ScreenDesign(
        rounds=rounds,
        pairs=rounds * (nodes // 2),
        least_slowdown=least_found_by(rounds, nodes, wanted.noise, wanted.power, metric, criteria),
        found=found_with(rounds, nodes, wanted.slowdown, wanted.noise, metric, criteria),
        seconds=screen_seconds(machine, ScaleTopology(nodes=nodes), rounds),
    )


def _sentences(
    wanted: ValidateSpecification, default: ScreenDesign, needed: int | None
) -> list[str]:
    what = f"a slowdown of {100 * wanted.slowdown:g} % in one direction of one node"
    what += f" with a power of {wanted.power:g}"
    if needed is None:
        practical = 100 * LocateCriteria().practical("hrt" if wanted.metric == "hrt" else "goodput")
        why = "is not reported, because healthy nodes also differ slightly"
        return [f"no number of rounds finds {what}: a slowdown below {practical:g} % {why}"]
    found = [f"{counted(needed, 'round')} {'finds' if needed == 1 else 'find'} {what}"]
    if needed > wanted.nodes - 1:
        found.append(f"a node has {wanted.nodes - 1} partners: some rounds repeat")
    if default.found < wanted.power:
        found.append(
            f"by default, check measures {default.rounds} rounds: give it --rounds {needed} or more"
        )
    return found
