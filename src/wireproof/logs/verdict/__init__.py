# pure
"""Judge series that other programs printed.

Pure and without numpy: ten thousand files take seconds.

``judge_log`` judges each series of a log, and then revises the verdicts with the help of the other
series of the same log.
"""

from collections.abc import Sequence

import msgspec

from wireproof.atlas import Atlas
from wireproof.logs.verdict.curve import waits_for_answers
from wireproof.logs.verdict.rates import slow_in_each
from wireproof.logs.verdict.series import judge_series
from wireproof.logs.verdict.shape import doubt_rates
from wireproof.model.claim import Criteria, LinkClaim
from wireproof.model.finding import Severity, rank, verdict_of
from wireproof.model.quantity import short_time, size, throughput
from wireproof.model.series import Reason, Series, SeriesVerdict
from wireproof.physics.bounds import CurveBounds, bounds_of, expected_share
from wireproof.physics.table import Table

__all__ = ["judge_log", "judge_series"]


# --- Rings and ping-pongs of one HPCC run, judged together: the ping-pongs show whether each
# process has its own host; if so, rings are judged against the link too.

_RING_STARTS = 2.0  # a ring waits for two neighbours at once
_SLOW = 2.0  # multiple of the usual time: no ring across separate hosts is this slow
_CRAWL = 0.1  # share of attainable: no library is slower by design


def hosts_apart(series: Sequence[Series], bounds: CurveBounds) -> bool:
    """Return whether even the fastest ping-pong pair of the run is as slow as the link requires.

    If so, no two of the processes share a host.
    """
    for candidate in series:
        if (
            candidate.tool == "hpcc"
            and candidate.benchmark == "PingPongLatency"
            and candidate.points
        ):
            point = candidate.points[0]
            fastest = min(point.hrt_ns or 0.0, point.time_min_ns or point.hrt_ns or 0.0)
            return fastest >= bounds.floor
    return False


def judge_ring(
    series: Series, judged: SeriesVerdict, bounds: CurveBounds, criteria: Criteria
) -> SeriesVerdict:
    """Judge a ring whose processes are on separate hosts against the link, not only its floor."""
    if series.traffic != "ring" or judged.proof != "unproven" or not series.points:
        return judged
    point = series.points[0]
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
    others = [reason for reason in judged.reasons if reason.code != "only-a-floor"]
    all_reasons = sorted([*others, *reasons], key=lambda reason: rank(reason.severity))
    off = any(reason.code == "above-ceiling" for reason in reasons)
    return msgspec.structs.replace(
        judged,
        verdict=verdict_of(reason.severity for reason in all_reasons),
        proof="off-wire" if off else judged.proof,
        reasons=all_reasons,
        **changes,
    )


def _latency(time_ns: float, message_bytes: int, bounds: CurveBounds) -> list[Reason]:
    usual = _RING_STARTS * bounds.slow_at(message_bytes)
    if time_ns <= usual:
        return []
    return [
        Reason(
            code="slow-start",
            severity="fail" if time_ns > _SLOW * usual else "inconclusive",
            message=f"{short_time(time_ns)} at {size(message_bytes)}: a ring over"
            f" {bounds.link.name} usually takes less than {short_time(usual)}",
            evidence={"time_ns": time_ns, "usual_ns": usual, "size": message_bytes},
        )
    ]


def _goodput(
    moved: float, attainable: float, bounds: CurveBounds, criteria: Criteria
) -> list[Reason]:
    share = expected_share(criteria, both_ways=True)
    evidence = {"goodput_bytes_per_s": moved, "attainable_bytes_per_s": attainable}
    if moved > (bounds.ceiling(criteria.ceiling_tolerance) or moved):
        text = (
            f"{throughput(moved)} per process in each direction is more than the"
            f" {throughput(bounds.most or 0.0)} that {bounds.link.name} can carry"
        )
        return [
            Reason(code="above-ceiling", severity="fail", message=text, evidence=dict(evidence))
        ]
    if moved >= share * attainable:
        return []
    text = (
        f"{throughput(moved)} per process is {moved / attainable:.1%} of the attainable"
        f" {throughput(attainable)}; at least {share:.0%} is expected if both directions of"
        f" {bounds.link.name} are loaded"
    )
    severity: Severity = "fail" if moved < _CRAWL * attainable else "inconclusive"
    if severity == "inconclusive":
        text += "; rings of many processes share switches and wait for their slowest process"
    return [
        Reason(code="below-expectation", severity=severity, message=text, evidence=dict(evidence))
    ]


_TOO_QUICK = ("below-floor", "below-any-nic", "one-host")
_ONE_PAIR = ("imb", "qperf")  # programs whose tables in one run all come from the same processes
_OF_PAIRS = ("slow-pair", "node-direction-slow")
_RINGS = ("ring", "exchange")
_STREAMS = ("stream", "rate", "exchange", "put", "get")
_ONE_WAY = ("stream", "pingpong", "put", "get")
_DUPLEX = 1.02  # share of one direction: both directions of a half-duplex link carry less together


def judge_log(
    series: Sequence[Series],
    link: LinkClaim | None,
    *,
    path: str = "",
    table: Table | None = None,
    atlas: Atlas | None = None,
    counted: bool = False,
) -> list[SeriesVerdict]:
    """Return one verdict per series.

    If a bandwidth table fills the link, large ping-pongs of the same log that are slow are slow
    because of their protocol: they become inconclusive instead of failing.
    """
    criteria = Criteria()
    bounds = bounds_of(link, table) if link is not None else None
    apart = bounds is not None and bounds.wire and hosts_apart(series, bounds)
    if apart:
        series = [_as_pair(each_series) for each_series in series]
    verdicts = [
        judge_series(
            each_series,
            link,
            path=path,
            criteria=criteria,
            table=table,
            atlas=atlas,
            counted=counted,
        )
        for each_series in series
    ]
    if apart and bounds is not None:
        verdicts = [
            judge_ring(each_series, judged, bounds, criteria)
            if each_series.tool == "hpcc"
            else judged
            for each_series, judged in zip(series, verdicts, strict=True)
        ]
    if not counted:
        verdicts = _doubted_by_start(series, verdicts)
        verdicts = doubt_rates(series, verdicts, table, _same_run)
    return _with_others(series, verdicts, criteria)


def _repeated(
    series: Series, judged: SeriesVerdict, others: Sequence[Series], limits: Criteria
) -> SeriesVerdict:
    """Keep the slow pairs and nodes of a table of all pairs that every repetition of the table
    shows; if there are none, make the failures inconclusive.
    """
    if not any(reason.code in _OF_PAIRS for reason in judged.reasons):
        return judged
    tables = [other for other in others if _what(other) == _what(series)]
    if len(tables) == 1:
        return judged
    tables_of_log = f"the {len(tables)} tables of this log"
    confirmed = slow_in_each(tables, limits)
    if not confirmed:
        return _less_sure(judged, f"; none is slow in each of {tables_of_log}", _OF_PAIRS)
    why = f"; each pair counts with its best rate in {tables_of_log}"
    kept = [reason for reason in judged.reasons if reason.code not in _OF_PAIRS]
    told = [msgspec.structs.replace(one, message=one.message + why) for one in confirmed]
    return _less_sure(msgspec.structs.replace(judged, reasons=[*told, *kept]), "", ())


def _what(series: Series) -> tuple[str, list[str], set[int]]:
    return series.benchmark, series.hosts, {point.message_bytes for point in series.points}


def _with_others(
    series: Sequence[Series], found: list[SeriesVerdict], limits: Criteria
) -> list[SeriesVerdict]:
    """Revise the verdicts on tables of all pairs by their repetitions, and those on ping-pongs and
    on both directions at once by the tables that fill the link.
    """
    judged_series = [
        (single, _repeated(single, judged, series, limits))
        for single, judged in zip(series, found, strict=True)
    ]
    filling = [
        single for single, judged in judged_series if _fills(single, judged, limits.min_efficiency)
    ]
    full = [
        single
        for single, judged in judged_series
        if single.traffic in _ONE_WAY
        and single.directions == 1
        and judged.proof == "unproven"
        and (judged.efficiency or 0.0) >= limits.min_efficiency
    ]
    return [_acquitted(single, judged, filling, full) for single, judged in judged_series]


def _as_pair(series: Series) -> Series:
    """Treat HPCC's ping-pongs as two processes on two hosts: it measures one pair at a time."""
    if series.tool != "hpcc" or series.traffic != "pingpong":
        return series
    return msgspec.structs.replace(series, processes=2)


def _doubted_by_start(
    series: Sequence[Series], verdicts: list[SeriesVerdict]
) -> list[SeriesVerdict]:
    """Make passed series of a tool inconclusive if a ping-pong of the same hosts is too quick for
    the link, or another table of the same processes shows more than it can carry.
    """
    quick = [
        current
        for current, judged in zip(series, verdicts, strict=True)
        if (
            judged.proof == "off-wire"
            and (current.traffic == "pingpong" or current.tool in _ONE_PAIR)
        )
        or any(
            reason.code in _TOO_QUICK and reason.severity in ("fail", "inconclusive")
            for reason in judged.reasons
        )
    ]
    if not quick:
        return verdicts
    return [
        _beside(current, judged, quick) if judged.verdict == "pass" else judged
        for current, judged in zip(series, verdicts, strict=True)
    ]


def _beside(series: Series, judged: SeriesVerdict, quick: Sequence[Series]) -> SeriesVerdict:
    same = (one for one in quick if one.tool == series.tool and _same_run(series, one))
    other = next(same, None)
    if other is None:
        return judged
    reason = Reason(
        code="mixed-paths",
        severity="inconclusive",
        message=f"{other.benchmark} of the same log (line {other.first_line}) is faster than the "
        "link allows: both may have stayed in one machine",
    )
    return msgspec.structs.replace(
        judged, verdict="inconclusive", reasons=[reason, *judged.reasons]
    )


def _same_run(series: Series, other: Series) -> bool:
    """Return whether both ran with the same processes; all series of an HPCC log are one run."""
    alike = series.processes == other.processes or series.tool == "hpcc"
    return _same_hosts(series, other) and alike


def _fills(series: Series, judged: SeriesVerdict, share: float) -> bool:
    """Return whether the series shows that the link carries the expected goodput.

    It does if it is a stream that passes, or a ring or exchange of several processes in which a
    single process moves that much.
    """
    if series.traffic in _RINGS and judged.proof == "unproven" and judged.verdict != "fail":
        best = max((point.goodput_bytes_per_s or 0.0 for point in series.points), default=0.0)
        attainable = judged.attainable_bytes_per_s or 0.0
        return 0 < share * attainable <= best / max(1, series.directions) <= attainable * 1.1
    return (
        series.traffic in _STREAMS
        and not waits_for_answers(series)
        and judged.proof == "unproven"
        and judged.verdict == "pass"
        and judged.efficiency is not None
        and judged.efficiency >= share
    )


def _acquitted(
    series: Series, judged: SeriesVerdict, filling: Sequence[Series], full: Sequence[Series]
) -> SeriesVerdict:
    if judged.verdict != "fail" or judged.proof != "unproven":
        return judged
    both = series.directions > 1 or series.traffic == "exchange"
    # If both together exceed what one direction carries, the link is not half duplex.
    by_hosts = both and 2 * (judged.efficiency or 0.0) > _DUPLEX
    others, why = (
        (
            full,
            (
                "both directions together are faster than one, so the hosts limit them "
                "(memory, PCIe or CPU)"
            ),
        )
        if by_hosts
        else (
            filling if waits_for_answers(series) else [],
            "the library's protocol for large messages is slow here",
        )
    )
    other = next((fill for fill in others if _same_hosts(series, fill)), None)
    if other is None:
        return judged
    explanation = (
        f"; {other.benchmark} of the same log (line {other.first_line}) fills the link: {why}, "
        "not the link"
    )
    return _less_sure(judged, explanation, ("below-expectation",))


def _less_sure(judged: SeriesVerdict, why: str, codes: Sequence[str]) -> SeriesVerdict:
    """Make the failures with one of ``codes`` inconclusive."""
    reasons = [
        msgspec.structs.replace(reason, severity="inconclusive", message=reason.message + why)
        if reason.code in codes and reason.severity == "fail"
        else reason
        for reason in judged.reasons
    ]
    failed = verdict_of(reason.severity for reason in reasons) == "fail"
    return msgspec.structs.replace(
        judged,
        verdict="fail" if failed else "inconclusive",
        reasons=sorted(reasons, key=lambda reason: rank(reason.severity)),
    )


def _same_hosts(series: Series, other: Series) -> bool:
    """Return False only if the log names different hosts for the two series."""
    return not series.hosts or not other.hosts or set(series.hosts) == set(other.hosts)
