"""A bug, a closed or a full standard output: never the exit status of a FAIL, and no traceback."""

import json
import os
import resource
import signal
import stat
import subprocess
import sys
from pathlib import Path
from pkgutil import resolve_name

import click
import pytest
from tests.processes import ran

from wireproof.cli import console
from wireproof.cli.console import as_interrupt, run
from wireproof.report import reporter
from wireproof.report.reporter import BUG, is_bug, sentence

LOG = """# OSU MPI Latency Test v7.4
# Datatype: MPI_CHAR.
# Size       Avg Latency(us)
1                       1.90
2                       1.91
1024                    2.80
"""


def _run(*words: str, redirect: str = "", cwd: Path) -> subprocess.CompletedProcess[str]:
    """``wireproof WORDS`` by a shell that redirects, which is the only way to start a program with
    a closed stdout.
    """
    line = f'exec "$0" -m wireproof "$@" {redirect}'
    return ran(["/bin/sh", "-c", line, sys.executable, *words], cwd=cwd, timeout=120)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    (tmp_path / "osu.log").write_text(LOG, encoding="utf-8")
    return tmp_path / "osu.log"


@pytest.mark.parametrize("redirect", ["", ">&-", "2>&-", "2>/dev/full", "<&-", ">&- 2>&- <&-"])
def test_the_verdict_survives_closed_streams(log: Path, redirect: str) -> None:
    """A closed or full stream never makes a healthy link fail."""
    done = _run("judge", str(log), redirect=redirect, cwd=log.parent)
    assert done.returncode == 3
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "words", [("judge", "osu.log"), ("judge", "osu.log", "--json"), ("explain",), ("--help",)]
)
def test_a_result_that_cannot_be_written_is_said(log: Path, words: tuple[str, ...]) -> None:
    done = _run(*words, redirect=">/dev/full", cwd=log.parent)
    assert done.returncode == 4
    assert done.stderr.strip().splitlines() == [
        "wireproof: the result could not be written to standard output: No space left on device."
    ]


def test_a_reader_that_has_seen_enough_does_not_change_the_status(log: Path) -> None:
    for number in range(200):
        (log.parent / f"{number}.log").write_text(LOG, encoding="utf-8")
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-m", "wireproof", "judge", str(log.parent), "--all"],
        stdout=writing,
        stderr=subprocess.PIPE,
        text=True,
        timeout=120,
        check=False,
    )
    os.close(writing)
    # A machine with other work is slow enough for progress.
    rest = [line for line in done.stderr.splitlines() if "files judged" not in line]
    assert (done.returncode, rest) == (3, [])


def _group(error: BaseException) -> click.Group:
    @click.group()
    def group() -> None: ...

    @group.command()
    def verb() -> int:
        raise error

    return group


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (ZeroDivisionError("x"), 70),
        (KeyError("\x1b]0;x\x07"), 70),
        (MemoryError(), 4),
        (RecursionError(), 70),
        (OSError(5, "Input/output error"), 4),
        (OSError(9, "Bad file descriptor"), 70),
        (KeyboardInterrupt(), 130),
    ],
)
def test_an_error_of_our_own_has_a_status_of_its_own(
    error: BaseException,
    status: int,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An internal error of wireproof ends with status 70 and one sentence, never with the status of
    a failed check.
    """
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert run(_group(error), ["verb"]) == status
    said = capsys.readouterr().err
    assert said.strip().count("\n") == 0
    assert "\x1b" not in said
    assert "Traceback" not in said
    if status == BUG:
        assert type(error).__name__ in said
        (kept,) = tmp_path.glob("wireproof-error-*/traceback.txt")
        assert stat.S_IMODE(kept.stat().st_mode) == 0o600
        assert "Traceback" in kept.read_text()


def test_a_bug_names_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(KeyError) as caught:
        console.status_of("nonsense")  # type: ignore[arg-type]
    assert "KeyError at wireproof/cli/console.py:" in reporter.sentence(caught.value)


@pytest.mark.parametrize("more", [(), ("--json",), ("--jobs", "2")])
def test_a_bug_in_one_file_costs_no_other_file_its_verdict(
    log: Path,
    more: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """An error in a file does not affect the verdict on any other file."""
    from wireproof.cli import main
    from wireproof.logs import job as judging

    real = judging.judge_log

    def broken(series: object, *rest: object, **named: object) -> object:
        if "bad" in series[0].source:  # type: ignore[index]
            raise ZeroDivisionError
        return real(series, *rest, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(judging, "judge_log", broken)
    monkeypatch.setattr("tempfile.tempdir", str(log.parent))
    for number in range(40):
        (log.parent / f"{number}-{'bad' if number == 7 else 'good'}.log").write_text(
            LOG, encoding="utf-8"
        )
    log.unlink()
    assert main(["judge", str(log.parent), *more]) == BUG
    told = capsys.readouterr()
    assert told.err.count("an error of wireproof itself") == 1
    if more == ("--json",):
        document = json.loads(told.out)
        assert (len(document["series"]), len(document["errors"])) == (39, 1)
    else:
        assert "39 series in 40 files" in told.out


@pytest.mark.parametrize(
    ("words", "place", "status"),
    [
        (("judge",), "wireproof.logs.job:judge_bytes", 2),
        (("lint",), "wireproof.lint.job:Filter.findings", 2),
        (("report",), "wireproof.measure.report:report", 4),
        (("gate",), "wireproof.archive.gate:_answer", 3),
    ],
)
def test_a_lack_of_memory_is_no_error_of_ours(
    words: tuple[str, ...],
    place: str,
    status: int,
    log: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Under `ulimit -v`, which SECURITY.md recommends for files of strangers."""
    from wireproof.cli import main

    def full(*given: object, **named: object) -> object:
        raise MemoryError

    owner, _, name = place.rpartition("." if "." in place.partition(":")[2] else ":")
    monkeypatch.setattr(resolve_name(owner), name, full)
    assert main([*words, str(log)]) == status
    told = capsys.readouterr()
    assert "there is not enough memory" in told.out + told.err
    assert "an error of wireproof itself" not in told.out + told.err


@pytest.mark.parametrize(("megabytes", "status"), [(120, 4), (1000, 3)])
def test_a_small_address_space_is_no_fail(log: Path, megabytes: int, status: int) -> None:
    """OpenBLAS ended the process with status 1, and reserves memory for a thread per core."""
    code = (
        "import os, sys; from wireproof.cli import main; status = main(sys.argv[1:]);"
        " sys.stdout.write(os.environ.get('OPENBLAS_NUM_THREADS', 'unset')); sys.exit(status)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "judge", "--json", str(log)],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20,) * 2),
    )
    assert done.returncode == status, done.stderr
    assert ("ulimit -v" in done.stderr) == (status == 4)
    assert done.stdout.endswith("unset")


@pytest.mark.parametrize(
    "error",
    [
        ImportError("_duckdb.so: failed to map segment from shared object"),
        RuntimeError("can't start new thread"),
    ],
)
def test_a_library_or_thread_that_gets_no_memory_is_no_error_of_ours(error: Exception) -> None:
    assert not is_bug(error)
    assert "there is not enough memory" in sentence(error)
    assert is_bug(type(error)("something else"))


def test_a_process_that_is_killed_costs_one_file(
    log: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from wireproof.cli import main
    from wireproof.logs import job as judging

    real = judging.judge_log

    def killed(series: object, *rest: object, **named: object) -> object:
        if "bad" in series[0].source:  # type: ignore[index]
            os.kill(os.getpid(), signal.SIGKILL)
        return real(series, *rest, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(judging, "judge_log", killed)
    for number in range(70):
        (log.parent / f"{number:02}-{'bad' if number == 33 else 'good'}.log").write_text(
            LOG, encoding="utf-8"
        )
    log.unlink()
    assert main(["judge", str(log.parent), "--jobs", "2"]) == BUG
    told = capsys.readouterr()
    assert "69 series in 70 files" in told.out
    assert told.err.count("was killed") == 1


def test_folders_deeper_than_a_recursion_are_walked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from wireproof.cli import main

    here = os.open(tmp_path, os.O_DIRECTORY)
    for _ in range(1500):
        os.mkdir("d", dir_fd=here)
        here, above = os.open("d", os.O_DIRECTORY, dir_fd=here), here
        os.close(above)
    with os.fdopen(os.open("x.log", os.O_WRONLY | os.O_CREAT, 0o600, dir_fd=here), "w") as file:
        file.write(LOG)
    os.close(here)
    assert main(["judge", str(tmp_path)]) == 3
    assert "INCONCLUSIVE" in capsys.readouterr().out
    # pytest's own clean-up is a recursion
    subprocess.run(["rm", "-rf", str(tmp_path / "d")], check=True)


def test_a_bug_in_one_recipe_costs_no_other_its_findings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from wireproof.cli import main
    from wireproof.lint import job as linting

    real = linting.lint_text
    monkeypatch.setattr(
        linting,
        "lint_text",
        lambda text, name, kind: 1 / 0 if "bad" in name else real(text, name, kind),
    )
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    for name in ("bad.sh", "good.sh"):
        (tmp_path / name).write_text(
            "#!/bin/sh\nmpirun -np 2 IMB-MPI1 PingPong -msglog 4:2\n", encoding="utf-8"
        )
    assert main(["lint", str(tmp_path / "bad.sh"), str(tmp_path / "good.sh")]) == BUG
    told = capsys.readouterr()
    assert "an error of wireproof itself" in told.err
    assert "in 1 file; not read: 1 file" in told.out


STORED = Path(__file__).parents[1] / "store" / "data" / "run-folder-schema-1"


@pytest.mark.parametrize(
    ("words", "name", "done"),
    [
        (("history", "add", "h", STORED), "the current folder", "used"),
        (("report", STORED, "--out=p"), "p", "written"),
    ],
)
def test_a_current_folder_that_was_removed_is_no_error_of_ours(
    words: tuple[object, ...],
    name: str,
    done: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    from wireproof.cli import main

    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    assert main(list(map(str, words))) == 4
    said = capsys.readouterr().err
    assert said.endswith(f"{name} cannot be {done}: No such file or directory.\n")


def test_signals_are_heard_once_and_innermost() -> None:
    with as_interrupt() as outer:
        try:
            with as_interrupt() as inner:
                signal.raise_signal(signal.SIGTERM)
        except KeyboardInterrupt:
            assert inner == ["SIGTERM"]
            signal.raise_signal(signal.SIGTERM)  # passed over: one is enough
        assert outer == []
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL


def test_a_background_job_of_a_script_can_be_ended(tmp_path: Path) -> None:
    """There SIGINT is ignored from the start; SIGTERM must still work."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with pytest.raises(KeyboardInterrupt), as_interrupt():
            signal.raise_signal(signal.SIGTERM)
    finally:
        signal.signal(signal.SIGINT, before)
        # once one has come, further ones are ignored, children's too
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
