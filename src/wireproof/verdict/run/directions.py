# pure
"""Find one-way faults: the slow direction of a pair, and the node whose transmit or receive side
causes it.

A ping-pong averages both directions; separate streams show each. With three or more nodes, a node
and direction are blamed if all its streams that way are slow while the others are fine; with two
nodes only the direction can be named.
"""

import statistics
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from wireproof.model import gathered, quantity
from wireproof.model.finding import Evidence, Port, Route, Subject
from wireproof.model.quantity import goodput
from wireproof.verdict.context import Context
from wireproof.verdict.issue import Issue
from wireproof.verdict.run.plateau import MORE_WAITING, STEADY, Pool, explained_by_waiting

Verb = Literal["sends", "receives"]
_MIN_NODES = 3


@dataclass(frozen=True, slots=True)
class Stream:
    """Goodput (bytes/s) of one ordered pair of hosts; ``kind`` = (pattern, form, message size,
    formula).
    """

    origin: str
    target: str
    kind: tuple[str, str, int, str]
    value: float
    low: float
    high: float
    sure: bool = True
    """True if there are enough samples to decide."""
    disturbed: str = ""
    """Why the processes lost their CPU during the point; "" if they did not."""
    waited: float = 0.0
    """Share of the time spent waiting for a processor."""
    capped: bool = False
    """True if its rate is constant and no wait for a processor explains it."""
    pool: Pool | None = None
    """All samples of the route, pooled."""
    points: tuple[int, ...] = ()
    """Ids of the points that measured it."""

    @property
    def route(self) -> Route:
        return Route(self.origin, self.target)

    @property
    def known(self) -> tuple[float, float] | None:
        """The interval to compare; None if the stream allows no decision."""
        if self.pool is not None and self.pool.decides:
            return self.pool.low, self.pool.high
        return (self.low, self.high) if self.sure else None


@dataclass(frozen=True, slots=True)
class SlowNode:
    node: str
    verb: Verb
    value: float
    reference: float
    streams: tuple[Stream, ...]


def direction_issues(ctx: Context, streams: Iterable[Stream]) -> tuple[list[Issue], set[Subject]]:
    """Return the issues, and the routes (both orders) that a blamed node explains, to be reported
    only once.
    """
    kinds = gathered((stream.kind, stream) for stream in streams)
    issues: list[Issue] = []
    explained: set[Subject] = set()
    for kind in sorted(kinds):
        merged = list(_one_per_route(kinds[kind]))
        found = blame(merged, ctx.criteria.peer_ratio)
        nodes = [
            _node_issue(one, kind, _doubt(one, merged, ctx.criteria.peer_ratio)) for one in found
        ]
        issues += nodes
        issues += _pair_issues(ctx, merged, {s.route for one in found for s in one.streams})
        explained |= {
            way
            for one, issue in zip(found, nodes, strict=True)
            if issue.severity == "fail"
            for s in one.streams
            for way in (s.route, s.route.back)
        }
    return issues, explained


def _one_per_route(streams: list[Stream]) -> Iterator[Stream]:
    """Merge repeats of a route: median of times (harmonic), widest interval."""
    routes = gathered(((stream.origin, stream.target), stream) for stream in streams)
    for _, same in sorted(routes.items()):
        known = [s for s in same if s.sure] or same
        yield replace(
            same[0],
            value=_typical(same),
            low=min(s.low for s in known),
            high=max(s.high for s in known),
            points=tuple(point for s in same for point in s.points),
            sure=any(s.sure for s in same),
            disturbed=next((s.disturbed for s in same if s.disturbed), ""),
            waited=statistics.median(s.waited for s in same),
            capped=any(s.capped for s in same),
        )


def _typical(streams: Sequence[Stream]) -> float:
    """Return the goodput of the median time."""
    return 1.0 / statistics.median(1.0 / one.value for one in streams)


def blame(streams: list[Stream], peer_ratio: float) -> list[SlowNode]:
    """Return nodes whose streams in one direction are all slow compared with the others, slowest
    first.

    After each blamed node, its streams are removed and the rest is judged again. The reference is
    the upper quartile of the rest, so that a few bad nodes do not lower it. Needs 3 nodes, and 2
    streams in the blamed direction.
    """
    left, found = list(streams), []
    if len({s.origin for s in streams} | {s.target for s in streams}) < _MIN_NODES:
        return []
    while len(left) >= _MIN_NODES:
        reference = sorted(s.value for s in left)[3 * len(left) // 4]
        candidates = [one for one in _candidates(left, reference) if _all_slow(one, peer_ratio)]
        if not candidates:
            break
        worst = min(candidates, key=lambda one: (-len(one.streams), one.value, one.node, one.verb))
        found.append(worst)
        left = [s for s in left if s not in worst.streams]
    return found


def _all_slow(one: SlowNode, peer_ratio: float) -> bool:
    """Return whether all streams of the node are slow: a single good stream clears it."""
    return all(s.value < peer_ratio * one.reference for s in one.streams)


def _doubt(one: SlowNode, streams: list[Stream], peer_ratio: float) -> str:
    """Return why the slow streams allow no decision: some are too imprecise, or only their hosts
    were disturbed. If all hosts were equally disturbed (more ranks than cores), the comparison is
    fair.
    """
    if not all(s.known and s.known[1] < peer_ratio * one.reference for s in one.streams):
        return "too wide to conclude"
    others = [s.waited for s in streams if s not in one.streams]
    usual = statistics.median(others) if others else 0.0
    disturbed = [s for s in one.streams if s.disturbed]
    alike = statistics.median(s.waited for s in one.streams) <= usual + MORE_WAITING
    return disturbed[0].disturbed if disturbed and not alike else ""


def _candidates(streams: list[Stream], reference: float) -> Iterator[SlowNode]:
    by_end: dict[tuple[str, Verb], list[Stream]] = defaultdict(list)
    for one in streams:
        by_end[one.origin, "sends"].append(one)
        by_end[one.target, "receives"].append(one)
    for (node, verb), mine in by_end.items():
        if len(mine) >= 2:
            yield SlowNode(node, verb, _typical(mine), reference, tuple(mine))


def _node_issue(one: SlowNode, kind: tuple[str, str, int, str], doubt: str) -> Issue:
    peers = sorted({s.target if one.verb == "sends" else s.origin for s in one.streams})
    toward = "to" if one.verb == "sends" else "from"
    text = (
        f"{one.node} {one.verb} at {goodput(one.value)} ({kind[0]} of {quantity.size(kind[2])},"
        f" {toward} "
        f"{', '.join(peers)}); "
        f"every other direction reaches {goodput(one.reference)}{'; ' + doubt if doubt else ''}"
    )
    subject = Port(one.node, "tx" if one.verb == "sends" else "rx")
    evidence: Evidence = {
        "node": one.node,
        "direction": subject.direction,
        "peers": list(peers),
        "value_bytes_per_s": one.value,
        "others_bytes_per_s": one.reference,
        "streams": [f"{s.route}: {goodput(s.value)}" for s in one.streams],
        "points": [str(point) for s in one.streams for point in s.points],
    }
    return Issue(
        "node-direction-slow",
        "inconclusive" if doubt else "fail",
        subject,
        text,
        evidence,
        weight=float(kind[2]),
    )


def _pair_issues(ctx: Context, streams: list[Stream], explained: set[Route]) -> Iterator[Issue]:
    """Report pairs whose directions differ by more than ``direction_ratio`` and have disjoint
    intervals.
    """
    routes = {s.route: s for s in streams}
    for who, slow in sorted(routes.items(), key=lambda item: (item[0].origin, item[0].target)):
        back = routes.get(who.back)
        if back is None or who in explained or who.back in explained:
            continue
        apart = slow.known or (slow.low, slow.high), back.known or (back.low, back.high)
        if slow.value < ctx.criteria.direction_ratio * back.value and apart[0][1] < apart[1][0]:
            text = (
                f"{who} reaches {goodput(slow.value)} and {who.back} {goodput(back.value)} "
                f"({slow.kind[0]} of "
                f"{quantity.size(slow.kind[2])}): {who.origin} sends or {who.target} receives"
                " slowly"
            )
            doubt = _pair_doubt(slow, back, ctx.criteria.direction_ratio)
            text += f"; {doubt}" if doubt else ""
            yield Issue(
                "direction-slow",
                "inconclusive" if doubt else "fail",
                who,
                text,
                {
                    "slow_bytes_per_s": slow.value,
                    "other_bytes_per_s": back.value,
                    "points": [str(point) for point in slow.points],
                },
                weight=float(slow.kind[2]),
            )


def _pair_doubt(slow: Stream, back: Stream, ratio: float) -> str:
    """Return why the slow direction of two hosts allows no decision, or "" if it does.

    Waiting for a processor is not an excuse if the other direction is faster with an equal wait and
    both rates are steady, or if the wait cannot explain a difference of this size.
    """
    if not (slow.known and back.known and slow.known[1] < ratio * back.known[0]):
        return "too wide to conclude"
    if slow.capped:
        return ""
    alike = slow.waited <= back.waited + MORE_WAITING
    steady = all(one.high - one.low <= 2 * STEADY * one.value for one in (slow, back))
    if alike and steady:
        return ""
    explained = explained_by_waiting(
        slow.value / back.value, slow.waited, steady=steady, usual=back.waited
    )
    return slow.disturbed if explained else ""
