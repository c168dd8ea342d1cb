"""Layers of one path over rounds: the line t(s) = start + s / rate of each. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from wireproof.analysis.fit import CurveFit, fit_sizes, fit_with_break
from wireproof.analysis.signed_rank import least_size
from wireproof.experiment.design import ALPHA
from wireproof.experiment.effects import interval
from wireproof.model.experiment import Interval
from wireproof.model.ladder import LayerLine, Quantity, SizeTime

__all__ = ["Fitted", "Round", "enough_rounds", "fitted"]

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

    line: LayerLine
    times: tuple[SizeTime, ...]
    each: Mapping[Quantity, tuple[float | None, ...]]


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
    line = LayerLine(
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


def _fit(one: Round, sizes: Iterable[int], switch: int | None) -> CurveFit | None:
    return fit_with_break({size: one.times[size] for size in sizes}, switch)


def _start(fit: CurveFit | None) -> float | None:
    return fit.start_ns if fit is not None and fit.start_ns > 0 else None


def _rate(fit: CurveFit | None) -> float | None:
    return _NS_PER_S / fit.gap_ns_per_byte if fit is not None and fit.gap_ns_per_byte > 0 else None


def _over(values: Iterable[float | None]) -> Interval | None:
    """Centre and interval of positive values, found among their logarithms."""
    logs = [math.log(value) for value in values if value is not None]
    return interval(logs, ALPHA, math.exp) if logs else None
