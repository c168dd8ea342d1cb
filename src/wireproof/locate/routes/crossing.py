# pure
"""Select the samples between leaves, and guess the up-link of each flow.

The routing rule of a fabric is unknown, so several are tried. Static routing in fat trees sends all
traffic to a node over the same up-link (D-mod-k, Zahavi, Fat-tree routing and node ordering
providing contention free traffic for MPI global collectives, 2011): the up-link is the number of
the destination mod k.
"""

import dataclasses
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from wireproof.locate.samples import Flags, Floats, Longs, Samples
from wireproof.model import gathered
from wireproof.model.finding import Node, Port, Switch
from wireproof.model.located import Blame, Direction, Fabric, Stage
from wireproof.topology.nodes import positions, uplinks

# --- Leaves whose nodes are all slow: blame the switch.

_WHOLE = 0.75


def whole_leaves(
    blames: Iterable[Blame], fabric: Fabric | None, measured: Iterable[str]
) -> list[Blame]:
    """Replace the blamed nodes of a leaf by its switch if three quarters of its measured nodes (at
    least three) are blamed in the same direction with about the same slowdown. The switch, or its
    up-link side, is the simpler cause.
    """
    joined = list(blames)
    leaf = fabric.leaves if fabric else {}
    sizes = Counter(leaf[node] for node in dict.fromkeys(measured) if node in leaf)
    if len(sizes) < 2:
        return joined
    for (switch, direction), members in _by_leaf(joined, leaf).items():
        middle = float(np.median([blame.slowdown for blame in members]))
        alike = [blame for blame in members if abs(blame.slowdown - middle) <= 0.25 * middle + 0.02]
        if len(alike) >= max(3, _WHOLE * sizes[switch]):
            joined = [blame for blame in joined if blame not in alike]
            joined.append(_joined(switch, direction, alike, middle, sizes[switch]))
    return joined


def _by_leaf(
    blames: Iterable[Blame], leaf: Mapping[str, str]
) -> dict[tuple[str, Direction], list[Blame]]:
    """Map (leaf, direction) to the blamed nodes and ports there."""
    return gathered(
        ((leaf[blame.subject], blame.direction), blame)
        for blame in blames
        if isinstance(blame.about, Node | Port) and blame.subject in leaf
    )


def _joined(
    switch: str, direction: Direction, members: list[Blame], middle: float, size: int
) -> Blame:
    stage: Stage = (
        "confirmed" if any(blame.stage == "confirmed" for blame in members) else "screened"
    )
    return Blame(
        kind="switch",
        subject=switch,
        about=Switch(switch),
        direction=direction,
        metric=members[0].metric,
        slowdown=middle,
        low=float(np.median([blame.low for blame in members])),
        high=float(np.median([blame.high for blame in members])),
        confidence=max(blame.confidence for blame in members),
        stage=stage,
        value=float(np.median([blame.value for blame in members])),
        expected=float(np.median([blame.expected for blame in members])),
        nodes=[blame.subject for blame in members],
        evidence=[
            f"{len(members)} of the {size} measured nodes of {switch} are slow by a similar factor"
        ],
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class Crossing:
    """The samples between leaves. ``rows``: indices of samples. ``out`` and ``into``: indices into
    ``leaves``.

    ``turn``: samples of the same turn ran at the same time. ``up``: for each leaf, the far ends of
    its up-links.
    """

    rows: Longs
    out: Longs
    into: Longs
    origin: Longs
    target: Longs
    turn: Longs
    leaves: tuple[str, ...]
    leaf: Longs
    up: tuple[tuple[str, ...], ...]


@dataclasses.dataclass(frozen=True, kw_only=True)
class View:
    """Input of a search. ``slowness``: log slowness of each sample relative to ``expected`` (in the
    metric's unit), NaN if the sample does not count. ``noise``: relative sigma of one sample.
    ``practical``: smallest slowness that is reported.
    """

    samples: Samples
    cross: Crossing
    slowness: Floats
    expected: Floats
    noise: float
    practical: float

    def median_of(self, chosen: Flags) -> float | None:
        """Return the median log slowness of the ``chosen`` samples; None if fewer than
        two count.
        """
        values = self.slowness[chosen & np.isfinite(self.slowness)]
        return float(np.median(values)) if values.size >= 2 else None

    def inside_leaf(self, number: int) -> float | None:
        """Return the median log slowness within a leaf; None if fewer than two samples show it."""
        leaf = self.cross.leaf
        inside = (leaf[self.samples.origin] == number) & (leaf[self.samples.target] == number)
        return self.median_of(inside)


def crossing(samples: Samples, fabric: Fabric) -> Crossing:
    """Select the samples whose ends are attached to two different known leaves. Samples that do not
    count are included, because they also shared the links.
    """
    first = fabric.leaves
    leaves = tuple(dict.fromkeys(first[node] for node in samples.nodes if node in first))
    number = {name: index for index, name in enumerate(leaves)}
    leaf = np.asarray(
        [number[first[node]] if node in first else -1 for node in samples.nodes], dtype=np.int64
    )
    out, into = leaf[samples.origin], leaf[samples.target]
    rows = np.nonzero((out >= 0) & (into >= 0) & (out != into))[0].astype(np.int64)
    up = uplinks(fabric)
    return Crossing(
        rows=rows,
        out=out[rows],
        into=into[rows],
        origin=samples.origin[rows].astype(np.int64),
        target=samples.target[rows].astype(np.int64),
        turn=_turns(samples, rows),
        leaves=leaves,
        leaf=leaf,
        up=tuple(tuple(up.get(name, ())) for name in leaves),
    )


def _turns(samples: Samples, rows: Longs) -> Longs:
    """Number the parts of rounds in which pairs ran together. The pairs of a round are streamed
    first from the lower to the higher node number, then back.
    """
    origin, target = samples.origin[rows].astype(np.int64), samples.target[rows].astype(np.int64)
    turn = samples.round[rows].astype(np.int64) * 2 + (origin > target)
    sender = turn * len(samples.nodes) + origin
    # a node that sends twice in a turn shows that the samples are a table of pairs without rounds
    if np.unique(sender).size < sender.size:
        return np.arange(rows.size, dtype=np.int64)
    return np.asarray(turn, dtype=np.int64)


# --- Routing rules to try.

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
    up-links. ``load``: number of flows on the fuller of a sample's two links. ``shows_out`` and
    ``shows_into``: true if the fuller link is the first, or the last (perhaps both): a fault on the
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
            ("the destination's position on its leaf", by_place, cross.target),
            ("the source's position on its leaf", by_place, cross.origin),
        ):
            guess = _guess(f"{name} {what}", numbers[end], widths, widths == listed, cross)
            if not any(_same(guess, other) for other in tried):
                tried.append(guess)
    return tried


def _widths(cross: Crossing, listed: Longs) -> list[Longs]:
    """Return the up-links that each leaf may have: as listed, or as many as it has nodes
    (non-blocking).
    """
    usual = max(Counter(cross.leaf[cross.leaf >= 0].tolist()).values(), default=0)
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
    the part that contention explains if the guess is right; if it is wrong, the medians are
    similar. A load with few samples or leaves takes the value of its neighbours; otherwise it would
    hide a slow leaf.
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
    """Return the guess without routing: a leaf's flows share all of its up-links, so only their
    number in a turn matters.
    """
    return _guess(
        "any",
        np.zeros_like(cross.out),
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
