"""The guard of every launched job: nothing survives it, whoever dies first; streams and status are
the job's own.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.lab.conftest import Build, programs_in

# Sleeps longer than any test, and its process number in a file; the shell's own exec keeps the
# number.
DAEMON = "(trap '' TERM; setsid sh -c 'echo $$ > {0}.daemon; exec sleep 64' &) ; "
STUBBORN = "trap '' TERM INT HUP; echo $$ > {0}.job; echo ready; while :; do sleep 0.05; done"


@pytest.fixture
def guard(node_program: Path) -> Callable[..., subprocess.Popen[str]]:
    def start(*argv: str, options: tuple[str, ...] = (), **more: object) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [str(node_program), "guard", *options, "--", *argv],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **more,
        )  # type: ignore[call-overload, no-any-return]

    return start


Guard = Callable[..., "subprocess.Popen[str]"]


def pids(tmp_path: Path) -> list[int]:
    return [
        int(path.read_text(encoding="ascii"))
        for path in (tmp_path / "x.job", tmp_path / "x.daemon")
    ]


def living(numbers: list[int]) -> list[int]:
    found = []
    for pid in numbers:
        try:
            state = (
                Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
            )
        except (FileNotFoundError, ProcessLookupError):  # gone, or going while it is read
            continue
        found += [pid] if state not in "ZX" else []
    return found


def soon_none(numbers: list[int]) -> bool:
    end = time.monotonic() + 15
    while living(numbers) and time.monotonic() < end:
        time.sleep(0.02)
    return not living(numbers)


def stubborn_job(guard: Guard, tmp_path: Path, **more: object) -> subprocess.Popen[str]:
    """A job that ignores SIGTERM, with a daemon of its own session that does too."""
    script = (DAEMON + STUBBORN).format(tmp_path / "x")
    process = guard("sh", "-c", script, **more)
    assert process.stdout.readline() == "ready\n"
    while (
        not (tmp_path / "x.daemon").exists()
        or not (tmp_path / "x.daemon").read_text(encoding="ascii").strip()
    ):
        time.sleep(0.01)
    assert len(living(pids(tmp_path))) == 2
    return process


@pytest.mark.parametrize(
    ("argv", "status"),
    [
        (("true",), 0),
        (("sh", "-c", "exit 3"), 3),
        (("sh", "-c", "kill -9 $$"), 137),
        (("sh", "-c", "kill -SEGV $$"), 139),
        (("/nosuch/program",), 127),
        (("/etc/passwd",), 126),
    ],
)
def test_the_status_is_the_jobs(guard: Guard, argv: tuple[str, ...], status: int) -> None:
    process = guard(*argv)
    process.communicate(timeout=120)
    assert process.returncode == status


def test_streams_are_the_jobs(guard: Guard) -> None:
    process = guard("sh", "-c", "cat; echo bad >&2")
    assert process.communicate("given", timeout=120) == ("given", "bad\n")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--deadline-ms", "soon"), "--deadline-ms takes a number, not 'soon'"),
        (("--nosuch", "1"), "unknown option --nosuch"),
        (("--control-fd", "99"), "--control-fd: Bad file descriptor"),
    ],
)
def test_wrong_options(guard: Guard, options: tuple[str, ...], said: str) -> None:
    process = guard("true", options=options)
    assert said in process.communicate(timeout=120)[1]
    assert process.returncode == 125


def test_the_deadline_ends_even_a_stubborn_job(guard: Guard, tmp_path: Path) -> None:
    process = stubborn_job(guard, tmp_path, options=("--deadline-ms", "500"))
    _, talk = process.communicate(timeout=120)
    assert process.returncode == 124
    assert "the deadline of 500 ms has passed" in talk
    assert living(pids(tmp_path)) == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_the_whole_job(guard: Guard, tmp_path: Path, number: signal.Signals) -> None:
    process = stubborn_job(guard, tmp_path)
    process.send_signal(number)
    process.communicate(timeout=120)
    assert process.returncode == 128 + number
    assert living(pids(tmp_path)) == []


def test_the_closed_control_pipe_ends_the_job(guard: Guard, tmp_path: Path) -> None:
    reading, writing = os.pipe()
    process = stubborn_job(
        guard, tmp_path, options=("--control-fd", str(reading)), pass_fds=(reading,)
    )
    os.close(reading)
    os.close(writing)
    process.communicate(timeout=120)
    assert process.returncode == 143
    assert living(pids(tmp_path)) == []


def test_a_killed_parent_ends_the_job(node_program: Path, tmp_path: Path) -> None:
    script = (DAEMON + STUBBORN).format(tmp_path / "x")
    start = "import subprocess, sys; subprocess.Popen(sys.argv[1:]).wait()"
    parent = subprocess.Popen(
        [sys.executable, "-c", start, str(node_program), "guard", "--", "sh", "-c", script],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert parent.stdout.readline() == "ready\n"
    time.sleep(0.1)
    parent.kill()
    parent.wait()
    parent.stdout.close()
    assert soon_none(pids(tmp_path))


def test_a_thread_that_ends_is_no_parent_that_ends(node_program: Path) -> None:
    """The kernel's own parent-death signal would fire here: it watches the thread that forked."""
    import threading

    started: list[subprocess.Popen[str]] = []
    argv = [str(node_program), "guard", "--", "sh", "-c", "sleep 0.5; exit 6"]
    thread = threading.Thread(target=lambda: started.append(subprocess.Popen(argv, text=True)))
    thread.start()
    thread.join()
    assert started[0].wait(20) == 6


def test_what_a_finished_job_leaves_is_ended_too(guard: Guard, tmp_path: Path) -> None:
    process = guard(
        "sh",
        "-c",
        DAEMON.format(tmp_path / "x")
        + "while [ ! -s "
        + str(tmp_path / "x.daemon")
        + " ]; do sleep 0.01; done; exit 4",
    )
    process.communicate(timeout=120)
    assert process.returncode == 4
    assert living([int((tmp_path / "x.daemon").read_text(encoding="ascii"))]) == []


def test_a_stranger_is_not_touched(guard: Guard) -> None:
    stranger = subprocess.Popen(["sleep", "65"])
    try:
        process = guard("sh", "-c", "sleep 66 & exit 0")
        process.communicate(timeout=120)
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()


@pytest.mark.netns
def test_the_guard_reaches_into_lab_nodes(build: Build, guard: Guard, tmp_path: Path) -> None:
    """A daemon in a node is a child of that node's pid 1, out of reach of any subreaper outside."""
    lab = build(2)
    script = "(setsid sleep 67 &) ; echo ready; sleep 68"
    process = guard(*lab.exec_argv("n1", ["sh", "-c", script]))
    assert process.stdout.readline() == "ready\n"
    process.terminate()
    process.communicate(timeout=120)
    assert "sleep" not in programs_in(lab, "n1")


def test_the_closed_standard_input_ends_the_job_that_it_controls(guard: Guard) -> None:
    with guard("sh", "-c", "cat; echo read; sleep 60", options=("--control-stdin",)) as process:
        # the job's own input is empty, the control pipe is not
        assert process.stdout.readline() == "read\n"
        assert process.poll() is None
        process.stdin.close()
        assert process.wait(20) == 128 + signal.SIGTERM
