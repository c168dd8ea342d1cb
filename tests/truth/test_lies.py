"""Planted lies on real MPIs in a real lab: each must be caught, whatever the numbers look like.

The honest runs beside them must be proven: a judge that always says no is no judge.
"""

import os
import socket
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from wireproof.lab.cluster import Lab, up
from wireproof.measure.points import numbered, sweep
from wireproof.measure.session import Session
from wireproof.measure.session.run import run_session
from wireproof.model.finding import Judgement
from wireproof.model.plan import Point, Policy
from wireproof.model.topology import Fault, Network, Topology
from wireproof.report.reporter import LoggingReporter
from wireproof.target import Target, lab_target, this_machine

pytestmark = [pytest.mark.netns, pytest.mark.mpi]

HSN = Network(name="hsn", device="hsn0", rate="1gbit", mtu=1500, subnet="10.20.1.0/24")
MANAGEMENT = Network(name="mgmt", device="mgmt0", rate="1gbit", mtu=1500, subnet="10.10.1.0/24")
POLICY = Policy(point_budget_ms=300, point_deadline_ms=30_000)


def points() -> tuple[Point, ...]:
    wanted = sweep("pingpong", [65536, 1 << 20], [(0, 1)]) + sweep("stream", [1 << 20], [(0, 1)])
    return numbered(wanted + sweep("stream", [1 << 20], [(1, 0)]), seed=11)


def judgement(place: Target, tmp_path: Path, **wishes: Any) -> Judgement:
    wish = Session(
        title="lie", points=points(), seed=11, policy=POLICY, out=tmp_path / "run", **wishes
    )
    section, _ = run_session(wish, place, LoggingReporter())
    return section.judgement


def codes(found: Judgement) -> set[str]:
    return {finding.code for finding in found.findings}


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    """Management is the first network: host names resolve to it, as on most clusters."""
    with up(
        Topology(nodes=("n1", "n2"), networks=(MANAGEMENT, HSN)), f"lies-{os.getpid()}", tied=True
    ) as built:
        yield built


@pytest.fixture
def honest(lab: Lab) -> Target:
    return lab_target(lab, ("n1", "n2"), nic="hsn0")


MPIS = [
    "mpich",
    pytest.param("openmpi", marks=pytest.mark.openmpi),
    pytest.param("debian-mpich", marks=pytest.mark.debian_mpich),
    pytest.param("intel", marks=pytest.mark.intelmpi),
]


def mpi_argument(name: str, request: pytest.FixtureRequest) -> str:
    return str(request.getfixturevalue("impi_root")) if name == "intel" else name


@pytest.mark.parametrize("mpi", MPIS)
def test_an_honest_run_is_on_the_wire(
    mpi: str, honest: Target, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    found = judgement(honest, tmp_path, mpi=mpi_argument(mpi, request))
    assert found.proof == "on-wire", found.findings
    failed = {finding.code for finding in found.findings if finding.severity == "fail"}
    assert {"off-wire", "above-ceiling", "below-floor", "wrong-path"}.isdisjoint(failed)


@pytest.mark.parametrize("mpi", MPIS)
def test_two_ranks_on_one_node(
    mpi: str, honest: Target, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    found = judgement(
        replace(honest, start_on=("n1", "n1")), tmp_path, mpi=mpi_argument(mpi, request)
    )
    assert (found.verdict, found.proof) == ("fail", "off-wire")
    assert "shared-memory-suspected" in codes(found)


@pytest.mark.parametrize("mpi", MPIS)
def test_the_management_network_instead(
    mpi: str, honest: Target, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """The MPI is told mgmt0; the claim says hsn0."""
    told = replace(honest, nics=("mgmt0", "mgmt0"))
    wish = Session(
        title="lie",
        points=points(),
        seed=11,
        policy=POLICY,
        out=tmp_path / "run",
        mpi=mpi_argument(mpi, request),
    )
    section, _ = run_session(wish, told, LoggingReporter(), claim=honest.claim())
    found = section.judgement
    assert (found.verdict, found.proof) == ("fail", "wrong-path")
    assert any("mgmt0" in finding.message for finding in found.findings)


@pytest.mark.parametrize(("mpi"), ["mpich", pytest.param("openmpi", marks=pytest.mark.openmpi)])
def test_both_networks_striped_by_default(mpi: str, honest: Target, tmp_path: Path) -> None:
    found = judgement(honest, tmp_path, mpi=mpi, nic_selection="none")
    assert found.verdict == "fail"
    assert found.proof in ("mixed", "wrong-path"), found.findings


def test_one_direction_is_slow(honest: Target, tmp_path: Path) -> None:
    fault = Fault(node="n2", network="hsn", kind="rate", direction="tx", value="250mbit")
    honest.lab.set_fault(fault)
    try:
        found = judgement(honest, tmp_path)
    finally:
        honest.lab.clear_fault(fault)
    slow = [finding for finding in found.findings if "direction-slow" in finding.code]
    assert slow, found.findings
    # what else runs here
    disturbed = any(finding.code in ("oversubscribed", "unstable") for finding in found.findings)
    assert found.verdict == "fail" or disturbed
    assert any("n2" in finding.message for finding in slow)


def test_nolocal_with_shared_memory_below(tmp_path: Path, honest: Target) -> None:
    """MPICH believes the ranks remote, UCX below uses shared memory: plausible numbers, nothing on
    the wire.
    """
    lie = replace(honest, start_on=("n1", "n1"))
    found = judgement(lie, tmp_path, extra=(("MPIR_CVAR_NOLOCAL", "1"),))
    assert (found.verdict, found.proof) == ("fail", "off-wire")


def test_nodes_that_share_an_ipc_namespace(tmp_path: Path) -> None:
    """Host names differ, the shared communicator has one rank, and UCX still uses shared memory."""
    shared = Topology(nodes=("n1", "n2"), networks=(HSN,), share=("ipc", "shm", "pid"))
    with up(shared, f"ipc-{os.getpid()}", tied=True) as built:
        place = lab_target(built, ("n1", "n2"))
        found = judgement(place, tmp_path, nic_selection="none")
    assert found.verdict == "fail"
    assert found.proof == "off-wire", found.findings


def test_loopback_sold_as_a_wire(tmp_path: Path) -> None:
    """Kernel sockets between two processes of this machine, claimed as two hosts."""
    here = this_machine()
    name = socket.gethostname()
    wish = Session(
        title="lie", points=points(), seed=11, policy=POLICY, out=tmp_path / "run", transport="tcp"
    )
    claim = replace(here, hosts=(name, f"{name}-2"), wire=True).claim()
    section, _ = run_session(wish, here, LoggingReporter(), claim=claim)
    assert (section.judgement.verdict, section.judgement.proof) == ("fail", "off-wire")
