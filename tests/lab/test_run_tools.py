"""``wireproof run`` with real tools over a real (virtual) wire: the recipe starts, its path is
proven, nothing is left.

Verdicts about speed are not asserted: other jobs on this machine slow a link down.
"""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from tests.cli.verb import document, one_sentence, wireproof
from tests.lab.conftest import Build, programs_in

from wireproof.lab.cluster import Lab

ROOT = Path(__file__).resolve().parents[2]
IMPI = os.environ.get("WIREPROOF_TEST_IMPI") or str(ROOT / ".deps" / "impi")
STATUS = {"pass": 0, "fail": 1, "inconclusive": 3}

pytestmark = [pytest.mark.netns, pytest.mark.engine]


def need(program: str) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")


@pytest.fixture
def lab(build: Build) -> Lab:
    return build(2, tied=False)


def run(lab: Lab, *argv: object, cwd: Path | None = None) -> dict[str, Any]:
    done = wireproof("run", *argv[:1], "--lab", lab.name, "--json", *argv[1:], cwd=cwd)
    assert done.returncode in (0, 1, 3), done.stderr
    found: dict[str, Any] = document(done)
    assert done.returncode == STATUS[found["verdict"]]
    return found


def on_wire(found: dict[str, Any], benchmark: str) -> None:
    assert found["proof"] == "on-wire", found["path"]
    assert found["path"]["port"] == "hsn0"
    series = {one["benchmark"]: one for one in found["series"]}
    assert benchmark in series
    assert series[benchmark]["points"]
    assert series[benchmark]["proof"] == "on-wire"
    assert "log-without-counters" not in {reason["code"] for reason in series[benchmark]["reasons"]}


def test_iperf3_has_its_server_started_and_ended(lab: Lab) -> None:
    need("iperf3")
    found = run(lab, "iperf3", "--seconds", "1")
    on_wire(found, "tcp")
    assert [step["host"] for step in found["recipe"]["steps"]] == ["n2", "n1"]
    assert found["path"]["crossed_bytes"] >= found["series"][0]["best_bytes_per_s"]
    assert "iperf3" not in programs_in(lab, "n2")


def test_iperf3_is_read_from_its_table_too(lab: Lab) -> None:
    need("iperf3")
    done = wireproof("run", "iperf3", "--lab", lab.name, "--seconds", "1")
    assert done.returncode in (0, 1, 3), done.stderr
    assert "iperf Done." in done.stdout
    assert "path: on-wire" in done.stdout
    assert "iperf3 -c 10.20.1.2 -t 1 -O 2 -l 1048576 -w 2097152 -f m" in done.stderr


def test_qperf(lab: Lab) -> None:
    need("qperf")
    on_wire(run(lab, "qperf", "tcp_bw"), "tcp_bw")
    assert "qperf" not in programs_in(lab, "n2")


@pytest.mark.intelmpi
@pytest.mark.parametrize("fabric", ["tcp", "psm3"])
def test_imb_under_intel_mpi(lab: Lab, fabric: str) -> None:
    short = ("--sizes", "2MiB,4MiB", "--iterations", "20")
    found = run(lab, "IMB-P2P", "PingPong", "--mpi", IMPI, "--fabric", fabric, *short)
    on_wire(found, "PingPong")
    assert found["recipe"]["mpi"].startswith("Intel(R) MPI")


@pytest.mark.intelmpi
def test_imb_one_sided(lab: Lab) -> None:
    on_wire(
        run(lab, "IMB-RMA", "Unidir_put", "--mpi", IMPI, "--fabric", "tcp", "--iterations", "10"),
        "Unidir_put",
    )


@pytest.mark.slow
@pytest.mark.openmpi
def test_hpcc_works_in_a_folder_of_its_own(lab: Lab, tmp_path: Path) -> None:
    need("hpcc")
    found = run(lab, "hpcc", "--mpi", "openmpi", cwd=tmp_path)
    assert found["proof"] == "on-wire"
    names = {one["benchmark"] for one in found["series"]}
    assert any("RandomlyOrderedRing" in name for name in names)
    assert list(tmp_path.iterdir()) == []


def test_a_tool_that_cannot_run_is_status_4_with_its_own_words(lab: Lab) -> None:
    need("iperf3")
    done = wireproof(
        "run", "iperf3", "--lab", lab.name, "--seconds", "1", "--address", "10.20.1.77"
    )
    assert done.returncode == 4
    assert "unable to connect" in done.stderr
    assert one_sentence(done).startswith("wireproof: iperf3 ended with status 1")
    assert "iperf3" not in programs_in(lab, "n2")


def test_ctrl_c_leaves_no_server_behind(lab: Lab) -> None:
    need("iperf3")
    process = subprocess.Popen(
        [sys.executable, "-m", "wireproof", "run", "iperf3", "--lab", lab.name, "--seconds", "60"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        deadline = time.monotonic() + 60
        while "iperf3" not in programs_in(lab, "n1"):
            assert time.monotonic() < deadline
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 130
    finally:
        process.kill()
        process.wait()
    assert "iperf3" not in programs_in(lab, "n1") + programs_in(lab, "n2")
