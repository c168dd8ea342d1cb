"""One prediction for each pattern, order and scale. Pure."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

import msgspec

from wireproof.model.planning.bounds import Bounds, exactly
from wireproof.model.planning.scale import Prediction, ScalePattern
from wireproof.plan.scale.alltoall import alltoall
from wireproof.plan.scale.collectives import allreduce, allreduce_algorithm, barrier
from wireproof.plan.scale.machine import Machine
from wireproof.plan.scale.network import Network
from wireproof.plan.scale.rings import MESSAGES, natural, random_ring, ring_time
from wireproof.plan.scale.topology import Topology

__all__ = ["ORDERS", "SOURCES", "VALIDITY", "predictions"]

ORDERS = ("natural", "random", "both")
SOURCES = (
    "LogGP: Alexandrov et al. 1995; simulated as in LogGOPSim: Hoefler et al. 2010",
    "rings: HPCC (b_eff), time of an operation / 2 messages, slowest rank; 30 random rings at most",
    "barrier: dissemination; alltoall: pairwise exchange",
    "allreduce: recursive doubling to 2 KiB, then reduce-scatter and allgather",
)
VALIDITY = (
    "every node and link alike and healthy, the application's processes always running",
    "one line t = start + s / R: no step from eager to rendezvous",
    "adaptive routing, congestion control and reductions' arithmetic are left out",
)
_RINGS, _RANKS_OF_RINGS = 30, 1_500_000


def predictions(
    machine: Machine,
    topologies: Sequence[Topology],
    patterns: Sequence[ScalePattern],
    *,
    order: str,
    size: int,
) -> list[Prediction]:
    """Each of ``patterns`` in each of ``topologies``; ``size``: bytes of a message. The sweep is
    not among them: see ``plan.duration``.
    """
    found: list[Prediction] = []
    for topology in topologies:
        for pattern in patterns:
            if pattern == "ring":
                found += _rings(machine, topology, order, size)
            elif pattern != "sweep":
                found.append(_COLLECTIVES[pattern](Network(machine, topology), size))
    return found


def _rings(machine: Machine, topology: Topology, order: str, size: int) -> Iterator[Prediction]:
    if order in ("natural", "both"):
        time = ring_time(Network(machine, topology), natural(topology.ranks), size)
        yield _ring(topology, "natural", size, [time])
    if order in ("random", "both"):
        count = max(1, min(_RINGS, _RANKS_OF_RINGS // topology.ranks))
        times = [
            ring_time(
                Network(machine, topology), random_ring(topology.ranks, topology.seed + ring), size
            )
            for ring in range(count)
        ]
        yield _ring(topology, "random", size, times)


def _ring(topology: Topology, order: str, size: int, times: Sequence[float]) -> Prediction:
    """HPCC's number: the geometric mean over the rings."""
    mean = math.exp(sum(map(math.log, times)) / len(times)) if min(times) > 0 else 0.0
    mean = min(max(mean, min(times)), max(times))  # a single one is not rounded
    method = "natural order" if order == "natural" else "geometric mean of rings; the spread is all"
    found = _prediction(topology, "ring", size, mean, method)
    return msgspec.structs.replace(
        found,
        order=order,
        spread_ns=Bounds(min(times), max(times)),
        latency_ns=mean / MESSAGES,
        simulated=len(times),
        total=1 if order == "natural" else _RINGS,
    )


def _barrier(network: Network, _size: int) -> Prediction:
    return _prediction(network.topology, "barrier", 0, barrier(network), "dissemination")


def _allreduce(network: Network, size: int) -> Prediction:
    time = allreduce(network, size)
    return _prediction(network.topology, "allreduce", size, time, allreduce_algorithm(size))


def _alltoall(network: Network, size: int) -> Prediction:
    time = alltoall(network, size)
    sampled = "" if time.simulated == time.phases else ", sampled; the spread is 95 %"
    method = "pairwise exchange" + sampled
    return msgspec.structs.replace(
        _prediction(network.topology, "alltoall", size, time.time_ns, method),
        spread_ns=Bounds(time.low_ns, time.high_ns),
        simulated=time.simulated,
        total=time.phases,
    )


_COLLECTIVES: dict[ScalePattern, Callable[[Network, int], Prediction]] = {
    "barrier": _barrier,
    "allreduce": _allreduce,
    "alltoall": _alltoall,
}


def _prediction(
    topology: Topology, pattern: ScalePattern, size: int, time: float, method: str
) -> Prediction:
    """What was simulated once and as a whole."""
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
