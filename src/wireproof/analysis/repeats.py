"""Several launches are a factor, not more of the same: a run may sit wholly in one state of the
machine.

Two-level bootstrap (Kalibera and Jones, ISMM'13): launches are drawn with replacement, then samples
inside each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from wireproof.analysis.interval import Floats

__all__ = ["RatioInterval", "Repeated", "effect", "median_draws", "repeated"]

_DRAWS = 2000


@dataclass(frozen=True, slots=True)
class Repeated:
    """Median over launches of the launches' medians, with its 95 % interval; ``spread`` = (max -
    min) / median of them.
    """

    median: float
    low: float
    high: float
    launches: int
    spread: float


@dataclass(frozen=True, slots=True)
class RatioInterval:
    """Ratio B / A with its 95 % interval."""

    ratio: float
    low: float
    high: float


def _groups(launches: Sequence[Sequence[float]]) -> list[Floats]:
    groups = [np.asarray(group, dtype=np.float64) for group in launches if len(group)]
    if not groups:
        raise ValueError("no launch has samples")
    return groups


def _drawn(groups: list[Floats], rng: np.random.Generator) -> Floats:
    """Medians of resampled launches, one row of launches per draw, reduced to their median."""
    chosen = rng.integers(0, len(groups), (_DRAWS, len(groups)))
    medians = np.empty_like(chosen, dtype=np.float64)
    for index, group in enumerate(groups):
        places = np.nonzero(chosen == index)
        if places[0].size:
            samples = rng.integers(0, group.size, (places[0].size, group.size))
            medians[places] = np.median(group[samples], axis=1)
    return np.asarray(np.median(medians, axis=1), dtype=np.float64)


def median_draws(launches: Sequence[Sequence[float]], *, seed: int = 0) -> Floats:
    """Medians that other launches might have given, one for each draw of the bootstrap: what is
    computed of several such has its interval from the draws. Raises ValueError without samples.
    """
    return _drawn(_groups(launches), np.random.default_rng(seed))


def repeated(launches: Sequence[Sequence[float]], *, seed: int = 0) -> Repeated:
    """Combine launches (each a sequence of times). Raises ValueError when none has samples. Same
    seed, same answer.
    """
    groups = _groups(launches)
    centres = [float(np.median(group)) for group in groups]
    middle = float(np.median(centres))
    low, high = np.percentile(_drawn(groups, np.random.default_rng(seed)), (2.5, 97.5))
    spread = (max(centres) - min(centres)) / middle if middle else 0.0
    return Repeated(middle, min(float(low), middle), max(float(high), middle), len(groups), spread)


def effect(
    a: Sequence[Sequence[float]], b: Sequence[Sequence[float]], *, seed: int = 0
) -> RatioInterval:
    """B / A of two settings, each measured in several (interleaved, ABBA) launches; a ratio of
    medians, never a mean of ratios.
    """
    first, second = _groups(a), _groups(b)
    rng = np.random.default_rng(seed)
    ratios = _drawn(second, rng) / _drawn(first, rng)
    low, high = np.percentile(ratios, (2.5, 97.5))
    middle = float(
        np.median([np.median(g) for g in second]) / np.median([np.median(g) for g in first])
    )
    return RatioInterval(middle, min(float(low), middle), max(float(high), middle))
