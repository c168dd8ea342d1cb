"""What UCX, libfabric and Intel MPI say of their settings."""

from __future__ import annotations

from pathlib import Path

import pytest

from wireproof.adapters.readback import (
    intelmpi_defaults,
    intelmpi_readback,
    libfabric_readback,
    ucx_readback,
)
from wireproof.model.psm3 import Seen

GOLDEN = Path(__file__).parents[1] / "golden" / "readback"


def said(name: str) -> str:
    return (GOLDEN / name).read_text(encoding="utf-8")


def values(found: list[Seen], setting: str) -> list[tuple[str, str]]:
    return [(one.value, one.kind) for one in found if one.setting == setting]


def test_ucx_says_which_transports_and_devices_were_used() -> None:
    found = ucx_readback(said("ucx_1.13.txt"))
    assert values(found, "UCX_TLS") == [("tcp,self", "given"), ("self,tcp", "observed")]
    assert values(found, "UCX_NET_DEVICES") == [("eth0,lo,memory0", "observed")]
    assert values(found, "version") == [("1.13.1", "observed")]


def test_a_variable_that_ucx_does_not_know_is_unused() -> None:
    found = ucx_readback(said("ucx_1.13.txt"))
    assert values(found, "UCX_NONSENSE") == [("unused", "observed")]


def test_the_form_of_later_ucx() -> None:
    line = (
        "[1700000000.1] [n1:77:0]   ucp_context.c:2119 UCX  INFO    ucp_context_0 inter-node "
        "cfg#2 tag(rc_mlx5/mlx5_0:1 rc_mlx5/mlx5_1:1)"
    )
    assert values(ucx_readback(line), "UCX_TLS") == [("rc_mlx5", "observed")]
    assert values(ucx_readback(line), "UCX_NET_DEVICES") == [("mlx5_0:1,mlx5_1:1", "observed")]


def test_ucx_info_is_what_would_be_taken() -> None:
    found = ucx_readback("#\n# UCX configuration\nUCX_TLS=all\nUCX_RNDV_THRESH=auto\n")
    assert values(found, "UCX_RNDV_THRESH") == [("auto", "taken")]


def test_libfabric_names_the_variables_that_it_read() -> None:
    found = libfabric_readback(said("libfabric.txt"))
    assert values(found, "FI_PROVIDER") == [("tcp", "taken"), ("tcp", "observed")]
    assert values(found, "FI_TCP_IFACE") == [("lo", "taken")]
    assert values(found, "FI_UNIVERSE_SIZE") == []  # not set: nothing is guessed


def test_intel_mpi_says_provider_nics_and_the_file_that_was_there() -> None:
    found = intelmpi_readback(said("intelmpi_2021.18.txt"))
    assert values(found, "I_MPI_OFI_PROVIDER") == [("psm3", "observed")]
    assert values(found, "nic") == [("hsn0", "observed")]
    assert values(found, "I_MPI_FABRICS") == [("ofi", "given")]
    (tuning,) = values(found, "I_MPI_TUNING_BIN")
    assert tuning == ("/opt/impi/opt/mpi/etc//tuning_skx_ofi_psm3.dat", "observed")


def test_impi_info_knows_defaults_alone() -> None:
    found = intelmpi_defaults(said("impi_info.txt"))
    assert found["I_MPI_JOB_STARTUP_TIMEOUT"] == "-1"
    assert found["I_MPI_PERHOST"] == ""
    assert "NAME" not in found


@pytest.mark.parametrize("read", [ucx_readback, libfabric_readback, intelmpi_readback])
def test_every_value_has_its_line(read: object) -> None:
    for name in ("ucx_1.13.txt", "libfabric.txt", "intelmpi_2021.18.txt"):
        lines = said(name).split("\n")
        for one in read(said(name)):  # type: ignore[operator]
            assert lines[one.number - 1].strip()[:300] == one.line
    assert read("") == []  # type: ignore[operator]
    assert read("PASSWORD=1\n[0] nothing\n\x00\n") == []  # type: ignore[operator]


def test_secrets_are_masked() -> None:
    found = ucx_readback("UCX_SECRET_TOKEN=hunter2\n")
    assert [one.value for one in found] == ["***"]
    assert "hunter2" not in found[0].line
