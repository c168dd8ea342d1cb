"""Medians of groups, fast: a group's members stand in one row of a table, and the rows are sorted
all at once.
"""

import functools

import numpy as np
from numpy.typing import NDArray

from wireproof.locate.samples import Flags, Floats, Indices, Ints

_WASTE = 16  # a table this many times larger than its values is not worth its memory


class Groups:
    """``group``: number of each value's group, 0 to ``count`` - 1. The order is found once, for
    many columns.
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
        """Where each value stands in the table, in the order of ``_order``."""
        own = self.group[self._order].astype(np.intp)
        first = np.cumsum(self._members) - self._members
        return np.asarray(own * self._width + np.arange(own.size) - first[own], dtype=np.intp)

    @functools.cached_property
    def _width(self) -> int:
        return int(self._members.max(initial=0))

    def _sorted(self, values: Floats, use: Flags | None) -> tuple[Floats, Indices, Indices]:
        """(values in the order of groups and size, first place, members) of each group; unused
        values come last.
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
        """(median, members) of each group, over the values of ``use``; NaN where there is none.

        Of two members the faster (smaller): one bad partner of two must not make a port slow.
        ``early``: the lower quartile, as long as it is not known which are bad.
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
        """(best, members): what each group reaches with several partners. The third smallest of
        eight members or more, the second of three or more, else the smallest; NaN where there is
        none.
        """
        ordered, first, members = self._sorted(values, None)
        place = first + np.where(members >= 8, 2, np.where(members >= 3, 1, 0))
        best = np.full(self.count, np.nan)
        best[members > 0] = ordered[place[members > 0]]
        return best, members.astype(np.int32)


def grouped_median(group: NDArray[np.integer], values: Floats, count: int) -> tuple[Floats, Ints]:
    """``Groups.median`` of a grouping that is used once."""
    return Groups(group, count).median(values)


def grouped_best(group: NDArray[np.integer], values: Floats, count: int) -> tuple[Floats, Ints]:
    """``Groups.best`` of a grouping that is used once."""
    return Groups(group, count).best(values)
