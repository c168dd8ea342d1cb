"""Rounds of disjoint pairs (round-robin tournament, circle method)."""

from __future__ import annotations

__all__ = ["rounds"]

Pair = tuple[int, int]


def rounds(ranks: int) -> list[list[Pair]]:
    """All pairs of ``ranks`` ranks in the fewest rounds in which no rank appears twice.

    ``ranks`` even: ranks - 1 rounds of ranks / 2 pairs; odd: ranks rounds, one rank rests in each.
    Circle method: one rank stays, the others rotate. Each pair is (lower, higher).
    """
    if ranks < 2:
        return []
    seats: list[int | None] = list(range(ranks))
    if ranks % 2:
        seats.append(None)
    half = len(seats) // 2
    result: list[list[Pair]] = []
    for _ in range(len(seats) - 1):
        facing = zip(seats[:half], reversed(seats[half:]), strict=True)
        result.append(sorted((min(a, b), max(a, b)) for a, b in facing if a is not None and b is not None))
        seats = [seats[0], seats[-1], *seats[1:-1]]
    return result
