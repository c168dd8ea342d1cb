# pure
"""Predict communication at a larger scale than the available machine: a LogGOPS-style simulation.
Pure. ``network`` places ranks and the links that they share, contains the parameters of the
machine, delivers messages, and builds collectives from messages. All ranks advance together, as
arrays: n ranks cost n log n per round of messages, because servers sort their arrivals.
"""

import math
from collections.abc import Callable, Iterator, Sequence

import msgspec
import numpy as np

from wireproof.plan import Bounds, Prediction, ScalePattern, exactly
from wireproof.plan.scale.network import (
    Floats,
    Ints,
    MachineCosts,
    ScaleTopology,
    SimulatedNetwork,
    allreduce,
    allreduce_algorithm,
    barrier,
    exchange,
)

# --- All-to-all by pairwise exchange: in phase d, every rank sends to the rank at distance d. Pure.
#
# n - 1 phases of n messages are too many for large n. A sample of phases is simulated, stratified
# by their reach (within nodes, within leaves, beyond), and the total is estimated with the error of
# a stratified sample without replacement (Cochran, Sampling Techniques, 5.4). The 95 % interval is
# 1.96 errors plus 1 % (``_SKEW``) on either side. Closed form for one rank per node on one switch:
# (n - 1) (start + G s).

_MESSAGES = 12_000_000
"""Maximum number of messages that are simulated, which takes about ten seconds."""
_FEWEST = 12
_Z = 1.96
_SKEW = 0.01
"""Margin as a share of the total: omitted phases would pass a different skew to the next phase.
Without it, 85 of 100 intervals covered all phases of 640 ranks (benchmarks/planning.py).
"""


def alltoall(network: SimulatedNetwork, size: int, *, most_phases: int | None = None) -> Prediction:
    """Simulate all-to-all. If not all phases are simulated, the time is within its spread with 95 %
    confidence.

    ``size``: bytes to each rank. ``most_phases``: limit of the sample, for tests.
    """
    count = network.topology.ranks
    phases = count - 1
    most = most_phases or max(3 * _FEWEST, _MESSAGES // count)
    if phases <= most:
        time = _all_phases(network, size)
        found = _prediction(network.topology, "alltoall", size, time, "pairwise exchange")
        return msgspec.structs.replace(found, simulated=phases, total=phases)
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
    method = "pairwise exchange, sampled; the spread is 95 %"
    return msgspec.structs.replace(
        _prediction(network.topology, "alltoall", size, total, method),
        spread_ns=Bounds(max(0.0, total - error), total + error),
        simulated=len(times),
        total=phases,
    )


def _all_phases(network: SimulatedNetwork, size: int) -> float:
    count = network.topology.ranks
    ranks = np.arange(count, dtype=np.int64)
    now = np.zeros(count)
    for distance in range(1, count):
        now = exchange(network, now, ranks, (ranks + distance) % count, size)
    return float(now.max(initial=0.0))


def _strata(network: SimulatedNetwork) -> list[Ints]:
    """Group phases by their longest reach; a distance and its complement have the same reach."""
    topology = network.topology
    count = topology.ranks
    distance = np.arange(1, count, dtype=np.int64)
    reach = np.minimum(distance, count - distance)
    borders = sorted({topology.ppn, min(count, topology.ppn * topology.leaf)})
    found = np.searchsorted(np.asarray(borders), reach, side="right")
    return [distance[found == number] for number in np.unique(found)]


def _picked(stratum: Ints, wanted: int, network: SimulatedNetwork) -> Ints:
    """Draw ``wanted`` phases of a stratum without replacement."""
    if wanted >= stratum.size:
        return stratum
    chance = np.random.default_rng((network.topology.seed, int(stratum[0])))
    return np.asarray(chance.choice(stratum, wanted, replace=False), dtype=np.int64)


def _increments(
    network: SimulatedNetwork, distances: Ints, size: int
) -> tuple[dict[int, float], float]:
    """Return (ns that each phase adds to the mean of all ranks' times, lag of the last rank at the
    end).

    Phases run in sequence, nearest first as in the whole exchange: the next phase starts with the
    skew of the previous one.
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


MESSAGES = 2
"""Messages per rank in one operation; HPCC divides the time by this number."""
_WARM, _TIMED, _MOST_TIMED, _TURNS = 3, 3, 8, 1_000_000


def natural(ranks: int) -> Ints:
    """Return the ring positions in the order of the ranks."""
    return np.arange(ranks, dtype=np.int64)


def random_ring(ranks: int, seed: int) -> Ints:
    """Return the ranks in a random order."""
    return np.asarray(np.random.default_rng(seed).permutation(ranks), dtype=np.int64)


def ring_time(network: SimulatedNetwork, order: Ints, size: int) -> float:
    """Return the ns of one operation in steady state. ``order``: the ranks by ring position."""
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
    network: SimulatedNetwork,
    now: Floats,
    ring: tuple[Ints, Ints, Ints],
    overheads: tuple[Floats, Floats],
    size: int,
) -> Floats:
    """Simulate one operation: two sends, then both receives in order of arrival.

    The message to the right reaches the next position of the ring, the message to the left the
    previous one.
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


ORDERS = ("natural", "random", "both")
SOURCES = (
    "LogGP: Alexandrov et al. 1995; simulated as in LogGOPSim: Hoefler et al. 2010",
    "rings: HPCC (b_eff), time of an operation / 2 messages, slowest rank; 30 random rings at most",
    "barrier: dissemination; alltoall: pairwise exchange",
    "allreduce: recursive doubling to 2 KiB, then reduce-scatter and allgather",
)
VALIDITY = (
    "all nodes and links are equal and healthy, and the application's processes always run",
    "one line t = start + s / R: no step from eager to rendezvous",
    "not modelled: adaptive routing, congestion control and the arithmetic of reductions",
)
_RINGS, _RANKS_OF_RINGS = 30, 1_500_000


def predictions(
    machine: MachineCosts,
    topologies: Sequence[ScaleTopology],
    patterns: Sequence[ScalePattern],
    *,
    order: str,
    size: int,
) -> list[Prediction]:
    """Predict each of ``patterns`` in each of ``topologies``. ``size``: bytes of a message.

    The sweep is not included.
    """
    found: list[Prediction] = []
    for topology in topologies:
        for pattern in patterns:
            if pattern == "ring":
                found += _rings(machine, topology, order, size)
            elif pattern != "sweep":
                found.append(_COLLECTIVES[pattern](SimulatedNetwork(machine, topology), size))
    return found


def _rings(
    machine: MachineCosts, topology: ScaleTopology, order: str, size: int
) -> Iterator[Prediction]:
    if order in ("natural", "both"):
        time = ring_time(SimulatedNetwork(machine, topology), natural(topology.ranks), size)
        yield _ring(topology, "natural", size, [time])
    if order in ("random", "both"):
        count = max(1, min(_RINGS, _RANKS_OF_RINGS // topology.ranks))
        times = [
            ring_time(
                SimulatedNetwork(machine, topology),
                random_ring(topology.ranks, topology.seed + ring),
                size,
            )
            for ring in range(count)
        ]
        yield _ring(topology, "random", size, times)


def _ring(topology: ScaleTopology, order: str, size: int, times: Sequence[float]) -> Prediction:
    """Return HPCC's number: the geometric mean over the rings."""
    mean = math.exp(sum(map(math.log, times)) / len(times)) if min(times) > 0 else 0.0
    mean = min(max(mean, min(times)), max(times))  # avoids rounding of a single value
    natural_order = order == "natural"
    method = "geometric mean of rings; the spread covers all rings"
    return msgspec.structs.replace(
        _prediction(topology, "ring", size, mean, "natural order" if natural_order else method),
        order=order,
        spread_ns=Bounds(min(times), max(times)),
        latency_ns=mean / MESSAGES,
        simulated=len(times),
        total=1 if natural_order else _RINGS,
    )


def _barrier(network: SimulatedNetwork, _size: int) -> Prediction:
    return _prediction(network.topology, "barrier", 0, barrier(network), "dissemination")


def _allreduce(network: SimulatedNetwork, size: int) -> Prediction:
    time = allreduce(network, size)
    return _prediction(network.topology, "allreduce", size, time, allreduce_algorithm(size))


_COLLECTIVES: dict[ScalePattern, Callable[[SimulatedNetwork, int], Prediction]] = {
    "barrier": _barrier,
    "allreduce": _allreduce,
    "alltoall": alltoall,
}


def _prediction(
    topology: ScaleTopology, pattern: ScalePattern, size: int, time: float, method: str
) -> Prediction:
    """Return a prediction from a single complete simulation."""
    return Prediction(
        pattern=pattern,
        order="",
        nodes=topology.nodes,
        ppn=topology.ppn,
        ranks=topology.ranks,
        message_bytes=size,
        time_ns=time,
        latency_ns=time,
        spread_ns=exactly(time),
        simulated=1,
        total=1,
        method=method,
    )
