"""Who talks to whom across nodes, in bounds: QPs are made on first use, so a job's communication
decides, and not its size.

A rank *talks to* another when a message crosses between them in either direction. Ranks of one node
use shared memory and count nowhere here.
"""

from __future__ import annotations

from wireproof.model.errors import BadInput
from wireproof.model.planning.bounds import Bounds, exactly
from wireproof.model.planning.footprint import Peers
from wireproof.plan.numbers import whole

__all__ = ["peers_of"]


def peers_of(
    nodes: int, ppn: int, *, peers: int | None = None, node_pairs: int | None = None
) -> Peers:
    """``peers``: remote ranks that each rank talks to; ``node_pairs``: pairs of nodes that talk.

    With neither, the bounds are no communication at all and everybody with everybody. Each bound is
    reached by some communication that agrees with what is given. Raises ``BadInput`` for numbers
    that no communication has.
    """
    most_pairs = nodes * (nodes - 1) // 2
    most_peers = (nodes - 1) * ppn
    if peers is not None:
        whole("--peers", peers, 0, most_peers)
        return _each_rank(nodes, ppn, peers, node_pairs)
    if node_pairs is not None:
        whole("--node-pairs", node_pairs, 0, most_pairs)
        return _pairs(nodes, ppn, node_pairs)
    return Peers(
        rank=Bounds(0, most_peers),
        node_ranks=Bounds(0, most_peers * ppn),
        job_ranks=Bounds(0, nodes * ppn * most_peers),
        node=Bounds(0, nodes - 1),
        node_pairs=Bounds(0, most_pairs),
        most_pairs=most_pairs,
        assumed="nothing is known: from no communication between nodes to all with all",
    )


def _each_rank(nodes: int, ppn: int, peers: int, node_pairs: int | None) -> Peers:
    """Every rank has ``peers`` remote ranks: its node then reaches ceil(peers / ppn) nodes or
    more, and no more than one for each peer of each of its ranks.
    """
    low, high = -(-peers // ppn), min(nodes - 1, peers * ppn)
    most_pairs = nodes * (nodes - 1) // 2
    pairs = Bounds(nodes * low // 2, min(most_pairs, nodes * high // 2))
    if node_pairs is not None:
        if not pairs.low <= node_pairs <= pairs.high:
            raise BadInput(
                f"--node-pairs is {node_pairs}: with {peers} peers of each rank between"
                f" {pairs.low:.0f} and {pairs.high:.0f} pairs of nodes talk."
            )
        pairs = exactly(node_pairs)
    return Peers(
        rank=exactly(peers),
        node_ranks=exactly(peers * ppn),
        job_ranks=exactly(nodes * ppn * peers),
        node=Bounds(low, high),
        node_pairs=pairs,
        most_pairs=most_pairs,
        assumed=f"every rank talks to {peers} ranks of other nodes",
    )


def _pairs(nodes: int, ppn: int, pairs: int) -> Peers:
    """``pairs`` of nodes talk: each by one pair of its ranks at least, by all ppn^2 at most."""
    most_pairs = nodes * (nodes - 1) // 2
    node = Bounds(max(0, pairs - (most_pairs - (nodes - 1))), min(nodes - 1, pairs))
    return Peers(
        rank=Bounds(node.low if ppn == 1 else 0, node.high * ppn),
        node_ranks=Bounds(node.low, node.high * ppn * ppn),
        job_ranks=Bounds(2 * pairs, 2 * pairs * ppn * ppn),
        node=node,
        node_pairs=exactly(pairs),
        most_pairs=most_pairs,
        assumed=f"{pairs:,} of {most_pairs:,} pairs of nodes talk",
    )
