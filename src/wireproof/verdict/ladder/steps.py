"""The decision of every step: a loss is claimed by Holm's rule over all steps and quantities.

That a step loses nothing is said when its interval, which holds together with all others, ends
below the threshold.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from wireproof.analysis.signed_rank import above
from wireproof.experiment.design import Contrast, Design
from wireproof.experiment.effects import Effect, Trial, effects, logs, pairs
from wireproof.model.experiment import Answer, Metric
from wireproof.model.ladder import LayerName, LayerStep, StepAnswer
from wireproof.verdict.ladder.lines import Fitted

__all__ = ["Rung", "decided"]

_BESIDE: tuple[LayerName, LayerName] = ("application", "collective")
_METRICS = (
    Metric(name="start", unit="ns", better="lower", source=""),
    Metric(name="rate", unit="bytes_per_s", better="higher", source=""),
    Metric(name="windowed", unit="bytes_per_s", better="higher", source=""),
)
_ANSWERS: dict[Answer, StepAnswer] = {
    "hurts": "loses",
    "no-effect": "no-loss",
    "undecided": "undecided",
}


@dataclass(frozen=True)
class Rung:
    """A layer that takes part in claims, with its lines."""

    name: LayerName
    fitted: Fitted


def decided(rungs: Sequence[Rung], smallest: float) -> list[LayerStep]:
    """Every step from one rung to the next, in each quantity, from the wire up; none where a
    rung has no round with it.
    """
    design = Design(
        arms=tuple(range(len(rungs))),
        seed="",
        metrics=_METRICS,
        contrasts=tuple(_neighbours(rungs)),
        test="loss",
        smallest=smallest,
    )
    trials = _trials(rungs)
    return [_step(effect, rungs, design, trials) for effect in effects(design, trials)]


def _trials(rungs: Sequence[Rung]) -> list[Trial]:
    """What each round gives of each rung's line."""
    found = []
    for arm, rung in enumerate(rungs):
        for block, numbers in enumerate(zip(*rung.fitted.each.values(), strict=True)):
            known = zip(rung.fitted.each, numbers, strict=True)
            found.append(Trial(block, arm, {key: n for key, n in known if n is not None}))
    return found


def _neighbours(rungs: Sequence[Rung]) -> Iterator[Contrast]:
    """Each rung with the one that it stands on. An application stands beside the collective, on
    the MPI's messages.
    """
    for at, rung in enumerate(rungs[1:], start=1):
        under = [place for place in range(at) if (rung.name, rungs[place].name) != _BESIDE]
        yield Contrast(base=(under or [at - 1])[-1], other=at)


def _step(
    effect: Effect, rungs: Sequence[Rung], design: Design, trials: Sequence[Trial]
) -> LayerStep:
    answer = _ANSWERS[effect.answer]
    return LayerStep(
        lower=rungs[effect.contrast.base].name,
        upper=rungs[effect.contrast.other].name,
        quantity=effect.metric.name,  # type: ignore[arg-type]
        answer=answer,
        ratio=effect.ratio.value,
        low=effect.ratio.low,
        high=effect.ratio.high,
        difference=effect.difference,
        p=effect.p,
        regained=_regained(effect, rungs, design, trials) if answer == "loses" else None,
    )


def _regained(
    effect: Effect, rungs: Sequence[Rung], design: Design, trials: Sequence[Trial]
) -> LayerName | None:
    """A layer further up, proven as good as the one below the loss, does not go through it."""
    base, upper = effect.contrast.base, effect.contrast.other
    if rungs[upper].name == _BESIDE[1]:
        return None
    for later in range(upper + 1, len(rungs)):
        blocks = pairs(trials, Contrast(base, later), effect.metric.name)
        gains = [-loss for loss in logs(design, effect.metric, blocks)]
        if above(gains, -math.log1p(design.smallest)) <= design.alpha:
            return rungs[later].name
    return None
