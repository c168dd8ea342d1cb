"""From the runs of a study to the effect of each value on each pattern. Pure."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import median

import msgspec
import numpy as np

from wireproof.analysis.signed_rank import above, shift
from wireproof.locate.significance import holm
from wireproof.model.study import Effect, Measured, StudyRun

__all__ = ["ALPHA", "WORTH", "chance_of", "effects"]

ALPHA = 0.05
"""Of all comparisons of a study together."""
WORTH = 0.01
"""The whole 95 % interval of an effect that is claimed lies beyond this share."""

_Pair = tuple[float, float]


def effects(
    runs: Sequence[StudyRun], values: int, patterns: Sequence[Measured], smallest: float
) -> list[Effect]:
    """Each value on each pattern against the base of its own block; those without a common block
    are left out. ``smallest``: share below which an effect is not worth a setting.
    """
    blocks: dict[int, dict[int, StudyRun]] = defaultdict(dict)
    for run in runs:
        blocks[run.block][run.configuration] = run
    found = [
        (one, _pairs(blocks, value, one.name)) for value in range(1, values + 1) for one in patterns
    ]
    kept = [
        (one, index // len(patterns) + 1, pairs)
        for index, (one, pairs) in enumerate(found)
        if pairs
    ]
    if not kept:
        return []
    raw = np.asarray([chance_of(_logs(pairs)) for _, _, pairs in kept], dtype=np.float64)
    adjusted = holm(raw, values * len(patterns))
    return [
        _effect(one, value, pairs, float(p), smallest)
        for (one, value, pairs), p in zip(kept, adjusted, strict=True)
    ]


def chance_of(differences: Sequence[float]) -> float:
    """Two-sided p of the signed-rank test that the differences are symmetric about zero."""
    other = [-one for one in differences]
    return min(1.0, 2.0 * min(above(differences, 0.0), above(other, 0.0)))


def _pairs(blocks: Mapping[int, Mapping[int, StudyRun]], value: int, pattern: str) -> list[_Pair]:
    """(base, value) of each block that has both."""
    found = []
    for block in blocks.values():
        base, other = block.get(0), block.get(value)
        if base is not None and other is not None:
            pair = base.numbers.get(pattern), other.numbers.get(pattern)
            if pair[0] is not None and pair[1] is not None:
                found.append((pair[0], pair[1]))
    return found


def _logs(pairs: Sequence[_Pair]) -> list[float]:
    return [math.log(other / base) for base, other in pairs]


def _effect(one: Measured, value: int, pairs: Sequence[_Pair], p: float, smallest: float) -> Effect:
    found = shift(_logs(pairs), ALPHA)
    effect = Effect(
        configuration=value,
        pattern=one.name,
        ratio=math.exp(found.centre),
        low=None if found.low is None else math.exp(found.low),
        high=None if found.high is None else math.exp(found.high),
        p=p,
        base=median(base for base, _ in pairs),
        other=median(other for _, other in pairs),
        blocks=len(pairs),
        answer="undecided",
    )
    if effect.low is None or effect.high is None:
        return effect
    low, high = effect.low - 1.0, effect.high - 1.0
    beyond = low > WORTH or high < -WORTH
    if p <= ALPHA and beyond and abs(effect.ratio - 1.0) >= smallest:
        good = (effect.ratio > 1.0) == (one.metric.better == "higher")
        return msgspec.structs.replace(effect, answer="helps" if good else "hurts")
    if -smallest <= low and high <= smallest:
        return msgspec.structs.replace(effect, answer="no-effect")
    return effect
