"""``wireproof gate`` as its callers start it: bounded in time, and what it writes is whole."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families
from tests.cli.verb import one_sentence, wireproof
from tests.gate_results import many_nodes, stored
from tests.processes import ran

from wireproof.report.gate import DIALECTS
from wireproof.store.result import RESULT

SLEEPER = """
import stat, sys, time
import mfusepy

class Files(mfusepy.Operations):
    use_ns = True

    def getattr(self, path, fh=None):
        is_file = path.endswith(".json")
        kind = stat.S_IFREG if is_file else stat.S_IFDIR
        return {"st_mode": kind | 0o755, "st_nlink": 1, "st_size": 100}

    def readdir(self, path, fh):
        return [".", "..", "a"]

    def open(self, path, flags):
        return 3

    def read(self, path, size, offset, fh):
        time.sleep(20)
        return b"{"

mfusepy.FUSE(Files(), sys.argv[1], foreground=True)
"""


@pytest.fixture
def hung(tmp_path: Path) -> Iterator[Path]:
    """A file system that answers everything but a read."""
    place = tmp_path / "hung"
    place.mkdir()
    server = subprocess.Popen(
        [sys.executable, "-c", SLEEPER, place], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    until = time.monotonic() + 20
    while not os.path.ismount(place) and time.monotonic() < until:
        time.sleep(0.05)
    yield place
    server.kill()
    server.wait()
    subprocess.run(["umount", "-l", place], check=False, capture_output=True)


@pytest.mark.fuse
@pytest.mark.root
def test_the_answer_comes_in_time_where_a_read_cannot_even_be_killed(hung: Path) -> None:
    """Two at once: the second waits in the kernel for the page that the first one reads."""
    began = time.monotonic()
    words = ["gate", hung, "--node", "n1", "--dialect", "nagios", "--within", "1s"]
    argv = [sys.executable, "-m", "wireproof", *words]
    both = [subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    said = [one.communicate(timeout=15)[0] for one in both]
    assert time.monotonic() - began < 10
    assert [one.returncode for one in both] == [3, 3]
    assert all("could not be read within 1 s" in one for one in said)


@pytest.mark.parametrize("name", DIALECTS)
def test_without_path_home_and_current_folder(tmp_path: Path, name: str) -> None:
    """As slurmd starts it."""
    here = tmp_path / "here"
    here.mkdir()
    stored(tmp_path / "r")
    words = [sys.executable, "-m", "wireproof", "gate", str(tmp_path / "r"), "--dialect", name]
    lost = "import os, sys; os.rmdir(os.getcwd()); os.execv(sys.argv[1], sys.argv[1:])"
    done = ran(
        [sys.executable, "-c", lost, *words],
        cwd=here,
        env={name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ},
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout


def test_ten_thousand_nodes_and_one_that_is_asked_for(tmp_path: Path) -> None:
    many_nodes(tmp_path / "r", 10_000)
    done = wireproof("gate", tmp_path / "r", "--node", "n[1-9999]")
    assert done.returncode == 0
    assert "n[1-9999]" in done.stdout


# --- a file for a collector


def verdicts(page: Path) -> dict[str, float]:
    families = {one.name: one for one in text_string_to_metric_families(page.read_text())}
    return {one.labels["verdict"]: one.value for one in families["wireproof_verdict"].samples}


def written(source: Path, page: Path) -> subprocess.CompletedProcess[str]:
    return wireproof("gate", source, "--dialect", "openmetrics", "--out", page)


def test_the_file_is_readable_by_the_collector_and_nothing_is_left_beside_it(
    tmp_path: Path,
) -> None:
    stored(tmp_path / "r")
    page = tmp_path / "t" / "wireproof.prom"
    page.parent.mkdir()
    assert written(tmp_path / "r", page).returncode == 0
    assert (page.stat().st_mode & 0o777, os.listdir(page.parent)) == (0o644, [page.name])
    assert verdicts(page)["pass"] == 1


def test_two_gates_that_write_one_file_leave_a_whole_one(tmp_path: Path) -> None:
    from wireproof.files.hostile import replace_file

    page = tmp_path / "page"
    texts = [bytes([65 + number]) * 50_000 for number in range(4)]
    errors: list[BaseException] = []
    seen: set[int] = set()

    def write(text: bytes) -> None:
        try:
            for _ in range(20):
                replace_file(page, text)
                data = page.read_bytes()
                seen.add(len(data) if len(set(data)) == 1 else -1)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=write, args=(text,)) for text in texts]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert not errors
    assert seen == {50_000}
    assert os.listdir(tmp_path) == ["page"]


@pytest.mark.root
def test_a_full_disk_leaves_no_old_verdict(tmp_path: Path) -> None:
    stored(tmp_path / "r")
    disk = tmp_path / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", disk], check=True)
    try:
        page = disk / "wireproof.prom"
        assert written(tmp_path / "r", page).returncode == 0
        (disk / "filler").write_bytes(b"x" * 12288)
        done = written(tmp_path / "r", page)
        assert done.returncode == 4
        assert "No space left on device; the old verdict in it is removed" in one_sentence(done)
        assert os.listdir(disk) == ["filler"]
    finally:
        subprocess.run(["umount", disk], check=True)


def test_a_file_that_cannot_be_is_told(tmp_path: Path) -> None:
    stored(tmp_path / "r")
    done = written(tmp_path / "r", tmp_path / "nowhere" / "x.prom")
    assert done.returncode == 4
    assert "cannot be written: No such file or directory" in one_sentence(done)
    os.mkfifo(tmp_path / "pipe")
    done = written(tmp_path / "r", tmp_path / "pipe")
    assert done.returncode == 4
    assert "it is a named pipe and not a file" in one_sentence(done)
    assert (tmp_path / "pipe").is_fifo()


def test_bad_usage_is_undecided_for_a_monitor_and_in_its_file(tmp_path: Path) -> None:
    stored(tmp_path / "r")
    page = tmp_path / "wireproof.prom"
    assert written(tmp_path / "r", page).returncode == 0
    done = wireproof("gate", tmp_path / "r", "--dialect", "nagios", "--node", "n[1-")
    assert (done.returncode, done.stdout.startswith("WIREPROOF UNKNOWN - ")) == (3, True)
    again = ["--dialect", "openmetrics", "--out", page, "--max-age", "soon"]
    assert wireproof("gate", tmp_path / "r", *again).returncode == 0
    assert verdicts(page)["inconclusive"] == 1
    assert wireproof("gate", tmp_path / "r", "--node", "n[1-").returncode == 2


def test_a_verdict_that_nobody_could_read_is_no_pass(tmp_path: Path) -> None:
    stored(tmp_path / "r")
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "wireproof", "gate", tmp_path / "r"],
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
            timeout=60,
        )
    assert done.returncode == 4
    assert (tmp_path / "r" / RESULT).exists()
