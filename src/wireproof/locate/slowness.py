"""Values as slownesses: one scale for goodput (less is slow) and half round trips (more is slow)."""

from __future__ import annotations

import math

import numpy as np

from wireproof.locate.samples import Samples
from wireproof.locate.significance import Floats
from wireproof.model.located import Metric

__all__ = ["log_of", "log_slowness", "value_of"]


def log_slowness(samples: Samples) -> Floats:
    """Natural logarithm of each value, turned so that larger is slower."""
    logs = np.log(samples.value)
    return np.asarray(-logs if samples.metric == "goodput" else logs, dtype=np.float64)


def log_of(metric: Metric, value: float) -> float:
    """The log slowness of one value."""
    return math.log(value) * (-1.0 if metric == "goodput" else 1.0)


def value_of(metric: Metric, slowness: float) -> float:
    """The value, in the metric's unit, of a log slowness."""
    return float(np.exp(-slowness if metric == "goodput" else slowness))
