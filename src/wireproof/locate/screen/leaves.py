"""What whole leaves suffer: a leaf that is slow inside itself too, and one that is slow across
leaves only.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from wireproof.locate.groups import grouped_best, grouped_median
from wireproof.locate.samples import Samples
from wireproof.locate.screen.effects import Ports, Start
from wireproof.locate.significance import Floats
from wireproof.locate.tiers import ONE_SWITCH, Places

__all__ = ["leaf_excess", "slow_inside"]

Ints = NDArray[np.int32]
Flags = NDArray[np.bool_]

_FEW_LEAVES = 8  # with more of them, the nodes of one leaf are a minority that medians stand
_LEAF_NODES = 3
_FEWEST_NODES = 2
_LEAF_SHARE = 0.5
_WHOLE = 0.75


@dataclasses.dataclass(frozen=True, kw_only=True)
class _View:
    """The samples with what is asked of them: ``within`` one leaf, ``across`` two known ones."""

    samples: Samples
    logs: Floats
    places: Places
    within: Flags
    across: Flags

    def by_leaf(self, ends: Ints, chosen: Flags) -> tuple[Floats, NDArray[np.intp]]:
        """(median over its nodes of their medians, nodes) of each leaf, by this end of the
        ``chosen`` samples.
        """
        by_node, members = grouped_median(ends[chosen], self.logs[chosen], self.places.leaf.size)
        some = (members > 0) & (self.places.leaf >= 0)
        median, nodes = grouped_median(
            self.places.leaf[some], by_node[some], len(self.places.leaves)
        )
        return median, nodes.astype(np.intp)

    def share_beyond(self, ends: Ints, leaf: int, least: float) -> float:
        """Of the nodes of ``leaf`` at this end, the share that is slower than ``least`` with most
        of the others.
        """
        chosen = self.across & (self.places.leaf[ends] == leaf)
        best, members = grouped_best(ends[chosen], self.logs[chosen], self.places.leaf.size)
        return float(np.mean(best[members > 0] > least)) if np.any(members > 0) else 0.0


def _view(
    samples: Samples, logs: Floats, tier: Ints, names: Sequence[str], places: Places
) -> _View:
    within = np.asarray([name == ONE_SWITCH for name in names])[tier]
    across = (
        ~within & (places.leaf[samples.origin] >= 0) & (places.leaf[samples.target] >= 0)
    ).astype(np.bool_)
    return _View(samples=samples, logs=logs, places=places, within=within, across=across)


def slow_inside(
    samples: Samples,
    logs: Floats,
    ports: Ports,
    tier: Ints,
    names: Sequence[str],
    places: Places,
    threshold: float,
) -> Start | None:
    """Where to start from when a leaf is slow among its own nodes and, by about as much, across:
    None when none is.

    With two leaves its ports are half of all ports, and no median tells which half is bad. But no
    path is faster than the switches it crosses, so the leaf that is fast inside itself says what a
    port reaches, and the slow directions across say which ports of the slow leaf are meant.
    """
    if not places.known or not 1 < len(places.leaves) <= _FEW_LEAVES or samples.metric != "goodput":
        return None
    view = _view(samples, logs, tier, names, places)
    inner, nodes = view.by_leaf(samples.origin, view.within)
    told = np.nonzero(nodes >= _FEWEST_NODES)[0]
    if told.size < 2 or not np.any(view.across):
        return None
    base = float(np.sort(inner[told])[(told.size - 1) // 2])
    bad = np.zeros(ports.count, dtype=np.bool_)
    for leaf in told.tolist():
        excess = float(inner[leaf]) - base
        if excess <= threshold:
            continue
        for ends, first in ((samples.origin, 0), (samples.target, len(samples.nodes))):
            if view.share_beyond(ends, leaf, base + _LEAF_SHARE * excess) >= _WHOLE:
                bad[first + np.nonzero(places.leaf == leaf)[0]] = True
    return Start(bad=bad, level=_levels(view, ports, bad, base)) if np.any(bad) else None


def _levels(view: _View, ports: Ports, bad: Flags, base: float) -> Floats:
    """Of each stratum, the median of the samples that meet no bad port, else what one switch
    reaches.
    """
    clean = ~bad[ports.own] & ~bad[ports.far]
    found, members = grouped_median(ports.stratum[clean], view.logs[clean], ports.strata)
    return np.where(members > 0, found, base)


def leaf_excess(
    samples: Samples,
    residual: Floats,
    tier: Ints,
    names: Sequence[str],
    places: Places,
    threshold: float,
) -> Floats | None:
    """How much slower each sample is because of a whole leaf: most of its nodes are slow across
    leaves, and not within.

    Log slowness, 0 where no leaf is to blame; None when no leaf is. Such a slowness says nothing
    about the nodes. A port that is slow within its own leaf says nothing about the paths across:
    samples that meet one do not count.
    """
    if not places.known or len(places.leaves) < 2:
        return None
    view = _view(samples, residual, tier, names, places)
    sound = (
        view.across
        & _fast_inside(view, samples.origin, threshold)
        & _fast_inside(view, samples.target, threshold)
    )
    excess = np.zeros(len(samples))
    for ends in (samples.origin, samples.target):
        inner, inner_nodes = view.by_leaf(ends, view.within)
        outer, outer_nodes = view.by_leaf(ends, sound)
        known = np.where(inner_nodes >= _LEAF_NODES, inner, 0.0)
        slow = (outer_nodes >= _LEAF_NODES) & (outer > threshold) & ~(known > _LEAF_SHARE * outer)
        level = np.where(slow, outer, 0.0)
        excess[view.across] = np.maximum(excess[view.across], level[places.leaf[ends[view.across]]])
    return excess if bool(np.any(excess > 0.0)) else None


def _fast_inside(view: _View, ends: Ints, threshold: float) -> Flags:
    """Of each sample, whether the port at this end is not known to be slow within its own leaf."""
    median, members = grouped_median(
        ends[view.within], view.logs[view.within], len(view.samples.nodes)
    )
    slow = (members > 0) & (np.nan_to_num(median) > threshold)
    return np.asarray(~slow[ends], dtype=np.bool_)
