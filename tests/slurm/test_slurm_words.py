"""How ranks are started in a Slurm job: choice and argument lists, without one."""

import dataclasses
import shlex
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wireproof.launch.engines import EngineChoice, MpiInstall
from wireproof.launch.registry import LaunchRequest
from wireproof.launch.schedulers.slurm import slurm
from wireproof.launch.schedulers.slurm_commands import (
    SlurmFound,
    parse_plugins,
    request_with,
    slurm_options,
)
from wireproof.model.errors import BadInput
from wireproof.options.hosts import fold_hosts

FOUND = SlurmFound(
    plugins=("pmix", "none", "pmi2", "pmix_v4"), pmi2_library="/usr/lib64/libpmi2.so"
)
FAMILIES = {
    "mpich": MpiInstall(
        family="mpich", origin="PATH", launcher=Path("/mpi/bin/mpiexec"), library=None, abi="mpiabi"
    ),
    "intel": MpiInstall(
        family="intel", origin="PATH", launcher=Path("/impi/bin/mpiexec.hydra"), library=None
    ),
    "openmpi": MpiInstall(
        family="openmpi",
        origin="PATH",
        launcher=Path("/usr/bin/mpirun"),
        library=None,
        version="Open MPI v4.1.4",
    ),
}


def request(family: str, *hosts: str, **more: object) -> LaunchRequest:
    engine = EngineChoice(abi="mpiabi", path=Path("/w/engine"), library_folders=())
    names = hosts or ("n1", "n2")
    return LaunchRequest(
        engine=engine,
        install=FAMILIES[family],
        hosts=names,
        nics=("hsn0",) * len(names),
        job="7",
        **more,
    )  # type: ignore[arg-type]


# --- srun and the MPI's own launcher

SRUN = (
    "srun --jobid=7 --mpi={plugin} --nodes=2 --ntasks=2 --nodelist=n[1-2] --distribution=arbitrary"
    " --input=0"
    " --unbuffered --kill-on-bad-exit=1 --cpu-bind=none --export=ALL /w/engine run"
)


@pytest.mark.parametrize(
    ("family", "plugin"), [("mpich", "pmi2"), ("intel", "pmi2"), ("openmpi", "pmix")]
)
def test_srun_starts_one_rank_on_each_host_in_their_order(family: str, plugin: str) -> None:
    asked = request(family)
    way = slurm_options(asked, FOUND)[0]
    command = slurm(request_with(asked, way))
    assert shlex.join(command.argv) == SRUN.format(plugin=plugin).replace(
        "n[1-2]", "'n[1-2]'"
    ).replace("--nodelist='n[1-2]'", "'--nodelist=n[1-2]'")
    assert command.environment["SLURM_OVERLAP"] == "1"
    assert "SLURM_MPI_TYPE" not in command.environment
    assert any("SLURM_HOSTFILE".startswith(prefix) for prefix in command.clear)


def test_what_each_mpi_is_told_under_srun() -> None:
    told = {
        family: slurm(
            request_with(request(family), slurm_options(request(family), FOUND)[0])
        ).environment
        for family in FAMILIES
    }
    assert told["intel"]["I_MPI_PMI_LIBRARY"] == "/usr/lib64/libpmi2.so"
    assert told["intel"]["FI_TCP_IFACE"] == "hsn0"
    assert told["mpich"]["UCX_NET_DEVICES"] == "hsn0"
    assert told["openmpi"]["OMPI_MCA_btl_tcp_if_include"] == "hsn0"
    assert told["openmpi"]["OMPI_MCA_osc"] == "pt2pt"


@pytest.mark.parametrize(
    ("family", "expected"),
    [
        (
            "mpich",
            (
                "/mpi/bin/mpiexec -launcher slurm -genv FI_TCP_IFACE hsn0 -genv UCX_NET_DEVICES"
                " hsn0"
                " -hosts n1,n2"
            ),
        ),
        (
            "openmpi",
            (
                "/usr/bin/mpirun --bind-to none --mca plm slurm --mca pml ob1 --mca"
                " btl_tcp_if_include"
                " hsn0"
            ),
        ),
    ],
)
def test_the_mpis_own_launcher_has_slurm_start_its_daemons(family: str, expected: str) -> None:
    asked = request(family)
    own = slurm_options(asked, FOUND, wanted="mpi", job_hosts=("n1", "n2", "n3"))[0]
    assert own.starter == "mpi"
    command = slurm(request_with(asked, own))
    assert shlex.join(command.argv).startswith(expected)
    assert "rsh" not in command.argv
    assert "ssh" not in command.argv
    assert command.argv[-2:] == ("/w/engine", "run")
    assert command.environment["SLURM_JOB_NODELIST"] == "n[1-3]"
    assert command.environment["SLURM_JOB_ID"] == "7"
    assert not any("SLURM_JOB_NODELIST" in word for word in command.argv)


def test_intel_mpi_is_told_that_ppn_counts_under_slurm() -> None:
    asked = request("intel", "n1", "n1", "n2", "n2")
    own = slurm_options(asked, FOUND, wanted="mpi")[0]
    command = slurm(request_with(asked, own))
    assert command.environment["I_MPI_JOB_RESPECT_PROCESS_PLACEMENT"] == "0"
    assert "I_MPI_PMI_LIBRARY" not in command.environment
    assert shlex.join(command.argv).endswith("-hosts n1,n2 -ppn 2 -n 4 /w/engine run")


@pytest.mark.parametrize(
    ("family", "found", "why"),
    [
        (
            "openmpi",
            SlurmFound(plugins=("none", "pmi2")),
            "speaks PMIx, and srun offers none, pmi2",
        ),
        ("mpich", SlurmFound(plugins=("none", "pmix")), "speaks PMI-2, and srun offers none, pmix"),
        ("intel", SlurmFound(plugins=("pmi2",)), "libpmi2.so"),
        ("mpich", SlurmFound(), "no plugin list"),
    ],
)
def test_without_the_plugin_the_mpis_own_launcher_is_the_only_way(
    family: str, found: SlurmFound, why: str
) -> None:
    (way,) = slurm_options(request(family), found)
    assert way.starter == "mpi"
    assert why in way.why


def test_an_older_srun_with_one_pmix_version_is_asked_for_that_one() -> None:
    way = slurm_options(request("openmpi"), SlurmFound(plugins=("none", "pmix_v3")))[0]
    assert slurm(request_with(request("openmpi"), way)).argv[2] == "--mpi=pmix_v3"


def test_nics_of_different_names_need_the_mpis_own_launcher() -> None:
    asked = dataclasses.replace(request("mpich"), nics=("enp97s0", "enp182s0"))
    (way,) = slurm_options(asked, FOUND)
    assert way.starter == "mpi"
    assert "enp97s0, enp182s0" in way.why
    with pytest.raises(BadInput, match="enp97s0, enp182s0"):
        slurm(dataclasses.replace(asked, scheduler="slurm", starter="scheduler"))


def test_an_order_that_is_not_the_jobs_is_for_srun_alone() -> None:
    asked = request("mpich", "n3", "n1")
    ways = slurm_options(asked, FOUND, job_hosts=("n1", "n2", "n3"))
    assert [way.starter for way in ways] == ["scheduler"]
    assert "--nodelist=n3,n1" in slurm(request_with(asked, ways[0])).argv
    with pytest.raises(BadInput, match="use Slurm's order"):
        slurm_options(asked, SlurmFound(), job_hosts=("n1", "n2", "n3"))


def test_a_sites_prefix_comes_before_the_engine() -> None:
    asked = request("mpich", prefix=("apptainer", "exec", "image.sif"))
    for way in slurm_options(asked, FOUND):
        assert slurm(request_with(asked, way)).argv[-5:] == (
            "apptainer",
            "exec",
            "image.sif",
            "/w/engine",
            "run",
        )


def test_the_engine_without_mpi_is_started_by_srun_without_a_plugin() -> None:
    asked = dataclasses.replace(request("mpich"), install=None, meet="10.20.1.1:20001")
    (way,) = slurm_options(asked, SlurmFound())
    argv = slurm(request_with(asked, way)).argv
    assert "--mpi=none" in argv
    assert argv[-4:] == ("/w/engine", "run", "--meet", "10.20.1.1:20001")


def test_ten_thousand_hosts_fit_into_one_argument() -> None:
    hosts = tuple(f"node{number:05d}" for number in range(1, 10_001))
    argv = slurm(dataclasses.replace(request("mpich", *hosts), nics=(), starter="scheduler")).argv
    assert "--nodelist=node[00001-10000]" in argv


@pytest.mark.parametrize(
    ("hosts", "folded"),
    [
        (("n1", "n2", "n3", "n7", "n5"), "n[1-3],n7,n5"),
        (("n2", "n1"), "n2,n1"),
        (("n9", "n10"), "n[9-10]"),
        (("n09", "n10", "n011"), "n[09-10],n011"),
        (("n1", "n1", "n2"), "n1,n[1-2]"),
        (("login", "a-1-2", "a-1-3"), "login,a-1-[2-3]"),
        ((), ""),
    ],
)
def test_folding_keeps_order_and_repeats(hosts: tuple[str, ...], folded: str) -> None:
    assert fold_hosts(hosts) == folded


@given(
    st.lists(
        st.from_regex(r"\A[a-c]-?[0-9]{0,3}\Z").filter(lambda name: not name.endswith("-")),
        max_size=12,
    )
)
def test_unfolding_gives_the_hosts_back(hosts: list[str]) -> None:
    from wireproof.options.hosts import parse_hosts

    folded = fold_hosts(hosts)
    assert (list(parse_hosts(folded, repeats=True)) if hosts else []) == hosts


def test_plugins() -> None:
    text = (
        "MPI plugin types are...\n\tpmix\n\tnone\n\tcray_shasta\n\tpmi2\n"
        "specific pmix plugin versions available: pmix_v4\n"
    )
    assert parse_plugins(text) == ("pmix", "none", "cray_shasta", "pmi2", "pmix_v4")
    assert parse_plugins("srun: MPI types are...\nsrun: pmi2\nsrun: none\nsrun: pmix_v3\n") == (
        "pmi2",
        "none",
        "pmix_v3",
    )
    assert parse_plugins("\x00\x1b[31m\n") == ()
