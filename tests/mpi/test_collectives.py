"""The library's collectives and congestion, under every MPI: four ranks on this machine."""

from pathlib import Path

import pytest
from tests.mpi.mpis import EVERY_MPI, run

from wireproof.model.plan import Point, Policy

POLICY = Policy(
    point_budget_ms=20,
    point_deadline_ms=30_000,
    run_deadline_ms=100_000,
    yield_=1,
    warmup_min_operations=20,
    warmup_min_us=500,
    block_us=500,
)
SIZE = 1024
EVERYBODY: dict[str, object] = {"members": (0, 1, 2, 3)}
TWO: dict[str, object] = {"members": (3, 1)}  # four that spin on two cores are slow
# Least bytes that a member sends and receives per operation: member 0, any other.
LEAST = {
    "barrier": ((0, 0), (0, 0)),
    "broadcast": ((SIZE, 0), (0, SIZE)),
    "allreduce": ((SIZE, SIZE), (SIZE, SIZE)),
    "allgather": ((SIZE, 3 * SIZE), (SIZE, 3 * SIZE)),
    "alltoall": ((3 * SIZE, 3 * SIZE), (3 * SIZE, 3 * SIZE)),
}
SUITES = (
    ("barrier", "osu"),
    ("broadcast", "osu"),
    ("allreduce", "osu"),
    ("barrier", "imb-mpi1"),
    ("alltoall", "imb-mpi1"),
)
ASKED: list[dict[str, object]] = [{"pattern": name} for name in LEAST]
ASKED += [{"pattern": name, "blocking": False, **TWO} for name in LEAST]
ASKED += [
    {"pattern": name, "formula": formula, "iterations": 40, **TWO} for name, formula in SUITES
]
ASKED += [{"pattern": "allreduce", "members": (3, 0, 2)}]


def points() -> list[Point]:
    found = []
    for index, fields in enumerate(ASKED):
        size = 0 if fields["pattern"] == "barrier" else SIZE
        found.append(Point(id=index, **{"message_bytes": size, **EVERYBODY, **fields}))  # type: ignore[arg-type]
    return found


@pytest.mark.parametrize("name", EVERY_MPI)
def test_every_collective_is_measured_and_its_result_is_right(name: str, tmp_path: Path) -> None:
    outcome = run(name, points(), tmp_path / "run", ranks=4, policy=POLICY)
    assert outcome.complete, outcome.ending
    assert len(outcome.run.points) == len(ASKED)
    for asked, point in zip(points(), sorted(outcome.run.points, key=lambda p: p.id), strict=True):
        group = point.group
        assert (point.pattern, tuple(group.members), point.blocking) == (
            asked.pattern,
            asked.members,
            asked.blocking,
        )
        assert (point.form, group.status, group.integrity) == ("latency", "ok", "ok")
        assert group.estimate.median_ns > 0
        assert all(ns > 0 for ns in group.member_ns)
        assert group.messages_per_operation == len(asked.members)
        assert not group.exact
        if len(asked.members) == 4:
            first, others = LEAST[asked.pattern]
            operations = max(group.sent_bytes) // max(1, first[0])
            assert (group.sent_bytes[0], group.received_bytes[0]) == (
                operations * first[0],
                operations * first[1],
            )
            assert set(group.sent_bytes[1:]) == {operations * others[0]}
            assert set(group.received_bytes[1:]) == {operations * others[1]}
        assert (group.formula_value_ns is not None) == (asked.formula != "robust")
        overlap = group.overlap
        assert (overlap is None) == asked.blocking
        if overlap is not None:
            assert min(overlap.pure_ns, overlap.compute_ns, overlap.total_ns) > 0
            free = (overlap.pure_ns + overlap.compute_ns - overlap.total_ns) / min(
                overlap.pure_ns, overlap.compute_ns
            )
            assert overlap.share == pytest.approx(min(1.0, max(0.0, free)), abs=2e-3)


@pytest.mark.parametrize("name", EVERY_MPI)
def test_congestion_has_both_phases_and_its_load_stops(name: str, tmp_path: Path) -> None:
    """The second point's ranks are the first one's: whoever still streamed would break it."""
    asked = [
        Point(
            id=0,
            pattern="congestion",
            message_bytes=8,
            pairs=((0, 2),),
            load=((1, 3),),
            load_bytes=4096,
        ),
        Point(
            id=1, pattern="congestion", message_bytes=512, pairs=((3, 1),), load=((2, 0),), window=2
        ),
        Point(id=2, pattern="pingpong", message_bytes=8, pairs=((0, 1), (2, 3))),
    ]
    outcome = run(name, asked, tmp_path / "run", ranks=4, policy=POLICY)
    assert outcome.complete, outcome.ending
    for point, members in zip(
        sorted(outcome.run.points, key=lambda p: p.id), ([0, 2, 1, 3], [3, 1, 2, 0]), strict=False
    ):
        group = point.group
        assert (group.members, group.exact, group.integrity) == (members, True, "ok")
        assert group.estimate.median_ns > 0
        for phase in (group.quiet, group.loaded):
            assert phase.samples > 0
            assert 0 < phase.p50_ns <= phase.p95_ns <= phase.p99_ns <= phase.max_ns
        assert group.sent_bytes[:2] == group.received_bytes[:2]
        assert group.sent_bytes[0] % point.message_bytes == 0
        assert group.sent_bytes[2] == group.received_bytes[3] > 0
        assert group.sent_bytes[3] == group.received_bytes[2] == 0
    last = outcome.run.points[-1]
    assert all(pair.status == "ok" and pair.integrity == "ok" for pair in last.pairs)
