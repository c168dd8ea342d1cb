"""libfabric without an MPI, between two nodes of a lab: the bytes cross the claimed NIC, and the
record says through what.
"""

import dataclasses
from pathlib import Path
from typing import Any

import pytest
from tests.lab.conftest import Build, say

from wireproof.launch.here import meeting_point
from wireproof.measure.points import group_sweep, numbered, sweep
from wireproof.measure.session import Session
from wireproof.measure.session.run import run_session
from wireproof.model.errors import BadInput
from wireproof.model.pattern import GROUP_PATTERNS, Pattern
from wireproof.model.plan import Libfabric
from wireproof.model.topology import Network
from wireproof.report.reporter import LoggingReporter
from wireproof.target import Target, lab_target

pytestmark = [pytest.mark.netns, pytest.mark.engine, pytest.mark.libfabric]

MANAGEMENT = Network(name="mgmt", device="eth0", rate="1gbit", subnet="10.10.1.0/24")
FAST = Network(name="hsn", device="hsn0", rate="10gbit", subnet="10.20.1.0/24")


def measured(
    lab: Any, asked: Libfabric, out: Path, *patterns: Pattern, mpi: str = "", **place: Any
) -> Any:
    """The judged section of small and larger messages of each pattern, all ranks claiming hsn0."""
    sizes = [8, 1 << 14]
    ranks = range(len(place.get("hosts", lab.nodes)))
    points = [
        point
        for pattern in patterns
        for point in (
            group_sweep(pattern, sizes, ranks, budget_ms=150)
            if pattern in GROUP_PATTERNS
            else sweep(pattern, sizes, [(0, ranks[-1])], budget_ms=150)
        )
    ]
    wish = Session(
        title="libfabric",
        points=tuple(numbered(points, seed=1)),
        seed=1,
        transport="ofi",
        ofi=asked,
        mpi=mpi,
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
        {(1 << 14, "on-wire")} <= proofs <= {(1 << 14, "on-wire"), (8, "on-wire"), (8, "unproven")}
    )
    assert not {"provider-fallback"} & {one.code for one in section.judgement.findings}
    for host in section.run.hosts:
        assert host.library.startswith("libfabric ")
        assert "libfabric.so" in host.library_path
        assert host.fabric.provider.split(";")[0] == "tcp"
        assert host.fabric.domain == "hsn0"
        assert host.fabric.fabric == "10.20.1.0/24"
        assert host.fabric.messages == "tagged"


def carried(section: Any) -> set[str]:
    """Patterns whose points were measured, payload and all."""
    codes = {one.code for one in section.judgement.findings}
    assert not {"corrupt", "provider-fallback", "provider-differs", "completion-local"} & codes
    return {point.pattern for point in section.run.points}


def test_groups_and_atomics_of_ranks_that_an_mpi_has_started(build: Build, tmp_path: Path) -> None:
    """Two on each node: their addresses go through the MPI, and all that is measured through
    libfabric.
    """
    lab = build(2, MANAGEMENT, FAST)
    hosts = tuple(node for node in lab.nodes for _ in range(2))
    section = measured(
        lab,
        Libfabric(provider="tcp"),
        tmp_path,
        "ring",
        "message_rate",
        "fetch_and_op",
        mpi="mpich",
        hosts=hosts,
        start_on=hosts,
        nics=("hsn0",) * 4,
        addresses=tuple(lab.node_address(host, "hsn") for host in hosts),
    )
    assert carried(section) == {"ring", "message_rate", "fetch_and_op"}
    assert len(section.run.hosts) == 4
    for host in section.run.hosts:
        assert host.fabric.exchange == "mpi"
        assert host.fabric.exchange_library.startswith("MPICH")
        assert host.fabric.remote == "delivery"
        assert host.fabric.domain == "hsn0"
    assert section.run.claim.provider == "tcp"


def test_a_collective_is_refused_with_what_has_it(build: Build, tmp_path: Path) -> None:
    lab = build(2, MANAGEMENT, FAST)
    with pytest.raises(BadInput, match="allgather is a collective of an MPI's library"):
        measured(lab, Libfabric(provider="tcp"), tmp_path, "allgather")


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
        "message_rate",
        "compare_and_swap",
    )
    assert carried(section) == {"pingpong", "message_rate", "compare_and_swap"}
    proofs = {pair.proof for pair in section.judgement.pairs if pair.message_bytes > 8}
    assert proofs == {"on-wire"}
    for host in section.run.hosts:
        assert host.library.startswith("libfabric 2.")
        assert host.library_path == str(library)
        assert host.fabric.provider == "psm3"
        assert host.fabric.domain == "hsn0"
        assert host.fabric.exchange == "meeting"


@pytest.mark.intelmpi
@pytest.mark.parametrize(
    ("provider", "patterns"),
    [("tcp", ("pingpong", "ring")), ("psm3", ("pingpong", "ring", "fetch_and_op"))],
)
def test_the_libfabric_that_intel_mpi_brings_is_measured_through_its_own_ranks(
    build: Build, tmp_path: Path, impi_root: Path, provider: str, patterns: tuple[Pattern, ...]
) -> None:
    """libfabric 2.x: tcp has reliable datagrams of its own, without ofi_rxm."""
    section = measured(
        build(2, MANAGEMENT, FAST),
        Libfabric(provider=provider),
        tmp_path,
        *patterns,
        mpi=str(impi_root / "bin" / "mpiexec.hydra"),
    )
    assert carried(section) == set(patterns)
    for host in section.run.hosts:
        assert host.library.startswith("libfabric 2.")
        assert host.fabric.provider == provider
        assert host.fabric.exchange_library.startswith("Intel(R) MPI")
        assert host.fabric.domain == "hsn0"


@pytest.mark.intelmpi
def test_a_libfabric_is_measured_beside_another_that_the_mpi_has(
    build: Build, tmp_path: Path, impi_root: Path
) -> None:
    """Two in one process: each must call its own functions."""
    library = impi_root / "lib" / "libfabric.so.1"
    section = measured(
        build(2, MANAGEMENT, FAST),
        Libfabric(provider="tcp", library=str(library)),
        tmp_path,
        "fetch_and_op",
        mpi="mpich",
    )
    assert carried(section) == {"fetch_and_op"}
    for host in section.run.hosts:
        assert host.library_path == str(library)
        assert host.fabric.exchange_library.startswith("MPICH")
        assert host.fabric.provider == "tcp;ofi_rxm"
