"""A Slurm in a lab comes up, takes jobs, and leaves nothing behind."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.slurm.labs import Cluster, cluster

from wireproof.lab import slurm as lab_slurm
from wireproof.lab.slurm import missing_for_slurm, open_slurm, slurm_up
from wireproof.model.errors import LabError

pytestmark = [pytest.mark.slurm]
ROOT = Path(__file__).resolve().parents[2]


def processes_of(folder: Path) -> list[int]:
    return lab_slurm._processes_with(str(folder).encode())


def test_it_runs_jobs_on_every_node_and_goes_without_a_trace() -> None:
    with cluster() as site:
        folder = site.slurm.folder
        assert site.slurm.states() == dict.fromkeys(site.lab.nodes, "idle")
        names = site.slurm.run(["srun", "--nodes=4", "--mpi=none", "hostname"]).stdout.split()
        assert sorted(names) == ["n1", "n2", "n3", "n4"]
        job = site.slurm.run(["sbatch", "--output=/dev/null", "--wrap=sleep 600"])
        assert "Submitted batch job" in job.stdout
        site.slurm.down()
        assert not folder.exists()
        assert processes_of(folder) == []
        assert site.lab.status().state == "up"
        with slurm_up(site.lab) as again:
            assert set(again.states().values()) == {"idle"}
        assert processes_of(folder) == []


def test_a_second_one_in_the_same_lab_is_refused_and_the_first_stays(here: Cluster) -> None:
    with pytest.raises(LabError, match="already has a Slurm"):
        slurm_up(here.lab)
    found = open_slurm(here.lab)
    assert set(found.states().values()) == {"idle"}


def test_a_daemon_that_cannot_start_is_told_and_nothing_is_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with cluster(("n1",), partitions=lab_slurm.NORMAL, switches={}) as site:
        site.slurm.down()
        monkeypatch.setattr(
            lab_slurm, "slurm_conf", lambda *_args, **_more: "ClusterName=lab\nNonsense=1\n"
        )
        with pytest.raises(LabError, match="slurmctld did not start on n1"):
            slurm_up(site.lab)
        assert not site.slurm.folder.exists()
        assert processes_of(site.slurm.folder) == []


def test_what_is_missing_is_named_with_its_package(
    monkeypatch: pytest.MonkeyPatch, here: Cluster
) -> None:
    monkeypatch.setattr(
        lab_slurm,
        "find_tool",
        lambda name: None if name in ("munged", "slurmd") else f"/usr/bin/{name}",
    )
    monkeypatch.setattr(lab_slurm, "needs_user_namespace", lambda: True)
    missing = " / ".join(missing_for_slurm())
    assert "munged is missing: install the Debian package munge" in missing
    assert "slurmd is missing: install the Debian package slurm-wlm" in missing
    assert "root" in missing
    with pytest.raises(LabError, match="no Slurm can run in a lab here"):
        slurm_up(here.lab)


def test_a_killed_creator_leaves_no_daemon() -> None:
    code = (
        "import os, sys, time\n"
        "from tests.slurm.labs import cluster\n"
        "from wireproof.lab.slurm import NORMAL\n"
        "with cluster(('n1', 'n2'), partitions=NORMAL, switches={}) as site:\n"
        "    print(site.slurm.folder, flush=True)\n"
        "    time.sleep(600)\n"
    )
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"}
    child = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env=environment
    )
    try:
        folder = Path(child.stdout.readline().strip())
        assert len(processes_of(folder)) >= 4
    finally:
        child.send_signal(signal.SIGKILL)
        child.communicate()
    until = time.monotonic() + 20
    while processes_of(folder) and time.monotonic() < until:
        time.sleep(0.1)
    assert processes_of(folder) == []
    from wireproof.lab.cluster import down

    down(folder.parent.name)
    assert not folder.exists()
