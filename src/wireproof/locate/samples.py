"""Samples of a screen as columns: which pair measured in which round, and what came out."""

import dataclasses
import math

import numpy as np
from numpy.typing import NDArray

from wireproof.model.located import Metric

# --- The types of columns.

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Indices = NDArray[np.intp]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Samples:
    """``nodes``: N names. The columns have one length K: ``origin`` and ``target`` are indices into
    ``nodes`` (int32), ``round`` is the number of the round (int32; samples of one round ran at the
    same time), ``value`` is goodput in bytes/s from origin to target, or the half round trip in ns
    (float64, positive, finite).

    ``half_width``: relative half-width of each sample's own interval, NaN where there is none.
    ``when``: s since 1970 (or since the start of a synthetic sweep) at which each sample began; of
    another length where that is not known.
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


# --- Values as slownesses: one scale for goodput (less is slow) and half round trips (more is
# slow).

_MANTISSAS = (10.0, 5.0, 2.5, 2.0, 1.25, 1.0)
_COARSE, _FINE = 0.1, 0.002
_LOOKED_AT = 2000
_MOST = 1e6
_EXACT = 1e-3  # of a step: single precision keeps the multiples of a step of 0.2 % that well


def check(samples: Samples) -> None:
    """Raises ValueError, one sentence: columns of unequal length, nodes that are not there, a node
    with itself, values that are not positive and finite.
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
    """Natural logarithm of each value, turned so that larger is slower."""
    logs = np.log(samples.value)
    return np.asarray(-logs if samples.metric == "goodput" else logs, dtype=np.float64)


def value_of(metric: Metric, slowness: float) -> float:
    """The value, in the metric's unit, of a log slowness."""
    return float(np.exp(-slowness if metric == "goodput" else slowness))


def rounding(values: Floats) -> float:
    """The step that ``values`` were rounded to, relative to their median; 0 when it is below 0.2 %
    or there is none.

    A step is 1, 1.25, 2, 2.5 or 5 times a power of ten (so that MB/s and Gb/s are found in
    bytes/s), or that times 1.048576 (MiB/s). All values are multiples of it, and the closest two
    are one step apart, at most a tenth.
    """
    some = np.unique(values[:: max(1, values.size // _LOOKED_AT)])
    if some.size < 2:
        return 0.0
    step, middle = float(np.min(np.diff(some))), float(some[some.size // 2])
    if not _FINE * middle <= step <= _COARSE * middle or float(some[-1]) > _MOST * step:
        return 0.0
    first = [
        10.0 ** (math.log10(step / unit) % 1.0) / mantissa
        for unit in (1.0, 1.048576)
        for mantissa in _MANTISSAS
    ]
    parts = some / step
    if (
        min(abs(one - 1.0) for one in first) > _EXACT
        or float(np.max(np.abs(parts - np.round(parts)))) > _EXACT
    ):
        return 0.0
    return step / middle
