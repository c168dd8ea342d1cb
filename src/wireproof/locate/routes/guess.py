"""Guess the up-link of each flow: routing rules to try, because the fabric does not tell which rule
it uses.

Static routing in fat trees sends all traffic to a node over the same up-link (D-mod-k, Zahavi,
Fat-tree routing and node ordering providing contention free traffic for MPI global collectives,
2011): up-link = number of the destination mod k.
"""

import dataclasses
from collections import Counter
from collections.abc import Sequence

import numpy as np

from wireproof.locate.routes.crossing import Crossing
from wireproof.locate.samples import Flags, Floats, Longs, Samples
from wireproof.locate.topology.uplinks import positions
from wireproof.model.fabric import Fabric

_MOST_CLASSES = 4096
_MOST_LOAD = 64
_FEWEST_OF_LOAD = 12
_EXPLAINS = 0.9
_DENSE = 16
_SEVERAL = 3


@dataclasses.dataclass(frozen=True, kw_only=True)
class Guess:
    """``rule``: the routing rule in words. ``out`` and ``into``: for each crossing sample, the
    number of the up-link of its first leaf and of the link into its last leaf; ``width``: all
    numbers are below it. ``exact``: for each leaf, whether the numbers are those of its listed
    up-links. ``load``: how many flows share the fuller of a sample's two links. ``shows_out`` and
    ``shows_into``: whether the fuller link is the first or the last (or both): a fault on the
    emptier link may stay hidden. ``widespread``: for each load, whether samples of several leaves
    have it.
    """

    rule: str
    out: Longs
    into: Longs
    width: int
    exact: Flags
    load: Longs
    shows_out: Flags
    shows_into: Flags
    widespread: Flags


def guesses(samples: Samples, fabric: Fabric, cross: Crossing) -> list[Guess]:
    """Return the routing rules to try. Rules that give the same partition appear once."""
    place = positions(fabric)
    listed = np.asarray([len(far_ends) for far_ends in cross.up], dtype=np.int64)
    by_place = np.asarray([place.get(node, 0) for node in samples.nodes], dtype=np.int64)
    by_number = np.arange(len(samples.nodes), dtype=np.int64)
    tried: list[Guess] = []
    for widths in _widths(cross, listed):
        if widths.size == 0 or int(widths.max()) < 2 or int(widths.max()) > _MOST_CLASSES:
            continue
        what = (
            f"mod {int(widths[0])}"
            if bool(np.all(widths == widths[0]))
            else "mod the leaf's up-links"
        )
        for name, numbers, end in (
            ("the destination's number", by_number, cross.target),
            ("the destination's place on its leaf", by_place, cross.target),
            ("the source's place on its leaf", by_place, cross.origin),
        ):
            guess = _guess(f"{name} {what}", numbers[end], widths, widths == listed, cross)
            if not any(_same(guess, other) for other in tried):
                tried.append(guess)
    return tried


def _widths(cross: Crossing, listed: Longs) -> list[Longs]:
    """Return the up-links that each leaf may have: as listed, or as many as it has nodes
    (non-blocking).
    """
    sizes = Counter(cross.leaf[cross.leaf >= 0].tolist())
    usual = max(sizes.values(), default=0)
    return [np.maximum(listed, 1), np.full(len(cross.leaves), usual, dtype=np.int64)]


def _guess(rule: str, number: Longs, widths: Longs, exact: Flags, cross: Crossing) -> Guess:
    out, into = number % widths[cross.out], number % widths[cross.into]
    width = int(widths.max())
    first, last = (
        _load(cross.turn, cross.out * width + out),
        _load(cross.turn, cross.into * width + into),
    )
    load = np.minimum(np.maximum(first, last), _MOST_LOAD)
    widespread = np.minimum(_leaves_of_load(load, cross.out), _leaves_of_load(load, cross.into))
    return Guess(
        rule=rule,
        out=out,
        into=into,
        width=width,
        exact=exact,
        load=load,
        shows_out=first >= last,
        shows_into=last >= first,
        widespread=widespread >= min(_SEVERAL, len(cross.leaves)),
    )


def _leaves_of_load(load: Longs, leaf: Longs) -> Longs:
    """Count, for each load, the leaves with samples of that load."""
    pairs = np.unique(leaf * (_MOST_LOAD + 1) + load)
    return np.asarray(
        np.bincount(pairs % (_MOST_LOAD + 1), minlength=_MOST_LOAD + 1), dtype=np.int64
    )


def _load(turn: Longs, link: Longs) -> Longs:
    """Count the samples that share a link in the same turn, including the sample itself."""
    if turn.size == 0:
        return turn
    key = turn * (int(link.max()) + 1) + link
    # dense numbers of rounds and links need no sort
    if int(key.max()) < _DENSE * key.size + 1000:
        return np.asarray(np.bincount(key)[key], dtype=np.int64)
    _, place, flows = np.unique(key, return_inverse=True, return_counts=True)
    return np.asarray(flows[place], dtype=np.int64)


def _same(first: Guess, second: Guess) -> bool:
    return (
        first.width == second.width
        and np.array_equal(first.out, second.out)
        and np.array_equal(first.into, second.into)
    )


def without_load(residual: Floats, guess: Guess, active: Flags) -> Floats:
    """Subtract from ``residual`` the median of the samples whose link has the same load. That is
    what contention explains if the guess is right; if it is wrong, the medians are alike. A load
    with few samples or leaves takes the value of its neighbours; otherwise it would hide a slow
    leaf.
    """
    load = guess.load
    counts = np.bincount(load[active], minlength=_MOST_LOAD + 1)
    enough = (counts >= max(1, min(_FEWEST_OF_LOAD, int(counts.sum()) // 2))) & guess.widespread
    loads = np.nonzero(enough)[0]
    if loads.size == 0:
        return residual
    medians = [np.median(residual[active & (load == flows)]) for flows in loads.tolist()]
    return np.asarray(
        residual - np.interp(np.arange(_MOST_LOAD + 1), loads, medians)[load], dtype=np.float64
    )


def sharing(cross: Crossing) -> Guess:
    """Return the guess without routing: a leaf's flows share all of its up-links, so that only
    their number in a turn matters.
    """
    none = np.zeros_like(cross.out)
    return _guess(
        "any",
        none,
        np.ones(len(cross.leaves), dtype=np.int64),
        np.zeros(len(cross.leaves), np.bool_),
        cross,
    )


def settled(
    residual: Floats, guesses: Sequence[Guess], active: Flags
) -> tuple[Guess | None, Floats]:
    """Return the guess that explains most of the scatter by sharing of links (at least a tenth),
    with the remaining slowness.

    (None, ``residual``) if no guess does.
    """
    chosen: Guess | None = None
    best = residual
    least = _EXPLAINS * _scatter(residual[active])
    for guess in guesses:
        adjusted = without_load(residual, guess, active)
        known = active & np.isfinite(adjusted)
        if np.sum(known) > 0.8 * np.sum(active) and _scatter(adjusted[known]) < least:
            least, chosen, best = _scatter(adjusted[known]), guess, adjusted
    return chosen, best


def _scatter(values: Floats) -> float:
    return float(np.mean(np.abs(values - np.median(values)))) if values.size else 0.0
