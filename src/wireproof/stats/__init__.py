# pure
"""Median with a distribution-free 95 % interval that accounts for dependence between samples.

Procedure: with a lag-1 autocorrelation above 0.3, means of neighbouring samples are used first;
effective n = n (1 - r) / (1 + r); the interval comes from order statistics with ranks (n -/+ 1.96
sqrt n) / 2, which exist from 6 samples on (Hoefler and Belli, SC'15, rule 5).
"""

import math
from collections.abc import Sequence
from functools import lru_cache
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from wireproof.model.experiment import Interval
from wireproof.model.record import Estimate, Label

Floats = NDArray[np.float64]

MIN_SAMPLES = 6
_Z95 = 1.959963984540054
_DEPENDENT = 0.3
_UNSTABLE = 0.10
_MODE_SHARE = 0.15  # a mode contains at least this share of the samples
_MODE_DISTANCE = 0.10  # and is at least this far from the other mode, relative to the median
_MODE_CLEAR = 4.0  # and the gap is this many times the spread within the modes


def autocorrelation(values: Sequence[float] | Floats) -> float:
    """Return the lag-1 autocorrelation in -1..1; 0 for fewer than 3 samples or no spread."""
    x = np.asarray(values, dtype=np.float64)
    if x.size < 3:
        return 0.0
    d = x - x.mean()
    spread = float(np.dot(d, d))
    return 0.0 if spread <= 0.0 else float(np.dot(d[:-1], d[1:]) / spread)


def quantiles(values: Sequence[float] | Floats) -> dict[str, float]:
    """Return p1, p5, p25, p50, p75, p95, p99, max of a non-empty sample, outliers included."""
    x = np.asarray(values, dtype=np.float64)
    if x.size == 0:
        raise ValueError("quantiles of an empty sample")
    levels = (1, 5, 25, 50, 75, 95, 99)
    found = {
        f"p{level}": float(value)
        for level, value in zip(levels, np.percentile(x, levels), strict=True)
    }
    return {**found, "max": float(x.max())}


def estimate(values: Sequence[float] | Floats, *, unstable_above: float = _UNSTABLE) -> Estimate:
    """Return the median of ``values`` (ns, in the order of measurement) with its interval and
    label.

    Below 6 samples no 95 % interval exists: the interval is the whole range and the label is
    ``unstable``. Raises ValueError if the sample is empty or has a value that is not finite and
    positive.
    """
    x = np.asarray(values, dtype=np.float64)
    if x.size == 0:
        raise ValueError("estimate of an empty sample")
    if not bool(np.all(np.isfinite(x))) or bool(np.any(x <= 0.0)):
        raise ValueError("estimate of times that are not finite and positive")
    median = float(np.median(x))
    rho = autocorrelation(x)
    blocks = _independent(x)
    left = autocorrelation(blocks) if blocks.size >= MIN_SAMPLES else 0.0
    # smaller values count as chance, as in the engine
    residual = left if left > _DEPENDENT else 0.0
    effective = blocks.size * (1.0 - residual) / (1.0 + residual)
    low, high = _order_interval(blocks, effective)
    low, high = min(low, median), max(high, median)
    half = (high - low) / 2.0 / median
    label: Label = "unstable" if blocks.size < MIN_SAMPLES or half > unstable_above else "stable"
    if two_modes(x):
        label = "multimodal"
    return Estimate(
        median_ns=median,
        low_ns=low,
        high_ns=high,
        blocks=int(x.size),
        effective_blocks=effective,
        autocorrelation=rho,
        half_width=half,
        label=label,
    )


def _independent(x: Floats) -> Floats:
    """Average neighbouring values in pairs, repeatedly, until they are independent or too few would
    remain.
    """
    while autocorrelation(x) > _DEPENDENT and x.size >= 4 * MIN_SAMPLES:
        even = x[: x.size - x.size % 2]
        x = even.reshape(-1, 2).mean(axis=1)
    return x


def _order_interval(x: Floats, effective: float) -> tuple[float, float]:
    ordered = np.sort(x)
    n = ordered.size
    if n < MIN_SAMPLES:
        return float(ordered[0]), float(ordered[-1])
    # Fewer effective samples widen the interval in ranks by sqrt(n / n_eff).
    reach = _Z95 * math.sqrt(n) * math.sqrt(n / max(effective, 1.0)) / 2.0
    first = max(1, math.floor(n / 2.0 - reach))
    last = min(n, math.ceil(1.0 + n / 2.0 + reach))
    return float(ordered[first - 1]), float(ordered[last - 1])


def two_modes(values: Sequence[float] | Floats) -> bool:
    """Return whether one gap splits the sample into two groups that are far apart compared with
    their spread.
    """
    x = np.sort(np.asarray(values, dtype=np.float64))
    least = max(3, math.ceil(_MODE_SHARE * x.size))
    if x.size < 2 * least:
        return False
    gaps = np.diff(x)[least - 1 : x.size - least]
    if gaps.size == 0:
        return False
    cut = int(np.argmax(gaps)) + least
    lower, upper = x[:cut], x[cut:]
    gap = float(upper[0] - lower[-1])
    spread = max(_middle_spread(lower), _middle_spread(upper))
    far = float(np.median(upper) - np.median(lower)) > _MODE_DISTANCE * float(np.median(x))
    return far and gap > _MODE_CLEAR * max(spread, 1e-12) / 2.0 and gap > 0.05 * float(np.median(x))


def _middle_spread(x: Floats) -> float:
    low, high = np.percentile(x, (25, 75))
    return float(high - low)


# --- Hodges-Lehmann estimate with the exact interval of Wilcoxon's signed-rank test: for
# differences that are each symmetric about the same number, whatever their spread. Hollander and
# Wolfe, Nonparametric Statistical Methods, sections 3.2 and 3.3; Hodges and Lehmann, Annals of
# Mathematical Statistics 34 (1963).

_EXACT = 150
"""Above this, the normal approximation is more accurate than needed."""


def least_size(alpha: float) -> int:
    """Return the fewest values with a two-sided interval at ``alpha``: 2 / 2^n <= alpha."""
    return max(1, math.ceil(math.log2(2.0 / alpha) - 1e-9))


def shift(values: Sequence[float] | Floats, alpha: float) -> Interval:
    """Return the median of the Walsh averages of ``values``, with the interval that covers it with
    probability 1 - ``alpha`` (none for too few values). ValueError if empty.
    """
    x = np.asarray(values, dtype=np.float64)
    if x.size == 0:
        raise ValueError("a shift of no values")
    first, second = np.triu_indices(x.size)
    walsh = np.sort((x[first] + x[second]) / 2.0)
    centre = float(np.median(walsh))
    cut = _cut(int(x.size), alpha)
    if cut < 1:
        return Interval(value=centre)
    low, high = float(walsh[cut - 1]), float(walsh[walsh.size - cut])
    return Interval(value=centre, low=low, high=high)


@lru_cache(maxsize=256)
def _cut(n: int, alpha: float) -> int:
    """Return the number of outermost averages that lie outside on each side: the largest k with 2
    P(T < k) <= alpha, T the signed-rank statistic of n values without an effect.
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
    """Return p of the one-sided test that the centre of ``values`` is at most ``at``: small if the
    centre is above.

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
