"""Options of libfabric become what the plan asks for; those that would be ignored are refused."""

from pathlib import Path

import pytest
from tests.records import made_plan

from wireproof.instrument.plan_text import write_plan
from wireproof.launch.command import build_command
from wireproof.launch.engines import EngineChoice, Family, MpiInstall
from wireproof.launch.registry import LaunchCommand, LaunchRequest
from wireproof.measure.session import Method, Session
from wireproof.model.errors import BadInput
from wireproof.model.plan import Exchange, Libfabric, Transport, TransportKind
from wireproof.options.resolve import read_file, resolve
from wireproof.options.table import Options


def settings(**given: str) -> Options:
    return resolve(given, {})


def test_what_is_asked_of_libfabric_reaches_the_plan() -> None:
    given = {"transport": "ofi", "provider": "tcp;ofi_rxm", "libfabric": "/opt/my lib/l.so.1"}
    method = Method.from_options(settings(**given, messages="msg", completion="delivery"))
    asked = Libfabric(
        provider="tcp;ofi_rxm", library="/opt/my lib/l.so.1", messages="msg", completion="delivery"
    )
    assert method.ofi == asked
    plan = made_plan([], "n1", transport=Transport(kind="ofi", ofi=asked))
    line = next(one for one in write_plan(plan).splitlines() if one.startswith("transport"))
    assert line == (
        "transport kind=ofi provider=tcp;ofi_rxm library=/opt/my%20lib/l.so.1 messages=msg"
        " completion=delivery"
    )


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"provider": "tcp"}, "--provider is for --transport ofi, but the transport is mpi"),
        ({"transport": "tcp", "completion": "delivery"}, "--completion is for --transport ofi"),
        ({"transport": "ofi", "fabric": "psm3"}, "--fabric is for an MPI"),
        ({"exchange": "mpi"}, "--exchange is for --transport ofi, but the transport is mpi"),
    ],
)
def test_an_option_that_would_be_ignored_is_refused(given: dict[str, str], said: str) -> None:
    with pytest.raises(BadInput, match=said):
        Method.from_options(settings(**given))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"provider": "tcp rxm"}, "is not a provider name"),
        ({"libfabric": "lib/libfabric.so.1"}, "is not an absolute path"),
        ({"completion": "soon"}, "is not one of"),
        ({"messages": "rma"}, "is not one of"),
        ({"exchange": "pmix"}, "is not one of"),
    ],
)
def test_a_value_that_is_none_is_one_sentence(given: dict[str, str], said: str) -> None:
    with pytest.raises(BadInput, match=said):
        settings(**given)


def test_a_file_in_the_folder_chooses_no_library(tmp_path: Path) -> None:
    file = tmp_path / "wireproof.toml"
    file.write_text('transport = "ofi"\nlibfabric = "/tmp/other.so"\n', encoding="utf-8")
    with pytest.raises(BadInput, match="libfabric names a program"):
        read_file(file)


@pytest.mark.parametrize(
    ("transport", "exchange", "mpi", "by_mpi"),
    [
        ("mpi", "", "", True),
        ("tcp", "", "intel", False),
        ("ofi", "", "", False),
        ("ofi", "", "intel", True),
        ("ofi", "meeting", "intel", False),
        ("ofi", "mpi", "", True),
    ],
)
def test_addresses_go_through_an_mpi_that_is_named(
    transport: TransportKind, exchange: Exchange, mpi: str, by_mpi: bool
) -> None:
    session = Session(
        title="", points=(), seed=1, transport=transport, mpi=mpi, ofi=Libfabric(exchange=exchange)
    )
    assert session.by_mpi is by_mpi


def started(family: Family, **wishes: object) -> LaunchCommand:
    """Two hosts, whose ranks an MPI starts for libfabric."""
    install = MpiInstall(
        family=family,
        origin="given",
        launcher=Path("/opt/mpi/bin/mpiexec"),
        library=Path("/opt/mpi/lib/libmpi.so"),
        abi="openmpi" if family == "openmpi" else "mpich",
        version="Open MPI v4.1.4" if family == "openmpi" else "5",
    )
    return build_command(
        "mpi",
        LaunchRequest(
            engine=EngineChoice(abi="mpich", path=Path("/opt/engine")),
            install=install,
            hosts=("n1", "n2"),
            nics=("hsn0", "hsn0"),
            over="ofi",
            **wishes,  # type: ignore[arg-type]
        ),
    )


@pytest.mark.parametrize("family", ["mpich", "intel", "openmpi"])
def test_an_mpi_that_carries_addresses_is_left_its_own_choice(family: Family) -> None:
    command = started(family)
    assert list(command.argv[-4:]) == ["/opt/engine", "run", "--transport", "ofi"]
    words = " ".join([*command.argv, *command.environment])
    assert not {"FI_PROVIDER", "UCX_NET_DEVICES", "btl_tcp_if_include"} & set(words.split())


@pytest.mark.parametrize("family", ["mpich", "intel", "openmpi"])
def test_psm3_is_told_the_claimed_nic_whoever_starts_the_ranks(family: Family) -> None:
    command = started(family, fabric="psm3")
    assert "hsn0" in " ".join([*command.argv, *command.environment.values()])


@pytest.mark.parametrize("family", ["mpich", "intel", "openmpi"])
def test_slurm_starts_them_by_the_interface_of_the_mpi(family: Family) -> None:
    command = started(family, scheduler="slurm", starter="scheduler", job="7", fabric="psm3")
    assert f"--mpi={'pmix' if family == 'openmpi' else 'pmi2'}" in command.argv
    assert list(command.argv[-4:]) == ["/opt/engine", "run", "--transport", "ofi"]
    assert command.environment["PSM3_NIC"] == "hsn0"
    assert command.environment["PSM3_MULTI_EP"] == "1"


def test_slurm_tells_psm3_the_claimed_nic_without_an_mpi_too() -> None:
    engine = EngineChoice(abi="nompi", path=Path("/opt/engine"))
    request = LaunchRequest(
        engine=engine,
        hosts=("n1", "n2"),
        nics=("hsn0", "hsn0"),
        over="ofi",
        fabric="psm3",
        meet="10.0.0.1:4000",
        scheduler="slurm",
    )
    command = build_command("ofi", request)
    assert command.environment["PSM3_NIC"] == "hsn0"
    assert list(command.argv[-5:]) == ["run", "--meet", "10.0.0.1:4000", "--transport", "ofi"]
