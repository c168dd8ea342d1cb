"""Layers of one path over rounds: each one's line t(s) = start + s / rate, and what a step between
two of them loses. Pure.

A round measures every layer once, in random order, so whatever drifts meets all layers alike. Two
layers are compared round by round, by the logarithm of their ratio: differences that are each
symmetric about the same number, which is all that the signed-rank test and interval need.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from wireproof.analysis.fit import Fit, fit_sizes, fit_with_break
from wireproof.analysis.signed_rank import above, least_size, shift
from wireproof.model.ladder import Line, Number, Quantity, SizeTime

__all__ = ["ALPHA", "Fitted", "Loss", "Round", "comparable", "enough_rounds", "fitted", "loss"]

ALPHA = 0.05
"""Of all steps and quantities together."""
_NS_PER_S = 1e9


@dataclass(frozen=True)
class Round:
    """One round of a layer. ``times``: message size (bytes) -> time of one message (ns).
    ``windowed``: bytes/s of the largest size with many messages under way, None: not measured.
    """

    times: Mapping[int, float]
    windowed: float | None = None


@dataclass(frozen=True)
class Fitted:
    """``line`` over all rounds; ``each``: of each round, in ns and bytes/s, None where that round
    does not give it.
    """

    line: Line
    times: tuple[SizeTime, ...]
    each: Mapping[Quantity, tuple[float | None, ...]]


@dataclass(frozen=True)
class Loss:
    """``ratio``: start of the upper layer over that of the lower one, or rate of the lower over
    that of the upper: above 1 is a loss. ``difference``: ns more, or bytes/s less.

    ``p_loss``: of a ratio of at most 1 + smallest; ``p_none``: of at least that.
    """

    ratio: float
    low: float | None
    high: float | None
    difference: Number
    p_loss: float
    p_none: float


def enough_rounds(steps: int) -> int:
    """Rounds after which ``steps`` steps, in three quantities each, have intervals that hold at
    once; and one to spare, so that one disturbed round does not keep them open.
    """
    return least_size(ALPHA / (3 * max(1, steps))) + 1


def fitted(rounds: Sequence[Round | None]) -> Fitted:
    """The line of each round (None: it failed), broken where the medians of all rounds break: one
    protocol switch for all rounds, so that noise does not move it.

    Raises ValueError without a round.
    """
    medians = _medians([one.times for one in rounds if one is not None])
    whole = fit_sizes(medians)
    switch = whole.eager_limit_bytes if whole is not None else None
    fits = [None if one is None else _fit(one, medians, switch) for one in rounds]
    each: dict[Quantity, tuple[float | None, ...]] = {
        "start": tuple(map(_start, fits)),
        "rate": tuple(map(_rate, fits)),
        "windowed": tuple(one.windowed if one is not None else None for one in rounds),
    }
    line = Line(
        start=_over(each["start"]),
        rate=_over(each["rate"]),
        windowed=_over(each["windowed"]),
        switch_bytes=switch,
        residual=max(one.residual for one in whole.lines) if whole is not None else None,
    )
    times = tuple(SizeTime(message_bytes=size, time_ns=medians[size]) for size in medians)
    return Fitted(line, times, each)


def _medians(rounds: Sequence[Mapping[int, float]]) -> dict[int, float]:
    """Of the sizes that every round has, ascending."""
    if not rounds:
        raise ValueError("a layer without a round")
    sizes = sorted(set.intersection(*map(set, rounds)))
    return {size: median(one[size] for one in rounds) for size in sizes}


def _fit(one: Round, sizes: Iterable[int], switch: int | None) -> Fit | None:
    return fit_with_break({size: one.times[size] for size in sizes}, switch)


def _start(fit: Fit | None) -> float | None:
    return fit.start_ns if fit is not None and fit.start_ns > 0 else None


def _rate(fit: Fit | None) -> float | None:
    return _NS_PER_S / fit.gap_ns_per_byte if fit is not None and fit.gap_ns_per_byte > 0 else None


def _over(values: Iterable[float | None]) -> Number | None:
    return _number([one for one in values if one is not None])


def _number(values: Sequence[float], alpha: float = ALPHA) -> Number | None:
    """Centre and interval of positive values, found among their logarithms."""
    if not values:
        return None
    found = shift([math.log(one) for one in values], alpha)
    return Number(value=math.exp(found.centre), low=_back(found.low), high=_back(found.high))


def _back(value: float | None) -> float | None:
    return None if value is None else math.exp(value)


def comparable(lower: Fitted, upper: Fitted, quantity: Quantity) -> list[tuple[float, float]]:
    """The rounds in which both layers have the quantity."""
    both = zip(lower.each[quantity], upper.each[quantity], strict=True)
    return [(one, other) for one, other in both if one is not None and other is not None]


def loss(
    pairs: Sequence[tuple[float, float]], quantity: Quantity, *, smallest: float, alpha: float
) -> Loss:
    """What the upper layer loses to the lower, round by round: ``comparable`` pairs, one at least.
    ``alpha``: of the intervals.
    """
    sign = 1.0 if quantity == "start" else -1.0
    logs = [sign * math.log(other / one) for one, other in pairs]
    more = shift([sign * (other - one) for one, other in pairs], alpha)
    ratio, limit = shift(logs, alpha), math.log1p(smallest)
    return Loss(
        ratio=math.exp(ratio.centre),
        low=_back(ratio.low),
        high=_back(ratio.high),
        difference=Number(value=more.centre, low=more.low, high=more.high),
        p_loss=above(logs, limit),
        p_none=above([-one for one in logs], -limit),
    )
