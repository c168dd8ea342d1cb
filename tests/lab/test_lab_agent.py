"""The remote-shell agent, alone and as launchers use it."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.lab.conftest import HSN, Build, programs_in, run, say
from tests.processes import ran

from wireproof.model.topology import Network

pytestmark = pytest.mark.netns

MGMT = Network(name="mgmt", device="eth0", rate="1gbit", subnet="10.10.1.0/24")


def test_the_agent_is_called_like_ssh(build: Build) -> None:
    lab = build(2, MGMT, HSN)
    agent = str(lab.agent)
    for host in ("n2", "n2-hsn", "10.20.1.2", "root@n2"):
        assert (
            say(lab, "n1", agent, "-x", "-q", "-l", "root", "-o", "A=b", host, "hostname") == "n2"
        )
    assert say(lab, "n1", agent, "n2", 'echo "a  b"', ";", "hostname") == "a  b\nn2"
    assert run(lab, "n1", agent, "n2", "exit 3").returncode == 3
    refused = run(lab, "n1", agent, "n7", "true")
    assert refused.returncode == 255
    assert "there is no living node 'n7' in this lab; it has @switch, n1, n2" in refused.stderr
    assert run(lab, "n1", agent, "n2").returncode == 255


def test_the_agent_works_from_the_host_and_names_a_missing_lab(build: Build) -> None:
    lab = build(1)
    environment = {**os.environ, **lab.agent_environment()}
    done = ran([str(lab.agent), "n1", "hostname"], env=environment)
    assert done.stdout == "n1\n"
    environment.pop("WIREPROOF_LAB_STATE")
    done = ran([str(lab.agent), "n1", "true"], env=environment)
    assert done.returncode == 255
    assert "WIREPROOF_LAB_STATE" in done.stderr


def test_a_chain_of_agents_ends_when_its_head_is_killed(build: Build) -> None:
    lab = build(2)
    agent = str(lab.agent)
    head = subprocess.Popen(
        lab.exec_argv("n1", [agent, "n2", f"{agent} n1 'echo ready; sleep 63'"]),
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **lab.agent_environment()},
    )
    assert head.stdout.readline() == "ready\n"
    head.kill()
    head.wait()
    head.stdout.close()
    for _ in range(500):
        seen = [program for node in lab.nodes for program in programs_in(lab, node)]
        if "sleep" not in seen:
            return
        time.sleep(0.02)
    pytest.fail(f"still running: {seen}")


@pytest.mark.mpi
def test_hydra_starts_one_rank_in_each_node(build: Build) -> None:
    lab = build(2)
    mpiexec = str(Path(sys.prefix) / "bin" / "mpiexec")
    agent = ("-launcher", "ssh", "-launcher-exec", str(lab.agent))
    hosts = say(lab, "n1", mpiexec, *agent, "-hosts", "n1,n2", "-ppn", "1", "hostname")
    assert sorted(hosts.split()) == ["n1", "n2"]


@pytest.mark.openmpi
def test_open_mpi_starts_one_rank_in_each_node(build: Build) -> None:
    lab = build(2)
    words = ["mpirun.openmpi", "--allow-run-as-root", "--bind-to", "none", "--mca", "plm_rsh_agent"]
    places = ["--host", "n1,n2", "-np", "2", "--map-by", "node", "hostname"]
    hosts = say(lab, "n1", *words, str(lab.agent), *places)
    assert sorted(hosts.split()) == ["n1", "n2"]
