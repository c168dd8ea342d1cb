"""The process that reverts at the deadline: what it outlives, and what it holds."""

import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.processes import ran
from tests.tune.conftest import Build
from tests.tune.hostile import Hostile
from tests.tune.node import change, request, snapshot, timers, wait_until

pytestmark = pytest.mark.engine

A = "proc/sys/vm/swappiness"
LINE = change(f"/{A}", 10)
BOOTTIME = 7  # CLOCK_BOOTTIME: setting the date does not move it, and it counts while asleep


def _timer(root: Path) -> int:
    (pid,) = timers(root)
    return pid


def test_it_holds_nothing_of_its_caller(machine: Build, tmp_path: Path) -> None:
    host = machine({A: "60\n"})
    extra = os.open(tmp_path, os.O_RDONLY)
    done = subprocess.run(
        host.argv("apply"),
        input=request(LINE).encode(),
        capture_output=True,  # the pipes are read to their ends: nothing keeps them open
        check=True,
        pass_fds=[extra],
    )
    os.close(extra)
    assert done.returncode == 0
    pid = _timer(host.root)
    held = {os.readlink(path) for path in Path(f"/proc/{pid}/fd").iterdir()}
    assert held == {"/dev/null", "anon_inode:[timerfd]"}
    clocks = [
        line.split()[1]
        for path in Path(f"/proc/{pid}/fdinfo").iterdir()
        for line in path.read_text(encoding="utf-8").splitlines()
        if line.startswith("clockid:")
    ]
    assert clocks == [str(BOOTTIME)]
    assert os.getsid(pid) not in (os.getsid(0), pid), "its own session, and not its leader"
    assert os.readlink(f"/proc/{pid}/cwd") == "/"


def test_it_outlives_the_session_and_its_hangup(machine: Build) -> None:
    host = machine({A: "60\n"})
    program = subprocess.Popen(
        host.argv("apply"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    program.communicate(request(LINE, timeout_s=1))
    pid = _timer(host.root)
    os.kill(pid, signal.SIGHUP)
    wait_until(lambda: host.run("status").set["state"] == "reverted")
    assert host.text(A) == "60\n"
    wait_until(lambda: not timers(host.root))


@pytest.mark.fuse
@pytest.mark.root
@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGTERM])
def test_an_apply_that_ends_half_way_is_taken_back(
    ending: signal.Signals, hostile: Callable[..., Hostile]
) -> None:
    slow = "proc/sys/vm/slow"
    host = hostile({A: {"text": "60\n"}, slow: {"text": "1\n", "on": ["hang"]}})
    before = snapshot(host.root)
    with subprocess.Popen(
        host.argv("apply"), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
    ) as program:
        lines = (LINE, change(f"/{slow}", 2))
        program.stdin.write(request(*lines, timeout_s=1).encode())
        program.stdin.close()
        wait_until(lambda: host.text(A) == "10\n")
        program.send_signal(ending)
        host.order(release=True)
        program.wait(60)
    wait_until(lambda: host.run("status").set["state"] == "reverted")
    assert snapshot(host.root) == before


def test_a_reader_that_goes_away_ends_nothing(machine: Build) -> None:
    """As when the connection breaks: what was begun goes on, and the timer has the last word."""
    host = machine({A: "60\n"})
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run(
            host.argv("apply"), input=request(LINE).encode(), stdout=writer, check=False
        )
    finally:
        os.close(writer)
    assert done.returncode == 0
    assert host.run("status").set["state"] == "armed"
    assert host.text(A) == "10\n"


def test_a_guard_would_end_it(machine: Build) -> None:
    host = machine({A: "60\n"})
    guard = [host.argv("apply")[0], "guard", "--", *host.argv("apply")]
    done = ran(guard, input=request(LINE))
    assert (done.returncode, done.stdout) == (4, "")
    assert "cannot run under wireproof-node guard" in done.stderr
    assert host.text(A) == "60\n"


@pytest.fixture
def group() -> Iterator[Path]:
    """A control group of our own, as a batch system makes one for a job."""
    parents = (Path("/sys/fs/cgroup/freezer"), Path("/sys/fs/cgroup"))
    parent = next((one for one in parents if (one / "cgroup.procs").exists()), None)
    if parent is None:
        pytest.skip("no control groups are mounted at /sys/fs/cgroup")
    folder = parent / f"wireproof-test-{os.getpid()}"
    try:
        folder.mkdir()
    except OSError as error:
        pytest.skip(f"no control group can be made here: {error}")
    yield folder
    wait_until(lambda: not (folder / "cgroup.procs").read_text(encoding="utf-8"))
    folder.rmdir()


@pytest.mark.root
def test_it_leaves_the_groups_of_a_job(machine: Build, group: Path) -> None:
    host = machine({A: "60\n"})
    procs = group / "cgroup.procs"
    done = subprocess.run(
        ["sh", "-c", 'echo $$ > "$0" && exec "$@"', str(procs), *host.argv("apply")],
        input=request(LINE),
        capture_output=True,
        text=True,
        check=True,
    )
    assert '"timer":"alive"' in done.stdout
    assert _timer(host.root)
    assert procs.read_text(encoding="utf-8") == ""
