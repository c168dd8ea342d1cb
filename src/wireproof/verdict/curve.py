"""Check a curve of sizes against the bounds of its link (docs/adr/0007). Pure.

The rules are the same for our runs and for tables of other programs. Callers pass the uncertainty:
the end of a run's interval, or the rounding of the last printed digit. How severe a violation is,
and what excuses it, is decided by the caller that holds the evidence.
"""

from collections.abc import Mapping

from wireproof.physics.bounds import CurveBounds

FALL = 0.15
"""Share of the peak goodput by which a cache-shaped curve falls."""
_FIRST, _LAST = 16 << 10, 1 << 20


def cache_fall(goodputs: Mapping[int, float]) -> tuple[int, int] | None:
    """Return (size of the peak, last size) if goodput peaks between 16 KiB and 1 MiB and ends over
    15 % lower.

    Copies through a cache have this shape. The fall must last to the end of the curve, or one noisy
    point would make a wire look like a cache.
    """
    if len(goodputs) < 3:
        return None
    peak, end = max(sorted(goodputs), key=lambda size: goodputs[size]), max(goodputs)
    falls = end >= 2 * peak and goodputs[end] < (1 - FALL) * goodputs[peak]
    return (peak, end) if _FIRST <= peak <= _LAST and falls else None


def held_goodput(goodput: float, run: int, credit: int) -> float:
    """Return ``goodput`` without the ``credit`` bytes that a lab's shaper passes free in each
    ``run`` bytes.

    A real link has no credit, and its goodput is returned unchanged.
    """
    return goodput * max(run - credit, run / 2) / run if credit and run else goodput


def exceeds(bounds: CurveBounds, goodput: float, tolerance: float) -> bool:
    """Return whether ``goodput`` (bytes/s) is more than the link can carry."""
    ceiling = bounds.ceiling(tolerance)
    return ceiling is not None and goodput > ceiling


def late_start(bounds: CurveBounds, size: int, taken_ns: float, times: float = 1.0) -> float | None:
    """Return the usual upper limit (ns) of a small message's time if ``taken_ns`` exceeds it, else
    None.

    ``times``: the factor on half a round trip.
    """
    usual_ns = times * bounds.slow_at(size)
    return usual_ns if taken_ns > usual_ns else None
