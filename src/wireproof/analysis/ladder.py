"""Layers of one path over rounds: each one's line t(s) = start + s / rate, and what a step between
two of them loses. Pure.

A round measures every layer once, in random order, so whatever drifts meets all layers alike. Two
layers are compared round by round, by the logarithm of their ratio: differences that are each
symmetric about the same number, which is all that the signed-rank test and interval need.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from wireproof.analysis.fit import Fit, fit_sizes, fit_with_break
from wireproof.analysis.signed_rank import above, least_size, shift
from wireproof.model.ladder import Line, Number, Quantity, SizeTime

__all__ = ["ALPHA", "Fitted", "Loss", "Times", "enough_rounds", "fitted", "loss", "one_number"]

ALPHA = 0.05
"""Of all steps and quantities together."""
_NS_PER_S = 1e9

Times = Mapping[int, float]
"""Message size (bytes) -> time of one message (ns), of one round."""


@dataclass(frozen=True)
class Fitted:
    """``line`` over all rounds; ``start``, ``rate``: of each round, in ns and bytes/s, None where
    that round does not give it.
    """

    line: Line
    times: tuple[SizeTime, ...]
    start: tuple[float | None, ...]
    rate: tuple[float | None, ...]

    def each(self, quantity: Quantity) -> tuple[float | None, ...]:
        return self.start if quantity == "start" else self.rate


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
    """Rounds after which ``steps`` steps, in two quantities each, have intervals that hold at once;
    and one to spare, so that one disturbed round does not keep them open.
    """
    return least_size(ALPHA / (2 * max(1, steps))) + 1


def fitted(rounds: Sequence[Times | None]) -> Fitted:
    """The line of each round (None: it failed), broken where the medians of all rounds break: one
    protocol switch for all rounds, so that noise does not move it.

    Raises ValueError without a round.
    """
    whole_rounds = [one for one in rounds if one is not None]
    if not whole_rounds:
        raise ValueError("a layer without a round")
    sizes = sorted(set.intersection(*(set(one) for one in whole_rounds)))
    medians = {size: median(one[size] for one in whole_rounds) for size in sizes}
    whole = fit_sizes(medians)
    switch = whole.eager_limit_bytes if whole is not None else None
    fits = [
        None if one is None else fit_with_break({size: one[size] for size in sizes}, switch)
        for one in rounds
    ]
    starts, rates = _of_each(fits, _start), _of_each(fits, _rate)
    line = Line(
        start=one_number([one for one in starts if one is not None]),
        rate=one_number([one for one in rates if one is not None]),
        switch_bytes=switch,
        residual=max((one.residual for one in whole.lines), default=None) if whole else None,
    )
    times = tuple(SizeTime(message_bytes=size, time_ns=medians[size]) for size in sizes)
    return Fitted(line, times, starts, rates)


def _of_each(
    fits: Sequence[Fit | None], of: Callable[[Fit], float | None]
) -> tuple[float | None, ...]:
    return tuple(None if one is None else of(one) for one in fits)


def _start(fit: Fit) -> float | None:
    return fit.start_ns if fit.start_ns > 0 else None


def _rate(fit: Fit) -> float | None:
    return _NS_PER_S / fit.gap_ns_per_byte if fit.gap_ns_per_byte > 0 else None


def one_number(values: Sequence[float], alpha: float = ALPHA) -> Number | None:
    """Centre and interval of positive values, found among their logarithms."""
    if not values:
        return None
    found = shift([math.log(one) for one in values], alpha)
    return Number(value=math.exp(found.centre), low=_back(found.low), high=_back(found.high))


def _back(value: float | None) -> float | None:
    return None if value is None else math.exp(value)


def loss(
    lower: Fitted, upper: Fitted, quantity: Quantity, *, smallest: float, alpha: float
) -> Loss | None:
    """What ``upper`` loses to ``lower``, round by round. ``alpha``: of the intervals.

    None without a round that has both.
    """
    pairs = [
        (one, other)
        for one, other in zip(lower.each(quantity), upper.each(quantity), strict=True)
        if one is not None and other is not None
    ]
    if not pairs:
        return None
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
