"""Whose limits are judged: a job's where one can read them, and the result says whose."""

import msgspec
import pytest
from tests.audit.trees import facts_of, judge_machine
from tests.truth.audit_runs import base

from wireproof.audit.facts import WHOSE
from wireproof.audit.job import catalogue
from wireproof.audit.job_facts import of_ranks, with_job
from wireproof.audit.machine import machine_of
from wireproof.instrument.plan_text import Collected
from wireproof.model.record import FactFrame
from wireproof.target import Target

LIMITS = "Limit  Soft  Hard  Units\nMax locked memory  {0}  {0}  bytes\n"
PATH = "/proc/self/limits"


def file(rank: int, text: str, path: str = PATH, status: str = "ok") -> FactFrame:
    return FactFrame(rank=rank, kind="file", status=status, path=path, text=text)  # type: ignore[arg-type]


def test_a_rank_of_the_check_comes_before_the_session() -> None:
    run = base("100gbe")
    hosts = [one.host for one in run.hosts]
    run = msgspec.structs.replace(
        run,
        facts=[
            file(0, LIMITS.format(65536)),
            file(0, "x", "/etc/hostname"),
            file(1, "", status="denied"),
        ],
    )
    job = of_ranks(run)
    assert set(job) == {hosts[0]}
    target = Target(hosts=tuple(hosts), start_on=tuple(hosts), agent="x")
    seen = []
    for host in hosts:
        session = Collected(host, (file(0, LIMITS.format("unlimited")),))
        facts = {one.path: one.text for one in reversed(with_job(session, job, target, ()).frames)}
        facts |= {"/sys/class/infiniband/mlx5_0/ports/1/link_layer": "InfiniBand"}
        (one,) = judge_machine(
            machine_of(facts_of(facts, host)), catalogue(), "throughput", ["limit-memlock"]
        )
        seen.append((one.status, one.message.partition(":")[0]))
    assert seen == [
        ("fail", "Locked memory, of a rank of the check"),
        ("pass", "Locked memory, of the session that reached the host, not of a job"),
    ]


def test_who_did_not_answer_gets_no_frames() -> None:
    silent = Collected("n1", (), "it did not answer")
    assert with_job(silent, {}, Target(hosts=("n1",), start_on=("n1",)), ()) == silent


@pytest.mark.parametrize(
    ("allowed", "status"), [("0-31", "fail"), ("0-40", "pass"), ("", "fail"), ("x", "unknown")]
)
def test_a_job_on_the_other_socket_is_named(allowed: str, status: str) -> None:
    folder = "/sys/class/net/eth0"
    facts = {
        "interfaces": '[{"name": "eth0", "kind": "ethernet", "operstate": "up"}]',
        "/proc/self/status": f"Name:\tx\nCpus_allowed_list:\t{allowed}\n",
        "/proc/cpuinfo": "flags\t\t: fpu\n",
        "/sys/devices/system/node/online": "0-1",
        f"{folder}/speed": "100000",
        f"{folder}/device/local_cpulist": "32-63",
        WHOSE: "a step of job 7",
    }
    (one,) = judge_machine(machine_of(facts_of(facts)), catalogue(), "throughput", ["job-cores"])
    assert one.status == status
