"""The engine in Slurm's jobs under every MPI: the right ranks on the right hosts, and the bytes on
the right wire.
"""

import dataclasses
import threading
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from tests.mpi.mpis import EVERY_MPI
from tests.records import holds
from tests.slurm.labs import MIB, Cluster, end_job_in, measured, plan_for, request_for

from wireproof.instrument import Outcome
from wireproof.instrument.plan_text import write_plan
from wireproof.launch.command import build_command, engine_for
from wireproof.launch.known import current
from wireproof.launch.registry import Allocation, LaunchRequest, Starter
from wireproof.launch.schedulers.slurm import slurm
from wireproof.launch.schedulers.slurm_commands import (
    find_slurm,
    slurm_options,
    slurm_requests,
)
from wireproof.launch.schedulers.slurm_job import JobRequest, batch_script, job_ended
from wireproof.model.frames import FrameReader
from wireproof.model.plan import Plan, Point, Transport
from wireproof.model.record import Frame, Host, PointRecord
from wireproof.model.topology import Fault

pytestmark = [pytest.mark.slurm, pytest.mark.engine, pytest.mark.filterwarnings("default")]
STARTERS: tuple[Starter, ...] = ("scheduler", "mpi")


def ways_of(*slow: str, without: str = "") -> list[object]:
    """Every MPI with both starters; those named ``MPI STARTER`` in ``slow`` are for ``make
    test-all``.
    """
    return [
        pytest.param(
            mpi.values[0],
            starter,
            marks=[*mpi.marks, *([pytest.mark.slow] if name in slow else [])],
        )
        for mpi in EVERY_MPI
        for starter in STARTERS
        if (name := f"{mpi.values[0]} {starter}") and mpi.values[0] != without
    ]


def run(
    site: Cluster,
    job: Allocation,
    request: LaunchRequest,
    out: Path,
    starter: Starter = "scheduler",
    **more: object,
) -> Outcome:
    """The usual plan (or ``plan``) by the first way of ``starter``; it ends well, unless a listener
    (``on_frame``) ends it.
    """
    ways = slurm_options(request, find_slurm(site.through), job_hosts=job.hosts, wanted=starter)
    assert ways[0][0].starter == starter, ways
    command = slurm(ways[0][0])
    plan = more.pop("plan", None) or plan_for(request.hosts, command.expect)
    assert isinstance(plan, Plan)
    outcome = measured(site, command, plan, out, **more)  # type: ignore[arg-type]
    assert outcome.complete == ("on_frame" not in more), outcome.ending
    return outcome


@pytest.mark.intelmpi
def test_from_a_bare_request_to_a_way_that_starts(
    here: Cluster, job: Allocation, tmp_path: Path
) -> None:
    request = request_for("intel", job, ("n2", "n4"), scheduler="slurm", starter="scheduler")
    (first, why), (second, _) = slurm_requests(request, through=here.through)
    assert (first.starter, second.starter) == ("scheduler", "mpi")
    assert why.startswith("started by srun --mpi=pmi2: Intel MPI speaks PMI-2 through /")
    command = build_command("mpi", first)
    assert "--distribution=block" in command.argv
    outcome = measured(here, command, plan_for(("n2", "n4"), command.expect), tmp_path / "run")
    assert outcome.complete, outcome.ending
    assert [host.hostname for host in outcome.run.hosts] == ["n2", "n4"]


def payload_of(outcome: Outcome) -> int:
    return sum(pair.payload_forward_bytes for point in outcome.run.points for pair in point.pairs)


@pytest.mark.parametrize(
    ("mpi", "starter"), ways_of("openmpi mpi", "debian-mpich mpi", "mpich mpi")
)
def test_ranks_are_where_they_were_wanted_and_bytes_on_the_fabric(
    here: Cluster, job: Allocation, mpi: str, starter: Starter, tmp_path: Path
) -> None:
    hosts = ("n3", "n1") if starter == "scheduler" else ("n2", "n4")
    before = {node: (here.sent(node, "hsn0"), here.sent(node, "eth0")) for node in here.lab.nodes}
    outcome = run(here, job, request_for(mpi, job, hosts), tmp_path / "run", starter)
    assert tuple(host.hostname for host in outcome.run.hosts) == hosts
    sent = {
        node: (here.sent(node, "hsn0") - hsn, here.sent(node, "eth0") - eth)
        for node, (hsn, eth) in before.items()
    }
    payload = payload_of(outcome)
    assert payload > 4 * MIB
    assert payload < sent[hosts[0]][0] < 1.1 * payload + MIB
    assert all(eth < MIB for _, eth in sent.values())
    assert all(hsn < MIB for node, (hsn, _) in sent.items() if node not in hosts)


@pytest.mark.parametrize(
    ("mpi", "starter"),
    ways_of("openmpi scheduler", "mpich scheduler", "mpich mpi", without="debian-mpich"),
)
def test_two_ranks_on_each_host(
    here: Cluster, job: Allocation, mpi: str, starter: Starter, tmp_path: Path
) -> None:
    """Slurm's own count for the job is one task per node: ``-ppn`` and its likes must win."""
    hosts = ("n2", "n2", "n4", "n4")
    outcome = run(here, job, request_for(mpi, job, hosts), tmp_path / "run", starter)
    assert tuple(host.hostname for host in outcome.run.hosts) == hosts
    if mpi != "mpich":  # its UCX decides by other signs than the launcher's map
        assert {host.shared_ranks for host in outcome.run.hosts} == {2}


def test_the_engine_without_mpi_by_srun(here: Cluster, job: Allocation, tmp_path: Path) -> None:
    meet = f"{here.lab.node_address('n1', 'hsn')}:20111"
    request = LaunchRequest(
        engine=engine_for("tcp", None), hosts=("n1", "n2"), meet=meet, job=job.job
    )
    ((way, _),) = slurm_options(request, find_slurm(here.through), job_hosts=job.hosts)
    plan = plan_for(("n1", "n2"))
    ranks = tuple(
        msgspec.structs.replace(rank, address=here.lab.node_address(rank.host, "hsn"))
        for rank in plan.ranks
    )
    plan = msgspec.structs.replace(plan, transport=Transport(kind="tcp"), ranks=ranks)
    before = here.sent("n1", "hsn0")
    outcome = measured(here, slurm(way), plan, tmp_path / "run")
    assert outcome.complete, outcome.ending
    assert here.sent("n1", "hsn0") - before > payload_of(outcome) > MIB


def test_a_wrong_nic_is_seen_by_the_counters(
    here: Cluster, job: Allocation, tmp_path: Path
) -> None:
    before = here.sent("n1", "hsn0"), here.sent("n1", "eth0")
    outcome = run(here, job, request_for("mpich", job, ("n1", "n2"), nic="eth0"), tmp_path / "run")
    payload = payload_of(outcome)
    assert here.sent("n1", "eth0") - before[1] > payload
    assert here.sent("n1", "hsn0") - before[0] < payload / 10


def test_a_planted_rate_limit_is_measured(here: Cluster, job: Allocation, tmp_path: Path) -> None:
    fault = Fault(node="n2", network="hsn", kind="rate", direction="tx", value="300mbit")
    here.lab.set_fault(fault)
    try:
        outcome = run(here, job, request_for("mpich", job, ("n2", "n3")), tmp_path / "run")
    finally:
        here.lab.clear_fault(fault)
    (stream,) = [point.pairs[0] for point in outcome.run.points if point.pattern == "stream"]
    assert MIB / (stream.estimate.median_ns * 1e-9) < 1.05 * 300e6 / 8


@pytest.mark.intelmpi
def test_two_ranks_that_share_a_node_are_seen(
    here: Cluster, job: Allocation, tmp_path: Path
) -> None:
    """Intel MPI without a placement in a job with room for two tasks per node: both ranks are on
    the first one.
    """
    request = request_for("intel", job, ("n1", "n2"))
    ways = slurm_options(request, find_slurm(here.through), job_hosts=job.hosts, wanted="mpi")
    command = slurm(ways[0][0])
    words = list(command.argv)
    index = words.index("-hosts")
    assert words[index : index + 4] == ["-hosts", "n1,n2", "-ppn", "1"]
    words[index : index + 4] = ["-hosts", "n1", "-ppn", "2"]
    before = here.sent("n1", "hsn0")
    fallen = dataclasses.replace(command, argv=tuple(words))
    outcome = measured(here, fallen, plan_for(("n1", "n2"), command.expect), tmp_path / "run")
    assert outcome.complete, outcome.ending
    assert [host.hostname for host in outcome.run.hosts] == ["n1", "n1"]
    assert here.sent("n1", "hsn0") - before < MIB < payload_of(outcome)


@pytest.mark.parametrize(
    ("mpi", "starter"),
    ways_of(
        "debian-mpich scheduler", "debian-mpich mpi", "intel scheduler", "openmpi mpi", "mpich mpi"
    ),
)
def test_a_batch_job_measures_by_itself(
    here: Cluster, mpi: str, starter: Starter, tmp_path: Path
) -> None:
    """sbatch runs our script on the first node; what the engine writes is in the job's output
    file.
    """
    hosts = ("n1", "n2")
    request = request_for(mpi, Allocation(scheduler="slurm", job="", hosts=hosts), hosts)
    plan = tmp_path / "plan.txt"
    request = dataclasses.replace(
        request, program=(str(request.engine.path), "run", "--plan", str(plan))
    )
    way, _ = slurm_options(request, find_slurm(here.through), wanted=starter)[0]
    command = slurm(way)
    plan.write_text(write_plan(plan_for(hosts, command.expect)), encoding="utf-8")
    words = [
        "env",
        *(f"{name}={value}" for name, value in command.environment.items()),
        *command.argv,
    ]
    script = tmp_path / "job.sh"
    script.write_text(
        batch_script(words, JobRequest(hosts=hosts, limit_s=60, name="probe")), encoding="utf-8"
    )
    before = here.sent("n1", "hsn0")
    text = (tmp_path / f"probe-{here.batch(script)}.out").read_bytes()
    if b"Segmentation fault" in text:  # an MPI library may crash as it starts: a check repeats that
        text = (tmp_path / f"probe-{here.batch(script)}.out").read_bytes()
    frames = [frame for _, frame in FrameReader().feed(text)]
    assert [one.hostname for one in frames if isinstance(one, Host)] == list(hosts), text.decode()[
        -2000:
    ]
    points = [one for one in frames if isinstance(one, PointRecord)]
    assert len(points) == 2
    payload = sum(pair.payload_forward_bytes for point in points for pair in point.pairs)
    assert here.sent("n1", "hsn0") - before > payload > MIB


def test_inside_a_batch_job_the_allocation_is_known(here: Cluster, tmp_path: Path) -> None:
    script = tmp_path / "job.sh"
    script.write_text(batch_script(["env"], JobRequest(nodes=3, name="probe")), encoding="utf-8")
    printed = (tmp_path / f"probe-{here.batch(script)}.out").read_text(encoding="utf-8")
    environment = dict(line.split("=", 1) for line in printed.splitlines() if "=" in line)
    found = current(
        {name: value for name, value in environment.items() if name.startswith("SLURM_")}
    )
    assert found is not None
    holds(found, scheduler="slurm", hosts=("n1", "n2", "n3"), partition="normal")


def at_a_point(thread: threading.Thread) -> Callable[[Frame], None]:
    """A frame listener that starts ``thread`` when the first point is sealed."""

    def listen(frame: Frame) -> None:
        if isinstance(frame, PointRecord) and thread.ident is None:
            thread.start()

    return listen


@pytest.mark.slow
@pytest.mark.parametrize("starter", STARTERS)
def test_what_was_measured_before_the_jobs_limit_is_kept(
    here: Cluster, job: Allocation, starter: Starter, tmp_path: Path
) -> None:
    """Slurm looks at limits every 30 s; the job's is moved to a second after the first point."""
    hosts = ("n1", "n2")
    points = [
        Point(id=number, pattern="pingpong", message_bytes=8, pairs=((0, 1),), budget_ms=500)
        for number in range(3000)
    ]
    request = request_for("mpich", job, hosts)
    plan = plan_for(hosts, request.engine.expect, points)
    ender = threading.Thread(target=end_job_in, args=(here.slurm, job.job, 1))
    more = {"plan": plan, "deadline_s": 90, "on_frame": at_a_point(ender)}
    outcome = run(here, job, request, tmp_path / "run", starter, **more)
    if ender.ident is not None:
        ender.join()
    assert 0 < len(outcome.run.points) < 3000
    assert len(outcome.run.points) + len(outcome.run.missing) == 3000
    assert job_ended(job.job, here.through).startswith(f"job {job.job} was ended at its time limit")


def test_a_rank_killed_by_slurm_ends_the_step_and_nothing_runs_on(
    here: Cluster, job: Allocation, tmp_path: Path
) -> None:
    points = [
        Point(id=n, pattern="pingpong", message_bytes=8, pairs=((0, 1),), budget_ms=500)
        for n in range(900)
    ]
    # a core file of the survivor goes there
    request = request_for("mpich", job, ("n1", "n2"), folder=str(tmp_path))
    ender = threading.Thread(
        target=here.slurm.run, args=(["pkill", "-KILL", "-f", "wireproof-engine"], "n2")
    )
    begin = time.monotonic()
    plan = plan_for(("n1", "n2"), "", points)
    outcome = run(here, job, request, tmp_path / "run", plan=plan, on_frame=at_a_point(ender))
    if ender.ident is not None:
        ender.join()
    assert time.monotonic() - begin < 200, "the points alone would take 450 s"
    assert 0 < len(outcome.run.points) < 900
    steps = here.slurm.run(["squeue", "--steps", "--noheader", "--format=%i %j"]).stdout
    assert "wireproof" not in steps
