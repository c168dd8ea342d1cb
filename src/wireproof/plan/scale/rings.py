"""Rings, as HPCC's b_eff and the engine's ``ring`` go round: each rank sends to both neighbours and
receives from both. Pure.

A rank is never more than one operation ahead of its neighbours, so the slowest pair sets the pace:
HPCC reports the slowest rank, and that is what is computed. HPCC's ring latency is the time of an
operation divided by its two messages per rank. Closed form, one rank per node and one switch: an
operation takes start + G s + max(o, g + G s).
"""

from __future__ import annotations

import numpy as np

from wireproof.plan.scale.network import Floats, Network
from wireproof.plan.scale.topology import Ints

__all__ = ["MESSAGES", "natural", "random_ring", "ring_time"]

MESSAGES = 2
"""Messages of a rank in one operation: HPCC divides by it."""
_WARM, _TIMED, _MOST_TIMED, _TURNS = 3, 3, 8, 1_000_000


def natural(ranks: int) -> Ints:
    """Every rank's place in the ring of their own order."""
    return np.arange(ranks, dtype=np.int64)


def random_ring(ranks: int, seed: int) -> Ints:
    """Ranks in a random order."""
    return np.asarray(np.random.default_rng(seed).permutation(ranks), dtype=np.int64)


def ring_time(network: Network, order: Ints, size: int) -> float:
    """ns of one operation in steady state: ``order`` holds the ranks as they sit in the ring."""
    if order.size < 2:
        return 0.0
    right, left = np.roll(order, -1), np.roll(order, 1)
    overheads = network.overhead(order, right), network.overhead(order, left)
    now = np.zeros(order.size)
    begun = 0.0
    timed = min(_MOST_TIMED, max(_TIMED, _TURNS // order.size))
    for number in range(_WARM + timed):
        if number == _WARM:
            begun = float(now.max())
        now = _turn(network, now, (order, right, left), overheads, size)
    return (float(now.max()) - begun) / timed


def _turn(
    network: Network,
    now: Floats,
    ring: tuple[Ints, Ints, Ints],
    overheads: tuple[Floats, Floats],
    size: int,
) -> Floats:
    """One operation: two sends, then both receives in the order in which they come.

    The message to the right reaches the next place of the ring, the one to the left the place
    before.
    """
    order, right, left = ring
    to_right = now + overheads[0]
    to_left = to_right + overheads[1]
    there = network.deliver(
        np.concatenate((to_right, to_left)),
        np.concatenate((order, order)),
        np.concatenate((right, left)),
        size,
    )
    from_left = np.roll(there[: order.size], 1)
    from_right = np.roll(there[order.size :], -1)
    first, second = np.minimum(from_left, from_right), np.maximum(from_left, from_right)
    left_is_first = from_left <= from_right
    each = np.where(left_is_first, overheads[1], overheads[0])
    other = np.where(left_is_first, overheads[0], overheads[1])
    done = np.maximum(to_left, first) + each
    return np.asarray(np.maximum(done, second) + other, dtype=np.float64)
