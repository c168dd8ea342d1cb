"""The name that was probably meant."""

from __future__ import annotations

from difflib import get_close_matches
from functools import lru_cache

__all__ = ["MOST_WORDS", "nearest"]

LONGEST_NAME = 80  # what is longer was never one of our names
MOST_WORDS = 120  # of one line are looked at; a line with more is no one's configuration


@lru_cache(maxsize=8192)
def nearest(
    name: str, known: tuple[str, ...] | frozenset[str], likeness: float = 0.8
) -> str | None:
    """The known name most like ``name`` (ratio of matching characters, difflib), None when it is
    known or far off.
    """
    if not name or name in known or len(name) > LONGEST_NAME:
        return None
    # A ratio of r needs lengths within a factor of 2/r - 1: most names are put aside before they
    # are compared.
    most = int(len(name) * (2 / likeness - 1))
    least = int(len(name) / (2 / likeness - 1))
    near = [other for other in sorted(known) if least <= len(other) <= most and other[0] in name]
    found = get_close_matches(name, near, n=1, cutoff=likeness)
    return found[0] if found else None
