"""Messages on their way: each server (an adapter, a link) takes one at a time, in order of arrival.

Pure.
"""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray

from wireproof.plan.scale.machine import Machine
from wireproof.plan.scale.topology import Ints, Topology

__all__ = ["Floats", "Network", "serve"]

Floats = NDArray[np.float64]


def serve(arrival: Floats, server: Ints, cost: float, ends: Floats) -> Floats:
    """When each message's last byte has passed its server, which then takes ``cost`` for the next.

    ``arrival``: when the last byte could pass at the earliest. end_k = max(arrival_k, end_(k-1) +
    cost), messages of one server in order of arrival: a running maximum of arrival_k - k cost.
    ``ends``: by server, when it was last done; brought up to date.
    """
    if cost <= 0.0 or not arrival.size:
        return arrival
    arrival = np.maximum(arrival, ends[server] + cost)
    low = float(arrival.min())
    # one key sorts twice as fast as two; stable, so that equal times stay in their order anywhere
    order = np.argsort(server * (float(arrival.max()) - low + 1.0) + (arrival - low), kind="stable")
    sorted_server = server[order]
    first = np.empty(order.size, dtype=np.bool_)
    first[0] = True
    np.not_equal(sorted_server[1:], sorted_server[:-1], out=first[1:])
    starts = np.flatnonzero(first)
    segment = np.cumsum(first) - 1
    place = np.arange(order.size) - starts[segment]
    level = arrival[order] - low - place * cost
    # each server's values lie above those of the one before: one running maximum serves all
    apart = float(arrival.max()) - low + float(place.max()) * cost + 1.0
    level += segment * apart
    np.maximum.accumulate(level, out=level)
    level -= segment * apart
    level += place * cost + low
    last = np.append(starts[1:], order.size) - 1
    ends[sorted_server[last]] = level[last]
    result = np.empty_like(arrival)
    result[order] = level
    return result


@dataclasses.dataclass
class Network:
    """A machine in a topology, and until when each of its servers is busy. Messages that are given
    together are served before those of later calls. ``turn`` counts the calls, for what varies by
    chance.
    """

    machine: Machine
    topology: Topology
    turn: int = 0

    def __post_init__(self) -> None:
        self._chance = np.random.default_rng(self.topology.seed)
        self._sent = np.full(self.topology.nodes, -np.inf)
        self._received = np.full(self.topology.nodes, -np.inf)
        self._carried: dict[int, Floats] = {}

    def overhead(self, source: Ints, target: Ints) -> Floats:
        """A processor's time for each message."""
        local = self.topology.node_of(source) == self.topology.node_of(target)
        machine = self.machine
        return np.where(local, machine.local_overhead_ns, machine.overhead_ns)

    def deliver(self, posted: Floats, source: Ints, target: Ints, size: int) -> Floats:
        """When each message is there, of ranks ``source`` to ranks ``target``, each posted at its
        time (ns) and of ``size`` bytes. The receiver's overhead comes on top.
        """
        self.turn += 1
        machine, topology = self.machine, self.topology
        origin, goal = topology.node_of(source), topology.node_of(target)
        local = origin == goal
        arrival = posted + (
            machine.local_start_ns - 2 * machine.local_overhead_ns + machine.local_byte_ns * size
        )
        far = np.flatnonzero(~local)
        if far.size:
            arrival[far] = self._over_wire(posted[far], origin[far], goal[far], size)
        return arrival

    def _over_wire(self, posted: Floats, origin: Ints, goal: Ints, size: int) -> Floats:
        busy = self.machine.occupancy_ns(size)
        now = serve(posted + busy, origin, busy, self._sent)
        for number, stage in enumerate(self.topology.stages(origin, goal, self.turn)):
            used = np.flatnonzero(stage.server >= 0)
            ends = self._carried.setdefault(number, np.full(stage.servers, -np.inf))
            now[used] = serve(now[used], stage.server[used], self.machine.byte_ns * size, ends)
        latency = self.machine.latency_ns + self.machine.hop_ns * self.topology.hops(origin, goal)
        if self.machine.noise:
            latency = latency * self._chance.lognormal(0.0, self.machine.noise, latency.shape)
        return serve(now + latency, goal, busy, self._received)
