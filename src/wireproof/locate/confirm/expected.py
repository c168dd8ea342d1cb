# pure
"""Compute the values to expect in the confirm stage, and their uncertainty.

The expected value of a kind of path comes from the good ports in the same samples (controls), else
from the screen.
"""

import dataclasses
import math
from collections.abc import Iterator
from functools import cached_property

import numpy as np

from wireproof.locate.blame import OTHER
from wireproof.locate.samples import (
    Flags,
    Floats,
    Groups,
    Ints,
    Longs,
    Samples,
    log_slowness,
)
from wireproof.locate.screen.screened import Screened
from wireproof.locate.screen.strata import ALL, Paths, paths_of
from wireproof.locate.significance import MEDIAN_FACTOR, LocateCriteria, as_log, robust_scale
from wireproof.model.finding import Direction

_CONTROLS = 3
_PRIOR_FREEDOM, _PRIOR_NOISE = 8.0, 0.05
_MAD_EFFICIENCY = 0.37
_FAR = 3.0


@dataclasses.dataclass(frozen=True, kw_only=True)
class Alone:
    """The samples of the confirm stage: their log slowness (``logs``), ``paths``, and the ``kind``
    of NIC at the slower end (0 is the fastest).

    ``control``: samples between good ports. At least three of them correct the screen's level, or
    replace it if contention had slowed the path. ``sigma``: standard deviation of one sample.
    ``spread``: spread of healthy ports. ``practical``: smallest slowness that is reported.
    """

    screened: Screened
    samples: Samples
    logs: Floats
    paths: Paths
    kind: Ints
    control: Flags
    sigma: float
    spread: float
    practical: float
    alpha: float

    @cached_property
    def tail(self) -> Floats:
        """The log slowness of the screen's samples beyond their expected values, sorted."""
        screen = self.screened.samples
        logs = np.log(self.screened.expected) - np.log(screen.value)
        return np.sort(logs if screen.metric == "goodput" else -logs)

    @cached_property
    def expectations(self) -> tuple[Floats, Floats]:
        """The expected log slowness of each sample on its kind of path, and its standard error."""
        expected, doubt = np.empty(self.logs.size), np.zeros(self.logs.size)
        shift, shared = self._shift()
        levels, errors = self.screened.levels, self.screened.level_errors
        slowest = max(levels.values(), default=None)
        for key, chosen in self._groups():
            unknown = float(np.median(self.logs[chosen])) if slowest is None else slowest
            level = levels.get(key, unknown)
            if shared >= _CONTROLS and key in levels and key[0] in self.screened.sharp:
                now, controls = level + shift, shared
            else:
                now, controls = self._by_controls(chosen, level)
            now = min(now, self._reached(chosen, now - self.practical))
            # Without a topology the number of hops of each pair is unknown, and the controls may
            # have had the fewest.
            hops = key[0] == ALL and self.samples.metric == "hrt"
            expected[chosen] = max(now, level) if hops else now
            doubt[chosen] = (
                float(np.hypot(MEDIAN_FACTOR * self.sigma / controls**0.5, self.spread))
                if controls >= _CONTROLS
                else errors.get(key, 0.0)
            )
        return expected, doubt

    def _groups(self) -> Iterator[tuple[tuple[str, int], Flags]]:
        """Yield each measured kind of path and NIC, the key of the screen's levels, with flags of
        its samples.
        """
        tier, kind = self.paths.tier, self.kind
        for t, k in sorted(set(zip(tier.tolist(), kind.tolist(), strict=True))):
            yield (self.paths.names[t], k), (tier == t) & (kind == k)

    def _by_controls(self, group: Flags, level: float) -> tuple[float, int]:
        """Return (median of the group's controls, else ``level``; number of controls)."""
        values = self.logs[group & self.control]
        return (float(np.median(values)) if values.size >= _CONTROLS else level), values.size

    def _shift(self) -> tuple[float, int]:
        """Return (slowdown of good ports since the screen, number of controls). All controls on
        paths that show a port are used, because the few controls on one kind of path may lie in the
        tail of the noise.
        """
        beyond = [
            self.logs[chosen & self.control] - self.screened.levels[key]
            for key, chosen in self._groups()
            if key in self.screened.levels and key[0] in self.screened.sharp
        ]
        known = np.concatenate(beyond) if beyond else np.zeros(0)
        return (float(np.median(known)), known.size) if known.size else (0.0, 0)

    def _reached(self, group: Flags, least: float) -> float:
        """Return the log slowness of the routes that are certainly faster alone than ``least`` (the
        screen's level less the practical threshold), because all their flows collided in the
        screen. Infinite if there are none.
        """
        routes, place, members = np.unique(
            _routes(self.samples)[group], return_inverse=True, return_counts=True
        )
        if not routes.size:
            return math.inf
        medians, _ = Groups(place, routes.size).median(self.logs[group])
        fast = medians[(members >= _CONTROLS) & (medians + _FAR * self.sigma < least)]
        return float(np.median(fast)) if fast.size else math.inf


def alone(screened: Screened, confirm: Samples, criteria: LocateCriteria) -> Alone:
    """Prepare the samples of the confirm stage, which have a different order of nodes. Raise
    ValueError if nothing was screened.
    """
    if screened.effects is None:
        raise ValueError("a confirm stage needs a screen")
    index = {name: number for number, name in enumerate(screened.samples.nodes)}
    place = np.asarray([index.get(name, -1) for name in confirm.nodes], dtype=np.int64)
    leaf = np.where(place >= 0, screened.places.leaf[place], -1).astype(np.int32)
    kind = np.where(place >= 0, screened.kinds.kind[place], 0).astype(np.int32)
    logs = log_slowness(confirm)
    return Alone(
        screened=screened,
        samples=confirm,
        logs=logs,
        paths=paths_of(confirm, dataclasses.replace(screened.places, leaf=leaf)),
        kind=np.maximum(kind[confirm.origin], kind[confirm.target]),
        control=_controls(screened, confirm),
        sigma=_own_noise(confirm, logs, screened.effects.noise),
        spread=screened.effects.spread,
        practical=as_log(confirm.metric, criteria.practical(confirm.metric)),
        alpha=criteria.alpha,
    )


def _routes(samples: Samples) -> Longs:
    """Number the route of each sample."""
    return samples.origin.astype(np.int64) * len(samples.nodes) + samples.target


def _own_noise(confirm: Samples, logs: Floats, noise: float) -> float:
    """Return sigma of one sample measured alone: the MAD within routes, combined with the noise of
    the screen.
    """
    route = _routes(confirm)
    within = [
        logs[route == number] - np.median(logs[route == number])
        for number in np.unique(route)
        if np.sum(route == number) > 2
    ]
    left = np.concatenate(within) if within else np.zeros(0)
    noise = min(noise, _PRIOR_NOISE)  # when measured alone, the contention of the screen is gone
    weight = _MAD_EFFICIENCY * left.size
    variance = weight * robust_scale(left) ** 2 + _PRIOR_FREEDOM * noise**2
    return float(np.sqrt(variance / (weight + _PRIOR_FREEDOM)))


def _controls(screened: Screened, confirm: Samples) -> Flags:
    """Flag samples between ports that the screen found good: they provide the value to expect now.
    The clean direction of a suspect counts as good.
    """
    good: set[tuple[str, Direction]] = {(name, "tx") for name in screened.good}
    good |= {(name, "rx") for name in screened.good}
    good |= {
        (suspect.nodes[0], OTHER[suspect.direction])
        for suspect in screened.suspects
        if suspect.lone
    }
    suspected = {frozenset(suspect.nodes) for suspect in screened.pairs}
    ends = [
        (confirm.nodes[a], confirm.nodes[b])
        for a, b in zip(confirm.origin.tolist(), confirm.target.tolist(), strict=True)
    ]
    flags = [
        (origin, "tx") in good
        and (target, "rx") in good
        and frozenset((origin, target)) not in suspected
        for origin, target in ends
    ]
    return np.asarray(flags, dtype=np.bool_)
