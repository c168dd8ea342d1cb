# pure
"""Group pairs by their expected value before any node is blamed: by kind of path (one switch,
across leaves, or a higher level of the fabric) and by NIC speed.
"""

import dataclasses
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from wireproof.locate.samples import Flags, Floats, Groups, Indices, Ints, Samples
from wireproof.locate.screen.effects import Ports, fine_strata, levels_of
from wireproof.locate.significance import robust_scale
from wireproof.model.located import Fabric

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
    first = fabric.leaves if fabric else {}
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

    @cached_property
    def within(self) -> Flags:
        """Flags of the samples whose two nodes are below the same leaf."""
        return np.asarray([name == ONE_SWITCH for name in self.names])[self.tier]

    @cached_property
    def across(self) -> Flags:
        """Flags of the samples between two known leaves."""
        leaf, samples = self.places.leaf, self.samples
        return ~self.within & (leaf[samples.origin] >= 0) & (leaf[samples.target] >= 0)


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


# --- Kinds of NIC, and the strata of pairs of kinds.

# speeds of NICs differ by at least a quarter, like 40 and 50 Gb/s; bad ports usually lose less
_GAP = 0.22
_FEWEST, _SHARE = 4, 0.10
_TIGHT = 0.08
_QUIET = 0.02


@dataclasses.dataclass(frozen=True, kw_only=True)
class Kinds:
    """``kind``: kind of each node, 0 is the fastest. ``count``: number of kinds, 1 if all nodes
    have the same speed.
    """

    kind: Ints
    count: int


def one_kind(count: int) -> Kinds:
    """Return ``count`` nodes of the same speed."""
    return Kinds(kind=np.zeros(count, dtype=np.int32), count=1)


def ports_of(paths: Paths, kinds: Kinds) -> Ports:
    """Build ports and strata: a stratum is a kind of path and the slower end's kind of node."""
    samples, kind, several = paths.samples, kinds.kind, kinds.count
    slower = np.maximum(kind[samples.origin], kind[samples.target])
    return Ports.of(
        samples,
        stratum=(paths.tier * several + slower).astype(np.int32),
        strata=len(paths.names) * several,
        kind=kind,
        family=np.tile(np.arange(several, dtype=np.int32), len(paths.names)),
    )


def kinds_of(samples: Samples, logs: Floats, ports: Ports, places: Places) -> Kinds:
    """Find populations of NICs of different speed by the best value of each node with several
    partners.

    A kind needs at least a tenth of the nodes and at least four, close together and a quarter away
    from the next kind; fewer nodes are faults. A single slow leaf is also a fault (its switch), if
    there are other leaves.
    """
    count = len(samples.nodes)
    if samples.metric != "goodput":
        return one_kind(count)
    best, members = _best_of_nodes(samples, logs, ports)
    measured = int(np.sum(members > 0))
    order = np.argsort(np.where(members > 0, best, np.inf), kind="stable")[:measured]
    cuts = np.nonzero(np.diff(best[order]) > _GAP)[0] + 1
    groups = [group for group in np.split(order, cuts) if _is_kind(group, best, order.size)]
    groups = [group for group in groups if group is groups[0] or not _one_leaf(group, places)]
    if len(groups) < 2:
        return one_kind(count)
    starts = np.asarray([float(np.min(best[group])) for group in groups])
    kind = np.clip(np.searchsorted(starts, best, side="right") - 1, 0, len(groups) - 1)
    return Kinds(kind=np.where(members > 0, kind, 0).astype(np.int32), count=len(groups))


def _best_of_nodes(samples: Samples, logs: Floats, ports: Ports) -> tuple[Floats, Ints]:
    """Return (best, samples) of each node over the kinds of path that reveal a port. If flows
    collide, the few without a collision would look like faster NICs.
    """
    level = levels_of(ports, logs)
    residual = logs - level[ports.stratum]
    scale = [
        max(_QUIET, robust_scale(residual[ports.stratum == number]))
        for number in range(ports.strata)
    ]
    use = fine_strata(level, np.asarray(scale), ports.family)[ports.stratum]
    ends = np.concatenate((samples.origin[use], samples.target[use]))
    return Groups(ends, len(samples.nodes)).best(np.concatenate((residual[use], residual[use])))


def _is_kind(group: Indices, best: Floats, measured: int) -> bool:
    return group.size >= max(_FEWEST, _SHARE * measured) and robust_scale(best[group]) < _TIGHT


def _one_leaf(group: Indices, places: Places) -> bool:
    """Return whether ``group`` consists of about all nodes of one leaf among several."""
    leaves = np.unique(places.leaf[group])
    if not places.known or leaves.size != 1 or leaves[0] < 0 or len(places.leaves) < 2:
        return False
    return bool(np.sum(places.leaf == leaves[0]) <= group.size * 1.25)
