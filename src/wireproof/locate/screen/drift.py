"""What all ports suffer together as time goes by: a machine that grows hot, another job that comes.
No node is at fault.
"""

from __future__ import annotations

import numpy as np

from wireproof.locate.arrays import Flags, Floats
from wireproof.locate.samples import Samples
from wireproof.locate.significance import robust_scale

__all__ = ["drift_of"]

_PARTS = 8
_FASTER = 0.25
_QUARTILE_FACTOR = 1.3626  # standard error of a normal variable's quartile over that of its mean
_FEWEST = 12  # samples of a part of the time, to know its median
_SURE = 5.0  # standard errors between the fastest part and the slowest


def drift_of(samples: Samples, residual: Floats, use: Flags, least: float) -> Floats | None:
    """Log slowness of each sample that its time explains, the fastest part of the time 0; None
    where there is none.

    ``residual``: log slowness against paths and ports; ``use``: samples on paths that show a port.
    The time is cut into up to eight parts of as many samples; between their middles the drift is a
    straight line.
    """
    rows = np.nonzero(use)[0]
    parts = min(_PARTS, rows.size // _FEWEST)
    if samples.when.size != len(samples) or parts < 2:
        return None
    rows = rows[np.argsort(samples.when[rows], kind="stable")]
    pieces = np.array_split(rows, parts)
    middle = np.asarray([float(np.median(samples.when[piece])) for piece in pieces])
    # The faster quarter: one node of four that became slow is in half of the samples, and no
    # other became slow.
    level = np.asarray([float(np.quantile(residual[piece], _FASTER)) for piece in pieces])
    noise = float(np.median([robust_scale(residual[piece]) for piece in pieces]))
    # of the difference of two parts
    error = _QUARTILE_FACTOR * noise * (2.0 * parts / rows.size) ** 0.5
    if float(np.ptp(level)) < max(least, _SURE * error):
        return None
    found = np.interp(samples.when, middle, level)
    return np.asarray(found - found.min(), dtype=np.float64)
