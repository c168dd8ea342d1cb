"""Collectives from messages, by the algorithms that MPI libraries use. Pure.

Barrier: dissemination, ceil(log2 n) rounds. Allreduce: recursive doubling for short messages,
reduce-scatter and allgather by halving and doubling (Rabenseifner) above 2 KiB, as MPICH; ranks
beyond a power of two fold into a neighbour before and after. Closed forms for one rank per node on
one switch and n a power of two: log2 n x start; log2 n x (start + G s); 2 log2 n x start + 2 G s
(n - 1) / n. Arithmetic on the data is not counted.
"""

from __future__ import annotations

import numpy as np

from wireproof.plan.scale.network import Floats, Network
from wireproof.plan.scale.topology import Ints

__all__ = ["SHORT_BYTES", "allreduce", "allreduce_algorithm", "barrier", "exchange"]

SHORT_BYTES = 2048
"""Up to this size allreduce is by recursive doubling (MPICH's default)."""


def exchange(network: Network, now: Floats, ranks: Ints, target: Ints, size: int) -> Floats:
    """Every one of ``ranks`` sends to its ``target`` and receives one message, of whoever names it.

    ``target`` is a permutation of ``ranks``. Times of ranks that take no part stay.
    """
    source = ranks
    overhead = network.overhead(source, target)
    posted = now[source] + overhead
    there = network.deliver(posted, source, target, size)
    result = now.copy()
    arrived, receive = np.empty_like(now), np.empty_like(now)
    arrived[target] = there
    receive[target] = overhead
    result[source] = np.maximum(posted, arrived[source]) + receive[source]
    return result


def barrier(network: Network) -> float:
    """ns until the last rank has left, when all enter at once."""
    count = network.topology.ranks
    ranks = np.arange(count, dtype=np.int64)
    now = np.zeros(count)
    step = 1
    while step < count:
        now = exchange(network, now, ranks, (ranks + step) % count, 0)
        step *= 2
    return float(now.max(initial=0.0))


def allreduce_algorithm(size: int) -> str:
    """The name of the algorithm for messages of ``size`` bytes."""
    return "recursive doubling" if size <= SHORT_BYTES else "reduce-scatter and allgather"


def allreduce(network: Network, size: int) -> float:
    """ns until the last rank has the sum of all ranks' ``size`` bytes."""
    count = network.topology.ranks
    power = 1 << (count.bit_length() - 1)
    extra = count - power
    now = np.zeros(count)
    # of the first 2 x extra ranks every odd one stands for its even neighbour too
    even = np.arange(0, 2 * extra, 2, dtype=np.int64)
    now = _one_way(network, now, even, even + 1, size)
    active = np.concatenate((even + 1, np.arange(2 * extra, count, dtype=np.int64)))
    place = np.arange(power, dtype=np.int64)
    for step, part in _steps(power, size):
        now = exchange(network, now, active, active[place ^ step], part)
    now = _one_way(network, now, even + 1, even, size)
    return float(now.max(initial=0.0))


def _steps(power: int, size: int) -> list[tuple[int, int]]:
    """(distance of the partner, bytes) of each round."""
    distances = [1 << bit for bit in range(power.bit_length() - 1)]
    if size <= SHORT_BYTES:
        return [(distance, size) for distance in distances]
    scatter = [(distance, -(-size // (2 * distance))) for distance in distances]
    return [*scatter, *reversed(scatter)]


def _one_way(network: Network, now: Floats, source: Ints, target: Ints, size: int) -> Floats:
    """Each of ``source`` sends to its ``target``, which waits for it."""
    if not source.size:
        return now
    overhead = network.overhead(source, target)
    posted = now[source] + overhead
    there = network.deliver(posted, source, target, size)
    result = now.copy()
    result[source] = posted
    result[target] = np.maximum(now[target], there) + overhead
    return result
