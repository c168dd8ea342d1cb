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
from wireproof.physics.table import Table
from wireproof.verdict.external.series import judge_series

__all__ = ["judge_log"]

_STREAMS = ("stream", "rate", "exchange", "put", "get")


def judge_log(
    series: Sequence[Series],
    link: LinkClaim | None,
    *,
    path: str = "",
    criteria: Criteria | None = None,
    table: Table | None = None,
    atlas: Atlas | None = None,
) -> list[SeriesVerdict]:
    """One verdict per series. A bandwidth table that fills the link acquits it: large ping-pongs of
    the same log that are slow are then slow by their protocol, which is a doubt and no failure.
    """
    found = [
        judge_series(one, link, path=path, criteria=criteria, table=table, atlas=atlas)
        for one in series
    ]
    share = (criteria or Criteria()).min_efficiency
    filling = [one for one, judged in zip(series, found, strict=True) if _fills(one, judged, share)]
    if not filling:
        return found
    return [_acquitted(one, judged, filling) for one, judged in zip(series, found, strict=True)]


def _waits(one: Series) -> bool:
    return one.waits or one.traffic == "pingpong"


def _fills(one: Series, judged: SeriesVerdict, share: float) -> bool:
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
