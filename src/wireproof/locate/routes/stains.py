"""A bad up-link under an unknown routing: about 1 / h of a leaf's samples are slow by a factor."""

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
    ``usual`` is.
    """

    leaf: int
    direction: Direction
    hit: Flags
    own: Flags
    slowness: float
    usual: float
    log_p: float


def stains(view: View, values: Floats, active: Flags, log_alpha: float) -> list[Stain]:
    """Leaves with a stained direction. ``values``: log slowness of the crossing samples, ``active``
    those that count.

    A stain differs from contention by three signs: it is beyond chance when samples that are slow
    in one turn count as one event; the leaf stands out from the others; and what is slow is slow by
    one factor, a link's share of all.
    """
    use = active & np.isfinite(values)
    ends: tuple[tuple[Direction, Longs], ...] = (("tx", view.cross.out), ("rx", view.cross.into))
    found = [
        _stain(view, direction, key, values, use, one)
        for direction, key in ends
        for one in _candidates(view, key, values, use, log_alpha)
    ]
    return sorted((one for one in found if one), key=lambda one: one.log_p)


class _StainedLeaf(NamedTuple):
    """A leaf of which more samples are beyond ``threshold`` than ``usual``."""

    log_p: float
    threshold: float
    usual: float
    leaf: int


def _candidates(
    view: View, key: Longs, values: Floats, use: Flags, log_alpha: float
) -> list[_StainedLeaf]:
    """Each suspicious leaf with its likeliest threshold. ``key``: the leaf of each sample."""
    count = len(view.cross.leaves)
    total = np.bincount(key[use], minlength=count)
    steps = thresholds(view.practical)[1:]
    found: dict[int, _StainedLeaf] = {}
    for threshold in steps:
        beyond = use & (np.nan_to_num(values) > threshold)
        slow = np.asarray(np.bincount(key[beyond], minlength=count), dtype=np.int64)
        all_slow, all_total = int(np.sum(slow)), int(np.sum(total))
        log_p = log_tail(slow, total, all_slow, all_total) / _clumped(view.cross, key, beyond)
        log_p += np.log(2 * count * len(steps))
        for leaf in np.nonzero((log_p <= log_alpha) & _outstanding(slow, total))[0].tolist():
            one = _StainedLeaf(float(log_p[leaf]), threshold, all_slow / all_total, leaf)
            found[leaf] = min(found.get(leaf, one), one)
    return list(found.values())


def _stain(
    view: View, direction: Direction, key: Longs, values: Floats, use: Flags, one: _StainedLeaf
) -> Stain | None:
    """The candidate as a stain; None when it looks like contention, or like one node."""
    own = use & (key == one.leaf)
    hit = own & (np.nan_to_num(values) > one.threshold)
    # Where collisions make as many samples slow as a bad up-link would, the two look alike.
    if one.usual > max(_RARE, _OF_A_LINK / max(1, len(view.cross.up[one.leaf]))):
        return None
    if not _is_one_link(view.cross, one.leaf, hit, own):
        return None
    if np.median(values[own & ~hit]) >= view.practical:
        return None
    slowness = _one_factor(values[hit], view.practical, max(3.0 * view.noise, _FLOOR))
    if slowness is None:
        return None
    return Stain(
        leaf=one.leaf,
        direction=direction,
        hit=hit,
        own=own,
        slowness=slowness,
        usual=one.usual,
        log_p=one.log_p,
    )


def _clumped(cross: Crossing, key: Longs, beyond: Flags) -> float:
    """How many slow samples come together in one turn of one leaf (by their own number: sum m^2 /
    sum m): flows that collide are slow together and are one event, not several.
    """
    _, together = np.unique(
        cross.turn[beyond] * len(cross.leaves) + key[beyond], return_counts=True
    )
    return float(np.sum(together**2) / np.sum(together)) if together.size else 1.0


def _outstanding(slow: Longs, total: Longs) -> Flags:
    """Leaves whose share of slow samples is far from that of the others, as these scatter among
    themselves.
    """
    share = slow / np.maximum(total, 1)
    middle = float(np.median(share))
    scatter = 1.4826 * float(np.median(np.abs(share - middle)))
    return np.asarray(share > middle + _OUTSTANDING * max(scatter, 1e-9), dtype=np.bool_)


def _is_one_link(cross: Crossing, leaf: int, hit: Flags, own: Flags) -> bool:
    """About a link's share of the leaf's samples, and not mostly those of one node."""
    width, count = len(cross.up[leaf]), int(np.sum(hit))
    share = count / float(np.sum(own))
    if width < 2 or count < _FEWEST or not 0.3 / width <= share <= 3.0 / width:
        return False
    most = max(int(np.bincount(ends[hit]).max()) for ends in (cross.origin, cross.target))
    return most <= _OF_ONE_NODE * count


def _one_factor(values: Floats, practical: float, width: float) -> float | None:
    """The log slowness of a link that slows by it whoever crosses it alone, and two at a time twice
    as much; None when less than four fifths of ``values`` are within ``width`` of such a step. The
    largest one that explains most.
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
