"""Lists of names, and the name that was probably meant."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

__all__ = ["listed", "nearest"]

LONGEST_NAME = 80  # what is longer was never one of our names


def nearest(name: str, known: Iterable[str], likeness: float = 0.8) -> str | None:
    """The known name most like ``name`` (ratio of matching characters, difflib), None when it is known or far off."""
    names = tuple(known)
    if name in names or len(name) > LONGEST_NAME:
        return None
    found = get_close_matches(name, names, n=1, cutoff=likeness)
    return found[0] if found else None


def listed(text: str) -> frozenset[str]:
    """The names in ``text``, separated by blanks: long tables stay readable."""
    return frozenset(text.split())
