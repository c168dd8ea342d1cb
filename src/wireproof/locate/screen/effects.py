# pure
"""Estimate the slowness of each port by a median polish, for paths that are as fast as their
slowest part.

Model: y_ij = min(c_i^tx, c_j^rx, l_ij). A slowness (logarithm, positive is slow) is therefore the
*largest* of its parts, and a sample with a slow partner is no evidence about a port. The slowness
of a port is the median over its partners, excluding partners that are slow themselves. The level of
a stratum is the median over ports of the ports' medians, which is robust until half of the *ports*
are bad (a plain median of samples fails if half of the *pairs* meet a bad port).
"""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray

from wireproof.locate.samples import Flags, Floats, Groups, Ints, Longs, Samples
from wireproof.locate.significance import MEDIAN_FACTOR, median_error, robust_scale

_TURNS = 4
_PRIOR_SIGMA, _PRIOR_FREEDOM = 0.02, 8.0
"""A few samples do not reveal their noise, so they are combined with eight imaginary samples of 2 %
noise (usual from run to run).
"""

_MAD_EFFICIENCY = 0.37
_MANY_PORTS = 32
_SHARP_NOISE, _SHARP_LEVEL, _ENOUGH = 2.0, 0.10, 3


@dataclasses.dataclass(frozen=True, kw_only=True)
class Ports:
    """The ports of all samples. ``own`` and ``far``: the two ports of each sample. Goodput has 2 N
    ports: tx i is i and rx j is N + j. Half round trips have no direction and N ports. ``stratum``:
    samples with the same expected value. ``kind`` (per port) and ``family`` (per stratum): the
    speed class of the NICs, 0 is the fastest.

    ``either``: the port at each end, first all own, then all far ports (2 K). ``partner``: the
    other end of each. ``by_port``: groups ``either`` by port. ``by_cell``: groups by stratum and
    port, only cells with samples. ``cell_stratum``: the stratum of each cell.
    """

    count: int
    own: Ints
    far: Ints
    stratum: Ints
    strata: int
    kind: Ints
    family: Ints
    either: Ints
    partner: Ints
    by_port: Groups
    by_cell: Groups
    cell_stratum: Longs

    @classmethod
    def of(cls, samples: Samples, stratum: Ints, strata: int, kind: Ints, family: Ints) -> Ports:
        """Build the ports of ``samples``. ``kind``: kind of each node."""
        nodes = len(samples.nodes)
        directed = samples.metric == "goodput"
        count = 2 * nodes if directed else nodes
        own = samples.origin
        far = (samples.target + nodes if directed else samples.target).astype(np.int32)
        either = np.concatenate((own, far))
        key = np.concatenate((stratum, stratum)).astype(np.int64) * count + either
        cells, place = np.arange(count, dtype=np.int64), key
        if strata > 1:
            cells, place = np.unique(key, return_inverse=True)
        return cls(
            count=count,
            own=own,
            far=far,
            stratum=stratum,
            strata=strata,
            kind=np.concatenate((kind, kind)) if directed else kind,
            family=family,
            either=either,
            partner=np.concatenate((far, own)),
            by_port=Groups(either, count),
            by_cell=Groups(place, cells.size),
            cell_stratum=cells // count,
        )


@dataclasses.dataclass(frozen=True, kw_only=True)
class Effects:
    """By stratum: ``level`` (expected log slowness), its standard error, and ``sigma``. By port:
    ``slowness``, standard ``error`` and ``samples``. ``residual``: slowness of each sample relative
    to its level. ``freedom``: degrees of freedom of ``sigma``. ``noise``: sigma on the paths that
    reveal a port best. ``spread``: spread of healthy ports.
    """

    level: Floats
    level_error: Floats
    sigma: Floats
    slowness: Floats
    error: Floats
    samples: Ints
    residual: Floats
    noise: float
    spread: float
    freedom: float


@dataclasses.dataclass(frozen=True, kw_only=True)
class PolishStart:
    """Start of the polish from prior knowledge: ports that are ``bad``, and the ``level`` of each
    stratum for strata without clean samples.
    """

    bad: Flags
    level: Floats


def levels_of(
    ports: Ports, slowness: Floats, use: Flags | None = None, *, early: bool = False
) -> Floats:
    """Return the level of each stratum: the median over ports of each port's median (``early``:
    lower quartile); NaN without samples.
    """
    both = None if use is None else np.concatenate((use, use))
    medians, members = ports.by_cell.median(np.concatenate((slowness, slowness)), both, early=early)
    filled = members > 0
    level, _ = Groups(ports.cell_stratum[filled], ports.strata).median(medians[filled])
    return level


def _sigmas(ports: Ports, leftover: Floats, use: Flags) -> tuple[Floats, Floats]:
    """Return (sigma, samples) by stratum: the MAD over the samples of ``use`` (over all if none is
    in use), combined with the prior.
    """
    members = np.bincount(ports.stratum, minlength=ports.strata).astype(np.float64)
    spread = np.zeros(ports.strata)
    for stratum in np.nonzero(members)[0].tolist():
        chosen = ports.stratum == stratum
        spread[stratum] = robust_scale(
            leftover[chosen & use] if np.any(chosen & use) else leftover[chosen]
        )
    weight = _MAD_EFFICIENCY * members
    variance = (weight * spread**2 + _PRIOR_FREEDOM * _PRIOR_SIGMA**2) / (weight + _PRIOR_FREEDOM)
    return np.sqrt(variance), members


def fine_strata(level: Floats, sigma: Floats, family: NDArray[np.integer]) -> Flags:
    """Flag strata that reveal a slow port: within 10 % of the fastest of their family, and less
    than twice as noisy as the quietest.
    """
    lowest = np.full(int(family.max()) + 1, np.inf)
    np.fmin.at(lowest, family, level)
    known = ~np.isnan(level)
    fine = (level <= lowest[family] + _SHARP_LEVEL) & (sigma <= _SHARP_NOISE * np.min(sigma[known]))
    return np.asarray(fine if np.any(fine) else known, dtype=np.bool_)


def _sharp(ports: Ports, level: Floats, sigma: Floats) -> Flags:
    """Flag, for both ends (2 K), the samples that reveal a slow port best: those of the fastest
    strata that are not much noisier than others. A port with too few of them uses all its samples.
    """
    fine = fine_strata(level, sigma, ports.family)
    stratum = np.concatenate((ports.stratum, ports.stratum))
    good = fine[stratum] & (ports.family[stratum] == ports.kind[ports.either])
    for wider in (fine[stratum], np.ones(stratum.size, dtype=np.bool_)):
        few = np.bincount(ports.either, weights=good, minlength=ports.count) < _ENOUGH
        good = good | (wider & few[ports.either])
    return np.asarray(good, dtype=np.bool_)


def _port_medians(
    ports: Ports, residual: Floats, use: Flags, bad: Flags, *, early: bool = False
) -> tuple[Floats, Ints]:
    """Return the median of each port over partners that are not bad (over all partners if too few
    remain).
    """
    everything = np.concatenate((residual, residual))
    total = np.bincount(ports.either[use], minlength=ports.count)
    clean = use & ~bad[ports.partner]
    kept = np.bincount(ports.either[clean], minlength=ports.count)
    lean = kept * _ENOUGH < total
    final = clean | (use & lean[ports.either])
    return ports.by_port.median(everything, final, early=early)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Polishing:
    """The method for estimating the effects of ``ports``. ``additive``: for half round trips the
    effects of both ends add up; else the slower end decides. ``threshold``: ports slower than half
    of it are excluded from the medians of their partners. ``floor``: minimum spread of healthy
    ports.
    """

    ports: Ports
    additive: bool
    threshold: float
    floor: float
    start: PolishStart | None = None

    def polish(self, logs: Floats) -> Effects:
        """Return the effects from ``logs`` (absolute log slowness of each sample)."""
        bad = self.start.bad if self.start else np.zeros(self.ports.count, dtype=np.bool_)
        use = self._without(bad)
        for turn in range(_TURNS):
            early = turn == 0 and self.start is None
            effects = self._turn(logs, use, bad, early=early)
            slow_ports = self._bad_ports(effects)
            if not early and np.array_equal(slow_ports, bad):
                break
            bad = slow_ports
            use = self._without(bad) if np.mean(bad) < 0.5 else use
        level, level_error = _typical(self.ports, logs, effects.level, effects.sigma, use)
        effects = dataclasses.replace(
            effects,
            level=level,
            level_error=level_error,
            residual=logs - level[self.ports.stratum],
        )
        return _under_contention(self.ports, effects, self.threshold, self.floor)

    def _without(self, bad: Flags) -> Flags:
        """Flag samples without a bad port."""
        return ~bad[self.ports.own] & ~bad[self.ports.far]

    def _bad_ports(self, effects: Effects) -> Flags:
        """Flag ports that are certainly slow by more than half the threshold."""
        doubt = 3.0 * np.nan_to_num(effects.error, nan=np.inf)
        slow = np.nan_to_num(effects.slowness) > np.maximum(self.threshold / 2.0, doubt)
        return np.asarray(slow, dtype=np.bool_)

    def _levels(self, logs: Floats, use: Flags, *, early: bool) -> Floats:
        """Return the expected value of each stratum, from the samples of ``use`` if there
        are any.
        """
        level = levels_of(self.ports, logs, use, early=early)
        if not np.any(np.isnan(level)):
            return level
        other = self.start.level if self.start else levels_of(self.ports, logs)
        return np.where(np.isnan(level), other, level)

    def _turn(self, logs: Floats, use: Flags, bad: Flags, *, early: bool) -> Effects:
        """Estimate the effects without the ``bad`` ports. ``early``: bad ports are not
        known yet.
        """
        ports = self.ports
        level = self._levels(logs, use, early=early)
        residual = logs - level[ports.stratum]
        leftover = residual - _explained(ports, residual, None if early else bad, self.additive)
        # Slow ports of a leaf do not slow every kind of path equally, so only samples without such
        # ports show the noise.
        every = np.ones(logs.size, dtype=np.bool_)
        sigma, members = _sigmas(ports, leftover, use if self.start else every)
        sharp = _sharp(ports, level, sigma)
        slowness, samples = _port_medians(ports, residual, sharp, bad, early=early)
        fine = fine_strata(level, sigma, ports.family)
        shared = np.where(samples > 0, _port_sigma(ports, sigma, sharp), np.nan)
        healthy = (samples > 0) & (np.nan_to_num(slowness) <= 0.0 if early else ~bad)
        spread = _spread(slowness, shared, healthy, samples, self.floor)
        return Effects(
            level=level,
            level_error=np.full(level.size, np.nan),
            sigma=sigma,
            slowness=slowness,
            error=median_error(shared, samples, spread),
            samples=samples,
            residual=residual,
            noise=float(np.sqrt(np.average(sigma[fine] ** 2, weights=members[fine]))),
            spread=spread,
            freedom=_MAD_EFFICIENCY * logs.size + _PRIOR_FREEDOM,
        )


def _typical(
    ports: Ports, logs: Floats, level: Floats, sigma: Floats, use: Flags
) -> tuple[Floats, Floats]:
    """Return (level, its standard error) by stratum: the plain median of samples between good
    ports. For ports with two samples the level uses the faster one, which is right for comparing
    ports but too fast for a single sample.
    """
    centre, members = Groups(ports.stratum, ports.strata).median(logs, use)
    level_or_median = np.where(members > 2, centre, level)
    return level_or_median, np.asarray(
        MEDIAN_FACTOR * sigma / np.sqrt(np.maximum(members, 1)), dtype=np.float64
    )


def _under_contention(ports: Ports, effects: Effects, threshold: float, floor: float) -> Effects:
    """If most samples are disturbed, compare the better quartile of each port, because contention
    only slows. The error is the scatter of the ports themselves, which needs many ports.
    """
    measured = effects.samples > 0
    if effects.noise < threshold or int(np.sum(measured)) < _MANY_PORTS:
        return effects
    both = np.concatenate((effects.residual, effects.residual))
    quarter, _ = ports.by_port.median(both, early=True)
    middle = float(np.median(quarter[measured]))
    slowness = quarter - middle
    error = max(floor, robust_scale(slowness[measured]))
    if 2.0 * error > float(np.median(effects.error[measured])):
        return effects
    return dataclasses.replace(
        effects,
        slowness=slowness,
        error=np.where(measured, error, np.nan),
        level=effects.level + middle,
        residual=effects.residual - middle,
    )


def _explained(ports: Ports, residual: Floats, bad: Flags | None, additive: bool) -> Floats:
    """Return the slowness of each sample that bad ports explain. If ``bad`` is None, bad ports are
    not known yet, and the slowness of every port is used.
    """
    early = bad is None
    if bad is None:
        bad = np.ones(ports.count, dtype=np.bool_)
    if not np.any(bad):
        return np.zeros_like(residual)
    everything = np.ones(2 * residual.size, dtype=np.bool_)
    slowness, _ = _port_medians(ports, residual, everything, bad, early=early)
    own, far = (
        np.where(bad[side], np.nan_to_num(slowness[side]), 0.0).clip(0.0)
        for side in (ports.own, ports.far)
    )
    return _of_both(own, far, additive)


def _of_both(own: Floats, far: Floats, additive: bool) -> Floats:
    """Combine the slowness of two ends: their sum if additive, else the slower end."""
    return np.asarray(own + far if additive else np.maximum(own, far), dtype=np.float64)


def explained(ports: Ports, effects: Effects, threshold: float, *, additive: bool) -> Floats:
    """Return the log slowness of each sample that slow ports (beyond ``threshold``) explain."""
    slow = np.nan_to_num(effects.slowness)
    slow = np.where(slow > np.maximum(threshold, 2.0 * np.nan_to_num(effects.error)), slow, 0.0)
    return _of_both(slow[ports.own], slow[ports.far], additive)


def _port_sigma(ports: Ports, sigma: Floats, sharp: Flags) -> Floats:
    """Return the root mean square of the sigmas of the samples that a port uses."""
    square = np.where(sharp, np.concatenate((sigma[ports.stratum] ** 2,) * 2), 0.0)
    total = np.bincount(ports.either, weights=square, minlength=ports.count)
    weight = np.bincount(ports.either, weights=sharp, minlength=ports.count)
    return np.asarray(np.sqrt(total / np.maximum(weight, 1.0)), dtype=np.float64)


def _spread(slowness: Floats, sigma: Floats, healthy: Flags, samples: Ints, floor: float) -> float:
    """Return the spread of healthy ports (``some``) beyond noise, at least ``floor``."""
    if int(np.sum(healthy)) < 8:
        return floor
    scatter = robust_scale(slowness[healthy])
    expected = float(np.median(median_error(sigma[healthy], samples[healthy], 0.0)))
    return max(floor, float(np.sqrt(max(0.0, scatter**2 - expected**2))))
