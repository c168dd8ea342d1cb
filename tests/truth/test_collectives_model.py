"""Collectives and congestion on the model, through the whole instrument: the closed forms of the
interface page.
"""

from pathlib import Path

import pytest
from tests.processes import measured

from wireproof.model.plan import ModelWorld, Point

pytestmark = pytest.mark.engine

WORLD = ModelWorld(
    latency_ns=800, gap_ns_per_byte=0.1, overhead_ns=50, eager_limit_bytes=16384, rendezvous_ns=2000
)
SMALL, LARGE = 1000, 20_000
RANKS = 6


def hop(size: int) -> float:
    """One message from rank to rank, ns."""
    return 800 + 2 * 50 + 0.1 * size + (2000 if size > 16384 else 0)


def test_the_known_answers(tmp_path: Path) -> None:
    members = tuple(range(RANKS))
    asked = {
        ("barrier", 0): 3 * hop(0),
        ("allreduce", SMALL): hop(SMALL) + 2 * hop(2 * SMALL),
        ("allreduce", LARGE): hop(LARGE) + 2 * hop(2 * LARGE),
        ("allgather", SMALL): 5 * hop(SMALL),
        ("alltoall", LARGE): 5 * hop(LARGE),
        # Member 4 is served first and serves 5; then 2, which serves 3.
        ("broadcast", SMALL): max(2 * hop(SMALL), 0.1 * SMALL + 2 * hop(SMALL)),
    }
    points = [
        Point(
            id=2 * index + (not blocking),
            pattern=pattern,
            message_bytes=size,
            members=members,
            blocking=blocking,
        )  # type: ignore[arg-type]
        for index, (pattern, size) in enumerate(asked)
        for blocking in (True, False)
    ]
    found = measured(points, RANKS, WORLD, tmp_path / "run")
    for point, truth in zip(
        found, [value for value in asked.values() for _ in range(2)], strict=True
    ):
        group = point.group
        assert group.estimate.median_ns == pytest.approx(truth, rel=1e-5), point.pattern
        assert group.integrity == "ok"
        if not point.blocking:
            assert group.overlap.share == pytest.approx(
                1.0 if point.message_bytes <= 16384 else 0.0, abs=1e-3
            )


def test_congestion_of_ports_that_are_not_shared(tmp_path: Path) -> None:
    point = Point(
        id=1,
        pattern="congestion",
        message_bytes=SMALL,
        pairs=((0, 3), (1, 4)),
        load=((2, 5),),
        load_bytes=500,
    )
    (found,) = measured([point], RANKS, WORLD, tmp_path / "run")
    group = found.group
    assert group.members == [0, 3, 1, 4, 2, 5]
    for phase in (group.quiet, group.loaded):
        assert phase.samples % 2 == 0
        assert phase.p50_ns == pytest.approx(hop(SMALL), rel=1e-5)
        assert phase.max_ns == pytest.approx(hop(SMALL), rel=1e-5)
    assert group.sent_bytes[4] == group.received_bytes[5] > 0
    assert group.sent_bytes[4] % (500 * group.window_used // 2) in (0, 500)
