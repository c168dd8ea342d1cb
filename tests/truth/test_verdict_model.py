"""The engine's model transport has a known latency, gap and switch point: the analysis finds them
within 1 %.
"""

import pytest
from tests.conftest import some_of
from tests.processes import frames_of
from tests.records import made_plan

from wireproof.ledger.measured import measure
from wireproof.model.plan import ModelWorld, Point, Policy
from wireproof.model.record import PointRecord
from wireproof.stats.fit import fit_sizes

SIZES = [0, *(1 << k for k in range(23))]


def swept(world: ModelWorld, pattern: str, seed: int) -> dict[int, float]:
    """Message size -> median time of one message in the model world."""
    sizes = SIZES if pattern == "pingpong" else SIZES[1:]
    points = tuple(
        Point(id=i, pattern=pattern, form="stream", message_bytes=size, pairs=((0, 1),))  # type: ignore[arg-type]
        for i, size in enumerate(sizes)
    )
    plan = made_plan(
        points, kind="model", seed=seed, model=world, policy=Policy(point_budget_ms=200)
    )
    found = {}
    for frame in frames_of(plan):
        if isinstance(frame, PointRecord):
            number = measure(frame, frame.pairs[0])
            found[frame.message_bytes] = number.time.median_ns
    assert sorted(found) == sizes
    return found


@pytest.mark.engine
@pytest.mark.parametrize("seed", some_of([1, 2, 3], 1))
@pytest.mark.parametrize(
    "world",
    [
        ModelWorld(
            latency_ns=1_200,
            gap_ns_per_byte=0.08,
            eager_limit_bytes=16384,
            rendezvous_ns=4_000,
            noise=0.01,
        ),
        ModelWorld(
            latency_ns=25_000,
            gap_ns_per_byte=8.5,
            eager_limit_bytes=65536,
            rendezvous_ns=900_000,
            noise=0.01,
        ),
        ModelWorld(latency_ns=900, gap_ns_per_byte=0.02, overhead_ns=150, noise=0.005, stall=0.01),
    ],
    ids=["rdma", "tcp", "no switch"],
)
def test_latency_gap_and_switch_point_are_recovered(world: ModelWorld, seed: int) -> None:
    found = fit_sizes(swept(world, "pingpong", seed))
    assert found.start_ns == pytest.approx(world.latency_ns + 2 * world.overhead_ns, rel=0.01)
    assert found.gap_ns_per_byte == pytest.approx(world.gap_ns_per_byte, rel=0.01)
    assert found.eager_limit_bytes == (world.eager_limit_bytes or None)


@pytest.mark.engine
def test_the_goodput_of_a_stream_is_the_gap() -> None:
    world = ModelWorld(latency_ns=1_200, gap_ns_per_byte=0.08, overhead_ns=50, noise=0.01)
    times = swept(world, "stream", 1)
    for size in (1 << 16, 1 << 20, 1 << 22):
        assert size / times[size] == pytest.approx(1 / world.gap_ns_per_byte, rel=0.01)
