"""Which links, or memory, would explain a printed curve."""

from __future__ import annotations

from functools import lru_cache

from wireproof.physics.bounds import Bounds, any_nic_ns, bounds_of
from wireproof.physics.links import link_from_name
from wireproof.verdict.external.curve import Curve

__all__ = ["cache_fall", "explanations"]

_FIRST, _LAST, _FALL = 16 << 10, 1 << 20, 0.15
_REACHED = 0.6  # share of attainable that a link must have been used for to be an explanation
_CANDIDATES = (
    "1gbe",
    "10gbe",
    "25gbe",
    "40gbe",
    "100gbe",
    "200gbe",
    "roce10",
    "roce25",
    "roce40",
    "roce100",
    "roce200",
    "roce400",
    "sdr",
    "ddr",
    "qdr",
    "fdr",
    "edr",
    "hdr200",
    "ndr400",
    "xdr800",
    "opa100",
    "cn5000",
    "truescale",
    "efa100",
    "efa200",
    "slingshot200",
    "slingshot400",
    "ipoib-qdr",
    "ipoib-edr",
    "ipofabric-opa100",
)


def cache_fall(curve: Curve) -> tuple[int, float, int, float] | None:
    """(size and goodput of the maximum, size and goodput of the end) when the curve falls as a
    cache does.
    """
    rows = curve.moved
    if len(rows) < 3 or curve.best is None:
        return None
    peak, end = curve.best, rows[-1]
    if (
        not _FIRST <= peak.size <= _LAST
        or end.size < 2 * peak.size
        or peak.goodput is None
        or end.goodput is None
    ):
        return None
    return (
        (peak.size, peak.goodput, end.size, end.goodput)
        if end.goodput < (1 - _FALL) * peak.goodput
        else None
    )


@lru_cache(maxsize=4)
def _candidates(verbs: bool) -> tuple[tuple[str, Bounds], ...]:
    return tuple((name, bounds_of(link_from_name(name), verbs=verbs)) for name in _CANDIDATES)


def explanations(curve: Curve, *, verbs: bool, way: str, fills: int) -> list[str]:
    """Names of the links whose limits the curve fits: floor, usual start, ceiling, and enough of it
    used.

    ``way``: ``tcp`` or ``rdma`` where that is known to carry the bytes: only such links are named.
    ``fills``: smallest size in flight at which a stream tells the rate. ``shm`` when memory is an
    explanation.
    """
    start = curve.start.wait_ns if curve.start is not None else None
    best = curve.best.goodput if curve.best is not None and curve.rows[-1].size >= fills else None
    if start is None and best is None:
        return []
    found = ["shm"] if _like_memory(curve, start) else []
    for name, bounds in _candidates(verbs):
        carried = not way or (bounds.link.protocol == "tcp") == (way == "tcp")
        if carried and _fits(curve, bounds, start, best):
            found.append(name)
    return found


def _fits(curve: Curve, bounds: Bounds, start: float | None, best: float | None) -> bool:
    most = bounds.most
    if start is not None and not bounds.doubt <= start <= bounds.slow:
        return False
    if (
        best is not None
        and most is not None
        and not _REACHED * most <= best <= (bounds.ceiling(0.02) or most)
    ):
        return False
    return all(
        (row.wait_ns or 0.0) * (1 + row.doubt) >= bounds.shortest(row.size) for row in curve.waited
    )


def _like_memory(curve: Curve, start: float | None) -> bool:
    if start is not None and start < any_nic_ns():
        return True
    return (start is None or start < 1500.0) and cache_fall(curve) is not None
