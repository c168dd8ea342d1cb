"""Values as slownesses: one scale for goodput (less is slow) and half round trips (more is slow)."""

from __future__ import annotations

import math

import numpy as np

from wireproof.locate.samples import Samples
from wireproof.locate.significance import Floats
from wireproof.model.located import Metric

__all__ = ["check", "log_of", "log_slowness", "value_of"]


def check(samples: Samples) -> None:
    """Raises ValueError, one sentence: columns of unequal length, nodes that are not there, a node with itself, values
    that are not positive and finite.
    """
    columns = (samples.origin, samples.target, samples.round, samples.value, samples.half_width)
    if len({column.shape for column in columns}) != 1 or samples.value.ndim != 1:
        raise ValueError("the columns of the samples have different lengths")
    ends = np.concatenate((samples.origin, samples.target))
    if ends.size and not (int(ends.min()) >= 0 and int(ends.max()) < len(samples.nodes)):
        raise ValueError(f"a sample names node number {int(ends.max())}, and there are {len(samples.nodes)} nodes")
    if np.any(samples.origin == samples.target):
        raise ValueError("a sample pairs a node with itself")
    if not np.all(np.isfinite(samples.value) & (samples.value > 0.0)):
        raise ValueError("a sample's value is not positive and finite")


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
