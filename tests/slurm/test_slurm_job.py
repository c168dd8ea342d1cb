"""Allocations from outside: asked for, waited for, refused, given back, in a real Slurm."""

import dataclasses
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.records import holds
from tests.slurm.labs import Cluster, drain, gone, undrain

from wireproof.launch.registry import Allocation
from wireproof.launch.schedulers.slurm_job import (
    JobRequest,
    JobState,
    allocate,
    allocated,
    batch_script,
    job_ended,
    node_states,
    release,
    topology_text,
)
from wireproof.model.errors import BadInput, CouldNotMeasure

pytestmark = [pytest.mark.slurm, pytest.mark.engine]
ROOT = Path(__file__).resolve().parents[2]
ALL_NODES = (
    *("sbatch", "--parsable", "--nodes=4", "--exclusive"),
    *("--output=/dev/null", "--wrap=sleep 60"),
)


def test_nodes_are_had_and_given_back(here: Cluster) -> None:
    with allocated(
        JobRequest(nodes=3, limit_s=90, partition="normal", through=here.through)
    ) as job:
        holds(job, scheduler="slurm", hosts=("n1", "n2", "n3"), partition="normal", owned=True)
        assert 60 < job.ends_unix_s - time.time() <= 125  # whole minutes: 90 s are two
        assert here.queue() == job.job
        assert job_ended(job.job, here.through) == ""
    assert gone(here)
    assert job_ended(job.job, here.through) == f"job {job.job} was cancelled."


def test_a_pending_job_is_told_with_its_reason_and_starts_when_it_can(here: Cluster) -> None:
    other = here.slurm.run(
        ["sbatch", "--nodes=4", "--exclusive", "--output=/dev/null", "--wrap=sleep 2"]
    )
    assert other.returncode == 0, other.stderr
    seen: list[JobState] = []
    with allocated(JobRequest(nodes=2, through=here.through, poll_s=0.3), seen.append) as job:
        assert len(job.hosts) == 2
    assert seen[0].state == "PENDING"
    assert {one.reason for one in seen} & {"Resources", "Priority"}
    assert seen[-1].state == "RUNNING"
    assert [one.waited_s for one in seen[:-1]] == sorted(one.waited_s for one in seen[:-1])


def test_the_wait_is_bounded_and_only_our_job_is_cancelled(here: Cluster) -> None:
    other = here.slurm.run(ALL_NODES)
    kept = other.stdout.strip()
    try:
        with pytest.raises(
            CouldNotMeasure, match=r"still pending after 1 s \(Slurm: (Resources|Priority|None)"
        ):
            allocate(JobRequest(nodes=2, through=here.through, poll_s=0.2, wait_s=1))
        assert here.queue() == kept
    finally:
        here.slurm.run(["scancel", kept])
    assert gone(here)


@pytest.mark.parametrize(
    ("request_", "kind", "words"),
    [
        (JobRequest(nodes=2, partition="nope"), BadInput, "Invalid partition name specified"),
        # Which of its two reasons Slurm gives depends on how much of it has started.
        (JobRequest(nodes=9), BadInput, "Partition(Config|NodeLimit)"),
        (JobRequest(nodes=2, partition="short", limit_s=3600), BadInput, "time"),
        (JobRequest(hosts=("n7", "n8")), BadInput, "Invalid node name"),
        (JobRequest(nodes=2, constraint="gpu"), BadInput, "Invalid feature"),
        (JobRequest(nodes=2, reservation="maint"), BadInput, "reservation is invalid"),
        (
            JobRequest(nodes=2, exclude=("n1", "n2", "n4")),
            BadInput,
            "node configuration is not available",
        ),
        (JobRequest(nodes=2, extra=("--no-such-option",)), BadInput, "unrecognized option"),
        (
            JobRequest(nodes=2, partition="closed", wait_s=0.5, poll_s=0.2),
            CouldNotMeasure,
            "PartitionDown",
        ),
    ],
)
def test_refusals(here: Cluster, request_: JobRequest, kind: type[Exception], words: str) -> None:
    with pytest.raises(kind, match=words) as caught:
        allocate(dataclasses.replace(request_, through=here.through))
    assert "\n" not in str(caught.value)
    assert gone(here)


def test_drained_nodes_are_named_with_their_reason(here: Cluster) -> None:
    drain(here.slurm, "n3", "bad cable")
    try:
        states = node_states(("n1", "n3", "n9"), here.through)
        assert [(one.name, one.usable, one.reason) for one in states.values()] == [
            ("n1", True, ""),
            ("n3", False, "bad cable"),
        ]
        with pytest.raises(CouldNotMeasure, match=r"n3 drained \(bad cable\)"):
            allocate(JobRequest(nodes=4, through=here.through, poll_s=0.2, wait_s=0.6))
        with allocated(JobRequest(nodes=3, through=here.through)) as job:
            assert job.hosts == ("n1", "n2", "n4")
    finally:
        undrain(here.slurm, "n3")
    assert gone(here)


def test_no_slurm_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, here: Cluster
) -> None:
    monkeypatch.delenv("SLURM_CONF")
    if not Path("/etc/slurm/slurm.conf").exists():
        with pytest.raises(CouldNotMeasure, match="does `sinfo` answer here") as caught:
            allocate(JobRequest(nodes=2, wait_s=5))
        assert "\n" not in str(caught.value)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(CouldNotMeasure, match="sinfo is not on PATH"):
        node_states(("n1",))
    assert topology_text() == ""


def test_topology_is_slurms_own_text(here: Cluster) -> None:
    text = topology_text(here.through)
    assert "SwitchName=leaf1 Level=0" in text
    assert "Switches=leaf1,leaf2" in text


CODE = """
import sys, time
from wireproof.launch.schedulers.slurm_job import JobRequest, allocated
def say(state):
    print(state.state, flush=True)
with allocated(JobRequest(nodes={nodes}, poll_s=0.2, through={through!r}), say):
    print("held", flush=True)
    time.sleep(600)
"""


def _wait_until_it_runs(here: Cluster, job: str) -> None:
    """Before that the nodes are free, and whoever asks next is not kept waiting."""
    for _ in range(300):
        if (
            "RUNNING"
            in here.slurm.run(["squeue", "--noheader", "--jobs", job, "--format=%T"]).stdout
        ):
            return
        time.sleep(0.1)
    raise AssertionError(f"job {job} did not start within 30 s")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize("pending", [False, True])
def test_however_we_end_the_job_ends(here: Cluster, number: signal.Signals, pending: bool) -> None:
    kept = ""
    if pending:
        kept = here.slurm.run(ALL_NODES).stdout.strip()
        _wait_until_it_runs(here, kept)
    code = CODE.format(nodes=2, through=here.through)
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    child = subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )
    try:
        wanted = "PENDING" if pending else "held"
        assert any(line.strip() == wanted for line in child.stdout)
        child.send_signal(number)
    finally:
        child.communicate(timeout=120)
    until = time.monotonic() + 15
    while here.queue() != kept and time.monotonic() < until:
        time.sleep(0.1)
    assert here.queue() == kept
    if kept:
        here.slurm.run(["scancel", kept])
        assert gone(here)


def test_release_of_a_job_that_is_not_ours_does_nothing(here: Cluster) -> None:
    other = here.slurm.run(
        ["sbatch", "--parsable", "--nodes=1", "--output=/dev/null", "--wrap=sleep 60"]
    ).stdout.strip()
    release(Allocation(scheduler="slurm", job=other, hosts=("n1",)))
    assert here.queue() == other
    here.slurm.run(["scancel", other])
    assert gone(here)


def test_the_script_for_sbatch_is_taken_by_sbatch(here: Cluster, tmp_path: Path) -> None:
    asked = JobRequest(nodes=2, partition="pair", limit_s=60, name="probe")
    script = tmp_path / "job.sh"
    script.write_text(
        batch_script(["srun", "--mpi=none", "sh", "-c", "hostname; echo 'a b'"], asked),
        encoding="ascii",
    )
    printed = (
        (tmp_path / f"probe-{here.batch(script)}.out").read_text(encoding="utf-8").splitlines()
    )
    assert sorted(printed) == ["a b", "a b", "n1", "n2"]
