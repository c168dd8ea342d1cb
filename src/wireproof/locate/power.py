"""What a screen finds, before it is made: the power of k rounds, and the rounds that a power needs.

A port's slowness is the median of its k samples against all ports: its standard error is
sqrt((1.2533 sigma)^2 / k + spread^2) (``significance.median_error``). It becomes a suspect where a
normal deviate above z of ``significance.loose`` says so and the estimate is within ``REACH`` errors
of the practical threshold, the same two tests that ``screen`` makes. Valid for noise that is about
normal and for few slow ports; tails of the noise cost power, which a simulation shows.
"""

from statistics import NormalDist

from wireproof.locate.criteria import LocateCriteria, as_log, as_slowdown
from wireproof.locate.significance import REACH, detectable, loose, median_error, quantile
from wireproof.model.located import Metric

MOST_ROUNDS = 2_000
_DIRECTIONS = 3  # hypotheses of each node: it sends, it receives, it does both slowly
_NORMAL = NormalDist()


def _error(rounds: int, noise: float, spread: float) -> float:
    return float(median_error(noise, float(rounds), spread))


def _p(nodes: int, alpha: float) -> float:
    return loose(_DIRECTIONS * nodes, alpha)


def false_suspects(nodes: int, alpha: float) -> float:
    """Expected number of healthy ports that are measured again."""
    return _DIRECTIONS * nodes * _p(nodes, alpha)


def least_found_by(
    rounds: int, nodes: int, noise: float, power: float, metric: Metric, criteria: LocateCriteria
) -> float:
    """The slowdown of one port that ``rounds`` find with ``power``."""
    error = _error(rounds, noise, criteria.floor)
    practical = as_log(metric, criteria.practical(metric))
    log = detectable(error, _p(nodes, criteria.alpha), practical, power=power)
    return as_slowdown(metric, log)


def found_with(
    rounds: int, nodes: int, slowdown: float, noise: float, metric: Metric, criteria: LocateCriteria
) -> float:
    """Probability that a port with ``slowdown`` is a suspect after ``rounds``."""
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
    """The fewest rounds that find ``slowdown`` with ``power``; None where no number up to
    ``MOST_ROUNDS`` does. Below the practical threshold more rounds may find less: they show better
    that the port is not slow enough.
    """
    wanted = (
        rounds
        for rounds in range(1, MOST_ROUNDS + 1)
        if found_with(rounds, nodes, slowdown, noise, metric, criteria) >= power
    )
    return next(wanted, None)
