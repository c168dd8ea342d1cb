"""The colours of the pictures of pairs: from dark orange (slow) over white to blue (full rate)."""

from __future__ import annotations

from html import escape
from itertools import pairwise

__all__ = ["LEVELS", "scale_line", "shade"]

LEVELS = 20
"""Shades of a picture that has few."""
_STOPS: tuple[tuple[float, tuple[int, int, int]], ...] = (
    (0.00, (124, 45, 10)),
    (0.40, (217, 95, 20)),
    (0.70, (250, 178, 107)),
    (0.88, (246, 236, 222)),
    (0.95, (213, 228, 244)),
    (1.00, (166, 202, 236)),
)


def shade(share: float) -> tuple[str, str]:
    """Background and text colour for a share of the attainable goodput (clamped to 0 … 1)."""
    at = min(1.0, max(0.0, share))
    for (low, first), (high, second) in pairwise(_STOPS):
        if at <= high:
            part = (at - low) / (high - low)
            rgb = tuple(round(a + (b - a) * part) for a, b in zip(first, second, strict=True))
            break
    light = 0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2]
    return f"rgb({rgb[0]},{rgb[1]},{rgb[2]})", "#1c2430" if light > 118 else "#ffffff"


def scale_line(words: str) -> str:
    """The key below a picture: what the colours stand for."""
    stops = ",".join(f"rgb{rgb} {at:.0%}" for at, rgb in _STOPS)
    return (
        '<p class="scale" aria-hidden="true">0 % '
        f'<i style="background:linear-gradient(90deg,{stops})"></i> 100 % {escape(words)}</p>'
    )
