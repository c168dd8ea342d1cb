"""A trial of a setting: answer per value, guards, missing runs, and a sentence. Pure."""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from statistics import median

import msgspec

from wireproof.analysis.interval import least_size
from wireproof.experiment.design import WARM_UP, Contrast, Design
from wireproof.experiment.effects import (
    WORTH,
    Effect,
    Trial,
    differences,
    effects,
    interval,
    pairs,
)
from wireproof.model import quantity
from wireproof.model.experiment import Guard, Interval, Metric, TrialRun, TriedKnob, ValueEffect

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
    """Compare each value with the first, by whole blocks; none without a block."""
    counted = [run for run in runs if run.block != WARM_UP]
    name = design.metrics[0].name
    trials = [Trial(run.block, run.value, {name: run.metric}) for run in counted]
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
    )
    if found.beside_the_wire:
        return msgspec.structs.replace(found, answer="undecided")
    if found.answer != "undecided":
        return found
    missing = _missing_blocks(effect.ratio, effect.blocks, design.smallest, alpha)
    more = min(_MOST_RUNS, missing * design.trials)
    return msgspec.structs.replace(found, more_runs=more)


def _path(runs: Sequence[TrialRun], value: int) -> str:
    """Return the path of most runs with this value, if it is known."""
    seen = Counter(run.proof for run in runs if run.value == value)
    known = [proof for proof, _ in seen.most_common() if proof not in ("", "unproven")]
    return known[0] if known else ""


def _missing_blocks(ratio: Interval, blocks: int, smallest: float, alpha: float) -> int:
    """Return the blocks until the interval is narrow enough for an answer, if the centre stays.

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
        return f"the runs did not use the claimed wire (base {base}, this value {other})"
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
