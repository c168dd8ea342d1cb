# pure
"""Decide every step: a loss is reported if Holm's procedure over all steps and quantities rejects.
A step loses nothing if its interval, which is simultaneous with all others, ends below the
threshold.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from wireproof.experiment import ALPHA, Contrast, Design
from wireproof.experiment.effects import Effect, Trial, effects, interval, logs, pairs
from wireproof.experiment.ladder import (
    LayerLine,
    LayerName,
    LayerStep,
    Quantity,
    SizeTime,
    StepAnswer,
)
from wireproof.model.experiment import Answer, BegunExperiment, Interval, Metric
from wireproof.model.finding import Proof
from wireproof.stats import above, least_size
from wireproof.stats.fit import CurveFit, fit_sizes, fit_with_break

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
    """A layer over all rounds. ``line``: fitted over all rounds. ``each``: the values of each round
    in ns and bytes/s; None if a round has no value.
    """

    name: LayerName
    line: LayerLine
    times: tuple[SizeTime, ...]
    each: Mapping[Quantity, tuple[float | None, ...]]


def decided(rungs: Sequence[Rung], smallest: float) -> list[LayerStep]:
    """Decide every step from one rung to the next, in each quantity, from the wire up.

    A step is left out if no round measured both of its rungs.
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
    """Return the values of each round for each rung's line."""
    trials = []
    for arm, rung in enumerate(rungs):
        for block, numbers in enumerate(zip(*rung.each.values(), strict=True)):
            known = zip(rung.each, numbers, strict=True)
            trials.append(Trial(block, arm, {key: n for key, n in known if n is not None}))
    return trials


def _neighbours(rungs: Sequence[Rung]) -> Iterator[Contrast]:
    """Pair each rung with the rung below it. The rung below an application is MPI point to point,
    as for a collective.
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
    """Return a later layer that is proven as good as the one below the loss, so that it bypasses
    the lossy layer.
    """
    base, upper = effect.contrast.base, effect.contrast.other
    if rungs[upper].name == _BESIDE[1]:
        return None
    for later in range(upper + 1, len(rungs)):
        blocks = pairs(trials, Contrast(base, later), effect.metric.name)
        gains = [-loss for loss in logs(design, effect.metric, blocks)]
        if above(gains, -math.log1p(design.smallest)) <= design.alpha:
            return rungs[later].name
    return None


# --- Layers of one path over rounds: fit the line t(s) = start + s / rate of each.

_NS_PER_S = 1e9


@dataclass(frozen=True)
class Round:
    """One round of a layer.

    ``times``: message size (bytes) -> time of one message (ns). ``windowed``: bytes/s of the
    largest size with many messages in flight; None: not measured.
    """

    times: Mapping[int, float]
    windowed: float | None = None


class BegunLadder(BegunExperiment, frozen=True, kw_only=True):
    """A ladder in progress. ``commanded``: by layer, the rounds that other programs have measured,
    with the proof of each; the rounds of the other layers are in their records.
    """

    schema: str = "wireproof.ladder-begun"
    commanded: dict[LayerName, dict[int, tuple[Round, Proof]]]

    @property
    def sound(self) -> bool:
        """False if it has impossible rounds."""
        rounds = [measured for layer in self.commanded.values() for measured, _ in layer.values()]
        numbers = [
            number
            for measured in rounds
            for number in (*measured.times.values(), measured.windowed or 1.0)
        ]
        return super().sound and all(0.0 < number < math.inf for number in numbers)


def enough_rounds(steps: int) -> int:
    """Return the number of rounds after which ``steps`` steps, in three quantities each, have
    simultaneous intervals, plus one.

    With the spare round, a single disturbed round does not leave them undecided.
    """
    return least_size(ALPHA / (3 * max(1, steps))) + 1


def fitted(name: LayerName, rounds: Sequence[Round | None]) -> Rung:
    """Fit the line of each round (None: the round failed), with a break where the medians of all
    rounds break.

    One protocol switch for all rounds keeps noise from moving it. Raises ValueError without a
    round.
    """
    medians = _medians([measured.times for measured in rounds if measured is not None])
    whole = fit_sizes(medians)
    switch = whole.eager_limit_bytes if whole is not None else None
    fits = [None if measured is None else _fit(measured, medians, switch) for measured in rounds]
    each: dict[Quantity, tuple[float | None, ...]] = {
        "start": tuple(map(_start, fits)),
        "rate": tuple(map(_rate, fits)),
        "windowed": tuple(
            measured.windowed if measured is not None else None for measured in rounds
        ),
    }
    line = LayerLine(
        start=_over(each["start"]),
        rate=_over(each["rate"]),
        windowed=_over(each["windowed"]),
        switch_bytes=switch,
        residual=max(line.residual for line in whole.lines) if whole is not None else None,
    )
    times = tuple(SizeTime(message_bytes=size, time_ns=medians[size]) for size in medians)
    return Rung(name, line, times, each)


def _medians(rounds: Sequence[Mapping[int, float]]) -> dict[int, float]:
    """Return the median time of every size that all rounds have, in ascending order."""
    if not rounds:
        raise ValueError("a layer without a round")
    sizes = sorted(set.intersection(*map(set, rounds)))
    return {size: median(times[size] for times in rounds) for size in sizes}


def _fit(measured: Round, sizes: Iterable[int], switch: int | None) -> CurveFit | None:
    return fit_with_break({size: measured.times[size] for size in sizes}, switch)


def _start(fit: CurveFit | None) -> float | None:
    return fit.start_ns if fit is not None and fit.start_ns > 0 else None


def _rate(fit: CurveFit | None) -> float | None:
    return _NS_PER_S / fit.gap_ns_per_byte if fit is not None and fit.gap_ns_per_byte > 0 else None


def _over(values: Iterable[float | None]) -> Interval | None:
    """Return centre and interval of positive values, computed on their logarithms."""
    logs = [math.log(value) for value in values if value is not None]
    return interval(logs, ALPHA, math.exp) if logs else None
