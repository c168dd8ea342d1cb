"""From parts to sums: what one rank, one node and the job have of QPs and of bytes. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from wireproof.model.planning.bounds import Bounds, exactly
from wireproof.model.planning.footprint import Part, Peers, Sums

__all__ = ["add_up", "times_there"]


def times_there(part: Part, nodes: int, ppn: int, peers: Peers) -> Sums:
    """How often a part is there. What is there per peer node belongs to the node's kernel, not to a
    rank; a connected pair of nodes has one at either end.
    """
    if part.per == "rank":
        return Sums(rank=exactly(1), node=exactly(ppn), job=exactly(nodes * ppn))
    if part.per == "peer rank":
        return Sums(rank=peers.rank, node=peers.node_ranks, job=peers.job_ranks)
    return Sums(rank=exactly(0), node=peers.node, job=peers.node_pairs.times(2))


def add_up(
    parts: Iterable[Part], nodes: int, ppn: int, peers: Peers, what: Literal["qps", "bytes"]
) -> Sums:
    """The sums of all parts."""
    rank = node = job = Bounds(0, 0)
    for part in parts:
        each: Bounds = part.qps if what == "qps" else part.bytes
        there = times_there(part, nodes, ppn, peers)
        rank += there.rank.times(each)
        node += there.node.times(each)
        job += there.job.times(each)
    return Sums(rank=rank, node=node, job=job)
