"""Points of a sweep, shuffled with a recorded seed."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from itertools import count

import msgspec

from wireproof.model.pattern import CATALOGUE, Form, Pattern, fits
from wireproof.model.plan import Formula, Point

__all__ = ["SIZES", "numbered", "sweep"]

SIZES: tuple[int, ...] = (0, *(1 << power for power in range(23)))
"""0 B and the powers of two to 4 MiB: the sizes that OSU and IMB users know."""


def sweep(
    pattern: Pattern,
    sizes: Iterable[int],
    pairs: Sequence[tuple[int, int]],
    *,
    form: Form | None = None,
    window: int = 64,
    formula: Formula = "robust",
    budget_ms: int | None = None,
) -> list[Point]:
    """One point per size, all ``pairs`` at once; ids are given by ``numbered``."""
    implied: Form = "stream" if "stream" in CATALOGUE[pattern].forms else "latency"
    return [
        Point(
            id=0,
            pattern=pattern,
            message_bytes=size,
            pairs=tuple(pairs),
            form=form or implied,
            window=window,
            formula=formula,
            budget_ms=budget_ms,
        )
        for size in sizes
        if fits(pattern, size)
    ]


def numbered(points: Sequence[Point], *, seed: int, repeats: int = 1) -> tuple[Point, ...]:
    """Shuffle (so that drift does not look like a dependence on size), repeat, number from 0 in run
    order.
    """
    order = random.Random(seed)
    ids = count()
    result: list[Point] = []
    for repeat in range(repeats):
        batch = list(points)
        order.shuffle(batch)
        result += [msgspec.structs.replace(point, id=next(ids), repeat=repeat) for point in batch]
    return tuple(result)
