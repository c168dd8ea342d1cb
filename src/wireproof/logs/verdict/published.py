# pure
"""Compare a series with published numbers of the same link."""

from wireproof.atlas import PLATEAU, SMALL, Layer, outruns_all, place, trails_all
from wireproof.logs.verdict.curve import Case, CurveRow
from wireproof.model.atlas import Place
from wireproof.model.finding import Evidence
from wireproof.model.quantity import counted
from wireproof.model.series import Series
from wireproof.physics.bounds import WAITED_BYTES

_PATTERNS = ("pingpong", "stream", "exchange", "put", "get")


def layer_of(series: Series) -> Layer:
    """Return the layer that the program calls."""
    if series.protocol:
        return "verbs" if series.protocol == "rdma" else "sockets"
    return "mpi"


def idle_beside(series: Series) -> bool:
    """Return whether a pair of a larger job was measured while the other processes waited.

    Its two ranks then share a host, unless the launcher placed ranks round-robin on the hosts.
    """
    return any("more processes waited" in note for note in series.notes)


def _place_of(case: Case, row: CurveRow) -> Place | None:
    series, bounds = case.series, case.bounds
    if bounds is None or case.atlas is None or not bounds.wire or series.traffic not in _PATTERNS:
        return None
    time_ns = row.wait_ns if case.waits else 0.0
    if series.traffic == "pingpong" and not time_ns and row.goodput:
        time_ns = row.size / row.goodput * 1e9  # it prints only its rate
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
    """Return the start of small messages and the fastest of the large ones."""
    start, least = case.curve.start, WAITED_BYTES if case.waits else PLATEAU
    small = [start] if start is not None and start.size <= SMALL else []
    large = [row for row in case.curve.moved if row.size >= least]
    return [*small, *sorted(large, key=lambda row: -row.goodput)[:1]]


def judge_published(case: Case) -> None:
    """Compare the startup time and the best number with published numbers.

    A result faster than every published number for this kind of link is inconclusive; a result
    slower than all of them gets a warning.
    """
    if case.unit_wrong or case.off or case.mixed:
        return
    for row in _rows(case):
        position = _place_of(case, row)
        if position is None:
            continue
        case.places.append(position)
        evidence: Evidence = {
            "value": position.value,
            "sources": position.sources,
            "fastest": position.values[0],
            "slowest": position.values[-1],
            "size": position.message_bytes,
        }
        if outruns_all(position, likely=idle_beside(case.series)):
            text = (
                f"{position.sentence}; every published number is slower: did the ranks use "
                "shared memory?"
            )
            case.add("outruns-published", "inconclusive", text, evidence)
        elif trails_all(position):
            text = f"{position.sentence}; every published number is faster"
            case.add("trails-published", "warning", text, evidence)


def as_published(case: Case, row: CurveRow) -> tuple[bool, str]:
    """Return (whether published results usually reach no more than ``row``, a phrase about results
    that are as slow). The phrase is "" if no published number is as slow.
    """
    position = _place_of(case, row)
    if position is None or not position.as_slow:
        return False, ""
    words = (
        f"{position.as_slow} of {counted(position.sources, 'published source')} of {position.link} "
    )
    return position.usual, words + ("is as slow" if position.as_slow == 1 else "are as slow")
