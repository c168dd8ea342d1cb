"""Patterns that a whole group measures together, under every MPI: four ranks on this machine."""

from pathlib import Path

import pytest
from tests.mpi.mpis import EVERY_MPI, plan_of, run

from wireproof.instrument.plan_text import write_plan
from wireproof.model.plan import Point, Policy

POLICY = Policy(point_budget_ms=40, point_deadline_ms=30_000, run_deadline_ms=100_000, yield_=1)
EVERY_GROUP: list[dict[str, object]] = [
    {"pattern": "ring"},
    {"pattern": "ring", "order": "random", "members": (3, 1, 0, 2)},
    {"pattern": "ring", "members": (1, 3), "message_bytes": 0},
    {"pattern": "message_rate"},
    {"pattern": "message_rate", "formula": "osu", "iterations": 320, "window": 16},
    {"pattern": "message_rate", "formula": "imb-mpi1", "iterations": 320, "window": 16},
    {"pattern": "incast"},
    {"pattern": "all_to_all", "window": 2},
]


def points() -> list[Point]:
    default = {"message_bytes": 1024, "members": (0, 1, 2, 3)}
    return [Point(id=i, **{**default, **fields}) for i, fields in enumerate(EVERY_GROUP)]  # type: ignore[arg-type]


@pytest.mark.parametrize("name", EVERY_MPI)
def test_every_group_pattern_is_measured_and_its_bytes_are_counted(
    name: str, tmp_path: Path
) -> None:
    outcome = run(name, points(), tmp_path / "run", ranks=4, policy=POLICY)
    assert outcome.complete, outcome.ending
    assert len(outcome.run.points) == len(EVERY_GROUP)
    for asked, point in zip(points(), sorted(outcome.run.points, key=lambda p: p.id), strict=True):
        group = point.group
        assert point.pairs == []
        assert (point.pattern, tuple(group.members)) == (asked.pattern, asked.members)
        assert point.order == (asked.order if asked.pattern == "ring" else "")
        assert group.status == "ok"
        assert group.integrity == "ok"
        assert group.estimate.median_ns > 0
        assert sum(group.block_batches) == len(group.batch_ns)
        assert all(ns > 0 for ns in group.member_ns)
        assert sum(group.sent_bytes) == sum(group.received_bytes)
        assert group.exact
        assert (group.formula_value_ns is not None) == (asked.formula != "robust")


@pytest.mark.parametrize("name", EVERY_MPI)
def test_hpcc_rings(name: str, tmp_path: Path) -> None:
    rings = [
        Point(id=0, pattern="ring", message_bytes=8, members=(0, 1), formula="hpcc"),
        Point(
            id=1, pattern="ring", message_bytes=8, members=(0, 1), formula="hpcc", order="random"
        ),
    ]
    outcome = run(name, rings, tmp_path / "run", policy=POLICY)
    assert outcome.complete, outcome.ending
    for point, count in zip(outcome.run.points, (8, 30 * 8), strict=True):
        group = point.group
        assert len(group.batch_ns) == count
        # The minimum over the repetitions is no more than half of any turn that was kept.
        assert 0 < group.formula_value_ns <= max(group.batch_ns) / 2


@pytest.mark.mpi
def test_a_member_that_was_not_started_is_an_error_of_the_plan(tmp_path: Path) -> None:
    point = Point(id=7, pattern="ring", message_bytes=8, members=(0, 5))
    outcome = run("mpich", [point], tmp_path / "run", policy=POLICY)
    assert not outcome.complete
    assert outcome.run.points == []
    lines = write_plan(plan_of([point])).splitlines()
    line = 1 + next(number for number, text in enumerate(lines) if text.startswith("point "))
    assert f"plan line {line}" in outcome.ending.reason
    assert "names rank 5" in outcome.ending.reason
    assert "members=" in outcome.ending.reason
