"""Ceiling, floor and expectation: a number above the ceiling or below the floor fails as surely as one too slow."""

from __future__ import annotations

import numpy as np

from wireproof.analysis.measured import Measured, operation_times
from wireproof.model.claim import Limits, LinkClaim
from wireproof.model.finding import Proof, Severity
from wireproof.model.pattern import crossings
from wireproof.model.record import PairResult, PointRecord
from wireproof.physics import bandwidth_threshold_bytes, limits, shaper_credit_bytes
from wireproof.physics.limits import floor_constant
from wireproof.verdict.context import Context
from wireproof.verdict.issue import Evidence, Issue, rate
from wireproof.verdict.quality import crowded

__all__ = ["Held", "fills_link", "hold"]

_FILL_SECONDS = 50e-6  # a stream fills the link with messages that take this long on it
_FILL_BYTES = 65_536
_PINGPONG_BYTES = 1 << 20
_CROWDED_EXCESS = 1.5  # of the ceiling: more than this no scheduler explains
_STALL = 3.0  # times the median: nothing was sent meanwhile
_MOST_EARLY = 0.1  # of the timed messages: few of them must not excuse everything
_CROWDED_SHARE = 0.6  # of attainable: a crowded host excuses no less


class Held:
    """A number held against its limits. ``limit`` has the number's unit."""

    def __init__(self, limit: float | None, efficiency: float | None, issues: list[Issue], clear: bool) -> None:
        self.limit, self.efficiency, self.issues, self.clear = limit, efficiency, issues, clear


def fills_link(link: LinkClaim | None, size: int) -> bool:
    """True for sizes at which a stream must reach the link's goodput: 64 KiB or 50 us of line, and above a shaper's
    bucket.
    """
    if link is None or link.rate_bits_per_s is None:
        return size >= _FILL_BYTES
    wide = link.rate_bits_per_s / 8 * _FILL_SECONDS
    return size >= max(_FILL_BYTES, wide, bandwidth_threshold_bytes(link))


def hold(
    ctx: Context, point: PointRecord, pair: PairResult, number: Measured, proof: Proof, start_ns: float | None
) -> Held:
    """Hold one pair's number against ceiling, floor and expectation.

    ``start_ns`` is the pair's measured latency of small messages, from which a large ping-pong's expectation is built.
    """
    if ctx.link is None:
        return Held(None, None, [], True)
    bound = limits(ctx.link, point.pattern, point.form, point.message_bytes, ctx.table)
    return _Scale(ctx, ctx.link, point, pair, number, proof, bound).judged(start_ns)


class _Scale:
    def __init__(
        self,
        ctx: Context,
        link: LinkClaim,
        point: PointRecord,
        pair: PairResult,
        number: Measured,
        proof: Proof,
        bound: Limits,
    ) -> None:
        self.ctx, self.point, self.pair, self.number, self.proof, self.bound = ctx, point, pair, number, proof, bound
        self.link, self.size = link, point.message_bytes
        self.rate = bound.attainable_bytes_per_s
        self.crossings = crossings(point.pattern, point.form)
        self.waits = self.crossings > 0
        self.issues: list[Issue] = []
        self.clear = True  # the interval does not straddle a threshold

    def judged(self, start_ns: float | None) -> Held:
        self._floor()
        self._ceiling()
        self._expectation(start_ns)
        goodput = self.number.goodput_bytes_per_s
        # Short messages pass a shaper at the CPU's speed: a share of the link's goodput would say nothing.
        slowed = self.size > 0 and self.size >= bandwidth_threshold_bytes(self.link)
        efficiency = goodput / self.rate if self.rate and slowed else None
        limit = self.rate if self.number.unit == "bytes_per_s" else self.bound.floor_ns
        return Held(limit, efficiency, self.issues, self.clear)

    def _add(self, code: str, severity: Severity, message: str, weight: float) -> None:
        evidence: Evidence = {
            "attainable_bytes_per_s": self.rate, "floor_ns": self.bound.floor_ns, "value": self.number.value,
            "low": self.number.low, "high": self.number.high, "derivation": list(self.bound.derivation),
        }  # fmt: skip
        where = f"{self.ctx.route(self.pair)}, {self.point.pattern} of {self.size} B: {message}"
        self.issues.append(Issue(code, severity, self.ctx.route(self.pair), where, evidence, self.point.id, weight))

    def _floor(self) -> None:
        """Time of one operation against s / R + floor; for patterns that wait for each answer."""
        floor, time = self.bound.floor_ns, self.number.time
        if not self.waits or floor is None:
            return
        least = floor * (1 - self.ctx.criteria.floor_tolerance)
        if time.median_ns >= least:
            self.clear &= time.low_ns >= least or time.half_width <= self.ctx.criteria.max_half_width
            return
        text = f"{time.median_ns / 1e3:.3f} us is below the {floor / 1e3:.3f} us that {self.link.kind} needs at least"
        constant = floor_constant(self.link, self.ctx.table)
        start = self.crossings * constant.value
        # A floor from literature is an estimate: with the bytes proven on the wire, nearly reaching it is only a doubt.
        doubt = constant.literature and self.proof == "on-wire"
        hard = floor - start + start * self.ctx.table["floor.literature_margin"].value
        self._add("below-floor", "inconclusive" if doubt and time.median_ns >= hard else "fail", text, floor)

    def _ceiling(self) -> None:
        if self.rate is None or self.size == 0 or self.size < bandwidth_threshold_bytes(self.link, self.ctx.table):
            return
        # Between two idle moments a shaped link lets some bytes pass for nothing; a real one none.
        credit = shaper_credit_bytes(self.link, idle_between_messages=self.waits, table=self.ctx.table)
        run = self.size if self.waits else self.size * max(1, self.pair.operations_per_batch)
        ceiling = self.rate * run / max(run - credit, run / 2) * (1 + self.ctx.criteria.ceiling_tolerance)
        slowest = self.size / (self.number.time.high_ns * 1e-9)
        goodput = self.number.goodput_bytes_per_s
        if min(slowest, self._least_average() or slowest) > ceiling:
            text = f"{rate(goodput)} is more than the {rate(self.rate)} that {self.link.kind} can carry"
            # Late stamps on a crowded host shorten what they time; bytes proven on the wire are then only doubted.
            doubt = self.proof == "on-wire" and crowded(self.pair) and goodput < _CROWDED_EXCESS * ceiling
            text += "; the scheduler took the processor away meanwhile" if doubt else ""
            self._add("above-ceiling", "inconclusive" if doubt else "fail", text, goodput)
        elif goodput > ceiling:
            self.clear = False
            text = f"{rate(goodput)} may be more than the {rate(self.rate)} that {self.link.kind} can carry"
            self._add("above-ceiling", "inconclusive", text, goodput)

    def _least_average(self) -> float:
        """Goodput over the timed batches but stalls, less what may have come before timing began: a window in flight.

        Acknowledgements that come late and in bunches make single batches look short, but not this. 0: nothing timed.
        """
        times = operation_times(self.point, self.pair)
        if times.size == 0:
            return 0.0
        times = times[times <= _STALL * np.median(times)]
        operations = times.size * max(1, self.pair.operations_per_batch)
        early = 0 if self.waits else min(self.pair.window_used * self.point.threads, _MOST_EARLY * operations)
        return self.size * (operations - early) / operations / (float(times.mean()) * 1e-9)

    def _expectation(self, start_ns: float | None) -> None:
        """Large messages must reach min_efficiency of the attainable goodput; a ping-pong less its start."""
        if self.rate is None or self.size == 0 or self.point.pattern == "accumulate":  # that may wait for the adding
            return
        share = self.ctx.criteria.min_efficiency
        slowest_ns = self.size / (share * self.rate) * 1e9
        if self.waits:
            slowest_ns *= self.point.threads  # that share the link, each waiting for its own answer
            if self.size < _PINGPONG_BYTES:
                return
            slowest_ns += start_ns if start_ns is not None else 10 * floor_constant(self.link, self.ctx.table).value
        elif not fills_link(self.link, self.size // self.point.partitions):
            return
        time = self.number.time
        got = (
            f"{rate(self.number.goodput_bytes_per_s)}, {self.number.goodput_bytes_per_s / self.rate:.0%} of attainable"
        )
        if time.low_ns > slowest_ns:
            text = f"{got} {rate(self.rate)}; at least {share:.0%} is expected of {self.link.kind}"
            # A host whose scheduler took the processor away may be a little slow on a good link.
            excused = crowded(self.pair) and self.number.goodput_bytes_per_s > _CROWDED_SHARE * self.rate
            text += "; the scheduler took the processor away meanwhile" if excused else ""
            severity: Severity = "inconclusive" if excused else "fail"
            self._add("below-expectation", severity, text, -self.number.goodput_bytes_per_s)
        elif time.high_ns > slowest_ns:
            self.clear = False
            text = f"{got} {rate(self.rate)}; the interval straddles the expected {share:.0%}"
            self._add("below-expectation", "inconclusive", text, -self.number.goodput_bytes_per_s)
