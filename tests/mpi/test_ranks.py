"""Many ranks, many partners, torn-down connections and pins, under real MPIs."""

import os
from pathlib import Path

import msgspec
import pytest
from tests.mpi.mpis import EVERY_MPI, QUICK, install_of, plan_of, run, sweep

from wireproof.instrument import Recording, measure
from wireproof.launch.command import prepare, provenance
from wireproof.model.claim import Claim, HostClaim
from wireproof.model.plan import Point, RankPlace, WitnessPolicy

PARTNERS = (((0, 1), (2, 3)), ((2, 0), (1, 3)), ((0, 3), (2, 1)))


@pytest.mark.parametrize("name", EVERY_MPI)
def test_connections_are_given_up_and_made_again(name: str, tmp_path: Path) -> None:
    # One pair at a time for put: Open MPI's shared windows of two pairs on one host may meet in one
    # file.
    points = [
        Point(
            id=10 * turn + i,
            pattern=pattern,
            message_bytes=64,
            budget_ms=20,
            detail="brief",
            pairs=pairs[:1] if pattern == "put" else pairs,
        )
        for turn in range(3)
        for i, pairs in enumerate(PARTNERS)
        for pattern in (("pingpong", "put", "stream")[turn],)
    ]
    policy = msgspec.structs.replace(QUICK, teardown="point")
    outcome = run(name, points, tmp_path / "run", ranks=4, policy=policy)
    assert outcome.complete, outcome.ending
    for point in outcome.run.points:
        assert len(point.pairs) == (1 if point.pattern == "put" else 2)
        for pair in point.pairs:
            assert pair.status == "ok"
            assert pair.integrity == "ok"
            assert pair.batch_ns == []
            assert pair.estimate is not None


@pytest.mark.mpi
def test_a_plan_longer_than_a_pipe_reaches_rank_0(tmp_path: Path) -> None:
    """MPICH's launcher ends the job if more than 64 KiB of standard input waits for rank 0."""
    fields = {"pattern": "pingpong", "message_bytes": 8, "budget_ms": 1, "detail": "brief"}
    points = [Point(id=number, pairs=((0, 1),), **fields) for number in range(800)]
    outcome = run("mpich", points, tmp_path / "run")
    assert (tmp_path / "run" / "plan.txt").stat().st_size > 65536
    assert outcome.complete, outcome.ending
    assert len(outcome.run.points) == len(points)


@pytest.mark.slow
@pytest.mark.mpi
def test_sixty_four_ranks_speak_in_order(tmp_path: Path) -> None:
    pairs = tuple((rank, 63 - rank) for rank in range(32))
    policy = msgspec.structs.replace(
        QUICK, point_budget_ms=200, point_deadline_ms=60_000, run_deadline_ms=180_000
    )
    outcome = run(
        "mpich", sweep(2, pairs=pairs, detail="brief"), tmp_path / "run", ranks=64, policy=policy
    )
    assert outcome.complete, outcome.ending
    assert [host.rank for host in outcome.run.hosts] == list(range(64))
    assert len({host.pid for host in outcome.run.hosts}) == 64
    for point in outcome.run.points:
        assert [(pair.origin, pair.target) for pair in point.pairs] == list(pairs)
        assert [reading.rank for reading in point.witness] == list(range(64))


def two_sockets(root: Path, cores: list[int]) -> None:
    """A made-up machine: each of our cores is a socket of its own, hsn0 hangs on that of the last
    one.
    """
    for number, core in enumerate(cores):
        topology = root / f"sys/devices/system/cpu/cpu{core}/topology"
        topology.mkdir(parents=True)
        (topology / "physical_package_id").write_text(f"{number}\n")
        (topology / "thread_siblings_list").write_text(f"{core}\n")
        node = root / f"sys/devices/system/node/node{number}"
        node.mkdir(parents=True)
        (node / "cpulist").write_text(f"{core}\n")
    device = root / "sys/class/net/hsn0/device"
    device.mkdir(parents=True)
    (device / "numa_node").write_text(f"{len(cores) - 1}\n")


@pytest.mark.mpi
def test_ranks_are_bound_near_the_claimed_nic(tmp_path: Path) -> None:
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        pytest.skip("needs: two processors")
    two_sockets(tmp_path / "root", cores)
    install = install_of("mpich")
    command = prepare("mpi", install, ranks=2)
    plan = msgspec.structs.replace(
        plan_of(sweep(1), policy=msgspec.structs.replace(QUICK, pin="nic")),
        ranks=(RankPlace(index=0, host="a", nic="hsn0"), RankPlace(index=1, host="b", nic="none0")),
        witness=WitnessPolicy(idle_ms=10, root=str(tmp_path / "root")),
    )
    claim = Claim(hosts=[HostClaim(rank=rank, host="localhost") for rank in range(2)], wire=False)
    outcome = measure(
        plan,
        command,
        claim=claim,
        provenance=provenance(command, install),
        recording=Recording(out=tmp_path / "run"),
    )
    assert outcome.complete, outcome.ending
    near, unknown = outcome.run.hosts
    assert (near.pinned, near.nic_numa_node, near.core) == (cores[-1], len(cores) - 1, cores[-1])
    assert (unknown.pinned, unknown.nic_numa_node) == (None, None)
    pair = outcome.run.points[0].pairs[0]
    assert pair.origin_core == cores[-1]
