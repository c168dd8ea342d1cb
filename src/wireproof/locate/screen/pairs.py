"""Which pairs a screen suspects: far slower than both their ends explain. With two nodes no third
one shows which of them is slow, but one direction can be compared with the other.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from wireproof.locate.criteria import LocateCriteria, as_log, as_slowdown
from wireproof.locate.groups import grouped_median
from wireproof.locate.samples import Flags, Floats, Indices, Longs, Samples, log_slowness
from wireproof.locate.screen.suspects import Suspect
from wireproof.locate.significance import MEDIAN_FACTOR, REACH, as_normal, upper_tail

_MOST_PAIRS = 16  # a long tail fills the first places of 64 nodes' 4,032 routes
_AS_SLOW, _FEW_ALIKE, _OFTEN = 0.7, 4, 0.10
# times the practical threshold: a lone sample has to be that slow, for the tail is long on its own
_PAIR_TAIL = 3.0
_MEDIAN_FACTOR = 1.2533  # standard error of a median (see significance)
_EVERY_DIRECTION = ("tx", "rx", "")
_PRIOR_SIGMA, _PRIOR_FREEDOM = 0.02, 8.0


@dataclasses.dataclass(frozen=True)
class _Routes:
    """The routes that were measured. ``place``: of each sample, the index of its route; ``slow``:
    median log slowness of each route that nothing explains yet, with its standard ``error``.
    """

    number: Longs
    place: Indices
    slow: Floats
    error: Floats

    @classmethod
    def of(cls, samples: Samples, leftover: Floats, sigma: Floats, floor: float) -> _Routes:
        number, place = np.unique(
            samples.origin.astype(np.int64) * len(samples.nodes) + samples.target,
            return_inverse=True,
        )
        slow, members = grouped_median(place, leftover, number.size)
        noise = np.zeros(number.size)
        np.maximum.at(noise, place, sigma)
        error = np.sqrt((_MEDIAN_FACTOR * noise) ** 2 / members + floor**2)
        return cls(number, place, slow, error)

    def ends(self, route: int, samples: Samples) -> tuple[str, str]:
        origin, target = divmod(int(self.number[route]), len(samples.nodes))
        return samples.nodes[origin], samples.nodes[target]


def suspected_pairs(
    samples: Samples,
    leftover: Floats,
    sigma: Floats,
    expected: Floats,
    excluded: Sequence[Suspect],
    criteria: LocateCriteria,
) -> list[Suspect]:
    """Ordered pairs of good ports that are far slower than both their ends explain; a few, the
    slowest first.

    ``leftover``: log slowness that nothing explains yet, ``sigma`` its noise, ``expected``, by
    sample. What one sample says of a pair may be the tail of the noise: a pair is a suspect, and
    never a blame before it was measured again.
    """
    routes = _Routes.of(samples, leftover, sigma, criteria.floor)
    slow, error = routes.slow, routes.error
    adjusted = np.minimum(1.0, upper_tail(slow / error) * slow.size)
    practical = as_log(samples.metric, criteria.practical(samples.metric))
    sure = (adjusted <= criteria.alpha) & (slow >= _PAIR_TAIL * practical)
    chosen = np.nonzero(sure & _are_rare(slow))[0]
    slow_ends = _slow_ends(excluded)
    sends, receives = ("tx", "rx") if samples.metric == "goodput" else ("", "")
    found: list[Suspect] = []
    for index in chosen[np.argsort(-slow[chosen], kind="stable")].tolist():
        a, b = routes.ends(index, samples)
        if (a, sends) in slow_ends or (b, receives) in slow_ends or len(found) == _MOST_PAIRS:
            continue
        found.append(
            Suspect(
                kind="pair",
                nodes=(a, b),
                slowdown=as_slowdown(samples.metric, float(slow[index])),
                z=float(slow[index] / error[index]),
                p=float(adjusted[index]),
                error=float(error[index]),
                expected=float(np.median(expected[routes.place == index])),
            )
        )
    return found


def _are_rare(slow: Floats) -> Flags:
    """Which are slower than most: what is as slow as many others is a kind of path that no topology
    names, not a fault of one.
    """
    alike = slow.size - np.searchsorted(np.sort(slow), _AS_SLOW * slow)
    return np.asarray(alike <= max(_FEW_ALIKE, _OFTEN * slow.size), dtype=np.bool_)


def _slow_ends(suspects: Sequence[Suspect]) -> set[tuple[str, str]]:
    """Nodes with the directions in which they are slow."""
    return {
        (one.nodes[0], direction)
        for one in suspects
        for direction in ((one.direction,) if one.direction else _EVERY_DIRECTION)
    }


class _Direction(NamedTuple):
    """One direction of the pair: its log slowness, the variance of its mean, its ``sender``."""

    slowness: float
    variance: float
    sender: int
    samples: int


def screen_two(samples: Samples, criteria: LocateCriteria) -> tuple[Suspect | None, float, float]:
    """(the slow direction, or None; log slowness of the faster one; its standard error).

    Half round trips have no direction. Noise: the spread within each direction joined by eight
    imagined samples of 2 %, and the samples' own intervals.
    """
    logs = log_slowness(samples)
    found = sorted(_direction(samples, logs, one) for one in np.unique(samples.origin).tolist())
    fast, slow = found[0], found[-1]
    level_error = MEDIAN_FACTOR * float(np.sqrt(fast.variance))
    if len(found) < 2 or samples.metric == "hrt":
        return None, float(np.median(logs)), level_error
    return _suspect(samples, fast, slow, criteria), fast.slowness, level_error


def _direction(samples: Samples, logs: Floats, sender: int) -> _Direction:
    own = samples.origin == sender
    widths = samples.half_width[own]
    width = float(np.nanmedian(widths)) / 1.96 if not np.all(np.isnan(widths)) else 0.0
    left = logs[own] - np.median(logs[own])
    square = float(left @ left) + _PRIOR_FREEDOM * _PRIOR_SIGMA**2
    variance = max(square / (left.size - 1 + _PRIOR_FREEDOM), width**2)
    return _Direction(float(np.median(logs[own])), variance / left.size, sender, left.size)


def _suspect(
    samples: Samples, fast: _Direction, slow: _Direction, criteria: LocateCriteria
) -> Suspect | None:
    """The slow direction, where it is slower than the other beyond chance and by enough."""
    error = MEDIAN_FACTOR * float(np.sqrt(fast.variance + slow.variance))
    slowness = slow.slowness - fast.slowness
    freedom = _PRIOR_FREEDOM + fast.samples + slow.samples - 2
    z = float(as_normal(np.asarray([slowness / error]), freedom)[0])
    p = min(1.0, 2.0 * float(upper_tail(np.asarray([z]))[0]))
    practical = as_log("goodput", criteria.practical("goodput"))
    if p > criteria.alpha or slowness + REACH * error < practical:
        return None
    return Suspect(
        kind="pair",
        nodes=(samples.nodes[slow.sender], samples.nodes[fast.sender]),
        slowdown=as_slowdown("goodput", slowness),
        z=z,
        p=p,
        error=error,
        expected=fast.slowness,
    )
