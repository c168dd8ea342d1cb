"""From the runs of a trial to its answer: the effect as a ratio, its interval, the guards, how many
runs are missing.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import groupby
from statistics import median

import msgspec

from wireproof.analysis.signed_rank import Shift, least_size, shift
from wireproof.model.experiment import Answer, Better
from wireproof.model.trial import Comparison, Guard, TrialRun

__all__ = ["ALPHA", "WORTH", "compared"]

ALPHA = 0.05
"""Of all looks and all comparisons of a trial together."""
WORTH = 0.01
"""An effect is claimed when its whole interval is beyond this share: less is not worth it."""
_GUARD_WORSE = 0.02
_MOST_RUNS = 100_000

Of = Callable[[TrialRun], float]


def compared(
    runs: Sequence[TrialRun], *, values: int, better: Better, smallest: float, alpha: float
) -> list[Comparison]:
    """Each value against the first. ``alpha``: what this look may spend, shared by the comparisons.

    ``runs``: whole blocks, in any order; warm-ups are passed over. The metric must be positive.
    ``smallest``: share below which an effect counts as none. Raises ValueError without a block.
    """
    blocks = _blocks(runs)
    each = alpha / (values - 1)
    return [
        _comparison(blocks, value, better, smallest, each, values) for value in range(1, values)
    ]


def _blocks(runs: Sequence[TrialRun]) -> list[list[TrialRun]]:
    counted = sorted((run for run in runs if run.block >= 0), key=lambda run: run.block)
    if not counted:
        raise ValueError("a trial without a block")
    return [list(group) for _, group in groupby(counted, key=lambda run: run.block)]


def _contrasts(blocks: list[list[TrialRun]], value: int, of: Of) -> list[float]:
    """In each block the mean over ``value``'s runs less that over the base's."""

    def mean(block: list[TrialRun], index: int) -> float:
        found = [of(run) for run in block if run.value == index]
        return math.fsum(found) / len(found)

    return [mean(block, value) - mean(block, 0) for block in blocks]


def _median(blocks: list[list[TrialRun]], value: int, of: Of) -> float:
    return median(of(run) for block in blocks for run in block if run.value == value)


def _comparison(
    blocks: list[list[TrialRun]],
    value: int,
    better: Better,
    smallest: float,
    alpha: float,
    values: int,
) -> Comparison:
    found = shift(_contrasts(blocks, value, lambda run: math.log(run.metric)), alpha)
    answer = _answer(found, better, smallest)
    missing = _missing_blocks(found, len(blocks), smallest, alpha) if answer == "undecided" else 0
    one = Comparison(
        value=value,
        answer=answer,
        base=_median(blocks, 0, _metric),
        other=_median(blocks, value, _metric),
        ratio=math.exp(found.centre),
        low=None if found.low is None else math.exp(found.low),
        high=None if found.high is None else math.exp(found.high),
        blocks=len(blocks),
        more_runs=min(_MOST_RUNS, missing * 2 * values),
        paths=(_path(blocks, 0), _path(blocks, value)),
        guards=_guards(blocks, value, alpha),
    )
    if one.beside_the_wire:
        return msgspec.structs.replace(one, answer="undecided", more_runs=0)
    return one


def _path(blocks: list[list[TrialRun]], value: int) -> str:
    """The path of most runs with this value, where it is known."""
    seen = Counter(run.proof for block in blocks for run in block if run.value == value)
    known = [proof for proof, _ in seen.most_common() if proof not in ("", "unproven")]
    return known[0] if known else ""


def _metric(run: TrialRun) -> float:
    return run.metric


def _answer(found: Shift, better: Better, smallest: float) -> Answer:
    if found.low is None or found.high is None:
        return "undecided"
    low, high = math.expm1(found.low), math.expm1(found.high)
    if low > WORTH:
        return "helps" if better == "higher" else "hurts"
    if high < -WORTH:
        return "helps" if better == "lower" else "hurts"
    return "no-effect" if -smallest <= low and high <= smallest else "undecided"


def _missing_blocks(found: Shift, blocks: int, smallest: float, alpha: float) -> int:
    """Blocks until the interval would be narrow enough for one answer or the other, if the centre
    stays: its width falls with the root of their number.
    """
    least = max(1, least_size(alpha) - blocks)
    if found.low is None or found.high is None:
        return least
    half = (found.high - found.low) / 2.0
    centre = abs(found.centre)
    enough = max(centre - WORTH, smallest - centre)
    return max(least, math.ceil(blocks * (half / enough) ** 2) - blocks)


def _guards(blocks: list[list[TrialRun]], value: int, alpha: float) -> list[Guard]:
    """Guards that every run has."""
    runs = [run for block in blocks for run in block]
    names = [name for name in runs[0].guards if all(name in run.guards for run in runs)]
    return [_guard(blocks, name, value, alpha) for name in names]


def _guard(blocks: list[list[TrialRun]], name: str, value: int, alpha: float) -> Guard:
    counted = name.endswith(COUNTED) or any(
        run.guards[name] <= 0.0 for block in blocks for run in block
    )
    of: Of = (lambda run: run.guards[name]) if counted else (lambda run: math.log(run.guards[name]))
    found = shift(_contrasts(blocks, value, of), alpha)
    back: Callable[[float], float] = (lambda x: x) if counted else math.expm1
    low = None if found.low is None else back(found.low)
    return Guard(
        name=name,
        kind="count" if counted else "ratio",
        base=_median(blocks, 0, lambda run: run.guards[name]),
        value=_median(blocks, value, lambda run: run.guards[name]),
        change=back(found.centre),
        low=low,
        high=None if found.high is None else back(found.high),
        worse=low is not None and low > (0.0 if counted else _GUARD_WORSE),
    )


COUNTED = ("retransmits", "drops")
"""Guards that are counts, and mostly zero: their difference is looked at, not their ratio."""
