"""Compute medians of many groups at once: each group fills one row of a table, and all rows are
sorted together.
"""

import functools

import numpy as np
from numpy.typing import NDArray

from wireproof.locate.samples import Flags, Floats, Indices, Ints

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
