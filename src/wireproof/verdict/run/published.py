"""A run beside the published numbers of the same link: where it lies, and what is usual there."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from wireproof.atlas.known import SMALL, Layer
from wireproof.atlas.place import place, trails_all
from wireproof.model.atlas import Place
from wireproof.model.finding import PairVerdict, Whole
from wireproof.model.pattern import is_round_trip, one_way
from wireproof.model.record import PointRecord
from wireproof.physics.bounds import WAITED_BYTES
from wireproof.verdict.context import Context
from wireproof.verdict.issue import Issue

__all__ = ["places_of", "trailing", "usual"]

_LARGE = {"pingpong": WAITED_BYTES, "stream": 1 << 16}


def _comparable(ctx: Context, pattern: str) -> bool:
    """Of a wire that is none of a lab's, a model's or a recording's."""
    opened = ctx.run.open
    real = opened is None or opened.transport not in ("null", "model")
    claim = ctx.run.claim
    wire = ctx.link is not None and claim.wire and not ctx.virtual and not claim.played
    return real and wire and ctx.atlas is not None and pattern in _LARGE


def _layer(ctx: Context) -> Layer:
    opened = ctx.run.open
    return "sockets" if opened is not None and opened.transport == "tcp" else "mpi"


def _place(ctx: Context, pattern: str, size: int, value: float, unit: str) -> Place | None:
    if ctx.atlas is None or ctx.link is None or not _comparable(ctx, pattern):
        return None
    rate = unit == "bytes_per_s"
    if pattern == "stream":
        time, goodput = None, value if rate else None
    else:
        time, goodput = size / value * 1e9 if rate and value else value, None
    return place(
        ctx.atlas, ctx.link, pattern, size, time_ns=time, goodput=goodput, layer=_layer(ctx)
    )


def usual(ctx: Context, point: PointRecord, value: float, unit: str) -> Place | None:
    """Where one number lies, if others usually get no more; None if they do."""
    if not _plain(point.pattern, point.form):
        return None
    found = _place(ctx, point.pattern, point.message_bytes, value, unit)
    return found if found is not None and found.usual else None


def _plain(pattern: str, form: str) -> bool:
    return is_round_trip(pattern, form) or (pattern == "stream" and one_way(pattern, form))


def places_of(ctx: Context, pairs: Sequence[PairVerdict]) -> list[Place]:
    """The median over the pairs of the smallest and the largest ping-pong and the largest stream,
    each where it lies among published ones. What went off the wire is left out.
    """
    found = [
        _median_place(ctx, pattern, size, mine)
        for pattern in _LARGE
        if (mine := [one for one in pairs if one.pattern == pattern and _crossed(one)])
        for size in _ends(pattern, {one.message_bytes for one in mine})
    ]
    return [one for one in found if one is not None]


def _crossed(one: PairVerdict) -> bool:
    return one.proof not in ("off-wire", "mixed") and one.value > 0


def _ends(pattern: str, sizes: set[int]) -> list[int]:
    """The smallest size of small ping-pongs, and the largest that tells the rate."""
    small = [size for size in sizes if size <= SMALL and pattern == "pingpong"]
    large = [size for size in sizes if size >= _LARGE[pattern]]
    return [*sorted(small)[:1], *sorted(large)[-1:]]


def _median_place(
    ctx: Context, pattern: str, size: int, pairs: Sequence[PairVerdict]
) -> Place | None:
    same = [one for one in pairs if one.message_bytes == size]
    if len({one.unit for one in same}) != 1:
        return None
    return _place(ctx, pattern, size, median(one.value for one in same), same[0].unit)


def trailing(places: Sequence[Place]) -> list[Issue]:
    """A warning for each number that every published one beats."""
    return [
        Issue(
            "trails-published",
            "warning",
            Whole(),
            f"{one.sentence}; every published one is faster",
            {"value": one.value, "sources": one.sources, "size": one.message_bytes},
        )
        for one in places
        if trails_all(one)
    ]
