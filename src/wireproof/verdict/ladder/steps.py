"""The decision of every step: a loss is claimed by Holm's rule over all steps and quantities.

That a step loses nothing is said when its interval, which holds together with all others, ends
below the threshold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import msgspec
import numpy as np

from wireproof.analysis.ladder import ALPHA, Fitted, Loss, loss
from wireproof.locate.significance import holm
from wireproof.model.ladder import LayerName, Quantity, Step, StepAnswer

__all__ = ["Rung", "decided"]

_QUANTITIES: tuple[Quantity, ...] = ("start", "rate")


@dataclass(frozen=True)
class Rung:
    """A layer that takes part in claims, with its lines."""

    name: LayerName
    fitted: Fitted


def decided(rungs: Sequence[Rung], smallest: float) -> list[Step]:
    """Every step from one rung to the next, in both quantities, from the wire up; none where a
    rung has no round with that quantity.
    """
    asked = [(*pair, quantity) for pair in pairwise(rungs) for quantity in _QUANTITIES]
    alpha = ALPHA / max(1, len(asked))
    found = [
        (below, above, quantity, lost)
        for below, above, quantity in asked
        if (lost := _loss(below, above, quantity, smallest, alpha)) is not None
    ]
    adjusted = holm(np.asarray([lost.p_loss for *_, lost in found], dtype=np.float64))
    steps = [
        _step((below, above), quantity, lost, _answer(float(p), lost.high, smallest), float(p))
        for (below, above, quantity, lost), p in zip(found, adjusted, strict=True)
    ]
    return [_with_regained(step, rungs, smallest) for step in steps]


def _loss(
    below: Rung, above: Rung, quantity: Quantity, smallest: float, alpha: float
) -> Loss | None:
    return loss(below.fitted, above.fitted, quantity, smallest=smallest, alpha=alpha)


def _step(
    pair: tuple[Rung, Rung], quantity: Quantity, lost: Loss, answer: StepAnswer, p: float
) -> Step:
    return Step(
        lower=pair[0].name,
        upper=pair[1].name,
        quantity=quantity,
        answer=answer,
        ratio=lost.ratio,
        low=lost.low,
        high=lost.high,
        difference=lost.difference,
        p=p,
    )


def _answer(p: float, high: float | None, smallest: float) -> StepAnswer:
    if p <= ALPHA:
        return "loses"
    return "no-loss" if high is not None and high <= 1.0 + smallest else "undecided"


def _with_regained(step: Step, rungs: Sequence[Rung], smallest: float) -> Step:
    """A layer further up, proven as good as the one below the loss, does not go through it."""
    if step.answer != "loses":
        return step
    names = [rung.name for rung in rungs]
    below = rungs[names.index(step.lower)]
    for later in rungs[names.index(step.upper) + 1 :]:
        lost = _loss(below, later, step.quantity, smallest, ALPHA)
        if lost is not None and lost.p_none <= ALPHA:
            return msgspec.structs.replace(step, regained=later.name)
    return step
