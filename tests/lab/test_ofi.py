"""libfabric without an MPI, between two nodes of a lab: the bytes cross the claimed NIC, and the
record says through what.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest
from tests.lab.conftest import Build, say

from wireproof.launch.hosts.rendezvous import meeting_point
from wireproof.model.errors import BadInput
from wireproof.model.plan import Libfabric
from wireproof.model.topology import Network
from wireproof.plan.sweep import numbered, sweep
from wireproof.workflow.reporter import LoggingReporter
from wireproof.workflow.session.run import run_session
from wireproof.workflow.session.session import Session
from wireproof.workflow.target.target import Target, lab_target

pytestmark = [pytest.mark.netns, pytest.mark.engine, pytest.mark.libfabric]

MANAGEMENT = Network(name="mgmt", device="eth0", rate="1gbit", subnet="10.10.1.0/24")
FAST = Network(name="hsn", device="hsn0", rate="10gbit", subnet="10.20.1.0/24")


def measured(lab: Any, asked: Libfabric, out: Path, *patterns: str, **place: Any) -> Any:
    """The judged section of one size of each pattern, both ends claiming hsn0."""
    points = [
        point
        for pattern in patterns
        for point in sweep(pattern, [8, 1 << 16], [(0, 1)], budget_ms=150)
    ]
    wish = Session(
        title="libfabric",
        points=tuple(numbered(points, seed=1)),
        seed=1,
        transport="ofi",
        ofi=asked,
        out=out,
    )
    target = dataclasses.replace(lab_target(lab, lab.nodes, nic="hsn0"), **place)
    section, _ = run_session(wish, target, LoggingReporter())
    return section


def test_the_tcp_provider_is_proved_on_the_claimed_nic(build: Build, tmp_path: Path) -> None:
    lab = build(2, MANAGEMENT, FAST)
    section = measured(lab, Libfabric(provider="tcp"), tmp_path, "pingpong", "stream")
    proofs = {(pair.message_bytes, pair.proof) for pair in section.judgement.pairs}
    # few small messages on a busy machine may be too few bytes to be told from others
    assert (
        {(1 << 16, "on-wire")} <= proofs <= {(1 << 16, "on-wire"), (8, "on-wire"), (8, "unproven")}
    )
    assert not {"provider-fallback"} & {one.code for one in section.judgement.findings}
    for host in section.run.hosts:
        assert host.library.startswith("libfabric ")
        assert "libfabric.so" in host.library_path
        assert host.fabric.provider.split(";")[0] == "tcp"
        assert host.fabric.domain == "hsn0"
        assert host.fabric.fabric == "10.20.1.0/24"
        assert host.fabric.messages == "tagged"


def test_a_provider_that_is_not_here_is_named_beside_those_that_are(
    build: Build, tmp_path: Path
) -> None:
    lab = build(2, MANAGEMENT, FAST)
    with pytest.raises(BadInput, match=r"offers no provider opx here; it offers .*tcp"):
        measured(lab, Libfabric(provider="opx"), tmp_path, "pingpong")


def test_a_claimed_nic_without_an_address_is_one_sentence(
    build: Build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab = build(2, MANAGEMENT, FAST)
    for node in lab.nodes:
        say(lab, node, "ip", "address", "flush", "dev", "hsn0")
    monkeypatch.setattr(
        Target, "meet", lambda self: meeting_point(self.lab.node_address(self.hosts[0], "mgmt"))
    )
    with pytest.raises(BadInput, match="hsn0 has no IP address"):
        measured(lab, Libfabric(provider="tcp"), tmp_path, "pingpong", addresses=())


def test_shared_memory_between_nodes_is_refused_before_anything_waits(
    build: Build, tmp_path: Path
) -> None:
    lab = build(2, MANAGEMENT, FAST)
    with pytest.raises(BadInput, match="rank 1 is not where rank 0 is"):
        measured(lab, Libfabric(provider="shm"), tmp_path, "pingpong")


@pytest.mark.intelmpi
def test_psm3_runs_over_the_claimed_nic_by_the_kernels_sockets(
    build: Build, tmp_path: Path, impi_root: Path
) -> None:
    """Its libfabric is 2.x and was moved: its providers lie beside it."""
    library = impi_root / "lib" / "libfabric.so.1"
    section = measured(
        build(2, MANAGEMENT, FAST),
        Libfabric(provider="psm3", library=str(library)),
        tmp_path,
        "pingpong",
    )
    proofs = {pair.proof for pair in section.judgement.pairs if pair.message_bytes > 8}
    assert proofs == {"on-wire"}
    for host in section.run.hosts:
        assert host.library.startswith("libfabric 2.")
        assert host.library_path == str(library)
        assert host.fabric.provider == "psm3"
        assert host.fabric.domain == "hsn0"
