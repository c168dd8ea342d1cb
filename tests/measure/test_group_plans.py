"""Points for groups of ranks, and where a link is full."""

import pytest
from tests.records import estimate, group_result, point_record

from wireproof.instrument.plan_text import write_plan
from wireproof.ledger.measured import filled
from wireproof.measure.points import (
    congestion,
    default_sizes,
    group_sweep,
    saturation,
    saturation_ranks,
)
from wireproof.model.errors import BadInput
from wireproof.model.plan import Plan, Point, Transport
from wireproof.model.record import PointRecord


def text_of(*points: Point) -> list[str]:
    plan = Plan(run_id="x", seed=1, transport=Transport(kind="model"), ranks=(), points=points)
    return [line for line in write_plan(plan).splitlines() if line.startswith("point")]


def test_members_are_written_as_ranges() -> None:
    (point,) = group_sweep("ring", [8], [0, 1, 2, 3, 8, 6, 5], order="random")
    (line,) = text_of(point)
    assert "members=0:3,8,6,5" in line
    assert "order=random" in line
    assert "pairs=" not in line


def test_a_pair_point_is_written_as_before() -> None:
    (line,) = text_of(
        Point(id=4, pattern="stream", message_bytes=64, pairs=((0, 1), (2, 3)), form="stream")
    )
    assert (
        line == "point id=4 pattern=stream message_bytes=64 window=64 formula=robust pairs=0-1,2-3"
    )


def test_groups_that_cannot_be_are_told() -> None:
    with pytest.raises(BadInput, match="two ranks"):
        group_sweep("ring", [8], [0])
    with pytest.raises(BadInput, match="odd"):
        group_sweep("message_rate", [8], [0, 1, 2])
    with pytest.raises(BadInput, match="allreduce"):
        group_sweep("allreduce", [3, 7], [0, 1])
    with pytest.raises(BadInput, match="four"):
        congestion(8, [0, 1, 2])


def test_sizes_by_default_fit_the_memory_of_all() -> None:
    assert default_sizes("barrier", 4) == (0,)
    assert default_sizes("ring", 4, "hpcc") == (8, 2_000_000)
    assert max(default_sizes("alltoall", 1024)) * 1024 <= 16 << 20
    assert max(default_sizes("ring", 1024)) == 1 << 20
    assert [
        point.message_bytes
        for point in group_sweep("barrier", default_sizes("barrier", 4), range(4))
    ] == [0]


@pytest.mark.parametrize("count", [4, 5, 6, 9, 16])
def test_congestion_watches_one_pair_and_loads_with_others(count: int) -> None:
    point = congestion(8, list(range(count)))
    watched = {rank for pair in point.pairs for rank in pair}
    loaded = [rank for pair in point.load for rank in pair]
    assert len(point.pairs) == 1
    assert len(loaded) == len(set(loaded)) >= 2
    assert not watched & set(loaded)


def test_saturation_grows_the_ranks_on_both_hosts() -> None:
    assert saturation_ranks(1) == [1]
    assert saturation_ranks(8) == [1, 2, 4, 8]
    assert saturation_ranks(6) == [1, 2, 4, 6]
    points = saturation([64, 2048], 8)
    assert {point.members for point in points} >= {(0, 8), (0, 1, 8, 9), tuple(range(16))}
    assert len(points) == 8


def measured(ranks: int, size: int, bytes_per_s: float) -> PointRecord:
    time_ns = ranks * size / bytes_per_s * 1e9
    group = group_result(
        2 * ranks, window_used=64, messages_per_operation=ranks, estimate=estimate(time_ns)
    )
    return point_record(pattern="message_rate", message_bytes=size, window=64, group=group)


def test_full_is_the_smallest_size_from_which_on_the_link_is_full() -> None:
    rates = {1: {512: 2e9, 2048: 6e9, 65536: 12e9}, 8: {512: 9e9, 2048: 11.9e9, 65536: 12e9}}
    points = [
        measured(ranks, size, rate)
        for ranks, by_size in rates.items()
        for size, rate in by_size.items()
    ]
    found = filled(points, 12.3e9)
    assert {ranks: size for ranks, (size, _) in found.items()} == {1: 65536, 8: 2048}


def test_a_dip_at_a_large_size_is_not_passed_over() -> None:
    points = [measured(1, size, rate) for size, rate in ((512, 12e9), (2048, 5e9), (65536, 12e9))]
    assert filled(points, 12.3e9)[1][0] == 65536
    assert filled([measured(1, 512, 1e9)], 12.3e9)[1][0] is None
    assert filled([], None) == {}
