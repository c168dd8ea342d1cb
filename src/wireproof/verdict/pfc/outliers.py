"""Who pauses its switch far more than all others do: the slow receiver. Pure.

Pause frames span many powers of ten, so their logarithms are compared: robust centre (median) and
scale (MAD), Holm over all ports (``locate.significance``), and ten times the median at least.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from wireproof.locate.significance import holm, robust_scale, upper_tail

__all__ = ["slow_receivers"]

_TIMES = 10.0
_LEAST_SCALE = 0.25
"""Of log10: healthy hosts differ by a factor of almost two."""
_ALPHA = 1e-3


def slow_receivers(frames: Sequence[int]) -> list[int]:
    """Indices of the ports that sent far more pause frames than the others; needs two at least.

    Between two ports the other one is the measure; of three and more, the median.
    """
    if len(frames) < 2:
        return []
    logs = np.log10(1.0 + np.asarray(frames, dtype=np.float64))
    centre = float(np.min(logs)) if len(frames) == 2 else float(np.median(logs))
    scale = max(_LEAST_SCALE, robust_scale(logs) if len(frames) > 3 else 0.0)
    excess = logs - centre
    p = holm(upper_tail(excess / scale))
    return [
        index
        for index, count in enumerate(frames)
        if count and excess[index] >= math.log10(_TIMES) and p[index] <= _ALPHA
    ]
