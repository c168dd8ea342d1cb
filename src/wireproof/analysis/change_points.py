"""Where a series changes its level: binary segmentation with a permutation test.

The statistic is the largest weighted difference of the mean ranks before and after a place
(Pettitt, Applied Statistics 28, 1979; weighted as in Csorgo and Horvath, Limit Theorems in
Change-Point Analysis, 2.1). Its p is that of random orders of the same values, so that a series
without a change and without a memory shows one with probability ``alpha``, whatever its
distribution is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from wireproof.analysis.interval import Floats

__all__ = ["LEAST", "ChangePoint", "change_points"]

LEAST = 4
"""Values on either side of a change."""
_BLOCKS = (99, 400, 1500)
"""Random orders, one block after the other."""


@dataclass(frozen=True)
class ChangePoint:
    """``index``: of the first value after it."""

    index: int
    p: float


def change_points(
    values: Sequence[float] | Floats, *, alpha: float = 0.01, seed: int = 0
) -> list[ChangePoint]:
    """The changes in order. ``values``: at equal weight, in the order of time; ``alpha``: of one in
    a series that has none.
    """
    x = np.asarray(values, dtype=np.float64)
    found = _segments(x, 0, alpha, np.random.default_rng(seed))
    return sorted(found, key=lambda one: one.index)


def _segments(x: Floats, first: int, alpha: float, rng: np.random.Generator) -> list[ChangePoint]:
    if x.size < 2 * LEAST:
        return []
    ranks = _ranks(x)
    if np.ptp(ranks) == 0:
        return []
    at, height = _highest(ranks[None, :])
    p = _p(ranks, float(height[0]), alpha, rng)
    if p > alpha:
        return []
    cut = int(at[0])
    return [
        ChangePoint(first + cut, p),
        *_segments(x[:cut], first, alpha, rng),
        *_segments(x[cut:], first + cut, alpha, rng),
    ]


def _p(ranks: Floats, height: float, alpha: float, rng: np.random.Generator) -> float:
    """Of random orders. Those that are as far apart are counted until they are too many for
    ``alpha``: where nothing changes, some dozens tell.
    """
    above = 0
    for count in _BLOCKS:
        orders = rng.permuted(np.tile(ranks, (count, 1)), axis=1)
        above += int(np.count_nonzero(_highest(orders)[1] >= height - 1e-12))
        if (1 + above) / (1 + sum(_BLOCKS)) > alpha:
            break
    return (1 + above) / (1 + sum(_BLOCKS))


def _ranks(x: Floats) -> Floats:
    """Mid-ranks, centred."""
    _, inverse, counts = np.unique(x, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    middle = ends - (counts - 1) / 2.0
    ranks: Floats = np.asarray(middle[inverse.reshape(-1)], dtype=np.float64)
    ranks -= ranks.mean()
    return ranks


def _highest(rows: Floats) -> tuple[npt.NDArray[np.intp], Floats]:
    """For each row: the place that parts it best, and how well."""
    n = rows.shape[1]
    k = np.arange(1, n)
    weight = np.sqrt(k * (n - k) / n)
    sums = np.cumsum(rows, axis=1)[:, :-1]
    apart = np.abs(sums * n / (k * (n - k))) * weight
    inside = apart[:, LEAST - 1 : n - LEAST]
    return inside.argmax(axis=1) + LEAST, inside.max(axis=1)
