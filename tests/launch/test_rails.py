"""Rails: what each MPI is told of them, and what can use one NIC only."""

import pytest
from tests.launch.test_command import request

from wireproof.launch.command import build_command
from wireproof.launch.mpi.rails import told_in
from wireproof.model.errors import BadInput

PSM3_TOLD = {"FI_PROVIDER": "psm3", "PSM3_MULTIRAIL": "1", "PSM3_MULTIRAIL_MAP": "hsn0,hsn1"}


@pytest.mark.parametrize(
    ("family", "fabric", "nics", "told"),
    [
        (
            "mpich",
            "",
            "hsn0,hsn1",
            {"UCX_NET_DEVICES": "hsn0,hsn1", "UCX_MAX_EAGER_RAILS": "2", "UCX_MAX_RNDV_RAILS": "2"},
        ),
        ("mpich", "psm3", "hsn0,hsn1", PSM3_TOLD),
        ("intel", "psm3", "hsn0,hsn1", PSM3_TOLD),
        ("intel", "verbs", "mlx5_0,mlx5_1", {"FI_PROVIDER": "verbs", "I_MPI_MULTIRAIL": "1"}),
        (
            "intel",
            "psm2",
            "hfi1_0,hfi1_1:2",
            {"FI_PROVIDER": "psm2", "PSM2_MULTIRAIL": "1", "PSM2_MULTIRAIL_MAP": "0:1,1:2"},
        ),
        (
            "mpich",
            "verbs",
            "mlx5_0,mlx5_1",
            {
                "FI_PROVIDER": "verbs",
                "MPIR_CVAR_CH4_OFI_MAX_NICS": "2",
                "MPIR_CVAR_CH4_OFI_ENABLE_MULTI_NIC_STRIPING": "1",
                "MPIR_CVAR_CH4_OFI_ENABLE_MULTI_NIC_HASHING": "1",
            },
        ),
        ("openmpi", "", "hsn0,hsn1", {"btl_tcp_if_include": "hsn0,hsn1"}),
        (
            "openmpi",
            "",
            "mlx5_0:1,mlx5_1:1",
            {
                "UCX_NET_DEVICES": "mlx5_0:1,mlx5_1:1",
                "UCX_MAX_EAGER_RAILS": "2",
                "UCX_MAX_RNDV_RAILS": "2",
            },
        ),
    ],
)
def test_each_mpi_is_told_its_own_variables(
    family: str, fabric: str, nics: str, told: dict[str, str]
) -> None:
    wanted = request(family, hosts=("n1", "n2"), nics=(nics, nics), fabric=fabric)  # type: ignore[arg-type]
    command = build_command("mpi", wanted)
    assert told_in(command.argv, command.environment) == told


@pytest.mark.parametrize(
    ("family", "fabric", "transport", "said"),
    [
        ("intel", "", "mpi", "provider tcp uses one NIC"),
        ("intel", "opx", "mpi", "provider opx uses one NIC"),
        ("mpich", "", "tcp", "the transport tcp uses one NIC"),
        ("intel", "psm2", "mpi", "hsn0 is not an Omni-Path adapter"),
    ],
)
def test_what_can_use_one_nic_only_says_so(
    family: str, fabric: str, transport: str, said: str
) -> None:
    wanted = request(
        family,  # type: ignore[arg-type]
        hosts=("n1", "n2"),
        nics=("hsn0,hsn1",) * 2,
        fabric=fabric,
        meet="10.0.0.1:22222",
    )
    with pytest.raises(BadInput, match=said) as error:
        build_command(transport, wanted)  # type: ignore[arg-type]
    assert "\n" not in str(error.value)


def test_the_mpi_keeps_its_choice_where_it_is_left_to_it() -> None:
    wanted = request("mpich", hosts=("n1", "n2"), nics=("hsn0,hsn1",) * 2, nic_selection="none")
    command = build_command("mpi", wanted)
    assert told_in(command.argv, command.environment) == {}
