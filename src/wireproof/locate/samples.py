"""Samples of a screen as columns: which pair was measured in which round, and the result; and the
medians of many groups of them at once.
"""

import dataclasses
import functools
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


# --- Medians of many groups at once: each group fills one row of a table, and all rows are sorted
# together.

_WASTE = 16  # no table if it would be this many times larger than its values


class Groups:
    """``group``: the group number of each value, 0 to ``count`` - 1. The order is computed once and
    reused for many columns.
    """

    def __init__(self, group: NDArray[np.integer], count: int) -> None:
        self.group, self.count = group, count

    @functools.cached_property
    def _members(self) -> Indices:
        return np.bincount(self.group, minlength=self.count)

    @functools.cached_property
    def _order(self) -> Indices:
        return np.argsort(self.group, kind="stable")

    @functools.cached_property
    def _slot(self) -> Indices:
        """Index of each value in the flattened table, in the order of ``_order``."""
        group = self.group[self._order].astype(np.intp)
        first = np.cumsum(self._members) - self._members
        return np.asarray(group * self._width + np.arange(group.size) - first[group], dtype=np.intp)

    @functools.cached_property
    def _width(self) -> int:
        return int(self._members.max(initial=0))

    def _sorted(self, values: Floats, use: Flags | None) -> tuple[Floats, Indices, Indices]:
        """Return (values ordered by group and size, first index of each group, members of each
        group). Unused values come last.
        """
        chosen = values if use is None else np.where(use, values, np.inf)
        members = (
            self._members if use is None else np.bincount(self.group[use], minlength=self.count)
        )
        if self.count * self._width > _WASTE * (values.size + 1024):
            order = np.lexsort((chosen, self.group))
            return chosen[order], np.cumsum(self._members) - self._members, members
        table = np.full(self.count * self._width, np.inf)
        table[self._slot] = chosen[self._order]
        rows = np.sort(table.reshape(self.count, self._width), axis=1)
        return rows.ravel(), np.arange(self.count) * self._width, members

    def median(
        self, values: Floats, use: Flags | None = None, *, early: bool = False
    ) -> tuple[Floats, Ints]:
        """Return (median, members) of each group over the values of ``use``; NaN if a group has
        none.

        For two members the smaller (faster) value is taken, so that one slow partner of two does
        not make a port slow. ``early`` takes the lower quartile, for the time before slow ports are
        known.
        """
        ordered, first, members = self._sorted(values, use)
        above = np.maximum(members - 1, 0)
        lower = first + (above // 4 if early else above // 2)
        upper = lower if early else np.where(members == 2, lower, first + members // 2)
        some = members > 0
        median = np.full(self.count, np.nan)
        median[some] = (ordered[lower[some]] + ordered[upper[some]]) / 2.0
        return median, members.astype(np.int32)

    def best(self, values: Floats) -> tuple[Floats, Ints]:
        """Return (best, members) of each group: the rate that it reaches with several partners. The
        third smallest value of eight or more, the second of three or more, else the smallest; NaN
        if a group has no value.
        """
        ordered, first, members = self._sorted(values, None)
        place = first + np.where(members >= 8, 2, np.where(members >= 3, 1, 0))
        best = np.full(self.count, np.nan)
        best[members > 0] = ordered[place[members > 0]]
        return best, members.astype(np.int32)


def grouped_median(group: NDArray[np.integer], values: Floats, count: int) -> tuple[Floats, Ints]:
    """Call ``Groups.median`` for a grouping that is used once."""
    return Groups(group, count).median(values)


def grouped_best(group: NDArray[np.integer], values: Floats, count: int) -> tuple[Floats, Ints]:
    """Call ``Groups.best`` for a grouping that is used once."""
    return Groups(group, count).best(values)
