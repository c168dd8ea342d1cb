# pure
"""The curve of goodput against size: a peak at medium sizes followed by a fall indicates a cache;
breaks indicate protocol switches.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from wireproof.atlas import SMALL, Layer, place, trails_all
from wireproof.ledger.measured import Measured
from wireproof.model import quantity
from wireproof.model.atlas import Place
from wireproof.model.finding import PairVerdict, Proof, Route, Severity, Whole
from wireproof.model.pattern import FORMS, is_round_trip, one_way
from wireproof.model.quantity import goodput
from wireproof.model.record import Estimate, PairResult, PointRecord
from wireproof.physics import bandwidth_threshold_bytes
from wireproof.physics.bounds import FALL, WAITED_BYTES, cache_fall
from wireproof.stats.fit import fit_sizes
from wireproof.verdict.context import Context
from wireproof.verdict.issue import Issue

_LAUNCH_SPREAD = 0.10


@dataclass(frozen=True, slots=True)
class CurveSample:
    """One size of a curve that is precise enough to decide; goodput in bytes/s with its
    interval.
    """

    goodput: float
    low: float
    high: float
    proof: Proof
    disturbed: str = ""

    @classmethod
    def of(cls, size: int, time: Estimate, proof: Proof, disturbed: str) -> CurveSample:
        goodput, low, high = (
            size / (ns * 1e-9) for ns in (time.median_ns, time.high_ns, max(time.low_ns, 1e-3))
        )
        return cls(goodput, low, high, proof, disturbed)


@dataclass(frozen=True, slots=True)
class Variant:
    """One pair of ranks with one pattern and setting: along a curve only the size varies."""

    route: Route
    ranks: tuple[int, int]  # a host may have several NICs
    pattern: str
    form: str
    window: int = 0
    window_kind: str = ""
    threads: int = 1
    partitions: int = 1

    @classmethod
    def of(cls, route: Route, point: PointRecord, pair: PairResult) -> Variant:
        return cls(
            route=route,
            ranks=(pair.origin, pair.target),
            pattern=point.pattern,
            form=point.form,
            window=point.window,
            window_kind=point.window_kind,
            threads=point.threads,
            partitions=point.partitions,
        )


Curves = Mapping[Variant, Mapping[int, CurveSample]]
"""The sample of each size, by variant."""


def cache_issues(curves: Curves) -> Iterator[Issue]:
    """Report cache-shaped curves: a warning if counters prove the wire at the sizes where the curve
    falls. A failure if they do not and the fall of an undisturbed curve exceeds its intervals.
    """
    for variant, curve in curves.items():
        found = cache_fall({size: sample.goodput for size, sample in curve.items()})
        if found is not None:
            yield _cache_issue(variant, curve, *found)


def _cache_issue(variant: Variant, curve: Mapping[int, CurveSample], peak: int, fall: int) -> Issue:
    top, end = curve[peak], curve[fall]
    several = len(FORMS.get(variant.pattern, ())) > 1
    what = f"{variant.pattern} {variant.form}" if several else variant.pattern
    text = (
        f"{variant.route}, {what}: goodput peaks at {quantity.size(peak)} with "
        f"{goodput(top.goodput)} and falls to {goodput(end.goodput)} at "
        f"{quantity.size(fall)}, as in a cache, but not on a wire"
    )
    disturbed = top.disturbed or end.disturbed
    text += f"; {disturbed}" if disturbed else ""
    # Smaller messages prove nothing about the path of these sizes.
    proven = all(sample.proof == "on-wire" for size, sample in curve.items() if size >= peak)
    severity: Severity = "warning" if proven else "inconclusive"
    if not proven and not disturbed and end.high < (1 - FALL) * top.low:
        severity = "fail"
    return Issue(
        "cache-shaped",
        severity,
        variant.route,
        text,
        {
            "peak_bytes": peak,
            "peak_bytes_per_s": top.goodput,
            "end_bytes_per_s": end.goodput,
        },
    )


def switch_issues(ctx: Context, curves: Curves) -> Iterator[Issue]:
    """Report the size at which a ping-pong's time breaks: the library switches its protocol there.

    A shaped link also breaks the curve, at the size of its bucket: the library does not cause
    breaks up to that size.
    """
    bucket = bandwidth_threshold_bytes(ctx.link, ctx.table) if ctx.link else 0
    for variant, curve in curves.items():
        if variant.pattern != "pingpong":
            continue
        times = {
            size: size / one.goodput * 1e9
            for size, one in curve.items()
            if size and not one.disturbed
        }
        found = fit_sizes(times)
        if found is None or found.eager_limit_bytes is None or found.step_ns <= 0:
            continue
        if found.eager_limit_bytes < bucket:
            continue
        yield Issue(
            "protocol-switch",
            "note",
            variant.route,
            (
                f"{variant.route}: from {quantity.size(found.eager_limit_bytes)} to "
                f"{quantity.size(found.next_bytes or 0)} a message takes "
                f"{found.step_ns / 1e3:.2f} us more than the times of smaller messages predict: "
                "the library changes its protocol there"
            ),
            {"eager_limit_bytes": found.eager_limit_bytes, "step_ns": found.step_ns},
        )


def launch_issues(
    launches: Mapping[tuple[Variant, int], Sequence[Measured]],
) -> Iterator[Issue]:
    """Warn if repeats of one point differ and have disjoint intervals: each measured a different
    state.
    """
    for (variant, size), numbers in launches.items():
        who, pattern = variant.route, variant.pattern
        times = sorted((n.time.median_ns, n.time.low_ns, n.time.high_ns) for n in numbers)
        if len(times) < 2:
            continue
        fastest, slowest = times[0], times[-1]
        spread = slowest[0] / fastest[0] - 1
        apart = f"{spread:.0%}" if spread < 1 else f"a factor of {spread + 1:.3g}"
        if slowest[1] > fastest[2] and spread > _LAUNCH_SPREAD:
            yield Issue(
                "launches-disagree",
                "warning",
                who,
                (
                    f"{who}, {pattern} of {quantity.size(size)}: {len(times)} repeats differ by "
                    f"{apart}, more than their intervals allow"
                ),
                {"spread": spread},
                weight=spread,
            )


# --- Compare a run with published numbers of the same link.

_LARGE = {"pingpong": WAITED_BYTES, "stream": 1 << 16}


def _place(ctx: Context, pattern: str, size: int, value: float, unit: str) -> Place | None:
    """Return the place of a number on a real wire, not of a lab, a model or a recording."""
    opened, claim = ctx.run.open, ctx.run.claim
    transport = opened.transport if opened is not None else "mpi"
    made_up = transport in ("null", "model") or ctx.virtual or claim.played or not claim.wire
    if ctx.atlas is None or ctx.link is None or made_up or pattern not in _LARGE:
        return None
    rate = unit == "bytes_per_s"
    if pattern == "stream":
        time, goodput = None, value if rate else None
    else:
        time, goodput = size / value * 1e9 if rate and value else value, None
    layer: Layer = "sockets" if transport == "tcp" else "mpi"
    return place(ctx.atlas, ctx.link, pattern, size, time_ns=time, goodput=goodput, layer=layer)


def usual(ctx: Context, point: PointRecord, value: float, unit: str) -> Place | None:
    """Return the place of a number if published results usually reach no more; None if they do."""
    pattern, form = point.pattern, point.form
    plain = is_round_trip(pattern, form) or (pattern == "stream" and one_way(pattern, form))
    found = _place(ctx, pattern, point.message_bytes, value, unit) if plain else None
    return found if found is not None and found.usual else None


def places_of(ctx: Context, pairs: Sequence[PairVerdict]) -> list[Place]:
    """Return the places of the smallest and largest ping-pong and of the largest stream among
    published numbers.

    Each is the median over the pairs. Traffic off the wire is left out.
    """
    crossed = [one for one in pairs if one.proof not in ("off-wire", "mixed") and one.value > 0]
    found = [
        _median_place(ctx, pattern, size, mine)
        for pattern in _LARGE
        if (mine := [one for one in crossed if one.pattern == pattern])
        for size in _ends(pattern, {one.message_bytes for one in mine})
    ]
    return [one for one in found if one is not None]


def _ends(pattern: str, sizes: set[int]) -> list[int]:
    """Return the smallest size of small ping-pongs, and the largest size that shows the rate."""
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
    """Warn about each number that every published number beats."""
    return [
        Issue(
            "trails-published",
            "warning",
            Whole(),
            f"{one.sentence}; every published number is faster",
            {"value": one.value, "sources": one.sources, "size": one.message_bytes},
        )
        for one in places
        if trails_all(one)
    ]
