"""Measure one pattern over a range of sizes, prove its path and judge it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, cast

import msgspec

from wireproof.ledger.measured import FULL, filled
from wireproof.logs.statistics import collected, statistics_folder, with_statistics
from wireproof.measure.points import (
    SIZES,
    congestion,
    default_sizes,
    group_sweep,
    paced,
    saturation,
    sweep,
    with_time,
)
from wireproof.measure.result import MeasuredPart, Result, keep_result
from wireproof.measure.resume import result_folder
from wireproof.measure.session import Session
from wireproof.measure.session.again import run_settled
from wireproof.measure.specification import MeasureSpecification
from wireproof.model import quantity
from wireproof.model.errors import BadInput, suggestion
from wireproof.model.pattern import (
    COLLECTIVES,
    GROUP_PATTERNS,
    PAIR_PATTERNS,
    TWO_FORMS,
    GroupPattern,
    Pattern,
    is_word_atomic,
)
from wireproof.model.plan import Point, Policy
from wireproof.model.psm3 import Statistics
from wireproof.report.judged_run import JudgedRun
from wireproof.report.reporter import Reporter, say_all
from wireproof.target import Target, this_machine
from wireproof.target.resolve import refuse_lone_claims, resolve_target
from wireproof.tune.job import standing_on

if TYPE_CHECKING:
    from wireproof.measure.session.dry_run import Planned


SATURATION_SIZES = tuple(1 << power for power in range(6, 18))
SATURATED_PPN = 8
"""Default number of ranks on each host in a saturation measurement."""
_WORD_BYTES = 8


def measure(
    specification: MeasureSpecification, reporter: Reporter, environment: Mapping[str, str]
) -> Result:
    """Measure, prove and judge; store the records as specified.

    ``environment`` is searched for the allocation in which wireproof runs. Raises ``BadInput``
    before anything is started, ``CouldNotMeasure`` if nothing was measured.
    """
    prepared = prepare(specification, environment)
    target = prepared.target
    say_all(target.notes, reporter)
    asked = specification.psm_statistics
    with (
        result_folder(specification.storage, "measure", reporter) as folder,
        statistics_folder(asked=asked) as (counters, variables),
    ):
        session = _session(specification, prepared, folder, tuple(variables.items()))
        standing = None if specification.method.plays_hosts else standing_on(target)
        section, outcomes = run_settled(session, target, reporter)
        if counters is not None:
            section = with_statistics(section, _collected(counters, reporter))
        if specification.pattern == "saturation":
            section = _with_answer(section)
        return keep_result(
            [MeasuredPart(section, outcomes).on_hosts_with(standing)],
            title=session.title,
            folder=folder,
            storage=specification.storage,
            reporter=reporter,
        )


def plan_measure(
    specification: MeasureSpecification, reporter: Reporter, environment: Mapping[str, str]
) -> Planned:
    """Plan the same measurement without starting anything."""
    prepared = prepare(specification, environment)
    say_all(prepared.target.notes, reporter)
    from wireproof.measure.session.dry_run import planned

    return planned(_session(specification, prepared, Path("RUN"), ()), prepared.target)


def _session(
    specification: MeasureSpecification,
    prepared: Prepared,
    folder: Path,
    variables: tuple[tuple[str, str], ...],
) -> Session:
    method = specification.method
    session = method.session(
        f"{specification.pattern} over {method.transport}",
        list(prepared.points),
        policy=prepared.policy,
        seed=method.chosen_seed(),
        out=folder / "run",
        storage=specification.storage,
    )
    return dataclasses.replace(session, extra=(*prepared.variables, *variables))


def _collected(folder: Path, reporter: Reporter) -> tuple[Statistics, ...]:
    files, refused = collected(folder)
    for sentence in refused:
        reporter.warn(sentence)
    return tuple(files)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Prepared:
    """The target, points and bounds of a measurement, and the variables that every rank needs."""

    target: Target
    points: tuple[Point, ...]
    policy: Policy
    variables: tuple[tuple[str, str], ...]


def prepare(specification: MeasureSpecification, environment: Mapping[str, str]) -> Prepared:
    """Prepare everything that can be determined before anything is started. Raises ``BadInput``."""
    _check(specification)
    pattern, method = specification.pattern, specification.method
    target = _target(specification, environment)
    policy = method.bounds() if pattern == "threads" else target.pinned(method.bounds())
    points, policy = with_time(
        points_of(specification, target),
        paced(policy, target.claimed_rate),
        target.claimed_rate,
        budget_given=method.budget_s is not None,
    )
    return Prepared(
        target=target,
        points=tuple(points),
        policy=policy,
        variables=_variables(specification, target),
    )


def _target(specification: MeasureSpecification, environment: Mapping[str, str]) -> Target:
    """Return the target with as many ranks as the pattern needs."""
    target = resolve_target(specification, environment)
    whole = specification.pattern in (*GROUP_PATTERNS, "saturation")
    refuse_lone_claims(specification, target)
    if not target.hosts:
        played = specification.method.plays_hosts and not whole
        here = this_machine(target.link, ranks=1 if played else specification.ranks)
        target = dataclasses.replace(here, sysfs_root=target.sysfs_root)
    saturates = specification.pattern == "saturation" and specification.ppn == 1
    return target.spread(SATURATED_PPN if saturates else specification.ppn)


def _check(specification: MeasureSpecification) -> None:
    """Raise ``BadInput`` for an unknown pattern, and for options that do not apply to the
    pattern.
    """
    pattern, known = specification.pattern, (*PAIR_PATTERNS, *GROUP_PATTERNS, "saturation")
    if pattern not in known:
        raise BadInput(f"there is no pattern {pattern[:40]!r}; {suggestion(pattern, known)}")
    if specification.form and pattern not in TWO_FORMS:
        raise BadInput(f"--form is for {', '.join(TWO_FORMS)}; {pattern} has only one.")
    for option, given, owners in (
        ("order", specification.order, ("ring",)),
        ("nonblocking", specification.nonblocking, COLLECTIVES),
        ("threads", specification.threads, ("threads",)),
        ("partitions", specification.partitions, ("partitioned",)),
    ):
        if given and pattern not in owners:
            raise BadInput(f"--{option} is for {', '.join(owners)}, not for {pattern}.")
    if specification.both_directions and pattern not in PAIR_PATTERNS:
        raise BadInput(
            f"--both-directions is for pairs; {pattern} is measured by all ranks together."
        )


def points_of(specification: MeasureSpecification, target: Target) -> list[Point]:
    """Return the points to measure on ``target`` (one entry of its hosts for each rank)."""
    pattern = specification.pattern
    if pattern == "saturation":
        return _saturation(specification, target)
    if pattern in GROUP_PATTERNS:
        return _group(pattern, specification, list(range(target.size)))
    return _pairs(cast(Pattern, pattern), specification)


def _saturation(specification: MeasureSpecification, target: Target) -> list[Point]:
    if len(set(target.hosts)) != 2:
        raise BadInput(
            "saturation is measured between two hosts: give two, and the maximum number of ranks"
            " on each with --ppn."
        )
    sizes = specification.sizes or SATURATION_SIZES
    return saturation(sizes, target.size // 2, window=specification.window)


def _group(
    pattern: GroupPattern, specification: MeasureSpecification, ranks: list[int]
) -> list[Point]:
    sizes = specification.sizes or default_sizes(pattern, len(ranks), specification.formula)
    if pattern == "congestion":
        return [congestion(size, ranks) for size in sizes]
    points = group_sweep(
        pattern,
        sizes,
        ranks,
        order=specification.order or "natural",
        window=specification.window,
        formula=specification.formula,
    )
    blocking = not specification.nonblocking
    return [msgspec.structs.replace(point, blocking=blocking) for point in points]


def _pairs(pattern: Pattern, specification: MeasureSpecification) -> list[Point]:
    partitions = specification.partitions or 1
    sizes = _sizes(pattern, specification.sizes, partitions)
    waits = pattern in TWO_FORMS or is_word_atomic(pattern)
    points: list[Point] = []
    for pair in [(0, 1), (1, 0)] if specification.both_directions else [(0, 1)]:
        points += sweep(
            pattern,
            sizes,
            [pair],
            form=specification.form or ("latency" if waits else None),
            window=specification.window,
            formula=specification.formula,
        )
    if not points:
        raise BadInput(
            f"{pattern} moves payload, so it cannot be measured with 0 B alone: give a larger"
            " size in --sizes."
        )
    threads = specification.threads or 1
    return [
        msgspec.structs.replace(
            point,
            threads=threads,
            partitions=partitions,
            window_kind=specification.window_kind,
        )
        for point in points
    ]


def _sizes(pattern: Pattern, given: tuple[int, ...], partitions: int) -> tuple[int, ...]:
    """Return the sizes among ``given`` that the pattern supports, or its default sizes."""
    if is_word_atomic(pattern):
        if given not in ((), (_WORD_BYTES,)):
            raise BadInput(f"{pattern} uses one word of {_WORD_BYTES} B: leave out --sizes.")
        return (_WORD_BYTES,)
    sizes = given or SIZES
    if pattern == "partitioned":
        sizes = tuple(size for size in sizes if size and size % partitions == 0)
    return tuple(sizes)


def _variables(specification: MeasureSpecification, target: Target) -> tuple[tuple[str, str], ...]:
    """Return the variables that the pattern needs on every rank."""
    if specification.pattern == "threads":
        # Only the environment can request this before MPI_Init; it slows every other pattern.
        return (("WIREPROOF_THREADS", str(specification.threads or 1)),)
    if specification.pattern == "compare_and_swap" and not target.hosts:
        # Open MPI 4.1's default windows crash in a 64-bit compare-and-swap between ranks of one
        # host (ompi 7027, 11349).
        return (("OMPI_MCA_osc", "pt2pt"),)
    return ()


def _with_answer(section: JudgedRun) -> JudgedRun:
    """Add a sentence with the result of a saturation measurement: the size from which the link is
    full.
    """
    limit = section.limits.attainable_bytes_per_s if section.limits else None
    answers = []
    for count, (size, best) in filled(section.run.points, limit).items():
        ranks = f"{quantity.counted(count, 'rank')} per node"
        full = "not full at any size" if size is None else f"full from {quantity.size(size)}"
        answers.append(f"{ranks}: {full} (best {quantity.megabytes(best)} MB/s)")
    if not answers:
        return section
    of = "attainable" if limit else "the best observed rate"
    return dataclasses.replace(section, lead=f"Full: {FULL:.0%} of {of}. {'; '.join(answers)}.")
