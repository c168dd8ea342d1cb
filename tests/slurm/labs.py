"""A lab of four nodes on two networks with a Slurm in it, and engine runs in its jobs."""

import dataclasses
import itertools
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.mpi.mpis import install_of

from wireproof.instrument import OnFrame, Outcome, Recording, measure
from wireproof.lab.cluster import Lab, up
from wireproof.lab.slurm import LabSlurm, Partition, slurm_up
from wireproof.launch.command import engine_for, provenance
from wireproof.launch.registry import Allocation, LaunchCommand, LaunchRequest
from wireproof.model.claim import Claim, HostClaim
from wireproof.model.errors import LabError
from wireproof.model.plan import Plan, Point, Policy, RankPlace, Transport
from wireproof.model.topology import Network, Topology

MGMT = Network(name="mgmt", device="eth0", rate="1gbit", subnet="10.10.1.0/24")
FABRIC = Network(name="hsn", device="hsn0", rate="1gbit", subnet="10.20.1.0/24")
NODES = ("n1", "n2", "n3", "n4")
PARTITIONS = (
    Partition(name="normal"),
    Partition(name="short", most_minutes=1),
    Partition(name="closed", up=False),
    Partition(name="pair", nodes=("n1", "n2")),
)
SWITCHES = {"leaf1": ("n1", "n2"), "leaf2": ("n3", "n4"), "spine": ("leaf1", "leaf2")}
POLICY = Policy(point_budget_ms=150, point_deadline_ms=20_000, run_deadline_ms=60_000, yield_=1)
MIB = 1 << 20
_NUMBERS = itertools.count(1)


@dataclasses.dataclass(frozen=True)
class Cluster:
    """``through``: words that run the rest of a command on the first node."""

    lab: Lab
    slurm: LabSlurm

    @property
    def through(self) -> tuple[str, ...]:
        return tuple(self.lab.exec_argv(self.slurm.head, ["x"])[:-1])

    def queue(self) -> str:
        return self.slurm.run(["squeue", "--noheader", "--format=%i"]).stdout.strip()

    def batch(self, script: Path, seconds: float = 90) -> str:
        """Submit the script from its folder and wait for its end; its id. ``sbatch --wait`` asks
        too seldom.
        """
        done = self.slurm.run(["sbatch", "--parsable", str(script)], cwd=script.parent)
        assert done.returncode == 0, done.stderr
        job, until = done.stdout.strip(), time.monotonic() + seconds
        while job in self.queue().split() and time.monotonic() < until:
            time.sleep(0.2)
        return job

    def sent(self, node: str, device: str) -> int:
        return self.lab.counters(node, device)["tx_bytes"]


def gone(here: Cluster, seconds: float = 15) -> bool:
    """No job is left in the queue before the time is over: Slurm lists a job while it ends."""
    until = time.monotonic() + seconds
    while here.queue() and time.monotonic() < until:
        time.sleep(0.1)
    return here.queue() == ""


def _control(slurm: LabSlurm, *words: str) -> None:
    """Change Slurm's state. Raise ``LabError`` if it refuses."""
    done = slurm.run(["scontrol", "update", *words])
    if done.returncode != 0:
        raise LabError(f"scontrol {' '.join(words)}: {done.stderr.strip() or done.stdout.strip()}")


def drain(slurm: LabSlurm, node: str, reason: str) -> None:
    """Let no more jobs start on ``node``."""
    _control(slurm, f"NodeName={node}", "State=DRAIN", f"Reason={reason}")


def undrain(slurm: LabSlurm, node: str) -> None:
    """Let jobs start on ``node`` again."""
    _control(slurm, f"NodeName={node}", "State=RESUME")


def end_job_in(slurm: LabSlurm, job: str, seconds: int) -> None:
    """Set the end of a running job to ``seconds`` from now. Slurm checks limits every 30 s."""
    moment = time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(time.time() + seconds))
    _control(slurm, f"JobId={job}", f"EndTime={moment}")


@contextmanager
def cluster(nodes: Sequence[str] = NODES, **more: object) -> Iterator[Cluster]:
    topology = Topology(nodes=tuple(nodes), networks=(MGMT, FABRIC))
    with up(topology, f"slurm-{os.getpid()}-{next(_NUMBERS)}", tied=True) as lab:
        options: dict[str, object] = {
            "partitions": PARTITIONS,
            "switches": SWITCHES,
            "cpus": 4,
            **more,
        }
        with slurm_up(lab, **options) as slurm:  # type: ignore[arg-type]
            yield Cluster(lab, slurm)


def request_for(
    mpi: str, allocation: Allocation, hosts: Sequence[str], **more: object
) -> LaunchRequest:
    """One rank per entry of ``hosts``, on the fabric unless ``nic`` says another."""
    install = install_of(mpi)
    nic = str(more.pop("nic", FABRIC.device))
    return LaunchRequest(
        engine=engine_for("mpi", install),
        install=install,
        hosts=tuple(hosts),
        nics=(nic,) * len(hosts),
        fabric="tcp",
        root=True,
        job=allocation.job,
        machine_ranks=len(hosts),
        cores=len(os.sched_getaffinity(0)),
        **more,  # type: ignore[arg-type]
    )


def plan_for(hosts: Sequence[str], expect: str = "", points: Sequence[Point] = ()) -> Plan:
    """A stream and a ping-pong from the first to the last rank."""
    pairs = ((0, len(hosts) - 1),)
    usual = (
        Point(id=1, pattern="stream", form="stream", message_bytes=MIB, pairs=pairs),
        Point(id=2, pattern="pingpong", message_bytes=8, pairs=pairs),
    )
    ranks = tuple(
        RankPlace(index=rank, host=host, nic=FABRIC.device) for rank, host in enumerate(hosts)
    )
    transport = Transport(kind="mpi", expect=expect)
    return Plan(
        run_id="slurm",
        seed=3,
        transport=transport,
        ranks=ranks,
        points=tuple(points) or usual,
        policy=POLICY,
    )


def measured(
    cluster: Cluster,
    command: LaunchCommand,
    plan: Plan,
    out: Path,
    deadline_s: float = 60,
    on_frame: OnFrame | None = None,
) -> Outcome:
    """The plan's run, started on the cluster's first node."""
    started = dataclasses.replace(
        command, argv=tuple(cluster.lab.exec_argv(cluster.slurm.head, command.argv))
    )
    claim = Claim(
        hosts=[HostClaim(rank=rank.index, host=rank.host) for rank in plan.ranks], wire=True
    )
    return measure(
        plan,
        started,
        claim=claim,
        provenance=provenance(command, None),
        recording=Recording(out=out, deadline_s=deadline_s, on_frame=on_frame),
    )
