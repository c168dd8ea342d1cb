"""Where ranks sit, how far apart two nodes are, and which links between switches they share. Pure.

Ranks fill nodes in sequence, and nodes fill leaves. Fat tree: nodes of one leaf share a switch;
those of one pod have a path through 3 switches, others through 5. Each leaf has ``uplinks`` up and
equally many down; a flow takes the link of its destination (D-mod-k: shifts do not collide) or a
random one. Dragonfly: a leaf is a router, a group's routers are fully connected, and each pair of
groups has ``uplinks`` global links; routes are minimal (1 to 4 routers). Links inside groups and
pods have no limit here.
"""

import dataclasses
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wireproof.model.errors import BadInput
from wireproof.plan.numbers import MOST_NODES, MOST_PPN, chosen, whole

Ints = NDArray[np.int64]
Kind = Literal["one-switch", "fat-tree", "dragonfly"]
KINDS: tuple[Kind, ...] = ("one-switch", "fat-tree", "dragonfly")
_MOST_RANKS = 1_000_000


class Stage(NamedTuple):
    """Links that messages queue for. ``server``: the number of each message's link."""

    server: Ints
    servers: int


@dataclasses.dataclass(frozen=True, kw_only=True)
class ScaleTopology:
    """``leaf``: nodes of a leaf or router. ``group``: leaves of a pod or routers of a group.

    ``uplinks``: links of a leaf, or between two groups, each as fast as an adapter; 0: never a
    bottleneck. Raises BadInput for more than 1,000,000 ranks and for impossible numbers.
    """

    nodes: int
    ppn: int = 1
    kind: Kind = "fat-tree"
    leaf: int = 32
    group: int = 32
    uplinks: int = 0
    routing: Literal["destination", "chance"] = "destination"
    seed: int = 1

    def __post_init__(self) -> None:
        whole("--nodes", self.nodes, 1, MOST_NODES)
        whole("--ppn", self.ppn, 1, MOST_PPN)
        if self.ranks > _MOST_RANKS:
            raise BadInput(
                f"{self.nodes} nodes x {self.ppn} ranks are {self.ranks:,}: a simulation takes up"
                f" to {_MOST_RANKS:,} ranks."
            )
        chosen("--topology", self.kind, KINDS)
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
        """Return the switches after the first one on the path of each pair of nodes."""
        if self.kind == "one-switch":
            return np.zeros(source.shape, dtype=np.int64)
        near = source // self.leaf == target // self.leaf
        block = self.leaf * self.group
        together = source // block == target // block
        middle, far = (2, 4) if self.kind == "fat-tree" else (1, 3)
        return np.asarray(np.where(near, 0, np.where(together, middle, far)), dtype=np.int64)

    def stages(self, source: Ints, target: Ints, turn: int) -> list[Stage]:
        """Return the links of messages that leave their leaf or group, in order; -1: no link.

        ``turn`` varies random choices from round to round.
        """
        if not self.uplinks or self.kind == "one-switch":
            return []
        if self.kind == "dragonfly":
            return [self._global_links(source, target, turn)]
        up, down = source // self.leaf, target // self.leaf
        lane = self._lane(target, turn)
        apart = up != down
        count = (-(-self.nodes // self.leaf)) * self.uplinks
        return [
            Stage(np.where(apart, leaf * self.uplinks + lane, -1), count) for leaf in (up, down)
        ]

    def _lane(self, target: Ints, turn: int) -> Ints:
        if self.routing == "destination":
            return np.asarray(target % self.uplinks, dtype=np.int64)
        order = np.random.default_rng((self.seed, turn))
        return order.integers(0, self.uplinks, target.shape)

    def _global_links(self, source: Ints, target: Ints, turn: int) -> Stage:
        block = self.leaf * self.group
        groups = -(-self.nodes // block)
        out, into = source // block, target // block
        link = (out * groups + into) * self.uplinks + self._lane(target, turn)
        return Stage(np.where(out != into, link, -1), groups * groups * self.uplinks)
