"""Hodges-Lehmann estimate with the exact interval of Wilcoxon's signed-rank test.

For differences that are each symmetric about the same number, whatever their spread. Hollander and
Wolfe, Nonparametric Statistical Methods, sections 3.2 and 3.3; Hodges and Lehmann, Annals of
Mathematical Statistics 34 (1963).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist

import numpy as np

from wireproof.analysis.interval import Floats

_EXACT = 150
"""Above this, the normal approximation is more accurate than needed."""


@dataclass(frozen=True, slots=True)
class Shift:
    """The centre, and the interval that covers it with probability 1 - alpha.

    None: too few values for any interval at that alpha.
    """

    centre: float
    low: float | None
    high: float | None


def least_size(alpha: float) -> int:
    """Return the fewest values with a two-sided interval at ``alpha``: 2 / 2^n <= alpha."""
    return max(1, math.ceil(math.log2(2.0 / alpha) - 1e-9))


def shift(values: Sequence[float] | Floats, alpha: float) -> Shift:
    """Return the median of the Walsh averages of ``values`` and its interval.

    ValueError if empty.
    """
    x = np.asarray(values, dtype=np.float64)
    if x.size == 0:
        raise ValueError("a shift of no values")
    first, second = np.triu_indices(x.size)
    walsh = np.sort((x[first] + x[second]) / 2.0)
    centre = float(np.median(walsh))
    cut = _cut(int(x.size), alpha)
    if cut < 1:
        return Shift(centre, None, None)
    return Shift(centre, float(walsh[cut - 1]), float(walsh[walsh.size - cut]))


@lru_cache(maxsize=256)
def _cut(n: int, alpha: float) -> int:
    """Return how many of the outermost averages lie outside on each side.

    The largest k with 2 P(T < k) <= alpha, T the signed-rank statistic of n values without an
    effect.
    """
    if n > _EXACT:
        spread = math.sqrt(n * (n + 1) * (2 * n + 1) / 24.0)
        return math.floor(n * (n + 1) / 4.0 + NormalDist().inv_cdf(alpha / 2.0) * spread)
    return int(np.searchsorted(_below(n) * 2.0, alpha * (1.0 + 1e-12), side="right"))


@lru_cache(maxsize=256)
def _below(n: int) -> Floats:
    """Return P(T <= t) for t = 0, 1, ...: T the signed-rank statistic of n values without an
    effect.
    """
    chance = np.zeros(n * (n + 1) // 2 + 1)
    chance[0] = 1.0
    for rank in range(1, n + 1):
        chance[rank:] = (chance[rank:] + chance[:-rank]) / 2.0
        chance[:rank] /= 2.0
    return np.cumsum(chance)


def above(values: Sequence[float] | Floats, at: float) -> float:
    """Return p of the one-sided test that the centre of ``values`` is at most ``at``: small if it
    is above.

    1 without values. The statistic is the number of Walsh averages above ``at`` (Hollander and
    Wolfe, 3.1); averages equal to ``at`` count against it.
    """
    x = np.asarray(values, dtype=np.float64)
    n = int(x.size)
    if n == 0:
        return 1.0
    first, second = np.triu_indices(n)
    not_above = int(np.count_nonzero((x[first] + x[second]) / 2.0 <= at))
    if n > _EXACT:
        spread = math.sqrt(n * (n + 1) * (2 * n + 1) / 24.0)
        return NormalDist().cdf((not_above + 0.5 - n * (n + 1) / 4.0) / spread)
    return float(_below(n)[not_above])
