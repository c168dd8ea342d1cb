"""Group pairs by their expected value before any node is blamed: by kind of path and by
NIC speed.
"""

import dataclasses

import numpy as np

from wireproof.locate.groups import grouped_best
from wireproof.locate.samples import Floats, Indices, Ints, Samples
from wireproof.locate.screen.effects import Ports, fine_strata, levels_of
from wireproof.locate.significance import robust_scale
from wireproof.locate.tiers import Paths, Places

# speeds of NICs differ by at least a quarter, as 40 and 50 Gb/s do; bad ports usually lose less
_GAP = 0.22
_FEWEST, _SHARE = 4, 0.10
_TIGHT = 0.08
_QUIET = 0.02


@dataclasses.dataclass(frozen=True, kw_only=True)
class Kinds:
    """``kind``: of each node, 0 is the fastest. ``count``: number of kinds, 1 if all nodes have the
    same speed.
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
    """Find populations of NICs of different speed by what each node reaches at best with several
    partners.

    A kind needs at least a tenth of the nodes and at least four, close together and a quarter away
    from the next kind; fewer nodes are faults. A single slow leaf is a fault too (its switch), if
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
    """Return (best, samples) of each node over the kinds of path that show a port. If flows
    collide, the few that met no other flow would look like faster NICs.
    """
    level = levels_of(ports, logs)
    residual = logs - level[ports.stratum]
    scale = [
        max(_QUIET, robust_scale(residual[ports.stratum == number]))
        for number in range(ports.strata)
    ]
    use = fine_strata(level, np.asarray(scale), ports.family)[ports.stratum]
    ends = np.concatenate((samples.origin[use], samples.target[use]))
    both = np.concatenate((residual[use], residual[use]))
    return grouped_best(ends, both, len(samples.nodes))


def _is_kind(group: Indices, best: Floats, measured: int) -> bool:
    return group.size >= max(_FEWEST, _SHARE * measured) and robust_scale(best[group]) < _TIGHT


def _one_leaf(group: Indices, places: Places) -> bool:
    """Return whether ``group`` is about all nodes of one leaf among several."""
    leaves = np.unique(places.leaf[group])
    if not places.known or leaves.size != 1 or leaves[0] < 0 or len(places.leaves) < 2:
        return False
    return bool(np.sum(places.leaf == leaves[0]) <= group.size * 1.25)
