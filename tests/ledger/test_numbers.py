"""Medians, intervals, labels, fits, launches: against values worked out by hand or known by
construction.
"""

import numpy as np
import pytest
from tests.records import pair_result, point_record
from tests.synthetic import World, run_of

from wireproof.ledger.measured import block_times, measure, tail, times_per_operation
from wireproof.model.record import PairResult, PointRecord
from wireproof.stats import (
    autocorrelation,
    estimate,
    quantiles,
    two_modes,
)
from wireproof.stats.fit import fit_sizes


def pair_of(batch_ns: list[float], operations: int, **changes: object) -> PairResult:
    return pair_result(
        operations_per_batch=operations,
        batch_ns=batch_ns,
        block_batches=[1] * len(batch_ns),
        messages_forward=len(batch_ns) * operations,
        payload_forward_bytes=0,
        **changes,
    )


def point_of(
    pattern: str, size: int, pair: PairResult, form: str = "stream", formula: str = "robust"
) -> PointRecord:
    return point_record(
        pattern=pattern,
        form=form,
        message_bytes=size,
        formula=formula,
        elapsed_ns=sum(pair.batch_ns),
        pairs=[pair],
    )


def test_interval_of_25_samples_has_the_order_statistics_of_the_formula() -> None:
    # n = 25: ranks floor((25 - 9.8) / 2) = 7 and ceil(1 + (25 + 9.8) / 2) = 19, counted from 1.
    values = [float(v) for v in np.random.default_rng(5).permutation(np.arange(101, 126))]
    assert autocorrelation(values) < 0.3
    found = estimate(values)
    assert found.median_ns == 113.0
    assert found.low_ns <= 107.0  # dependence can only widen it
    assert found.high_ns >= 119.0
    assert (found.blocks, found.label) == (25, "stable")


def test_the_interval_covers_the_true_median_as_often_as_it_claims() -> None:
    rng = np.random.default_rng(1)
    hits = 0
    for _ in range(400):
        found = estimate(1000.0 * np.exp(0.3 * rng.standard_normal(40)))
        hits += found.low_ns <= 1000.0 <= found.high_ns
    assert hits >= 0.93 * 400


def test_the_interval_of_dependent_samples_still_covers() -> None:
    rng = np.random.default_rng(2)
    hits = naive = 0
    for _ in range(200):
        x = np.zeros(200)
        for i in range(1, x.size):
            x[i] = 0.8 * x[i - 1] + rng.standard_normal()
        found = estimate(1000.0 + 20.0 * x, unstable_above=1.0)
        hits += found.low_ns <= 1000.0 <= found.high_ns
        ordered = np.sort(1000.0 + 20.0 * x)
        naive += ordered[85] <= 1000.0 <= ordered[114]
    assert hits >= 0.85 * 200
    assert hits > naive + 40


def test_fewer_than_six_samples_are_unstable_and_show_their_whole_range() -> None:
    found = estimate([10.0, 11.0, 12.0])
    assert (found.low_ns, found.high_ns, found.label) == (10.0, 12.0, "unstable")


@pytest.mark.parametrize("values", [[], [0.0, 1.0], [-1.0], [float("nan")], [float("inf")]])
def test_times_that_cannot_be_are_refused(values: list[float]) -> None:
    with pytest.raises(ValueError, match="estimate of"):
        estimate(values)


def test_two_groups_are_called_multimodal_and_one_is_not() -> None:
    rng = np.random.default_rng(3)
    near = 130.0 + rng.normal(0, 2, 30)
    far = 350.0 + rng.normal(0, 5, 20)
    assert two_modes(np.concatenate([near, far]))
    assert estimate(rng.permutation(np.concatenate([near, far]))).label == "multimodal"
    assert not two_modes(near)
    assert not two_modes([130.0] * 29 + [900.0])  # one stall is a tail, not a mode


def test_labels_are_rarely_wrong_on_plain_noise() -> None:
    rng = np.random.default_rng(4)
    wrong = sum(
        estimate(1000.0 * (1 + np.abs(rng.normal(0, 0.02, 20)))).label != "stable"
        for _ in range(300)
    )
    assert wrong <= 3


def test_quantiles_keep_the_worst() -> None:
    found = quantiles([1.0] * 99 + [500.0])
    assert found["p50"] == 1.0
    assert found["max"] == 500.0
    with pytest.raises(ValueError, match="empty"):
        quantiles([])


def test_a_round_trip_is_halved_and_rates_come_last() -> None:
    pair = pair_of([2_000.0] * 8, 10)
    found = measure(point_of("pingpong", 1000, pair, "latency"), pair)
    assert (found.unit, found.value) == ("ns", 100.0)
    assert found.goodput_bytes_per_s == pytest.approx(1e10)


@pytest.mark.parametrize(
    ("pattern", "form"), [("stream", "stream"), ("exchange", "stream"), ("put", "stream")]
)
def test_a_stream_gives_goodput_with_its_interval_the_right_way_round(
    pattern: str, form: str
) -> None:
    pair = pair_of([float(v) for v in (90, 95, 100, 100, 100, 100, 105, 110)], 1)
    found = measure(point_of(pattern, 1000, pair, form), pair)
    assert (found.unit, found.value) == ("bytes_per_s", pytest.approx(1e10))
    assert found.low < found.value < found.high


def test_a_flushed_put_is_a_time() -> None:
    pair = pair_of([100.0] * 8, 1)
    found = measure(point_of("put", 1000, pair, "latency"), pair)
    assert (found.unit, found.value) == ("ns", 100.0)


def test_nothing_timed_is_no_number() -> None:
    pair = pair_of([], 1)
    assert measure(point_of("stream", 8, pair), pair) is None
    assert tail(point_of("stream", 8, pair), pair) == {}
    broken = pair_of([-5.0] * 8, 1)
    assert measure(point_of("stream", 8, broken), broken) is None


def test_blocks_are_medians_of_their_batches() -> None:
    times = np.asarray([1.0, 9.0, 2.0, 4.0, 4.0, 7.0])
    assert times_per_operation(times, [3, 3]).tolist() == [2.0, 4.0]
    assert times_per_operation(times, [3, 4]).tolist() == times.tolist()
    point = run_of(World(sizes=(8,), patterns=("pingpong",))).points[0]
    assert block_times(point, point.pairs[0]).size == len(point.pairs[0].block_batches)


def model_times(
    latency: float, gap: float, limit: int, rendezvous: float, sizes: list[int]
) -> dict[int, float]:
    return {s: latency + gap * s + (rendezvous if limit and s > limit else 0.0) for s in sizes}


SWEEP = [0, *(1 << k for k in range(23))]


@pytest.mark.parametrize("seed", range(20))
def test_latency_gap_and_switch_are_recovered_within_one_percent(seed: int) -> None:
    rng = np.random.default_rng(seed)
    latency, gap = float(rng.uniform(800, 30_000)), float(rng.uniform(0.02, 9.0))
    limit = int(rng.choice([4096, 16384, 65536]))
    rendezvous = 1.5 * (latency + gap * limit)
    times = model_times(latency, gap, limit, rendezvous, SWEEP)
    noisy = {s: t * (1 + 0.002 * rng.standard_normal()) for s, t in times.items()}
    found = fit_sizes(noisy)
    assert found.start_ns == pytest.approx(latency, rel=0.01)
    assert found.gap_ns_per_byte == pytest.approx(gap, rel=0.01)
    assert (found.eager_limit_bytes, found.next_bytes) == (limit, 2 * limit)
    assert found.step_ns == pytest.approx(rendezvous, rel=0.05)


@pytest.mark.parametrize("seed", range(20))
def test_no_switch_is_seen_where_there_is_none(seed: int) -> None:
    rng = np.random.default_rng(seed)
    times = {
        s: t * (1 + 0.01 * rng.standard_normal())
        for s, t in model_times(9000, 8.4, 0, 0, SWEEP).items()
    }
    found = fit_sizes(times)
    assert found.eager_limit_bytes is None


def test_too_few_or_impossible_times_give_no_fit() -> None:
    assert fit_sizes({1: 1.0, 2: 2.0}) is None
    assert fit_sizes({1: 1.0, 2: 2.0, 3: 0.0}) is None
