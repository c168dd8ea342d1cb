"""Two nodes: nobody else tells which of them is slow, but one direction can be held against the
other.
"""

from __future__ import annotations

import numpy as np

from wireproof.locate.criteria import Criteria, as_log, as_slowdown
from wireproof.locate.samples import Samples
from wireproof.locate.screen.suspects import Suspect
from wireproof.locate.significance import MEDIAN_FACTOR, REACH, as_normal, upper_tail
from wireproof.locate.slowness import log_slowness

__all__ = ["screen_two"]

_PRIOR_SIGMA, _PRIOR_FREEDOM = 0.02, 8.0


def screen_two(samples: Samples, criteria: Criteria) -> tuple[Suspect | None, float, float]:
    """(the slow direction, or None; log slowness of the faster one; its standard error).

    Half round trips have no direction. Noise: the spread within each direction joined by eight
    imagined samples of 2 %, and the samples' own intervals.
    """
    logs = log_slowness(samples)
    found = []
    for origin in np.unique(samples.origin).tolist():
        own = samples.origin == origin
        widths = samples.half_width[own]
        width = float(np.nanmedian(widths)) / 1.96 if not np.all(np.isnan(widths)) else 0.0
        left = logs[own] - np.median(logs[own])
        square = (float(left @ left) + _PRIOR_FREEDOM * _PRIOR_SIGMA**2) / (
            left.size - 1 + _PRIOR_FREEDOM
        )
        found.append(
            (float(np.median(logs[own])), max(square, width**2) / left.size, origin, left.size)
        )
    found.sort()
    if len(found) < 2 or samples.metric == "hrt":
        return None, float(np.median(logs)), MEDIAN_FACTOR * float(np.sqrt(found[0][1]))
    fast, slow = found[0], found[-1]
    error = MEDIAN_FACTOR * float(np.sqrt(fast[1] + slow[1]))
    level_error = MEDIAN_FACTOR * float(np.sqrt(fast[1]))
    slowness = slow[0] - fast[0]
    z = float(as_normal(np.asarray([slowness / error]), _PRIOR_FREEDOM + fast[3] + slow[3] - 2)[0])
    p = min(1.0, 2.0 * float(upper_tail(np.asarray([z]))[0]))
    if p > criteria.alpha or slowness + REACH * error < as_log(
        "goodput", criteria.practical("goodput")
    ):
        return None, fast[0], level_error
    pair = (samples.nodes[slow[2]], samples.nodes[fast[2]])
    suspect = Suspect(
        kind="pair",
        nodes=pair,
        slowdown=as_slowdown("goodput", slowness),
        z=z,
        p=p,
        error=error,
        expected=fast[0],
    )
    return suspect, fast[0], level_error
