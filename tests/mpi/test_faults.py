"""What goes wrong while a real MPI runs: a killed rank, a stopped rank, a killed recorder,
Ctrl-C.
"""

import dataclasses
import os
import signal
import subprocess
import sys
import threading
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.contract.processes import marked, none_left
from tests.mpi.mpis import EVERY_MPI, QUICK, ROOT, TWO_QUICK_MPIS, install_of, run, sweep

from wireproof import instrument
from wireproof.instrument import Outcome
from wireproof.launch.command import prepare
from wireproof.launch.registry import LaunchCommand
from wireproof.model.plan import Policy
from wireproof.model.record import Frame, Host, PointRecord
from wireproof.store.load import load_run

LONG = 60


@pytest.fixture
def mark() -> Iterator[str]:
    """A mark for the processes of one test; whatever the test found, none of them may live after
    it.
    """
    name = f"faults-{uuid.uuid4()}"
    yield name
    left = [] if none_left(name) else marked(name)
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert not left


def command_of(name: str, mark: str) -> LaunchCommand:
    command = prepare("mpi", install_of(name), ranks=2)
    return dataclasses.replace(
        command, environment={**command.environment, "WIREPROOF_TEST_MARK": mark}
    )


def after_points(count: int, act: Callable[[dict[int, int]], object]) -> Callable[[Frame], None]:
    """A frame listener that acts once, with the pids of the ranks, when ``count`` points are
    sealed.
    """
    pids: dict[int, int] = {}
    sealed: list[int] = []

    def listen(frame: Frame) -> None:
        if isinstance(frame, Host):
            pids[frame.rank] = frame.pid
        elif isinstance(frame, PointRecord):
            sealed.append(frame.id)
            if len(sealed) == count:
                act(pids)

    return listen


def faulted(
    name: str, act: Callable[[dict[int, int]], object], out: Path, mark: str, policy: Policy = QUICK
) -> Outcome:
    """A run of ``LONG`` points in which ``act`` is done after two, and what was sealed is kept."""
    listen = after_points(2, act)
    command = command_of(name, mark)
    outcome = run(name, sweep(LONG), out, command=command, on_frame=listen, policy=policy)
    assert 2 <= len(outcome.run.points) < LONG
    assert len(outcome.run.points) + len(outcome.run.missing) == LONG
    return outcome


@pytest.mark.parametrize("victim", [0, 1])
@pytest.mark.parametrize("name", EVERY_MPI)
def test_a_killed_rank_ends_the_run_and_keeps_the_sealed_points(
    name: str, victim: int, tmp_path: Path, mark: str
) -> None:
    outcome = faulted(
        name, lambda pids: os.kill(pids[victim], signal.SIGKILL), tmp_path / "run", mark
    )
    assert outcome.ending.ended == "rank-lost", outcome.ending
    assert "SIGKILL" in outcome.ending.reason
    assert set(outcome.ending.lost) <= {victim}  # nobody else is blamed
    assert load_run(outcome.folder) == outcome.run


@pytest.mark.parametrize("victim", [0, 1])
@pytest.mark.parametrize("name", TWO_QUICK_MPIS)
def test_a_rank_that_another_process_ended_names_it(
    name: str, victim: int, tmp_path: Path, mark: str
) -> None:
    def end(pids: dict[int, int]) -> None:
        subprocess.run(["kill", str(pids[victim])], check=True)

    outcome = faulted(name, end, tmp_path / "run", mark)
    assert (outcome.ending.ended, set(outcome.ending.lost)) == ("rank-lost", {victim})
    assert "SIGTERM of process" in outcome.ending.lost[victim]


@pytest.mark.parametrize("name", TWO_QUICK_MPIS)
def test_a_rank_that_hangs_ends_at_the_deadline(
    name: str, tmp_path: Path, mark: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(instrument, "SLACK_SECONDS", 2.0)
    policy = Policy(point_budget_ms=60, point_deadline_ms=6000, run_deadline_ms=90_000, yield_=1)
    outcome = faulted(
        name, lambda pids: os.kill(pids[1], signal.SIGSTOP), tmp_path / "run", mark, policy
    )
    assert outcome.ending.ended == "deadline", outcome.ending
    assert set(outcome.ending.lost) <= {1}


@pytest.mark.parametrize("victim", [0, 1])
@pytest.mark.mpi
def test_a_stopped_rank_is_named_long_before_the_deadline(
    victim: int, tmp_path: Path, mark: str
) -> None:
    policy = Policy(point_budget_ms=60, point_deadline_ms=600_000, run_deadline_ms=900_000)
    outcome = faulted(
        "mpich", lambda pids: os.kill(pids[victim], signal.SIGSTOP), tmp_path / "run", mark, policy
    )
    assert (outcome.ending.ended, set(outcome.ending.lost)) == ("rank-lost", {victim})


@pytest.mark.mpi
def test_ctrl_c_ends_every_rank_and_keeps_the_sealed_points(tmp_path: Path, mark: str) -> None:
    assert threading.current_thread() is threading.main_thread()
    outcome = faulted(
        "mpich", lambda _: os.kill(os.getpid(), signal.SIGINT), tmp_path / "run", mark
    )
    assert outcome.ending.ended == "interrupted"
    assert none_left(mark)


RECORDER = """
import dataclasses, sys
from pathlib import Path
from tests.mpi.mpis import run, sweep
from tests.mpi.test_faults import command_of
from wireproof.model.record import PointRecord
def tell(frame):
    if isinstance(frame, PointRecord):
        print("point", flush=True)
command = command_of(sys.argv[1], sys.argv[3])
run(sys.argv[1], sweep(60), Path(sys.argv[2]), command=command, on_frame=tell)
"""


@pytest.mark.parametrize("name", EVERY_MPI)
def test_a_killed_recorder_leaves_no_process_and_readable_points(
    name: str, tmp_path: Path, mark: str
) -> None:
    around = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"}
    argv = [sys.executable, "-c", RECORDER, name, str(tmp_path / "run"), mark]
    with subprocess.Popen(
        argv, env=around, cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as recorder:
        seen = [recorder.stdout.readline() for _ in range(2)]
        assert seen == ["point\n", "point\n"]
        assert marked(mark)
        recorder.kill()
        recorder.communicate(timeout=120)
    assert none_left(mark)
    kept = load_run(tmp_path / "run")
    assert len(kept.points) >= 2
    assert len(kept.points) + len(kept.missing) == LONG


def test_the_policy_of_these_tests_is_quick() -> None:
    assert QUICK.point_budget_ms * LONG < 10_000
