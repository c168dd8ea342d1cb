"""``measure`` against a fake engine: every way in which an engine can end, and what is kept of
it.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.contract.drive import CLAIM, command, plan
from tests.contract.processes import marked, none_left
from tests.processes import ran

from wireproof import instrument
from wireproof.instrument import Outcome, Recording, measure
from wireproof.launch.command import provenance
from wireproof.model.errors import BadInput, CouldNotMeasure
from wireproof.model.plan import Plan, Policy
from wireproof.model.record import Close, EngineError, Frame, Open, PointRecord, Start
from wireproof.model.run import Missing
from wireproof.store.load import load_document, load_run

pytestmark = pytest.mark.engine
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def mark() -> Iterator[str]:
    """A mark for the processes of one test; whatever the test found, none of them may live after
    it.
    """
    name = f"contract-{uuid.uuid4()}"
    yield name
    left = [] if none_left(name) else marked(name)
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert not left


def run(
    kind: str, out: Path, mark: str = "", the_plan: Plan | None = None, **options: object
) -> Outcome:
    started = command(kind, mark)
    return measure(
        the_plan or plan(),
        started,
        claim=CLAIM,
        provenance=provenance(started, None),
        recording=Recording(out=out, **options),  # type: ignore[arg-type]
    )


def ids(outcome: Outcome) -> list[int]:
    return [point.id for point in outcome.run.points]


def test_what_is_observed_beside_the_engine_is_kept_with_its_frames(
    tmp_path: Path, mark: str
) -> None:
    late = EngineError(code="wire-late", message="the lab's wire fell behind")
    outcome = run("healthy", tmp_path / "out", mark, observed=lambda: (late,))
    assert outcome.complete
    assert outcome.run.errors == [late]
    assert load_run(tmp_path / "out") == outcome.run


def test_a_healthy_run_is_whole_and_reads_back_the_same(tmp_path: Path, mark: str) -> None:
    seen: list[Frame] = []
    outcome = run("healthy", tmp_path / "out", mark, on_frame=seen.append)
    assert (outcome.complete, outcome.exit_status, ids(outcome)) == (True, 0, [0, 1, 2, 3])
    assert outcome.run.missing == {}
    assert [
        type(frame) for frame in seen if isinstance(frame, Open | Start | PointRecord | Close)
    ] == [Open, *([Start, PointRecord] * 4), Close]
    assert load_run(tmp_path / "out") == outcome.run
    assert (tmp_path / "out" / "plan.txt").read_text().startswith("wireproof-plan 1\n")


def test_steps_are_taken_while_the_ranks_start_and_none_once_they_are_there(
    tmp_path: Path, mark: str
) -> None:
    taken: list[object] = []

    def first() -> None:
        taken.append(signal.pthread_sigmask(signal.SIG_BLOCK, ()) & {signal.SIGINT, signal.SIGTERM})
        none_left(mark)  # all of its frames are there
        raise ImportError("needed later, and named there")

    steps = [first, lambda: taken.append("second")]
    outcome = run("healthy", tmp_path / "out", mark, meanwhile=steps)
    assert outcome.complete
    assert taken == [{signal.SIGINT, signal.SIGTERM}]
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())


@pytest.mark.parametrize("kind", ["crash:2", "torn:2"])
def test_a_crash_loses_only_the_point_under_way(tmp_path: Path, mark: str, kind: str) -> None:
    outcome = run(kind, tmp_path / "out", mark)
    assert outcome.ending.ended == "rank-lost"
    assert "SIGKILL at point 2 (pingpong, 4 B)" in outcome.ending.reason
    assert ids(outcome) == [0, 1]
    assert outcome.run.missing[2].text == outcome.ending.reason
    assert str(outcome.run.missing[3]).startswith("not reached: ")
    assert load_run(tmp_path / "out") == outcome.run


def test_a_hang_ends_at_the_points_deadline(
    tmp_path: Path, mark: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(instrument, "SLACK_SECONDS", 0.2)
    outcome = run("hang:1", tmp_path / "out", mark, plan(policy=Policy(point_deadline_ms=300)))
    assert (outcome.ending.ended, outcome.ending.culprit, ids(outcome)) == ("deadline", 1, [0])
    assert "at point 1 (pingpong, 2 B)" in outcome.ending.reason


def test_a_launcher_that_never_starts_anything_is_given_up(
    tmp_path: Path, mark: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(instrument, "START_SECONDS", 0.5)
    outcome = run("start-hang", tmp_path / "out", mark)
    assert outcome.ending.ended == "not-started"
    assert "no frame came within" in outcome.ending.reason


def test_the_runs_own_deadline_counts(tmp_path: Path, mark: str) -> None:
    outcome = run("slow", tmp_path / "out", mark, plan(50), deadline_s=1.0)
    assert outcome.ending.ended == "deadline"
    assert "the run's deadline of 1 s passed" in outcome.ending.reason
    assert 0 < len(ids(outcome)) < 50


@pytest.mark.parametrize("kind", ["unknown:2", "garbage:2"])
def test_a_frame_that_is_none_ends_the_run_and_is_not_stored(
    tmp_path: Path, mark: str, kind: str
) -> None:
    outcome = run(kind, tmp_path / "out", mark)
    assert (outcome.ending.ended, ids(outcome)) == ("bad-frame", [0, 1])
    assert load_run(tmp_path / "out") == outcome.run


def test_foreign_lines_are_talk(tmp_path: Path, mark: str) -> None:
    outcome = run("talk", tmp_path / "out", mark)
    assert outcome.complete
    assert b"foreign line" in (tmp_path / "out" / "engine.log").read_bytes()
    assert b"foreign" not in (tmp_path / "out" / "frames.jsonl").read_bytes()


def test_an_engine_that_cannot_start_is_quoted(tmp_path: Path, mark: str) -> None:
    outcome = run("silent", tmp_path / "out", mark)
    assert outcome.ending.ended == "not-started"
    assert outcome.ending.reason == (
        "the engine did not start (exit status 127): cannot open libmpi.so.12: no such file"
    )
    assert set(outcome.run.missing) == {0, 1, 2, 3}


def test_the_wrong_library_is_a_mismatch(tmp_path: Path, mark: str) -> None:
    outcome = run("mismatch", tmp_path / "out", mark)
    assert outcome.ending.ended == "mismatch"
    assert "asked for Intel(R) MPI, and MPICH 5.0.2 answered" in outcome.ending.reason


def test_a_point_that_failed_is_missing_with_the_engines_reason(tmp_path: Path, mark: str) -> None:
    outcome = run("failed:1", tmp_path / "out", mark)
    assert (outcome.ending.ended, ids(outcome)) == ("failed", [0, 2, 3])
    assert outcome.run.missing == {1: Missing("failed", "connection reset by peer")}


def test_an_engine_that_leaves_a_point_out_and_says_all_is_well_is_not_believed(
    tmp_path: Path, mark: str
) -> None:
    outcome = run("skip:3", tmp_path / "out", mark)
    assert not outcome.complete
    assert outcome.run.missing == {3: Missing("no-result", "the engine sent no result for it")}


def test_daemons_of_the_job_are_ended_with_it(tmp_path: Path, mark: str) -> None:
    assert run("children", tmp_path / "out", mark).complete
    assert none_left(mark)


def test_a_program_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(CouldNotMeasure, match="cannot be started"):
        run("healthy", tmp_path / "out", guard=tmp_path / "no-such-guard")


def test_an_error_in_the_callers_own_callback_leaves_no_process(tmp_path: Path, mark: str) -> None:
    def broken(frame: Frame) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run("hang:2", tmp_path / "out", mark, on_frame=broken)
    assert none_left(mark)


def test_a_folder_in_use_starts_nothing(tmp_path: Path, mark: str) -> None:
    (tmp_path / "mine").write_text("precious")
    with pytest.raises(BadInput, match="not empty"):
        run("hang", tmp_path, mark)
    assert [it.name for it in tmp_path.iterdir()] == ["mine"]


def test_a_broken_off_run_is_resumed_where_it_ended(tmp_path: Path, mark: str) -> None:
    out = tmp_path / "out"
    assert ids(run("torn:2", out, mark)) == [0, 1]
    seen: list[Frame] = []
    outcome = run("healthy", out, mark, resume=True, on_frame=seen.append)
    assert outcome.complete
    assert [it.id for it in seen if isinstance(it, PointRecord)] == [2, 3]
    assert ids(outcome) == [0, 1, 2, 3]
    assert load_run(out) == outcome.run
    again = run("hang", out, mark, resume=True)
    assert again.complete
    assert ids(again) == [0, 1, 2, 3]


def test_another_plan_is_not_resumed(tmp_path: Path, mark: str) -> None:
    run("torn:2", tmp_path / "out", mark)
    with pytest.raises(BadInput, match="another plan"):
        run("healthy", tmp_path / "out", mark, plan(9), resume=True)


def drive(out: Path, mark: str, *words: str, kind: str = "slow") -> subprocess.Popen[str]:
    around = {
        **os.environ,
        "FAKE_ENGINE": kind,
        "FAKE_MARK": mark,
        "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}",
    }
    argv = [sys.executable, "-m", "tests.contract.drive", str(out), *words]
    return subprocess.Popen(argv, env=around, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def wait_for_point(driver: subprocess.Popen[str], number: int) -> None:
    for text in driver.stdout:
        if text == f"point {number}\n":
            return
    pytest.fail("the driver ended early")


@pytest.mark.parametrize("presses", [1, 3])
def test_ctrl_c_ends_the_tree_and_keeps_what_was_sealed(
    tmp_path: Path, mark: str, presses: int
) -> None:
    with drive(tmp_path / "out", mark, "100") as driver:
        wait_for_point(driver, 2)
        for _ in range(presses):
            driver.send_signal(signal.SIGINT)
            time.sleep(0.02)
        told, _ = driver.communicate(timeout=30)
    outcome = json.loads(told.splitlines()[-1])
    assert outcome["ended"] == "interrupted"
    # A further press may meet the test's own driver when it has told all and is about to end.
    assert driver.returncode in ((0,) if presses == 1 else (0, -signal.SIGINT))
    assert none_left(mark)
    assert len(load_run(tmp_path / "out").points) == outcome["points"] >= 3
    assert load_document(tmp_path / "out").ended == "interrupted"


def test_killing_the_recorder_leaves_no_process_and_readable_points(
    tmp_path: Path, mark: str
) -> None:
    with drive(tmp_path / "out", mark, "100") as driver:
        wait_for_point(driver, 2)
        driver.kill()
        driver.communicate(timeout=30)
    assert none_left(mark)
    assert load_document(tmp_path / "out").ended == "running"
    kept = load_run(tmp_path / "out")
    assert len(kept.points) >= 3
    assert len(kept.points) + len(kept.missing) == 100
    assert set(kept.missing.values()) == {
        Missing("cut-short", "the recording was cut off before it contained a reason")
    }


def check_full(out: Path, told: str) -> None:
    outcome = json.loads(told.splitlines()[-1])
    assert outcome["ended"] == "disk-full"
    assert f"no space is left for the records in {out}" in outcome["reason"]
    document, kept = load_document(out), load_run(out)
    assert document.ended == "disk-full"
    assert 0 < len(kept.points) == outcome["points"] < 2000
    assert (out / "frames.jsonl").read_bytes().endswith(b"}\n")


def test_a_limit_on_file_size_ends_the_run_with_its_points_kept(tmp_path: Path, mark: str) -> None:
    with drive(tmp_path / "out", mark, "1000", "500000", kind="healthy") as driver:
        told, _ = driver.communicate(timeout=60)
    check_full(tmp_path / "out", told)


@pytest.mark.root
def test_a_full_disk_ends_the_run_with_its_points_kept(tmp_path: Path, mark: str) -> None:
    if shutil.which("unshare") is None:
        pytest.skip("root: unshare is not on PATH")
    folder = tmp_path / "small"
    folder.mkdir()
    # The tmpfs lives in a mount namespace of its own and is gone with it; its files are copied out
    # at the end.
    script = (
        'mount -t tmpfs -o size=2500k none "$1" && "$2" -m tests.contract.drive "$1/out" 1500;'
        ' s=$?; cp -r "$1/out" "$3"; exit $s'
    )
    around = {
        **os.environ,
        "FAKE_ENGINE": "healthy",
        "FAKE_MARK": mark,
        "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}",
    }
    argv = [
        *("unshare", "--mount", "sh", "-c", script, "sh", str(folder), sys.executable),
        str(tmp_path / "copy"),
    ]
    done = ran(argv, env=around, cwd=ROOT, timeout=60)
    assert done.returncode == 0, done.stderr
    outcome = json.loads(done.stdout.splitlines()[-1])
    assert outcome["ended"] == "disk-full"
    assert load_document(tmp_path / "copy").ended == "disk-full"
    assert len(load_run(tmp_path / "copy").points) == outcome["points"] > 0
