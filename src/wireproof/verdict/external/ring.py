"""Rings and ping-pongs of one HPCC run, judged together: its ping-pongs tell whether the processes
are on hosts of their own, and then a ring is held against the link, too.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from wireproof.model.claim import Criteria
from wireproof.model.finding import Severity
from wireproof.model.quantity import short_time, size, throughput
from wireproof.model.series import Reason, Series, SeriesVerdict
from wireproof.model.severity import rank, verdict_of
from wireproof.physics.bounds import Bounds, expected_share

__all__ = ["hosts_apart", "judge_ring"]

_RING_STARTS = 2.0  # a ring waits for two neighbours at once
_SLOW = 2.0  # times that: no ring of processes on hosts of their own is so slow
_CRAWL = 0.1  # of attainable: less is no library's choice
_STRIPPED = "only-a-floor"


def hosts_apart(series: Sequence[Series], bounds: Bounds) -> bool:
    """The quickest pair of the run's ping-pongs takes as long as the link needs: no two of the
    processes share a host.
    """
    for one in series:
        if one.tool == "hpcc" and one.benchmark == "PingPongLatency" and one.points:
            point = one.points[0]
            quickest = min(point.hrt_ns or 0.0, point.time_min_ns or point.hrt_ns or 0.0)
            return quickest >= bounds.floor
    return False


def judge_ring(
    one: Series, judged: SeriesVerdict, bounds: Bounds, criteria: Criteria
) -> SeriesVerdict:
    """The ring of a run whose processes are on hosts of their own, in place of its floor alone."""
    if one.traffic != "ring" or judged.proof != "unproven" or not one.points:
        return judged
    point = one.points[0]
    if point.time_ns is not None:
        reasons = _latency(point.time_ns, point.message_bytes, bounds)
        changes: dict[str, object] = {"start_ns": point.time_ns}
    elif point.goodput_bytes_per_s is not None and bounds.most is not None:
        moved = point.goodput_bytes_per_s
        attainable = bounds.expected(moved)[0] or bounds.most
        reasons = _goodput(moved, attainable, bounds, criteria)
        changes = {"best_bytes_per_s": moved, "efficiency": moved / attainable}
    else:
        return judged
    kept = [reason for reason in judged.reasons if reason.code != _STRIPPED]
    found = sorted([*kept, *reasons], key=lambda reason: rank(reason.severity))
    off = any(reason.code == "above-ceiling" for reason in reasons)
    return msgspec.structs.replace(
        judged,
        verdict=verdict_of(reason.severity for reason in found),
        proof="off-wire" if off else judged.proof,
        reasons=found,
        **changes,
    )


def _latency(time_ns: float, message_bytes: int, bounds: Bounds) -> list[Reason]:
    usual = _RING_STARTS * bounds.slow_at(message_bytes)
    if time_ns <= usual:
        return []
    severity: Severity = "fail" if time_ns > _SLOW * usual else "inconclusive"
    text = (
        f"{short_time(time_ns)} at {size(message_bytes)}: a ring over {bounds.link.name} usually"
        f" takes less than {short_time(usual)}"
    )
    evidence = {"time_ns": time_ns, "usual_ns": usual, "size": message_bytes}
    return [Reason(code="slow-start", severity=severity, message=text, evidence=dict(evidence))]


def _goodput(moved: float, attainable: float, bounds: Bounds, criteria: Criteria) -> list[Reason]:
    share = expected_share(criteria, both_ways=True)
    evidence = {"goodput_bytes_per_s": moved, "attainable_bytes_per_s": attainable}
    if moved > (bounds.ceiling(criteria.ceiling_tolerance) or moved):
        text = (
            f"{throughput(moved)} of each process in each direction is more than the"
            f" {throughput(bounds.most or 0.0)} that {bounds.link.name} can carry"
        )
        return [
            Reason(code="above-ceiling", severity="fail", message=text, evidence=dict(evidence))
        ]
    if moved >= share * attainable:
        return []
    text = (
        f"{throughput(moved)} of each process is {moved / attainable:.1%} of the attainable"
        f" {throughput(attainable)}; at least {share:.0%} is expected where both directions of"
        f" {bounds.link.name} are loaded"
    )
    severity: Severity = "fail" if moved < _CRAWL * attainable else "inconclusive"
    if severity == "inconclusive":
        text += "; rings of many processes meet in switches and wait for their slowest"
    return [
        Reason(code="below-expectation", severity=severity, message=text, evidence=dict(evidence))
    ]
