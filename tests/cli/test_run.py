"""``wireproof run``: recipes as a user reads them; real runs are in tests/lab/test_run_tools.py."""

import os
import shlex
import shutil
import socket
from pathlib import Path

import pytest
from tests.cli.verb import document, one_sentence, wireproof

EMPTY = {"PATH": "/usr/bin:/bin", "OSU_HOME": "", "I_MPI_ROOT": ""}


def test_the_list_has_the_documents_recipes() -> None:
    listed = wireproof("run", "--list")
    assert listed.returncode == 0
    for name in (
        "osu_put_bw",
        "IMB-P2P PingPong",
        "ib_write_bw",
        "qperf tcp_bw",
        "iperf3",
        "osu_mbw_mr",
        "hpcc",
    ):
        assert name in listed.stdout
    assert {row["tool"] for row in document(wireproof("run", "--list", "--json"))["recipes"]} >= {
        "osu",
        "imb",
        "hpcc",
        "iperf3",
    }


def test_a_dry_run_needs_no_tool_and_prints_what_a_shell_takes() -> None:
    done = wireproof(
        *("run", "osu_put_bw", "--hosts", "c101,c102", "--fabric", "tcp", "--nic", "eno1"),
        "--dry-run",
        environment=EMPTY,
    )
    assert done.returncode == 0, done.stderr
    commands = [line for line in done.stdout.splitlines() if not line.startswith("#")]
    assert len(commands) == 1
    words = shlex.split(commands[0])
    assert words[-1] == "osu_put_bw"
    assert words[words.index("btl_tcp_if_include") + 1] == "eno1"
    assert words[words.index("--map-by") + 1] == "ppr:1:node"


def test_a_dry_run_as_json() -> None:
    argv = (
        *("run", "imb", "PingPong", "--hosts", "c101,c102", "--mpi", "intel", "--fabric", "psm2"),
        *("--dry-run", "--json"),
    )
    found = document(wireproof(*argv, environment=EMPTY))
    assert found["benchmark"] == "PingPong"
    step = found["steps"][0]
    assert step["argv"][step["argv"].index("FI_PROVIDER") + 1] == "psm2"
    assert shlex.split(step["line"])[-2:] == ["IMB-P2P", "PingPong"] or "IMB-P2P" in step["line"]


def test_a_missing_tool_could_not_be_measured(tmp_path: Path) -> None:
    done = wireproof(
        "run", "osu_multi_lat", "--hosts", "c101,c102", environment=EMPTY | {"PATH": str(tmp_path)}
    )
    assert done.returncode == 4
    assert "osu_multi_lat was not found: build the OSU micro-benchmarks" in one_sentence(done)


def test_a_program_of_another_mpi_is_refused(tmp_path: Path) -> None:
    hpcc = Path("/usr/bin/hpcc")
    if not hpcc.exists() or not os.access(hpcc, os.X_OK):
        pytest.skip("hpcc is not installed")
    done = wireproof("run", "hpcc", "--mpi", "mpich", "--dry-run")
    if done.returncode == 0:
        pytest.skip("this hpcc is linked with MPICH")
    assert done.returncode == 2
    assert "each rank would run as a separate job" in one_sentence(done)


AGENT = """#!/bin/sh
# Called like ssh; every host that it reaches is this machine.
while :; do case "$1" in -o) shift 2 ;; -*) shift ;; *) break ;; esac; done
shift
exec /bin/sh -c "$*"
"""


@pytest.mark.engine
def test_two_names_for_one_machine_fail_whatever_the_number_says(tmp_path: Path) -> None:
    if shutil.which("iperf3") is None:
        pytest.skip("iperf3 is not installed")
    agent = tmp_path / "agent"
    agent.write_text(AGENT)
    agent.chmod(0o755)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    done = wireproof(
        *("run", "iperf3", "--hosts", "c101,c102", "--launcher", agent, "--address", "127.0.0.1"),
        *("--port", port, "--seconds", "1", "--link", "100gbe", "--json"),
    )
    assert done.returncode == 1, done.stderr
    found = document(done)
    assert found["verdict"] == "fail"
    assert found["proof"] == "off-wire"
    assert "traffic-loopback" in {reason["code"] for reason in found["path"]["reasons"]}


@pytest.mark.engine
def test_on_one_machine_nothing_passes_and_nothing_is_a_lie() -> None:
    if shutil.which("iperf3") is None:
        pytest.skip("iperf3 is not installed")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    done = wireproof("run", "iperf3", "--seconds", "1", "--port", port, "--json")
    assert done.returncode == 3, done.stderr
    assert document(done)["verdict"] == "inconclusive"


def test_in_a_slurm_job_its_nodes_take_part() -> None:
    inside = EMPTY | {"SLURM_JOB_NODELIST": "c[101-104]"}
    pair = wireproof("run", "iperf3", "--dry-run", "--json", environment=inside)
    assert [step["host"] for step in document(pair)["steps"]] == ["c102", "c101"]
    ring = document(
        wireproof(
            "run", "osu_allreduce", "--mpi", "openmpi", "--dry-run", "--json", environment=inside
        )
    )
    assert "c101,c102,c103,c104" in ring["steps"][0]["argv"]
    hostile = wireproof(
        "run", "iperf3", "--dry-run", environment=EMPTY | {"SLURM_JOB_NODELIST": "c[1-9999999999]"}
    )
    assert hostile.returncode == 2
