"""Which kind of path a pair takes, as far as the fabric says: one switch, across leaves, higher
up.
"""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray

from wireproof.locate.samples import Samples
from wireproof.locate.topology.uplinks import switch_of
from wireproof.model.fabric import Fabric

__all__ = ["ALL", "ONE_SWITCH", "Places", "places_of", "tiers_of"]

Ints = NDArray[np.int32]

ALL, ONE_SWITCH, ACROSS, UNPLACED = "all pairs", "one switch", "across leaves", "place unknown"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Places:
    """``leaf``: of each node, an index into ``leaves``, -1 unknown. ``reach``: of two leaves, the
    level at which their paths meet (1 one switch, 2 and up across leaves); None without a fabric.
    """

    leaf: Ints
    leaves: tuple[str, ...]
    reach: NDArray[np.int16] | None

    @property
    def known(self) -> bool:
        return self.reach is not None


def places_of(nodes: tuple[str, ...], fabric: Fabric | None) -> Places:
    """The places of ``nodes``. A fabric that knows none of them is no fabric."""
    first = switch_of(fabric)
    leaves = tuple(sorted({first[node] for node in nodes if node in first}))
    index = {name: number for number, name in enumerate(leaves)}
    leaf = np.asarray([index.get(first.get(node, ""), -1) for node in nodes], dtype=np.int32)
    if fabric is None or not leaves:
        return Places(leaf=leaf, leaves=(), reach=None)
    return Places(leaf=leaf, leaves=leaves, reach=_meeting_levels(fabric, leaves))


def _meeting_levels(fabric: Fabric, leaves: tuple[str, ...]) -> NDArray[np.int16]:
    """Lowest level with a switch above both leaves; 2 where the cables do not tell. Shape (leaves,
    leaves).
    """
    count = len(leaves)
    levels = np.full((count, count), 2, dtype=np.int16)
    names = sorted(
        {end for cable in fabric.cables for end in (cable.one, cable.other)} | set(leaves)
    )
    index = {name: number for number, name in enumerate(names)}
    below: dict[int, list[int]] = {}
    for cable in fabric.cables:
        ends = sorted((cable.one, cable.other), key=lambda name: (fabric.levels.get(name, 1), name))
        low, high = (fabric.levels.get(name, 1) for name in ends)
        if low < high:
            below.setdefault(index[ends[1]], []).append(index[ends[0]])
    under = np.zeros((len(names), count), dtype=np.float32)
    under[[index[name] for name in leaves], np.arange(count)] = 1.0
    met = np.eye(count, dtype=np.bool_)
    order = sorted(below, key=lambda number: fabric.levels.get(names[number], 1))
    for level in sorted({fabric.levels.get(names[number], 1) for number in order}):
        same = [number for number in order if fabric.levels.get(names[number], 1) == level]
        for number in same:
            under[number] = np.minimum(1.0, under[number] + under[below[number]].sum(axis=0))
        joined = (under[same].T @ under[same]) > 0.0
        levels[joined & ~met] = max(2, min(level, 99))
        met |= joined
    np.fill_diagonal(levels, 1)
    return levels


def tiers_of(samples: Samples, places: Places) -> tuple[Ints, tuple[str, ...]]:
    """(tier of each sample, the tiers' names)."""
    if places.reach is None:
        return np.zeros(len(samples), dtype=np.int32), (ALL,)
    a, b = places.leaf[samples.origin], places.leaf[samples.target]
    level = np.where((a < 0) | (b < 0), 0, places.reach[a, b])
    found, tier = np.unique(level, return_inverse=True)
    several = int(np.unique(places.reach).size) > 2
    names = {0: UNPLACED, 1: ONE_SWITCH}
    label = [
        names.get(one, f"{ACROSS}, by level {one}" if several else ACROSS) for one in found.tolist()
    ]
    return tier.astype(np.int32), tuple(label)
