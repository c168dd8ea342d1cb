"""The curve of goodput against size: a maximum at medium sizes and then a fall is a cache; breaks are protocol
switches.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from wireproof.model.finding import Proof
from wireproof.verdict.context import Context
from wireproof.verdict.issue import Issue, rate

__all__ = ["Curve", "cache_issues", "falls_like_a_cache"]

Curve = Mapping[int, float]
"""message size -> goodput in bytes/s"""

_FIRST, _LAST = 16 << 10, 1 << 20
_FALL = 0.15


def falls_like_a_cache(curve: Curve) -> tuple[int, int] | None:
    """(size of the maximum, size of the fall) when goodput peaks between 16 KiB and 1 MiB and is over 15 % lower
    later.
    """
    if len(curve) < 3:
        return None
    peak = max(sorted(curve), key=lambda size: curve[size])
    if not _FIRST <= peak <= _LAST:
        return None
    largest = max(curve)
    # The fall must last to the end of the curve, or one noisy point would make a cache of a wire.
    if largest >= 2 * peak and curve[largest] < (1 - _FALL) * curve[peak]:
        return peak, largest
    return None


def cache_issues(
    ctx: Context, curves: Mapping[tuple[str, str, str], Curve], proofs: Mapping[str, Iterable[Proof]]
) -> list[Issue]:
    """One issue per pair and pattern; a warning when the counters prove the wire, a failure when they do not."""
    issues = []
    for (who, pattern, form), curve in sorted(curves.items()):
        found = falls_like_a_cache(curve)
        if found is None:
            continue
        peak, end = found
        text = (
            f"{who}, {pattern}{' ' + form if pattern in ('put', 'get') else ''}: goodput peaks at {peak} B with "
            f"{rate(curve[peak])} and falls to {rate(curve[end])} at {end} B, as a cache does and a wire does not"
        )
        proven = set(proofs.get(who, ())) <= {"on-wire"}
        evidence = {"peak_bytes": peak, "peak_bytes_per_s": curve[peak], "end_bytes_per_s": curve[end]}
        issues.append(Issue("cache-shaped", "warning" if proven else "fail", who, text, dict(evidence)))
    return issues
