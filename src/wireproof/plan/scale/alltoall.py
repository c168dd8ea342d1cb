"""All-to-all by pairwise exchange: in phase d every rank sends to the one d further on. Pure.

n - 1 phases of n messages are too many for large n: a sample of phases is simulated, stratified by
how far they reach (inside of nodes, of leaves, beyond), and the total is estimated with the error
of a stratified sample without replacement (Cochran, Sampling Techniques, 5.4). The 95 % interval
is 1.96 errors and 1 % (``_SKEW``) wide on either side. Closed form for one rank per node on one
switch: (n - 1) (start + G s).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from wireproof.plan.scale.collectives import exchange
from wireproof.plan.scale.network import Network
from wireproof.plan.scale.topology import Ints

__all__ = ["Estimate", "alltoall"]

_MESSAGES = 12_000_000
"""So many messages are simulated at most: some ten seconds."""
_FEWEST = 12
_Z = 1.96
_SKEW = 0.01
"""Of the total: phases that are left out would leave another skew to the next one. Without it 85 of
100 intervals held all phases of 640 ranks (benchmarks/planning.py).
"""


class Estimate(NamedTuple):
    """``time_ns`` of the whole, between ``low_ns`` and ``high_ns`` with 95 % confidence where not
    all of the ``phases`` are ``simulated``.
    """

    time_ns: float
    low_ns: float
    high_ns: float
    simulated: int
    phases: int


def alltoall(network: Network, size: int, *, most_phases: int | None = None) -> Estimate:
    """``size``: bytes to each rank. ``most_phases``: a limit of the sample, for tests."""
    count = network.topology.ranks
    phases = count - 1
    if phases < 1:
        return Estimate(0.0, 0.0, 0.0, 0, 0)
    most = most_phases or max(3 * _FEWEST, _MESSAGES // count)
    if phases <= most:
        return _all_phases(network, size)
    strata = _strata(network)
    picked = [
        _picked(one, max(2, min(_FEWEST, most // 3), most * one.size // phases), network)
        for one in strata
    ]
    times, behind = _increments(network, np.sort(np.concatenate(picked)), size)
    total, variance = behind, 0.0
    for stratum, sample in zip(strata, picked, strict=True):
        own = np.asarray([times[distance] for distance in sample.tolist()])
        total += stratum.size * float(own.mean())
        if own.size < stratum.size:
            spread = float(own.var(ddof=1)) / own.size
            variance += stratum.size**2 * (1 - own.size / stratum.size) * spread
    error = _Z * math.sqrt(variance) + _SKEW * total
    return Estimate(total, max(0.0, total - error), total + error, len(times), phases)


def _all_phases(network: Network, size: int) -> Estimate:
    count = network.topology.ranks
    ranks = np.arange(count, dtype=np.int64)
    now = np.zeros(count)
    for distance in range(1, count):
        now = exchange(network, now, ranks, (ranks + distance) % count, size)
    time = float(now.max())
    return Estimate(time, time, time, count - 1, count - 1)


def _strata(network: Network) -> list[Ints]:
    """Phases by how far they reach at most; a distance and its complement reach as far."""
    topology = network.topology
    count = topology.ranks
    distance = np.arange(1, count, dtype=np.int64)
    reach = np.minimum(distance, count - distance)
    borders = sorted({topology.ppn, min(count, topology.ppn * topology.leaf)})
    found = np.searchsorted(np.asarray(borders), reach, side="right")
    return [distance[found == number] for number in np.unique(found)]


def _picked(stratum: Ints, wanted: int, network: Network) -> Ints:
    """``wanted`` of a stratum without replacement."""
    if wanted >= stratum.size:
        return stratum
    chance = np.random.default_rng((network.topology.seed, int(stratum[0])))
    return np.asarray(chance.choice(stratum, wanted, replace=False), dtype=np.int64)


def _increments(network: Network, distances: Ints, size: int) -> tuple[dict[int, float], float]:
    """(ns that each phase adds to the mean of all ranks' times, how far the last rank is behind the
    mean at the end). Phases run one after another, nearest first as in the whole exchange: the skew
    that one leaves is the next one's start.
    """
    count = network.topology.ranks
    ranks = np.arange(count, dtype=np.int64)
    now = np.zeros(count)
    found: dict[int, float] = {}
    mean = 0.0
    for distance in distances.tolist():
        now = exchange(network, now, ranks, (ranks + distance) % count, size)
        found[distance] = float(now.mean()) - mean
        mean += found[distance]
    return found, float(now.max()) - mean
