"""Samples of a screen as columns: which pair was measured in which round, and the result."""

import dataclasses
import math

import numpy as np
from numpy.typing import NDArray

from wireproof.model.located import Metric

# --- Column types.

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Indices = NDArray[np.intp]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Samples:
    """``nodes`` holds N names. All columns have the same length K: ``origin`` and ``target`` are
    indices into ``nodes`` (int32), ``round`` is the round number (int32; samples of the same round
    ran at the same time), ``value`` is the goodput in bytes/s from origin to target, or the half
    round trip in ns (float64, positive, finite).

    ``half_width``: relative half-width of each sample's interval, NaN if unknown. ``when``: start
    time of each sample in s since 1970 (or since the start of a synthetic sweep); has another
    length than K if times are unknown.
    """

    metric: Metric
    nodes: tuple[str, ...]
    origin: Ints
    target: Ints
    round: Ints
    value: Floats
    half_width: Floats
    when: Floats = dataclasses.field(default_factory=lambda: np.zeros(0))

    def __len__(self) -> int:
        return len(self.value)


# --- Values as slowness: a common scale for goodput (less is slow) and half round trips (more is
# slow).

_MANTISSAS = (10.0, 5.0, 2.5, 2.0, 1.25, 1.0)
_COARSE, _FINE = 0.1, 0.002
_LOOKED_AT = 2000
_MOST = 1e6
_EXACT = 1e-3  # share of a step: single precision resolves multiples of a 0.2 % step that well


def check(samples: Samples) -> None:
    """Raise ValueError with one sentence if columns differ in length, a node index is out of range,
    a node is paired with itself, or a value is not positive and finite.
    """
    columns = (samples.origin, samples.target, samples.round, samples.value, samples.half_width)
    if len({column.shape for column in columns}) != 1 or samples.value.ndim != 1:
        raise ValueError("the columns of the samples have different lengths")
    ends = np.concatenate((samples.origin, samples.target))
    if ends.size and not (int(ends.min()) >= 0 and int(ends.max()) < len(samples.nodes)):
        number, count = int(ends.max()), len(samples.nodes)
        raise ValueError(f"a sample names node number {number}, and there are {count} nodes")
    if np.any(samples.origin == samples.target):
        raise ValueError("a sample pairs a node with itself")
    if not np.all(np.isfinite(samples.value) & (samples.value > 0.0)):
        raise ValueError("a sample's value is not positive and finite")


def log_slowness(samples: Samples) -> Floats:
    """Return the natural logarithm of each value, with the sign that makes larger mean slower."""
    logs = np.log(samples.value)
    return np.asarray(-logs if samples.metric == "goodput" else logs, dtype=np.float64)


def value_of(metric: Metric, slowness: float) -> float:
    """Convert a log slowness to a value in the unit of the metric."""
    return float(np.exp(-slowness if metric == "goodput" else slowness))


def rounding(values: Floats) -> float:
    """Return the step that ``values`` were rounded to, relative to their median; 0 if there is none
    or it is below 0.2 %.

    Steps are 1, 1.25, 2, 2.5 or 5 times a power of ten (so that MB/s and Gb/s are recognized in
    bytes/s), or that times 1.048576 (MiB/s). All values are multiples of the step. The two closest
    values are one step apart, at most a tenth of the median.
    """
    some = np.unique(values[:: max(1, values.size // _LOOKED_AT)])
    if some.size < 2:
        return 0.0
    step, middle = float(np.min(np.diff(some))), float(some[some.size // 2])
    if not _FINE * middle <= step <= _COARSE * middle or float(some[-1]) > _MOST * step:
        return 0.0
    mismatches = [
        10.0 ** (math.log10(step / unit) % 1.0) / mantissa
        for unit in (1.0, 1.048576)
        for mantissa in _MANTISSAS
    ]
    parts = some / step
    if (
        min(abs(mismatch - 1.0) for mismatch in mismatches) > _EXACT
        or float(np.max(np.abs(parts - np.round(parts)))) > _EXACT
    ):
        return 0.0
    return step / middle
