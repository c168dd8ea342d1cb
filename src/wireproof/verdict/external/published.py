"""A series beside the published numbers of the same link: where it lies, and what that says."""

from wireproof.atlas.known import PLATEAU, SMALL, Layer
from wireproof.atlas.place import outruns_all, place, trails_all
from wireproof.model.atlas import Place
from wireproof.model.finding import Evidence
from wireproof.model.quantity import counted
from wireproof.model.series import Series
from wireproof.physics.bounds import WAITED_BYTES
from wireproof.verdict.external.curve import Case, CurveRow

_PATTERNS = ("pingpong", "stream", "exchange", "put", "get")


def layer_of(series: Series) -> Layer:
    """What the program calls."""
    if series.protocol:
        return "verbs" if series.protocol == "rdma" else "sockets"
    return "mpi"


def _idle_beside(series: Series) -> bool:
    """Whether a pair of a larger job was measured: its two ranks are neighbours in one host unless
    ranks were dealt out in turn.
    """
    return any("more processes waited" in note for note in series.notes)


def _place_of(case: Case, row: CurveRow) -> Place | None:
    series, bounds = case.series, case.bounds
    if bounds is None or case.atlas is None or not bounds.wire or series.traffic not in _PATTERNS:
        return None
    time_ns = row.wait_ns if case.waits else 0.0
    if series.traffic == "pingpong" and not time_ns and row.goodput:
        time_ns = row.size / row.goodput * 1e9  # it prints its rate alone
    if series.pairs != 1 or case.chain or (case.waits and not time_ns):
        return None
    return place(
        case.atlas,
        bounds.link,
        series.traffic,
        row.size,
        time_ns=time_ns or None,
        goodput=None if time_ns else row.goodput,
        layer=layer_of(series),
    )


def _rows(case: Case) -> list[CurveRow]:
    """The start of small messages, and the fastest of the large ones."""
    start, least = case.curve.start, WAITED_BYTES if case.waits else PLATEAU
    small = [start] if start is not None and start.size <= SMALL else []
    large = [row for row in case.curve.moved if row.size >= least]
    return [*small, *sorted(large, key=lambda row: -row.goodput)[:1]]


def judge_published(case: Case) -> None:
    """Says where the start and the best number lie. Quicker than every wire of this kind yet is a
    doubt, slower than all of them a reason to look.
    """
    if case.unit_wrong or case.off or case.mixed:
        return
    for row in _rows(case):
        found = _place_of(case, row)
        if found is None:
            continue
        case.places.append(found)
        evidence: Evidence = {
            "value": found.value,
            "sources": found.sources,
            "fastest": found.values[0],
            "slowest": found.values[-1],
            "size": found.message_bytes,
        }
        if outruns_all(found, likely=_idle_beside(case.series)):
            text = f"{found.sentence}; nothing published is as quick: did the ranks share memory?"
            case.add("outruns-published", "inconclusive", text, evidence)
        elif trails_all(found):
            text = f"{found.sentence}; every published one is faster"
            case.add("trails-published", "warning", text, evidence)


def as_published(case: Case, row: CurveRow) -> tuple[bool, str]:
    """(True when others usually get no more than ``row``, words about those that are as slow; ""
    where no published number is)."""
    found = _place_of(case, row)
    if found is None or not found.as_slow:
        return False, ""
    words = f"{found.as_slow} of {counted(found.sources, 'published source')} of {found.link} "
    return found.usual, words + ("is as slow" if found.as_slow == 1 else "are as slow")
