"""Predict what a screen detects: the power of k rounds, and the rounds needed for a given power.

The slowness of a port is the median of its k samples over all ports. Its standard error is
sqrt((1.2533 sigma)^2 / k + spread^2) (``significance.median_error``). A port becomes a suspect if
its normal deviate exceeds the z of ``significance.loose`` and its estimate is within ``REACH``
errors of the practical threshold: the two tests that ``screen`` makes. Valid for roughly normal
noise and few slow ports. Tails of the noise reduce the power; use a simulation for them.
"""

from statistics import NormalDist

from wireproof.locate.criteria import LocateCriteria, as_log, as_slowdown
from wireproof.locate.significance import REACH, detectable, loose, median_error, quantile
from wireproof.model.located import Metric

MOST_ROUNDS = 2_000
_DIRECTIONS = 3  # hypotheses of each node: slow in sending, in receiving, in both
_NORMAL = NormalDist()


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
    log = detectable(error, _p(nodes, criteria.alpha), practical, power=power)
    return as_slowdown(metric, log)


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
