"""What a user does with a lab: bring it up, measure in it, break it while it is measured, take it
down.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.verb import document, one_sentence, wireproof

pytestmark = [pytest.mark.netns, pytest.mark.mpi]

TOPOLOGY = """
nodes = 2

[[network]]
name = "hsn"
device = "hsn0"
rate = "1gbit"
subnet = "10.20.1.0/24"
"""


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[str]:
    name = f"cli-{os.getpid()}"
    (tmp_path / "two.toml").write_text(TOPOLOGY)
    built = wireproof("lab", "up", tmp_path / "two.toml", "--name", name)
    assert built.returncode == 0, built.stderr
    yield name
    assert wireproof("lab", "down", name).returncode == 0
    assert name not in wireproof("lab", "status").stdout


def namespace(process: int | str) -> str:
    """The network namespace of a process; "" if it has ended."""
    try:
        return os.readlink(f"/proc/{process}/ns/net")
    except OSError:
        return ""


def engines(places: set[str]) -> set[int]:
    """Process ids of engines in the network namespaces ``places``."""
    found = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                name = (entry / "comm").read_text()
            except OSError:
                continue
            if name.startswith("wireproof-engin") and namespace(entry.name) in places:
                found.add(int(entry.name))
    return found


def places_of(lab: str) -> set[str]:
    link = ("--", "readlink", "/proc/self/ns/net")
    return {wireproof("lab", "exec", lab, node, *link).stdout.strip() for node in ("n1", "n2")}


def wait_until_gone(lab: str) -> None:
    """No engine is left in the lab, whatever other tests have started."""
    places, deadline = places_of(lab), time.monotonic() + 30
    while left := engines(places):
        assert time.monotonic() < deadline, f"left behind: {left}"
        time.sleep(0.2)


def test_a_check_in_a_lab_is_proven_and_knows_its_limit(lab: str, tmp_path: Path) -> None:
    out = tmp_path / "run"
    done = wireproof(
        "check", "--lab", lab, "--hosts", "n1,n2", "--json", "--out", out, "--budget", "200ms"
    )
    assert done.returncode in (0, 1, 3), done.stderr
    found = document(done)
    assert found["proof"] == "on-wire", found["findings"]
    assert found["limits"]["attainable_bytes_per_s"] == pytest.approx(119.6e6, rel=0.01)
    routes = {
        (one["origin_host"], one["target_host"])
        for one in found["results"]
        if one["pattern"] == "stream"
    }
    assert routes == {("n1", "n2"), ("n2", "n1")}
    assert "1 Gb/s" in (out / "report.html").read_text()


def test_sockets_alone_are_a_transport_too(lab: str) -> None:
    argv = ("measure", "stream", "--lab", lab, "--transport", "tcp", "--sizes", "1MiB", "--json")
    found = document(wireproof(*argv))
    assert found["proof"] == "on-wire"
    assert "kernel TCP" in found["hosts"][0]["library"]


def test_a_nic_that_no_node_has_is_refused(lab: str) -> None:
    done = wireproof("check", "--lab", lab, "--nic", "ib0")
    assert done.returncode == 2
    assert "hsn0" in one_sentence(done)


def test_a_host_that_is_no_node_is_refused(lab: str) -> None:
    done = wireproof("check", "--lab", lab, "--hosts", "n1,n7")
    assert done.returncode == 2
    assert "n7" in one_sentence(done)


def test_a_clock_that_is_no_cycle_counter_is_told(lab: str) -> None:
    argv = ("measure", "pingpong", "--lab", lab, "--sizes", "64KiB", "--json")
    found = document(wireproof(*argv, environment={"WIREPROOF_CLOCK": "monotonic"}))
    assert found["engine"]["clock"]["source"] == "monotonic"
    assert "clock-not-tsc" in {finding["code"] for finding in found["findings"]}


def start(lab: str, out: Path) -> subprocess.Popen[str]:
    """A long run, and wait until some of its points are sealed."""
    argv = [
        *("measure", "stream", "--lab", lab, "--sizes", "64KiB,256KiB,1MiB", "--repeat", "40"),
        *("--budget", "200ms"),
    ]
    process = subprocess.Popen(
        [sys.executable, "-m", "wireproof", *argv, "--out", str(out)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 60
    while len(sealed(out)) < 3:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return process


def sealed(out: Path) -> list[int]:
    frames = out / "run" / "frames.jsonl"
    lines = frames.read_text().splitlines() if frames.exists() else []
    whole = [
        json.loads(line) for line in lines if line.endswith("}") and '"frame":"point"' in line[:40]
    ]
    return [frame["id"] for frame in whole]


def test_a_nic_that_goes_down_while_it_is_measured(lab: str, tmp_path: Path) -> None:
    out = tmp_path / "run"
    process = start(lab, out)
    assert wireproof("lab", "fault", lab, "n2", "down").returncode == 0
    said = process.communicate(timeout=150)
    assert process.returncode in (1, 3, 4), said
    assert "Traceback" not in said[1]
    kept = sealed(out)
    assert 3 <= len(kept) < 120
    assert "points-missing" in said[0] or "not measured" in said[0]
    wait_until_gone(lab)


def test_a_killed_wireproof_leaves_no_engine_and_is_resumed(lab: str, tmp_path: Path) -> None:
    out = tmp_path / "run"
    process = start(lab, out)
    assert engines(places_of(lab))
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=60)
    wait_until_gone(lab)
    kept = sealed(out)
    assert len(kept) >= 3


def test_ctrl_c_keeps_what_was_sealed(lab: str, tmp_path: Path) -> None:
    out = tmp_path / "run"
    process = start(lab, out)
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=60)
    assert process.returncode == 130, said
    assert "interrupted" in said[1]
    assert len(sealed(out)) >= 3
    assert (out / "run" / "points.parquet").is_file()
    wait_until_gone(lab)
