# pure
"""Select pairs that are far slower than their two ends explain. If there are only two nodes, no
third node shows which of them is slow, but the two directions can be compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from wireproof.locate.samples import (
    Flags,
    Floats,
    Groups,
    Indices,
    Longs,
    Samples,
    log_slowness,
)
from wireproof.locate.screen.screened import EVERY_DIRECTION, Suspect
from wireproof.locate.significance import (
    MEDIAN_FACTOR,
    REACH,
    LocateCriteria,
    as_log,
    as_normal,
    upper_tail,
)

_MOST_PAIRS = 16  # with 64 nodes, a long tail of the noise fills the top of the 4,032 routes
_AS_SLOW, _FEW_ALIKE, _OFTEN = 0.7, 4, 0.10
# multiple of the practical threshold: minimum slowness of a lone sample; the noise has a long tail
_PAIR_TAIL = 3.0
_PRIOR_SIGMA, _PRIOR_FREEDOM = 0.02, 8.0


def _routes(
    samples: Samples, leftover: Floats, sigma: Floats, floor: float
) -> tuple[Longs, Indices, Floats, Floats]:
    """Return (number of each measured route; index of the route of each sample; median unexplained
    log slowness of each route; its standard error).
    """
    number, place = np.unique(
        samples.origin.astype(np.int64) * len(samples.nodes) + samples.target,
        return_inverse=True,
    )
    slow, members = Groups(place, number.size).median(leftover)
    noise = np.zeros(number.size)
    np.maximum.at(noise, place, sigma)
    return number, place, slow, np.sqrt((MEDIAN_FACTOR * noise) ** 2 / members + floor**2)


def suspected_pairs(
    samples: Samples,
    leftover: Floats,
    sigma: Floats,
    expected: Floats,
    excluded: Sequence[Suspect],
    criteria: LocateCriteria,
) -> list[Suspect]:
    """Return at most a few ordered pairs of good ports that are far slower than their ends explain,
    the slowest first.

    ``leftover``: unexplained log slowness, ``sigma`` its noise, ``expected`` the expected log
    slowness, all by sample. A single slow sample of a pair may be a tail of the noise, so a pair
    stays a suspect until it is measured again.
    """
    number, place, slow, error = _routes(samples, leftover, sigma, criteria.floor)
    adjusted = np.minimum(1.0, upper_tail(slow / error) * slow.size)
    practical = as_log(samples.metric, criteria.practical(samples.metric))
    sure = (adjusted <= criteria.alpha) & (slow >= _PAIR_TAIL * practical)
    chosen = np.nonzero(sure & _are_rare(slow))[0]
    slow_ends = _slow_ends(excluded)
    sends, receives = ("tx", "rx") if samples.metric == "goodput" else ("", "")
    suspects: list[Suspect] = []
    for index in chosen[np.argsort(-slow[chosen], kind="stable")].tolist():
        a, b = (samples.nodes[end] for end in divmod(int(number[index]), len(samples.nodes)))
        if (a, sends) in slow_ends or (b, receives) in slow_ends or len(suspects) == _MOST_PAIRS:
            continue
        suspects.append(
            Suspect(
                kind="pair",
                nodes=(a, b),
                slowness=float(slow[index]),
                z=float(slow[index] / error[index]),
                p=float(adjusted[index]),
                error=float(error[index]),
                expected=float(np.median(expected[place == index])),
            )
        )
    return suspects


def _are_rare(slow: Floats) -> Flags:
    """Flag routes that are slower than most: if many routes are as slow, they share an unknown kind
    of path, not a fault.
    """
    alike = slow.size - np.searchsorted(np.sort(slow), _AS_SLOW * slow)
    return np.asarray(alike <= max(_FEW_ALIKE, _OFTEN * slow.size), dtype=np.bool_)


def _slow_ends(suspects: Sequence[Suspect]) -> set[tuple[str, str]]:
    """Return the nodes, each with its slow directions."""
    return {
        (suspect.nodes[0], direction)
        for suspect in suspects
        for direction in ((suspect.direction,) if suspect.direction else EVERY_DIRECTION)
    }


class _Direction(NamedTuple):
    """One direction of the pair: the logarithm of its slowness, the variance of its mean, its
    ``sender``."""

    slowness: float
    variance: float
    sender: int
    samples: int


def screen_two(samples: Samples, criteria: LocateCriteria) -> tuple[Suspect | None, float, float]:
    """Return the slow direction (None if there is none), the log slowness of the faster direction,
    and the standard error of that slowness.

    Half round trips have no direction. Noise: the spread within each direction combined with eight
    imaginary samples of 2 %, and the intervals of the samples.
    """
    logs = log_slowness(samples)
    directions = sorted(
        _direction(samples, logs, sender) for sender in np.unique(samples.origin).tolist()
    )
    fast, slow = directions[0], directions[-1]
    level_error = MEDIAN_FACTOR * float(np.sqrt(fast.variance))
    if len(directions) < 2 or samples.metric == "hrt":
        return None, float(np.median(logs)), level_error
    return _suspect(samples, fast, slow, criteria), fast.slowness, level_error


def _direction(samples: Samples, logs: Floats, sender: int) -> _Direction:
    chosen = samples.origin == sender
    widths = samples.half_width[chosen]
    width = float(np.nanmedian(widths)) / 1.96 if not np.all(np.isnan(widths)) else 0.0
    left = logs[chosen] - np.median(logs[chosen])
    square = float(left @ left) + _PRIOR_FREEDOM * _PRIOR_SIGMA**2
    variance = max(square / (left.size - 1 + _PRIOR_FREEDOM), width**2)
    return _Direction(float(np.median(logs[chosen])), variance / left.size, sender, left.size)


def _suspect(
    samples: Samples, fast: _Direction, slow: _Direction, criteria: LocateCriteria
) -> Suspect | None:
    """Return the slow direction if it is slower than the other beyond chance and by enough."""
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
        slowness=slowness,
        z=z,
        p=p,
        error=error,
        expected=fast.slowness,
    )
