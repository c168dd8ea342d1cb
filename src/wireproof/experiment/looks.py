"""When the intervals are looked at, and how much of the error each look may spend.

Repeated confidence intervals (Jennison and Turnbull, J. R. Statist. Soc. B 51 (1989)): the
intervals of all looks hold the truth together with probability 1 - alpha, so one may stop after any
look and for any reason. The error is divided among the looks by Bonferroni's inequality instead of
a boundary that presumes normal noise; the last look has all that the earlier ones have left.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

__all__ = ["RULE", "is_look", "level"]

RULE = (
    "repeated confidence intervals (Jennison and Turnbull 1989) after 8, 12, 18, 27, 40 ... blocks"
    " and at the end; the looks share the error (Bonferroni): the first has 16 % of it, each later"
    " one 0.8 times as much, the last all that is left"
)
_FIRST, _GROWTH = 8, 1.5
_SHARE, _LESS = 0.16, 0.8


def _looks() -> Iterator[int]:
    blocks = _FIRST
    while True:
        yield blocks
        blocks = int(blocks * _GROWTH)


def is_look(blocks: int) -> bool:
    """The intervals are looked at after so many blocks, even if others can follow."""
    return next(look for look in _looks() if look >= blocks) == blocks


def level(alpha: float, looked: Sequence[float], *, last: bool) -> float:
    """What the next look may spend of ``alpha`` when the earlier ones have spent ``looked``."""
    if last:
        return alpha - sum(looked)
    return alpha * _SHARE * _LESS ** len(looked)
