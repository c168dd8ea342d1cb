"""Launchers of schedulers: each argument list is compared with the file that a person has read
(tests/golden/argv).
"""

import dataclasses
import shlex
from pathlib import Path

import pytest

from wireproof.launch.command import build_command
from wireproof.launch.engines import Abi, EngineChoice, Family, MpiInstall
from wireproof.launch.registry import LaunchRequest
from wireproof.model.errors import BadInput

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
ABI: dict[str, Abi] = {"mpich": "mpiabi", "intel": "mpiabi", "openmpi": "openmpi"}
TWO = ("n1", "n2")
EIGHT = tuple(name for name in TWO for _ in range(4))
CONTAINER = ("apptainer", "exec", "--bind", "/opt,/scratch", "/images/mpi.sif")


def request(family: Family, **wishes: object) -> LaunchRequest:
    install = MpiInstall(
        family=family,
        origin="given",
        launcher=Path(LAUNCHER[family]),
        library=Path("/opt/mpi/lib/libmpi.so"),
        abi=ABI[family],
        version=VERSION[family],
    )
    engine = EngineChoice(
        abi=ABI[family], path=Path("/opt/wp/engine"), library_folders=(Path("/opt/mpi/lib"),)
    )
    plain = LaunchRequest(engine=engine, install=install, hosts=TWO, nics=("ib0", "ib0"))
    return dataclasses.replace(plain, **wishes)  # type: ignore[arg-type]


def prterun(**wishes: object) -> LaunchRequest:
    asked = request("openmpi", **wishes)
    assert asked.install is not None
    return dataclasses.replace(
        asked, install=dataclasses.replace(asked.install, launcher=Path("/opt/prrte/bin/prterun"))
    )


FAMILIES: tuple[Family, ...] = ("mpich", "intel", "openmpi")
CASES: dict[str, LaunchRequest] = {
    **{
        f"pbs-{one}": request(one, scheduler="pbs", job="12.srv", starter="scheduler")
        for one in FAMILIES
    },
    **{f"pbs-{one}-ssh": request(one, scheduler="pbs", job="12.srv") for one in FAMILIES},
    **{f"lsf-{one}": request(one, scheduler="lsf", job="12") for one in FAMILIES},
    "lsf-openmpi-jsrun": request(
        "openmpi",
        scheduler="lsf",
        agent="/opt/ibm/jsm/bin/jsrun",
        hosts=EIGHT,
        nics=("ib0",) * 8,
        cores=64,
    ),
    **{
        f"flux-{one}": request(one, scheduler="flux", job="f3", starter="scheduler")
        for one in FAMILIES
    },
    **{f"flux-{one}-ssh": request(one, scheduler="flux", job="f3") for one in FAMILIES},
    "flux-cyclic": request(
        "mpich",
        scheduler="flux",
        starter="scheduler",
        hosts=TWO * 2,
        nics=("",) * 4,
        folder="/scratch/$run",
    ),
    "prte": prterun(),
    "prte-agent-4-a-host": prterun(hosts=EIGHT, nics=("",) * 8, agent="/run/agent", root=True),
    "prte-sections": prterun(hosts=("n1", "n2", "n1"), nics=()),
    "prte-local": prterun(hosts=(), ranks=2, nics=()),
    "prte-pbs": prterun(scheduler="pbs", starter="scheduler"),
    "prte-lsf": prterun(scheduler="lsf"),
    **{f"container-{one}": request(one, prefix=CONTAINER) for one in FAMILIES},
    "container-pbs": request("intel", scheduler="pbs", starter="scheduler", prefix=CONTAINER),
    "container-flux": request("mpich", scheduler="flux", starter="scheduler", prefix=CONTAINER),
    "container-prte": prterun(prefix=CONTAINER),
    "modules-lsf": request(
        "openmpi", scheduler="lsf", prefix=("/site/with-modules", "openmpi/5", "--")
    ),
}


def shown(asked: LaunchRequest) -> str:
    """One word a line, then the variables, then the notes."""
    command = build_command("mpi", asked)
    lines = [shlex.quote(word) for word in command.argv]
    lines += ["", *(f"{name}={value}" for name, value in sorted(command.environment.items()))]
    return "\n".join([*lines, "", *command.notes]).rstrip() + "\n"


@pytest.mark.parametrize("name", CASES)
def test_the_argument_list_is_the_one_that_was_read(name: str) -> None:
    assert shown(CASES[name]) == (GOLDEN / f"{name}.txt").read_text(encoding="utf-8")


def test_no_golden_is_left_over() -> None:
    assert {path.stem for path in GOLDEN.glob("*.txt")} == set(CASES)


@pytest.mark.parametrize("name", CASES)
def test_every_rank_and_only_named_hosts_are_in_it(name: str) -> None:
    asked = CASES[name]
    words = build_command("mpi", asked).argv
    assert words[-len(asked.rank_argv) :] == tuple(asked.rank_argv)
    if not words[0].endswith("jsrun") and asked.hosts:
        text = " ".join(words).replace("n[1-2]", "n1,n2")
        assert all(host in text for host in asked.hosts)


def test_an_agent_is_stronger_than_the_scheduler() -> None:
    words = build_command("mpi", request("mpich", scheduler="lsf", agent="/run/agent")).argv
    assert words[1:5] == ("-launcher", "ssh", "-launcher-exec", "/run/agent")
    words = build_command(
        "mpi", request("openmpi", scheduler="pbs", starter="scheduler", agent="/run/agent")
    ).argv
    assert "plm_ssh_agent" in words
    assert "tm" not in words


def test_a_dollar_is_no_variable_of_flux() -> None:
    asked = request("mpich", scheduler="flux", starter="scheduler", extra=(("A", "$HOME/x"),))
    assert "--env=A=$$HOME/x" in build_command("mpi", asked).argv


@pytest.mark.parametrize(("scheduler", "agent"), [("flux", ""), ("lsf", "/bin/jsrun")])
def test_what_one_call_cannot_say_is_refused(scheduler: str, agent: str) -> None:
    wishes = {"scheduler": scheduler, "starter": "scheduler", "agent": agent}
    with pytest.raises(BadInput, match="same number of ranks"):
        build_command("mpi", request("openmpi", hosts=("n1", "n2", "n1"), nics=(), **wishes))
    with pytest.raises(BadInput, match="round-robin"):
        build_command("mpi", request("openmpi", hosts=("n1", "n2", "n2", "n1"), nics=(), **wishes))
    with pytest.raises(BadInput, match="ib0, ib1"):
        build_command("mpi", request("openmpi", nics=("ib0", "ib1"), **wishes))


def test_jsrun_is_no_launcher_of_hydras_families() -> None:
    with pytest.raises(BadInput, match="blaunch"):
        build_command("mpi", request("intel", scheduler="lsf", agent="/bin/jsrun"))


def test_ten_thousand_hosts_fit_into_one_argument_of_flux() -> None:
    hosts = tuple(f"compute{number:05}" for number in range(10_000))
    asked = request("mpich", scheduler="flux", starter="scheduler", hosts=hosts, nics=())
    assert max(map(len, build_command("mpi", asked).argv)) < 200


@pytest.mark.parametrize("prefix", [("",), (":",), ("-x", "y"), ("a\nb",), ("a", ":"), ("a", "")])
def test_a_prefix_that_a_launcher_would_misread_is_refused(prefix: tuple[str, ...]) -> None:
    with pytest.raises(BadInput, match="--prefix"):
        build_command("mpi", request("mpich", prefix=prefix))


def test_a_prefix_holds_for_every_transport() -> None:
    for transport in ("null", "tcp"):
        asked = request("mpich", prefix=CONTAINER, meet="10.0.0.1:20000")
        command = build_command(transport, asked)
        assert " ".join([*CONTAINER, "/opt/wp/engine", "run"]) in " ".join(command.argv)
        assert any("inside the container" in note for note in command.notes)
