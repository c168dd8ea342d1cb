# pure
"""Check ceiling, floor and expectation: a number above the ceiling or below the floor fails, like a
number that is too slow.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from wireproof.ledger.measured import Measured, operation_times
from wireproof.model import quantity
from wireproof.model.claim import LinkClaim
from wireproof.model.finding import Evidence, Severity
from wireproof.model.pattern import crossings, is_round_trip
from wireproof.model.quantity import goodput
from wireproof.model.record import PairResult, PointRecord
from wireproof.physics import bandwidth_threshold_bytes, limits, shaper_credit_bytes
from wireproof.physics.bounds import (
    bounds_of,
    exceeds,
    expected_share,
    held_goodput,
    late_start,
    spared_ns,
)
from wireproof.physics.framing import over_fabric
from wireproof.stats import MIN_SAMPLES
from wireproof.verdict.context import Context
from wireproof.verdict.issue import Issue
from wireproof.verdict.path.proof import PairProof
from wireproof.verdict.run.plateau import LongStreams, explained_by_waiting, fills_link
from wireproof.verdict.run.quality import crowded, decides, disturbance, waited_share
from wireproof.verdict.run.shape import usual

_SMALL = 1024  # messages up to this size show the start-up time of all others
_CROWDED_SLOW = 4.0  # multiple of the usual start: a crowded host explains less than this
_CROWDED_EXCESS = 1.5  # multiple of the ceiling: no scheduler explains more than this
_STALL = 3.0  # multiple of the median: a batch this long contains a stall
_MOST_EARLY = 0.1  # share of the timed messages: the window must not excuse more than this


class Held(NamedTuple):
    """A number that has been checked against its limits.

    ``limit`` has the number's unit. ``decides``: the number lies on one side of every limit and is
    precise enough, alone or with its repeats.
    """

    limit: float | None
    efficiency: float | None
    issues: list[Issue]
    decides: bool


def hold(
    ctx: Context,
    point: PointRecord,
    pair: PairResult,
    number: Measured,
    proof: PairProof,
    start_ns: float | None,
    streams: LongStreams,
) -> Held:
    """Check one pair's number against ceiling, floor and expectation.

    ``start_ns``: the pair's measured latency of small messages, on which a large ping-pong's
    expectation is based.
    """
    if ctx.link is None:
        return Held(None, None, [], decides(number.time))
    return _Scale(ctx, ctx.link, point, pair, number, proof, streams).judged(start_ns)


class _Scale:
    """A number with all values that it is compared with."""

    def __init__(
        self,
        ctx: Context,
        link: LinkClaim,
        point: PointRecord,
        pair: PairResult,
        number: Measured,
        proof: PairProof,
        streams: LongStreams,
    ) -> None:
        self.ctx, self.link, self.point, self.pair = ctx, link, point, pair
        self.number, self.streams = number, streams
        self.route = (pair.origin, pair.target)
        self.proof, self.seen = proof.proof, proof.seen  # bytes that the ports counted
        self.size = point.message_bytes
        self.bound = limits(link, point.pattern, point.form, self.size, ctx.table)
        self.bounds = bounds_of(link, ctx.table)
        self.rate, self.lines = self.bounds.expected(
            number.goodput_bytes_per_s if self.size else None
        )
        self.crossings = crossings(point.pattern, point.form)
        self.waits = self.crossings > 0
        self.issues: list[Issue] = []
        self.clear = True  # the interval does not straddle a threshold
        self.sure = decides(number.time)

    def judged(self, start_ns: float | None) -> Held:
        self._floor()
        self._ceiling()
        self._expectation(start_ns)
        self._start()
        goodput = self.number.goodput_bytes_per_s
        # Short messages pass a shaper at the CPU's speed: their share of the link's goodput would
        # be meaningless.
        slowed = self.size > 0 and self.size >= bandwidth_threshold_bytes(self.link)
        efficiency = goodput / self.rate if self.rate and slowed else None
        limit = self.rate if self.number.unit == "bytes_per_s" else self.bound.floor_ns
        return Held(limit, efficiency, self.issues, self.clear and self.sure)

    def _add(self, code: str, severity: Severity, message: str, weight: float) -> None:
        evidence: Evidence = {
            "attainable_bytes_per_s": self.rate,
            "floor_ns": self.bound.floor_ns,
            "value": self.number.value,
            "low": self.number.low,
            "high": self.number.high,
            "derivation": list(self.lines or self.bound.derivation),
        }
        if severity == "fail" and not self.sure:
            severity, self.clear = "inconclusive", False
        where = (
            f"{self.ctx.route(self.pair)}, {self.point.pattern} of"
            f" {quantity.size(self.size)}: {message}"
        )
        self.issues.append(
            Issue(code, severity, self.ctx.route(self.pair), where, evidence, self.point.id, weight)
        )

    def _floor(self) -> None:
        """Check the time of one operation against s / R + floor, for patterns that wait for each
        answer.
        """
        floor, time = self.bound.floor_ns, self.number.time
        if not self.waits or floor is None:
            return
        doubt = self.bounds.too_quick(time.median_ns, self.size, self.crossings)
        if doubt is None:
            least = self.bounds.too_quick(time.low_ns, self.size, self.crossings)
            self.clear &= least is None or time.half_width <= self.ctx.criteria.max_half_width
            return
        text = (
            f"{time.median_ns / 1e3:.3f} us is below the minimum of {floor / 1e3:.3f} us for "
            f"{self.link.name}"
        )
        # A floor from literature is an estimate: if the bytes are proven on the wire, a time
        # slightly below it is inconclusive.
        whole = self.bounds.too_quick(time.high_ns, self.size, self.crossings) is not None
        doubted = not whole or (doubt != "fail" and self.proof == "on-wire")
        self._add("below-floor", "inconclusive" if doubted else "fail", text, floor)

    def _start(self) -> None:
        """Check small ping-pongs against the usual upper limit of latency on this kind of link."""
        alone = self.point.threads == 1 and self.point.partitions == 1
        if not (is_round_trip(self.point.pattern, self.point.form) and alone) or self.size > _SMALL:
            return
        busy = crowded(self.pair)
        time = self.number.time
        usual_ns = late_start(self.bounds, self.size, time.low_ns, _CROWDED_SLOW if busy else 1.0)
        if busy and late_start(self.bounds, self.size, self._quickest(), _CROWDED_SLOW) is None:
            self.sure = True  # waits only lengthen an exchange, so the fastest samples count
            return
        if usual_ns is None or usual(self.ctx, self.point, self.number.value, self.number.unit):
            return
        why = (
            disturbance(self.pair)
            if busy
            else "its hosts are virtual"
            if self.ctx.virtual
            else "the settings of IP over the fabric limit its speed"
            if over_fabric(self.link)
            else ""
        )
        self._add(
            "slow-start",
            "inconclusive" if why else "fail",
            f"{time.median_ns / 1e3:.1f} us; small messages over {self.link.name} usually take "
            "less than"
            f" {usual_ns / 1e3:.1f} us{'; ' + why if why else ''}",
            time.median_ns,
        )

    def _quickest(self) -> float:
        """Return the slowest of the few fastest exchanges, in ns."""
        times = np.sort(operation_times(self.point, self.pair))
        return float(times[MIN_SAMPLES - 1]) if times.size >= MIN_SAMPLES else math.inf

    def _ceiling(self) -> None:
        most = self.bounds.most
        if most is None or self.size == 0 or self.size < self.bounds.least_size:
            return
        # After an idle period, a shaped link lets some bytes pass without delay; a real link
        # lets none.
        credit = shaper_credit_bytes(
            self.link, idle_between_messages=self.waits, table=self.ctx.table
        )
        run = self.size if self.waits else self.size * max(1, self.pair.operations_per_batch)
        slowest = self.size / (self.number.time.high_ns * 1e-9)
        moved = self.number.goodput_bytes_per_s

        def exceeds_it(goodput: float) -> bool:
            held = held_goodput(goodput, run, credit)
            return exceeds(self.bounds, held, self.ctx.criteria.ceiling_tolerance)

        if exceeds_it(min(slowest, self._least_average() or slowest)):
            text = (
                f"{goodput(moved)} is more than the {goodput(most)} that {self.link.name} can carry"
            )
            doubt = self._doubt_of_excess(exceeds_it)
            text += f"; {doubt}" if doubt else ""
            self._add("above-ceiling", "inconclusive" if doubt else "fail", text, moved)
        elif exceeds_it(moved):
            self.clear = False
            text = (
                f"{goodput(moved)} may be more than the {goodput(most)} that {self.link.name} can "
                "carry"
            )
            self._add("above-ceiling", "inconclusive", text, moved)

    def _doubt_of_excess(self, exceeds_it: Callable[[float], bool]) -> str:
        """Return why a number that seems too fast is only inconclusive, with its bytes proven on
        the wire; "" if it fails.
        """
        if self.proof != "on-wire":
            return ""
        # Late time stamps on a crowded host shorten the timed intervals.
        moved = self.number.goodput_bytes_per_s
        if crowded(self.pair) and not exceeds_it(moved / _CROWDED_EXCESS):
            return disturbance(self.pair)
        payload = max(self.pair.payload_forward_bytes, self.pair.payload_backward_bytes)
        counted = min(payload, self.seen if self.seen is not None else payload)
        virtual = self.ctx.run.open is not None and self.ctx.run.open.clock.source == "virtual"
        over_point = (
            counted / (self.point.elapsed_ns * 1e-9)
            if self.point.elapsed_ns > 0 and not virtual
            else None
        )
        if over_point is None or exceeds_it(over_point):
            return ""
        return (
            f"the ports counted {goodput(over_point)} over the whole point, so the times are "
            "doubtful, not the bytes"
        )

    def _least_average(self) -> float:
        """Return the goodput over the timed batches, without stalls and without the window that was
        in flight before timing. Batched late acknowledgements make single batches look short, but
        not this mean. 0: nothing timed.
        """
        times = operation_times(self.point, self.pair)
        if times.size == 0:
            return 0.0
        times = times[times <= _STALL * np.median(times)]
        operations = times.size * max(1, self.pair.operations_per_batch)
        early = (
            0
            if self.waits
            else min(self.pair.window_used * self.point.threads, _MOST_EARLY * operations)
        )
        return self.size * (operations - early) / operations / (float(times.mean()) * 1e-9)

    def _excuse(self, start_ns: float | None, share: float) -> str:
        reached = self.number.goodput_bytes_per_s / (self.rate or math.inf)
        if self.waits and self.rate:
            reached = self.bounds.reached(
                self.number.time.median_ns, self.size, self.rate, start_ns
            )
        if is_round_trip(self.point.pattern, self.point.form) and self.streams.filled(self.route):
            return (
                "the streams of the same pair fill the link: the protocol for large messages is "
                "slow, not the link"
            )
        beside = self.streams.reached_beside(self.route, self.size)
        if self.point.pattern == "stream" and beside >= share:
            return (
                f"the sizes below and above reach {beside:.0%}: only this size is slow, not the "
                "link"
            )
        return self.bounds.excuse(reached, share, one_pair=True)

    def _disturbance(self, reached: float) -> str:
        """Return why the processes lost their CPU, or "" if that cannot explain a rate this low."""
        if self.point.pattern == "stream" and self.streams.capped(self.route):
            return ""
        steady = self.point.pattern == "stream" and self.streams.steady(self.route)
        waited = waited_share(self.pair)
        explained = explained_by_waiting(reached, waited, steady=steady)
        return disturbance(self.pair) if explained else ""

    def _expectation(self, start_ns: float | None) -> None:
        """Check that large messages reach min_efficiency of the attainable goodput; for a
        ping-pong, without its start.
        """
        attainable = self.rate
        if attainable is None or not self._tells(attainable, start_ns):
            return
        share = expected_share(self.ctx.criteria, both_ways=self.point.pattern == "exchange")
        moved_ns = self.size / (share * attainable) * 1e9
        if self.waits:
            moved_ns *= (
                self.point.threads
            )  # threads share the link, and each waits for its own answer
        reached, low_ns, high_ns = self._known(share * attainable)
        got = f"{goodput(reached)}, {reached / attainable:.0%} of attainable {goodput(attainable)}"
        if self._moving_ns(low_ns, start_ns) > moved_ns:
            known = usual(self.ctx, self.point, self.number.value, self.number.unit)
            if known is not None:
                text = f"{got}, as usual: {known.sentence}"
                self._add("usual-shortfall", "note", text, -reached)
                return
            text = f"{got}; at least {share:.0%} is expected of {self.link.name}"
            excuse = self._excuse(start_ns, share)
            disturbed = self._disturbance(reached / attainable)
            text += "".join(f"; {why}" for why in (disturbed, excuse) if why)
            self._add(
                "below-expectation",
                "inconclusive" if disturbed or excuse else "fail",
                text,
                -reached,
            )
        elif self._moving_ns(high_ns, start_ns) > moved_ns:
            self.clear = False
            text = f"{got}; the interval straddles the expected {share:.0%}"
            self._add("below-expectation", "inconclusive", text, -reached)

    def _known(self, least: float) -> tuple[float, float, float]:
        """Return (goodput in bytes/s, shortest and longest ns of one operation) of this sample.

        If this sample cannot decide about ``least`` bytes/s but the pool with its repeats and
        larger messages can, return the values of the pool.
        """
        time = self.number.time
        own = self.number.goodput_bytes_per_s, time.low_ns, time.high_ns
        streams = self.point.pattern == "stream"
        pool = self.streams.pool(self.route, self.size) if streams else None
        is_open = not self.sure or time.low_ns <= self.size / least * 1e9 < time.high_ns
        if pool is None or not is_open or not pool.clear_of(least):
            return own
        self.sure = True
        return pool.value, self.size / pool.high * 1e9, self.size / pool.low * 1e9

    def _tells(self, attainable: float, start_ns: float | None) -> bool:
        """Return whether messages of this size show the rate of the link."""
        # an accumulate may wait for the addition
        if self.size == 0 or self.point.pattern == "accumulate":
            return False
        if self.waits:
            return self.bounds.tells(self.size, attainable, start_ns)
        return fills_link(self.link, self.size // self.point.partitions)

    def _moving_ns(self, taken_ns: float, start_ns: float | None) -> float:
        """Return the time of one operation; if it waits for an answer, without the startup time."""
        spared = spared_ns(taken_ns, start_ns, self.bounds.floor) if self.waits else 0.0
        return taken_ns - spared
