"""What is said while a job of our own waits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from wireproof.cli import job
from wireproof.launch.slurm_job import JobState
from wireproof.settings.resolve import resolve

OPTIONS: dict[str, Any] = {
    "nodes": 2, "job_nodelist": None, "job_partition": "", "job_time": None, "job_account": "", "job_qos": "",
    "job_exclude": None, "job_reservation": "", "job_constraint": "", "job_wait": None,
}  # fmt: skip


def pending(waited_s: float, reason: str = "Resources") -> JobState:
    return JobState(job="7", state="PENDING", reason=reason, waited_s=waited_s)


def test_an_unchanged_state_is_told_once_a_minute_and_a_change_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    tell = job._Teller()
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
    with pytest.raises(KeyboardInterrupt), job.job_place(resolve({}, {}), OPTIONS):
        pass
    assert "the job was cancelled" in capsys.readouterr().err
