"""Check numbers that users give to a plan; an error sentence says what is wrong. Pure."""

import math
from collections.abc import Iterable

from wireproof.model.errors import BadInput

MOST_NODES = 1_000_000
MOST_PPN = 4096
MOST_RANKS = 1_000_000_000
_SHOWN = 15  # digits


def _seen(value: int | float) -> str:
    """Format a number for people: 10^30 without thirty zeros."""
    if isinstance(value, float):
        return f"{value:g}"
    power = round(value.bit_length() * math.log10(2.0))
    return str(value) if power < _SHOWN else f"about {'-' if value < 0 else ''}10^{power}"


def whole(name: str, value: int, low: int, high: int) -> int:
    """Return ``value``; raise BadInput if it is not between ``low`` and ``high``."""
    if not low <= value <= high:
        raise BadInput(f"{name} is {_seen(value)}: give a whole number from {low} to {high}.")
    return value


def real(name: str, value: float, low: float, high: float, unit: str = "") -> float:
    """Return ``value``; raise BadInput if it is not a number between ``low`` and ``high``."""
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not (math.isfinite(number) and low <= number <= high):
        limits = f"{low:g} to {high:g}{' ' if unit else ''}{unit}"
        raise BadInput(f"{name} is {_seen(value)}: give a number from {limits}.")
    return number


def chosen(name: str, value: str, known: Iterable[str]) -> str:
    """Return ``value`` if it is ``known``; otherwise raise BadInput that names the nearest."""
    names = list(known)
    if value in names:
        return value
    from difflib import get_close_matches

    lower = {known_name.lower(): known_name for known_name in names}
    near = get_close_matches(value[:80].lower(), lower, n=1, cutoff=0.4)
    hint = f"did you mean {lower[near[0]]!r}? There" if near else "there"
    if not value:
        raise BadInput(f"give {name}: {', '.join(names)}.")
    raise BadInput(f"{name} {value[:80]!r} is not known: {hint} are {', '.join(names)}.")
