"""The decision of every step: a loss is claimed by Holm's rule over all steps and quantities.

That a step loses nothing is said when its interval, which holds together with all others, ends
below the threshold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import get_args

import msgspec
import numpy as np

from wireproof.analysis.ladder import ALPHA, Fitted, Loss, comparable, loss
from wireproof.locate.significance import holm
from wireproof.model.ladder import LayerName, Quantity, Step, StepAnswer

__all__ = ["Rung", "decided"]

_BESIDE: tuple[LayerName, LayerName] = ("application", "collective")
_QUANTITIES: tuple[Quantity, ...] = get_args(Quantity)


@dataclass(frozen=True)
class Rung:
    """A layer that takes part in claims, with its lines."""

    name: LayerName
    fitted: Fitted


def decided(rungs: Sequence[Rung], smallest: float) -> list[Step]:
    """Every step from one rung to the next, in each quantity, from the wire up; none where a
    rung has no round with it.
    """
    asked = [
        (pair, quantity, both)
        for pair in _pairs(rungs)
        for quantity in _QUANTITIES
        if (both := comparable(pair[0].fitted, pair[1].fitted, quantity))
    ]
    alpha = ALPHA / max(1, len(asked))
    losses = [loss(both, what, smallest=smallest, alpha=alpha) for _, what, both in asked]
    adjusted = holm(np.asarray([one.p_loss for one in losses], dtype=np.float64))
    steps = [
        _step(pair, quantity, lost, _answer(float(p), lost.high, smallest), float(p))
        for (pair, quantity, _), lost, p in zip(asked, losses, adjusted, strict=True)
    ]
    return [_with_regained(step, rungs, smallest) for step in steps]


def _pairs(rungs: Sequence[Rung]) -> list[tuple[Rung, Rung]]:
    """Each rung with the one that it stands on. An application stands beside the collective, on
    the MPI's messages.
    """
    found = []
    for at, rung in enumerate(rungs[1:], start=1):
        under = [one for one in rungs[:at] if (rung.name, one.name) != _BESIDE]
        found.append(((under or rungs[:at])[-1], rung))
    return found


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
    if step.answer != "loses" or step.upper == _BESIDE[1]:
        return step
    names = [rung.name for rung in rungs]
    below = rungs[names.index(step.lower)]
    for later in rungs[names.index(step.upper) + 1 :]:
        both = comparable(below.fitted, later.fitted, step.quantity)
        if both and loss(both, step.quantity, smallest=smallest, alpha=ALPHA).p_none <= ALPHA:
            return msgspec.structs.replace(step, regained=later.name)
    return step
