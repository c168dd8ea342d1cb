"""Our own sockets have no library: advice about one is useless there."""

import re

import pytest
from tests.changed_runs import set_
from tests.synthetic import World, run_of

from wireproof.verdict.catalogue import CATALOGUE
from wireproof.verdict.run import OF_A_LIBRARY, judge


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
