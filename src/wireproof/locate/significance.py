# pure
"""Define slowness, the certainty that a culprit requires, and the power of a screen: thresholds,
tail probabilities, family-wise error, the smallest slowdown that a screen can detect.

Sources: Holm (1979) for the family-wise error; Wallace (1959) for Student's t as a normal deviate.
The standard error of a median, sqrt(pi / 2) sigma / sqrt(k), is valid for roughly normal samples.
"""

import dataclasses
import math
from statistics import NormalDist

import numpy as np

from wireproof.locate.samples import Floats, Ints
from wireproof.model.located import Metric

MEDIAN_FACTOR = math.sqrt(math.pi / 2.0)
"""Ratio of the standard error of a median to that of a mean (1.2533)."""

REACH = 3.0
"""An estimate counts as below the practical threshold only if it is more than this many standard
errors below.
"""

_MAD = 1.4826  # sigma of a normal variable / its median absolute deviation
_NORMAL = NormalDist()
_EXACT = 60
_FAR = 37.0  # beyond this deviate the tail underflows a double


def quantile(p: float) -> float:
    """Return the deviate that a normal variable exceeds with probability ``p`` (0 < p < 1)."""
    return -_NORMAL.inv_cdf(min(max(p, 1e-300), 1.0 - 1e-16))


def upper_tail(z: Floats) -> Floats:
    """Return the probability of a normal deviate above ``z``, element by element."""
    tails = [
        0.5 * math.erfc(min(max(value, -_FAR), _FAR) / math.sqrt(2.0))
        for value in z.ravel().tolist()
    ]
    return np.asarray(tails, dtype=np.float64).reshape(z.shape)


def as_normal(t: Floats, freedom: float) -> Floats:
    """Convert Student's t with ``freedom`` degrees of freedom to the normal deviate with the same
    tail probability (Wallace's approximation).
    """
    factor = (8.0 * freedom + 1.0) / (8.0 * freedom + 3.0)
    return np.asarray(
        np.sign(t) * factor * np.sqrt(freedom * np.log1p(t * t / freedom)), dtype=np.float64
    )


def holm(p: Floats, hypotheses: int | None = None) -> Floats:
    """Return Holm's adjusted p-values: rejecting those that are at most alpha keeps the family-wise
    error at alpha.

    ``hypotheses``: size of the family if ``p`` contains only its smallest members.
    """
    count = max(hypotheses or 0, p.size)
    order = np.argsort(p, kind="stable")
    steps = np.maximum(1, count - np.arange(p.size))
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(p[order] * steps)) if p.size else p
    return adjusted


def as_student(z: float, freedom: float) -> float:
    """Convert a normal deviate to Student's t: the inverse of ``as_normal``."""
    factor = (8.0 * freedom + 1.0) / (8.0 * freedom + 3.0)
    return math.sqrt(freedom * math.expm1(min(700.0, (z / factor) ** 2 / freedom)))


def loose(hypotheses: int, alpha: float) -> float:
    """Return the p below which one hypothesis leads to a suspect. A screen may suspect more nodes
    than it may blame: about one false suspect in three sweeps of thousands of nodes.
    """
    return max(alpha / max(1, hypotheses), min(1e-4, 1.0 / max(1, hypotheses)))


def at_least_half(count: int, share: float) -> float:
    """Return the probability that at least half of ``count`` independent samples belong to a kind
    with ``share`` of all samples. If there are two samples, both must belong to it, because the
    faster one counts. Above 60 samples, return Chernoff's bound, exp(-n KL(1/2, q)).
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
    """Return MAD x 1.4826; 0 for an empty sample."""
    return float(_MAD * np.median(np.abs(x - np.median(x)))) if x.size else 0.0


def median_error(sigma: float | Floats, count: float | Floats | Ints, spread: float) -> Floats:
    """Return the standard error of a port's median: ``sigma`` is that of one sample, ``count`` the
    number of samples, ``spread`` the spread of healthy ports.
    """
    share = np.asarray(
        MEDIAN_FACTOR * np.asarray(sigma) / np.sqrt(np.maximum(count, 1)), dtype=np.float64
    )
    return np.asarray(np.sqrt(share**2 + spread**2), dtype=np.float64)


def detectable(
    error: float, p: float, practical: float, *, freedom: float = 1e9, power: float = 0.95
) -> float:
    """Return the log slowness that is detected with ``power`` if a hypothesis is rejected at ``p``:
    (z_p + z_beta) x error.

    This is k >= ((z_p + z_beta) 1.2533 sigma / d)^2 solved for d, and never less than the minimum
    that passes the practical threshold (an estimate within ``REACH`` errors). ``freedom``: degrees
    of freedom of ``error``, which turn z_p into Student's t.
    """
    beyond = quantile(1.0 - power)
    return max(
        (as_student(quantile(p), freedom) + beyond) * error, practical - (REACH - beyond) * error
    )


# --- Thresholds.


@dataclasses.dataclass(frozen=True, kw_only=True)
class LocateCriteria:
    """``alpha``: family-wise error rate of a whole sweep. ``practical_*``: smallest relative
    slowdown that is reported (missing goodput, added time). ``floor``: spread between healthy ports
    that is never reported as a difference.

    Raises ValueError if a share is not between 0 and 1.
    """

    alpha: float = 0.05
    practical_goodput: float = 0.05
    practical_latency: float = 0.10
    floor: float = 0.005

    def __post_init__(self) -> None:
        for name in ("alpha", "practical_goodput", "practical_latency", "floor"):
            value = getattr(self, name)
            if not 0.0 < value < 1.0:
                raise ValueError(f"{name} is {value}: it must be between 0 and 1")

    def practical(self, metric: Metric) -> float:
        """Return the practical threshold of ``metric`` as a relative slowdown."""
        return self.practical_goodput if metric == "goodput" else self.practical_latency


def as_log(metric: Metric, slowdown: float) -> float:
    """Convert a relative slowdown to log slowness (natural logarithm, positive is slow). 0.05 means
    5 % less goodput or 5 % more time.
    """
    return (
        -math.log1p(-min(slowdown, 1.0 - 1e-12))
        if metric == "goodput"
        else math.log1p(max(slowdown, -1.0 + 1e-12))
    )


def as_slowdown(metric: Metric, slowness: float) -> float:
    """Convert log slowness to a relative slowdown: the inverse of ``as_log``."""
    return -math.expm1(-slowness) if metric == "goodput" else math.expm1(min(slowness, 700.0))


# --- The power of k rounds, and the rounds needed for a given power.
#
# The slowness of a port is the median of its k samples over all ports. Its standard error is
# sqrt((1.2533 sigma)^2 / k + spread^2) (``median_error``). A port becomes a suspect if its normal
# deviate exceeds the z of ``loose`` and its estimate is within ``REACH`` errors of the practical
# threshold: the two tests of ``screen``. Valid for roughly normal noise and few slow ports.
# Tails of the noise reduce the power; use a simulation for them.

MOST_ROUNDS = 2_000
_DIRECTIONS = 3  # hypotheses for each node: slow in sending, in receiving, in both


def _error(rounds: int, noise: float, spread: float) -> float:
    return float(median_error(noise, float(rounds), spread))


def _p(nodes: int, alpha: float) -> float:
    return loose(_DIRECTIONS * nodes, alpha)


def false_suspects(nodes: int, alpha: float) -> float:
    """Return the expected number of healthy ports that are measured again."""
    return _DIRECTIONS * nodes * _p(nodes, alpha)


def least_found_by(
    rounds: int, nodes: int, noise: float, power: float, metric: Metric, criteria: LocateCriteria
) -> float:
    """Return the smallest relative slowdown of one port that ``rounds`` rounds detect with
    ``power``.
    """
    error = _error(rounds, noise, criteria.floor)
    practical = as_log(metric, criteria.practical(metric))
    return as_slowdown(metric, detectable(error, _p(nodes, criteria.alpha), practical, power=power))


def found_with(
    rounds: int, nodes: int, slowdown: float, noise: float, metric: Metric, criteria: LocateCriteria
) -> float:
    """Return the probability that a port with ``slowdown`` is a suspect after ``rounds`` rounds."""
    error = _error(rounds, noise, criteria.floor)
    practical = as_log(metric, criteria.practical(metric))
    threshold = max(quantile(_p(nodes, criteria.alpha)) * error, practical - REACH * error)
    return _NORMAL.cdf((as_log(metric, slowdown) - threshold) / error)


def rounds_for(
    nodes: int,
    slowdown: float,
    noise: float,
    power: float,
    metric: Metric,
    criteria: LocateCriteria,
) -> int | None:
    """Return the fewest rounds that detect ``slowdown`` with ``power``, or None if ``MOST_ROUNDS``
    rounds are not enough. Below the practical threshold, more rounds may detect less: they show
    more clearly that the port is not slow enough.
    """
    wanted = (
        rounds
        for rounds in range(1, MOST_ROUNDS + 1)
        if found_with(rounds, nodes, slowdown, noise, metric, criteria) >= power
    )
    return next(wanted, None)
