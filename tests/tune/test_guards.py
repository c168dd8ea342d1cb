"""Nodes of others and links that carry the connection are left alone."""

import json
from pathlib import Path

import pytest
from tests.audit.trees import facts_of

from wireproof.launch.schedulers.slurm import Slurm, parse_jobs, slurm_of
from wireproof.launch.schedulers.slurm_answers import parse_node_states
from wireproof.model.errors import BadInput
from wireproof.model.tuning import Change, HostPlan, PlannedChange, TunePlan
from wireproof.target import Target, this_machine
from wireproof.tune.job import may_be_touched
from wireproof.tune.plan import carrying

STATES = parse_node_states(
    "n1|idle|none\nn2|drained|bad\nn3|draining|bad\nn4|allocated|none\nn5|mixed|none\n"
    "n6|down*|gone\nn7|maint|none\nn8|idle~|none\n"
)
JOBS = parse_jobs("7|n[3-4]\n8|n5\nnonsense\n9|(null)\n")


def slurm(ours: str = "", *, alone: bool = False) -> Slurm:
    return Slurm(states=STATES, jobs=JOBS, ours=ours, alone=alone)


@pytest.mark.parametrize(
    ("host", "said"),
    [
        ("n1", "its state in Slurm is idle, so Slurm may start a job"),
        ("n3", "Slurm job 7 runs on it"),
        ("n4", "Slurm job 7 runs on it"),
        ("n5", "Slurm job 8 runs on it"),
        ("n8", "may start a job"),
        ("n1.cluster", "may start a job"),
    ],
)
def test_a_node_of_others_is_refused(host, said):
    assert said in slurm().refusals([host])[host]


@pytest.mark.parametrize("host", ["n2", "n6", "n7", "login1"])
def test_a_node_out_of_service_and_a_stranger_may_be_changed(host):
    assert slurm().refusals([host]) == {}


def test_our_job_has_to_have_the_node_alone():
    assert slurm("7").refusals(["n4"]) == {}
    assert "exclusively" in slurm("8").refusals(["n5"])["n5"]
    assert slurm("8", alone=True).refusals(["n5"]) == {}
    shared = Slurm(states=STATES, jobs={"n5": frozenset({"7", "8"})}, ours="8", alone=True)
    assert "Slurm job 7 also runs on it" in shared.refusals(["n5"])["n5"]


def fake(folder: Path, **answers: str) -> dict[str, str]:
    """Slurm's programs by what they print; a name with status 1 fails."""
    for name, text in answers.items():
        program = folder / name
        (folder / f"{name}.txt").write_text(text)
        end = "exit 1" if text.startswith("slurm_") else "exit 0"
        program.write_text(f'#!/bin/sh\ncat "{folder}/{name}.txt"\n{end}\n')
        program.chmod(0o755)
    return {"PATH": f"{folder}:/usr/bin:/bin"}


def test_slurm_is_asked(tmp_path, monkeypatch):
    environment = fake(
        tmp_path,
        sinfo="n1|mixed|none\nn2|drained|x\n",
        squeue="12|n1\n",
        scontrol="JobId=12 JobState=RUNNING OverSubscribe=NO NodeList=n1\n",
    )
    monkeypatch.setenv("PATH", environment["PATH"])
    inside = slurm_of({**environment, "SLURM_JOB_ID": "12"})
    assert inside.refusals(["n1", "n2"]) == {}
    outside = slurm_of(environment)
    assert set(outside.refusals(["n1", "n2"])) == {"n1"}
    hostile = slurm_of({**environment, "SLURM_JOB_ID": "12; rm -rf /"})
    assert hostile.ours == ""


def test_a_slurm_that_does_not_answer_is_none(tmp_path, monkeypatch):
    environment = fake(tmp_path, sinfo="slurm_load_partitions: Unable to contact controller")
    monkeypatch.setenv("PATH", environment["PATH"])
    assert slurm_of(environment) is None
    monkeypatch.setenv("PATH", str(tmp_path / "none"))
    assert slurm_of(environment) is None


def test_a_plan_for_other_hosts_is_refused():
    change = Change(id="a", value="1", path="/sys/x")
    planned = PlannedChange(change=change, was="0", why="w", undo="u")
    plan = TunePlan(hosts=[HostPlan(host="elsewhere", changes=[planned])])
    with pytest.raises(BadInput, match="not among the given hosts"):
        may_be_touched(plan, this_machine(), {"PATH": "/nowhere"})


def interfaces(*named: tuple[str, list[str], list[str]]):
    nics = [{"name": name, "address": have, "lower": lower} for name, have, lower in named]
    return facts_of({"interfaces": json.dumps(nics)})


TCP = """  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid
   0: 0100000A:0016 0200000A:C350 01 00000000:00000000 00:00000000 00000000     0
   1: 0500000A:0016 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0
   2: 0600000A:0050 0200000A:C350 01 00000000:00000000 00:00000000 00000000     0
"""
TCP6 = "   0: 0000000000000000FFFF00000700000A:0016 0000000000000000FFFF00000200000A:1F90 01 0 \n"
ROUTE = """Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask
eth9\t00000000\t0100000A\t0003\t0\t0\t0\t00000000
eth8\t0000000A\t00000000\t0001\t0\t0\t0\t00FFFFFF
"""


def test_what_carries_the_connection_with_all_below_it():
    facts = interfaces(
        ("bond0.7", ["127.0.0.9/8"], ["bond0"]),
        ("bond0", [], ["eth0", "eth1"]),
        ("eth0", [], []),
        ("eth1", [], []),
        ("hsn0", ["10.1.0.1/24"], []),
    )
    inside = {"SSH_CONNECTION": "192.0.2.1 5000 127.0.0.9 22"}
    assert carrying(this_machine(), "here", facts, inside) == {"bond0.7", "bond0", "eth0", "eth1"}
    assert carrying(this_machine(), "here", facts, {}) == frozenset()


def test_open_ssh_connections_and_the_default_route_carry_too():
    nics = [("a", "10.0.0.1"), ("b", "10.0.0.5"), ("c", "10.0.0.6"), ("d", "10.0.0.7")]
    named = [{"name": name, "address": [f"{address}/24"]} for name, address in nics]
    facts = facts_of(
        {
            "interfaces": json.dumps(named),
            "/proc/net/tcp": TCP,
            "/proc/net/tcp6": TCP6,
            "/proc/net/route": ROUTE,
        }
    )
    assert carrying(this_machine(), "here", facts, {}) == {"a", "d", "eth9"}


def test_a_host_whose_name_has_no_address_may_lose_no_link():
    target = Target(hosts=("no-such-host.invalid",), start_on=("no-such-host.invalid",))
    facts = interfaces(("eth0", ["192.0.2.7/24"], []))
    assert carrying(target, "no-such-host.invalid", facts, {}) is None
