"""From launches over each rail and over all to the gain, with its interval. Pure."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from wireproof.analysis.interval import Floats
from wireproof.analysis.repeats import median_draws
from wireproof.model.rail_gain import Span

__all__ = ["Launches", "gain_of", "goodput_of"]

Launches = Sequence[Sequence[float]]
"""Times of one operation (ns) by launch."""


def goodput_of(size: int, launches: Launches, *, seed: int = 0) -> Span:
    """Bytes/s with the interval over the launches. Raises ValueError when nothing was timed."""
    return _span(_rates(size, launches, seed), _centre(size, launches))


def gain_of(size: int, alone: Sequence[Launches], together: Launches) -> tuple[Span, Span]:
    """(all rails against the best one alone, all rails against the sum of all alone)."""
    rates = [_rates(size, one, seed) for seed, one in enumerate(alone, start=1)]
    every = _rates(size, together, 0)
    centres = [_centre(size, one) for one in alone]
    whole = _centre(size, together)
    best = int(np.argmax(centres))  # one rail, chosen once: the largest of each draw is biased up
    gain = _span(every / rates[best], whole / centres[best])
    of_sum = _span(every / np.sum(rates, axis=0), whole / sum(centres))
    return gain, of_sum


def _rates(size: int, launches: Launches, seed: int) -> Floats:
    return np.asarray(size / (median_draws(launches, seed=seed) * 1e-9), dtype=np.float64)


def _centre(size: int, launches: Launches) -> float:
    medians = [float(np.median(np.asarray(one))) for one in launches if len(one)]
    return size / (float(np.median(medians)) * 1e-9)


def _span(draws: Floats, value: float) -> Span:
    low, high = (float(one) for one in np.percentile(draws, (2.5, 97.5)))
    return Span(value=value, low=min(low, value), high=max(high, value))
