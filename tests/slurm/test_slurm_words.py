"""What is said to Slurm and read from it, without one."""

from __future__ import annotations

import dataclasses
import shlex
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wireproof.lab.slurm_files import Partition, slurm_conf, topology_conf
from wireproof.launch.engines import EngineChoice
from wireproof.launch.install import MpiInstall
from wireproof.launch.request import LaunchRequest
from wireproof.launch.slurm import SlurmFound, fold_hosts, slurm, slurm_ways, way_request
from wireproof.launch.slurm_found import parse_plugins, parse_version
from wireproof.launch.slurm_words import (
    JobRequest,
    JobState,
    batch_script,
    hopeless,
    job_argv,
    node_states_argv,
    parse_job,
    parse_node_states,
    parse_queue,
    refusal,
    salloc_argv,
    why_ended,
)
from wireproof.lint.check import lint_text
from wireproof.model.errors import BadInput, CouldNotMeasure
from wireproof.model.topology import Network, Topology

FOUND = SlurmFound(plugins=("pmix", "none", "pmi2", "pmix_v4"), version=(22, 5), pmi2_library="/usr/lib64/libpmi2.so")
FAMILIES = {
    "mpich": MpiInstall(family="mpich", origin="PATH", launcher=Path("/mpi/bin/mpiexec"), library=None, abi="mpiabi"),
    "intel": MpiInstall(family="intel", origin="PATH", launcher=Path("/impi/bin/mpiexec.hydra"), library=None),
    "openmpi": MpiInstall(
        family="openmpi", origin="PATH", launcher=Path("/usr/bin/mpirun"), library=None, version="Open MPI v4.1.4"
    ),
}


def request(family: str, *hosts: str, **more: object) -> LaunchRequest:
    engine = EngineChoice(abi="mpiabi", path=Path("/w/engine"), library_folders=())
    names = hosts or ("n1", "n2")
    return LaunchRequest(
        engine=engine, install=FAMILIES[family], hosts=names, nics=("hsn0",) * len(names), job="7", **more
    )  # type: ignore[arg-type]


# --- srun and the MPI's own launcher -------------------------------------------------------------------------------

SRUN = (
    "srun --jobid=7 --mpi={plugin} --nodes=2 --ntasks=2 --nodelist=n[1-2] --distribution=arbitrary --input=0"
    " --unbuffered --kill-on-bad-exit=1 --cpu-bind=none --export=ALL /w/engine run"
)


@pytest.mark.parametrize(("family", "plugin"), [("mpich", "pmi2"), ("intel", "pmi2"), ("openmpi", "pmix")])
def test_srun_starts_one_rank_on_each_host_in_their_order(family: str, plugin: str) -> None:
    asked = request(family)
    way = slurm_ways(asked, FOUND)[0]
    command = slurm(way_request(asked, way))
    assert shlex.join(command.argv) == SRUN.format(plugin=plugin).replace("n[1-2]", "'n[1-2]'").replace(
        "--nodelist='n[1-2]'", "'--nodelist=n[1-2]'"
    )
    assert command.environment["SLURM_OVERLAP"] == "1"
    assert "SLURM_MPI_TYPE" not in command.environment
    assert any("SLURM_HOSTFILE".startswith(prefix) for prefix in command.clear)


def test_what_each_mpi_is_told_under_srun() -> None:
    told = {
        family: slurm(way_request(request(family), slurm_ways(request(family), FOUND)[0])).environment
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
        ("mpich", "/mpi/bin/mpiexec -launcher slurm -genv FI_TCP_IFACE hsn0 -genv UCX_NET_DEVICES hsn0 -hosts n1,n2"),
        ("openmpi", "/usr/bin/mpirun --mca plm slurm --bind-to none --mca pml ob1 --mca btl_tcp_if_include hsn0"),
    ],
)  # fmt: skip
def test_the_mpis_own_launcher_has_slurm_start_its_daemons(family: str, expected: str) -> None:
    asked = request(family)
    own = slurm_ways(asked, FOUND, wanted="mpi", job_hosts=("n1", "n2", "n3"))[0]
    assert own.starter == "mpi"
    command = slurm(way_request(asked, own))
    assert shlex.join(command.argv).startswith(expected)
    assert "rsh" not in command.argv
    assert "ssh" not in command.argv
    assert command.argv[-2:] == ("/w/engine", "run")
    assert command.environment["SLURM_JOB_NODELIST"] == "n[1-3]"
    assert command.environment["SLURM_JOB_ID"] == "7"
    assert not any("SLURM_JOB_NODELIST" in word for word in command.argv)


def test_intel_mpi_is_told_that_ppn_counts_under_slurm() -> None:
    asked = request("intel", "n1", "n1", "n2", "n2")
    own = slurm_ways(asked, FOUND, wanted="mpi")[0]
    command = slurm(way_request(asked, own))
    assert command.environment["I_MPI_JOB_RESPECT_PROCESS_PLACEMENT"] == "0"
    assert "I_MPI_PMI_LIBRARY" not in command.environment
    assert shlex.join(command.argv).endswith("-hosts n1,n2 -ppn 2 -n 4 /w/engine run")


@pytest.mark.parametrize(
    ("family", "found", "why"),
    [
        ("openmpi", SlurmFound(plugins=("none", "pmi2")), "speaks PMIx, and srun offers none, pmi2"),
        ("mpich", SlurmFound(plugins=("none", "pmix")), "speaks PMI-2, and srun offers none, pmix"),
        ("intel", SlurmFound(plugins=("pmi2",)), "libpmi2.so"),
        ("mpich", SlurmFound(), "nothing that could be asked for"),
    ],
)
def test_without_the_plugin_the_mpis_own_launcher_is_the_only_way(family: str, found: SlurmFound, why: str) -> None:
    (way,) = slurm_ways(request(family), found)
    assert way.starter == "mpi"
    assert why in way.why


def test_an_older_srun_with_one_pmix_version_is_asked_for_that_one() -> None:
    way = slurm_ways(request("openmpi"), SlurmFound(plugins=("none", "pmix_v3")))[0]
    assert slurm(way_request(request("openmpi"), way)).argv[2] == "--mpi=pmix_v3"


def test_nics_of_different_names_need_the_mpis_own_launcher() -> None:
    asked = dataclasses.replace(request("mpich"), nics=("enp97s0", "enp182s0"))
    (way,) = slurm_ways(asked, FOUND)
    assert way.starter == "mpi"
    assert "enp97s0, enp182s0" in way.why
    with pytest.raises(BadInput, match="enp97s0, enp182s0"):
        slurm(dataclasses.replace(asked, scheduler="slurm", starter="scheduler"))


def test_an_order_that_is_not_the_jobs_is_for_srun_alone() -> None:
    asked = request("mpich", "n3", "n1")
    ways = slurm_ways(asked, FOUND, job_hosts=("n1", "n2", "n3"))
    assert [way.starter for way in ways] == ["scheduler"]
    assert "--nodelist=n3,n1" in slurm(way_request(asked, ways[0])).argv
    with pytest.raises(BadInput, match="keep Slurm's order"):
        slurm_ways(asked, SlurmFound(), job_hosts=("n1", "n2", "n3"))


def test_a_sites_prefix_comes_before_the_engine() -> None:
    asked = request("mpich", prefix=("apptainer", "exec", "image.sif"))
    for way in slurm_ways(asked, FOUND):
        assert slurm(way_request(asked, way)).argv[-5:] == ("apptainer", "exec", "image.sif", "/w/engine", "run")


def test_the_engine_without_mpi_is_started_by_srun_without_a_plugin() -> None:
    asked = dataclasses.replace(request("mpich"), install=None, meet="10.20.1.1:20001")
    (way,) = slurm_ways(asked, SlurmFound())
    argv = slurm(way_request(asked, way)).argv
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


@given(st.lists(st.from_regex(r"\A[a-c]-?[0-9]{0,3}\Z").filter(lambda name: not name.endswith("-")), max_size=12))
def test_unfolding_gives_the_hosts_back(hosts: list[str]) -> None:
    from wireproof.settings.hosts import parse_hosts

    folded = fold_hosts(hosts)
    assert (list(parse_hosts(folded, repeats=True)) if hosts else []) == hosts


def test_plugins_and_version() -> None:
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
    assert parse_version("slurm-wlm 22.05.8") == (22, 5)
    assert parse_version("slurm 23.11.0-0rc1") == (23, 11)
    assert parse_version("") == (0, 0)


# --- jobs ----------------------------------------------------------------------------------------------------------


def test_salloc_and_sbatch_ask_for_the_same() -> None:
    asked = JobRequest(
        nodes=16, partition="compute", limit_s=601, account="a1", qos="high", reservation="r", constraint="ib&hsw",
        hosts=(), exclude=("n3",), ranks_per_node=2,
    )  # fmt: skip
    options = salloc_argv(asked)[1:-1]
    assert salloc_argv(asked)[-1] == "--no-shell"
    assert "--time=11" in options
    assert "--exclude=n3" in options
    assert "--exclusive" in options
    script = batch_script(["wireproof", "check", "--hosts", "a b;rm"], asked)
    assert [line[8:] for line in script.splitlines() if line.startswith("#SBATCH")][:-1] == options
    assert script.startswith("#!/bin/bash\n")
    assert script.endswith("\nwireproof check --hosts 'a b;rm'\n")


@pytest.mark.parametrize(
    "bad",
    [
        JobRequest(),
        JobRequest(nodes=-1),
        JobRequest(nodes=10**7),
        JobRequest(nodes=3, hosts=("n1", "n2")),
        JobRequest(nodes=2, partition="--wrap=x"),
        JobRequest(nodes=2, partition="a\n#SBATCH --uid=0"),
        JobRequest(nodes=2, account="a b"),
        JobRequest(nodes=2, limit_s=-1),
        JobRequest(nodes=2, limit_s=1e12),
        JobRequest(nodes=2, ranks_per_node=0),
        JobRequest(nodes=2, extra=("rm -rf",)),
        JobRequest(nodes=2, extra=("--x=\n",)),
    ],
)
def test_what_cannot_be_asked_for_is_refused(bad: JobRequest) -> None:
    with pytest.raises(BadInput):
        salloc_argv(bad)


@pytest.mark.parametrize("bad", ["", "1;ls", "-u", "1 2", "x", "9" * 40])
def test_a_job_id_is_a_number(bad: str) -> None:
    with pytest.raises(BadInput):
        job_argv(bad)


def test_states_of_a_job() -> None:
    pending = parse_queue("PENDING|Resources|2026-11-21T15:06:55\n", "5", 3.0)
    assert pending == JobState(job="5", state="PENDING", reason="Resources", starts="2026-11-21T15:06:55", waited_s=3.0)
    assert parse_queue("RUNNING|None|N/A\n", "5") == JobState(job="5", state="RUNNING")
    odd = parse_queue("PENDING|ReqNodeNotAvail, UnavailableNodes:n[1|2]|N/A", "5")
    assert odd is not None
    assert odd.reason == "ReqNodeNotAvail, UnavailableNodes:n[1|2]"
    for nothing in ("", "slurm_load_jobs error: Invalid job id specified", "\x00\xff|", "a|b|c"):
        assert parse_queue(nothing, "5") is None


def test_a_request_that_waiting_does_not_cure_is_told_at_once() -> None:
    assert "shorter time limit" in hopeless(JobState(job="5", state="PENDING", reason="PartitionTimeLimit"))
    assert hopeless(JobState(job="5", state="PENDING", reason="Resources")) == ""
    assert hopeless(JobState(job="5", state="RUNNING", reason="PartitionTimeLimit")) == ""


SHOWN = (
    "JobId=6 JobName=x UserId=root(0) JobState={state} Reason=None Dependency=(null) RunTime=00:00:00"
    " TimeLimit=01:00:00 EndTime=2026-11-21T15:01:04 Partition=normal AllocNode:Sid=n1:81 ReqNodeList=(null)"
    " ExcNodeList=(null)"
    " NodeList={nodes} BatchHost=n1 NumNodes=2 Command=(null)\n"
)


def test_a_job_as_scontrol_shows_it() -> None:
    info = parse_job(SHOWN.format(state="RUNNING", nodes="n[1-2],n7"))
    assert info is not None
    assert (info.hosts, info.partition, info.limit) == (("n1", "n2", "n7"), "normal", "01:00:00")
    assert info.ends_unix_s is not None
    assert why_ended(info) == ""
    ended = parse_job(SHOWN.format(state="TIMEOUT", nodes="n1"))
    assert ended is not None
    assert why_ended(ended) == "job 6 was ended by its time limit of 01:00:00: give more time, or measure less."
    hostile = parse_job(SHOWN.format(state="RUNNING", nodes="n[0-999999999]"))
    assert hostile is not None
    assert hostile.hosts == ()
    assert parse_job("slurm_load_jobs error: Invalid job id specified\n") is None
    assert parse_job("\x00" * 100) is None


def test_states_of_nodes() -> None:
    text = (
        "n1|idle|none\nn1|idle|none\nn2|drained|bad | cable\x1b[31m\nn3|down*|Not responding\nn4|allocated|none\n"
        "n5|mixed-|none\nn6|draining@|x\nn7|idle~|none\nbroken\n||\n"
    )
    states = parse_node_states(text)
    assert [name for name, one in states.items() if one.usable] == ["n1", "n4", "n5", "n7"]
    assert states["n2"].reason == "bad | cable?[31m"
    assert states["n3"].state == "down, not responding"
    assert parse_node_states("") == {}
    assert len(node_states_argv([f"n{number}" for number in range(5000)])) == 4


@pytest.mark.parametrize(
    ("said", "kind", "words"),
    [
        (("salloc: error: invalid partition specified: nope\n"
         "salloc: error: Job submit/allocate failed: Invalid partition name specified\n"), BadInput, "specified: nope"),
        ("salloc: error: Job submit/allocate failed: Invalid account or account/partition combination specified\n",
         BadInput, "Invalid account"),
        (("salloc: error: Job submit/allocate failed: Requested node configuration is not available\n"
         "salloc: Job allocation 8 has been revoked.\n"), BadInput, "node configuration is not available"),
        ("salloc: error: Unable to allocate resources: Unable to contact slurm controller (connect failure)\n",
         CouldNotMeasure, "contact slurm controller"),
        ("salloc: error: Job submit/allocate failed: Access/permission denied\n", CouldNotMeasure, "permission denied"),
        ("salloc: error: x\x1b]0;title\x07\n", CouldNotMeasure, "x?]0;title?"),
        ("", CouldNotMeasure, "no reason was given"),
    ],
)  # fmt: skip
def test_refusals_are_one_sentence_with_slurms_own_words(said: str, kind: type[Exception], words: str) -> None:
    error = refusal(said)
    assert type(error) is kind
    assert words in str(error)
    assert "\n" not in str(error)


# --- the lab's own Slurm -------------------------------------------------------------------------------------------


def test_the_labs_configuration_names_every_node_and_partition() -> None:
    network = Network(name="mgmt", device="eth0", subnet="10.10.1.0/24")
    topology = Topology(nodes=("n1", "n2"), networks=(network,))
    partitions = (Partition(name="normal"), Partition(name="one", nodes=("n2",), most_minutes=5, up=False))
    lines = slurm_conf(Path("/x"), topology, cpus=2, partitions=partitions).splitlines()
    assert "SlurmctldHost=n1(10.10.1.1)" in lines
    assert "NodeName=n2 NodeAddr=10.10.1.2 NodeHostname=n2 CPUs=2 RealMemory=2000 State=UNKNOWN" in lines
    assert "PartitionName=normal Nodes=n1,n2 Default=YES MaxTime=60 OverSubscribe=NO State=UP" in lines
    assert "PartitionName=one Nodes=n2 Default=NO MaxTime=5 OverSubscribe=NO State=DOWN" in lines
    for bad in ((), (Partition(name="a b"),), (Partition(name="x", nodes=("n9",)),)):
        with pytest.raises(BadInput):
            slurm_conf(Path("/x"), topology, cpus=2, partitions=bad)
    assert topology_conf({"leaf": ("n1", "n2"), "top": ("leaf",)}) == (
        "SwitchName=leaf Nodes=n1,n2\nSwitchName=top Switches=leaf\n"
    )


ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = Path(__file__).parent / "document"


@pytest.mark.parametrize("name", ["osu", "imb", "opa"])
def test_lint_finds_what_the_documents_scripts_fail_by_and_nothing_in_the_corrected_ones(name: str) -> None:
    found = {"osu": "missing-continuation", "imb": "no-fabric-selection", "opa": "fabric-removed"}
    printed, corrected = DOCUMENT / f"{name}-as-printed.sh", DOCUMENT / f"{name}-corrected.sh"
    codes = {one.code for one in lint_text(printed.read_text(encoding="utf-8"), printed.name)}
    assert {"shebang-option", found[name]} <= codes
    assert lint_text(corrected.read_text(encoding="utf-8"), corrected.name) == []
    example = ROOT / "examples" / "slurm" / "check.sbatch"
    assert lint_text(example.read_text(encoding="utf-8"), example.name) == []
