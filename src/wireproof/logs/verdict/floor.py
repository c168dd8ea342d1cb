# pure
"""Detect results that no wire allows: times below the latency floor of messages, collectives and
transfers, and rates above the link's rate.
"""

import math
from collections.abc import Iterator

from wireproof.logs.verdict.curve import MEBI, Case, CurveRow
from wireproof.logs.verdict.published import idle_beside
from wireproof.logs.verdict.rates import judge_message_rate, judge_one_pair
from wireproof.model.finding import Evidence
from wireproof.model.quantity import short_time, size, throughput
from wireproof.model.series import Series, SeriesPoint
from wireproof.physics.bounds import CurveBounds, any_nic_ns, exceeds

_TRANSFER_FROM = 2048
"""Below this size the start dominates the transfer time; bytes."""
_SMALL = 1024
_NEARLY = 0.9  # share of the floor; no published result is faster
_SYNCHRONIZING = (
    "barrier",
    "allreduce",
    "alltoall",
    "allgather",
    "reduce_scatter",
    "reduce-scatter",
)
_WHY = {
    "fail": "",
    "inconclusive": "; the floor comes from literature, so this is not certain",
    "note": "; the floor comes from literature and is nearly reached",
}


def _local(case: Case) -> bool:
    """True for a put that completes when its local buffer is free: its time says nothing about the
    other end."""
    series = case.series
    text = f"{series.benchmark} {series.formula} {' '.join(series.notes[:8])}".lower()
    return series.traffic == "put" and "local" in text


def _start(case: Case) -> tuple[CurveRow, float] | None:
    """Return the fastest small message and its time that must include the wire."""
    start = case.curve.start
    crossing = None if start is None or _local(case) else case.crossing_ns(start)
    return None if start is None or crossing is None else (start, crossing)


def judge_any_nic(case: Case) -> None:
    """Fail a start that is faster than any NIC, whatever link was claimed."""
    start, crossing = _start(case) or (None, 0.0)
    fastest = case.constant("floor.any_nic")
    if start is None or crossing >= (fastest if case.curve.fall else any_nic_ns(case.table)):
        return
    case.off = case.too_quick = True
    case.add(
        "below-any-nic",
        "fail",
        f"{short_time(start.wait_ns)} at {size(start.size)}: no NIC in a PCIe slot answers in "
        f"less than {short_time(fastest)}",
        {"time_ns": start.wait_ns, "any_nic_ns": fastest, "size": start.size},
    )


def judge_floor(case: Case, bounds: CurveBounds) -> None:
    """Check small messages against the floor of the claimed link."""
    start, crossing = _start(case) or (None, 0.0)
    if start is None:
        return
    doubt = bounds.too_quick(crossing, 0)
    if doubt is None:
        case.held = True
        return
    if doubt == "note" and not case.counted and crossing < _NEARLY * bounds.floor:
        doubt = "inconclusive"  # a log has no counters that would show the bytes on the wire
    text = (
        f"{short_time(start.wait_ns)} at {size(start.size)}; {case.kind} needs at least "
        f"{short_time(bounds.floor)} for half a round trip"
    )
    case.off = case.off or doubt == "fail"
    case.too_quick = case.too_quick or doubt == "fail"
    case.held = case.held or doubt == "note"
    case.add(
        "below-floor",
        doubt,
        text + _WHY[doubt],
        {"time_ns": start.wait_ns, "floor_ns": bounds.floor, "size": start.size},
    )


def judge_collective(case: Case, bounds: CurveBounds) -> None:
    """Check a collective in which each rank receives from all others: it takes at least one
    message.

    Clock skew may hide half of the time.
    """
    series = case.series
    if not _needs_a_message(series):
        return
    # An empty collective sends nothing, except for the barrier.
    least_size = 0 if "barrier" in series.benchmark.lower() else 1
    small = [pair for pair in _longest(series.points) if least_size <= pair[1] <= _SMALL]
    least, at = min(small, default=(0.0, -1))
    share = 1.0 if series.traffic == "ring" else 0.5 / 0.6
    if at < 0 or not least < bounds.hard * share:  # nan contradicts nothing
        return
    case.off = case.too_quick = True
    case.add(
        "below-floor",
        "fail",
        f"{series.benchmark} took {short_time(least)} at {size(at)}; "
        f"one message over {case.kind} takes {short_time(bounds.floor)}",
        {"time_ns": least, "floor_ns": bounds.floor, "size": at},
    )


def _needs_a_message(series: Series) -> bool:
    if series.metric == "overlap":
        return False
    synchronizing = any(word in series.benchmark.lower() for word in _SYNCHRONIZING)
    return series.traffic == "ring" or (series.traffic == "collective" and synchronizing)


def _longest(points: list[SeriesPoint]) -> Iterator[tuple[float, int]]:
    """Yield (time of the slowest rank if it is printed, size) in ns and bytes."""
    for point in points:
        time = point.time_ns or point.hrt_ns
        if time:
            yield max(time, point.time_max_ns or 0.0), point.message_bytes


def judge_transfer(case: Case, bounds: CurveBounds) -> None:
    """Check t(s) against s / R + floor; report the size that leaves the least time for the
    start."""
    most = bounds.most
    if most is None or case.series.traffic == "atomic" or _local(case):
        return
    broken = [
        (row.wait_ns - row.size / most * 1e9, row)
        for row in case.curve.waited
        if row.size >= max(_TRANSFER_FROM, bounds.least_size) and _too_short(case, bounds, row)
    ]
    if not broken:
        return
    left, row = min(broken, key=lambda left_and_row: left_and_row[0])
    wait, moved = row.wait_ns, row.size / most * 1e9
    case.off = True
    sizes = "this size breaks" if len(broken) == 1 else f"{len(broken)} sizes break"
    remains = f"{short_time(left)} is left" if left > 0 else "nothing is left"
    case.add(
        "faster-than-transfer",
        "fail",
        f"{size(row.size)} in {short_time(wait)}: moving the bytes alone takes "
        f"{short_time(moved)} at {throughput(most)}, and {remains} for a start of "
        f"{short_time(bounds.floor)} ({sizes} the bound)",
        {
            "size": row.size,
            "time_ns": wait,
            "transfer_ns": moved,
            "floor_ns": bounds.floor,
            "sizes": len(broken),
        },
    )


def _too_short(case: Case, bounds: CurveBounds, row: CurveRow) -> bool:
    crossing = case.crossing_ns(row)
    return crossing is not None and crossing < bounds.shortest(row.size)


# --- Faster than the link: the link's ceiling, and other explanations for a number above it: a rate
# limiter's bucket, another unit, several links.

_WAITED_TOLERANCE = 0.005  # a ping-pong includes its start, so it stays well below the ceiling
_MOST_RAILS = 8.2
_BUCKET = 4 << 20  # the largest plausible bucket of a rate limiter, bytes
_AFTER = 0.5
_OWN_UNITS = ("osu", "imb", "hpcc", "perftest", "nccl_tests")  # none of their options prints bits


def limited_after_burst(case: Case, bounds: CurveBounds) -> bool:
    """Detect a rate limiter: only sizes up to its bucket exceed the rate, larger sizes keep it.

    Only for kernel TCP, and only if TCP can start that fast, so that memory is not mistaken for a
    limited wire. Add a finding and return True if a limiter is detected.
    """
    most = bounds.most
    if bounds.link.protocol != "tcp" or most is None or (case.start_ns or 0.0) < bounds.hard:
        return False
    broken, after = _around_bucket(case, bounds)
    if not broken or not after or min(after) < _AFTER * most:
        return False
    case.bucket = broken[-1].size
    fastest = max(row.goodput for row in broken)
    case.add(
        "rate-limited",
        "inconclusive",
        (
            f"messages up to {size(case.bucket)} pass at up to {throughput(fastest)}, larger ones "
            f"at the {throughput(most)} of {case.kind}: a rate limiter (cloud, container, lab) "
            "lets bursts of that size through"
        ),
        {"size": case.bucket, "attainable_bytes_per_s": most},
    )
    return True


def _around_bucket(case: Case, bounds: CurveBounds) -> tuple[list[CurveRow], list[float]]:
    """Return the rows that exceed the rate, up to the bucket size, and the goodput of all larger
    rows.
    """
    least = max(_TRANSFER_FROM, bounds.least_size)
    rows = [row for row in case.curve.waited if row.goodput and row.size >= least]
    broken = [row for row in rows if _breaks(case, bounds, row)]
    if not broken or broken[-1].size > _BUCKET:
        return [], []
    return broken, [row.goodput for row in rows if row.size > broken[-1].size]


def _breaks(case: Case, bounds: CurveBounds, row: CurveRow) -> bool:
    quick = row.wait_ns * (1 + row.doubt) < bounds.shortest(row.size)
    certain = case.held_goodput(row) * (1 - row.doubt)
    return quick or exceeds(bounds, certain, _WAITED_TOLERANCE)


def judge_ceiling(case: Case, bounds: CurveBounds) -> None:
    """Check the fastest row against the maximum rate of the link."""
    best, most = case.fastest, bounds.most
    if best is None or most is None or case.chain:
        return
    tolerance = _WAITED_TOLERANCE if best.wait_ns else case.criteria.ceiling_tolerance
    if not exceeds(bounds, case.held_goodput(best) * (1 - best.doubt), tolerance):
        return
    ratio = best.goodput / most
    ways = " in one direction" if case.series.directions > 1 else ""
    text = (
        f"{throughput(best.goodput)} at {size(best.size)} is {ratio:.4g} times the "
        f"{throughput(most)} that {case.kind} can carry{ways}"
    )
    evidence: Evidence = {
        "goodput_bytes_per_s": best.goodput,
        "attainable_bytes_per_s": most,
        "size": best.size,
        "ratio": ratio,
    }
    doubt = _doubt(case, best.goodput / most, tolerance)
    if doubt:
        case.add("above-ceiling", "inconclusive", f"{text}; {doubt}", evidence)
        return
    case.add("above-ceiling", "fail", text, evidence)
    _unit_hint(case, best.goodput, most, tolerance)
    if _striped(case, ratio) and not idle_beside(case.series):
        _several_links(case, ratio)
    else:
        case.off = True


def _doubt(case: Case, ratio: float, tolerance: float) -> str:
    """Return why a number above the ceiling is only doubtful, or "" if the contradiction is
    certain."""
    pairs = case.series.pairs
    if case.series.unit_doubt and ratio / MEBI <= 1 + tolerance:
        return "it would fit if MB meant MiB"
    if case.unit_wrong:
        return "its unit is in doubt"
    if pairs > 1 and ratio <= pairs * (1 + tolerance):
        return f"{pairs} pairs may have used several links, which the output does not show"
    return ""


def _striped(case: Case, ratio: float) -> bool:
    """Return whether the curve is flat near a whole number of links and starts like a wire: several
    rails.
    """
    best = case.curve.best
    if case.too_quick or case.curve.fall or best is None or not 1.6 <= ratio <= _MOST_RAILS:
        return False
    moved = [row.goodput for row in case.curve.moved][-3:]
    flat = len(moved) == 3 and min(moved) >= 0.9 * best.goodput
    return flat and ratio / math.ceil(ratio) >= 0.85


def _several_links(case: Case, ratio: float) -> None:
    case.mixed = True
    case.add(
        "mixed-paths",
        "fail",
        (
            f"the curve has the start-up time and the plateau of a wire, at {ratio:.2g} times the "
            f"rate of one link: {math.ceil(ratio)} links share the traffic, or the claimed rate "
            "is too low"
        ),
        {"ratio": ratio},
    )


def judge_slowest_pair(case: Case, bounds: CurveBounds) -> None:
    """Check the slowest of many pairs on several nodes: it crosses the wire, so the link limits
    it.
    """
    most = bounds.most
    if not case.chain or most is None:
        return
    for row in case.curve.rows:
        slowest = row.point.values.get("goodput_min_bytes_per_s", 0.0)
        if slowest == math.inf or not exceeds(bounds, slowest, case.criteria.ceiling_tolerance):
            continue
        case.off = True
        case.add(
            "above-ceiling",
            "fail",
            f"even the slowest pair moves {throughput(slowest)}, {slowest / most:.4g} times the "
            f"{throughput(most)} that {case.kind} can carry: no pair crossed it",
            {
                "goodput_bytes_per_s": slowest,
                "attainable_bytes_per_s": most,
                "size": row.size,
            },
        )
        return


def _unit_hint(case: Case, best: float, most: float, tolerance: float) -> None:
    """Add a note if the number would fit the link in another unit or with another formula."""
    if case.too_quick or case.series.unit_doubt:
        return
    waited = case.curve.best is not None and case.curve.best.wait_ns > 0

    def fits(value: float) -> bool:
        return 0.85 * most <= value <= most * (1 + tolerance)

    def hint(code: str, divisor: str, value: float, why: str) -> None:
        case.add(
            code, "note", f"{throughput(best)} / {divisor} = {throughput(value)} would fit: {why}"
        )

    if fits(best / 8) and case.series.tool not in _OWN_UNITS:
        hint("unit-doubt", "8", best / 8, "bits read as bytes?")
    elif fits(best / MEBI) and not waited:
        hint("unit-doubt", "1.048576", best / MEBI, "MB read as MiB?")
    elif fits(best / 2) and case.series.directions == 1:
        why = "is the time halved twice?" if waited else "is it the sum of both directions?"
        hint("wrong-formula", "2", best / 2, why)


def judge_physics(case: Case) -> None:
    """Add the reasons that follow from physics, and mark the case if they exclude the claimed
    wire."""
    bounds = case.bounds
    if bounds is not None and not bounds.wire:
        return
    judge_any_nic(case)
    if bounds is None:
        return
    judge_floor(case, bounds)
    judge_collective(case, bounds)
    if limited_after_burst(case, bounds):
        return
    judge_transfer(case, bounds)
    judge_ceiling(case, bounds)
    judge_slowest_pair(case, bounds)
    judge_message_rate(case, bounds)
    judge_one_pair(case, bounds)
