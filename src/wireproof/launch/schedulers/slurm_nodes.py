"""Decide whether a Slurm node may be changed: only our job holds it, or it is out of service and
empty.

The decision is pure (``Slurm``); ``slurm_of`` queries Slurm.
"""

import dataclasses
import re
from collections.abc import Iterable, Mapping, Sequence

from wireproof.launch.schedulers.slurm_answers import SlurmNode, parse_node_states
from wireproof.launch.schedulers.slurm_commands import job_argv, node_states_argv
from wireproof.launch.schedulers.slurm_job import asked
from wireproof.model.errors import BadInput, WireproofError
from wireproof.settings.hosts import parse_hosts

_OUT_OF_SERVICE = ("drain", "maint", "down", "fail")
_JOB = re.compile(r"[0-9]{1,12}(?:[_+][0-9]{1,9})?", re.ASCII)
CONFIGURATION = (
    "/etc/slurm/slurm.conf",
    "/etc/slurm-llnl/slurm.conf",
    "/run/slurm/conf/slurm.conf",
)
"""Paths of the configuration on a Slurm node; the last one if the controller provides it."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Slurm:
    """The state of Slurm. ``states``: by node; ``jobs``: the current jobs on each node; ``ours``:
    the job of this process, "" for none; ``alone``: it does not share its nodes.
    """

    states: Mapping[str, SlurmNode] = dataclasses.field(default_factory=dict)
    jobs: Mapping[str, frozenset[str]] = dataclasses.field(default_factory=dict)
    ours: str = ""
    alone: bool = False

    def refusals(self, hosts: Iterable[str]) -> dict[str, str]:
        """Return by host why it may not be changed."""
        found = {host: self._refusal(host) for host in hosts}
        return {host: why for host, why in found.items() if why}

    def _refusal(self, host: str) -> str:
        node = self.states.get(host) or self.states.get(host.split(".", 1)[0])
        if node is None:
            return ""
        jobs = self.jobs.get(node.name, frozenset())
        if self.ours in jobs:
            return self._shared(node, jobs)
        if jobs:
            return f"job {min(jobs)} of Slurm runs on it: wait for its end, or drain the node"
        if node.state.startswith(_OUT_OF_SERVICE):
            return ""
        return (
            f"Slurm has it as {node.state} and may start a job on it: drain it, or work inside a"
            " job that has it exclusively"
        )

    def _shared(self, node: SlurmNode, jobs: frozenset[str]) -> str:
        others = sorted(jobs - {self.ours})
        if others:
            return f"job {others[0]} of Slurm runs on it beside ours"
        if self.alone or node.state.startswith("allocated"):
            return ""
        return f"job {self.ours} does not have it exclusively: ask for the job with --exclusive"


def jobs_argv() -> list[str]:
    """Return ``squeue`` for all jobs that are on nodes now, including ending ones."""
    states = "--states=RUNNING,COMPLETING,SUSPENDED,STOPPED,CONFIGURING"
    return ["squeue", "--noheader", states, "--format=%A|%N"]


def parse_jobs(text: str) -> dict[str, frozenset[str]]:
    """Return the jobs on each node."""
    found: dict[str, set[str]] = {}
    for line in text.splitlines():
        job, _, nodes = line.strip().partition("|")
        if not _JOB.fullmatch(job) or nodes in ("", "(null)"):
            continue
        try:
            names = parse_hosts(nodes)
        except BadInput:
            continue
        for name in names:
            found.setdefault(name, set()).add(job)
    return {name: frozenset(jobs) for name, jobs in found.items()}


def slurm_of(environment: Mapping[str, str], through: Sequence[str] = ()) -> Slurm | None:
    """Return Slurm's report on its nodes; None if it does not answer. ``environment``: of the
    enclosing job, if any.
    """
    ours = environment.get("SLURM_JOB_ID", "")
    ours = ours if _JOB.fullmatch(ours) else ""
    try:
        states = asked(node_states_argv(), through)
        jobs = asked(jobs_argv(), through)
        job = asked(job_argv(ours), through) if ours else ""
    except WireproofError:
        return None
    return Slurm(
        states=parse_node_states(states),
        jobs=parse_jobs(jobs),
        ours=ours,
        alone=bool(re.search(r"(?:^| )OverSubscribe=NO(?: |$)", job, re.MULTILINE)),
    )
