"""Whether a late counter rose as the points of a run came due, and by no more than these explain.
Pure.

A counter shows what had crossed by the time of its last refresh: after each point at most what was
due until then, and at least what was due one wait earlier. Traffic of others that adds up to the
run's payload need not keep to that. Where it does, at every point and in both directions, no reader
of these counters can tell it from the run's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from wireproof.analysis.changes import WitnessChanges
from wireproof.model.ledger import Direction
from wireproof.model.record import PointRecord, Total
from wireproof.verdict.context import Context
from wireproof.verdict.path.proof import Place, Witnessed
from wireproof.verdict.path.sight import STRAY_BYTES, Due, Sighting, look

__all__ = ["OPPOSITE", "carried", "explained", "keeps_pace"]

# bytes a packet: Ethernet, IPv6, TCP with options; and what else belongs to a stream
_HEADERS, _SPARE = 90.0, 0.02
_SMALL_MTU = 900.0
_ACKS = 0.05
_PER_MESSAGE = 300.0
OPPOSITE: dict[Direction, Direction] = {"tx": "rx", "rx": "tx"}


def explained(ctx: Context, point: PointRecord, seen: Witnessed, place: Place) -> float:
    """The most bytes that a point's payload puts on a port in one direction, with headers and
    acknowledgements, but nothing that was sent again.
    """
    due = seen.dues.get(place)
    if due is None:
        return 0.0
    reader, claimed, direction = place
    back = seen.dues.get((reader, claimed, OPPOSITE[direction]))
    mtu = ctx.link.mtu if ctx.link is not None else None
    with_headers = 1.0 + _SPARE + _HEADERS / (mtu or _SMALL_MTU)
    messages = sum(pair.messages_forward + pair.messages_backward for pair in point.pairs)
    acknowledged = (back.need if back else 0.0) * _ACKS
    return due.need * with_headers + acknowledged + due.control + _PER_MESSAGE * messages


def keeps_pace(
    ctx: Context,
    points: Sequence[PointRecord],
    witnessed: Sequence[Witnessed],
    total: Total,
    one: Sighting,
    place: Place,
    *,
    alone: bool,
) -> bool:
    """Whether after every point the port (``alone``, or with all others) had shown what may have
    been due, and no more.
    """
    most, least = 0.0, _Ripe(total.settled_ns)
    for point, seen, so_far in zip(points, witnessed, _so_far(points, total), strict=True):
        due = seen.dues.get(place)
        most += explained(ctx, point, seen, place)
        ripe = least.after(point, due)
        shown = carried(_shown(ctx, so_far, one, place), alone=alone)
        if shown > most + STRAY_BYTES:
            return False
        if _is_read(point, total) and shown < ctx.criteria.on_wire_min * ripe - STRAY_BYTES:
            return False
    return True


class _Ripe:
    """What was due so long ago that a counter must show it."""

    def __init__(self, wait_ns: float) -> None:
        self.wait_ns, self.now_ns = wait_ns, 0.0
        self.dues: list[tuple[float, float]] = []

    def after(self, point: PointRecord, due: Due | None) -> float:
        """Bytes of the points that ended one wait before the end of this one."""
        self.now_ns += point.elapsed_ns
        self.dues.append((self.now_ns, due.need if due else 0.0))
        return sum(need for end_ns, need in self.dues if end_ns <= self.now_ns - self.wait_ns)


def _is_read(point: PointRecord, total: Total) -> bool:
    """Whether the point's reading has the counters' values: it lists those that rose meanwhile."""
    return any(one.rank == total.rank and one.counters for one in point.witness)


def _so_far(points: Sequence[PointRecord], total: Total) -> Iterator[Total]:
    """The counters from the first reading until after each point, as far as they are known."""
    every = sum(point.elapsed_ns for point in points) or 1.0
    last: dict[str, int] = {}
    elapsed = 0.0
    for point in points:
        elapsed += point.elapsed_ns
        for reading in (one for one in point.witness if one.rank == total.rank):
            last |= {name: after for name, (_, after) in reading.counters.items()}
        yield msgspec.structs.replace(
            total,
            interval_ns=total.interval_ns * elapsed / every,
            counters={
                name: (first, last[name])
                for name, (first, _) in total.counters.items()
                if name in last
            },
        )


def _shown(ctx: Context, so_far: Total, one: Sighting, place: Place) -> Sighting:
    ledger = ctx.ports[so_far.rank].ledger(WitnessChanges(so_far, ctx.idle.get(so_far.rank)))
    due = Due(0.0, 0.0, 0.0)
    return look(ledger, one.rank, place[1], place[2], due, ctx.criteria)


def carried(seen: Sighting, *, alone: bool) -> float:
    """Bytes of the port; with those of all others unless ``alone``."""
    return (seen.seen or 0.0) + (0.0 if alone else sum(seen.others.values()))
