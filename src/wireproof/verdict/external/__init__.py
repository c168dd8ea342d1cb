"""Judgement of series that other programs have printed. Pure, and without numpy: ten thousand files
in seconds.

``judge_log`` judges each series of one log, and then by what the others of the same log show.
"""

from collections.abc import Sequence

import msgspec

from wireproof.atlas.known import Atlas
from wireproof.model.claim import Criteria, LinkClaim
from wireproof.model.finding import Severity, rank, verdict_of
from wireproof.model.quantity import short_time, size, throughput
from wireproof.model.series import Reason, Series, SeriesVerdict
from wireproof.physics.bounds import CurveBounds, bounds_of, expected_share
from wireproof.physics.table import Table
from wireproof.verdict.external.series import judge_series

__all__ = ["judge_log", "judge_series"]


# --- Rings and ping-pongs of one HPCC run, judged together: its ping-pongs tell whether the
# processes are on hosts of their own, and then a ring is held against the link, too.

_RING_STARTS = 2.0  # a ring waits for two neighbours at once
_SLOW = 2.0  # times that: no ring of processes on hosts of their own is so slow
_CRAWL = 0.1  # of attainable: less is no library's choice
_STRIPPED = "only-a-floor"


def hosts_apart(series: Sequence[Series], bounds: CurveBounds) -> bool:
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
    one: Series, judged: SeriesVerdict, bounds: CurveBounds, criteria: Criteria
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


def _latency(time_ns: float, message_bytes: int, bounds: CurveBounds) -> list[Reason]:
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


def _goodput(
    moved: float, attainable: float, bounds: CurveBounds, criteria: Criteria
) -> list[Reason]:
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


_TOO_QUICK = ("below-floor", "below-any-nic", "one-host")
_RINGS = ("ring", "exchange")
_STREAMS = ("stream", "rate", "exchange", "put", "get")
_DUPLEX = 1.02  # of one direction: the two of a half-duplex link carry less together


def judge_log(
    series: Sequence[Series],
    link: LinkClaim | None,
    *,
    path: str = "",
    criteria: Criteria | None = None,
    table: Table | None = None,
    atlas: Atlas | None = None,
    counted: bool = False,
) -> list[SeriesVerdict]:
    """One verdict per series. A bandwidth table that fills the link acquits it: large ping-pongs of
    the same log that are slow are then slow by their protocol, which is a doubt and no failure.
    """
    limits = criteria or Criteria()
    bounds = bounds_of(link, table) if link is not None else None
    apart = bounds is not None and bounds.wire and hosts_apart(series, bounds)
    if apart:
        series = [_as_pair(one) for one in series]
    found = [
        judge_series(
            one, link, path=path, criteria=criteria, table=table, atlas=atlas, counted=counted
        )
        for one in series
    ]
    if apart and bounds is not None:
        found = [
            judge_ring(one, judged, bounds, limits) if one.tool == "hpcc" else judged
            for one, judged in zip(series, found, strict=True)
        ]
    return _with_others(series, found if counted else _doubted_by_start(series, found), limits)


def _with_others(
    series: Sequence[Series], found: list[SeriesVerdict], limits: Criteria
) -> list[SeriesVerdict]:
    """The verdicts, with what a table that fills the link says of the ping-pongs beside it, and of
    both directions at once.
    """
    each = list(zip(series, found, strict=True))
    filling = [one for one, judged in each if _fills(one, judged, limits.min_efficiency)]
    full = [one for one, judged in each if _fills_one_way(one, judged, limits.min_efficiency)]
    return [_acquitted(one, judged, filling, full) for one, judged in each]


def _as_pair(one: Series) -> Series:
    """HPCC measures one pair at a time: if no two processes share a host, each is a pair of two
    hosts.
    """
    if one.tool != "hpcc" or one.traffic != "pingpong":
        return one
    return msgspec.structs.replace(one, processes=2)


def _doubted_by_start(series: Sequence[Series], found: list[SeriesVerdict]) -> list[SeriesVerdict]:
    """Of one tool between the same hosts: if a ping-pong is too quick for the link, no other result
    of the log passes.
    """
    quick = [
        one
        for one, judged in zip(series, found, strict=True)
        if (judged.proof == "off-wire" and one.traffic == "pingpong")
        or any(
            reason.code in _TOO_QUICK and reason.severity in ("fail", "inconclusive")
            for reason in judged.reasons
        )
    ]
    if not quick:
        return found
    return [
        _beside(one, judged, quick) if judged.verdict == "pass" else judged
        for one, judged in zip(series, found, strict=True)
    ]


def _beside(one: Series, judged: SeriesVerdict, quick: Sequence[Series]) -> SeriesVerdict:
    other = next((each for each in quick if each.tool == one.tool and _same_run(one, each)), None)
    if other is None:
        return judged
    text = (
        f"{other.benchmark} of the same log (line {other.first_line}) is quicker than the link"
        " can be: both may have stayed in one machine"
    )
    reason = Reason(code="mixed-paths", severity="inconclusive", message=text)
    return msgspec.structs.replace(
        judged, verdict="inconclusive", reasons=[reason, *judged.reasons]
    )


def _same_run(one: Series, other: Series) -> bool:
    """Of the same processes; a log of HPCC is one run, of which its ping-pongs are pairs."""
    alike = one.processes == other.processes or one.tool == "hpcc"
    return _same_hosts(one, other) and alike


def _waits(one: Series) -> bool:
    return one.waits or one.traffic == "pingpong"


def _fills(one: Series, judged: SeriesVerdict, share: float) -> bool:
    """Whether the series shows that the link carries what is expected: a stream that passes, or a
    ring or exchange of several processes, one of which alone moves that much.
    """
    if one.traffic in _RINGS and judged.proof == "unproven" and judged.verdict != "fail":
        best = max((point.goodput_bytes_per_s or 0.0 for point in one.points), default=0.0)
        attainable = judged.attainable_bytes_per_s or 0.0
        return 0 < share * attainable <= best / max(1, one.directions) <= attainable * 1.1
    return (
        one.traffic in _STREAMS
        and not _waits(one)
        and judged.proof == "unproven"
        and judged.verdict == "pass"
        and judged.efficiency is not None
        and judged.efficiency >= share
    )


def _fills_one_way(one: Series, judged: SeriesVerdict, share: float) -> bool:
    """Whether one direction at a time carries what is expected."""
    return (
        one.traffic in ("stream", "pingpong")
        and one.directions == 1
        and judged.proof == "unproven"
        and (judged.efficiency or 0.0) >= share
    )


def _acquitted(
    one: Series, judged: SeriesVerdict, filling: Sequence[Series], full: Sequence[Series]
) -> SeriesVerdict:
    if judged.verdict != "fail" or judged.proof != "unproven":
        return judged
    both = one.directions > 1 or one.traffic == "exchange"
    # Together more than one direction carries: the link is not half duplex.
    by_hosts = both and 2 * (judged.efficiency or 0.0) > _DUPLEX
    others, why = (
        (full, "both directions together carry more than one: what they share in the hosts is slow")
        if by_hosts
        else (filling if _waits(one) else [], "the protocol of large messages is slow here")
    )
    other = next((fill for fill in others if _same_hosts(one, fill)), None)
    if other is None:
        return judged
    said = (
        f"; {other.benchmark} of the same log (line {other.first_line}) fills the link: {why}, "
        "not the link"
    )
    reasons = [_doubted(reason, said) for reason in judged.reasons]
    failed = verdict_of(reason.severity for reason in reasons) == "fail"
    return msgspec.structs.replace(
        judged,
        verdict="fail" if failed else "inconclusive",
        reasons=sorted(reasons, key=lambda reason: rank(reason.severity)),
    )


def _doubted(reason: Reason, why: str) -> Reason:
    if reason.code != "below-expectation" or reason.severity != "fail":
        return reason
    return msgspec.structs.replace(reason, severity="inconclusive", message=reason.message + why)


def _same_hosts(one: Series, other: Series) -> bool:
    """False only where the log says that other hosts took part."""
    return not one.hosts or not other.hosts or set(one.hosts) == set(other.hosts)
