"""Rounds, pairs and time to prove N nodes: the design of a check and the slowdowns that it
detects.
"""

import dataclasses
import functools
from collections.abc import Mapping
from pathlib import Path

from wireproof.locate.significance import (
    LocateCriteria,
    false_suspects,
    found_with,
    least_found_by,
    rounds_for,
)
from wireproof.model.located import Metric
from wireproof.model.planning import ScreenDesign, Validation
from wireproof.model.quantity import counted
from wireproof.plan.numbers import chosen, real, whole
from wireproof.plan.scale.network import MachineCosts
from wireproof.plan.scale.topology import ScaleTopology
from wireproof.plan.schedule import screen_round_count, screen_size
from wireproof.workflow.planning.machine import machine_of
from wireproof.workflow.planning.scale import screen_time
from wireproof.workflow.session.screen_plan import CONFIRM_MS, screen_repeats

_MOST_NODES = 100_000
_ROUNDS = (2, 4, 6, 8, 12, 16, 20, 30, 40)
_CONFIRM_POINTS = 3 * 5 * 2.5  # partners, repeats; a stream each way and half round trips
_METRICS: tuple[Metric, ...] = ("goodput", "hrt")
_LEAST = {"start_ns": 1500.0, "byte_ns": 0.08}
SOURCES = (
    "rounds: plan.schedule, as check makes them; tests: locate.significance (Holm, loose suspects)",
    "k >= ((z_p + z_beta) 1.2533 sigma / d)^2, with the spread of healthy ports beside sigma",
)
VALIDITY = (
    "noise that is about normal and independent from round to round, few slow ports",
    "contention and other tails of the noise cost power: benchmarks/planning.py simulates them",
    "one slow direction of one node; a node that is slow both ways is found earlier",
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
    """Return the power of a check's design, and of others. Raises ``BadInput``."""
    _check(wanted)
    metric = next(known for known in _METRICS if known == wanted.metric)
    criteria = dataclasses.replace(LocateCriteria(), alpha=wanted.false_alarms)
    assumed = {} if wanted.folder else _LEAST
    machine, parameters = machine_of(wanted.folder, wanted.parameters, assumed)
    design = functools.partial(_design, wanted, metric, criteria, machine)
    count = screen_round_count(wanted.nodes) if wanted.rounds is None else wanted.rounds
    default = design(count * screen_repeats(count))
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
        sources=list(SOURCES),
        validity=list(VALIDITY),
    )


def _check(wanted: ValidateSpecification) -> None:
    whole("--nodes", wanted.nodes, 3, _MOST_NODES)
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
    time = screen_time(machine, ScaleTopology(nodes=nodes), rounds, repeats=1)
    return ScreenDesign(
        rounds=rounds,
        pairs=time.pairs,
        least_slowdown=least_found_by(rounds, nodes, wanted.noise, wanted.power, metric, criteria),
        found=found_with(rounds, nodes, wanted.slowdown, wanted.noise, metric, criteria),
        seconds=time.seconds,
    )


def _sentences(
    wanted: ValidateSpecification, default: ScreenDesign, needed: int | None
) -> list[str]:
    what = f"{100 * wanted.slowdown:g} % of slowness of one direction of one node"
    if needed is None:
        practical = 100 * LocateCriteria().practical("hrt" if wanted.metric == "hrt" else "goodput")
        why = f"what is below {practical:g} % is not called slow, and healthy nodes differ a little"
        return [f"no number of rounds finds {what} with a power of {wanted.power:g}: {why}"]
    found = [
        (
            f"{counted(needed, 'round')} {'finds' if needed == 1 else 'find'} {what} with a power"
            f" of {wanted.power:g}"
        )
    ]
    if needed > wanted.nodes - 1:
        found.append(f"a node has {wanted.nodes - 1} partners: rounds are repeated")
    if default.found < wanted.power:
        found.append(
            f"check makes {default.rounds} rounds by itself: give it --rounds {needed}, or more"
        )
    return found
