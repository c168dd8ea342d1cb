"""Points of a sweep, shuffled with a recorded seed."""

import random
from collections.abc import Iterable, Sequence
from itertools import count
from typing import Literal

import msgspec

from wireproof.model.errors import BadInput
from wireproof.model.pattern import CATALOGUE, Form, GroupPattern, Pattern, fits
from wireproof.model.plan import Formula, Point

SIZES: tuple[int, ...] = (0, *(1 << power for power in range(23)))
"""0 B and the powers of two to 4 MiB, as in OSU and IMB."""


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
    """Return one point per size with all ``pairs`` at once; ``numbered`` assigns the ids."""
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
    """Shuffle (so that drift does not look like a dependence on size), repeat, and number in run
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


# --- Points that a group of ranks measures together.

HPCC_SIZES = (8, 2_000_000)
"""HPCC's sizes: 8 B for latency, two million bytes (not 2 MiB) for bandwidth."""
_MOST_BYTES_OF_ALL = 16 << 20


def default_sizes(pattern: Pattern, members: int, formula: Formula = "robust") -> tuple[int, ...]:
    """Return the default sizes of a sweep: 8 B to 1 MiB, less if every member needs room for
    all.
    """
    if pattern == "barrier":
        return (0,)
    if pattern == "congestion":
        return (8,)
    if formula == "hpcc":
        return HPCC_SIZES
    most = 1 << 20
    if CATALOGUE[pattern].room_for_all:
        most = _MOST_BYTES_OF_ALL // max(1, members)
    return tuple(size for size in SIZES if 8 <= size <= most)


def group_sweep(
    pattern: GroupPattern,
    sizes: Iterable[int],
    members: Sequence[int],
    *,
    order: Literal["natural", "random"] = "natural",
    window: int = 64,
    formula: Formula = "robust",
    budget_ms: int | None = None,
) -> list[Point]:
    """Return one point per size. Raises ``BadInput`` for a group that does not fit the pattern."""
    if len(members) < 2:
        raise BadInput(f"{pattern} needs two ranks or more: give more hosts, or --ppn.")
    if pattern == "message_rate" and len(members) % 2:
        raise BadInput(
            f"message_rate pairs one half of the ranks with the other: {len(members)} is odd."
        )
    points = [
        Point(
            id=0,
            pattern=pattern,
            message_bytes=size,
            members=tuple(members),
            form="stream",
            order=order,
            window=window,
            formula=formula,
            budget_ms=budget_ms,
        )
        for size in sizes
        if fits(pattern, size)
    ]
    if not points:
        raise BadInput(
            f"{pattern} cannot be measured at these sizes: allreduce adds numbers of"
            f" {CATALOGUE['allreduce'].unit_bytes} B."
        )
    return points


def congestion(size: int, ranks: Sequence[int], *, budget_ms: int | None = None) -> Point:
    """Return a point that measures the half round trip between the first and the middle rank.

    It is measured quiet and while all others stream to each other. ``ranks``: in the hosts' order;
    four or more, else BadInput.
    """
    if len(ranks) < 4:
        raise BadInput(
            "congestion needs four ranks or more: two that are watched and two that disturb them."
        )
    half = len(ranks) // 2
    rest = [rank for index, rank in enumerate(ranks) if index not in (0, half)]
    way = len(rest) // 2
    load = tuple(zip(rest[:way], rest[way : 2 * way], strict=True))
    return Point(
        id=0,
        pattern="congestion",
        message_bytes=size,
        form="latency",
        pairs=((ranks[0], ranks[half]),),
        load=load,
        budget_ms=budget_ms,
    )


def saturation_ranks(ppn: int) -> list[int]:
    """Return 1, 2, 4 ... and ``ppn`` itself."""
    counts = [1 << power for power in range(ppn.bit_length()) if 1 << power < ppn]
    return [*counts, ppn]


def saturation(
    sizes: Iterable[int], ppn: int, *, window: int = 64, budget_ms: int | None = None
) -> list[Point]:
    """Return message_rate points between two hosts for growing numbers of ranks and sizes.

    They show where the link is full. Each host has ``ppn`` ranks (0 to ppn - 1, and ppn to 2 ppn -
    1).
    """
    points: list[Point] = []
    chosen = [size for size in sizes if size > 0]
    for busy in saturation_ranks(ppn):
        members = [*range(busy), *range(ppn, ppn + busy)]
        points += group_sweep("message_rate", chosen, members, window=window, budget_ms=budget_ms)
    return points
