"""``python -m benchmarks.experiment_coverage [SEEDS]``: how often the intervals of each design hold
the true effect, and how often an effect is claimed where there is none, on made-up trials.

``single``: share of intervals that hold the truth (nominal 95 % in a study, a gain and a compare).
``together``: share of experiments in which all intervals do, over all looks (nominal 95 % in a try
and a ladder). ``false``: share of experiments without any effect that claim one. Each trial has
noise of 3 %, of one of the kinds in ``NOISES``. Seeds 0, 1, ... for each row.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from benchmarks.study_power import design_of as study_of
from benchmarks.trial_series import design_of as try_of
from wireproof.experiment import Contrast, Design, is_look, level
from wireproof.experiment.effects import Trial, effects
from wireproof.experiment.rails_verdict import gain_of
from wireproof.measure.comparison import ComparedResult, Key, compared
from wireproof.model.claim import Criteria
from wireproof.model.experiment import Interval, Metric
from wireproof.stats import Floats

__all__ = ["DESIGNS", "Outcome", "Row", "row", "table"]

SEEDS, SIGMA, DRIFT, EFFECT, MEMORY = 1000, 0.03, 0.2, 1.10, 0.8
SLOW = 0.05
"""Share of the trials that are slower with outliers, on average by a factor of e."""
NOISES = ("drift", "memory", "outliers")
"""A drift of 20 % over all trials; an autocorrelation of 0.8; outliers."""
Truth = Mapping[tuple[int, str], float]
"""By arm and metric; 1 of all others."""


class Outcome(NamedTuple):
    """Of one experiment: whether each interval holds the truth, and what is claimed."""

    held: list[bool]
    claims: int


class Row(NamedTuple):
    """Shares, as the module says."""

    single: float
    together: float
    false: float


def _noise(kind: str, rng: np.random.Generator, trials: int, numbers: int) -> Floats:
    """Logarithms of the factors of successive trials."""
    logs = SIGMA * rng.standard_normal((trials, numbers))
    if kind == "drift":
        logs += DRIFT * np.arange(trials)[:, None] / trials
    elif kind == "outliers":
        slow = rng.random((trials, 1)) < SLOW
        logs += np.where(slow, rng.exponential(1.0, (trials, 1)), 0.0)
    else:
        for at in range(1, trials):
            logs[at] = MEMORY * logs[at - 1] + math.sqrt(1.0 - MEMORY**2) * logs[at]
    return logs


def trials_of(design: Design, rounds: int, truth: Truth, seed: int, noise: str) -> list[Trial]:
    """All rounds of one experiment."""
    rng = np.random.default_rng(seed)
    every = _noise(noise, rng, rounds * design.trials, len(design.metrics))
    found: list[Trial] = []
    for number in range(rounds):
        for block, arms in enumerate(design.order(number), start=number * design.blocks):
            for arm in arms:
                logs = every[len(found)]
                names = [metric.name for metric in design.metrics]
                numbers = {
                    name: truth.get((arm, name), 1.0) * math.exp(log)
                    for name, log in zip(names, logs, strict=True)
                }
                found.append(Trial(block, arm, numbers))
    return found


def _outcome(design: Design, trials: Sequence[Trial], truth: Truth) -> Outcome:
    held, claims = [], 0
    for found in effects(design, trials):
        base, other = (
            truth.get((arm, found.metric.name), 1.0)
            for arm in (found.contrast.base, found.contrast.other)
        )
        worse = design.test == "loss" and found.metric.better == "higher"
        held += _holds(found.ratio, base / other if worse else other / base)
        claims += found.answer in ("helps", "hurts")
    return Outcome(held, claims)


def _holds(interval: Interval, truth: float) -> list[bool]:
    """None if there is no interval."""
    if interval.low is None or interval.high is None:
        return []
    return [interval.low <= truth <= interval.high]


def a_try(seed: int, effect: float, noise: str) -> Outcome:
    """Three values, 20 blocks; every look counts, although a try may end at an early one."""
    design = try_of(3, seed)
    truth = {(2, "time"): effect}
    trials = trials_of(design, 20, truth, seed, noise)
    spent: list[float] = []
    looks = []
    for blocks in (number for number in range(1, 21) if is_look(number) or number == 20):
        spent.append(level(design.alpha, spent, last=blocks == 20))
        looked = dataclasses.replace(design, alpha=spent[-1])
        looks.append(_outcome(looked, [one for one in trials if one.block < blocks], truth))
    return Outcome([held for one in looks for held in one.held], sum(one.claims for one in looks))


def a_study(seed: int, effect: float, noise: str) -> Outcome:
    """Ten values on three patterns, 14 rounds."""
    truth = {(1, "stream"): effect}
    design = study_of(seed)
    return _outcome(design, trials_of(design, 14, truth, seed, noise), truth)


def a_ladder(seed: int, effect: float, noise: str) -> Outcome:
    """Four layers, three quantities, 11 rounds; the third layer loses start."""
    start = Metric(name="start", unit="ns", better="lower", source="")
    rates = [Metric(name=name, unit="", better="higher", source="") for name in ("rate", "window")]
    design = Design(
        arms=(0, 1, 2, 3),
        seed=str(seed),
        metrics=(start, *rates),
        contrasts=(Contrast(0, 1), Contrast(1, 2), Contrast(2, 3)),
        test="loss",
        smallest=0.25,
    )
    loss = 1.0 + 10.0 * (effect - 1.0)
    truth = {(2, "start"): loss, (3, "start"): loss}
    return _outcome(design, trials_of(design, 11, truth, seed, noise), truth)


def a_gain(seed: int, effect: float, noise: str, rounds: int = 5) -> Outcome:
    """Two rails alone and together; without an effect both carry their sum, and a claim is that
    they carry less.
    """
    rng = np.random.default_rng(seed)
    logs = _noise(noise, rng, 3 * rounds, 1).reshape(rounds, 3)
    launches = np.exp(rng.permuted(logs, axis=1).T) * np.array([[1e6], [1e6], [1e6 * effect / 2.0]])
    times = (launches[..., None] * np.exp(0.01 * rng.standard_normal((3, rounds, 9)))).tolist()
    gain, of_sum = gain_of(1 << 20, times[:2], times[2])
    held = [*_holds(gain, 2.0 / effect), *_holds(of_sum, 1.0 / effect)]
    return Outcome(held, of_sum.most < Criteria().min_efficiency)


def a_compare(seed: int, effect: float, noise: str, launches: int, routes: int = 1) -> Outcome:
    """Two results, of which the second is slower. The noise of a launch begins anew; with several
    launches, each also has a noise of 3 % that all its routes share. With one launch the interval
    excludes what its routes share, as ``compare`` says: ``memory`` is beyond it.
    """
    rng = np.random.default_rng(seed)
    key = Key("pingpong", "", "robust", "", True, 2, 8, 0, "ns")
    sides: list[list[ComparedResult]] = []
    for slower in (1.0, effect):
        shared = SIGMA * rng.standard_normal(launches) if launches > 1 else np.zeros(1)
        logs = [_noise(noise, rng, routes, 1)[:, 0] + each for each in shared]
        sides.append(
            [
                ComparedResult((f"n{route}",), 1e3 * slower * math.exp(log), SIGMA, launch)
                for launch, launch_logs in enumerate(logs)
                for route, log in enumerate(launch_logs)
            ]
        )
    rows = compared({key: sides[0]}, {key: sides[1]}, launches=launches)
    ends = [(each.low or 0.0, each.high or math.inf) for each in rows]
    held = [low <= 1.0 / effect <= high for low, high in ends]
    return Outcome(held, sum(each.conclusion in ("better", "worse") for each in rows))


DESIGNS: Mapping[str, Callable[[int, float, str], Outcome]] = {
    "try": a_try,
    "study": a_study,
    "ladder": a_ladder,
    "gain": a_gain,
    "gain, 2 rounds": functools.partial(a_gain, rounds=2),
    "gain, 3 rounds": functools.partial(a_gain, rounds=3),
    "gain, 8 rounds": functools.partial(a_gain, rounds=8),
    "compare": functools.partial(a_compare, launches=3),
    "compare, 8 launches": functools.partial(a_compare, launches=8),
    "compare, 4 routes": functools.partial(a_compare, launches=3, routes=4),
    "compare, 1 launch": functools.partial(a_compare, launches=1, routes=12),
}


def row(design: str, seeds: int, noise: str = NOISES[0]) -> Row:
    """Coverage with an effect, false claims without."""
    make = DESIGNS[design]
    with_effect = [make(seed, EFFECT, noise) for seed in range(seeds)]
    placebo = [make(seed, 1.0, noise) for seed in range(seeds)]
    every = [held for one in with_effect for held in one.held]
    return Row(
        sum(every) / len(every),
        sum(all(one.held) for one in with_effect) / seeds,
        sum(one.claims > 0 for one in placebo) / seeds,
    )


def table(seeds: int) -> str:
    """Markdown."""
    lines = ["| design | noise | single | together | false |", "|---|---|--:|--:|--:|"]
    for design, noise in itertools.product(DESIGNS, NOISES):
        shares = " | ".join(f"{100 * share:.1f} %" for share in row(design, seeds, noise))
        lines.append(f"| {design} | {noise} | {shares} |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(table(int(sys.argv[1]) if sys.argv[1:] else SEEDS))
