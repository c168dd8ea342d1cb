"""``plan scale`` against the engine: parameters are fitted to one pair of the model transport, and
what many ranks then measure there lies where the simulation says.
"""

from pathlib import Path

import pytest
from tests.processes import measured

from wireproof.model.plan import ModelWorld, Point
from wireproof.plan.job import plan_scale

pytestmark = pytest.mark.engine

WORLD = ModelWorld(latency_ns=1500, gap_ns_per_byte=0.08, overhead_ns=100)
PAIR_SIZES = (8, 64, 1024, 8192, 65_536, 1 << 20)


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run of one pair: half round trips by size, and the pace of small messages."""
    folder = tmp_path_factory.mktemp("scale") / "pair"
    points = [
        Point(id=number, pattern="pingpong", message_bytes=size, pairs=((0, 1),), form="latency")
        for number, size in enumerate(PAIR_SIZES)
    ]
    points.append(
        Point(id=len(points), pattern="stream", message_bytes=8, pairs=((0, 1),), form="stream")
    )
    measured(points, 2, WORLD, folder)
    return folder


@pytest.mark.parametrize("ranks", [2, 4, 8])
@pytest.mark.parametrize(
    ("pattern", "engine_pattern", "size"),
    [
        ("ring", "ring", 8),
        ("ring", "ring", 65_536),
        ("barrier", "barrier", 0),
        ("allreduce", "allreduce", 1024),
        ("alltoall", "alltoall", 65_536),
    ],
)
def test_what_the_engine_measures_is_what_was_predicted(
    pair: Path, tmp_path: Path, pattern: str, engine_pattern: str, size: int, ranks: int
) -> None:
    point = Point(
        id=0,
        pattern=engine_pattern,  # type: ignore[arg-type]
        message_bytes=size,
        members=tuple(range(ranks)),
        order="natural",
    )
    group = measured([point], ranks, WORLD, tmp_path / "many")[0].group
    found = plan_scale(
        ranks, 1, run=pair, patterns=(pattern,), order="natural", size=size, topology="one-switch"
    )
    predicted = found.predictions[0].time_ns
    assert predicted == pytest.approx(group.estimate.median_ns, rel=0.005)
    origins = {one.name: one.source for one in found.parameters}
    assert origins["start_ns"].startswith("measured")
    assert origins["overhead_ns"].startswith("measured")
    assert origins["gap_ns"] == "assumed"
