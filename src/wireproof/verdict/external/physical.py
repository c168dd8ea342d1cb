"""What no wire can do: quicker than the floor, faster than the link, more packets than it has room
for.
"""

from __future__ import annotations

import math

from wireproof.model.finding import Evidence
from wireproof.model.quantity import short_time, size, throughput
from wireproof.physics.bounds import Bounds, any_nic_ns
from wireproof.physics.shaper import is_shaped
from wireproof.physics.table import default_table
from wireproof.verdict.external.case import Case
from wireproof.verdict.external.curve import Row
from wireproof.verdict.external.explained import cache_fall

__all__ = ["judge_physics"]

_TRANSFER_FROM = 2048  # below this the start hides the transfer
_WAITED_TOLERANCE = 0.005  # a ping-pong pays its start too: it cannot even come near the ceiling
_MOST_RAILS = 8.2
_BUCKET = 4 << 20  # the largest bucket that a rate limiter is believed to have, bytes
_AFTER = 0.5
_SYNCHRONIZING = (
    "barrier",
    "allreduce",
    "alltoall",
    "allgather",
    "reduce_scatter",
    "reduce-scatter",
)
_MEBI = 1.048576
_SMALL_STREAM = 64  # messages up to this size tell what a core sends, bytes
_LEAST_FRAME = 84.0  # of Ethernet on the line, bytes


def judge_physics(case: Case) -> None:
    """Adds the reasons, and marks the case when they exclude the claimed wire."""
    bounds = case.bounds
    if bounds is not None and not bounds.wire:
        return
    _any_nic(case)
    if bounds is None:
        return
    _floor(case, bounds)
    _collective(case, bounds)
    if _burst(case, bounds):
        return
    _transfer(case, bounds)
    _ceiling(case, bounds)
    _slowest_pair(case, bounds)
    _message_rate(case, bounds)
    _one_pair(case, bounds)


def _local(case: Case) -> bool:
    """A put that is complete when its own buffer is free says nothing about the other end."""
    text = (
        f"{case.series.benchmark} {case.series.formula} {' '.join(case.series.notes[:8])}".lower()
    )
    return case.series.traffic == "put" and "local" in text


def _any_nic(case: Case) -> None:
    start = case.curve.start
    crossing = case.crossing_ns(start) if start is not None else None
    if start is None or start.wait_ns is None or crossing is None or _local(case):
        return
    least = any_nic_ns(case.table)
    quickest = (case.table or default_table())["floor.any_nic"].value
    shaped = cache_fall(case.curve) is not None
    if crossing >= (quickest if shaped else least):
        return
    case.off = case.too_quick = True
    text = f"{short_time(start.wait_ns)} at {size(start.size)}: no NIC in a PCIe slot answers in less than {short_time(quickest)}"
    case.add(
        "below-any-nic",
        "fail",
        text,
        {"time_ns": start.wait_ns, "any_nic_ns": quickest, "size": start.size},
    )


def _floor(case: Case, bounds: Bounds) -> None:
    start = case.curve.start
    most = case.crossing_ns(start) if start is not None else None
    if start is None or start.wait_ns is None or most is None or _local(case):
        return
    doubt = bounds.too_quick(most, 0)
    if doubt is None:
        case.held = True
        return
    text = (
        f"{short_time(start.wait_ns)} at {size(start.size)}; {case.kind} needs at least {short_time(bounds.floor)} "
        "for half a round trip"
    )
    why = {
        "fail": "",
        "inconclusive": "; the floor is from literature, so this is a doubt",
        "note": "; the floor is from literature and nearly reached",
    }
    case.off = case.off or doubt == "fail"
    case.too_quick = case.too_quick or doubt == "fail"
    case.held = case.held or doubt == "note"
    evidence: Evidence = {"time_ns": start.wait_ns, "floor_ns": bounds.floor, "size": start.size}
    case.add("below-floor", doubt, text + why[doubt], evidence)


def _collective(case: Case, bounds: Bounds) -> None:
    """A collective in which each rank hears of all others takes at least one message; skew may hide
    half of it.
    """
    series = case.series
    ring = series.traffic == "ring"
    synchronizing = any(word in series.benchmark.lower() for word in _SYNCHRONIZING)
    if (
        series.traffic not in ("collective", "ring")
        or not (synchronizing or ring)
        or series.metric == "overlap"
    ):
        return
    times = [
        (max(t, p.time_max_ns or 0.0), p.message_bytes)
        for p in series.points
        for t in [p.time_ns or p.hrt_ns]
        if t
    ]
    # A collective of nothing sends nothing, but for the barrier.
    least_size = 0 if "barrier" in series.benchmark.lower() else 1
    small = [pair for pair in times if least_size <= pair[1] <= 1024]
    if not small:
        return
    least, at = min(small)
    if least < bounds.hard * (1.0 if ring else 0.5 / 0.6):
        case.off = case.too_quick = True
        one = f"one message over {case.kind} takes {short_time(bounds.floor)}"
        text = f"{series.benchmark} took {short_time(least)} at {size(at)}; {one}"
        case.add(
            "below-floor", "fail", text, {"time_ns": least, "floor_ns": bounds.floor, "size": at}
        )


def _burst(case: Case, bounds: Bounds) -> bool:
    """A rate limiter lets a bucket of bytes pass at once: only sizes up to that break the rate,
    larger ones keep it.

    Kernel TCP only, and only from a start that TCP has, so that no memory is taken for a limited
    wire.
    """
    start, most = case.curve.start, bounds.most
    if (
        bounds.link.protocol != "tcp"
        or most is None
        or start is None
        or (start.wait_ns or 0.0) < bounds.hard
    ):
        return False
    rows = [
        row
        for row in case.curve.waited
        if row.goodput is not None and row.size >= max(_TRANSFER_FROM, bounds.least_size)
    ]
    broken = [
        row
        for row in rows
        if (row.wait_ns or 0.0) * (1 + row.doubt) < bounds.shortest(row.size)
        or case.held_goodput(row) * (1 - row.doubt) > most * (1 + _WAITED_TOLERANCE)
    ]
    if not broken or broken[-1].size > _BUCKET:
        return False
    after = [row for row in rows if row.size > broken[-1].size]
    if not after or not all(_AFTER * most <= (row.goodput or 0.0) for row in after):
        return False
    quickest = throughput(max(row.goodput or 0.0 for row in broken))
    text = (
        f"messages up to {size(broken[-1].size)} pass at up to {quickest}, larger "
        f"ones keep to the {throughput(most)} of {case.kind}: a rate limiter (cloud, container, lab) lets a bucket of bytes "
        "through at once"
    )
    case.bucket = broken[-1].size
    case.add(
        "rate-limited",
        "inconclusive",
        text,
        {"size": broken[-1].size, "attainable_bytes_per_s": most},
    )
    return True


def _transfer(case: Case, bounds: Bounds) -> None:
    """t(s) against s / R + floor: told of the size that leaves least for the start."""
    worst: tuple[float, Row] | None = None
    broken = 0
    for row in case.curve.waited:
        if (
            row.size < max(_TRANSFER_FROM, bounds.least_size)
            or bounds.most is None
            or row.wait_ns is None
        ):
            continue
        if case.series.traffic == "atomic" or _local(case):
            continue
        crossing = case.crossing_ns(row)
        if crossing is None or crossing >= bounds.shortest(row.size):
            continue
        broken += 1
        left = row.wait_ns - row.size / bounds.most * 1e9
        if worst is None or left < worst[0]:
            worst = left, row
    if worst is None or bounds.most is None or worst[1].wait_ns is None:
        return
    row = worst[1]
    moved = row.size / bounds.most * 1e9
    case.off = True
    left = worst[0]
    sizes = "this size breaks" if broken == 1 else f"{broken} sizes break"
    text = (
        f"{size(row.size)} in {short_time(row.wait_ns or 0.0)}: moving the bytes alone takes {short_time(moved)} at "
        f"{throughput(bounds.most)}, and "
        + (f"{short_time(left)} is left" if left > 0 else "nothing is left")
        + f" for a start of {short_time(bounds.floor)} ({sizes} the bound)"
    )
    case.add(
        "faster-than-transfer",
        "fail",
        text,
        {
            "size": row.size,
            "time_ns": row.wait_ns,
            "transfer_ns": moved,
            "floor_ns": bounds.floor,
            "sizes": broken,
        },
    )


def _ceiling(case: Case, bounds: Bounds) -> None:
    best, most = case.fastest, bounds.most
    if best is None or best.goodput is None or most is None or case.chain:
        return
    tolerance = _WAITED_TOLERANCE if best.wait_ns is not None else case.criteria.ceiling_tolerance
    if case.held_goodput(best) * (1 - best.doubt) <= most * (1 + tolerance):
        return
    ratio = best.goodput / most
    told = f"{throughput(best.goodput)} at {size(best.size)} is {ratio:.4g} times the {throughput(most)} that {case.kind} can carry"
    ways = " in one direction" if case.series.directions > 1 else ""
    evidence: Evidence = {
        "goodput_bytes_per_s": best.goodput,
        "attainable_bytes_per_s": most,
        "size": best.size,
        "ratio": ratio,
    }
    if case.series.unit_doubt and best.goodput / _MEBI <= most * (1 + tolerance):
        case.add(
            "above-ceiling", "inconclusive", f"{told}{ways}; with MB for MiB it would fit", evidence
        )
        return
    if case.unit_wrong:
        case.add("above-ceiling", "inconclusive", f"{told}{ways}; its unit is in doubt", evidence)
        return
    pairs = case.series.pairs
    if pairs > 1 and ratio <= pairs * (1 + tolerance):
        text = f"{told}{ways}; {pairs} pairs may have used several links, which the output does not tell"
        case.add("above-ceiling", "inconclusive", text, evidence)
        return
    case.add("above-ceiling", "fail", told + ways, evidence)
    _unit_hint(case, best.goodput, most, tolerance)
    if _striped(case, ratio):
        case.mixed = True
        text = (
            f"the curve starts and stays flat as a wire's, at {ratio:.2g} times one link: "
            f"{-int(-ratio // 1)} links carry it together, or the claimed rate is too low"
        )
        case.add("mixed-paths", "fail", text, {"ratio": ratio})
    else:
        case.off = True


def _slowest_pair(case: Case, bounds: Bounds) -> None:
    """Of many pairs on several nodes at least the slowest crosses the wire: it too is bound by the
    link.
    """
    if not case.chain or bounds.most is None:
        return
    for row in case.curve.rows:
        slowest = row.point.values.get("goodput_min_bytes_per_s")
        if (
            slowest is None
            or not bounds.most * (1 + case.criteria.ceiling_tolerance) < slowest < math.inf
        ):
            continue
        case.off = True
        text = (
            f"even the slowest pair moves {throughput(slowest)}, {slowest / bounds.most:.4g} times the {throughput(bounds.most)} "
            f"that {case.kind} can carry: no pair crossed it"
        )
        evidence: Evidence = {
            "goodput_bytes_per_s": slowest,
            "attainable_bytes_per_s": bounds.most,
            "size": row.size,
        }
        case.add("above-ceiling", "fail", text, evidence)
        return


def _unit_hint(case: Case, best: float, most: float, tolerance: float) -> None:
    """What the number would be in another unit or by another formula, where that would fit the
    link.
    """
    if case.too_quick or case.series.unit_doubt:
        return
    waited = case.curve.best is not None and case.curve.best.wait_ns is not None

    def fits(value: float) -> bool:
        return 0.85 * most <= value <= most * (1 + tolerance)

    if fits(best / 8):
        case.add(
            "unit-doubt",
            "note",
            f"{throughput(best)} / 8 = {throughput(best / 8)} would fit: bits read as bytes?",
        )
    elif fits(best / _MEBI) and not waited:
        case.add(
            "unit-doubt",
            "note",
            f"{throughput(best)} / 1.048576 = {throughput(best / _MEBI)} would fit: MB read as MiB?",
        )
    elif fits(best / 2) and case.series.directions == 1:
        why = "is the time halved twice?" if waited else "is it the sum of both directions?"
        case.add(
            "wrong-formula",
            "note",
            f"{throughput(best)} / 2 = {throughput(best / 2)} would fit: {why}",
        )


def _striped(case: Case, ratio: float) -> bool:
    """A plateau near a whole number of links, from a start that a wire has: several rails, not
    memory.
    """
    if (
        case.too_quick
        or not 1.6 <= ratio <= _MOST_RAILS
        or cache_fall(case.curve) is not None
        or case.curve.best is None
    ):
        return False
    rails = -int(-ratio // 1)
    moved = [row.goodput or 0.0 for row in case.curve.moved][-3:]
    flat = len(moved) == 3 and min(moved) >= 0.9 * (case.curve.best.goodput or 0.0)
    return flat and ratio / rails >= 0.85


def _message_rate(case: Case, bounds: Bounds) -> None:
    """Messages/s x the least packet against the line; RDMA only, since TCP joins small messages."""
    link, series = bounds.link, case.series
    if (
        link.protocol in ("tcp", "iwarp", "truescale")
        or is_shaped(link)
        or link.line_rate is None
        or case.chain
    ):
        return
    if series.traffic not in ("stream", "rate", "exchange") or (
        series.pairs > 1 and len(series.hosts) != 2
    ):
        return
    header = (case.table or default_table())[f"{link.protocol}.header"].value
    least = _LEAST_FRAME if link.protocol in ("rocev2", "psm3", "efa", "slingshot") else 0.0
    for row in case.curve.moved if not case.unit_wrong else ():
        if row.goodput is None or row.size == 0 or row.size > 4096:
            continue
        messages = row.goodput / row.size
        packet = max(least, row.size + header / 2)
        if messages * packet * (1 - row.doubt) > link.line_rate / 8 * 1.02:
            case.off = True
            text = (
                f"{messages / 1e6:.4g} M messages/s of {size(row.size)}: with {packet:g} B on the line each, "
                f"{throughput(messages * packet)} on a line of {throughput(link.line_rate / 8)}"
            )
            case.add(
                "message-rate-above-link",
                "fail",
                text,
                {"messages_per_s": messages, "size": row.size},
            )
            return


def _one_pair(case: Case, bounds: Bounds) -> None:
    """Small messages of one pair, more in a second than one core sends over such a link: a warning,
    from literature.
    """
    series = case.series
    if (
        case.off
        or series.traffic not in ("stream", "exchange", "rate")
        or series.pairs > 1
        or series.protocol
    ):
        return
    small = [row for row in case.curve.moved if 0 < row.size <= _SMALL_STREAM and row.goodput]
    if case.chain or case.unit_wrong or not small:
        return
    slow = bounds.link.protocol in ("tcp", "efa")
    usual = (case.table or default_table())["rate.one_pair_tcp" if slow else "rate.one_pair"].value
    row = max(small, key=lambda r: (r.goodput or 0.0) * (1 - r.doubt) / r.size)
    messages = (row.goodput or 0.0) * (1 - row.doubt) / row.size
    if messages <= usual:
        return
    text = (
        f"{messages / 1e6:.3g} M messages/s of {size(row.size)} by one pair; over {case.kind} one core usually sends "
        f"less than {usual / 1e6:g} M/s, through memory it does"
    )
    case.add(
        "message-rate-unusual", "warning", text, {"messages_per_s": messages, "usual_per_s": usual}
    )
