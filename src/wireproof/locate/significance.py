"""Tails, family-wise error, and how small a slowdown a screen can find.

Sources: Holm (1979) for the family-wise error; Wallace (1959) for Student's t as a normal deviate;
the standard error of a median, sqrt(pi / 2) sigma / sqrt(k), holds for samples that are about
normal.
"""

import math
from statistics import NormalDist

import numpy as np

from wireproof.locate.samples import Floats, Ints

MEDIAN_FACTOR = math.sqrt(math.pi / 2.0)
"""Standard error of a median over that of a mean (1.2533)."""

REACH = 3.0
"""An estimate is not below the practical threshold as long as it is within this many standard
errors of it.
"""

_MAD = 1.4826  # MAD of a normal variable to its sigma
_NORMAL = NormalDist()
_EXACT = 60
_FAR = 37.0  # beyond it the tail is no longer a double


def quantile(p: float) -> float:
    """The deviate above which a normal variable lies with probability ``p`` (0 < p < 1)."""
    return -_NORMAL.inv_cdf(min(max(p, 1e-300), 1.0 - 1e-16))


def upper_tail(z: Floats) -> Floats:
    """Probability of a normal deviate above ``z``, by element."""
    tails = [
        0.5 * math.erfc(min(max(value, -_FAR), _FAR) / math.sqrt(2.0))
        for value in z.ravel().tolist()
    ]
    return np.asarray(tails, dtype=np.float64).reshape(z.shape)


def as_normal(t: Floats, freedom: float) -> Floats:
    """Student's t with ``freedom`` degrees as the normal deviate of the same tail (Wallace's
    approximation).
    """
    factor = (8.0 * freedom + 1.0) / (8.0 * freedom + 3.0)
    return np.asarray(
        np.sign(t) * factor * np.sqrt(freedom * np.log1p(t * t / freedom)), dtype=np.float64
    )


def holm(p: Floats, hypotheses: int | None = None) -> Floats:
    """Holm's adjusted p-values: to reject what is at most alpha keeps the family-wise error at
    alpha.

    ``hypotheses``: size of the family when ``p`` holds its smallest members only.
    """
    count = max(hypotheses or 0, p.size)
    order = np.argsort(p, kind="stable")
    steps = np.maximum(1, count - np.arange(p.size))
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(p[order] * steps)) if p.size else p
    return adjusted


def as_student(z: float, freedom: float) -> float:
    """The inverse of ``as_normal``."""
    factor = (8.0 * freedom + 1.0) / (8.0 * freedom + 3.0)
    return math.sqrt(freedom * math.expm1(min(700.0, (z / factor) ** 2 / freedom)))


def loose(hypotheses: int, alpha: float) -> float:
    """The p of one hypothesis that makes a suspect. A screen may suspect more than it may blame:
    about one false suspect in three sweeps of thousands of nodes.
    """
    return max(alpha / max(1, hypotheses), min(1e-4, 1.0 / max(1, hypotheses)))


def at_least_half(count: int, share: float) -> float:
    """Probability that half or more of ``count`` independent samples are of a kind that a ``share``
    of all samples is.

    Both of two: the faster one counts there. Beyond 60 samples Chernoff's bound, exp(-n KL(1/2,
    q)).
    """
    if count < 1 or share >= 0.5:
        return 1.0
    if count > _EXACT:
        return math.exp(count * 0.5 * (math.log(4.0 * share) + math.log1p(-share)))
    least = 2 if count == 2 else (count + 1) // 2
    return min(
        1.0,
        sum(
            math.comb(count, k) * share**k * (1.0 - share) ** (count - k)
            for k in range(least, count + 1)
        ),
    )


def robust_scale(x: Floats) -> float:
    """MAD x 1.4826; 0 for an empty sample."""
    return float(_MAD * np.median(np.abs(x - np.median(x)))) if x.size else 0.0


def median_error(sigma: float | Floats, count: float | Floats | Ints, spread: float) -> Floats:
    """Standard error of a port's median: ``sigma`` of one sample, ``count`` samples, ``spread`` of
    healthy ports.
    """
    share = np.asarray(
        MEDIAN_FACTOR * np.asarray(sigma) / np.sqrt(np.maximum(count, 1)), dtype=np.float64
    )
    return np.asarray(np.sqrt(share**2 + spread**2), dtype=np.float64)


def detectable(
    error: float, p: float, practical: float, *, freedom: float = 1e9, power: float = 0.95
) -> float:
    """The slowness that is found with ``power`` where a hypothesis is rejected at ``p``: (z_p +
    z_beta) x error.

    From k >= ((z_p + z_beta) 1.2533 sigma / d)^2 solved for d; never less than what the practical
    threshold lets through (an estimate within ``REACH`` errors of it). ``freedom`` of ``error``: it
    makes Student's t of z_p.
    """
    beyond = quantile(1.0 - power)
    return max(
        (as_student(quantile(p), freedom) + beyond) * error, practical - (REACH - beyond) * error
    )
