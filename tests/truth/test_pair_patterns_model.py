"""The engine's own estimate and the one made of its batches agree, pattern by pattern, in the
model's world.
"""

import msgspec
import pytest
from tests.processes import frames_of
from tests.records import holds, made_plan

from wireproof.ledger.measured import measure
from wireproof.model.pattern import FORMS
from wireproof.model.plan import ModelWorld, Point, Policy
from wireproof.model.record import PairResult, PointRecord

WORLD = ModelWorld(latency_ns=1_500, gap_ns_per_byte=0.1, overhead_ns=100, noise=0.005)
HALF_TRIP = 1_500 + 2 * 100
OCCUPIED = 0.1 * 4096
TRUTH = {
    ("accumulate", "latency"): 100 + OCCUPIED + 2 * 1_500,
    # a window is flushed before the next begins
    ("accumulate", "stream"): OCCUPIED + (100 + 2 * 1_500) / 64,
    ("fetch_and_op", "latency"): 2 * (100 + 0.8 + 1_500),
    ("compare_and_swap", "latency"): 2 * (100 + 0.8 + 1_500),
    ("persistent", "latency"): HALF_TRIP + OCCUPIED,
    ("persistent", "stream"): OCCUPIED,
    # two partitions of 204.8 ns on the wire, 100 ns of overhead
    ("partitioned", "latency"): HALF_TRIP + OCCUPIED,
    ("partitioned", "stream"): OCCUPIED,
    ("threads", "latency"): HALF_TRIP + OCCUPIED,
    ("threads", "stream"): OCCUPIED,
}


def measured(formula: str) -> list[PointRecord]:
    points = tuple(
        Point(
            id=i,
            pattern=pattern,
            form=form,
            message_bytes=8 if "_and_" in pattern else 4096,
            pairs=((0, 1),),  # type: ignore[arg-type]
            threads=4 if pattern == "threads" else 1,
            partitions=2 if pattern == "partitioned" else 1,
            formula=formula,
            iterations=0 if formula == "robust" else 640,  # type: ignore[arg-type]
        )
        for i, (pattern, form) in enumerate(TRUTH)
        if formula == "robust"
        or (pattern != "partitioned" and (form == "latency" or pattern == "persistent"))
    )
    plan = made_plan(points, kind="model", seed=7, model=WORLD, policy=Policy(point_budget_ms=200))
    return [frame for frame in frames_of(plan) if isinstance(frame, PointRecord)]


def test_the_truth_is_for_every_newer_pattern_and_form() -> None:
    newer = {
        name: forms
        for name, forms in FORMS.items()
        if name not in ("pingpong", "stream", "exchange", "put", "get")
    }
    assert set(TRUTH) == {(name, form) for name, forms in newer.items() for form in forms}


@pytest.mark.engine
@pytest.mark.parametrize("formula", ["robust", "osu"])
def test_the_closed_form_is_found_by_the_engine_and_from_its_batches(formula: str) -> None:
    records = measured(formula)
    assert len(records) == (10 if formula == "robust" else 6)
    for record in records:
        pair = record.pairs[0]
        assert pair.integrity == "ok"
        holds(
            record,
            threads=4 if record.pattern == "threads" else 1,
            partitions=2 if record.pattern == "partitioned" else 1,
        )
        assert record.window_kind == (
            "allocate" if "_and_" in record.pattern or record.pattern == "accumulate" else ""
        )
        told = measure(record, pair)
        made = measure(record, _without_estimate(pair))
        # A window of the OSU stream waits for its acknowledgement: that is the formula, not an
        # error.
        if (record.pattern, record.form, formula) != ("persistent", "stream", "osu"):
            assert told.time.median_ns == pytest.approx(
                TRUTH[record.pattern, record.form], rel=0.01
            )
        assert made.time.median_ns == pytest.approx(told.time.median_ns, rel=0.005)


def _without_estimate(pair: PairResult) -> PairResult:
    return msgspec.structs.replace(pair, estimate=None)
