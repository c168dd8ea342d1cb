"""Sets of samples that one bad link or switch would slow, and how unlikely it is that chance made them slow.

A set is judged by how many of its samples are slower than a threshold, against the share of such samples in the whole
screen (hypergeometric tail, Fisher's exact test): no assumption about the noise, and contention that hits everybody is
no evidence against anybody. Thresholds and sets are all counted as hypotheses (Bonferroni).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from wireproof.locate.routes_guess import Crossing, Guess, sharing, without_load
from wireproof.model.located import Direction

__all__ = ["Culprit", "best_cover", "log_tail", "name_of", "thresholds"]

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Ints = NDArray[np.int64]

_SHARE = 0.75  # of a set's samples must be slow: a bad link slows all that cross it
_FEWEST = 4
_STEPS = (0.6, 1.0, 1.7, 3.0, 5.0, 8.0, 14.0, 25.0, 45.0)  # thresholds, as multiples of the practical one


@dataclasses.dataclass(frozen=True, kw_only=True)
class Culprit:
    """``leaf`` (index) and ``number`` (of the up-link) as far as the ``kind`` has them; ``log_p`` adjusted for all
    hypotheses; ``hit``: which crossing samples it explains; ``slow`` of them are beyond a threshold, and of all samples
    the share ``usual``. ``slowness``: their median, logarithm, less what sharing of links explains.
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
class _Table:
    """One way to cut the samples into sets: per direction the set of each sample, -1 where it would not show."""

    kind: Literal["link", "spine", "leaf"]
    direction: Direction
    keys: tuple[Ints, ...]
    size: int
    guess: Guess | None


def thresholds(practical: float) -> list[float]:
    """Log slownesses at which samples are counted as slow."""
    return [practical * step for step in _STEPS]


def log_tail(slow: Ints, total: Ints, all_slow: int, all_total: int) -> Floats:
    """log P(X >= slow) of a hypergeometric X: ``total`` of ``all_total`` samples, of which ``all_slow`` are slow.

    0 where no more are slow than expected. The tail is bounded by a geometric series from its first term.
    """
    factorial = np.concatenate(([0.0], np.cumsum(np.log(np.arange(1, all_total + 1)))))

    def choose(n: Ints, k: Ints) -> Floats:
        return np.asarray(factorial[n] - factorial[k] - factorial[n - k], dtype=np.float64)

    more = slow * all_total > total * all_slow
    k, n = np.where(more, slow, 0), np.where(more, total, 0)
    everything, bad = np.int64(all_total), np.int64(all_slow)
    first = choose(n, k) + choose(everything - n, bad - k) - choose(np.full_like(n, everything), np.full_like(n, bad))
    ratio = (bad - k) * (n - k) / ((k + 1.0) * np.maximum(everything - bad - n + k + 1.0, 1.0))
    return np.where(more, np.minimum(0.0, first - np.log1p(-np.minimum(ratio, 0.999))), 0.0)


def _tables(cross: Crossing, guesses: Sequence[Guess]) -> list[_Table]:
    count = len(cross.leaves)
    shared = sharing(cross)
    first, last = np.where(shared.shows_out, cross.out, -1), np.where(shared.shows_into, cross.into, -1)
    tables = [
        _Table("leaf", "tx", (first,), count, None),
        _Table("leaf", "rx", (last,), count, None),
        _Table("leaf", "", (first, last), count, None),
    ]
    for guess in guesses:
        out = np.where(guess.shows_out, cross.out * guess.width + guess.out, -1)
        into = np.where(guess.shows_into, cross.into * guess.width + guess.into, -1)
        size = count * guess.width
        tables += [
            _Table("link", "tx", (out,), size, guess),
            _Table("link", "rx", (into,), size, guess),
            _Table("link", "", (out, into), size, guess),
        ]
        if len(set(cross.up)) == 1 and bool(np.all(guess.exact)):  # number j is the same switch for every leaf
            tables.append(_Table("spine", "", (guess.out,), guess.width, guess))
    return tables


def best_cover(
    cross: Crossing, guesses: Sequence[Guess], residual: Floats, active: Flags, practical: float, refused: set[object]
) -> Culprit | None:
    """The set that chance explains least; None when there is no candidate. ``residual``: log slowness that is not yet
    explained; ``active``: samples that count; ``refused``: (kind, direction, leaf, number, rule) not to be proposed.
    """
    best: Culprit | None = None
    hypotheses = 0
    adjusted = {id(guess): without_load(residual, guess.load, active) for guess in guesses}
    for table in _tables(cross, guesses):
        values = residual if table.guess is None else adjusted[id(table.guess)]
        use = active & np.isfinite(values)
        totals = [_count(key, use, table.size) for key in table.keys]
        enough = np.all([total >= _FEWEST for total in totals], axis=0)
        hypotheses += int(np.sum(enough)) * len(_STEPS)
        for threshold in thresholds(practical):
            beyond = use & (np.nan_to_num(values) > threshold)
            found = _best_of(table, totals, enough, use, beyond, values, refused, best.log_p if best else 0.0)
            best = found or best
    if best is None:
        return None
    return dataclasses.replace(best, log_p=min(0.0, best.log_p + float(np.log(max(1, hypotheses)))))


def _best_of(
    table: _Table, totals: list[Ints], enough: Flags, use: Flags, beyond: Flags, values: Floats, refused: set[object],
    least: float,
) -> Culprit | None:  # fmt: skip
    """The table's least likely set, if it is less likely than ``least`` (log)."""
    all_slow, all_total = int(np.sum(beyond)), int(np.sum(use))
    log_p = np.zeros(table.size)
    fine = enough
    for key, total in zip(table.keys, totals, strict=True):
        slow = _count(key, beyond, table.size)
        fine = fine & (slow >= _SHARE * total)
        log_p += log_tail(np.where(fine, slow, 0), total, all_slow, all_total)
    places = np.nonzero(fine)[0]
    for place in places[np.argsort(log_p[places], kind="stable")].tolist():
        if log_p[place] >= least:
            return None
        found = _culprit(table, place, float(log_p[place]), use, beyond, values)
        if name_of(found) not in refused:
            return found
    return None


def name_of(culprit: Culprit) -> object:
    """What tells a culprit from the others, as ``refused`` has it."""
    rule = culprit.guess.rule if culprit.guess else ""
    return (culprit.kind, culprit.direction, culprit.leaf, culprit.number, rule)


def _count(key: Ints, use: Flags, size: int) -> Ints:
    """Samples of ``use`` in each set."""
    return np.asarray(np.bincount(key[use & (key >= 0)], minlength=size), dtype=np.int64)


def _culprit(table: _Table, place: int, log_p: float, use: Flags, beyond: Flags, values: Floats) -> Culprit:
    hit = np.any([key == place for key in table.keys], axis=0) & use
    width = table.guess.width if table.guess else 1
    leaf, number = (-1, place) if table.kind == "spine" else divmod(place, width)
    return Culprit(
        kind=table.kind, direction=table.direction, leaf=leaf, number=number if table.guess else -1, guess=table.guess,
        log_p=log_p, hit=hit, slow=int(np.sum(hit & beyond)), usual=float(np.sum(beyond) / np.sum(use)),
        slowness=float(np.median(values[hit])),
    )  # fmt: skip
