"""Which provider each MPI takes. Intel MPI's cases were seen with the MPI itself."""

import tomllib
from pathlib import Path

import pytest

from wireproof.launch.engines import Family, MpiInstall
from wireproof.launch.mpi.libfabrics import allowed_by, choose_provider, described
from wireproof.model.diagnosis import Listing, Offer


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


CHOICES = tomllib.loads(Path(__file__).with_name("providers.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("family", "needed", "variables", "provider", "step"), CHOICES["choices"])
def test_the_provider_that_an_mpi_takes(
    family: Family, needed: list[str], variables: dict[str, str], provider: str, step: str
) -> None:
    offered = INTEL if family == "intel" else DEBIAN
    chosen = choose_provider(mpi(family), offered, needed, variables)
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
