"""Compute the bytes that must enter and leave each node in a group measurement. Pure arithmetic.

Ranks of one node communicate through memory, so only what leaves a node counts. Point-to-point
patterns are known exactly. Of a library's collective, only the minimum is known that any algorithm
must move; of a random ring over several ranks per node, only that it enters and leaves every node
at least once.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from wireproof.model.pattern import CATALOGUE
from wireproof.model.record import GroupResult, PointRecord

Node = int


@dataclass(frozen=True)
class CrossingBytes:
    """Payload bytes over a whole point. ``exact``: False if these are only the minimum."""

    tx: float
    rx: float
    exact: bool


def crossings(point: PointRecord, node_of: Mapping[int, Node]) -> dict[Node, CrossingBytes]:
    """Return what must cross each node's port, by node; empty without a group.

    A node is any number that identifies it.
    """
    group = point.group
    if group is None:
        return {}
    nodes = [node_of.get(rank, -1 - rank) for rank in group.members]
    if len(set(nodes)) == len(nodes):
        pairs = zip(nodes, group.sent_bytes, group.received_bytes, strict=True)
        return {
            node: CrossingBytes(float(sent), float(got), group.exact) for node, sent, got in pairs
        }
    if len(set(nodes)) == 1:
        return {nodes[0]: CrossingBytes(0.0, 0.0, True)}
    if not group.exact:
        return _collective(point.pattern, group, nodes)
    shares = _shares(point, nodes)
    if shares is None:
        return _least(group, nodes)
    return _summed(group, nodes, shares, exact=True)


def operations(point: PointRecord) -> float:
    """Return how many operations of the group the point's bytes are, warm-up included.

    0 if the operation has no bytes (a barrier).
    """
    group = point.group
    if group is None or point.message_bytes == 0:
        return 0.0
    size, count = point.message_bytes, len(group.members)
    sent = CATALOGUE[point.pattern].sent
    # a load is not an operation: member 0 is watched, and sends one message per operation
    if sent is None:
        return group.sent_bytes[0] / size
    messages = sent(count)
    return sum(group.sent_bytes) / (messages * size) if messages else 0.0


def _summed(
    group: GroupResult, nodes: Sequence[Node], shares: Sequence[tuple[float, float]], *, exact: bool
) -> dict[Node, CrossingBytes]:
    totals: dict[Node, list[float]] = {node: [0.0, 0.0] for node in nodes}
    for node, sent, got, (out, back) in zip(
        nodes, group.sent_bytes, group.received_bytes, shares, strict=True
    ):
        totals[node][0] += sent * out
        totals[node][1] += got * back
    return {node: CrossingBytes(tx, rx, exact) for node, (tx, rx) in totals.items()}


def _least(group: GroupResult, nodes: Sequence[Node]) -> dict[Node, CrossingBytes]:
    """Every node is entered and left at least once, by its member with the fewest bytes."""
    return {
        node: CrossingBytes(
            float(min(group.sent_bytes[index] for index in mine)),
            float(min(group.received_bytes[index] for index in mine)),
            exact=False,
        )
        for node, mine in _members(nodes).items()
    }


def _members(nodes: Sequence[Node]) -> dict[Node, list[int]]:
    by_node: dict[Node, list[int]] = {}
    for index, node in enumerate(nodes):
        by_node.setdefault(node, []).append(index)
    return by_node


def _shares(point: PointRecord, nodes: Sequence[Node]) -> list[tuple[float, float]] | None:
    """Return the share of each member's sent and received bytes that crosses, or None if it is
    unknown.
    """
    partners = CATALOGUE[point.pattern].partners
    if partners == "halves":
        return _twice(_with_the_other_half(nodes))
    if partners == "first":
        away = [float(node != nodes[0]) for node in nodes]
        return _twice([sum(away) / max(1, len(nodes) - 1), *away[1:]])
    if partners == "everyone":
        sizes = Counter(nodes)
        return _twice([(len(nodes) - sizes[node]) / (len(nodes) - 1) for node in nodes])
    if partners == "twos":
        return _twice([float(node != nodes[index ^ 1]) for index, node in enumerate(nodes)])
    if partners == "neighbours" and point.order != "random":
        return _twice(_with_neighbours(nodes))
    return None


def _twice(shares: Iterable[float]) -> list[tuple[float, float]]:
    """Use the same share for sending and receiving."""
    return [(share, share) for share in shares]


def _with_the_other_half(nodes: Sequence[Node]) -> list[float]:
    half = len(nodes) // 2
    apart = [float(one != other) for one, other in zip(nodes[:half], nodes[half:], strict=False)]
    return [*apart, *apart]


def _with_neighbours(nodes: Sequence[Node]) -> list[float]:
    after = [*nodes[1:], nodes[0]]
    return [((node != after[i]) + (node != nodes[i - 1])) / 2 for i, node in enumerate(nodes)]


def _collective(
    pattern: str, group: GroupResult, nodes: Sequence[Node]
) -> dict[Node, CrossingBytes]:
    """Return the minimum of a collective: each node moves what its busiest member must; all-to-all
    adds up.
    """
    members, count = _members(nodes), len(nodes)
    away = {node: (count - len(mine)) / max(1, count - 1) for node, mine in members.items()}
    if pattern == "alltoall":
        return _summed(group, nodes, _twice(away[node] for node in nodes), exact=False)
    crossing = {}
    for node, mine in members.items():
        sent = [group.sent_bytes[index] for index in mine]
        received = max(group.received_bytes[index] for index in mine)
        # In an allgather, the contributions of other nodes reach a node once, and each of its
        # members' parts leaves it once.
        gathers = pattern == "allgather"
        tx, rx = (sum(sent), received * away[node]) if gathers else (max(sent), received)
        crossing[node] = CrossingBytes(float(tx), float(rx), False)
    return crossing
