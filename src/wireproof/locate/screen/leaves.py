"""What whole leaves suffer: a leaf that is slow inside itself too, and one that is slow across
leaves only.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from wireproof.locate.arrays import Flags, Floats, Indices, Ints
from wireproof.locate.groups import grouped_best, grouped_median
from wireproof.locate.samples import Samples
from wireproof.locate.screen.effects import Ports, Start
from wireproof.locate.tiers import Paths, Places

__all__ = ["leaf_excess", "slow_inside"]


_FEW_LEAVES = 8  # with more of them, the nodes of one leaf are a minority that medians stand
_LEAF_NODES = 3
_FEWEST_NODES = 2
_LEAF_SHARE = 0.5
_WHOLE = 0.75


@dataclasses.dataclass(frozen=True, kw_only=True)
class _View:
    """The samples ``within`` one leaf, and those ``across`` two known ones."""

    samples: Samples
    logs: Floats
    places: Places
    within: Flags
    across: Flags

    def by_leaf(self, ends: Ints, chosen: Flags) -> tuple[Floats, Indices]:
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


def _view(paths: Paths, logs: Floats) -> _View:
    leaf, within = paths.places.leaf, paths.within
    across = ~within & (leaf[paths.samples.origin] >= 0) & (leaf[paths.samples.target] >= 0)
    return _View(
        samples=paths.samples,
        logs=logs,
        places=paths.places,
        within=within,
        across=across.astype(np.bool_),
    )


def slow_inside(paths: Paths, logs: Floats, ports: Ports, threshold: float) -> Start | None:
    """Where to start from when a leaf is slow among its own nodes and, by about as much, across:
    None when none is.

    With two leaves its ports are half of all ports, and no median says which half is bad. But no
    path is faster than the switches it crosses, so the leaf that is fast inside itself says what a
    port reaches, and the slow directions across say which ports of the slow leaf are meant.
    """
    few = paths.places.known and 1 < len(paths.places.leaves) <= _FEW_LEAVES
    if not few or paths.samples.metric != "goodput":
        return None
    view = _view(paths, logs)
    inner, nodes = view.by_leaf(paths.samples.origin, view.within)
    known = np.nonzero(nodes >= _FEWEST_NODES)[0]
    if known.size < 2 or not np.any(view.across):
        return None
    base = float(np.sort(inner[known])[(known.size - 1) // 2])
    bad = np.zeros(ports.count, dtype=np.bool_)
    for leaf in known.tolist():
        excess = float(inner[leaf]) - base
        if excess > threshold:
            bad |= _bad_ports(view, ports, leaf, base + _LEAF_SHARE * excess)
    return Start(bad=bad, level=_levels(view, ports, bad, base)) if np.any(bad) else None


def _bad_ports(view: _View, ports: Ports, leaf: int, least: float) -> Flags:
    """The ports of ``leaf``, of each direction in which most are slower than ``least`` across."""
    bad = np.zeros(ports.count, dtype=np.bool_)
    nodes = np.nonzero(view.places.leaf == leaf)[0]
    for ends, first in ((view.samples.origin, 0), (view.samples.target, len(view.samples.nodes))):
        if view.share_beyond(ends, leaf, least) >= _WHOLE:
            bad[first + nodes] = True
    return bad


def _levels(view: _View, ports: Ports, bad: Flags, base: float) -> Floats:
    """Of each stratum, the median of the samples that meet no bad port, else what one switch
    reaches.
    """
    clean = ~bad[ports.own] & ~bad[ports.far]
    found, members = grouped_median(ports.stratum[clean], view.logs[clean], ports.strata)
    return np.where(members > 0, found, base)


def leaf_excess(paths: Paths, residual: Floats, threshold: float) -> Floats | None:
    """How much slower each sample is because of a whole leaf: most of its nodes are slow across
    leaves, and not within.

    Log slowness, 0 where no leaf is to blame; None when no leaf is. Such a slowness says nothing
    about the nodes. A port that is slow within its own leaf says nothing about the paths across:
    samples that meet one do not count.
    """
    samples, places = paths.samples, paths.places
    if not places.known or len(places.leaves) < 2:
        return None
    view = _view(paths, residual)
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
