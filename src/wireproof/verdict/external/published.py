"""A series beside the published numbers of the same link: where it lies, and what that says."""

from __future__ import annotations

from wireproof.atlas.known import PLATEAU, SMALL, Layer
from wireproof.atlas.place import outruns_all, place, trails_all
from wireproof.model.atlas import Place
from wireproof.model.finding import Evidence
from wireproof.model.quantity import counted
from wireproof.model.series import Series
from wireproof.verdict.external.case import Case
from wireproof.verdict.external.curve import Row

__all__ = ["as_published", "judge_published", "layer_of"]

_PATTERNS = ("pingpong", "stream", "exchange", "put", "get")
_LARGE = 1 << 20


def layer_of(series: Series) -> Layer:
    """What the program calls."""
    if series.protocol:
        return "verbs" if series.protocol == "rdma" else "sockets"
    return "mpi"


def _place(case: Case, row: Row | None) -> Place | None:
    series, bounds = case.series, case.bounds
    if row is None or bounds is None or case.atlas is None or not bounds.wire:
        return None
    waits = row.wait_ns is not None and (series.waits or series.traffic == "pingpong")
    if series.waits and not waits and series.traffic != "pingpong":
        return None
    return place(
        case.atlas,
        bounds.link,
        series.traffic,
        row.size,
        time_ns=row.wait_ns if waits else _time(series, row),
        goodput=None if waits or series.traffic == "pingpong" else row.goodput,
        layer=layer_of(series),
    )


def _time(series: Series, row: Row) -> float | None:
    """Half a round trip of a ping-pong that prints its rate alone."""
    if series.traffic != "pingpong" or not row.goodput:
        return None
    return row.size / row.goodput * 1e9


def _one_pair(case: Case) -> bool:
    series = case.series
    return series.traffic in _PATTERNS and series.pairs == 1 and not case.chain


def _rows(case: Case) -> list[Row]:
    """The start of small messages, and the fastest of the large ones."""
    curve, series = case.curve, case.series
    start = curve.start
    small = [start] if start is not None and start.size <= SMALL else []
    least = _LARGE if series.waits or series.traffic == "pingpong" else PLATEAU
    large = [row for row in curve.moved if row.size >= least]
    best = max(large, key=lambda row: row.goodput or 0.0, default=None)
    return [*small, *([best] if best is not None else [])]


def judge_published(case: Case) -> None:
    """Says where the start and the best number lie. Quicker than every wire of this kind yet is a
    doubt, slower than all of them a reason to look.
    """
    if not _one_pair(case) or case.unit_wrong or case.off or case.mixed:
        return
    for row in _rows(case):
        found = _place(case, row)
        if found is not None:
            case.places.append(found)
            _said(case, found)


def _said(case: Case, found: Place) -> None:
    evidence: Evidence = {
        "value": found.value,
        "sources": found.sources,
        "fastest": found.values[0],
        "slowest": found.values[-1],
        "size": found.message_bytes,
    }
    if outruns_all(found):
        text = f"{found.sentence}; nothing published is as quick: did the ranks share memory?"
        case.add("outruns-published", "inconclusive", text, evidence)
    elif trails_all(found):
        text = f"{found.sentence}; every published one is faster"
        case.add("trails-published", "warning", text, evidence)


def as_published(case: Case, row: Row) -> tuple[bool, str]:
    """(True when others usually get no more than ``row``, words about those that are as slow; ""
    where no published number is)."""
    found = _place(case, row) if _one_pair(case) else None
    if found is None or not found.as_slow:
        return False, ""
    words = f"{found.as_slow} of {counted(found.sources, 'published source')} of {found.link} "
    return found.usual, words + ("is as slow" if found.as_slow == 1 else "are as slow")
