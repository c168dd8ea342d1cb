"""From trials to the effect of every contrast on every metric. Pure.

Arms are compared block by block: the difference of their mean logarithms, with the Hodges-Lehmann
estimate, the interval of Wilcoxon's signed-rank test and, if the design needs a claim, the test
itself by Holm's rule over all comparisons.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np

from wireproof.analysis.interval import above, shift
from wireproof.experiment.design import WARM_UP, Contrast, Design
from wireproof.locate.significance import holm
from wireproof.model.experiment import Answer, Interval, Metric

WORTH = 0.01
"""An effect is claimed only if its whole interval exceeds this share: less is not worth it."""


@dataclass(frozen=True)
class Trial:
    """One trial of ``arm``; ``numbers``: by metric; missing ones were not measured."""

    block: int
    arm: int
    numbers: Mapping[str, float]


@dataclass(frozen=True, kw_only=True)
class Effect:
    """``ratio``: other arm / base; for a loss, how many times worse the other arm is.

    ``difference``: in the metric's unit, in the same sense. ``p``: of no effect, adjusted for all
    comparisons. ``base``, ``other``: medians over the ``blocks`` that have both.
    """

    contrast: Contrast
    metric: Metric
    ratio: Interval
    difference: Interval
    p: float
    base: float
    other: float
    blocks: int
    answer: Answer


Blocks = Sequence[tuple[Sequence[float], Sequence[float]]]
"""The numbers of the base and of the other arm, by block."""


def pairs(trials: Iterable[Trial], contrast: Contrast, metric: str) -> Blocks:
    """Return the blocks that have both arms' numbers."""
    found: dict[int, tuple[list[float], list[float]]] = defaultdict(lambda: ([], []))
    for trial in trials:
        if trial.arm in (contrast.base, contrast.other) and metric in trial.numbers:
            found[trial.block][trial.arm == contrast.other].append(trial.numbers[metric])
    return [both for block, both in sorted(found.items()) if block != WARM_UP and all(both)]


def differences(blocks: Blocks, of: Callable[[float], float] = float) -> list[float]:
    """Return per block the mean over the other arm's trials less the mean over the base's."""
    return [
        _mean(map(of, other), len(other)) - _mean(map(of, base), len(base))
        for base, other in blocks
    ]


def _mean(values: Iterable[float], count: int) -> float:
    return math.fsum(values) / count


def effects(design: Design, trials: Iterable[Trial]) -> list[Effect]:
    """Return the effect of each contrast in each metric, in this order, if they share a block.

    The numbers must be positive. For ``change`` each interval holds separately, otherwise all
    jointly.
    """
    known = list(trials)
    asked = [
        (contrast, metric, blocks)
        for contrast in design.contrasts
        for metric in design.metrics
        if (blocks := pairs(known, contrast, metric.name))
    ]
    alone = design.test == "change"
    family = len(design.contrasts) * len(design.metrics) if alone else len(asked)
    alpha = design.alpha if alone else design.alpha / max(1, family)
    raw = [_chance(design, metric, blocks) for _, metric, blocks in asked]
    adjusted = holm(np.asarray(raw, dtype=np.float64), family)
    return [
        _effect(design, contrast, metric, blocks, alpha, float(p))
        for (contrast, metric, blocks), p in zip(asked, adjusted, strict=True)
    ]


def logs(design: Design, metric: Metric, blocks: Blocks) -> list[float]:
    """Return differences of logarithms; for a loss, positive if the other arm is worse."""
    sign = _sign(design, metric)
    return [sign * each for each in differences(blocks, math.log)]


def _sign(design: Design, metric: Metric) -> float:
    return -1.0 if design.test == "loss" and metric.better == "higher" else 1.0


def _chance(design: Design, metric: Metric, blocks: Blocks) -> float:
    found = logs(design, metric, blocks)
    if design.test == "loss":
        return above(found, math.log1p(design.smallest))
    return chance_of(found)


def chance_of(found: Sequence[float]) -> float:
    """Return the two-sided p of the signed-rank test that differences are symmetric about zero."""
    return min(1.0, 2.0 * min(above(found, 0.0), above([-each for each in found], 0.0)))


def _effect(
    design: Design, contrast: Contrast, metric: Metric, blocks: Blocks, alpha: float, p: float
) -> Effect:
    sign = _sign(design, metric)
    more = [sign * each for each in differences(blocks)]
    ratio = interval(logs(design, metric, blocks), alpha, math.exp)
    return Effect(
        contrast=contrast,
        metric=metric,
        ratio=ratio,
        difference=interval(more, alpha),
        p=p,
        base=median(each for base, _ in blocks for each in base),
        other=median(each for _, other in blocks for each in other),
        blocks=len(blocks),
        answer=_answer(design, metric, ratio, p),
    )


def interval(
    values: Sequence[float], alpha: float, back: Callable[[float], float] = float
) -> Interval:
    """Return centre and interval of ``values``, converted ``back`` from their scale."""
    found = shift(values, alpha)
    low, high = (None if end is None else back(end) for end in (found.low, found.high))
    return Interval(value=back(found.value), low=low, high=high)


def _answer(design: Design, metric: Metric, ratio: Interval, p: float) -> Answer:
    if design.test == "loss":
        if p <= design.alpha:
            return "hurts"
        within = ratio.high is not None and ratio.high <= 1.0 + design.smallest
        return "no-effect" if within else "undecided"
    if ratio.low is None or ratio.high is None:
        return "undecided"
    low, high = ratio.low - 1.0, ratio.high - 1.0
    large = p <= design.alpha and abs(ratio.value - 1.0) >= design.smallest
    if (low > WORTH or high < -WORTH) and (large or design.test == "interval"):
        return "helps" if (ratio.value > 1.0) == (metric.better == "higher") else "hurts"
    return "no-effect" if -design.smallest <= low and high <= design.smallest else "undecided"
