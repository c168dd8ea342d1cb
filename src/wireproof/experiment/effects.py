# pure
"""From trials to the effect of every contrast on every metric. Pure.

Arms are compared block by block: the difference of their mean logarithms, with the Hodges-Lehmann
estimate, the interval of Wilcoxon's signed-rank test and, if the design needs a claim, the test
itself by Holm's rule over all comparisons.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist, median

import msgspec
import numpy as np

from wireproof.experiment import ALPHA, WARM_UP, Contrast, Design
from wireproof.locate.significance import as_student, holm
from wireproof.model import quantity
from wireproof.model.experiment import (
    Answer,
    Guard,
    Interval,
    Metric,
    TrialRun,
    TriedKnob,
    ValueEffect,
)
from wireproof.model.record import PointRecord
from wireproof.stats import Floats, above, least_size, shift
from wireproof.verdict.run.quality import waited_share

_Z = NormalDist().inv_cdf(1.0 - ALPHA / 2.0)
WORTH = 0.01
"""An effect is claimed only if its whole interval exceeds this share: less is not worth it."""


@dataclass(frozen=True)
class Trial:
    """One trial of ``arm``; ``numbers``: by metric; missing metrics were not measured. ``waited``:
    share of the time that its processes waited for a processor, None if it is unknown.
    """

    block: int
    arm: int
    numbers: Mapping[str, float]
    waited: float | None = None


@dataclass(frozen=True, kw_only=True)
class Effect:
    """``ratio``: other arm / base; for a loss, the factor by which the other arm is worse.

    ``difference``: in the metric's unit, in the same sense. ``p``: probability of such a difference
    without an effect, adjusted for all comparisons. ``base``, ``other``: medians over the
    ``blocks`` that have both. ``busy``: why the hosts may be the cause, "" if they are not; then
    nothing is decided.
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
    busy: str = ""


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
        _unless_busy(_effect(design, contrast, metric, blocks, alpha, float(p)), known)
        for (contrast, metric, blocks), p in zip(asked, adjusted, strict=True)
    ]


# --- Guard against disturbed hosts: the same for every experiment.

_BUSY = 0.25
"""Share of the time spent waiting for a processor above which a host is too busy to decide."""


def busy(base: float | None, other: float | None) -> str:
    """Return why the hosts may cause a difference, or "": the processes of both arms waited for a
    processor. If only those of the other arm waited, the arm itself is the cause.
    """
    if base is None or base <= _BUSY or (other is not None and other <= _BUSY):
        return ""
    share = f"{base:.0%}" if other is None else f"{base:.0%} and {other:.0%}"
    return f"the processes waited for a processor for {share} of the time"


def waited_in(points: Iterable[PointRecord]) -> float | None:
    """Return the share of the time that the worse end of a pair waited for a processor, as median
    over all pairs; None without pairs.
    """
    shares = [waited_share(pair) for point in points for pair in point.pairs]
    return median(shares) if shares else None


def _unless_busy(effect: Effect, trials: Sequence[Trial]) -> Effect:
    """Return the effect undecided if the hosts may be its cause."""
    arms = (effect.contrast.base, effect.contrast.other)
    shares = [[t.waited for t in trials if t.arm == arm and t.waited is not None] for arm in arms]
    why = busy(*(median(known) if known else None for known in shares))
    return replace(effect, busy=why, answer="undecided") if why else effect


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
    """Return the two-sided p-value of the signed-rank test for symmetry about zero."""
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
    values: Sequence[float] | Floats, alpha: float, back: Callable[[float], float] = float
) -> Interval:
    """Return centre and interval of ``values``, converted ``back`` from their scale."""
    found = shift(values, alpha)
    low, high = (None if end is None else back(end) for end in (found.low, found.high))
    return Interval(value=back(found.value), low=low, high=high)


def over_rounds(logs: Sequence[float] | Floats) -> Interval:
    """Return the ratio whose logarithm was measured once in each round, with its 95 % interval.

    The signed-rank test needs six rounds; below, the interval is Student's t, and a single round
    has none. Raises ValueError without a round.
    """
    found = interval(logs, ALPHA, math.exp)
    if found.low is not None or len(logs) < 2:
        return found
    half = as_student(_Z, len(logs) - 1) * float(np.std(logs, ddof=1)) / math.sqrt(len(logs))
    low, high = (math.exp(float(np.mean(logs)) + end) for end in (-half, half))
    return Interval(value=found.value, low=min(low, found.value), high=max(high, found.value))


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


# --- A trial of a setting: answer per value, guards, missing runs, and a sentence.


COUNTED = ("retransmits", "drops")
"""Guards that are counts, mostly zero: their difference is compared, not their ratio."""
_GUARD_WORSE = 0.02
_MOST_RUNS = 100_000
_GUARDS = {
    "p99_ns": "the 99th percentile",
    "cpu_ns_per_message": "processor time per message",
    "cpu_s": "processor time",
    "retransmits": "TCP retransmits",
    "drops": "drops",
}


def compared(design: Design, runs: Sequence[TrialRun]) -> list[ValueEffect]:
    """Compare each value with the first, using whole blocks only; empty if no block is complete."""
    counted = [run for run in runs if run.block != WARM_UP]
    name = design.metrics[0].name
    trials = [Trial(run.block, run.value, {name: run.metric}, run.waited) for run in counted]
    return [_comparison(design, effect, counted) for effect in effects(design, trials)]


def _comparison(design: Design, effect: Effect, runs: Sequence[TrialRun]) -> ValueEffect:
    alpha = design.alpha / len(design.contrasts)
    found = ValueEffect(
        value=effect.contrast.other,
        answer=effect.answer,
        base=effect.base,
        other=effect.other,
        ratio=effect.ratio.value,
        low=effect.ratio.low,
        high=effect.ratio.high,
        blocks=effect.blocks,
        paths=(_path(runs, effect.contrast.base), _path(runs, effect.contrast.other)),
        guards=_guards(runs, effect.contrast, alpha),
        busy=effect.busy,
    )
    if found.beside_the_wire:
        return msgspec.structs.replace(found, answer="undecided")
    if found.answer != "undecided" or found.busy:
        return found
    missing = _missing_blocks(effect.ratio, effect.blocks, design.smallest, alpha)
    more = min(_MOST_RUNS, missing * design.trials)
    return msgspec.structs.replace(found, more_runs=more)


def path_of_most(proofs: Sequence[str]) -> str:
    """Return the path of more than half of the runs, or "unproven"."""
    path, times = Counter(proofs).most_common(1)[0] if proofs else ("unproven", 0)
    return path if 2 * times > len(proofs) else "unproven"


def _path(runs: Sequence[TrialRun], value: int) -> str:
    """Return the path of most runs that have a proof; "" if none has, as without a claim."""
    proofs = [run.proof for run in runs if run.value == value and run.proof]
    return path_of_most(proofs) if proofs else ""


def _missing_blocks(ratio: Interval, blocks: int, smallest: float, alpha: float) -> int:
    """Return the number of blocks needed until the interval is narrow enough for an answer,
    assuming that its centre does not move.

    Its width falls with the square root of the number of blocks.
    """
    least = max(1, least_size(alpha) - blocks)
    if ratio.low is None or ratio.high is None:
        return least
    half = math.log(ratio.high / ratio.low) / 2.0
    centre = abs(math.log(ratio.value))
    enough = max(centre - WORTH, smallest - centre)
    return max(least, math.ceil(blocks * (half / enough) ** 2) - blocks)


def _guards(runs: Sequence[TrialRun], contrast: Contrast, alpha: float) -> list[Guard]:
    """Return the guards that every run has."""
    names = [name for name in runs[0].guards if all(name in run.guards for run in runs)]
    return [_guard(runs, contrast, name, alpha) for name in names]


def _guard(runs: Sequence[TrialRun], contrast: Contrast, name: str, alpha: float) -> Guard:
    counted = name.endswith(COUNTED) or any(run.guards[name] <= 0.0 for run in runs)
    blocks = pairs([Trial(run.block, run.value, run.guards) for run in runs], contrast, name)
    of: Callable[[float], float] = float if counted else math.log
    found = interval(differences(blocks, of), alpha, float if counted else math.expm1)
    return Guard(
        name=name,
        kind="count" if counted else "ratio",
        base=median(number for base, _ in blocks for number in base),
        value=median(number for _, other in blocks for number in other),
        change=found.value,
        low=found.low,
        high=found.high,
        worse=found.low is not None and found.low > (0.0 if counted else _GUARD_WORSE),
    )


def said(effect: ValueEffect, knob: TriedKnob, metric: Metric, run_s: float) -> str:
    """Return ``UCX_X=1 helps by 10.2 % [8.1, 12.3] (goodput 1118 -> 1232 MB/s)``.

    ``run_s``: seconds of a run, for the estimate of missing runs.
    """
    value = knob.shown(effect.value)
    base, other = (quantity.amount(number, metric.unit) for number in (effect.base, effect.other))
    numbers = f"{metric.name} {base} -> {other}"
    link = "but" if effect.answer == "helps" else "and"
    guards = "".join(f"; {link} {_worse(guard)}" for guard in effect.guards if guard.worse)
    if effect.low is None or effect.high is None or effect.answer == "undecided":
        return f"{value} undecided: {_missing(effect, run_s)} ({numbers}){guards}"
    low, high = sorted((abs(effect.low - 1.0), abs(effect.high - 1.0)))
    if effect.answer == "no-effect":
        return f"{value}: no effect larger than {_percent(high)} % ({numbers}){guards}"
    by = f"{_percent(abs(effect.ratio - 1.0))} % [{_percent(low)}, {_percent(high)}]"
    return f"{value} {effect.answer} by {by} ({numbers}){guards}"


def _missing(one: ValueEffect, run_s: float) -> str:
    if one.beside_the_wire:
        base, other = (path or "unproven" for path in one.paths)
        paths = f"base {base}, this value {other}"
        return f"the runs are not proven to use the claimed wire ({paths})"
    if one.busy:
        return one.busy
    more = f"needs about {one.more_runs} more runs ({quantity.duration(one.more_runs * run_s)})"
    if one.low is None or one.high is None:
        return f"{more} for any interval"
    return f"{more}; so far {_signed(one.low)} to {_signed(one.high)} %"


def _percent(share: float) -> str:
    """Format a share in per cent, with one decimal below 100 %."""
    return f"{100.0 * share:.1f}" if share < 1.0 else f"{100.0 * share:.0f}"


def _signed(ratio: float) -> str:
    return f"{100.0 * (ratio - 1.0):+.1f}"


def _worse(guard: Guard) -> str:
    name = _GUARDS.get(guard.name, guard.name)
    if guard.kind == "count":
        return f"{name} rise by {guard.change:.3g} per run"
    return f"{name} rises by {_percent(guard.change)} %"
