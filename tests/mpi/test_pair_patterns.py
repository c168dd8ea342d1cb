"""Atomics, prepared requests and threads under every MPI: measured and checked, or refused with the
reason.
"""

import dataclasses
from pathlib import Path

import pytest
from tests.mpi.mpis import EVERY_MPI, install_of, run

from wireproof.launch.command import prepare
from wireproof.launch.registry import LaunchCommand
from wireproof.model.plan import Point, Policy
from wireproof.model.record import PointRecord

SHORT = Policy(
    point_budget_ms=60,
    point_deadline_ms=60_000,
    run_deadline_ms=150_000,
    yield_=1,
    warmup_min_operations=100,
)


def point(number: int, pattern: str, form: str, size: int, **fields: object) -> Point:
    made: dict[str, object] = {
        "id": number,
        "pattern": pattern,
        "form": form,
        "message_bytes": size,
        "window": 8,
    }
    return Point(pairs=((0, 1),), **{**made, **fields})  # type: ignore[arg-type]


def with_environment(name: str, **variables: str) -> LaunchCommand:
    command = prepare("mpi", install_of(name), ranks=2)
    return dataclasses.replace(command, environment={**command.environment, **variables})


def for_atomics(name: str) -> LaunchCommand:
    """Open MPI 4.1 crashes in MPI_Compare_and_swap between ranks of one host where osc/rdma uses
    btl/vader.
    """
    return with_environment(name, **({"OMPI_MCA_osc": "pt2pt"} if name == "openmpi" else {}))


def assert_sound(record: PointRecord) -> None:
    pair = record.pairs[0]
    what = f"{record.pattern} {record.form} {record.formula}"
    assert pair.status == "ok", what
    assert pair.integrity == "ok", what
    assert pair.estimate is not None, what
    assert pair.estimate.median_ns > 0, what
    assert (pair.formula_value_ns is not None) == (record.formula != "robust"), what
    assert pair.messages_forward >= pair.operations_per_batch * len(pair.batch_ns), what


@pytest.mark.parametrize("name", EVERY_MPI)
def test_atomics_and_persistent_requests_are_measured_and_right(name: str, tmp_path: Path) -> None:
    shapes = [
        ("accumulate", "latency", 8),
        ("accumulate", "latency", 65536),
        ("fetch_and_op", "latency", 8),
        ("compare_and_swap", "latency", 8),
        ("persistent", "latency", 8),
        ("persistent", "latency", 65536),
        ("persistent", "stream", 4096),
        ("persistent", "stream", 131072),
    ]
    points = [point(i, *shape) for i, shape in enumerate(shapes)]
    points += [
        point(20 + i, *shape, formula="osu", iterations=200) for i, shape in enumerate(shapes)
    ]
    points += [
        point(40, "accumulate", "stream", 4096),
        point(41, "fetch_and_op", "latency", 8, window_kind="create"),
    ]
    outcome = run(name, points, tmp_path / "run", policy=SHORT, command=for_atomics(name))
    assert outcome.complete, outcome.ending
    assert len(outcome.run.points) == len(points)
    for record in outcome.run.points:
        assert_sound(record)
    words = [
        record.pairs[0]
        for record in outcome.run.points
        if record.message_bytes == 8 and "_and_" in record.pattern
    ]
    assert words
    for pair in words:
        assert (
            pair.payload_forward_bytes == pair.payload_backward_bytes == 8 * pair.messages_forward
        )


@pytest.mark.parametrize("name", EVERY_MPI)
def test_partitioned_messages_are_measured_or_refused_and_the_run_goes_on(
    name: str, tmp_path: Path
) -> None:
    points = [
        point(0, "partitioned", "latency", 4096, partitions=4),
        point(1, "partitioned", "latency", 65536),
        point(2, "partitioned", "stream", 16384, partitions=8),
        point(3, "partitioned", "stream", 262144, partitions=2),
        point(4, "pingpong", "latency", 8),
    ]
    outcome = run(name, points, tmp_path / "run", policy=SHORT)
    found = {record.id: record for record in outcome.run.points}
    assert sorted(found) == [0, 1, 2, 3, 4], outcome.ending
    assert_sound(found[4])
    standard = outcome.run.hosts[0].mpi_standard
    if float(standard) >= 4.0:
        for record in found.values():
            assert_sound(record)
        assert found[0].partitions == 4
        return
    errors = [error for error in outcome.run.errors if error.code == "cannot-begin"]
    assert [error.id for error in errors] == [0, 1, 2, 3]
    assert all("MPI_Psend_init" in error.message for error in errors)
    for number in range(4):
        pair = found[number].pairs[0]
        assert (pair.status, pair.estimate, pair.batch_ns) == ("error", None, [])


@pytest.mark.parametrize("name", EVERY_MPI)
def test_threads_are_measured_where_the_library_lets_them(name: str, tmp_path: Path) -> None:
    points = [
        point(0, "threads", "latency", 8, threads=2),
        point(1, "threads", "stream", 4096, threads=2),
        point(2, "threads", "latency", 8, threads=2, formula="osu", iterations=40),
        point(3, "threads", "latency", 8),
    ]
    outcome = run(
        name,
        points,
        tmp_path / "run",
        policy=SHORT,
        command=with_environment(name, WIREPROOF_THREADS="2"),
    )
    assert outcome.complete, outcome.ending
    for record in outcome.run.points:
        assert_sound(record)
    first = outcome.run.points[0]
    assert first.threads == 2
    assert first.pairs[0].messages_forward >= 2 * first.pairs[0].operations_per_batch * len(
        first.pairs[0].batch_ns
    )


@pytest.mark.parametrize("name", EVERY_MPI)
def test_threads_that_nobody_asked_for_are_refused_and_one_is_not(
    name: str, tmp_path: Path
) -> None:
    points = [point(0, "threads", "latency", 8, threads=2), point(1, "threads", "latency", 8)]
    outcome = run(name, points, tmp_path / "run", policy=SHORT)
    found = {record.id: record for record in outcome.run.points}
    assert found[0].pairs[0].status == "error"
    assert_sound(found[1])
    assert [(error.code, error.id) for error in outcome.run.errors] == [("cannot-begin", 0)]
    assert "WIREPROOF_THREADS" in outcome.run.errors[0].message
