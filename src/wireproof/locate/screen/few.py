# pure
"""Find culprits in a table of few nodes from its rows alone, without further measurements.

Every node, port and pair is a set of rows. Student's t compares the mean log slowness of each set
with that of all other rows of its stratum; it is exact for independent normal noise of equal size.
Two estimates of the noise are used: the residuals of the rows, and, for tables that leave fewer
than eight degrees of freedom, these combined with imaginary rows of 5 % noise. A set is blamed if
either test rejects at alpha after Bonferroni's correction for both tests and all sets. Up to ten
times alpha it is reported as undecided; ``detectable`` is the slowdown that is reported in either
way. The set that explains the most is blamed first. Its rows then form a stratum, and the search
continues among the other rows. If no set passes, the apparent noise may be a second slow node:
every two nodes or ports are tried, each without the rows of the other, with the correction for all
of them. Sets that explain the rows nearly as well (likelihood ratio below 100) are candidates.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from wireproof.locate.blame import SlownessEstimate, blame_of
from wireproof.locate.samples import Flags, Floats, Longs, Samples, log_slowness
from wireproof.locate.screen.screened import Screened
from wireproof.locate.screen.strata import paths_of, ports_of
from wireproof.locate.significance import (
    REACH,
    as_log,
    as_normal,
    as_slowdown,
    as_student,
    quantile,
    upper_tail,
)
from wireproof.model.finding import Both, Node, Port, Route, Subject, nodes_of
from wireproof.model.located import Blame, Located, Metric
from wireproof.model.quantity import percent

MOST_NODES = 64
"""Larger tables have enough rows for the tests of the screen."""
_ALPHA, _DOUBT = 0.001, 0.01  # for a culprit; for a suspect that must be measured again first
_SIGMA, _FREEDOM = 0.05, 8  # of the imaginary rows
_PAIR_TIMES = 3.0  # multiple of the practical threshold: a single row of a pair may be noise
_STANDS_OUT = 2.0  # times the slowness of the next row; tails of the noise leave smaller gaps
_MOST_CULPRITS, _MOST_NAMED = 16, 12
_NOTHING = 1e-9
_TOLD_APART = 2.0 * np.log(100.0)  # twice the log likelihood ratio


def by_rows(screened: Screened) -> tuple[Located, list[str]]:
    """Return the result of ``screened`` for a table, with culprits and power from the rows alone,
    plus sentences about rows that are suspicious but not conclusive.

    Culprits that need a topology (links, switches) come from the screen. If it found such culprits,
    or if there are fewer than three or more than ``MOST_NODES`` nodes, its result stands.
    """
    located = screened.located
    if not 3 <= located.measured <= MOST_NODES or len(screened.samples) < 3:
        return located, []
    if any(blame.kind in ("link", "switch") for blame in located.blames):
        return located, []
    search = _FewSearch(screened)
    # Temporary slowness shows only over rounds, which the screen examines.
    blames = search.culprits() or (located.blames if located.rounds > 1 else [])
    result = msgspec.structs.replace(
        located,
        alpha=_ALPHA,
        noise=search.sigma,
        blames=blames,
        detectable=search.detectable(),
    )
    return result, search.undecided


@dataclasses.dataclass(frozen=True)
class _Sets:
    """``about``: the subject of each set; ``rows``: its rows. ``member`` and ``row`` have one entry
    for every row of every set.
    """

    about: tuple[Subject, ...]
    rows: tuple[tuple[int, ...], ...]
    member: Longs
    row: Longs

    @classmethod
    def of(cls, samples: Samples) -> _Sets:
        index: dict[Subject, list[int]] = {}
        ends = zip(samples.origin.tolist(), samples.target.tolist(), strict=True)
        for row, (origin, target) in enumerate(ends):
            for subject in _subjects(samples.metric, samples.nodes[origin], samples.nodes[target]):
                index.setdefault(subject, []).append(row)
        # Narrow claims come first: a pair, then a port, then a whole node.
        about = sorted(index, key=lambda subject_key: (_RANK[type(subject_key)], str(subject_key)))
        rows = tuple(tuple(index[subject_key]) for subject_key in about)
        member = np.repeat(np.arange(len(about)), [len(of_set) for of_set in rows])
        return cls(tuple(about), rows, member, np.asarray([at for of_set in rows for at in of_set]))

    @property
    def distinct(self) -> int:
        """The number of different hypotheses."""
        return len(set(self.rows))


_RANK: dict[type[Subject], int] = {Route: 0, Both: 1, Port: 2, Node: 3}


def _subjects(metric: Metric, origin: str, target: str) -> list[Subject]:
    """Return every subject that can be blamed for a row."""
    first, second = sorted((origin, target))
    subjects: list[Subject] = [Both(first, second), Node(origin), Node(target)]
    if metric == "goodput":
        subjects += [Route(origin, target), Port(origin, "tx"), Port(target, "rx")]
    return subjects


@dataclasses.dataclass(frozen=True)
class _Look:
    """Compares ``some`` rows of every set with the others of their strata; NaN for sets that cannot
    be compared. ``slow``: log slowness beyond the others. ``factor``: its standard error relative
    to that of a row. ``gain``: the reduction of the sum of squares ``total`` by the set.
    ``freedom``: degrees of freedom left.
    """

    slow: Floats
    factor: Floats
    gain: Floats
    total: float
    freedom: int

    @classmethod
    def at(cls, logs: Floats, stratum: Longs, sets: _Sets, some: Flags) -> _Look:
        size = np.bincount(stratum)
        left = logs - (np.bincount(stratum, logs) / np.maximum(size, 1))[stratum]
        count, strata = len(sets.about), size.size
        member, row = sets.member[some], sets.row[some]
        beyond = np.bincount(member, left[row], count)
        cells = np.bincount(member * strata + stratum[row], minlength=count * strata)
        weight = _weight(cells.reshape(count, strata), size)
        return cls(
            slow=beyond / weight,
            factor=1.0 / np.sqrt(weight),
            gain=np.where(beyond > 0.0, beyond**2 / weight, np.nan),
            total=float(left @ left),
            freedom=logs.size - int(np.sum(size > 0)) - 1,
        )

    def squares(self, number: int) -> float:
        """Return the sum of squares that set ``number`` leaves."""
        return max(0.0, self.total - float(self.gain[number]))


def _weight(cells: NDArray[np.integer], size: NDArray[np.integer]) -> Floats:
    """Return the sum of squares of each set's indicator within the strata; NaN if the set is a
    whole stratum.
    """
    weight = (cells - cells**2 / np.maximum(size, 1)).sum(axis=1)
    return np.where(weight > _NOTHING, weight, np.nan)


class _Noise(NamedTuple):
    """``sigma`` of a row with its ``freedom``; ``tried``: number of such estimates tested."""

    sigma: float
    freedom: int
    tried: int


def _noises(squares: float, freedom: int) -> list[_Noise]:
    lacking = max(0, _FREEDOM - freedom)
    joined = np.sqrt((squares + lacking * _SIGMA**2) / (freedom + lacking))
    if not lacking:
        return [_Noise(float(joined), freedom, 1)]
    alone = [_Noise(float(np.sqrt(squares / freedom)), freedom, 2)] if freedom > 0 else []
    return [*alone, _Noise(float(joined), _FREEDOM, 1 + len(alone))]


def _deviance(squares: float, least: float, freedom: int) -> float:
    """Return twice the log likelihood ratio of sets that leave ``least`` to sets that leave
    ``squares``.
    """
    lacking = max(0, _FREEDOM - freedom)
    prior = lacking * _SIGMA**2 + _NOTHING
    return (freedom + lacking) * float(np.log((prior + squares) / (prior + least)))


class _FewSearch:
    """Search for one culprit after another."""

    def __init__(self, screened: Screened) -> None:
        self.samples, self.criteria = screened.samples, screened.criteria
        self.practical = as_log(self.samples.metric, screened.located.practical)
        self.logs = log_slowness(self.samples)
        self.sets = _Sets.of(self.samples)
        # Rows are compared within one kind of path and of NIC.
        paths = paths_of(self.samples, screened.places)
        self._strata = ports_of(paths, screened.kinds).stratum.astype(np.int64)
        self.found: dict[int, Blame] = {}
        self.undecided: list[str] = []

    def culprits(self) -> list[Blame]:
        """Return the culprits, the clearest first. None is a single row beside others, or hardly
        slower than the next row: a tail of the noise looks alike.
        """
        while len(self.found) < _MOST_CULPRITS and (best := self._best(look := self._look())) >= 0:
            estimate = self._estimate(look, best, _ALPHA)
            more = {best: self._blame(look, best, estimate)} if estimate else self._two()
            if not more:
                if not self.found and (estimate := self._estimate(look, best, _DOUBT)):
                    self.undecided.append(
                        f"perhaps {_words(self.sets.about[best])}: at most {percent(estimate.p)} of"
                        " healthy tables show as much; measure it again"
                    )
                break
            self.found |= more
        lone = [number for number in self.found if len(self.sets.rows[number]) == 1]
        if len(lone) > 1 or not all(map(self._stands_out, lone)):
            self.undecided.append(_scattered([self.found.pop(number).subject for number in lone]))
        return list(self.found.values())

    def _stands_out(self, number: int) -> bool:
        """Return whether a single row is twice as slow as all rows that are not explained."""
        (row,) = self.sets.rows[number]
        known = [row for culprit in self.found for row in self.sets.rows[culprit]]
        rest = np.delete(self.logs, known)[np.delete(self._strata, known) == self._strata[row]]
        beyond = np.append(rest, self.logs[row]) - np.median(rest) if rest.size else [1.0]
        return bool(beyond[-1] >= _STANDS_OUT * max(beyond[:-1], default=0.0))

    def _two(self) -> dict[int, Blame]:
        """Return two nodes or ports that are slow at the same time. Return none if this may be
        chance, if two others explain the rows about as well, or if they are half of all nodes,
        because then the other half may differ. Rows that scatter by at most 5 % cannot hide two
        nodes.
        """
        if self.sigma <= _SIGMA:
            return {}
        looks = {
            number: self._look(number)
            for number, about in enumerate(self.sets.about)
            if isinstance(about, Port | Node) and not self._is_explained(number)
        }
        tried = sorted(
            (look.squares(other), number, other)
            for number, look in looks.items()
            for other in looks
            if look.gain[other] > 0.0
        )
        if not tried or not self._is_clear(tried, looks[tried[0][1]].freedom):
            return {}
        _, one, other = tried[0]
        found = {}
        for number, beside in ((one, other), (other, one)):
            estimate = self._estimate(looks[beside], number, _ALPHA / len(looks))
            if estimate is None:
                return {}
            found[number] = self._blame(looks[beside], number, estimate)
        return found

    def _is_clear(self, tried: Sequence[tuple[float, int, int]], freedom: int) -> bool:
        """Return whether the first of ``tried`` leaves most nodes healthy, and no two without a
        member of it explain the rows about as well.
        """
        (squares, *two), rows = tried[0], self.sets.rows
        nodes = {name for number in two for name in nodes_of(self.sets.about[number])}
        rivals = (pair for left, *pair in tried if _deviance(left, squares, freedom) < _TOLD_APART)
        known = {rows[number] for number in two}
        return 2 * len(nodes) < len(self.samples.nodes) and all(
            known & {rows[number] for number in pair} for pair in rivals
        )

    def _look(self, *more: int) -> _Look:
        """Compare all sets; the rows of each culprit, and of ``more``, form separate strata and do
        not count for any other set: a row is as slow as the slowest part of its path.
        """
        stratum, left = self._strata, np.ones(self.logs.size, dtype=np.bool_)
        for number in (*self.found, *more):
            rows = list(self.sets.rows[number])
            apart = stratum.copy()
            apart[rows] += int(stratum.max()) + 1
            left[rows] = False
            stratum = np.unique(apart, return_inverse=True)[1].astype(np.int64)
        return _Look.at(self.logs, stratum, self.sets, left[self.sets.row])

    def _is_explained(self, number: int) -> bool:
        rows = set(self.sets.rows[number])
        return any(rows <= set(self.sets.rows[culprit]) for culprit in self.found)

    def _best(self, look: _Look) -> int:
        """Return the set that explains the most, -1 if there is none; among equal sets, the
        narrowest claim.
        """
        gain = np.asarray(
            [
                0.0 if self._is_explained(number) else explains
                for number, explains in enumerate(np.nan_to_num(look.gain).tolist())
            ]
        )
        return int(np.argmax(gain >= gain.max() * (1.0 - _NOTHING))) if gain.max() > 0.0 else -1

    def _estimate(self, look: _Look, number: int, alpha: float) -> SlownessEstimate | None:
        """Return the slowness of a set; None if it may be chance or is too small to matter."""
        slow, factor = float(look.slow[number]), float(look.factor[number])
        tests = []
        for noise in _noises(look.squares(number), look.freedom):
            error = float(np.hypot(noise.sigma * factor, self.criteria.floor))
            z = as_normal(np.asarray([slow / error]), noise.freedom)
            tests.append((noise.tried * self.sets.distinct * float(upper_tail(z)[0]), error))
        p, error = min(tests)
        is_pair = isinstance(self.sets.about[number], Route | Both)
        reach, times = (0.0, _PAIR_TIMES) if is_pair else (REACH, 1.0)
        if p > alpha or slow + reach * error < times * self.practical:
            return None
        expected = float(np.mean(self.logs[list(self.sets.rows[number])])) - slow
        return SlownessEstimate(slowness=slow, error=error, p=p, expected=expected)

    def _blame(self, look: _Look, number: int, estimate: SlownessEstimate) -> Blame:
        about = self.sets.about[number]
        others, share = self._others(look, number)
        evidence = (
            [f"these rows cannot distinguish it from: {', or '.join(others)}"] if others else []
        )
        if len(self.sets.rows[number]) == 1:
            evidence.append("measured only once: measure it again before changing anything")
        blame = blame_of(
            about,
            self.samples.metric,
            estimate,
            stage="screened",
            nodes=nodes_of(about),
            evidence=evidence,
        )
        return msgspec.structs.replace(blame, confidence=blame.confidence * share)

    def _others(self, look: _Look, number: int) -> tuple[list[str], float]:
        """Return other sets that explain the rows about as well, in words, and the likelihood share
        of ``number`` among them.
        """
        best = look.squares(number)
        alike, weights, seen = [], [1.0], {self._what(number)}
        for other in np.nonzero(np.nan_to_num(look.gain) > 0.0)[0].tolist():
            deviance = _deviance(look.squares(other), best, look.freedom)
            if deviance >= _TOLD_APART or self._what(other) in seen or self._is_explained(other):
                continue
            seen.add(self._what(other))
            alike.append((deviance, _words(self.sets.about[other])))
            weights.append(float(np.exp(-deviance / 2.0)))
        return [words for _, words in sorted(alike)][:_MOST_NAMED], 1.0 / sum(weights)

    def _what(self, number: int) -> tuple[tuple[int, ...], frozenset[str]]:
        """Identify a set: a pair with one direction, or a node with one port, counts once."""
        return self.sets.rows[number], frozenset(nodes_of(self.sets.about[number]))

    @property
    def sigma(self) -> float:
        """Relative noise of a row, without the effects of the culprits."""
        look = self._look()
        return float(np.sqrt(look.total / max(1, look.freedom + 1)))

    def detectable(self) -> float:
        """Return the slowdown at which 95 % of such tables reveal any slow sender or receiver;
        infinite if the rows of a node cannot be compared.
        """
        look = self._look()
        wanted = Port if self.samples.metric == "goodput" else Node
        factors = [
            float(look.factor[number])
            for number, about in enumerate(self.sets.about)
            if isinstance(about, wanted) and not self._is_explained(number)
        ]
        if look.freedom < 1 or not factors or not np.all(np.isfinite(factors)):
            return float("inf")
        least = min(
            self._least(noise, more, max(factors))
            for noise, more in zip(
                _noises(look.total, look.freedom + 1),
                _noises(look.total * _another(look.freedom + 1), look.freedom + 1),
                strict=True,
            )
        )
        return as_slowdown(self.samples.metric, max(self.practical, least))

    def _least(self, noise: _Noise, more: _Noise, factor: float) -> float:
        """Return the log slowness detected with 95 % power in another table of this ``noise``,
        whose own estimate exceeds ``more`` in 5 % of cases. The two errors are independent.
        """
        error, most = (
            float(np.hypot(estimate.sigma * factor, self.criteria.floor))
            for estimate in (noise, more)
        )
        p = _DOUBT / (noise.tried * self.sets.distinct)
        limit = as_student(quantile(p), noise.freedom)
        return limit * error + float(np.hypot(limit * (most - error), quantile(0.05) * error))


def _another(freedom: int) -> float:
    """Return the factor by which the variance estimate of another table exceeds this one in 5 % of
    cases (Fisher's approximation for the logarithm of F).
    """
    return float(np.exp(2.0 * quantile(0.05) / np.sqrt(max(0.5, freedom - 1.0))))


def _words(about: Subject) -> str:
    match about:
        case Port(node, direction):
            return f"{node} {'sends' if direction == 'tx' else 'receives'} slowly"
        case Node(node):
            return f"{node} is slow"
    return f"the link {about} is slow"


def _scattered(pairs: Sequence[str]) -> str:
    return (
        f"single rows far slower than their nodes are elsewhere: {', '.join(pairs[:_MOST_NAMED])}:"
        " slow links, or a disturbance while they were measured; measure these pairs again"
    )
