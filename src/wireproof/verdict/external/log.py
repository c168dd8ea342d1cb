"""``judge_log(series, link)``: the series of one log, each judged, and then by what the others of
the same log show.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from wireproof.atlas.known import Atlas
from wireproof.model.claim import Criteria, LinkClaim
from wireproof.model.series import Reason, Series, SeriesVerdict
from wireproof.model.severity import rank, verdict_of
from wireproof.physics.bounds import bounds_of
from wireproof.physics.table import Table
from wireproof.verdict.external.ring import hosts_apart, judge_ring
from wireproof.verdict.external.series import judge_series

__all__ = ["judge_log"]

_TOO_QUICK = ("below-floor", "below-any-nic", "one-host")
_RINGS = ("ring", "exchange")
_STREAMS = ("stream", "rate", "exchange", "put", "get")


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
    """The verdicts, with what a table that fills the link says of the ping-pongs beside it."""
    filling = [
        one
        for one, judged in zip(series, found, strict=True)
        if _fills(one, judged, limits.min_efficiency)
    ]
    if not filling:
        return found
    return [_acquitted(one, judged, filling) for one, judged in zip(series, found, strict=True)]


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
        if any(
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
        f"{other.benchmark} of the same log (line {other.first_line}) starts sooner than the link"
        " can: both may have stayed in one machine"
    )
    reason = Reason(code="mixed-paths", severity="inconclusive", message=text)
    return msgspec.structs.replace(
        judged, verdict="inconclusive", reasons=[reason, *judged.reasons]
    )


def _same_run(one: Series, other: Series) -> bool:
    return _same_hosts(one, other) and one.processes == other.processes


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


def _acquitted(one: Series, judged: SeriesVerdict, filling: Sequence[Series]) -> SeriesVerdict:
    if judged.verdict != "fail" or judged.proof != "unproven" or not _waits(one):
        return judged
    other = next((fill for fill in filling if _same_hosts(one, fill)), None)
    if other is None:
        return judged
    why = (
        f"; {other.benchmark} of the same log (line {other.first_line}) fills the link: the "
        "protocol of large messages "
        "is slow here, not the link"
    )
    reasons = [_doubted(reason, why) for reason in judged.reasons]
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
