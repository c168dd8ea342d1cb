"""What the streams of a run say of its links beyond a single point: which directions fill the link,
which keep to one rate at every size, and what a wait for a processor can explain. Pure.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from wireproof.analysis.measured import measure
from wireproof.model.claim import LinkClaim
from wireproof.model.finding import Proof
from wireproof.model.record import PairResult, PointRecord
from wireproof.physics.bounds import FILL_BYTES, bounds_of, fill_bytes
from wireproof.verdict.context import Context

__all__ = ["STEADY", "Streams", "explained_by_waiting", "fills_link"]

STEADY = 0.02
"""Half of the 95 % interval as a share of the value, up to which a rate is steady: processes that
lose the processor at random do not keep to one rate.
"""
_ALIKE = 0.03  # by which the rates of a plateau differ at most
_LEAST_SIZES = 3
_ELSEWHERE = ("off-wire", "wrong-path", "mixed")
_Route = tuple[int, int]
OnPath = tuple[tuple[PointRecord, PairResult], Proof]
"""A point with one of its pairs, and the proof of its path."""


class _Rate(NamedTuple):
    """Goodput in bytes/s of the slowest repeat at one size, half of its interval as a share of it,
    and the share of what is expected of the link.
    """

    goodput: float
    half_width: float
    reached: float


def fills_link(link: LinkClaim | None, size: int) -> bool:
    """True for sizes at which a stream must reach the link's goodput: 64 KiB or 50 us of line, and
    above a shaper's bucket.
    """
    bounds = bounds_of(link) if link is not None else None
    if bounds is None or bounds.most is None:
        return size >= FILL_BYTES
    return size >= fill_bytes(bounds.most, bounds.least_size)


def explained_by_waiting(reached: float, waited: float, *, steady: bool) -> bool:
    """Whether processes that waited for a processor for this share of the time may have left only
    ``reached`` of a rate.

    Two processes that are taken away independently both run for ``(1 - waited)^2`` of the time;
    half of that is granted for queues that run dry. A steady rate has lost no more than the time.
    """
    runs = max(0.0, 1.0 - waited)
    return reached >= (runs if steady else runs**2) / 2


class Streams:
    """The streams of a run that are long enough to fill the link, by ranks (origin, target).

    What went through memory or over another link says nothing of this one.
    """

    def __init__(self, ctx: Context, results: Iterable[OnPath]) -> None:
        self._least = ctx.criteria.min_efficiency
        self._rates = _rates(ctx, results)
        self._held = ctx.link is not None and bounds_of(ctx.link, ctx.table).most is not None

    def filled(self, route: _Route) -> bool:
        """Whether both directions of these two reach what is expected of the link: it is then not
        the link that makes a large ping-pong slow.
        """
        return self._held and all(
            any(rate.reached >= self._least for rate in self._rates.get(one, {}).values())
            for one in (route, route[::-1])
        )

    def steady(self, route: _Route) -> bool:
        """Whether this direction keeps to one rate at every size that fills the link."""
        rates = list(self._rates.get(route, {}).values())
        if len(rates) < _LEAST_SIZES or any(rate.half_width > STEADY for rate in rates):
            return False
        return max(r.goodput for r in rates) <= (1 + _ALIKE) * min(r.goodput for r in rates)

    def reached_beside(self, route: _Route, size: int) -> float:
        """The share of what is expected that the sizes below and above ``size`` both reach in this
        direction; 0 if there are none on one side.
        """
        rates = self._rates.get(route, {})
        below = [known for known in rates if known < size]
        above = [known for known in rates if known > size]
        if not below or not above:
            return 0.0
        return min(rates[max(below)].reached, rates[min(above)].reached)


def _rates(ctx: Context, results: Iterable[OnPath]) -> Mapping[_Route, dict[int, _Rate]]:
    found: dict[_Route, dict[int, _Rate]] = defaultdict(dict)
    bounds = bounds_of(ctx.link, ctx.table) if ctx.link is not None else None
    for (point, pair), proof in results:
        streams = point.pattern == "stream" and fills_link(ctx.link, point.message_bytes)
        if not streams or proof in _ELSEWHERE:
            continue
        number = measure(point, pair)
        if number is None or number.goodput_bytes_per_s <= 0:
            continue
        moved = number.goodput_bytes_per_s
        expected = bounds.expected(moved)[0] if bounds is not None else None
        rate = _Rate(moved, number.half_width, moved / (expected or math.inf))
        known = found[pair.origin, pair.target].get(point.message_bytes)
        if known is None or rate.goodput < known.goodput:
            found[pair.origin, pair.target][point.message_bytes] = rate
    return found
