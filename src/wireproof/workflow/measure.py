"""The points of ``measure``: what each pattern's options mean."""

from __future__ import annotations

import dataclasses
from typing import Any, cast

import msgspec

from wireproof.analysis.saturation import FULL, filled
from wireproof.cli.patterns import GROUP_PATTERNS, PAIR_PATTERNS
from wireproof.model import quantity
from wireproof.model.errors import BadInput
from wireproof.model.pattern import (
    COLLECTIVES,
    TWO_FORMS,
    Form,
    GroupPattern,
    Pattern,
    is_word_atomic,
)
from wireproof.model.plan import Formula, Point
from wireproof.plan.groups import congestion, default_sizes, group_sweep, saturation
from wireproof.plan.sweep import SIZES, sweep
from wireproof.report.section import Section
from wireproof.settings.resolve import Settings
from wireproof.workflow.target.target import Target

__all__ = ["extra_of", "points_of", "saturated", "spread"]

_WORD_BYTES = 8
SATURATION_SIZES = tuple(1 << power for power in range(6, 18))
MOST_RANKS = 100_000


def spread(target: Target, ppn: int) -> Target:
    """``ppn`` ranks on each host, those of one host with neighbouring numbers."""
    if ppn == 1:
        return target
    if target.size * ppn > MOST_RANKS:
        raise BadInput(
            f"{target.size} hosts with {ppn} ranks each are more than {MOST_RANKS} ranks: give fewer."
        )

    def each(values: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(value for value in values for _ in range(ppn))

    return dataclasses.replace(
        target,
        hosts=each(target.hosts),
        start_on=each(target.start_on),
        nics=each(target.nics),
        addresses=each(target.addresses),
        ranks=target.ranks * ppn if not target.hosts else target.ranks,
    )


def _check(pattern: str, options: dict[str, Any]) -> None:
    """Options that this pattern does not have."""
    if options["form"] and pattern not in TWO_FORMS:
        raise BadInput(f"--form is for {', '.join(TWO_FORMS)}; {pattern} has only one.")
    for option, owners in (
        ("order", ("ring",)),
        ("nonblocking", COLLECTIVES),
        ("threads", ("threads",)),
        ("partitions", ("partitioned",)),
    ):
        if options[option] and pattern not in owners:
            raise BadInput(f"--{option} is for {', '.join(owners)}, not for {pattern}.")
    if options["both_directions"] and pattern not in PAIR_PATTERNS:
        raise BadInput(
            f"--both-directions is for pairs; {pattern} is measured by all ranks together."
        )


def points_of(
    pattern: str, settings: Settings, options: dict[str, Any], target: Target
) -> list[Point]:
    """The points of ``measure PATTERN`` on ``target`` (one entry of its hosts for each rank)."""
    _check(pattern, options)
    if pattern == "saturation":
        if len(set(target.hosts)) != 2:
            raise BadInput(
                "saturation is measured between two hosts: give two, and --ppn for the most ranks on each."
            )
        return saturation(
            settings.sizes.value or SATURATION_SIZES, target.size // 2, window=settings.window.value
        )
    if pattern in GROUP_PATTERNS:
        return _group(pattern, settings, options, list(range(target.size)))
    return _pairs(pattern, settings, options)


def _group(
    pattern: GroupPattern, settings: Settings, options: dict[str, Any], ranks: list[int]
) -> list[Point]:
    formula = cast(Formula, settings.formula.value)
    sizes = settings.sizes.value or default_sizes(pattern, len(ranks), formula)
    if pattern == "congestion":
        return [congestion(size, ranks) for size in sizes]
    return group_sweep(
        pattern,
        sizes,
        ranks,
        order=options["order"] or "natural",
        blocking=not options["nonblocking"],
        window=settings.window.value,
        formula=formula,
    )


def _pairs(pattern: str, settings: Settings, options: dict[str, Any]) -> list[Point]:
    sizes = settings.sizes.value or ((_WORD_BYTES,) if is_word_atomic(pattern) else SIZES)
    if is_word_atomic(pattern) and tuple(sizes) != (_WORD_BYTES,):
        raise BadInput(f"{pattern} works on one word of {_WORD_BYTES} B: leave --sizes out.")
    if pattern == "partitioned":
        sizes = tuple(size for size in sizes if size and size % (options["partitions"] or 1) == 0)
    points: list[Point] = []
    for pairs in ([(0, 1)], [(1, 0)]) if options["both_directions"] else ([(0, 1)],):
        points += sweep(
            cast(Pattern, pattern),
            sizes,
            pairs,
            form=cast(Form | None, options["form"])
            or ("latency" if pattern in TWO_FORMS or is_word_atomic(pattern) else None),
            window=settings.window.value,
            formula=cast(Formula, settings.formula.value),
            window_kind=options["window_kind"],
        )
    points = [
        msgspec.structs.replace(
            point, threads=options["threads"] or 1, partitions=options["partitions"] or 1
        )
        for point in points
    ]
    if not points:
        raise BadInput(
            f"{pattern} moves payload: 0 B alone cannot be measured; give a larger --sizes."
        )
    return points


def extra_of(pattern: str, options: dict[str, Any], target: Target) -> tuple[tuple[str, str], ...]:
    """Variables that a pattern needs on every rank."""
    extra: dict[str, str] = {}
    if pattern == "threads":
        # Before MPI_Init only the environment can say it; asked for, it costs every other number
        # dearly.
        extra["WIREPROOF_THREADS"] = str(options["threads"] or 1)
    if pattern == "compare_and_swap" and not target.hosts:
        # Open MPI 4.1's own windows crash in a 64-bit compare-and-swap between ranks of one host
        # (ompi 7027, 11349).
        extra["OMPI_MCA_osc"] = "pt2pt"
    return tuple(extra.items())


def saturated(section: Section) -> Section:
    """The section of a saturation with its answer in words: where the link is full."""
    limit = section.limits.attainable_bytes_per_s if section.limits else None
    words = []
    for one in filled(section.run.points, limit):
        ranks = f"{one.ranks_per_node} rank{'s' if one.ranks_per_node > 1 else ''} per node"
        best = f"{quantity.megabytes(one.best_bytes_per_s)} MB/s"
        full = (
            f"full from {quantity.size(one.size)}"
            if one.size is not None
            else "not full at any size"
        )
        words.append(f"{ranks}: {full} (best {best})")
    of = "attainable" if limit else "the best seen"
    return (
        dataclasses.replace(section, lead=f"Full: {FULL:.0%} of {of}. " + "; ".join(words) + ".")
        if words
        else section
    )
