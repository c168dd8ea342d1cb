"""What a curve of sizes says against the bounds of its link: one set of rules for our own runs and
for the tables of other programs (docs/adr/0007). Pure.

How sure a number is comes with it: the end of a run's interval, or of what the last printed digit
hides. How grave a broken rule is, and what excuses it, is said by the record that has the evidence.
"""

from collections.abc import Mapping

from wireproof.physics.bounds import CurveBounds

FALL = 0.15
"""Share of the largest goodput by which a cache's curve falls."""
_FIRST, _LAST = 16 << 10, 1 << 20


def cache_fall(goodputs: Mapping[int, float]) -> tuple[int, int] | None:
    """(size of the maximum, size of the end) if the goodput by size peaks between 16 KiB and 1 MiB
    and is over 15 % lower at the end, as a cache's is. The fall must last to the end of the curve,
    or one noisy point would make a cache of a wire.
    """
    if len(goodputs) < 3:
        return None
    peak, end = max(sorted(goodputs), key=lambda size: goodputs[size]), max(goodputs)
    falls = end >= 2 * peak and goodputs[end] < (1 - FALL) * goodputs[peak]
    return (peak, end) if _FIRST <= peak <= _LAST and falls else None


def held_goodput(goodput: float, run: int, credit: int) -> float:
    """``goodput`` less the ``credit`` bytes that a lab's shaper lets pass for nothing in each
    ``run`` of bytes; on a real link all of it.
    """
    return goodput * max(run - credit, run / 2) / run if credit and run else goodput


def exceeds(bounds: CurveBounds, goodput: float, tolerance: float) -> bool:
    """Faster than the link can carry; bytes/s."""
    ceiling = bounds.ceiling(tolerance)
    return ceiling is not None and goodput > ceiling


def late_start(bounds: CurveBounds, size: int, taken_ns: float, times: float = 1.0) -> float | None:
    """The time that a small message usually takes at most, if ``taken_ns`` is more; ``times`` that
    of half a round trip.
    """
    usual_ns = times * bounds.slow_at(size)
    return usual_ns if taken_ns > usual_ns else None
