"""Launch: argv and environment of every MPI family, built without running anything."""

from pathlib import Path

import pytest

from wireproof.launch.command import build_command
from wireproof.launch.engines import Abi, EngineChoice, Family, MpiInstall
from wireproof.launch.mpi.environment import effective, inherited
from wireproof.launch.registry import LaunchRequest
from wireproof.model.errors import BadInput, CouldNotMeasure

ENGINE = "/opt/wp/wireproof-engine"
LAUNCHER = {
    "mpich": "/opt/mpich/bin/mpiexec",
    "intel": "/opt/intel/bin/mpiexec.hydra",
    "openmpi": "/usr/bin/mpirun",
}
VERSION = {
    "mpich": "MPICH 5.0.2",
    "intel": "Intel(R) MPI Library 2021.18.1",
    "openmpi": "Open MPI v4.1.4",
}
ABI: dict[str, Abi] = {"mpich": "mpiabi", "intel": "mpiabi", "openmpi": "openmpi"}


def request(family: Family, version: str = "", **wishes: object) -> LaunchRequest:
    install = MpiInstall(
        family=family,
        origin="given",
        launcher=Path(LAUNCHER[family]),
        library=Path("/opt/lib/libmpi.so"),
        abi=ABI[family],
        version=version or VERSION[family],
    )
    engine = EngineChoice(
        abi=ABI[family], path=Path(ENGINE), library_folders=(Path("/opt/lib"),), expect="X"
    )
    return LaunchRequest(engine=engine, install=install, **wishes)  # type: ignore[arg-type]


def argv(family: Family, version: str = "", **wishes: object) -> list[str]:
    return list(build_command("mpi", request(family, version, **wishes)).argv)


LIBRARY = "-genv LD_LIBRARY_PATH /opt/lib"
RUN = f"{ENGINE} run"
TWO: dict[str, object] = {"hosts": ("n1", "n2"), "nics": ("hsn0", "hsn0")}
ONE_HOST: dict[str, object] = {"hosts": ("n1", "n1")}
BY_AGENT = TWO | {"agent": "/run/agent"}


@pytest.mark.parametrize(
    ("family", "wishes", "expected"),
    [
        ("mpich", {"ranks": 2}, f"-launcher fork -rmk user {LIBRARY} -n 2 {RUN}"),
        (
            "mpich",
            TWO,
            (
                f"-launcher ssh -genv FI_TCP_IFACE hsn0 {LIBRARY} -genv UCX_NET_DEVICES hsn0"
                f" -hosts n1,n2 -ppn 1 -n 2 {RUN}"
            ),
        ),
        (
            "mpich",
            BY_AGENT | {"nic_selection": "none"},
            f"-launcher ssh -launcher-exec /run/agent {LIBRARY} -hosts n1,n2 -ppn 1 -n 2 {RUN}",
        ),
        ("mpich", ONE_HOST, f"-launcher ssh {LIBRARY} -hosts n1 -ppn 2 -n 2 {RUN}"),
        (
            "openmpi",
            ONE_HOST,
            (
                "--bind-to none --mca plm rsh"
                f" -x LD_LIBRARY_PATH=/opt/lib --host n1:2 -np 2 --map-by slot {RUN}"
            ),
        ),
        (
            "intel",
            BY_AGENT | {"machine_ranks": 2},
            (
                "-launcher ssh -launcher-exec /run/agent -genv FI_PROVIDER tcp -genv FI_TCP_IFACE"
                f" hsn0 -genv I_MPI_PIN 0 {LIBRARY} -hosts n1,n2 -ppn 1 -n 2 {RUN}"
            ),
        ),
    ],
    ids=["fork", "nic", "agent", "one host", "one host of Open MPI", "agent of Intel MPI"],
)
def test_the_command_of_a_family(family: Family, wishes: dict[str, object], expected: str) -> None:
    assert argv(family, **wishes) == f"{LAUNCHER[family]} {expected}".split()


def test_hosts_in_any_order_and_nics_that_differ_are_told_section_by_section() -> None:
    words = argv("intel", hosts=("n1", "n2", "n1"), nics=("eth0", "eth1", "eth0"))
    first = f"-env FI_PROVIDER tcp -env FI_TCP_IFACE eth0 -n 1 -host n1 {RUN}"
    second = f"-env FI_PROVIDER tcp -env FI_TCP_IFACE eth1 -n 1 -host n2 {RUN}"
    assert words[-38:] == f"{first} : {second} : {first}".split()


def test_intel_mpi_has_its_library_and_its_pinning_in_the_environment_too() -> None:
    command = build_command("mpi", request("intel", **BY_AGENT, machine_ranks=2))
    assert command.environment == {"LD_LIBRARY_PATH": "/opt/lib", "I_MPI_PIN": "0"}
    assert command.expect == "X"


def test_an_rdma_device_is_claimed_through_ucx() -> None:
    words = argv("openmpi", hosts=("n1", "n2"), nics=("mlx5_0:1", "mlx5_0:1"))
    assert "ucx" in words
    assert "UCX_NET_DEVICES=mlx5_0:1" in words
    assert "btl_tcp_if_include" not in words


@pytest.mark.parametrize(
    ("version", "starter", "more"),
    [("Open MPI v4.1.4", "rsh", " --mca osc pt2pt"), ("Open MPI v5.0.11", "ssh", "")],
)
def test_open_mpi_4_and_5(version: str, starter: str, more: str) -> None:
    expected = (
        "/usr/bin/mpirun --allow-run-as-root --bind-to none"
        f" --mca plm {starter} --mca plm_{starter}_agent /run/agent"
        f" --mca pml ob1 --mca btl_tcp_if_include hsn0{more} -x LD_LIBRARY_PATH=/opt/lib"
        f" --host n1,n2 -np 2 --map-by node {RUN}"
    )
    assert argv("openmpi", version, **BY_AGENT, root=True) == expected.split()


def test_open_mpi_takes_one_nic_for_all() -> None:
    with pytest.raises(BadInput, match="eth0, eth1"):
        argv("openmpi", hosts=("n1", "n2"), nics=("eth0", "eth1"))


@pytest.mark.parametrize(
    ("family", "mark"),
    [
        ("mpich", "MPIR_CVAR_POLLS_BEFORE_YIELD"),
        ("intel", "I_MPI_THREAD_YIELD"),
        ("openmpi", "mpi_yield_when_idle"),
    ],
)
def test_more_ranks_than_cores_yield_and_it_is_noted(family: Family, mark: str) -> None:
    crowded = build_command("mpi", request(family, ranks=4, cores=2))
    assert mark in crowded.argv
    assert "4 ranks on 2 cores" in crowded.notes[0]
    roomy = build_command("mpi", request(family, ranks=2, cores=2))
    assert mark not in roomy.argv
    assert not roomy.notes


def test_lab_nodes_share_one_machine_although_their_hosts_differ() -> None:
    hosts = ("n1", "n2", "n3", "n4")
    assert not request("mpich", hosts=hosts, cores=2).crowded
    assert request("mpich", hosts=hosts, cores=2, machine_ranks=4).crowded


@pytest.mark.parametrize(
    ("family", "fabric", "expected"),
    [
        ("intel", "psm3", {"FI_PROVIDER": "psm3", "PSM3_NIC": "hsn0", "PSM3_HAL": "sockets"}),
        ("intel", "verbs", {"FI_PROVIDER": "verbs", "FI_VERBS_IFACE": "hsn0"}),
        ("intel", "mlx", {"FI_PROVIDER": "mlx", "UCX_NET_DEVICES": "hsn0"}),
        (
            "mpich",
            "psm3",
            {"MPIR_CVAR_CH4_NETMOD": "ofi", "FI_PROVIDER": "psm3", "PSM3_HAL": "sockets"},
        ),
        ("mpich", "opx", {"MPIR_CVAR_CH4_NETMOD": "ofi", "FI_PROVIDER": "opx"}),
    ],
)
def test_fabrics(family: Family, fabric: str, expected: dict[str, str]) -> None:
    words = argv(family, hosts=("n1", "n2"), nics=("hsn0", "hsn0"), fabric=fabric)
    for name, value in expected.items():
        assert words[words.index(name) + 1] == value


@pytest.mark.parametrize("nic", ["fab0", "eb0", "0xfab"])
def test_psm3_would_take_a_hexadecimal_name_for_a_number(nic: str) -> None:
    with pytest.raises(BadInput, match="hexadecimal"):
        argv("intel", hosts=("n1", "n2"), nics=(nic, nic), fabric="psm3")


def test_an_rdma_device_keeps_its_port_for_ucx_only() -> None:
    words = argv("mpich", hosts=("n1", "n2"), nics=("mlx5_0:1",) * 2)
    assert words[words.index("UCX_NET_DEVICES") + 1] == "mlx5_0:1"


def test_shared_memory_can_be_forbidden() -> None:
    assert "I_MPI_FABRICS" in argv("intel", ranks=2, shared_memory=False)
    for fabric, transports in (("", "^sm"), ("tcp", "tcp,self")):
        words = argv("mpich", ranks=2, shared_memory=False, fabric=fabric)
        assert words[words.index("UCX_TLS") + 1] == transports
        assert "MPIR_CVAR_NOLOCAL" in words
    words = argv("openmpi", ranks=2, shared_memory=False)
    assert words[words.index("btl") + 1] == "self,tcp"


def test_null_and_model_need_no_launcher() -> None:
    command = build_command(
        "model", LaunchRequest(engine=EngineChoice(abi="nompi", path=Path(ENGINE)))
    )
    assert command.argv == (ENGINE, "run")
    assert command.launcher == "none"


def test_tcp_meets_at_an_address_and_uses_no_mpi_library() -> None:
    wished = request("mpich", hosts=("n1", "n2"), nics=("hsn0", "hsn0"), meet="10.0.0.1:22222")
    command = build_command("tcp", wished)
    end = f"-hosts n1,n2 -ppn 1 -n 2 {RUN} --meet 10.0.0.1:22222"
    assert list(command.argv)[-10:] == end.split()
    assert "UCX_NET_DEVICES" not in command.argv
    assert command.environment == {}
    with pytest.raises(CouldNotMeasure, match="address of rank 0"):
        build_command("tcp", request("mpich", hosts=("n1", "n2")))


@pytest.mark.parametrize("wishes", [{"ranks": 1}, {"hosts": ("n1",)}, {}])
def test_one_rank_is_no_measurement(wishes: dict[str, object]) -> None:
    with pytest.raises(BadInput, match="at least two"):
        argv("mpich", **wishes)


def test_a_nic_for_each_rank_or_none() -> None:
    with pytest.raises(BadInput, match="1 NICs were given for 2 ranks"):
        argv("mpich", hosts=("n1", "n2"), nics=("eth0",))


def test_no_mpi_may_meet_the_leavings_of_another() -> None:
    around = {
        "PATH": "/bin",
        "HOME": "/root",
        "I_MPI_ROOT": "/opt/intel",
        "FI_PROVIDER_PATH": "/opt/intel/prov",
        "OMPI_MCA_btl": "self",
        "PMI_RANK": "3",
        "LD_PRELOAD": "x.so",
        "UCX_TLS": "tcp",
        "SLURM_JOB_ID": "7",
    }
    kept = effective(build_command("mpi", request("mpich", ranks=2)), around)
    assert set(kept) == {"PATH", "HOME", "UCX_TLS", "SLURM_JOB_ID", "LD_LIBRARY_PATH"}
    assert "OMPI_MCA_btl" in effective(build_command("mpi", request("openmpi", ranks=2)), around)
    assert "I_MPI_ROOT" in effective(build_command("mpi", request("intel", ranks=2)), around)
    assert inherited(build_command("mpi", request("mpich", ranks=2)), around) == {"UCX_TLS": "tcp"}
