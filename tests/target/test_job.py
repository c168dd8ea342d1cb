"""What is said while a job of our own waits."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from wireproof.cli.console import Console
from wireproof.launch.registry import Allocation
from wireproof.launch.schedulers import slurm_job
from wireproof.launch.schedulers.slurm_job import JobRequest, JobState
from wireproof.measure import specification as job
from wireproof.model.errors import BadInput
from wireproof.options.table import Options
from wireproof.target import Target
from wireproof.target.availability import Availability
from wireproof.target.resolve import fabric_for


def pending(waited_s: float, reason: str = "Resources") -> JobState:
    return JobState(job="7", state="PENDING", reason=reason, waited_s=waited_s)


def test_an_unchanged_state_is_told_once_a_minute_and_a_change_at_once(
    capsys: pytest.CaptureFixture[str],
) -> None:
    tell = job.state_teller(Console())
    for second in range(0, 3600, 3):
        tell(pending(second))
    assert len(capsys.readouterr().err.splitlines()) == 60
    tell(pending(3601, "Priority"))
    tell(pending(3602))
    tell(JobState(job="7", state="RUNNING", starts="2026-11-21T16:14:14", waited_s=3603))
    tell(JobState(job="7", state="RUNNING"))
    assert capsys.readouterr().err.splitlines() == [
        "wireproof: Slurm job 7: pending (Priority), 3601 s",
        "wireproof: Slurm job 7: pending (Resources), 3602 s",
        "wireproof: Slurm job 7: running",
    ]


def test_ctrl_c_in_the_queue_says_that_the_job_is_gone(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def allocate(_request: object, _tell: Callable[[JobState], None]) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(job, "allocate", allocate)
    with (
        pytest.raises(KeyboardInterrupt),
        job.job_target(Options(), JobRequest(nodes=2), Console()),
    ):
        pass
    assert "the job was cancelled" in capsys.readouterr().err


def test_a_resumed_check_asks_for_the_nodes_that_it_was_begun_on(tmp_path: Path) -> None:
    (tmp_path / "asked.json").write_text(
        '{"argv": ["check"], "seed": 1, "folder": "/", "hosts": ["c1", "c2", "c3"]}'
    )
    request = JobRequest(nodes=3)
    assert job._same_nodes(request, tmp_path, Console()).hosts == ("c1", "c2", "c3")
    assert job._same_nodes(request, None, Console()) == request
    assert job._same_nodes(request, tmp_path / "new", Console()) == request
    named = JobRequest(nodes=1, hosts=("c9",))
    assert job._same_nodes(named, tmp_path, Console()) == named


HERE = Target(
    hosts=("c1", "c2"),
    start_on=("c1", "c2"),
    allocation=Allocation(scheduler="slurm", job="7", hosts=("c1", "c2")),
)


@pytest.mark.parametrize(
    ("state", "gone"),
    [
        ("draining|bad cable", False),
        ("mixed|none", False),
        ("maint|none", False),
        ("reserved|none", False),
        ("down|dead", True),
        ("down*|Not responding", True),
        ("draining*|bad cable", True),
        ("mixed*|none", True),
    ],
)
def test_a_node_that_is_drained_while_we_have_it_is_still_measured(
    monkeypatch: pytest.MonkeyPatch, state: str, gone: bool
) -> None:
    text = f"c1|idle|none\nc2|{state}\n"
    monkeypatch.setattr(
        slurm_job, "_ask", lambda argv, _through=(): subprocess.CompletedProcess(argv, 0, text, "")
    )
    assert bool(Availability(Console()).absent(HERE, (0, 1))) is gone


def test_a_slurm_that_does_not_answer_closes_no_node(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    said = "slurm_load_partitions: Unable to contact slurm controller (connect failure)"
    monkeypatch.setattr(
        slurm_job, "_ask", lambda argv, _through=(): subprocess.CompletedProcess(argv, 1, "", said)
    )
    assert Availability(Console()).absent(HERE, (0, 1)) == {}
    assert "assumed to be usable" in capsys.readouterr().err


def test_a_topology_of_slurm_that_is_none_does_not_stop_a_check(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    text = "SwitchName=a Switches=b\nSwitchName=b Switches=a\n"
    monkeypatch.setattr(
        slurm_job, "_ask", lambda argv, _through=(): subprocess.CompletedProcess(argv, 0, text, "")
    )
    assert fabric_for(None, HERE, Console()) is None
    assert "continues without a topology" in capsys.readouterr().err
    (tmp_path / "topology.conf").write_text(text)
    with pytest.raises(BadInput):
        fabric_for(tmp_path / "topology.conf", HERE, Console())
