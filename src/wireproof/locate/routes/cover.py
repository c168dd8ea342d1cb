# pure
"""Sets of samples that a single bad link or switch would slow, and the probability that chance made
them slow.

A set is judged by the number of its samples that are slower than a threshold, compared with the
share of slow samples in the whole screen (hypergeometric tail, Fisher's exact test). This assumes
nothing about the noise, and contention that hits all flows is not evidence against a link. Every
threshold and set counts as a hypothesis (Bonferroni).
"""

import dataclasses
import functools
from collections.abc import Iterator, Sequence, Set
from typing import Literal, NamedTuple

import numpy as np

from wireproof.locate.routes.crossing import Crossing, Guess, View, sharing, without_load
from wireproof.locate.samples import Flags, Floats, Indices, Longs
from wireproof.locate.significance import robust_scale
from wireproof.model.located import Direction

Kind = Literal["link", "spine", "leaf", "stain"]
Key = tuple[Kind, Direction, int, int, str]
"""Identity of a culprit: kind, direction, leaf, number, and the rule of the guess."""

_SHARE = 0.75  # minimum share of slow samples in a set: a bad link slows all flows that cross it
_FEWEST = 4
# thresholds as multiples of the practical threshold
_STEPS = (0.6, 1.0, 1.7, 3.0, 5.0, 8.0, 14.0, 25.0, 45.0)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Culprit:
    """``leaf`` (index) and ``number`` (of the up-link) apply as far as the ``kind`` has them.
    ``log_p``: adjusted for all hypotheses. ``hit``: the crossing samples that the culprit explains;
    ``slow`` of them are beyond a threshold, compared with the share ``usual`` of all samples.
    ``slowness``: their median log slowness, less the part that sharing of links explains. A
    ``stain`` is a leaf with one bad up-link of unknown number: ``hit`` of ``total`` samples.
    """

    kind: Kind
    direction: Direction
    leaf: int
    number: int
    guess: Guess | None
    log_p: float
    hit: Flags
    slow: int
    usual: float
    slowness: float
    total: int = 0


@dataclasses.dataclass(frozen=True)
class Cut:
    """A partition of the samples into sets. ``keys``: per direction, the set of each sample plus 1,
    or 0 if a fault would not show in it. ``kinds``: (direction, indices into ``keys``) of the
    culprits that the sets form.
    """

    kind: Kind
    keys: tuple[Longs, ...]
    kinds: tuple[tuple[Direction, tuple[int, ...]], ...]
    size: int
    guess: Guess | None

    @property
    def rule(self) -> str:
        return self.guess.rule if self.guess else ""

    def place(self, number: int) -> tuple[int, int]:
        """Return (leaf, number of the up-link) of a set, -1 for an item that the kind does not
        have."""
        if self.kind == "spine":
            return -1, number
        leaf, link = divmod(number, self.guess.width if self.guess else 1)
        return leaf, link if self.guess else -1


def thresholds(practical: float) -> list[float]:
    """Return the log slownesses above which samples count as slow."""
    return [practical * step for step in _STEPS]


@functools.lru_cache(maxsize=4)
def _log_factorials(most: int) -> Floats:
    """Return log n! for n from 0 to ``most``."""
    return np.concatenate(([0.0], np.cumsum(np.log(np.arange(1, most + 1)))))


def log_tail(slow: Longs, total: Longs, all_slow: int, all_total: int) -> Floats:
    """Return log P(X >= slow) of a hypergeometric X: ``total`` of ``all_total`` samples are drawn,
    of which ``all_slow`` are slow.

    0 if no more samples are slow than expected. The tail is bounded by a geometric series from its
    first term.
    """
    factorial = _log_factorials(all_total)

    def choose(n: Longs, k: Longs) -> Floats:
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


def cuts(cross: Crossing, guesses: Sequence[Guess]) -> list[Cut]:
    """Return all partitions: by leaf, and for each guess by up-link and by spine."""
    count = len(cross.leaves)
    shared = sharing(cross)
    out, into = (
        np.where(shared.shows_out, cross.out + 1, 0),
        np.where(shared.shows_into, cross.into + 1, 0),
    )
    partitions = [Cut("leaf", (out, into), _WAYS, count, None)]
    for guess in guesses:
        out = np.where(guess.shows_out, cross.out * guess.width + guess.out + 1, 0)
        into = np.where(guess.shows_into, cross.into * guess.width + guess.into + 1, 0)
        partitions.append(Cut("link", (out, into), _WAYS, count * guess.width, guess))
        # only then does up-link j lead to the same switch on every leaf
        if len(set(cross.up)) == 1 and bool(np.all(guess.exact)):
            partitions.append(Cut("spine", (guess.out + 1,), (("", (0,)),), guess.width, guess))
    return partitions


def best_cover(
    every: Sequence[Cut], residual: Floats, active: Flags, practical: float, refused: Set[Key]
) -> Culprit | None:
    """Return the set that is least likely slow by chance; None if there is no candidate. ``every``:
    from `cuts`. ``residual``: log slowness not yet explained. ``active``: samples that count.
    ``refused``: `key_of` culprits that must not be proposed.
    """
    best: tuple[_Counts, _Candidate] | None = None
    hypotheses = 0
    values, last = residual, None
    for cut in every:
        if cut.guess is not last and cut.guess is not None:
            values, last = without_load(residual, cut.guess, active), cut.guess
        counts = _counts(cut, values, active & np.isfinite(values))
        hypotheses += counts.hypotheses
        for candidate in counts.candidates(practical, refused):
            if best is None or candidate.log_p < best[1].log_p:
                best = counts, candidate
    return None if best is None else best[0].culprit(best[1], float(np.log(max(1, hypotheses))))


class _Candidate(NamedTuple):
    """Set ``number`` of a cut. ``rows``: samples beyond the threshold."""

    log_p: float
    number: int
    direction: Direction
    keys: tuple[int, ...]
    rows: Indices


@dataclasses.dataclass(frozen=True)
class _Counts:
    """A cut with the samples that count (``use``). ``totals``: for each key, the samples per set.
    ``enough``: for each kind, the sets with enough samples.
    """

    cut: Cut
    values: Floats
    use: Flags
    total: int
    totals: list[Longs]
    enough: list[Flags]

    @property
    def hypotheses(self) -> int:
        return sum(int(np.sum(some)) for some in self.enough) * len(_STEPS)

    def candidates(self, practical: float, refused: Set[Key]) -> Iterator[_Candidate]:
        """Yield, for each threshold and direction, the set that is least likely slow by chance."""
        rows = np.nonzero(self.use & (np.nan_to_num(self.values) > practical * _STEPS[0]))[0]
        for threshold in thresholds(practical):
            rows = rows[self.values[rows] > threshold]
            slow = [_count(key[rows], self.cut.size) for key in self.cut.keys]
            for (direction, keys), enough in zip(self.cut.kinds, self.enough, strict=True):
                pairs = [(slow[key], self.totals[key]) for key in keys]
                fine = enough & np.all([hits >= _SHARE * total for hits, total in pairs], axis=0)
                places = np.nonzero(fine)[0]
                log_p = np.zeros(places.size)
                for hits, total in pairs:
                    log_p += log_tail(hits[places], total[places], rows.size, self.total)
                index = self._first(places, log_p, direction, refused)
                if index >= 0:
                    number = int(places[index])
                    yield _Candidate(float(log_p[index]), number, direction, keys, rows)

    def _first(
        self, places: Indices, log_p: Floats, direction: Direction, refused: Set[Key]
    ) -> int:
        """Return the index of the least likely set that is not refused; -1 if there is none."""
        cut = self.cut
        for index in np.argsort(log_p, kind="stable").tolist():
            leaf, number = cut.place(int(places[index]))
            if (cut.kind, direction, leaf, number, cut.rule) not in refused:
                return int(index)
        return -1

    def culprit(self, candidate: _Candidate, log_hypotheses: float) -> Culprit:
        """Convert a candidate to a culprit, with p adjusted for all hypotheses."""
        members = [self.cut.keys[key] == candidate.number + 1 for key in candidate.keys]
        hit = np.any(members, axis=0) & self.use
        leaf, number = self.cut.place(candidate.number)
        return Culprit(
            kind=self.cut.kind,
            direction=candidate.direction,
            leaf=leaf,
            number=number,
            guess=self.cut.guess,
            log_p=min(0.0, candidate.log_p + log_hypotheses),
            hit=hit,
            slow=int(np.sum(hit[candidate.rows])),
            usual=float(candidate.rows.size / np.sum(self.use)),
            slowness=float(np.median(self.values[hit])),
        )


def _counts(cut: Cut, values: Floats, use: Flags) -> _Counts:
    totals = [_count(key[use], cut.size) for key in cut.keys]
    enough = [np.all([totals[key] >= _FEWEST for key in keys], axis=0) for _, keys in cut.kinds]
    return _Counts(cut, values, use, int(np.sum(use)), totals, enough)


def _count(keys: Longs, size: int) -> Longs:
    """Count the samples in each set; key 0 means no set."""
    return np.asarray(np.bincount(keys, minlength=size + 1)[1:], dtype=np.int64)


def key_of(culprit: Culprit) -> Key:
    """Return the identity of a culprit, as ``refused`` contains it."""
    rule = culprit.guess.rule if culprit.guess else ""
    return culprit.kind, culprit.direction, culprit.leaf, culprit.number, rule


# --- A bad up-link if routing is unknown: about 1 / h of a leaf's samples (h: its up-links) are
# slow by the same factor.

_OF_ONE_NODE = 0.4
_OUTSTANDING = 5.0
_AT_A_TIME = 6
_MATCHED = 0.8
_FLOOR = 0.02
_RARE, _OF_A_LINK = 0.02, 0.25


def stains(view: View, values: Floats, active: Flags, log_alpha: float) -> list[Culprit]:
    """Return leaves with a stained direction. ``values``: log slowness of the crossing samples;
    ``active``: samples that count.

    A stain differs from contention in three ways. It is beyond chance even if the slow samples of a
    turn count as one event. The leaf stands out from the others. The slow samples are slow by the
    same factor, and their number matches a link's share of all samples.
    """
    use = active & np.isfinite(values)
    ends: tuple[tuple[Direction, Longs], ...] = (("tx", view.cross.out), ("rx", view.cross.into))
    stained = [
        _stain(view, direction, key, values, use, leaf)
        for direction, key in ends
        for leaf in _stained_leaves(view, key, values, use, log_alpha)
    ]
    return sorted((leaf for leaf in stained if leaf), key=lambda leaf: leaf.log_p)


class _StainedLeaf(NamedTuple):
    """A leaf with more samples beyond ``threshold`` than ``usual``."""

    log_p: float
    threshold: float
    usual: float
    leaf: int


def _stained_leaves(
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
) -> Culprit | None:
    """Convert a candidate to a culprit; None if it looks like contention or like a single node."""
    own = use & (key == candidate.leaf)
    hit = own & (np.nan_to_num(values) > candidate.threshold)
    # If collisions slow as many samples as a bad up-link would, the two cannot be distinguished.
    if candidate.usual > max(_RARE, _OF_A_LINK / max(1, len(view.cross.up[candidate.leaf]))):
        return None
    if not _is_one_link(view.cross, candidate.leaf, hit, own):
        return None
    if np.median(values[own & ~hit]) >= view.practical:
        return None
    slowness = _one_factor(values[hit], view.practical, max(3.0 * view.noise, _FLOOR))
    if slowness is None:
        return None
    return Culprit(
        kind="stain",
        direction=direction,
        leaf=candidate.leaf,
        number=-1,
        guess=None,
        log_p=candidate.log_p,
        hit=hit,
        slow=int(np.sum(hit)),
        usual=candidate.usual,
        slowness=slowness,
        total=int(np.sum(own)),
    )


def _clumped(cross: Crossing, key: Longs, beyond: Flags) -> float:
    """Return the mean number of slow samples that coincide in a turn of a leaf, weighted by that
    number (sum m^2 / sum m): flows that collide are slow together and count as one event.
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
    scatter = max(robust_scale(share), 1e-9)
    return np.asarray(share > np.median(share) + _OUTSTANDING * scatter, dtype=np.bool_)


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
    step. If there are several steps, return the largest of those that explain most.
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
