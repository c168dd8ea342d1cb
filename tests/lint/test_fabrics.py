"""The provider that lint advises is that of the fabric which the recipe names."""

import pytest

from wireproof.lint.check import lint_text

FOREIGN = {"psm2": "mlx", "mlx": "psm2"}
LAUNCH = "mpirun -n 2 -ppn 1 -hosts a,b"


@pytest.mark.parametrize(
    ("line", "provider"),
    [
        ("export I_MPI_DAPL_UD=enable", "mlx"),
        ("export I_MPI_DAPL_UD_PROVIDER=ofa-v2-mlx5_0-1u", "mlx"),
        ("export I_MPI_DAPL_PROVIDER=ofa-v2-ib0", "mlx"),
        ("export I_MPI_DAPL_PROVIDER=ofa-v2-hfi1_0-1u", "psm2"),
        ("export I_MPI_OFA_NUM_PORTS=2", "mlx"),
        ("export I_MPI_RDMA_TRANSLATION_CACHE=1", "mlx"),
        ("export I_MPI_TMI_DEBUG=1", "psm2"),
        ("export I_MPI_DEVICE=rdssm", "mlx"),
        ("export I_MPI_TCP_NETMASK=eth", "tcp"),
        (f"{LAUNCH} -genv I_MPI_DAPL_UD 1 -genv FI_PROVIDER mlx ./a.out", "mlx"),
        ("export I_MPI_FABRICS=shm:dapl", "mlx"),
        ("export I_MPI_FABRICS=ofa", "mlx"),
        ("export I_MPI_FABRICS=shm:tmi", "psm2"),
        ("export FI_PROVIDER=dapl", "mlx"),
        ("export FI_PROVIDER=tmi", "psm2"),
        (f"{LAUNCH} -DAPL IMB-MPI1 PingPong", "mlx"),
        (f"{LAUNCH} -ib IMB-MPI1 PingPong", "mlx"),
        (f"{LAUNCH} -TMI IMB-MPI1 PingPong", "psm2"),
    ],
)
def test_the_advice_follows_the_fabric(line: str, provider: str) -> None:
    codes = {"variable-removed", "fabric-removed", "fabric-is-provider", "option-removed"}
    found = [one for one in lint_text(line + "\n", "job.sh") if one.code in codes]
    assert found
    for one in found:
        assert provider in one.right
        assert FOREIGN.get(provider, "psm") not in one.right


def test_without_a_fabric_every_provider_is_named_with_its_fabric() -> None:
    (found,) = lint_text("export I_MPI_DYNAMIC_CONNECTION_MODE=disconnect\n", "job.sh")
    assert "mlx (InfiniBand), psm2 (Omni-Path)" in found.right


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("mpirun -genv I_MPI_DAPL_UD 1 -n 2 ./a", "mpirun -n 2 ./a"),
        ("mpirun -n 2 -env I_MPI_OFA_NUM_PORTS=2 ./a", "mpirun -n 2 ./a"),
        ('mpirun -genv I_MPI_DAPL_PROVIDER "$X" -n 2 ./a', None),
        ("mpirun -n 2 -genv I_MPI_DAPL_UD 1 \\\n  ./a", None),
        ("export I_MPI_DAPL_UD=1", None),
    ],
)
def test_an_option_that_sets_what_is_gone_goes(before: str, after: str | None) -> None:
    """What nobody reads is left out of the right line, if the line is read for sure."""
    head = "source /opt/intel/oneapi/mpi/latest/env/vars.sh\n"
    found = lint_text(f"{head}{before}\n", "job.sh")
    (gone,) = [one for one in found if one.code == "variable-removed"]
    assert (gone.fix or None) == after


def test_the_new_form_of_flow_credits_keeps_their_number() -> None:
    (finding,) = [
        one
        for one in lint_text("#!/bin/bash\nexport PSM3_FLOW_CREDITS=32\n", "x.sh")
        if one.code == "flow-credits-form"
    ]
    assert finding.right.startswith("PSM3_FLOW_CREDITS=32:32:0")
