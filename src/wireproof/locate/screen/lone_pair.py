"""Two nodes: no third one shows which of them is slow, but one direction can be compared with the
other.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from wireproof.locate.arrays import Floats
from wireproof.locate.criteria import Criteria, as_log, as_slowdown
from wireproof.locate.samples import Samples
from wireproof.locate.screen.suspects import Suspect
from wireproof.locate.significance import MEDIAN_FACTOR, REACH, as_normal, upper_tail
from wireproof.locate.slowness import log_slowness

__all__ = ["screen_two"]

_PRIOR_SIGMA, _PRIOR_FREEDOM = 0.02, 8.0


class _Direction(NamedTuple):
    """One direction of the pair: its log slowness, the variance of its mean, its ``sender``."""

    slowness: float
    variance: float
    sender: int
    samples: int


def screen_two(samples: Samples, criteria: Criteria) -> tuple[Suspect | None, float, float]:
    """(the slow direction, or None; log slowness of the faster one; its standard error).

    Half round trips have no direction. Noise: the spread within each direction joined by eight
    imagined samples of 2 %, and the samples' own intervals.
    """
    logs = log_slowness(samples)
    found = sorted(_direction(samples, logs, one) for one in np.unique(samples.origin).tolist())
    fast, slow = found[0], found[-1]
    level_error = MEDIAN_FACTOR * float(np.sqrt(fast.variance))
    if len(found) < 2 or samples.metric == "hrt":
        return None, float(np.median(logs)), level_error
    return _suspect(samples, fast, slow, criteria), fast.slowness, level_error


def _direction(samples: Samples, logs: Floats, sender: int) -> _Direction:
    own = samples.origin == sender
    widths = samples.half_width[own]
    width = float(np.nanmedian(widths)) / 1.96 if not np.all(np.isnan(widths)) else 0.0
    left = logs[own] - np.median(logs[own])
    square = float(left @ left) + _PRIOR_FREEDOM * _PRIOR_SIGMA**2
    variance = max(square / (left.size - 1 + _PRIOR_FREEDOM), width**2)
    return _Direction(float(np.median(logs[own])), variance / left.size, sender, left.size)


def _suspect(
    samples: Samples, fast: _Direction, slow: _Direction, criteria: Criteria
) -> Suspect | None:
    """The slow direction, where it is slower than the other beyond chance and by enough."""
    error = MEDIAN_FACTOR * float(np.sqrt(fast.variance + slow.variance))
    slowness = slow.slowness - fast.slowness
    freedom = _PRIOR_FREEDOM + fast.samples + slow.samples - 2
    z = float(as_normal(np.asarray([slowness / error]), freedom)[0])
    p = min(1.0, 2.0 * float(upper_tail(np.asarray([z]))[0]))
    practical = as_log("goodput", criteria.practical("goodput"))
    if p > criteria.alpha or slowness + REACH * error < practical:
        return None
    return Suspect(
        kind="pair",
        nodes=(samples.nodes[slow.sender], samples.nodes[fast.sender]),
        slowdown=as_slowdown("goodput", slowness),
        z=z,
        p=p,
        error=error,
        expected=fast.slowness,
    )
