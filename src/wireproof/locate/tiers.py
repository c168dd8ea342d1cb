"""Classify the path of a pair by the fabric: one switch, across leaves, or a higher level."""

import dataclasses

import numpy as np
from numpy.typing import NDArray

from wireproof.locate.samples import Flags, Ints, Samples
from wireproof.locate.topology.uplinks import switch_of
from wireproof.model.fabric import Fabric

ALL, ONE_SWITCH, ACROSS, UNPLACED = "all pairs", "one switch", "across leaves", "place unknown"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Places:
    """``leaf``: for each node, an index into ``leaves``, -1 if unknown. ``reach``: for two leaves,
    the level at which their paths meet (1: one switch, 2 and up: across leaves); None without a
    fabric.
    """

    leaf: Ints
    leaves: tuple[str, ...]
    reach: NDArray[np.int16] | None

    @property
    def known(self) -> bool:
        return self.reach is not None


def places_of(nodes: tuple[str, ...], fabric: Fabric | None) -> Places:
    """Return the places of ``nodes``. A fabric that contains none of them counts as no fabric."""
    first = switch_of(fabric)
    leaves = tuple(sorted({first[node] for node in nodes if node in first}))
    index = {name: number for number, name in enumerate(leaves)}
    leaf = np.asarray([index.get(first.get(node, ""), -1) for node in nodes], dtype=np.int32)
    if fabric is None or not leaves:
        return Places(leaf=leaf, leaves=(), reach=None)
    return Places(leaf=leaf, leaves=leaves, reach=_meeting_levels(fabric, leaves))


def _meeting_levels(fabric: Fabric, leaves: tuple[str, ...]) -> NDArray[np.int16]:
    """Return the lowest level with a switch above both leaves, shape (leaves, leaves); 2 if the
    cables do not show it.
    """
    count = len(leaves)
    levels = np.full((count, count), 2, dtype=np.int16)
    names = {end for cable in fabric.cables for end in (cable.one, cable.other)} | set(leaves)
    index = {name: number for number, name in enumerate(sorted(names))}
    under = np.zeros((len(index), count), dtype=np.float32)
    under[[index[name] for name in leaves], np.arange(count)] = 1.0
    met = np.eye(count, dtype=np.bool_)
    for level, switches in sorted(_switches_above(fabric).items()):
        indices = [index[name] for name in switches]
        for name, number in zip(switches, indices, strict=True):
            below = under[[index[lower] for lower in switches[name]]].sum(axis=0)
            under[number] = np.minimum(1.0, under[number] + below)
        joined = (under[indices].T @ under[indices]) > 0.0
        levels[joined & ~met] = max(2, min(level, 99))
        met |= joined
    np.fill_diagonal(levels, 1)
    return levels


def _switches_above(fabric: Fabric) -> dict[int, dict[str, list[str]]]:
    """Map each level to its switches, and each switch to the lower switches cabled to it."""
    above: dict[int, dict[str, list[str]]] = {}
    for cable in fabric.cables:
        low, high = sorted((fabric.levels.get(name, 1), name) for name in (cable.one, cable.other))
        if low[0] < high[0]:
            above.setdefault(high[0], {}).setdefault(high[1], []).append(low[1])
    return above


@dataclasses.dataclass(frozen=True, kw_only=True)
class Paths:
    """The kind of path of each sample: ``tier`` is an index into ``names``."""

    samples: Samples
    places: Places
    tier: Ints
    names: tuple[str, ...]

    @property
    def within(self) -> Flags:
        """Flags of the samples whose two nodes are below the same leaf."""
        return np.asarray([name == ONE_SWITCH for name in self.names])[self.tier]


def paths_of(samples: Samples, places: Places) -> Paths:
    """Return the kinds of path that ``samples`` take."""
    tier, names = tiers_of(samples, places)
    return Paths(samples=samples, places=places, tier=tier, names=names)


def tiers_of(samples: Samples, places: Places) -> tuple[Ints, tuple[str, ...]]:
    """Return (tier of each sample, names of the tiers)."""
    if places.reach is None:
        return np.zeros(len(samples), dtype=np.int32), (ALL,)
    a, b = places.leaf[samples.origin], places.leaf[samples.target]
    level = np.where((a < 0) | (b < 0), 0, places.reach[a, b])
    levels, tier = np.unique(level, return_inverse=True)
    several = int(np.unique(places.reach).size) > 2
    names = {0: UNPLACED, 1: ONE_SWITCH}
    label = [
        names.get(number, f"{ACROSS}, by level {number}" if several else ACROSS)
        for number in levels.tolist()
    ]
    return tier.astype(np.int32), tuple(label)
