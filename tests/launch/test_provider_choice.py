"""Which provider each MPI takes. Intel MPI's cases were seen with the MPI itself."""

from pathlib import Path

import pytest

from wireproof.launch.engines import Family, MpiInstall
from wireproof.launch.mpi.libfabrics import allowed_by, choose_provider, described
from wireproof.model.diagnosis import Listing, Offer

BOTH = ("libfabric.so.1", "libucp.so.0")


def offers(*providers: str) -> list[Offer]:
    return [
        Offer(
            provider=name,
            domain="eth0",
            fabric="TCP-192.0.2.0/24" if name == "psm3" else "192.0.2.0/24",
            endpoint="rdm",
            capabilities=["msg", "tagged"],
        )
        for name in providers
    ]


def listing(*providers: str) -> Listing:
    return Listing(
        version="2.4", path="/lib/libfabric.so.1", offers=offers(*providers), registered=[]
    )


INTEL = listing("psm3", "tcp", "tcp;ofi_rxm", "shm")
DEBIAN = listing("tcp;ofi_rxm", "net", "udp;ofi_rxd", "shm", "sockets")


def mpi(family: Family) -> MpiInstall:
    return MpiInstall(
        family=family, origin="PATH", launcher=Path("/usr/bin/mpiexec"), library=Path("/usr/lib/l")
    )


@pytest.mark.parametrize(
    ("variables", "provider", "step"),
    [
        ({}, "tcp", "PSM3_HAL"),
        ({"PSM3_HAL": "sockets"}, "psm3", "the first"),
        ({"PSM3_HAL": "sockets", "FI_PROVIDER": "psm3"}, "psm3", "FI_PROVIDER=psm3 leaves psm3"),
        ({"FI_PROVIDER": "psm3"}, "", "MPI_Init ends"),
        (
            {"PSM3_HAL": "x", "FI_PROVIDER": "psm3", "I_MPI_OFI_PROVIDER": "tcp"},
            "",
            "MPI_Init ends",
        ),
        (
            {"PSM3_HAL": "x", "FI_PROVIDER": "tcp", "I_MPI_OFI_PROVIDER": "psm3"},
            "",
            "MPI_Init ends",
        ),
        ({"FI_PROVIDER": "^tcp"}, "shm", "FI_PROVIDER=^tcp leaves psm3, shm"),
        ({"FI_PROVIDER": "shm"}, "shm", "leaves shm"),
        ({"FI_PROVIDER": "psm3,tcp", "PSM3_HAL": "sockets"}, "psm3", "the first"),
    ],
)
def test_intel_mpi(variables: dict[str, str], provider: str, step: str) -> None:
    chosen = choose_provider(mpi("intel"), INTEL, (), variables)
    assert chosen.provider == provider
    assert any(step in one for one in chosen.why), chosen.why


@pytest.mark.parametrize(
    ("needed", "variables", "provider", "step"),
    [
        (BOTH, {}, "", "first netmod, UCX"),
        (BOTH, {"MPIR_CVAR_CH4_NETMOD": "ofi"}, "tcp;ofi_rxm", "the first"),
        (("libfabric.so.1",), {}, "tcp;ofi_rxm", "the first"),
        (("libucp.so.0",), {"MPIR_CVAR_CH4_NETMOD": "ofi"}, "", "without libfabric"),
    ],
)
def test_mpich(
    needed: tuple[str, ...], variables: dict[str, str], provider: str, step: str
) -> None:
    chosen = choose_provider(mpi("mpich"), DEBIAN, needed, variables)
    assert chosen.provider == provider
    assert any(step in one for one in chosen.why), chosen.why


@pytest.mark.parametrize(
    ("variables", "provider", "step"),
    [
        ({"OMPI_MCA_mtl": "^ofi", "OMPI_MCA_pml": "^ucx"}, "", "mtl = ^ofi"),
        ({"OMPI_MCA_pml": "ob1"}, "", "pml = ob1"),
        ({"OMPI_MCA_pml": "^ucx"}, "net", "mtl_ofi_provider_exclude=shm,sockets,tcp"),
        ({"OMPI_MCA_mtl_ofi_provider_include": "psm3"}, "", "mtl ofi"),
        ({"OMPI_MCA_mtl_ofi_provider_exclude": "net"}, "tcp;ofi_rxm", "the first"),
    ],
)
def test_open_mpi(variables: dict[str, str], provider: str, step: str) -> None:
    chosen = choose_provider(mpi("openmpi"), DEBIAN, (), variables)
    assert chosen.provider == provider
    assert any(step in one for one in chosen.why), chosen.why


def test_without_a_libfabric_nothing_is_taken() -> None:
    assert choose_provider(mpi("intel"), None, (), {}).provider == ""


def test_layers_do_not_count_in_a_list_of_providers() -> None:
    assert allowed_by("tcp", "tcp;ofi_rxm")
    assert allowed_by("TCP,udp", "udp")
    assert not allowed_by("^tcp,udp", "tcp;ofi_rxm")
    assert allowed_by("^tcp", "net")


def test_what_is_missing_is_told_from_what_is_not_in_the_library() -> None:
    heard = Listing(
        version="1.17",
        path="/lib/libfabric.so.1",
        offers=[*offers("tcp;ofi_rxm"), Offer(provider="udp", domain="eth0", endpoint="dgram")],
        registered=[Offer(provider=name) for name in ("psm2", "ofi_rxm", "tcp", "udp")],
    )
    said = (
        "libfabric:7:1::psm2:core:psmx2_init():1<warn> no hfi1 units\n"
        "libfabric:7:1::core:core:ofi_init():2<warn> no memory monitor\n"
        "libfabric:7:1::core:core:ofi_init():2<warn> no memory monitor\nsome other line\n"
    )
    found = described("", "found by the dynamic linker", heard, said, "")
    states = {one.name: one.state for one in found.providers}
    assert states["tcp"] == "usable"
    assert states["udp"] == "other-endpoints"
    assert states["psm2"] == states["cxi"] == "missing"
    assert "ofi_rxm" not in states
    reasons = {one.name: one.reason for one in found.providers}
    assert "Omni-Path" in reasons["psm2"]
    assert reasons["cxi"] == "not in the library"
    assert next(one for one in found.providers if one.name == "psm2").warnings == ["no hfi1 units"]
    assert found.warnings == ["no memory monitor"]
    assert described("/x", "given", None, "", "it is too old").problem == "it is too old"
