"""The command of each MPI, scheduler and transport: argument list, variables and notes are compared
with the file that a person has read (tests/golden/argv).
"""

import dataclasses
import shlex
from pathlib import Path
from typing import Any

import pytest

from wireproof.launch.command import build_command
from wireproof.launch.engines import Abi, EngineChoice, Family, MpiInstall
from wireproof.launch.mpi.environment import effective, inherited
from wireproof.launch.mpi.rails import told_in
from wireproof.launch.registry import LaunchCommand, LaunchRequest
from wireproof.launch.schedulers.slurm_commands import SlurmFound, slurm_options
from wireproof.model.errors import BadInput, CouldNotMeasure
from wireproof.model.plan import TransportKind

GOLDEN = Path(__file__).parents[1] / "golden" / "argv"
LAUNCHER = {
    "mpich": "/opt/mpich/bin/mpiexec",
    "intel": "/opt/intel/bin/mpiexec.hydra",
    "openmpi": "/opt/ompi/bin/mpirun",
}
VERSION = {
    "mpich": "MPICH 5.0.2",
    "intel": "Intel(R) MPI Library 2021.18.1",
    "openmpi": "Open MPI v5.0.8",
}
FAMILIES: tuple[Family, ...] = ("mpich", "intel", "openmpi")
ABI: dict[str, Abi] = {"mpich": "mpiabi", "intel": "mpiabi", "openmpi": "openmpi"}
TWO, HERE = ("n1", "n2"), ()
EIGHT = tuple(name for name in TWO for _ in range(4))
CONTAINER = ("apptainer", "exec", "--bind", "/opt,/scratch", "/images/mpi.sif")
MEET = "10.0.0.1:22222"
OPENMPI_4 = "Open MPI v4.1.4"
FOUND = SlurmFound(
    plugins=("pmix", "none", "pmi2", "pmix_v4"), pmi2_library="/usr/lib64/libpmi2.so"
)


def request(family: Family, version: str = "", launcher: str = "", **wishes: Any) -> LaunchRequest:
    """Two hosts by ib0, unless ``wishes`` name others; a single NIC is that of every rank."""
    install = MpiInstall(
        family=family,
        origin="given",
        launcher=Path(launcher or LAUNCHER[family]),
        library=Path("/opt/mpi/lib/libmpi.so"),
        abi=ABI[family],
        version=version or VERSION[family],
    )
    engine = EngineChoice(
        abi=ABI[family],
        path=Path("/opt/wp/engine"),
        library_folders=(Path("/opt/mpi/lib"),),
    )
    hosts = wishes.setdefault("hosts", TWO)
    nics = wishes.get("nics", "ib0")
    wishes["nics"] = (nics,) * len(hosts) if isinstance(nics, str) else nics
    return dataclasses.replace(LaunchRequest(engine=engine, install=install), **wishes)


def prterun(**wishes: Any) -> LaunchRequest:
    return request("openmpi", launcher="/opt/prrte/bin/prterun", **wishes)


def flux(family: Family, **wishes: Any) -> LaunchRequest:
    return request(family, scheduler="flux", starter="scheduler", **wishes)


def by_slurm(
    family: Family,
    found: SlurmFound = FOUND,
    job_hosts: tuple[str, ...] = (),
    starter: Any = None,
    **wishes: Any,
) -> LaunchRequest:
    """The first way in a Slurm job."""
    asked = request(family, job="7", **wishes)
    return slurm_options(asked, found, job_hosts=job_hosts, wanted=starter)[0][0]


def mpi_less(**wishes: Any) -> LaunchRequest:
    return dataclasses.replace(request("mpich", meet=MEET, **wishes), install=None)


CASES: dict[str, LaunchRequest] = {
    "mpich-fork": request("mpich", hosts=HERE, ranks=2),
    "mpich-crowded": request("mpich", hosts=HERE, ranks=4, cores=2),
    "mpich-roomy": request("mpich", hosts=HERE, ranks=2, cores=2),
    "intel-crowded": request("intel", hosts=HERE, ranks=4, cores=2),
    "openmpi-crowded": request("openmpi", hosts=HERE, ranks=4, cores=2),
    "openmpi-4-crowded": request("openmpi", OPENMPI_4, hosts=HERE, ranks=4, cores=2),
    "mpich-ssh": request("mpich"),
    "mpich-any-nic": request("mpich", agent="/run/agent", nic_selection="none"),
    "mpich-one-host": request("mpich", hosts=("n1", "n1"), nics=()),
    "mpich-mlx5": request("mpich", nics="mlx5_0:1"),
    "openmpi-one-host": request("openmpi", hosts=("n1", "n1"), nics=()),
    "openmpi-mlx5": request("openmpi", nics="mlx5_0:1"),
    "openmpi-4-agent": request("openmpi", OPENMPI_4, agent="/run/agent", root=True),
    "openmpi-5-agent": request("openmpi", agent="/run/agent", root=True),
    "intel-of-a-lab": request("intel", agent="/run/agent", machine_ranks=2),
    "intel-sections": request("intel", hosts=("n1", "n2", "n1"), nics=("eth0", "eth1", "eth0")),
    "intel-psm3": request("intel", fabric="psm3"),
    "intel-verbs": request("intel", fabric="verbs"),
    "intel-mlx": request("intel", fabric="mlx"),
    "mpich-psm3": request("mpich", fabric="psm3"),
    "mpich-opx": request("mpich", fabric="opx"),
    "intel-wired": request("intel", hosts=HERE, ranks=2, shared_memory=False),
    "mpich-wired": request("mpich", hosts=HERE, ranks=2, shared_memory=False),
    "mpich-wired-tcp": request("mpich", hosts=HERE, ranks=2, shared_memory=False, fabric="tcp"),
    "openmpi-wired": request("openmpi", hosts=HERE, ranks=2, shared_memory=False),
    "rails-mpich": request("mpich", nics="hsn0,hsn1"),
    "rails-mpich-psm3": request("mpich", nics="hsn0,hsn1", fabric="psm3"),
    "rails-mpich-verbs": request("mpich", nics="mlx5_0,mlx5_1", fabric="verbs"),
    "rails-intel-psm3": request("intel", nics="hsn0,hsn1", fabric="psm3"),
    "rails-intel-verbs": request("intel", nics="mlx5_0,mlx5_1", fabric="verbs"),
    "rails-intel-psm2": request("intel", nics="hfi1_0,hfi1_1:2", fabric="psm2"),
    "rails-openmpi": request("openmpi", nics="hsn0,hsn1"),
    "rails-openmpi-ucx": request("openmpi", nics="mlx5_0:1,mlx5_1:1"),
    "rails-any-nic": request("mpich", nics="hsn0,hsn1", nic_selection="none"),
    **{f"ofi-{one}": request(one, over="ofi") for one in FAMILIES},
    **{f"ofi-{one}-psm3": request(one, over="ofi", fabric="psm3") for one in FAMILIES},
    **{
        f"ofi-{one}-slurm": request(
            one, over="ofi", fabric="psm3", job="7", scheduler="slurm", starter="scheduler"
        )
        for one in FAMILIES
    },
    "ofi-slurm": mpi_less(over="ofi", fabric="psm3", scheduler="slurm"),
    "model": dataclasses.replace(request("mpich", hosts=HERE), install=None),
    "tcp": request("mpich", meet=MEET),
    **{f"srun-{one}": by_slurm(one) for one in FAMILIES},
    "srun-openmpi-4": by_slurm("openmpi", version=OPENMPI_4),
    "srun-pmix-v3": by_slurm("openmpi", SlurmFound(plugins=("none", "pmix_v3"))),
    "srun-container": by_slurm("mpich", prefix=CONTAINER),
    "srun-not-in-order": by_slurm("mpich", hosts=("n3", "n1"), job_hosts=("n1", "n2", "n3")),
    "tcp-srun": slurm_options(mpi_less(job="7"), SlurmFound())[0][0],
    **{
        f"slurm-{one}": by_slurm(one, job_hosts=("n1", "n2", "n3"), starter="mpi")
        for one in FAMILIES
    },
    "slurm-intel-ppn": by_slurm("intel", hosts=("n1", "n1", "n2", "n2"), starter="mpi"),
    **{
        f"pbs-{one}": request(one, scheduler="pbs", job="12.srv", starter="scheduler")
        for one in FAMILIES
    },
    **{f"pbs-{one}-ssh": request(one, scheduler="pbs", job="12.srv") for one in FAMILIES},
    **{f"lsf-{one}": request(one, scheduler="lsf", job="12") for one in FAMILIES},
    "lsf-openmpi-jsrun": request(
        "openmpi", scheduler="lsf", agent="/opt/ibm/jsm/bin/jsrun", hosts=EIGHT, cores=64
    ),
    **{f"flux-{one}": flux(one, job="f3") for one in FAMILIES},
    **{f"flux-{one}-ssh": request(one, scheduler="flux", job="f3") for one in FAMILIES},
    "flux-cyclic": flux("mpich", hosts=TWO * 2, nics="", folder="/scratch/$run"),
    "prte": prterun(),
    "prte-agent-4-a-host": prterun(hosts=EIGHT, nics="", agent="/run/agent", root=True),
    "prte-sections": prterun(hosts=("n1", "n2", "n1"), nics=()),
    "prte-local": prterun(hosts=HERE, ranks=2),
    "prte-pbs": prterun(scheduler="pbs", starter="scheduler"),
    "prte-lsf": prterun(scheduler="lsf"),
    **{f"container-{one}": request(one, prefix=CONTAINER) for one in FAMILIES},
    "container-pbs": request("intel", scheduler="pbs", starter="scheduler", prefix=CONTAINER),
    "container-flux": flux("mpich", prefix=CONTAINER),
    "container-prte": prterun(prefix=CONTAINER),
    "modules-lsf": request(
        "openmpi", scheduler="lsf", prefix=("/site/with-modules", "openmpi/5", "--")
    ),
}
TRANSPORTS: dict[str, TransportKind] = {"model": "model", "tcp": "tcp", "ofi": "ofi"}


def built(name: str) -> LaunchCommand:
    """A request without an MPI is for the transport with which its name begins."""
    alone = CASES[name].install is None or name == "tcp"
    return build_command(TRANSPORTS[name.partition("-")[0]] if alone else "mpi", CASES[name])


def shown(command: LaunchCommand) -> str:
    """One word a line, then the variables, then the notes."""
    lines = [shlex.quote(word) for word in command.argv]
    lines += ["", *(f"{name}={value}" for name, value in sorted(command.environment.items()))]
    return "\n".join([*lines, "", *command.notes]).rstrip() + "\n"


@pytest.mark.parametrize("name", CASES)
def test_the_command_is_the_one_that_was_read(name: str) -> None:
    assert shown(built(name)) == (GOLDEN / f"{name}.txt").read_text(encoding="utf-8")


def test_no_golden_is_left_over() -> None:
    assert {path.stem for path in GOLDEN.glob("*.txt")} == set(CASES)


@pytest.mark.parametrize("name", CASES)
def test_every_rank_and_only_named_hosts_are_in_it(name: str) -> None:
    asked, words = CASES[name], built(name).argv
    assert " ".join(asked.rank_argv) in " ".join(words)
    if not words[0].endswith("jsrun"):
        text = " ".join(words).replace("n[1-2]", "n1,n2")
        assert all(host in text for host in asked.hosts)


def test_what_else_a_command_is() -> None:
    assert {one: built(f"pbs-{one}").launcher for one in FAMILIES} == {
        "mpich": "hydra",
        "intel": "intel-hydra",
        "openmpi": "open-mpi-5",
    }
    assert built("model").launcher == "none"
    expecting = dataclasses.replace(CASES["mpich-ssh"].engine, expect="X")
    asked = dataclasses.replace(CASES["mpich-ssh"], engine=expecting)
    assert build_command("mpi", asked).expect == "X"
    assert any("SLURM_HOSTFILE".startswith(prefix) for prefix in built("srun-mpich").clear)


def test_what_an_mpi_is_told_of_its_nics_is_found_again() -> None:
    told = told_in(built("rails-intel-psm2").argv, built("rails-intel-psm2").environment)
    assert told == {
        "FI_PROVIDER": "psm2",
        "PSM2_MULTIRAIL": "1",
        "PSM2_MULTIRAIL_MAP": "0:1,1:2",
    }
    assert told_in(built("rails-openmpi").argv, {}) == {"btl_tcp_if_include": "hsn0,hsn1"}
    assert told_in(("-x", "UCX_NET_DEVICES=a:1", "-x", "A=1"), {}) == {"UCX_NET_DEVICES": "a:1"}
    assert told_in(built("rails-any-nic").argv, built("rails-any-nic").environment) == {}


def test_an_agent_is_stronger_than_the_scheduler() -> None:
    words = build_command("mpi", request("mpich", scheduler="lsf", agent="/run/agent")).argv
    assert words[1:5] == ("-launcher", "ssh", "-launcher-exec", "/run/agent")
    asked = request("openmpi", scheduler="pbs", starter="scheduler", agent="/run/agent")
    words = build_command("mpi", asked).argv
    assert "plm_ssh_agent" in words
    assert "tm" not in words


def test_a_dollar_is_no_variable_of_flux() -> None:
    asked = flux("mpich", extra=(("A", "$HOME/x"),))
    assert "--env=A=$$HOME/x" in build_command("mpi", asked).argv


def test_lab_nodes_share_one_machine_although_their_hosts_differ() -> None:
    hosts = ("n1", "n2", "n3", "n4")
    assert not request("mpich", hosts=hosts, cores=2).crowded
    assert request("mpich", hosts=hosts, cores=2, machine_ranks=4).crowded


def test_ten_thousand_hosts_fit_into_one_argument() -> None:
    hosts = tuple(f"compute{number:05}" for number in range(10_000))
    slurm = {"scheduler": "slurm", "starter": "scheduler"}
    for asked in (flux("mpich", hosts=hosts, nics=()), request("mpich", hosts=hosts, **slurm)):
        assert max(map(len, build_command("mpi", asked).argv)) < 200


UNEVEN, MIXED = ("n1", "n2", "n1"), ("n1", "n2", "n2", "n1")
JSRUN = {"scheduler": "lsf", "starter": "scheduler", "agent": "/bin/jsrun"}
FLUX = {"scheduler": "flux", "starter": "scheduler"}


@pytest.mark.parametrize(
    ("transport", "asked", "said"),
    [
        *(
            ("mpi", request("openmpi", hosts=UNEVEN, nics=(), **one), "same number of ranks")
            for one in (JSRUN, FLUX)
        ),
        *(
            ("mpi", request("openmpi", hosts=MIXED, nics=(), **one), "round-robin")
            for one in (JSRUN, FLUX)
        ),
        *(
            ("mpi", request("openmpi", nics=("ib0", "ib1"), **one), "ib0, ib1")
            for one in (JSRUN, FLUX, {}, {"scheduler": "slurm", "starter": "scheduler"})
        ),
        ("mpi", request("intel", scheduler="lsf", agent="/bin/jsrun"), "blaunch"),
        *(
            ("mpi", request("mpich", prefix=one), "--prefix")
            for one in [("",), (":",), ("-x", "y"), ("a\nb",), ("a", ":"), ("a", "")]
        ),
        *(
            ("mpi", request("intel", nics=one, fabric="psm3"), "hexadecimal")
            for one in ("fab0", "eb0", "0xfab")
        ),
        ("mpi", request("mpich", hosts=HERE, ranks=1), "at least two"),
        ("mpi", request("mpich", hosts=("n1",)), "at least two"),
        ("mpi", request("mpich", hosts=HERE), "at least two"),
        ("mpi", request("mpich", nics=("eth0",)), "1 NICs were given for 2 ranks"),
        ("mpi", request("intel", nics="a,b"), "provider tcp uses one NIC"),
        ("mpi", request("intel", nics="a,b", fabric="opx"), "provider opx uses one NIC"),
        ("tcp", request("mpich", nics="a,b", meet=MEET), "the transport tcp uses one NIC"),
        ("mpi", request("intel", nics="a,b", fabric="psm2"), "a is not an Omni-Path adapter"),
        ("tcp", request("mpich"), "address of rank 0"),
    ],
)
def test_what_no_launcher_can_do_is_one_sentence(
    transport: TransportKind, asked: LaunchRequest, said: str
) -> None:
    with pytest.raises((BadInput, CouldNotMeasure), match=said) as caught:
        build_command(transport, asked)
    assert "\n" not in str(caught.value)


def test_a_prefix_holds_for_every_transport() -> None:
    for transport in ("null", "tcp"):
        command = build_command(transport, request("mpich", prefix=CONTAINER, meet=MEET))
        assert " ".join([*CONTAINER, "/opt/wp/engine", "run"]) in " ".join(command.argv)
        assert any("inside the container" in note for note in command.notes)


def test_no_mpi_may_meet_the_leavings_of_another() -> None:
    around = {
        "PATH": "/bin",
        "HOME": "/root",
        "UCX_TLS": "tcp",
        "SLURM_JOB_ID": "7",
        "I_MPI_ROOT": "/opt/intel",
        "FI_PROVIDER_PATH": "/opt/intel/prov",
        "OMPI_MCA_btl": "self",
        "PMI_RANK": "3",
        "LD_PRELOAD": "x.so",
    }
    mpich, intel, openmpi = (build_command("mpi", request(one)) for one in FAMILIES)
    kept = {"PATH", "HOME", "UCX_TLS", "SLURM_JOB_ID", "LD_LIBRARY_PATH"}
    assert set(effective(mpich, around)) == kept
    assert "OMPI_MCA_btl" in effective(openmpi, around)
    assert "I_MPI_ROOT" in effective(intel, around)
    assert inherited(mpich, around) == {"UCX_TLS": "tcp"}
