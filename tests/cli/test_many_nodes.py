"""A cluster of several nodes as a user meets it: a bad port named, a lost node named, the rest
measured, resumed.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.cli.verb import document, one_sentence, wireproof

from wireproof.lab.cluster import open_lab

pytestmark = [pytest.mark.netns, pytest.mark.mpi]

TOPOLOGY = """
nodes = 4

[[network]]
name = "hsn"
device = "hsn0"
rate = "100mbit"
subnet = "10.20.1.0/24"

[[fault]]
node = "n3"
network = "hsn"
kind = "rate"
direction = "rx"
value = "60mbit"
"""


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    name = f"many-{os.getpid()}"
    file = tmp_path_factory.mktemp("many") / "four.toml"
    file.write_text(TOPOLOGY)
    built = wireproof("lab", "up", file, "--name", name)
    assert built.returncode == 0, built.stderr
    yield name
    assert wireproof("lab", "down", name).returncode == 0


def culprits(found: Any) -> list[tuple[str, str, str]]:
    return [
        (b["subject"], b.get("direction", ""), b["stage"])
        for one in found["located"]
        for b in one.get("blames", [])
    ]


def test_a_port_that_receives_slowly_is_named_with_its_direction_and_nobody_else(
    lab: str, tmp_path: Path
) -> None:
    out = tmp_path / "check"
    found = document(wireproof("check", "--lab", lab, "--json", "--out", out, "--seed", "5"))
    assert culprits(found) == [("n3", "rx", "confirmed")]
    assert found["verdict"] == "fail"
    assert [one["subject"] for one in found["findings"] if one["code"] == "port-slow"] == ["n3 rx"]
    page = (out / "report.html").read_text()
    assert "n3" in page
    again = document(wireproof("locate", out, "--json"))
    assert culprits(again) == [("n3", "rx", "confirmed")]
    before = sorted(path.name for path in out.iterdir())
    resumed = document(wireproof("resume", out, "--json"))
    assert culprits(resumed) == [("n3", "rx", "confirmed")]
    assert sorted(path.name for path in out.iterdir()) == before, (
        "a finished check was measured again"
    )


def engine_on(lab: str, node: str) -> int | None:
    """Process id of the engine in a node's namespaces."""
    inside = os.stat(f"/proc/{open_lab(lab).status().nodes[int(node[1:]) - 1].pid}/ns/net").st_ino
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if (entry / "comm").read_text().startswith("wireproof-engin") and (
                    entry / "ns/net"
                ).stat().st_ino == inside:
                    return int(entry.name)
            except OSError:
                continue
    return None


def test_a_rank_that_is_killed_costs_its_node_and_a_resume_brings_it_back(
    lab: str, tmp_path: Path
) -> None:
    out = tmp_path / "check"
    argv = [
        *(sys.executable, "-m", "wireproof", "check", "--lab", lab, "--json", "--out", str(out)),
        *("--seed", "5"),
    ]
    process = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while (
        not (out / "run" / "frames.jsonl").is_file()
        or b'"point"' not in (out / "run" / "frames.jsonl").read_bytes()
    ):
        assert time.monotonic() < deadline, process.poll()
        time.sleep(0.1)
    victim = engine_on(lab, "n2")
    assert victim is not None
    os.kill(victim, signal.SIGKILL)
    stdout, stderr = process.communicate(timeout=150)
    found = json.loads(stdout)
    lost = [one["message"] for one in found["findings"] if one["code"] == "rank-lost"]
    # A survivor of MPICH can crash and be the only rank that its launcher reports.
    assert any("n2" in text or "because another rank was lost" in text for text in lost), stderr
    assert found["verdict"] == "fail", "n3 is still found"
    assert ("n3", "rx") in [(subject, way) for subject, way, _ in culprits(found)]
    resumed = document(wireproof("resume", out, "--json"))
    assert not any(one["code"] == "rank-lost" for one in resumed["findings"])
    measured = {(one["origin_host"], one["target_host"]) for one in resumed["results"]}
    assert len(measured) == 12
    assert "attempt" in wireproof("resume", out).stderr or len(list(out.glob("run.*"))) >= 2


@pytest.mark.slow
def test_a_cluster_that_is_not_there_is_checked_whole_and_never_passes(tmp_path: Path) -> None:
    """Eighty hosts played by the model, records without raw batches: the way from the plan to the
    culprit.
    """
    world = (
        *("--transport", "model", "--model", "latency_ns=1000,gap_ns_per_byte=0.0815,noise=0.005"),
        *("--link", "edr"),
    )
    argv = (
        *("check", *world, "--hosts", "n[1-80]", "--seed", "5", "--json"),
        *("--out", tmp_path / "check"),
    )
    found = document(wireproof(*argv, "--model-fault", "rank=16,rx=0.8"))
    assert culprits(found) == [("n17", "rx", "confirmed")]
    healthy = document(wireproof(*argv[:-1], tmp_path / "healthy"))
    assert culprits(healthy) == []
    assert healthy["verdict"] == "inconclusive"
    for wrong in ("rank=80,tx=0.5", "rank=1,tx=0", "rank=one", "tx=0.5", "rank=1,colour=2"):
        assert wireproof(*argv[:-1], tmp_path / "no", "--model-fault", wrong).returncode == 2, wrong
    assert not (tmp_path / "no").exists()


@pytest.mark.slow
def test_one_line_for_a_prolog(lab: str) -> None:
    done = wireproof("check", "--lab", lab, "--prolog")
    assert done.returncode == 1, done.stderr
    (line,) = done.stdout.splitlines()
    assert line.startswith("wireproof fail: 4 nodes: n3 receives slowly")
    assert done.stderr == ""


def test_a_dry_run_prints_the_command_and_starts_nothing(lab: str, tmp_path: Path) -> None:
    done = wireproof("check", "--lab", lab, "--dry-run", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "wireproof-engine.mpich run" in done.stdout
    assert list(tmp_path.iterdir()) == []
    job = wireproof(
        "check", "--slurm", "-N", "16", "-p", "compute", "--link", "edr", "--dry-run", cwd=tmp_path
    )
    assert job.returncode == 0, job.stderr
    assert "salloc --nodes=16" in job.stdout
    assert "#SBATCH --partition=compute" in job.stdout
    assert "wireproof check --link edr" in job.stdout
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_does_not_say_how_it_was_asked_is_not_resumed(tmp_path: Path) -> None:
    done = wireproof("resume", tmp_path)
    assert done.returncode == 2
    assert "asked.json" in one_sentence(done)
    for content in (
        b"",
        b"{}",
        b'{"argv": ["lab", "down"], "seed": 1, "folder": "/"}',
        b"\xff\xfe\x00",
    ):
        (tmp_path / "asked.json").write_bytes(content)
        assert wireproof("resume", tmp_path).returncode == 2
