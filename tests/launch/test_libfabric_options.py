"""Options of libfabric become what the plan asks for; those that would be ignored are refused."""

import tomllib
from pathlib import Path

import pytest
from tests.records import made_plan

from wireproof.instrument.plan_text import write_plan
from wireproof.measure.session import Method, Session
from wireproof.model.errors import BadInput
from wireproof.model.plan import Exchange, Libfabric, Transport, TransportKind
from wireproof.options.resolve import read_file, resolve
from wireproof.options.table import Options

TABLES = tomllib.loads(Path(__file__).with_name("tables.toml").read_text(encoding="utf-8"))


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


@pytest.mark.parametrize(("given", "said"), TABLES["ignored_options"])
def test_an_option_that_would_be_ignored_is_refused(given: dict[str, str], said: str) -> None:
    with pytest.raises(BadInput, match=said):
        Method.from_options(settings(**given))


@pytest.mark.parametrize(("given", "said"), TABLES["no_values"])
def test_a_value_that_is_none_is_one_sentence(given: dict[str, str], said: str) -> None:
    with pytest.raises(BadInput, match=said):
        settings(**given)


def test_a_file_in_the_folder_chooses_no_library(tmp_path: Path) -> None:
    file = tmp_path / "wireproof.toml"
    file.write_text('transport = "ofi"\nlibfabric = "/tmp/other.so"\n', encoding="utf-8")
    with pytest.raises(BadInput, match="libfabric names a program"):
        read_file(file)


@pytest.mark.parametrize(("transport", "exchange", "mpi", "by_mpi"), TABLES["addresses_by_mpi"])
def test_addresses_go_through_an_mpi_that_is_named(
    transport: TransportKind, exchange: Exchange, mpi: str, by_mpi: bool
) -> None:
    session = Session(
        title="", points=(), seed=1, transport=transport, mpi=mpi, ofi=Libfabric(exchange=exchange)
    )
    assert session.by_mpi is by_mpi
