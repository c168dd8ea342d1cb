"""Is it as fast as the link should be: goodput where the sizes tell it, the start where they do
not.
"""

from __future__ import annotations

import math

from wireproof.model.finding import Evidence, Severity
from wireproof.model.quantity import short_time, size, throughput
from wireproof.physics.bounds import (
    FILL_BYTES,
    HANDSHAKE,
    WAITED_BYTES,
    Bounds,
    expected_share,
    fill_bytes,
)
from wireproof.physics.framing import over_fabric
from wireproof.verdict.external.allowance import allowance, as_one_ip_stream, scattered
from wireproof.verdict.external.case import Case
from wireproof.verdict.external.curve import Row
from wireproof.verdict.external.published import as_published

__all__ = ["judge_expectation", "judge_middle", "judge_start"]

# a ping-pong whose transfer takes this many starts tells the rate at smaller sizes too
_STARTS = 10
# a table that prints times only is no bandwidth test: a little less is a warning
_LATENCY_SHARE = 0.75
_MIDDLE = 4096
_CRAWL = 0.25  # of attainable: less is no link's own doing
_SLOT = 0.4  # a slot is seldom narrower than this share of the link


def _filling(case: Case) -> int:
    """Bytes in flight from which a stream tells the rate of the link; a size for those that wait
    for each answer.
    """
    bounds = case.bounds
    least = bounds.least_size if bounds is not None else 0
    if case.series.waits or case.series.traffic == "pingpong":
        return max(WAITED_BYTES, least)
    return fill_bytes(bounds.most if bounds is not None else None, least)


def judge_expectation(case: Case, bounds: Bounds, attainable: float | None) -> bool:
    """Holds the goodput against ``attainable``; True when the sizes reach far enough to tell."""
    if attainable is None or case.chain or case.series.traffic in ("collective", "atomic", "other"):
        return False
    telling = [row for row in case.limited if _tells(case, row, attainable)]
    if not telling:
        return False
    share = _share(case)
    closest = max(telling, key=lambda row: _reached(case, row, attainable))
    reached = _reached(case, closest, attainable)
    case.held = True
    if reached * (1 + closest.doubt) >= share:
        return True
    best = max(row.goodput or 0.0 for row in telling)
    usual, as_slow = as_published(case, closest)
    if usual:
        text = f"{throughput(best)} is {best / attainable:.1%} of attainable, as usual: {as_slow}"
        case.add("usual-shortfall", "note", text)
        return True
    _short_of(case, bounds, telling, closest, attainable, as_slow)
    if closest.wait_ns is not None and case.series.traffic == "pingpong":
        _halved_twice(case, best, reached)
    return True


def _short_of(
    case: Case,
    bounds: Bounds,
    telling: list[Row],
    closest: Row,
    attainable: float,
    as_slow: str,
) -> None:
    best = max(row.goodput or 0.0 for row in telling)
    shares = [_reached(case, row, attainable) for row in telling]
    share, reached = _share(case), _reached(case, closest, attainable)
    text = (
        f"{throughput(best)} is {best / attainable:.1%} of the attainable "
        f"{throughput(attainable)}; at least {share:.0%} is expected of {case.kind}"
    )
    if closest.wait_ns is not None and case.curve.start is not None:
        text += f", less {HANDSHAKE} starts of {short_time(case.curve.start.wait_ns or 0.0)}"
    evidence: Evidence = {
        "goodput_bytes_per_s": best,
        "attainable_bytes_per_s": attainable,
        "share": reached,
        "expected": share,
        "size": closest.size,
    }
    enough, said = as_one_ip_stream(case, bounds.link, best)
    if said:
        severity: Severity = "note" if enough else "fail"
        case.add("below-expectation", severity, f"{text}; {said}", evidence)
        return
    why = as_slow or allowance(case, bounds, shares, closest, reached)
    severity = "inconclusive"
    if not why:
        severity, why = _unexcused(case, bounds, reached)
    case.add("below-expectation", severity, f"{text}; {why}" if why else text, evidence)


def _halved_twice(case: Case, best: float, reached: float) -> None:
    if 0.9 <= 2 * reached <= 1.02:
        text = (
            f"twice {throughput(best)} would fit {case.kind}: is the time a whole round trip and "
            "not half of one?"
        )
        case.add("wrong-formula", "note", text)


def _tells(case: Case, row: Row, attainable: float) -> bool:
    if row.wait_ns is None:
        in_flight = row.size * case.in_flight
        return (
            in_flight >= _filling(case)
            or (row.goodput or 0.0) >= case.criteria.min_efficiency * attainable
        )
    start = case.curve.start.wait_ns if case.curve.start is not None else None
    if case.bounds is not None and case.bounds.tells(row.size, attainable, start):
        return True
    return row.size >= FILL_BYTES and row.size / attainable * 1e9 >= _STARTS * HANDSHAKE * (
        start or math.inf
    )


def _reached(case: Case, row: Row, attainable: float) -> float:
    """Share of attainable; of a waited operation, that of its time less its start and a
    rendezvous.
    """
    if case.bounds is None or not row.wait_ns:
        goodput = row.goodput or 0.0
        if case.bounds is None or not case.series.waits or not goodput:
            return goodput / attainable
        # a ping-pong that prints no time
        return case.bounds.reached(row.size / goodput * 1e9, row.size, attainable, None)
    start = case.curve.start.wait_ns if case.curve.start is not None else None
    return case.bounds.reached(row.wait_ns, row.size, attainable, start)


def _share(case: Case) -> float:
    return expected_share(case.criteria, both_ways=case.series.traffic == "exchange")


def _unexcused(case: Case, bounds: Bounds, reached: float) -> tuple[Severity, str]:
    """How grave a shortfall is that nothing excuses, and where to look."""
    series, link = case.series, bounds.link
    if link.protocol == "tcp" and (link.rate_bits_per_s or 0.0) > 10e9:
        return "fail", "one TCP stream is bound by one core: RDMA or several streams carry more"
    printed = any(row.point.goodput_bytes_per_s is not None for row in case.curve.rows)
    if series.waits and not printed and reached >= _LATENCY_SHARE:
        return "warning", "the table is about latency"
    if link.protocol != "tcp" and not link.pcie and reached >= _SLOT:
        return "fail", "where the slot is narrower than the link, say so (--pcie gen3x8)"
    return "fail", ""


def judge_start(case: Case, bounds: Bounds) -> None:
    """The start of small messages against what is usual; a whole one-sided operation takes a full
    round trip.
    """
    start = case.curve.start
    if (
        start is None
        or start.wait_ns is None
        or case.series.traffic in ("collective", "ring", "other")
    ):
        return
    ways = 1 if case.series.traffic == "pingpong" else 2
    usual_ns = ways * bounds.slow_at(start.size)
    if start.wait_ns <= usual_ns:
        return
    text = (
        f"{short_time(start.wait_ns)} at {size(start.size)}: small messages over {case.kind} "
        "usually take less than "
        f"{short_time(usual_ns)}"
    )
    evidence: Evidence = {
        "time_ns": start.wait_ns,
        "usual_ns": usual_ns,
        "size": start.size,
    }
    usual, as_slow = as_published(case, start)
    if usual:
        return
    why = as_slow or _start_excused(case, bounds)
    case.add(
        "slow-start", "inconclusive" if why else "fail", f"{text}{why and '; '}{why}", evidence
    )


def _start_excused(case: Case, bounds: Bounds) -> str:
    """Why a slow start is only a doubt; "" if nothing excuses it."""
    if over_fabric(bounds.link):
        return "IP over a fabric is as slow as its settings"
    if any(reason.code == "too-few-iterations" for reason in case.reasons):
        return "of too few iterations"
    return scattered(case)


def judge_middle(case: Case, bounds: Bounds, attainable: float | None) -> None:
    """A table that ends before the sizes that tell the rate: its largest must at least not
    crawl.
    """
    last = max(case.curve.waited, key=lambda row: row.size, default=None)
    if (
        last is None
        or last.wait_ns is None
        or attainable is None
        or last.size < _MIDDLE
        or case.chain
    ):
        return
    ways = 1 if case.series.traffic == "pingpong" else 2
    most = ways * bounds.slow + last.size / (_CRAWL * attainable) * 1e9
    if case.series.traffic == "atomic" or last.wait_ns <= most:
        return
    text = (
        f"{size(last.size)} takes {short_time(last.wait_ns)}; a usual start and {_CRAWL:.0%} of "
        "the attainable "
        f"{throughput(attainable)} would make {short_time(most)}, and no larger size shows the rate"
    )
    evidence: Evidence = {"size": last.size, "time_ns": last.wait_ns, "usual_ns": most}
    case.add("below-expectation", "inconclusive", text, evidence)
