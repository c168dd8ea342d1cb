"""Requests for jobs, Slurm's answers, the lab's configuration, the document's scripts: read without
a Slurm.
"""

import tomllib
from pathlib import Path

import pytest

from wireproof.lab.slurm import Partition, slurm_conf, topology_conf
from wireproof.launch.schedulers.slurm_answers import (
    JobState,
    hopeless,
    parse_job,
    parse_node_states,
    parse_queue,
    refusal,
    why_ended,
)
from wireproof.launch.schedulers.slurm_commands import (
    JobRequest,
    batch_script,
    job_argv,
    node_states_argv,
    salloc_argv,
)
from wireproof.lint.check import lint_text
from wireproof.model.errors import BadInput
from wireproof.model.topology import Network, Topology


def test_salloc_and_sbatch_ask_for_the_same() -> None:
    names = {"partition": "compute", "account": "a1", "qos": "high", "reservation": "r"}
    more = {"constraint": "ib&hsw", "exclude": ("n3",), "ranks_per_node": 2}
    asked = JobRequest(nodes=16, limit_s=601, **names, **more)  # type: ignore[arg-type]
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
    known = {"reason": "Resources", "starts": "2026-11-21T15:06:55", "waited_s": 3.0}
    assert pending == JobState(job="5", state="PENDING", **known)
    assert parse_queue("RUNNING|None|N/A\n", "5") == JobState(job="5", state="RUNNING")
    odd = parse_queue("PENDING|ReqNodeNotAvail, UnavailableNodes:n[1|2]|N/A", "5")
    assert odd.reason == "ReqNodeNotAvail, UnavailableNodes:n[1|2]"
    for nothing in ("", "slurm_load_jobs error: Invalid job id specified", "\x00\xff|", "a|b|c"):
        assert parse_queue(nothing, "5") is None


def test_a_request_that_waiting_does_not_cure_is_told_at_once() -> None:
    for state, reason, words in (
        ("PENDING", "PartitionTimeLimit", "shorter time limit"),
        ("PENDING", "Resources", ""),
        ("RUNNING", "PartitionTimeLimit", ""),
    ):
        said = hopeless(JobState(job="5", state=state, reason=reason))
        assert (words in said, bool(said)) == (True, bool(words))


SHOWN = (
    "JobId=6 JobName=x UserId=root(0) JobState={state} Reason=None Dependency=(null)"
    " RunTime=00:00:00 TimeLimit=01:00:00 EndTime=2026-11-21T15:01:04 Partition=normal"
    " AllocNode:Sid=n1:81 ReqNodeList=(null) ExcNodeList=(null) NodeList={nodes} BatchHost=n1"
    " NumNodes=2 Command=(null)\n"
)


def test_a_job_as_scontrol_shows_it() -> None:
    info = parse_job(SHOWN.format(state="RUNNING", nodes="n[1-2],n7"))
    assert (info.hosts, info.partition, info.limit) == (("n1", "n2", "n7"), "normal", "01:00:00")
    assert info.ends_unix_s is not None
    assert why_ended(info) == ""
    ended = parse_job(SHOWN.format(state="TIMEOUT", nodes="n1"))
    assert ended is not None
    assert (
        why_ended(ended)
        == "job 6 was ended at its time limit of 01:00:00: give more time, or measure less."
    )
    hostile = parse_job(SHOWN.format(state="RUNNING", nodes="n[0-999999999]"))
    assert hostile.hosts == ()
    assert parse_job("slurm_load_jobs error: Invalid job id specified\n") is None
    assert parse_job("\x00" * 100) is None


def test_states_of_nodes() -> None:
    text = (
        "n1|idle|none\nn1|idle|none\nn2|drained|bad | cable\x1b[31m\nn3|down*|Not responding\n"
        "n4|allocated|none\nn5|mixed-|none\nn6|draining@|x\nn7|idle~|none\nbroken\n||\n"
    )
    states = parse_node_states(text)
    assert [name for name, one in states.items() if one.usable] == ["n1", "n4", "n5", "n7"]
    assert states["n2"].reason == "bad | cable?[31m"
    assert states["n3"].state == "down, not responding"
    assert parse_node_states("") == {}
    assert len(node_states_argv([f"n{number}" for number in range(5000)])) == 4


PRINTED = tomllib.loads(Path(__file__).with_name("printed.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("said", "kind", "words"), PRINTED["refusals"])
def test_refusals_are_one_sentence_with_slurms_own_words(said: str, kind: str, words: str) -> None:
    error = refusal(said)
    assert type(error).__name__ == kind
    assert words in str(error)
    assert "\n" not in str(error)


# --- the lab's own Slurm


def test_the_labs_configuration_names_every_node_and_partition() -> None:
    network = Network(name="mgmt", device="eth0", subnet="10.10.1.0/24")
    topology = Topology(nodes=("n1", "n2"), networks=(network,))
    partitions = (
        Partition(name="normal"),
        Partition(name="one", nodes=("n2",), most_minutes=5, up=False),
    )
    lines = slurm_conf(Path("/x"), topology, cpus=2, partitions=partitions).splitlines()
    assert "SlurmctldHost=n1(10.10.1.1)" in lines
    assert (
        "NodeName=n2 NodeAddr=10.10.1.2 NodeHostname=n2 CPUs=2 RealMemory=2000 State=UNKNOWN"
        in lines
    )
    assert (
        "PartitionName=normal Nodes=n1,n2 Default=YES MaxTime=60 OverSubscribe=NO State=UP" in lines
    )
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
def test_lint_finds_what_the_documents_scripts_fail_by_and_nothing_in_the_corrected_ones(
    name: str,
) -> None:
    found = {"osu": "missing-continuation", "imb": "no-fabric-selection", "opa": "fabric-removed"}
    printed, corrected = DOCUMENT / f"{name}-as-printed.sh", DOCUMENT / f"{name}-corrected.sh"
    codes = {one.code for one in lint_text(printed.read_text(encoding="utf-8"), printed.name)}
    assert {"shebang-option", found[name]} <= codes
    assert lint_text(corrected.read_text(encoding="utf-8"), corrected.name) == []
    example = ROOT / "examples" / "slurm" / "check.sbatch"
    assert lint_text(example.read_text(encoding="utf-8"), example.name) == []
