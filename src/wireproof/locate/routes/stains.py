"""Find a bad up-link if routing is unknown: about 1 / h of a leaf's samples (h: its up-links) are
slow by the same factor.
"""

import dataclasses
from typing import NamedTuple

import numpy as np

from wireproof.locate.routes.cover import log_tail, thresholds
from wireproof.locate.routes.crossing import Crossing, View
from wireproof.locate.samples import Flags, Floats, Longs
from wireproof.model.located import Direction

_FEWEST = 4
_OF_ONE_NODE = 0.4
_OUTSTANDING = 5.0
_AT_A_TIME = 6
_MATCHED = 0.8
_FLOOR = 0.02
_RARE, _OF_A_LINK = 0.02, 0.25


@dataclasses.dataclass(frozen=True, kw_only=True)
class Stain:
    """``hit`` of the leaf's ``own`` samples are slow by ``slowness`` (log); elsewhere the share
    ``usual`` is that slow.
    """

    leaf: int
    direction: Direction
    hit: Flags
    own: Flags
    slowness: float
    usual: float
    log_p: float


def stains(view: View, values: Floats, active: Flags, log_alpha: float) -> list[Stain]:
    """Return leaves with a stained direction. ``values``: log slowness of the crossing samples;
    ``active``: samples that count.

    A stain differs from contention in three ways. It is beyond chance even if the slow samples of a
    turn count as one event. The leaf stands out from the others. The slow samples are slow by the
    same factor and make up a link's share of all samples.
    """
    use = active & np.isfinite(values)
    ends: tuple[tuple[Direction, Longs], ...] = (("tx", view.cross.out), ("rx", view.cross.into))
    stained = [
        _stain(view, direction, key, values, use, leaf)
        for direction, key in ends
        for leaf in _candidates(view, key, values, use, log_alpha)
    ]
    return sorted((leaf for leaf in stained if leaf), key=lambda leaf: leaf.log_p)


class _StainedLeaf(NamedTuple):
    """A leaf with more samples beyond ``threshold`` than ``usual``."""

    log_p: float
    threshold: float
    usual: float
    leaf: int


def _candidates(
    view: View, key: Longs, values: Floats, use: Flags, log_alpha: float
) -> list[_StainedLeaf]:
    """Return each suspicious leaf with its most likely threshold. ``key``: the leaf of
    each sample.
    """
    count = len(view.cross.leaves)
    total = np.bincount(key[use], minlength=count)
    steps = thresholds(view.practical)[1:]
    suspicious: dict[int, _StainedLeaf] = {}
    for threshold in steps:
        beyond = use & (np.nan_to_num(values) > threshold)
        slow = np.asarray(np.bincount(key[beyond], minlength=count), dtype=np.int64)
        all_slow, all_total = int(np.sum(slow)), int(np.sum(total))
        log_p = log_tail(slow, total, all_slow, all_total) / _clumped(view.cross, key, beyond)
        log_p += np.log(2 * count * len(steps))
        for leaf in np.nonzero((log_p <= log_alpha) & _outstanding(slow, total))[0].tolist():
            stained = _StainedLeaf(float(log_p[leaf]), threshold, all_slow / all_total, leaf)
            suspicious[leaf] = min(suspicious.get(leaf, stained), stained)
    return list(suspicious.values())


def _stain(
    view: View,
    direction: Direction,
    key: Longs,
    values: Floats,
    use: Flags,
    candidate: _StainedLeaf,
) -> Stain | None:
    """Convert a candidate to a stain; None if it looks like contention or like a single node."""
    own = use & (key == candidate.leaf)
    hit = own & (np.nan_to_num(values) > candidate.threshold)
    # If collisions slow as many samples as a bad up-link would, the two cannot be told apart.
    if candidate.usual > max(_RARE, _OF_A_LINK / max(1, len(view.cross.up[candidate.leaf]))):
        return None
    if not _is_one_link(view.cross, candidate.leaf, hit, own):
        return None
    if np.median(values[own & ~hit]) >= view.practical:
        return None
    slowness = _one_factor(values[hit], view.practical, max(3.0 * view.noise, _FLOOR))
    if slowness is None:
        return None
    return Stain(
        leaf=candidate.leaf,
        direction=direction,
        hit=hit,
        own=own,
        slowness=slowness,
        usual=candidate.usual,
        log_p=candidate.log_p,
    )


def _clumped(cross: Crossing, key: Longs, beyond: Flags) -> float:
    """Return how many slow samples coincide in a turn of a leaf, weighted by their number (sum m^2
    / sum m): flows that collide are slow together and count as one event.
    """
    _, together = np.unique(
        cross.turn[beyond] * len(cross.leaves) + key[beyond], return_counts=True
    )
    return float(np.sum(together**2) / np.sum(together)) if together.size else 1.0


def _outstanding(slow: Longs, total: Longs) -> Flags:
    """Flag leaves whose share of slow samples is far above the others, relative to the scatter
    among leaves.
    """
    share = slow / np.maximum(total, 1)
    middle = float(np.median(share))
    scatter = 1.4826 * float(np.median(np.abs(share - middle)))
    return np.asarray(share > middle + _OUTSTANDING * max(scatter, 1e-9), dtype=np.bool_)


def _is_one_link(cross: Crossing, leaf: int, hit: Flags, own: Flags) -> bool:
    """Return whether the slow samples are about a link's share of the leaf's samples, and not
    mostly those of one node.
    """
    width, count = len(cross.up[leaf]), int(np.sum(hit))
    share = count / float(np.sum(own))
    if width < 2 or count < _FEWEST or not 0.3 / width <= share <= 3.0 / width:
        return False
    most = max(int(np.bincount(ends[hit]).max()) for ends in (cross.origin, cross.target))
    return most <= _OF_ONE_NODE * count


def _one_factor(values: Floats, practical: float, width: float) -> float | None:
    """Return the log slowness of a link that slows a lone flow by this factor and two flows at once
    by twice as much. None if less than four fifths of ``values`` are within ``width`` of such a
    step. Of several, take the largest that explains most.
    """
    steps = np.log(np.arange(1, _AT_A_TIME + 1))
    bases = np.unique(np.round((values[:, None] - steps[None, :3]).ravel(), 3))
    bases = bases[bases >= practical]
    if bases.size == 0:
        return None
    distance = np.abs(values[None, :, None] - bases[:, None, None] - steps[None, None, :]).min(
        axis=2
    )
    matched = np.mean(distance <= width, axis=1)
    best = float(matched.max())
    return float(bases[matched >= best - 1e-9].max()) if best >= _MATCHED else None
