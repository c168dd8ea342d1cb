"""Determine before each launch which hosts can take part, so that a dead node is reported in one
sentence and the whole job does not fail.
"""

from collections.abc import Mapping, Sequence
from itertools import groupby

from wireproof.launch.registry import Queries
from wireproof.model import gathered
from wireproof.model.claim import rails_of
from wireproof.model.errors import BadInput, CouldNotMeasure
from wireproof.report.names import fold
from wireproof.report.reporter import Reporter
from wireproof.target import Target

TIMEOUT_S = 10.0
_NIC_FOLDERS = ("/sys/class/net", "/sys/class/infiniband")
_NO_NEW_JOBS = ("drain", "maint", "reserved", "planned")
"""States of nodes that accept no new jobs but continue their current job."""


class Availability:
    """Queries hosts whether they can take part.

    It remembers which hosts have their NIC, so that they are not queried again before each further
    launch.
    """

    def __init__(self, reporter: Reporter) -> None:
        self._reporter = reporter
        self._have_nic: set[tuple[str, str]] = set()

    def absent(self, target: Target, ranks: Sequence[int]) -> dict[int, str]:
        """Return a sentence for each rank of ``ranks`` whose host does not respond, by rank.

        Nodes of a lab are looked up in the lab, nodes of a job in the scheduler; other hosts are
        contacted in the same way as by the launcher. Raises ``BadInput`` if no host at all has the
        claimed NIC.
        """
        if not target.hosts or not ranks:
            return {}
        hosts = sorted({target.start_on[rank] for rank in ranks})
        job = target.allocation
        if target.lab is not None and job is None:
            why = _dead_in_lab(hosts, target)
        elif target.scheduler is not None and target.scheduler.queries is not None:
            why = self._closed(hosts, target, target.scheduler.queries)
        elif job is not None and not target.reached_by_agent:
            why = {}
        else:
            why = self._unreachable(hosts, target, ranks)
        return {rank: why[target.start_on[rank]] for rank in ranks if target.start_on[rank] in why}

    def check_nics(self, target: Target) -> None:
        """Raise ``BadInput`` if no host has the claimed NIC, before anything is written or
        started.
        """
        if (
            target.hosts
            and target.lab is None
            and (target.allocation is None or target.reached_by_agent)
        ):
            self._without_nic(target, range(len(target.hosts)), set())

    def unfit(self, target: Target, ranks: Sequence[int]) -> dict[int, str]:
        """Return a sentence for each rank of ``ranks`` whose host does not respond or whose claimed
        NIC is down.

        Used after a launch that failed without identifying a host, because then the whole MPI job
        fails to start.
        """
        gone = self.absent(target, ranks)
        if target.allocation is not None and target.lab is None and not target.reached_by_agent:
            return gone
        here = sorted(
            (r for r in ranks if r not in gone and r < len(target.nics) and target.nics[r]),
            key=lambda rank: target.nics[rank],
        )
        for nics, group in groupby(here, key=lambda rank: target.nics[rank]):
            members = tuple(group)
            for nic in rails_of(nics):
                states = _states(target, nic, sorted({target.start_on[rank] for rank in members}))
                gone |= {
                    rank: f"{target.start_on[rank]} cannot take part: its NIC {nic} is down"
                    for rank in members
                    if is_down(states.get(target.start_on[rank], ""))
                }
        return gone

    def _unreachable(
        self, hosts: Sequence[str], target: Target, ranks: Sequence[int]
    ) -> dict[str, str]:
        from wireproof.launch.fanout import reachable
        from wireproof.launch.here import hosts_here

        here = hosts_here(hosts)
        others = [host for host in hosts if host not in here]
        answers = reachable(others, agent=target.agent, timeout_s=TIMEOUT_S)
        alike = gathered((text, host) for host, text in answers.items() if text)
        why = {
            host: f"{fold(group)} cannot be reached: {text}"
            for text, group in alike.items()
            for host in group
        }
        return why | self._without_nic(target, ranks, set(why))

    def _without_nic(self, target: Target, ranks: Sequence[int], gone: set[str]) -> dict[str, str]:
        """Return a sentence for each host that lacks the claimed NIC.

        Raises ``BadInput`` if no host has it, because then the name is a mistake.

        An MPI would report an unreachable destination without mentioning the NIC.
        """
        asked = _claimed(target, ranks)
        hosts = sorted(
            host
            for host, nic in asked.items()
            if host not in gone and (host, nic) not in self._have_nic
        )
        if not hosts:
            return {}
        seen = _nics_of(hosts, target.agent)
        absent = {host: _absent_rail(asked[host], seen[host]) for host in hosts if seen[host]}
        lacking = [host for host in hosts if absent.get(host)]
        self._have_nic |= {(host, asked[host]) for host in hosts if host not in lacking}
        if lacking and set(lacking) == set(asked):
            raise BadInput(
                f"no host has the NIC {absent[lacking[0]]}: {lacking[0]} has"
                f" {_some(seen[lacking[0]])}."
            )
        return {
            host: f"{host} has no NIC {absent[host]}: it has {_some(seen[host])}"
            for host in lacking
        }

    def _closed(self, hosts: Sequence[str], target: Target, queries: Queries) -> dict[str, str]:
        """Return a sentence for each host that the scheduler has taken out of service.

        If the scheduler does not respond, return nothing: the launch shows which hosts respond, and
        no measurement may be lost.
        """
        try:
            states = queries.node_states(hosts, target.through())
        except CouldNotMeasure as error:
            self._reporter.warn(f"{str(error).rstrip('.')}; the nodes are assumed to be usable")
            return {}
        return {
            host: f"{host} cannot be used: its state in {queries.title} is {node.state}"
            + (f" ({node.reason})" if node.reason else "")
            for host, node in states.items()
            if not node.usable and not _ours_still(node.state)
        }


def _dead_in_lab(hosts: Sequence[str], target: Target) -> dict[str, str]:
    assert target.lab is not None  # noqa: S101  asked of a lab only
    alive = {node.name: node.alive for node in target.lab.status().nodes}
    return {
        host: f"{host} was lost: the lab's node has died"
        for host in hosts
        if not alive.get(host, False)
    }


def _nics_of(hosts: Sequence[str], agent: str) -> dict[str, list[str]]:
    """Return the network and RDMA devices of each host, empty for a host that does not respond."""
    from wireproof.launch.fanout import facts_by_host

    return {
        host: [word for word in answer.text.split() if "/" not in word]
        for host, answer in facts_by_host(hosts, ["ls", *_NIC_FOLDERS], agent, TIMEOUT_S).items()
    }


def _absent_rail(nics: str, seen: Sequence[str]) -> str:
    """Return the first claimed NIC that the host lacks, or ""."""
    rails = rails_of(nics)
    return next((rail for rail in rails if rail.partition(":")[0] not in seen), "")


def _some(names: Sequence[str]) -> str:
    names = [name for name in names if name != "lo"]
    return ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")


def is_down(text: str) -> bool:
    """Return whether the kernel's state of a link (operstate, or ``1: DOWN`` for an InfiniBand
    port) means that it is down.
    """
    return text.lower().split()[-1:] in (["down"], ["lowerlayerdown"])


def _states(target: Target, nic: str, hosts: Sequence[str]) -> Mapping[str, str]:
    """Return the state that each host reports, empty if the host or the file cannot be read."""
    from wireproof.launch.fanout import facts_by_host

    environment = target.lab.agent_environment() if target.lab is not None else None
    device, _, port = nic.partition(":")
    files = (
        f"/sys/class/net/{nic}/operstate",
        f"/sys/class/infiniband/{device}/ports/{port or 1}/state",
    )
    answers = facts_by_host(
        hosts, ["cat", *files], target.agent, TIMEOUT_S, environment=environment
    )
    return {host: answer.text for host, answer in answers.items()}


def _ours_still(state: str) -> bool:
    """Return whether the scheduler took a node out of service while our job runs on it.

    The node still works, and leaving it out would hide its performance.
    """
    return state.startswith(_NO_NEW_JOBS) and "not responding" not in state


def _claimed(target: Target, ranks: Sequence[int]) -> dict[str, str]:
    return {
        target.start_on[r]: target.nics[r] for r in ranks if r < len(target.nics) and target.nics[r]
    }
