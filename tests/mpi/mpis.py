"""The MPIs that the tests run on, each behind the marker that says what it needs."""

import os
from pathlib import Path

import pytest

from wireproof.instrument import Outcome, Recording, measure
from wireproof.launch.command import prepare, provenance
from wireproof.launch.engines import MpiInstall
from wireproof.launch.mpi.discovery import choose_mpi
from wireproof.launch.registry import LaunchCommand
from wireproof.model.claim import Claim, HostClaim
from wireproof.model.plan import Plan, Point, Policy, RankPlace, Transport

ROOT = Path(__file__).resolve().parents[2]
EVERY_MPI = [
    pytest.param("mpich", marks=pytest.mark.mpi),
    pytest.param("intel", marks=[pytest.mark.engine, pytest.mark.intelmpi]),
    pytest.param("openmpi", marks=[pytest.mark.engine, pytest.mark.openmpi]),
    pytest.param("debian-mpich", marks=[pytest.mark.engine, pytest.mark.debian_mpich]),
]
TWO_QUICK_MPIS = [
    pytest.param("mpich", marks=pytest.mark.mpi),
    pytest.param("intel", marks=[pytest.mark.engine, pytest.mark.intelmpi, pytest.mark.slow]),
    pytest.param("openmpi", marks=[pytest.mark.engine, pytest.mark.openmpi]),
    pytest.param(
        "debian-mpich", marks=[pytest.mark.engine, pytest.mark.debian_mpich, pytest.mark.slow]
    ),
]
"""Every MPI, two of them only in ``make test-all``: for tests that wait for a deadline."""
TWO_WITH_THE_STANDARD_ABI = EVERY_MPI[:2]
LIBRARY = {
    "mpich": "MPICH",
    "intel": "Intel(R) MPI Library",
    "openmpi": "Open MPI",
    "debian-mpich": "MPICH",
}
VARIANT = {"mpich": "mpich", "intel": "mpich", "openmpi": "openmpi", "debian-mpich": "mpich"}
QUICK = Policy(point_budget_ms=60, point_deadline_ms=20_000, run_deadline_ms=90_000, yield_=1)


def install_of(name: str) -> MpiInstall:
    """The MPI called ``name``; Intel MPI is where the tests have put it."""
    if name != "intel":
        return choose_mpi(name)
    return choose_mpi(os.environ.get("WIREPROOF_TEST_IMPI") or str(ROOT / ".deps" / "impi"))


def plan_of(
    points: list[Point], ranks: int = 2, *, expect: str = "", policy: Policy = QUICK
) -> Plan:
    return Plan(
        run_id="mpi-test",
        seed=5,
        transport=Transport(kind="mpi", expect=expect),
        ranks=tuple(RankPlace(index=rank, host="localhost") for rank in range(ranks)),
        points=tuple(points),
        policy=policy,
    )


def sweep(
    count: int, pairs: tuple[tuple[int, int], ...] = ((0, 1),), first: int = 0, **fields: object
) -> list[Point]:
    return [
        Point(id=first + i, pattern="pingpong", message_bytes=8 << (i % 8), pairs=pairs, **fields)  # type: ignore[arg-type]
        for i in range(count)
    ]


def run(
    name: str,
    points: list[Point],
    out: Path,
    *,
    ranks: int = 2,
    expect: str | None = None,
    policy: Policy = QUICK,
    command: LaunchCommand | None = None,
    **options: object,
) -> Outcome:
    """Measure ``points`` on this machine under the MPI called ``name``."""
    install = install_of(name)
    started = command or prepare("mpi", install, ranks=ranks)
    claim = Claim(
        hosts=[HostClaim(rank=rank, host="localhost") for rank in range(ranks)], wire=False
    )
    wanted = started.expect if expect is None else expect
    return measure(
        plan_of(points, ranks, expect=wanted, policy=policy),
        started,
        claim=claim,
        provenance=provenance(started, install),
        recording=Recording(out=out, **options),  # type: ignore[arg-type]
    )
