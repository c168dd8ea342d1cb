# pure
"""Judge the streams of a run across points: the directions that fill the link, the directions that
keep one rate at every size, and the losses that waiting for a processor can explain. Pure.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np

from wireproof.ledger.measured import block_times, measure
from wireproof.model.claim import LinkClaim
from wireproof.model.finding import Proof
from wireproof.model.record import PairResult, PointRecord
from wireproof.physics.bounds import FILL_BYTES, bounds_of, fill_bytes
from wireproof.stats import MIN_SAMPLES, Floats, estimate
from wireproof.verdict.context import Context
from wireproof.verdict.run.quality import decides, waited_share

STEADY = 0.02
"""Largest half-width of the 95 % interval, as a share of the value, at which a rate is steady:
processes that lose the processor at random times do not keep a constant rate.
"""
MORE_WAITING = 0.05
"""Share of the time by which slow streams may wait longer than the others."""
_ALIKE = 0.03  # largest difference between the rates of a plateau
_LEAST_SIZES = 3
# share of the samples: the fastest samples' lead over the median distinguishes waiting from a limit
_QUICKEST = 0.1
_RUNS_MARGIN = 0.8  # running time of a process as a share of that in the other direction
_STRETCH = 4  # blocks
_ELSEWHERE = ("off-wire", "wrong-path", "mixed")
_Route = tuple[int, int]
OnPath = tuple[tuple[PointRecord, PairResult], Proof]
"""A point with one of its pairs, and the proof of its path."""


class _Rate(NamedTuple):
    """The slowest repeat at one size: goodput in bytes/s, half-width of its interval as a share,
    and the share of the expected rate.
    """

    goodput: float
    half_width: float
    reached: float


class Pool(NamedTuple):
    """The pooled streams of one direction from one size upwards: goodput in bytes/s with its 95 %
    interval, and whether there are enough samples to decide.
    """

    value: float
    low: float
    high: float
    decides: bool

    def clear_of(self, least: float) -> bool:
        """Return whether the pool is large enough to decide and its interval lies on one side of
        ``least``.
        """
        return self.decides and (self.low >= least or self.high < least)


class _Samples(NamedTuple):
    """One stream: the ns per byte of each block, and the share of time spent waiting for a
    processor.
    """

    size: int
    times: Floats
    waited: float


def fills_link(link: LinkClaim | None, size: int) -> bool:
    """Return whether a stream of this size must reach the link's goodput.

    True from 64 KiB or 50 us of transmission time on, and above a shaper's bucket.
    """
    bounds = bounds_of(link) if link is not None else None
    if bounds is None or bounds.most is None:
        return size >= FILL_BYTES
    return size >= fill_bytes(bounds.most, bounds.least_size)


def explained_by_waiting(
    reached: float, waited: float, *, steady: bool, usual: float = 0.0
) -> bool:
    """Return whether waiting for a processor for this share of the time may reduce a rate to
    ``reached``.

    ``usual``: the wait of the processes that reach the full rate. Two processes that are preempted
    independently both run for ``(1 - waited)^2`` of the time; half of that is allowed for queues
    that run empty. A steady rate cannot have lost more than the waiting time.
    """
    runs = min(1.0, max(0.0, 1.0 - waited) / max(1.0 - usual, 1e-9))
    return reached >= (runs if steady else runs**2) / 2


class LongStreams:
    """The streams of a run that are long enough to fill the link, by ranks (origin, target).

    Traffic through memory or over another link is left out.
    """

    def __init__(self, ctx: Context, results: Iterable[OnPath]) -> None:
        self._least = ctx.criteria.min_efficiency
        self._ratio = ctx.criteria.direction_ratio
        results = [one for one in results if _counts(ctx, one)]
        self._rates = _rates(ctx, results)
        self._samples = _samples(results)
        self._capped: dict[_Route, bool] = {}
        self._pools: dict[tuple[_Route, int], Pool | None] = {}
        self._held = ctx.link is not None and bounds_of(ctx.link, ctx.table).most is not None

    def filled(self, route: _Route) -> bool:
        """Return whether both directions reach the expected rate, so that the link does not explain
        a slow large ping-pong.
        """
        return self._held and all(
            any(rate.reached >= self._least for rate in self._rates.get(one, {}).values())
            for one in (route, route[::-1])
        )

    def steady(self, route: _Route) -> bool:
        """Return whether this direction keeps one rate at every size that fills the link."""
        rates = list(self._rates.get(route, {}).values())
        if len(rates) < _LEAST_SIZES or any(rate.half_width > STEADY for rate in rates):
            return False
        return max(r.goodput for r in rates) <= (1 + _ALIKE) * min(r.goodput for r in rates)

    def pool(self, route: _Route, size: int) -> Pool | None:
        """Pool all samples of this direction of at least ``size``: repeats and larger messages use
        the same link.

        None without two points that have batches.
        """
        if (route, size) not in self._pools:
            own = [one.times for one in self._samples.get(route, []) if one.size >= size]
            self._pools[route, size] = _pooled(own) if len(own) > 1 else None
        return self._pools[route, size]

    def capped(self, route: _Route) -> bool:
        """Return whether this direction keeps a lower rate than the other and waiting for a
        processor does not explain it. Processes that wait at random times have no constant rate,
        and a longer wait costs at most its share of the time.
        """
        if route not in self._capped:
            slow, back = self._samples.get(route, []), self._samples.get(route[::-1], [])
            self._capped[route] = _capped(slow, back, self._ratio)
        return self._capped[route]

    def reached_beside(self, route: _Route, size: int) -> float:
        """Return the share of the expected rate that the next smaller and the next larger size both
        reach. 0 if one of them does not exist.
        """
        rates = self._rates.get(route, {})
        below = [known for known in rates if known < size]
        above = [known for known in rates if known > size]
        if not below or not above:
            return 0.0
        return min(rates[max(below)].reached, rates[min(above)].reached)


def _counts(ctx: Context, one: OnPath) -> bool:
    """Return whether this is a stream over this link that is long enough to fill it."""
    (point, _), proof = one
    streams = point.pattern == "stream" and fills_link(ctx.link, point.message_bytes)
    return streams and proof not in _ELSEWHERE


def _samples(results: Iterable[OnPath]) -> Mapping[_Route, list[_Samples]]:
    found: dict[_Route, list[_Samples]] = defaultdict(list)
    for (point, pair), _ in results:
        times = block_times(point, pair) / point.message_bytes
        if times.size and bool(np.all(np.isfinite(times))) and bool(np.all(times > 0.0)):
            one = _Samples(point.message_bytes, times, waited_share(pair))
            found[pair.origin, pair.target].append(one)
    return found


def _pooled(times: list[Floats]) -> Pool:
    """Pool all blocks. ``times``: ns per byte of the blocks of each point."""
    whole = estimate(np.concatenate([_stretches(one) for one in times]))
    value, low, high = (1e9 / ns for ns in (whole.median_ns, whole.high_ns, whole.low_ns))
    return Pool(value, low, high, decides(whole))


def _stretches(times: Floats) -> Floats:
    """Return means over a few consecutive blocks, because a late acknowledgement lengthens one
    block and shortens the next.
    """
    if times.size < 2 * _STRETCH:
        return times
    parts = np.array_split(times, times.size // _STRETCH)
    return np.asarray([float(part.mean()) for part in parts], dtype=np.float64)


def _capped(slow: list[_Samples], back: list[_Samples], ratio: float) -> bool:
    """Judge all samples of each direction together.

    The medians of the sizes with enough samples must be similar, and the fastest samples no faster:
    waits vary, but a link's limit does not.
    """
    if not _keeps_one_rate(slow) or sum(one.times.size for one in back) < MIN_SAMPLES:
        return False
    mine, other = (estimate(np.concatenate([one.times for one in way])) for way in (slow, back))
    if mine.half_width > STEADY or not other.high_ns < ratio * mine.low_ns:
        return False
    waited, usual = (float(np.median([one.waited for one in way])) for way in (slow, back))
    runs = (1.0 - waited) / max(1.0 - usual, 1e-9)
    reached = other.median_ns / mine.median_ns
    return waited <= usual + MORE_WAITING or reached < _RUNS_MARGIN * runs


def _keeps_one_rate(way: list[_Samples]) -> bool:
    """Return whether at least two sizes, in enough points, have equal medians that no sample
    exceeds.
    """
    known = [one for one in way if one.times.size >= MIN_SAMPLES]
    if len(known) < _LEAST_SIZES or len({one.size for one in known}) < 2:
        return False
    middles = [float(np.median(one.times)) for one in known]
    if max(middles) > (1 + _ALIKE) * min(middles):
        return False
    times = np.concatenate([one.times for one in way])
    return float(np.quantile(times, _QUICKEST)) >= (1 - _ALIKE) * float(np.median(times))


def _rates(ctx: Context, results: Iterable[OnPath]) -> Mapping[_Route, dict[int, _Rate]]:
    found: dict[_Route, dict[int, _Rate]] = defaultdict(dict)
    bounds = bounds_of(ctx.link, ctx.table) if ctx.link is not None else None
    for (point, pair), _ in results:
        number = measure(point, pair)
        if number is None or number.goodput_bytes_per_s <= 0:
            continue
        moved = number.goodput_bytes_per_s
        expected = bounds.expected(moved)[0] if bounds is not None else None
        rate = _Rate(moved, number.time.half_width, moved / (expected or math.inf))
        known = found[pair.origin, pair.target].get(point.message_bytes)
        if known is None or rate.goodput < known.goodput:
            found[pair.origin, pair.target][point.message_bytes] = rate
    return found
