# pure
"""Synthetic clusters with known faults, up to ten thousand nodes, to test ``locate``.

All noise derives from one seed. The capacity of a port is rate x (1 - |N(0, spread)|): healthy
ports differ a little. A sample is min(sender's tx, receiver's rx, its share of each link on its
path) x exp(N(0, sigma)). A share ``tail_share`` of the samples is even slower, by 1 +
Exp(tail_size), because contention and disturbed machines only cause slowdowns. A half round trip is
the latency of the path plus the latency of both ends (``latency_ns`` and the faults' part), with
the same noise upwards.

Fabric: node n is attached to leaf n // (nodes per leaf). Each leaf has ``uplinks`` links, one to
each of ``uplinks`` spines. ``routing`` is ``destination`` (a flow to node j takes link
j mod uplinks), ``hash`` (a fixed random choice by (i, j)) or ``spread`` (every flow is spread over
all links of its leaf). Flows of the same round and direction share a common link equally.
Without uplinks the fabric is non-blocking.
"""

import dataclasses
from collections.abc import Sequence
from typing import Literal

import numpy as np

from wireproof.locate.samples import Flags, Floats, Longs, Samples
from wireproof.model.located import Attachment, Cable, Direction, Fabric, Metric

Pairs = Sequence[tuple[int, int]]


@dataclasses.dataclass(frozen=True, kw_only=True)
class WorldFault:
    """``share``: the remaining share of the rate (0.8: a fifth slower); the affected part of the
    latency grows by 1 / share.

    ``node``: index; both directions unless ``direction`` is given (``port`` is the same). ``link``:
    leaf and uplink; direction ``tx`` out of the leaf, ``rx`` into it, "" both. ``switch``: every
    link of spine ``uplink``, or, with only ``leaf``, all traffic that the leaf's nodes send and
    receive. ``tier``: all links between leaves. ``pair``: from node to ``other``.

    ``begins``, ``ends``: the part of the screen's time during which the fault is active, 0 to 1. A
    fault that ends with the screen is also active in the confirm stage. ``period``: number of times
    that an intermittent fault comes and goes during the screen (0: permanent).
    """

    kind: Literal["node", "port", "link", "switch", "tier", "pair"]
    share: float
    node: int = -1
    other: int = -1
    leaf: int = -1
    uplink: int = -1
    direction: Direction = ""
    begins: float = 0.0
    ends: float = 1.0
    period: int = 0

    @property
    def lasting(self) -> bool:
        """True if the fault is always active."""
        return self.begins <= 0.0 and self.ends >= 1.0 and self.period == 0

    def holds(self, at: Floats) -> Flags:
        """Return whether the fault is active at each time: 0 to 1 in the screen, above 1 in the
        confirm stage.
        """
        now = (at >= self.begins) & ((at < self.ends) | (self.ends >= 1.0))
        return np.asarray(
            now & ((at * 2 * self.period).astype(np.int64) % 2 == 0 if self.period else True)
        )


@dataclasses.dataclass(frozen=True, kw_only=True)
class World:
    """``rate``: bytes/s of a healthy port. ``uplink_rate``: rate of a link between switches, as a
    share of ``rate``.
    """

    nodes: int
    leaves: int = 1
    uplinks: int = 0
    rate: float = 12.3e9
    uplink_rate: float = 1.0
    latency_ns: float = 1100.0
    sigma: float = 0.02
    spread: float = 0.005
    tail_share: float = 0.03
    tail_size: float = 0.3
    routing: Literal["destination", "hash", "spread"] = "destination"
    faults: tuple[WorldFault, ...] = ()
    seed: int = 1

    @property
    def names(self) -> tuple[str, ...]:
        width = len(str(max(0, self.nodes - 1)))
        return tuple(f"n{number:0{width}d}" for number in range(self.nodes))

    @property
    def leaf(self) -> Longs:
        """The leaf of each node."""
        return np.arange(self.nodes, dtype=np.int64) // -(-self.nodes // self.leaves)

    def fabric(self) -> Fabric:
        """Return the fabric as a description would list it; leaves are ``leaf0``, spines ``spine0``
        and so on.
        """
        leaves = [f"leaf{number}" for number in range(self.leaves)]
        spines = [f"spine{number}" for number in range(self.uplinks)]
        return Fabric(
            attachments=tuple(
                Attachment(node=name, switch=leaves[at])
                for name, at in zip(self.names, self.leaf.tolist(), strict=True)
            ),
            levels={**dict.fromkeys(leaves, 1), **dict.fromkeys(spines, 2)},
            cables=tuple(Cable(one=leaf, other=spine) for leaf in leaves for spine in spines),
            source="synthetic world",
        )

    def measure(
        self, rounds: Sequence[Pairs], metric: Metric = "goodput", *, alone: bool = False
    ) -> Samples:
        """Return samples of ``rounds`` of disjoint pairs: both directions in turn for goodput, once
        for half round trips.

        ``alone``: as in a confirm stage, no flow shares a link. The same arguments give the same
        samples.
        """
        rng = np.random.default_rng([self.seed, len(rounds), int(alone), int(metric == "hrt")])
        flat = [(a, b, number) for number, pairs in enumerate(rounds) for a, b in pairs]
        a, b, number = np.asarray(flat, dtype=np.int64).reshape(-1, 3).T
        if metric == "goodput":
            origin, target = np.concatenate((a, b)), np.concatenate((b, a))
            number = np.concatenate((number, number))
            turn = number * 2 + np.repeat((0, 1), a.size)
            when = self._times(turn, alone)
            truth = self._goodput_at(origin, target, np.arange(turn.size) if alone else turn, when)
            value = truth * np.exp(-self._noise(rng, truth.size))
        else:
            origin, target, when = a, b, self._times(number, alone)
            value = self._half_round_trip(a, b) * np.exp(self._noise(rng, a.size))
        return Samples(
            metric=metric,
            nodes=self.names,
            origin=origin.astype(np.int32),
            target=target.astype(np.int32),
            round=number.astype(np.int32),
            value=value,
            half_width=np.full(value.size, np.nan),
            when=when,
        )

    def _times(self, turn: Longs, alone: bool) -> Floats:
        """Return when each sample starts: 0 to 1 for the screen, 1 to 2 for a confirm stage."""
        last = float(turn.max(initial=0)) + 1.0
        return np.asarray(turn / last + (1.0 if alone else 0.0), dtype=np.float64)

    def _goodput_at(self, origin: Longs, target: Longs, turn: Longs, when: Floats) -> Floats:
        """Like ``_goodput``, but apply temporary faults to the samples during which they are
        active.
        """
        passing = [fault for fault in self.faults if not fault.lasting]
        if not passing:
            return self._goodput(origin, target, turn)
        held = np.stack([fault.holds(when) for fault in passing])
        goodput = np.empty(origin.size)
        lasting = tuple(fault for fault in self.faults if fault.lasting)
        for now in np.unique(held, axis=1).T:
            chosen = np.all(held == now[:, None], axis=0)
            faults = (
                *lasting,
                *(fault for fault, on in zip(passing, now.tolist(), strict=True) if on),
            )
            world = dataclasses.replace(self, faults=faults)
            goodput[chosen] = world._goodput(origin, target, turn)[chosen]
        return goodput

    def _noise(self, rng: np.random.Generator, count: int) -> Floats:
        tail = np.where(
            rng.random(count) < self.tail_share,
            np.log1p(rng.exponential(self.tail_size, count)),
            0.0,
        )
        return np.asarray(rng.normal(0.0, self.sigma, count) + tail, dtype=np.float64)

    def _capacities(self) -> tuple[Floats, Floats]:
        """Return (tx, rx) of every node as shares of the rate."""
        rng = np.random.default_rng([self.seed, 7])
        tx, rx = 1.0 - np.abs(rng.normal(0.0, self.spread, (2, self.nodes)))
        for fault in self.faults:
            hit = np.zeros(self.nodes, dtype=np.bool_)
            if fault.kind in ("node", "port"):
                hit[fault.node] = True
            elif fault.kind == "switch" and fault.uplink < 0:
                hit = self.leaf == fault.leaf
            if fault.direction in ("", "tx"):
                tx[hit] *= fault.share
            if fault.direction in ("", "rx"):
                rx[hit] *= fault.share
        return tx, rx

    def _goodput(self, origin: Longs, target: Longs, turn: Longs) -> Floats:
        """Return the true bytes/s of each flow; flows of the same ``turn`` run together."""
        tx, rx = self._capacities()
        share = np.minimum(tx[origin], rx[target])
        if self.uplinks:
            share = np.minimum(share, self._shares(origin, target, turn))
        for fault in self.faults:
            if fault.kind == "pair":
                there = (origin == fault.node) & (target == fault.other)
                back = (origin == fault.other) & (target == fault.node)
                hit = there & (fault.direction != "rx") | back & (fault.direction != "tx")
                share = np.where(hit, share * fault.share, share)
        return np.asarray(share * self.rate, dtype=np.float64)

    def _links(self) -> tuple[Floats, Floats]:
        """Return the capacity of each leaf's links, out and in, shape (leaves, uplinks), as shares
        of a port's rate.
        """
        # An integer rate would make numpy truncate all capacities to integers.
        out = np.full((self.leaves, self.uplinks), float(self.uplink_rate))
        into = out.copy()
        for fault in self.faults:
            rows: slice | int = slice(None)
            columns: slice | int = slice(None)
            if fault.kind == "link":
                rows, columns = fault.leaf, slice(None) if fault.uplink < 0 else fault.uplink
            elif fault.kind == "switch" and fault.uplink >= 0:
                columns = fault.uplink
            elif fault.kind != "tier":
                continue
            if fault.direction in ("", "tx"):
                out[rows, columns] *= fault.share
            if fault.direction in ("", "rx"):
                into[rows, columns] *= fault.share
        return out, into

    def uplink_of(self, origin: Longs, target: Longs) -> Longs:
        """Return the link of its leaf that each flow takes."""
        if self.routing == "destination":
            return np.asarray(target % self.uplinks, dtype=np.int64)
        mixed = (origin * 2654435761 + target * 40503 + self.seed * 97) & 0xFFFFFFFF
        mixed = ((mixed ^ (mixed >> 16)) * 73244475) & 0xFFFFFFFF
        return np.asarray(((mixed ^ (mixed >> 16)) >> 3) % self.uplinks, dtype=np.int64)

    def _shares(self, origin: Longs, target: Longs, turn: Longs) -> Floats:
        """Return the share of the rate that each flow gets on the links between leaves (infinite
        within a leaf).
        """
        a, b = self.leaf[origin], self.leaf[target]
        out, into = self._links()
        if self.routing == "spread":
            link = np.zeros_like(a)
            out, into = out.sum(axis=1, keepdims=True), into.sum(axis=1, keepdims=True)
        else:
            link = self.uplink_of(origin, target)
        across = a != b
        share = np.full(origin.size, np.inf)
        for leaf, capacity in ((a, out), (b, into)):
            key = (turn * self.leaves + leaf) * max(1, self.uplinks) + link
            _, place, flows = np.unique(key[across], return_inverse=True, return_counts=True)
            limit = capacity[leaf, link][across] / flows[place]
            share[across] = np.minimum(share[across], limit)
        return share

    def _half_round_trip(self, a: Longs, b: Longs) -> Floats:
        """Return the true half round trips in ns: the path plus the latency of each end."""
        added = (
            np.abs(np.random.default_rng([self.seed, 8]).normal(0.0, self.spread, self.nodes))
            * self.latency_ns
        )
        path = np.where(self.leaf[a] == self.leaf[b], 1.0, 1.25) * self.latency_ns
        for fault in self.faults:
            if fault.kind in ("node", "port"):
                added[fault.node] += (1.0 / fault.share - 1.0) * self.latency_ns
            elif fault.kind == "pair":
                hit = ((a == fault.node) & (b == fault.other)) | (
                    (a == fault.other) & (b == fault.node)
                )
                path = np.where(hit, path / fault.share, path)
        return np.asarray(path + added[a] + added[b], dtype=np.float64)
