"""The newer pair patterns in the judgement: what one operation is, its limits, what is expected of
it.
"""

from dataclasses import replace
from typing import get_args

import pytest
from tests.changed_runs import SMALL, codes, set_, slower
from tests.ledger.test_numbers import pair_of, point_of
from tests.synthetic import World, lab, run_of

from wireproof.ledger.measured import measure
from wireproof.model.pattern import (
    FORMS,
    Form,
    PairPattern,
    Pattern,
    answers,
    crossings,
    is_rate,
    is_round_trip,
    one_way,
)
from wireproof.model.run import Run
from wireproof.physics import limits, link_from_name
from wireproof.verdict.run import judge

TEN = link_from_name("10gbe", mtu=9000)
VARIANTS = ("persistent", "partitioned", "threads")
WORDS = ("fetch_and_op", "compare_and_swap")


def as_pattern(run: Run, pattern: str, form: str, operation: float = 1.0, **changes: int) -> Run:
    """The same run under another name; ``operation``: times of the new pattern for one of the old.

    A word atomic is a whole operation where a round trip is two: its batches are of half as many.
    """
    points = []
    for point in slower(run, operation).points:
        pairs = point.pairs
        if pattern in WORDS:
            pairs = [set_(pair, batch_ns=[t / 2 for t in pair.batch_ns]) for pair in pairs]
        points.append(set_(point, pattern=pattern, form=form, pairs=pairs, **changes))
    return set_(run, points=points)


def test_every_pair_pattern_has_its_forms() -> None:
    assert set(FORMS) == set(get_args(PairPattern))


@pytest.mark.parametrize("pattern", VARIANTS)
def test_the_latency_of_a_variant_is_half_a_round_trip_and_its_stream_a_rate(pattern: str) -> None:
    pair = pair_of([2_000.0] * 8, 10)
    found = measure(point_of(pattern, 1000, pair, "latency"), pair)
    assert (found.unit, found.value) == ("ns", 100.0)
    rate = measure(point_of(pattern, 1000, pair, "stream"), pair)
    assert (rate.unit, rate.value) == ("bytes_per_s", pytest.approx(5e9))


@pytest.mark.parametrize("pattern", WORDS)
def test_a_word_atomic_is_a_whole_operation(pattern: str) -> None:
    pair = pair_of([2_000.0] * 8, 10)
    found = measure(point_of(pattern, 8, pair, "latency"), pair)
    assert (found.unit, found.value) == ("ns", 200.0)


def floor_of(pattern: Pattern, form: Form, size: int) -> float:
    found = limits(TEN, pattern, form, size).floor_ns
    assert found is not None
    return found


def test_a_word_atomic_needs_a_round_trip_and_an_accumulate_what_a_put_needs() -> None:
    trip = floor_of("pingpong", "latency", 8)
    for pattern in WORDS:
        assert floor_of(pattern, "latency", 8) == pytest.approx(2 * trip)  # type: ignore[arg-type]
    assert floor_of("accumulate", "latency", 4096) == floor_of("put", "latency", 4096)
    assert floor_of("accumulate", "stream", 4096) == floor_of("put", "stream", 4096)
    for pattern in VARIANTS:
        assert floor_of(pattern, "latency", 4096) == floor_of("pingpong", "latency", 4096)  # type: ignore[arg-type]
        assert floor_of(pattern, "stream", 4096) == floor_of("stream", "stream", 4096)  # type: ignore[arg-type]
    assert any("2 x (8 B" in line for line in limits(TEN, "fetch_and_op", "latency", 8).derivation)


def test_directions_and_waits() -> None:
    assert one_way("put", "stream")
    assert one_way("threads", "stream")
    assert not one_way("threads", "latency")
    assert not one_way("accumulate", "stream")
    assert not one_way("exchange", "stream")
    assert is_rate("accumulate", "stream")
    assert not is_rate("fetch_and_op", "stream")
    assert [crossings(p, "latency") for p in ("pingpong", "put", "accumulate", *WORDS)] == [
        1,
        1,
        1,
        2,
        2,
    ]
    assert crossings("stream", "stream") == crossings("persistent", "stream") == 0
    assert answers("compare_and_swap", "latency")
    assert not answers("accumulate", "latency")
    assert is_round_trip("pingpong", "latency")


@pytest.mark.parametrize("pattern", VARIANTS)
def test_a_good_variant_passes_and_one_that_cannot_be_fails(pattern: str) -> None:
    both = run_of(SMALL)
    latency = run_of(replace(SMALL, patterns=("pingpong",)))
    stream = run_of(replace(SMALL, sizes=(1 << 20,), patterns=("stream",)))
    assert judge(both).verdict == "pass"
    assert judge(as_pattern(latency, pattern, "latency")).verdict == "pass"
    assert codes(judge(as_pattern(latency, pattern, "latency", 0.2)), "fail") >= {"below-floor"}
    assert judge(as_pattern(stream, pattern, "stream")).verdict == "pass"
    assert codes(judge(as_pattern(stream, pattern, "stream", 0.5)), "fail") == {"above-ceiling"}
    assert codes(judge(as_pattern(stream, pattern, "stream", 1.5)), "fail") == {"below-expectation"}


@pytest.mark.parametrize("pattern", WORDS)
def test_a_word_atomic_faster_than_a_round_trip_fails(pattern: str) -> None:
    run = run_of(replace(SMALL, sizes=(8,), patterns=("pingpong",), latency_ns=9_000.0))
    assert judge(as_pattern(run, pattern, "latency", 2.0)).verdict == "pass"
    found = judge(as_pattern(run, pattern, "latency", 0.9))
    assert codes(found, "fail") == {"below-floor"}, (
        "nine tenths of a half round trip for a whole one"
    )


def test_a_literature_floor_nearly_reached_by_an_atomic_is_a_doubt() -> None:
    run = run_of(replace(SMALL, sizes=(8,), patterns=("pingpong",), latency_ns=6_500.0))
    assert codes(judge(as_pattern(run, "fetch_and_op", "latency", 2.0)), "inconclusive") == {
        "below-floor"
    }


def test_an_accumulate_is_not_blamed_for_the_adding() -> None:
    stream = run_of(replace(SMALL, sizes=(1 << 20,), patterns=("stream",)))
    slow = as_pattern(stream, "accumulate", "stream", 3.0)
    assert judge(slow).verdict == "pass"
    assert codes(judge(as_pattern(stream, "accumulate", "stream", 0.5)), "fail") == {
        "above-ceiling"
    }


def test_threads_that_share_the_link_may_each_be_slower() -> None:
    run = run_of(World(sizes=(1 << 20,), patterns=("pingpong",)))
    assert judge(as_pattern(run, "threads", "latency", 3.0, threads=4)).verdict == "pass"
    assert "below-expectation" in codes(judge(as_pattern(run, "threads", "latency", 3.0)), "fail")


def test_partitions_too_small_to_fill_the_link_are_not_expected_to() -> None:
    run = run_of(World(sizes=(1 << 20,), patterns=("stream",)))
    assert judge(as_pattern(run, "partitioned", "stream", 3.0, partitions=4096)).verdict == "pass"
    assert "below-expectation" in codes(
        judge(as_pattern(run, "partitioned", "stream", 3.0, partitions=4)), "fail"
    )


def test_points_of_different_threads_are_not_launches_of_one_another() -> None:
    run = run_of(lab(sizes=(1 << 20,), patterns=("stream",)))
    two = as_pattern(run, "threads", "stream", 1.0, threads=2)
    more = as_pattern(run, "threads", "stream", 1.04, threads=8)
    moved = [set_(point, id=point.id + len(two.points)) for point in more.points]
    assert not codes(judge(set_(run, points=[*two.points, *moved]))) & {
        "launches-differ",
        "launch-spread",
    }
