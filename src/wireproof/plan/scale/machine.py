"""The parameters of LogGOPS, of one node and its adapter. Pure.

LogGP (Alexandrov et al. 1995): L latency of the wire, o a processor's time per message, g the least
time between messages of an adapter, G time per byte. Here the adapter is shared by the ranks of a
node, as in LogGOPSim (Hoefler et al. 2010). A measured half round trip t(s) = start + s / R of two
nodes is o + (g + G s) + L + o, therefore L = start - 2 o - g.
"""

from __future__ import annotations

import dataclasses

from wireproof.plan.numbers import real

__all__ = ["Machine"]

_LONGEST_NS = 1e12
_SLOWEST = 1e9  # ns per byte: 1 B/s


@dataclasses.dataclass(frozen=True, kw_only=True)
class Machine:
    """``start_ns``: half a round trip of an empty message between nodes of one switch;
    ``overhead_ns``: o; ``gap_ns``: g of the adapter; ``byte_ns``: G. ``hop_ns``: each further
    switch with its cable. ``local_*``: between ranks of one node. ``noise``: sigma of the natural
    logarithm of a message's latency. Raises BadInput for what no machine has.
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
        real("the start of a message", self.start_ns, 0, _LONGEST_NS, "ns")
        real("the time per byte", self.byte_ns, 0, _SLOWEST, "ns")
        real("the overhead", self.overhead_ns, 0, self.start_ns / 2, "ns (half of the start)")
        most = self.start_ns - 2 * self.overhead_ns
        real("the gap", self.gap_ns, 0, most, "ns (the start less two overheads)")
        real("the time of a hop", self.hop_ns, 0, _LONGEST_NS, "ns")
        real("the local start", self.local_start_ns, 0, _LONGEST_NS, "ns")
        real("the local time per byte", self.local_byte_ns, 0, _SLOWEST, "ns")
        real("the local overhead", self.local_overhead_ns, 0, self.local_start_ns / 2, "ns")
        real("the noise", self.noise, 0, 2)

    @property
    def latency_ns(self) -> float:
        """L: the wire and what adapters add."""
        return self.start_ns - 2 * self.overhead_ns - self.gap_ns

    def occupancy_ns(self, size: int) -> float:
        """How long a message keeps an adapter busy."""
        return self.gap_ns + self.byte_ns * size
