"""A provider that libfabric gave in another's place is a finding; the usual layers are none."""

import re

import pytest
from tests.changed_runs import set_
from tests.synthetic import World, run_of

from wireproof.model.record import LibfabricUsed
from wireproof.model.run import Run
from wireproof.verdict.catalogue import CATALOGUE
from wireproof.verdict.run import OF_A_LIBRARY, judge


def ran(provider: str, wanted: str, **fabric: str) -> Run:
    """A sound run over libfabric's ``provider``, where ``wanted`` was claimed."""
    run = run_of(World(sizes=(8, 1 << 20)))
    found = LibfabricUsed(provider=provider, **fabric)  # type: ignore[arg-type]
    return set_(
        run,
        open=set_(run.open, transport="ofi"),
        hosts=[set_(host, fabric=found) for host in run.hosts],
        claim=set_(run.claim, provider=wanted),
    )


def codes(run: Run) -> set[str]:
    return {one.code for one in judge(run).findings}


@pytest.mark.parametrize(
    ("provider", "wanted"),
    [
        ("tcp", "tcp"),
        ("tcp;ofi_rxm", "tcp"),
        ("tcp;ofi_rxm", ""),
        ("verbs;ofi_rxm", "verbs"),
        ("udp;ofi_rxd", "udp"),
        ("psm3;ofi_rxd", "psm3;ofi_rxd"),
        ("psm3", "psm3"),
    ],
)
def test_the_provider_that_was_asked_for_is_no_finding(provider: str, wanted: str) -> None:
    assert "provider-fallback" not in codes(ran(provider, wanted))


@pytest.mark.parametrize(
    ("provider", "wanted", "said"),
    [
        ("tcp;ofi_rxm", "psm3", "psm3 was requested, but tcp;ofi_rxm was used"),
        ("psm3;ofi_rxd", "psm3", "ofi_rxd is not usual over psm3"),
        ("verbs;ofi_rxd", "", "ofi_rxd is not usual over verbs"),
        ("shm", "shm", "does not leave the machine, and a wire is claimed"),
    ],
)
def test_another_one_fails_and_says_what_answered(provider: str, wanted: str, said: str) -> None:
    judged = judge(ran(provider, wanted))
    found = [one for one in judged.findings if one.code == "provider-fallback"]
    assert found
    assert said in found[0].message
    assert judged.verdict == "fail"


def test_without_libfabric_nothing_is_said() -> None:
    assert "provider-fallback" not in codes(run_of(World(sizes=(8,))))


@pytest.mark.parametrize(
    ("completion", "remote", "early"),
    [
        ("delivery", "", False),
        ("transmit", "", True),
        ("", "", True),
        ("delivery", "delivery", False),
        ("transmit", "read-back", False),
        ("transmit", "local", True),
    ],
)
def test_a_put_that_ends_before_the_target_has_it_is_said(
    completion: str, remote: str, early: bool
) -> None:
    run = ran("tcp", "tcp", completion=completion, remote=remote)
    puts = [set_(point, pattern="put") for point in run.points]
    assert ("completion-local" in codes(set_(run, points=puts))) is early
    gets = [set_(point, pattern="get") for point in run.points]
    assert "completion-local" not in codes(set_(run, points=gets))
    assert "completion-local" not in codes(run)


def test_ranks_that_differ_are_a_finding() -> None:
    run = ran("tcp", "tcp", exchange="mpi", api_version="1.17", domain="hsn0")
    assert "provider-differs" not in codes(run)
    last = run.hosts[-1]
    others = [
        *run.hosts[:-1],
        set_(last, fabric=set_(last.fabric, api_version="2.4", domain="ib1")),
    ]
    found = [
        one for one in judge(set_(run, hosts=others)).findings if one.code == "provider-differs"
    ]
    assert [one.severity for one in found] == ["warning"]
    assert "api version is 1.17" in found[0].message
    assert "2.4" in found[0].message


# --- Our own sockets have no library: advice about one is useless there.


@pytest.mark.parametrize("path", ["mgmt", "stripe"])
def test_our_own_sockets_are_never_told_of_mpi_variables(path: str) -> None:
    run = run_of(World(path=path, sizes=(8, 1 << 20)))
    assert run.open is not None
    own = judge(set_(run, open=set_(run.open, transport="tcp")))
    assert own.verdict == "fail"
    for one in own.findings:
        assert not any(
            word in one.advice for word in ("UCX_", "FI_", "btl_", "PSM3_", "I_MPI_", "MPIR_")
        ), one
    assert any("ip route get" in one.advice for one in own.findings)
    assert any("UCX_" in one.advice for one in judge(run).findings)


def test_the_list_is_that_of_the_codes_whose_advice_names_a_variable_of_a_library() -> None:
    variable = re.compile(r"\b(UCX_|FI_|I_MPI_|PSM3_|MPIR_|OMPI_|btl_|LD_LIBRARY_PATH)")
    named = {code for code, entry in CATALOGUE.items() if variable.search(entry.next_action)}
    # PSM3 is asked for by name, and its variables count without an MPI too.
    of_psm3 = {code for code in named if code.startswith(("psm-", "pfc-"))}
    assert named - of_psm3 == OF_A_LIBRARY
