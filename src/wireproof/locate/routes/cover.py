"""Sets of samples that one bad link or switch would slow, and how unlikely it is that chance made
them slow.

A set is judged by how many of its samples are slower than a threshold, against the share of such
samples in the whole screen (hypergeometric tail, Fisher's exact test): no assumption about the
noise, and contention that hits everybody is no evidence against anybody. Thresholds and sets are
all counted as hypotheses (Bonferroni).
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from wireproof.locate.routes.guess import Crossing, Guess, sharing, without_load
from wireproof.model.located import Direction

__all__ = ["Culprit", "best_cover", "cuts", "log_tail", "name_of", "thresholds"]

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Ints = NDArray[np.int64]

_SHARE = 0.75  # of a set's samples must be slow: a bad link slows all that cross it
_FEWEST = 4
# thresholds, as multiples of the practical one
_STEPS = (0.6, 1.0, 1.7, 3.0, 5.0, 8.0, 14.0, 25.0, 45.0)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Culprit:
    """``leaf`` (index) and ``number`` (of the up-link) as far as the ``kind`` has them; ``log_p``
    adjusted for all hypotheses; ``hit``: which crossing samples it explains; ``slow`` of them are
    beyond a threshold, and of all samples the share ``usual``. ``slowness``: their median,
    logarithm, less what sharing of links explains.
    """

    kind: Literal["link", "spine", "leaf"]
    direction: Direction
    leaf: int
    number: int
    guess: Guess | None
    log_p: float
    hit: Flags
    slow: int
    usual: float
    slowness: float


@dataclasses.dataclass(frozen=True)
class _Cut:
    """One way to cut the samples into sets. ``keys``: per direction the set of each sample plus 1,
    0 where it would not show. ``kinds``: (direction, which of ``keys``) of the culprits that the
    sets make.
    """

    kind: Literal["link", "spine", "leaf"]
    keys: tuple[Ints, ...]
    kinds: tuple[tuple[Direction, tuple[int, ...]], ...]
    size: int
    guess: Guess | None


def thresholds(practical: float) -> list[float]:
    """Log slownesses at which samples are counted as slow."""
    return [practical * step for step in _STEPS]


@functools.lru_cache(maxsize=64)
def _log_factorials(most: int) -> Floats:
    """log n! for n from 0 to ``most``."""
    return np.concatenate(([0.0], np.cumsum(np.log(np.arange(1, most + 1)))))


def log_tail(slow: Ints, total: Ints, all_slow: int, all_total: int) -> Floats:
    """log P(X >= slow) of a hypergeometric X: ``total`` of ``all_total`` samples, of which
    ``all_slow`` are slow.

    0 where no more are slow than expected. The tail is bounded by a geometric series from its first
    term.
    """
    factorial = _log_factorials(all_total)

    def choose(n: Ints, k: Ints) -> Floats:
        return np.asarray(factorial[n] - factorial[k] - factorial[n - k], dtype=np.float64)

    more = slow * all_total > total * all_slow
    k, n = np.where(more, slow, 0), np.where(more, total, 0)
    everything, bad = np.int64(all_total), np.int64(all_slow)
    first = (
        choose(n, k)
        + choose(everything - n, bad - k)
        - choose(np.full_like(n, everything), np.full_like(n, bad))
    )
    ratio = (bad - k) * (n - k) / ((k + 1.0) * np.maximum(everything - bad - n + k + 1.0, 1.0))
    return np.where(more, np.minimum(0.0, first - np.log1p(-np.minimum(ratio, 0.999))), 0.0)


_WAYS: tuple[tuple[Direction, tuple[int, ...]], ...] = (("tx", (0,)), ("rx", (1,)), ("", (0, 1)))


def cuts(cross: Crossing, guesses: Sequence[Guess]) -> list[_Cut]:
    """All ways to cut the samples: by leaf, and under each guess by up-link and by spine."""
    count = len(cross.leaves)
    shared = sharing(cross)
    out, into = (
        np.where(shared.shows_out, cross.out + 1, 0),
        np.where(shared.shows_into, cross.into + 1, 0),
    )
    found = [_Cut("leaf", (out, into), _WAYS, count, None)]
    for guess in guesses:
        out = np.where(guess.shows_out, cross.out * guess.width + guess.out + 1, 0)
        into = np.where(guess.shows_into, cross.into * guess.width + guess.into + 1, 0)
        found.append(_Cut("link", (out, into), _WAYS, count * guess.width, guess))
        # number j is the same switch for every leaf
        if len(set(cross.up)) == 1 and bool(np.all(guess.exact)):
            found.append(_Cut("spine", (guess.out + 1,), (("", (0,)),), guess.width, guess))
    return found


def best_cover(
    every: Sequence[_Cut], residual: Floats, active: Flags, practical: float, refused: set[object]
) -> Culprit | None:
    """The set that chance explains least; None when there is no candidate. ``every``: from `cuts`.
    ``residual``: log slowness that is not yet explained; ``active``: samples that count;
    ``refused``: `name_of` what is not proposed.
    """
    best: Culprit | None = None
    hypotheses = 0
    values, last = residual, None
    for cut in every:
        if cut.guess is not last and cut.guess is not None:
            values, last = without_load(residual, cut.guess, active), cut.guess
        use = active & np.isfinite(values)
        totals = [_count(key[use], cut.size) for key in cut.keys]
        enough = [np.all([totals[way] >= _FEWEST for way in ways], axis=0) for _, ways in cut.kinds]
        hypotheses += sum(int(np.sum(some)) for some in enough) * len(_STEPS)
        rows = np.nonzero(use & (np.nan_to_num(values) > practical * _STEPS[0]))[0]
        for threshold in thresholds(practical):
            rows = rows[values[rows] > threshold]
            slow = [_count(key[rows], cut.size) for key in cut.keys]
            for (direction, ways), some in zip(cut.kinds, enough, strict=True):
                pairs = [(slow[way], totals[way]) for way in ways]
                place, log_p = _least(
                    pairs, some, rows.size, int(np.sum(use)), cut, direction, refused
                )
                if place >= 0 and (best is None or log_p < best.log_p):
                    best = _culprit(cut, direction, ways, place, log_p, use, rows, values)
    if best is None:
        return None
    return dataclasses.replace(best, log_p=min(0.0, best.log_p + float(np.log(max(1, hypotheses)))))


def _least(
    pairs: list[tuple[Ints, Ints]],
    enough: Flags,
    all_slow: int,
    all_total: int,
    cut: _Cut,
    direction: Direction,
    refused: set[object],
) -> tuple[int, float]:
    """(set, log p) of the least likely set of which most samples are slow; (-1, 0) when there is
    none.
    """
    fine = enough & np.all([slow >= _SHARE * total for slow, total in pairs], axis=0)
    places = np.nonzero(fine)[0]
    log_p = np.zeros(places.size)
    for slow, total in pairs:
        log_p += log_tail(slow[places], total[places], all_slow, all_total)
    for index in np.argsort(log_p, kind="stable").tolist():
        leaf, number = _place(cut, int(places[index]))
        if (cut.kind, direction, leaf, number, cut.guess.rule if cut.guess else "") not in refused:
            return int(places[index]), float(log_p[index])
    return -1, 0.0


def name_of(culprit: Culprit) -> object:
    """What tells a culprit from the others, as ``refused`` has it."""
    rule = culprit.guess.rule if culprit.guess else ""
    return (culprit.kind, culprit.direction, culprit.leaf, culprit.number, rule)


def _count(keys: Ints, size: int) -> Ints:
    """Samples in each set; key 0 is none."""
    return np.asarray(np.bincount(keys, minlength=size + 1)[1:], dtype=np.int64)


def _place(cut: _Cut, place: int) -> tuple[int, int]:
    """(leaf, number of the up-link), -1 for what the kind does not have."""
    if cut.kind == "spine":
        return -1, place
    leaf, number = divmod(place, cut.guess.width if cut.guess else 1)
    return leaf, number if cut.guess else -1


def _culprit(
    cut: _Cut,
    direction: Direction,
    ways: tuple[int, ...],
    place: int,
    log_p: float,
    use: Flags,
    rows: NDArray[np.intp],
    values: Floats,
) -> Culprit:
    hit = np.any([cut.keys[way] == place + 1 for way in ways], axis=0) & use
    leaf, number = _place(cut, place)
    return Culprit(
        kind=cut.kind,
        direction=direction,
        leaf=leaf,
        number=number,
        guess=cut.guess,
        log_p=log_p,
        hit=hit,
        slow=int(np.sum(hit[rows])),
        usual=float(rows.size / np.sum(use)),
        slowness=float(np.median(values[hit])),
    )
