# pure
"""A simulated network: the places of ranks, the links that they share, and messages in flight. Each
server (an adapter, a link) handles one message at a time, in order of arrival. Pure.
"""

import dataclasses

import numpy as np
from numpy.typing import NDArray

from wireproof.model.errors import MOST_NODES, MOST_PPN, BadInput, chosen, real, whole

# --- The places of ranks, the distance between two nodes, and the links between switches that they
# share. Pure.

Ints = NDArray[np.int64]
_MOST_RANKS = 1_000_000


Stage = tuple[Ints, int]
"""The queues of links: the number of each message's link (-1: no link), and of all links."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class ScaleTopology:
    """``leaf``: nodes of a leaf or router. ``group``: leaves of a pod or routers of a group.

    ``uplinks``: links of a leaf, or between two groups, each as fast as an adapter; 0: never a
    bottleneck. Raises BadInput for more than 1,000,000 ranks and for impossible numbers.
    """

    nodes: int
    ppn: int = 1
    kind: str = "fat-tree"
    leaf: int = 32
    group: int = 32
    uplinks: int = 0
    routing: str = "destination"
    seed: int = 1

    def __post_init__(self) -> None:
        whole("--nodes", self.nodes, 1, MOST_NODES)
        whole("--ppn", self.ppn, 1, MOST_PPN)
        if self.ranks > _MOST_RANKS:
            raise BadInput(
                f"{self.nodes} nodes x {self.ppn} ranks are {self.ranks:,}: a simulation supports "
                f"up to {_MOST_RANKS:,} ranks."
            )
        chosen("--topology", self.kind, ("one-switch", "fat-tree", "dragonfly"))
        whole("--leaf", self.leaf, 1, MOST_NODES)
        whole("--group", self.group, 1, MOST_NODES)
        whole("--uplinks", self.uplinks, 0, MOST_NODES)
        chosen("--routing", self.routing, ("destination", "chance"))

    @property
    def ranks(self) -> int:
        return self.nodes * self.ppn

    def node_of(self, rank: Ints) -> Ints:
        return np.asarray(rank // self.ppn, dtype=np.int64)

    def hops(self, source: Ints, target: Ints) -> Ints:
        """Return the number of switches after the first on the path of each pair of nodes."""
        if self.kind == "one-switch":
            return np.zeros(source.shape, dtype=np.int64)
        near = source // self.leaf == target // self.leaf
        block = self.leaf * self.group
        together = source // block == target // block
        middle, far = (2, 4) if self.kind == "fat-tree" else (1, 3)
        return np.asarray(np.where(near, 0, np.where(together, middle, far)), dtype=np.int64)

    def stages(self, source: Ints, target: Ints, turn: int) -> list[Stage]:
        """Return the links of messages that leave their leaf or group, in order.

        ``turn`` varies random choices from round to round.
        """
        if not self.uplinks or self.kind == "one-switch":
            return []
        # the links of a leaf in both directions, or between two groups
        block = self.leaf if self.kind == "fat-tree" else self.leaf * self.group
        blocks = -(-self.nodes // block)
        out, into = source // block, target // block
        ends, count = [out, into], blocks
        if self.kind == "dragonfly":
            ends, count = [out * blocks + into], blocks * blocks
        lane = self._lane(target, turn)
        return [
            (np.where(out != into, end * self.uplinks + lane, -1), count * self.uplinks)
            for end in ends
        ]

    def _lane(self, target: Ints, turn: int) -> Ints:
        if self.routing == "destination":
            return np.asarray(target % self.uplinks, dtype=np.int64)
        order = np.random.default_rng((self.seed, turn))
        return order.integers(0, self.uplinks, target.shape)


# --- The parameters of LogGOPS, of one node and its adapter. Pure.
#
# LogGP (Alexandrov et al. 1995): L latency of the wire, o a processor's time per message, g the
# minimum time between messages of an adapter, G time per byte. Here the adapter is shared by the
# ranks of a node, as in LogGOPSim (Hoefler et al. 2010). A measured half round trip t(s) = start +
# s / R of two nodes is o + (g + G s) + L + o, therefore L = start - 2 o - g.

_LONGEST_NS = 1e12
_SLOWEST = 1e9  # ns per byte: 1 B/s


@dataclasses.dataclass(frozen=True, kw_only=True)
class MachineCosts:
    """Costs of a machine. Raises BadInput for impossible values.

    ``start_ns``: half a round trip of an empty message between nodes of one switch.
    ``overhead_ns``: o. ``gap_ns``: g of the adapter. ``byte_ns``: G. ``hop_ns``: each further
    switch with its cable. ``local_*``: between ranks of one node. ``noise``: sigma of the natural
    logarithm of a message's latency.
    """

    start_ns: float
    byte_ns: float
    overhead_ns: float = 0.0
    gap_ns: float = 0.0
    hop_ns: float = 0.0
    local_start_ns: float = 300.0
    local_byte_ns: float = 0.1
    local_overhead_ns: float = 100.0
    noise: float = 0.0

    def __post_init__(self) -> None:
        for name, value, most, unit in (
            ("the start of a message", self.start_ns, _LONGEST_NS, "ns"),
            ("the time per byte", self.byte_ns, _SLOWEST, "ns"),
            ("the time of a hop", self.hop_ns, _LONGEST_NS, "ns"),
            ("the local start", self.local_start_ns, _LONGEST_NS, "ns"),
            ("the local time per byte", self.local_byte_ns, _SLOWEST, "ns"),
            ("the noise", self.noise, 2, ""),
        ):
            real(name, value, 0, most, unit)
        real("the overhead", self.overhead_ns, 0, self.start_ns / 2, "ns (half of the start)")
        rest = self.start_ns - 2 * self.overhead_ns
        real("the gap", self.gap_ns, 0, rest, "ns (the start less two overheads)")
        real("the local overhead", self.local_overhead_ns, 0, self.local_start_ns / 2, "ns")

    @property
    def latency_ns(self) -> float:
        """L: the wire and the delay of the adapters."""
        return self.start_ns - 2 * self.overhead_ns - self.gap_ns

    def occupancy_ns(self, size: int) -> float:
        """Return the time in ns for which a message keeps an adapter busy."""
        return self.gap_ns + self.byte_ns * size


Floats = NDArray[np.float64]


def serve(arrival: Floats, server: Ints, cost: float, ends: Floats) -> Floats:
    """Return the time at which each message's last byte has passed its server, which then needs
    ``cost`` for the next message.

    ``arrival``: the earliest time at which the last byte could pass. end_k = max(arrival_k,
    end_(k-1) + cost), messages of one server in order of arrival: a running maximum of arrival_k -
    k cost. ``ends``: for each server, the time when it last finished; updated in place.
    """
    if cost <= 0.0 or not arrival.size:
        return arrival
    arrival = np.maximum(arrival, ends[server] + cost)
    low = float(arrival.min())
    # a single key sorts twice as fast as two; stable, so that equal times keep their order
    # everywhere
    order = np.argsort(server * (float(arrival.max()) - low + 1.0) + (arrival - low), kind="stable")
    sorted_server = server[order]
    first = np.empty(order.size, dtype=np.bool_)
    first[0] = True
    np.not_equal(sorted_server[1:], sorted_server[:-1], out=first[1:])
    starts = np.flatnonzero(first)
    segment = np.cumsum(first) - 1
    place = np.arange(order.size) - starts[segment]
    level = arrival[order] - low - place * cost
    # each server's values are above those of the previous server, so one running maximum suffices
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
class SimulatedNetwork:
    """A machine in a topology, with the time until which each of its servers is busy.

    Messages of one call are served before those of later calls. ``turn`` counts the calls and
    varies random choices.
    """

    machine: MachineCosts
    topology: ScaleTopology
    turn: int = 0

    def __post_init__(self) -> None:
        self._chance = np.random.default_rng(self.topology.seed)
        self._sent = np.full(self.topology.nodes, -np.inf)
        self._received = np.full(self.topology.nodes, -np.inf)
        self._carried: dict[int, Floats] = {}

    def overhead(self, source: Ints, target: Ints) -> Floats:
        """Return the processor time of each message."""
        local = self.topology.node_of(source) == self.topology.node_of(target)
        machine = self.machine
        return np.where(local, machine.local_overhead_ns, machine.overhead_ns)

    def deliver(self, posted: Floats, source: Ints, target: Ints, size: int) -> Floats:
        """Return when each message arrives from ranks ``source`` at ranks ``target``.

        Each is posted at its time (ns) and has ``size`` bytes. The receiver's overhead is not
        included.
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
        for number, (link, links) in enumerate(self.topology.stages(origin, goal, self.turn)):
            used = np.flatnonzero(link >= 0)
            ends = self._carried.setdefault(number, np.full(links, -np.inf))
            now[used] = serve(now[used], link[used], self.machine.byte_ns * size, ends)
        latency = self.machine.latency_ns + self.machine.hop_ns * self.topology.hops(origin, goal)
        if self.machine.noise:
            latency = latency * self._chance.lognormal(0.0, self.machine.noise, latency.shape)
        return serve(now + latency, goal, busy, self._received)


# --- Collectives built from messages, by the algorithms of MPI libraries. Pure.
#
# Barrier: dissemination, ceil(log2 n) rounds. Allreduce: recursive doubling for short messages,
# reduce-scatter and allgather by halving and doubling (Rabenseifner) above 2 KiB, as MPICH; ranks
# beyond a power of two fold into a neighbour before and after. Closed forms for one rank per node
# on one switch and n a power of two: log2 n x start; log2 n x (start + G s); 2 log2 n x start + 2 G
# s (n - 1) / n. Arithmetic on the data is not counted.

SHORT_BYTES = 2048
"""Largest size for which allreduce uses recursive doubling (MPICH's default)."""


def exchange(
    network: SimulatedNetwork, now: Floats, ranks: Ints, target: Ints, size: int
) -> Floats:
    """Let each of ``ranks`` send to its ``target`` and receive the one message addressed to it.

    ``target`` is a permutation of ``ranks``. Other ranks keep their times.
    """
    overhead = network.overhead(ranks, target)
    posted = now[ranks] + overhead
    result = now.copy()
    arrived, receive = np.empty_like(now), np.empty_like(now)
    arrived[target] = network.deliver(posted, ranks, target, size)
    receive[target] = overhead
    result[ranks] = np.maximum(posted, arrived[ranks]) + receive[ranks]
    return result


def barrier(network: SimulatedNetwork) -> float:
    """Return the ns until the last rank leaves if all enter at once."""
    count = network.topology.ranks
    ranks = np.arange(count, dtype=np.int64)
    now = np.zeros(count)
    step = 1
    while step < count:
        now = exchange(network, now, ranks, (ranks + step) % count, 0)
        step *= 2
    return float(now.max(initial=0.0))


def allreduce_algorithm(size: int) -> str:
    """Return the name of the algorithm for messages of ``size`` bytes."""
    return "recursive doubling" if size <= SHORT_BYTES else "reduce-scatter and allgather"


def allreduce(network: SimulatedNetwork, size: int) -> float:
    """Return the ns until the last rank has the sum of all ranks' ``size`` bytes."""
    count = network.topology.ranks
    power = 1 << (count.bit_length() - 1)
    extra = count - power
    now = np.zeros(count)
    # of the first 2 x extra ranks, each odd rank also represents its even neighbour
    even = np.arange(0, 2 * extra, 2, dtype=np.int64)
    now = _one_way(network, now, even, even + 1, size)
    active = np.concatenate((even + 1, np.arange(2 * extra, count, dtype=np.int64)))
    place = np.arange(power, dtype=np.int64)
    for step, part in _steps(power, size):
        now = exchange(network, now, active, active[place ^ step], part)
    now = _one_way(network, now, even + 1, even, size)
    return float(now.max(initial=0.0))


def _steps(power: int, size: int) -> list[tuple[int, int]]:
    """Return (distance of the partner, bytes) of each round."""
    distances = [1 << bit for bit in range(power.bit_length() - 1)]
    if size <= SHORT_BYTES:
        return [(distance, size) for distance in distances]
    scatter = [(distance, -(-size // (2 * distance))) for distance in distances]
    return [*scatter, *reversed(scatter)]


def _one_way(
    network: SimulatedNetwork, now: Floats, source: Ints, target: Ints, size: int
) -> Floats:
    """Let each of ``source`` send to its ``target``, which waits for the message."""
    if not source.size:
        return now
    overhead = network.overhead(source, target)
    posted = now[source] + overhead
    there = network.deliver(posted, source, target, size)
    result = now.copy()
    result[source] = posted
    result[target] = np.maximum(now[target], there) + overhead
    return result
