"""The target of a measurement: hosts, the way to reach them, the claimed NICs and link."""

from __future__ import annotations

import dataclasses
import os
import shlex
import socket
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from wireproof.launch.engines import find_program
from wireproof.launch.here import is_here, meeting_point
from wireproof.model.claim import Claim, HostClaim, LinkClaim, joined, rails_of
from wireproof.model.errors import BadInput
from wireproof.model.plan import Policy
from wireproof.physics.rails import links_together

if TYPE_CHECKING:
    from wireproof.lab.cluster import Lab
    from wireproof.launch.registry import Allocation, LaunchCommand, Scheduler, Starter
    from wireproof.model.topology import Network


MOST_RANKS = 100_000


@dataclasses.dataclass(frozen=True, kw_only=True)
class Target:
    """The placement of ranks: one rank per entry of ``hosts``; without hosts, ``ranks`` ranks on
    this machine.

    ``start_on``: the hosts on which the launcher starts the ranks; differs from ``hosts`` only for
    a deliberately false claim. ``wire`` False: no wire is claimed (one plain machine).
    ``environment``: variables that are needed to reach a scheduler inside a lab. ``notes``: remarks
    for the user about this choice.
    """

    hosts: tuple[str, ...]
    start_on: tuple[str, ...]
    nics: tuple[str, ...] = ()
    addresses: tuple[str, ...] = ()
    link: LinkClaim | None = None
    lab: Lab | None = None
    agent: str = ""
    wire: bool = True
    ranks: int = 2
    notes: tuple[str, ...] = ()
    allocation: Allocation | None = None
    starter: Starter = "mpi"
    prefix: tuple[str, ...] = ()
    virtual: bool = False
    sysfs_root: str = ""
    environment: tuple[tuple[str, str], ...] = ()

    @property
    def size(self) -> int:
        return len(self.hosts) or self.ranks

    @property
    def scheduler(self) -> Scheduler | None:
        """Return the scheduler whose allocation contains the hosts."""
        from wireproof.launch.known import SCHEDULERS

        return SCHEDULERS[self.allocation.scheduler] if self.allocation is not None else None

    @property
    def reached_by_agent(self) -> bool:
        """Return whether the user's agent program reaches the hosts; it takes precedence over the
        scheduler.
        """
        return bool(self.agent) and self.lab is None

    @property
    def machine_ranks(self) -> int:
        """Return the number of ranks that share this machine's cores: all of them in a lab,
        else 0.
        """
        return self.size if self.lab is not None or self.virtual else 0

    @property
    def claimed_rate(self) -> float | None:
        """Return the claimed rate of the link between hosts in bits per second, or None without a
        wire.
        """
        return self.link.rate_bits_per_s if self.hosts and self.link else None

    def pinned(self, policy: Policy) -> Policy:
        """Return ``policy`` with each rank pinned to a core of its NIC's socket; unchanged in a
        lab, whose nodes have no sockets.
        """
        real = self.hosts and self.lab is None and not self.virtual
        return msgspec.structs.replace(policy, pin="nic") if real else policy

    def spread(self, ppn: int) -> Target:
        """Return the same target with ``ppn`` ranks on each host; ranks of a host are numbered
        consecutively.
        """
        if ppn == 1:
            return self
        if self.size * ppn > MOST_RANKS:
            raise BadInput(
                f"{self.size} hosts with {ppn} ranks each have more than {MOST_RANKS} ranks in"
                " total: give fewer."
            )

        def repeated(values: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(value for value in values for _ in range(ppn))

        return dataclasses.replace(
            self,
            hosts=repeated(self.hosts),
            start_on=repeated(self.start_on),
            nics=repeated(self.nics),
            addresses=repeated(self.addresses),
            ranks=self.ranks if self.hosts else self.ranks * ppn,
        )

    def only(self, ranks: Sequence[int]) -> Target:
        """Return the same target with only these ranks, renumbered from 0 in this order."""

        def picked(values: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(values[rank] for rank in ranks) if values else ()

        return dataclasses.replace(
            self,
            hosts=picked(self.hosts),
            start_on=picked(self.start_on),
            nics=picked(self.nics),
            addresses=picked(self.addresses),
            ranks=len(ranks),
        )

    def claim(self) -> Claim:
        """Return the claim about these ranks: their hosts, NICs and link."""
        names = self.hosts or (socket.gethostname(),) * self.ranks
        nics = self.nics or ("",) * len(names)
        return Claim(
            hosts=[HostClaim(rank=i, host=name, nic=nics[i]) for i, name in enumerate(names)],
            link=self.link,
            wire=self.wire,
            virtual=self.virtual or self.lab is not None,
        )

    def meet(self) -> str:
        """Return the ADDRESS:PORT at which rank 0 of the tcp transport waits for the others."""

        if not self.hosts:
            return meeting_point("127.0.0.1")
        return meeting_point(self.addresses[0] if self.addresses else self.hosts[0])

    def through(self) -> tuple[str, ...]:
        """Return the words to put in front of a scheduler's commands, which in a lab run on its
        first node.
        """
        if self.lab is None:
            return ()
        variables = [f"{name}={value}" for name, value in self.environment]
        enter = self.lab.exec_argv(self.lab.nodes[0], ["x"])[:-1]
        return (*enter, "env", *variables) if variables else tuple(enter)

    def enter(self, command: LaunchCommand) -> LaunchCommand:
        """Return the command for this target: in a lab the launcher runs inside the first node, so
        that the other nodes can reach it.
        """
        if self.lab is None:
            return command
        return dataclasses.replace(
            command,
            notes=(*command.notes, self.lab.priority),
            argv=tuple(self.lab.exec_argv(self.start_on[0], command.argv)),
            environment={
                **command.environment,
                **self.lab.agent_environment(),
                **dict(self.environment),
            },
        )


def this_machine(link: LinkClaim | None = None, ranks: int = 2) -> Target:
    """Return a target of ranks on this machine alone: shared memory or loopback, never a wire."""
    return Target(hosts=(), start_on=(), link=link, wire=False, ranks=ranks)


def _network(lab: Lab, nic: str) -> Network:
    """Return the lab's network with this NIC, by device or network name; "" selects the fastest."""
    networks = lab.topology.networks
    fitting = [network for network in networks if nic in ("", network.device, network.name)]
    if not fitting:
        raise BadInput(
            f"no node of lab {lab.name} has the NIC {nic!r}; its NICs are"
            f" {', '.join(n.device for n in networks)}."
        )
    return max(fitting, key=lambda network: network.rate_bits_per_s or float("inf"))


def fastest(lab: Lab) -> tuple[str, ...]:
    """Return the devices of the lab's fastest network, or of several with the same rate."""
    networks, most = lab.topology.networks, _network(lab, "").rate_bits_per_s
    return tuple(one.device for one in networks if one.rate_bits_per_s == most)


def _unnamed(lab: Lab, chosen: Network) -> str:
    """Return the note about the network of a lab that is claimed without ``--nic``."""
    alike = [one for one in fastest(lab) if one != chosen.device]
    why = f"is measured and claimed; {', '.join(alike)} is as fast" if alike else "is claimed"
    what = chosen.device if alike else f"{chosen.device}, the fastest,"
    return f"--nic was not given: {what} {why}"


def _claimed(lab: Lab, link: LinkClaim | None, networks: Sequence[Network]) -> LinkClaim:
    """Return the link as the lab has built it, or the given link with the shaping that the lab
    adds: a token bucket does not count the preamble and lets bursts pass, regardless of the link's
    name.
    """
    built = links_together([lab.expected_link(network.name) for network in networks])
    if link is None:
        return built
    if link.protocol != built.protocol or built.rate_bits_per_s is None:
        return link
    return msgspec.structs.replace(
        link,
        preamble_counted=built.preamble_counted,
        source=f"{link.source}; built by {built.source}",
    )


def lab_target(
    lab: Lab, hosts: tuple[str, ...], *, nic: str = "", link: LinkClaim | None = None
) -> Target:
    """Return a target of a lab's nodes, with their NICs on its networks, and the link as the lab
    has built it.
    """
    unknown = [host for host in hosts if host not in lab.nodes]
    if unknown:
        raise BadInput(f"lab {lab.name} has no node {unknown[0]!r}: it has {', '.join(lab.nodes)}.")
    networks = [_network(lab, name) for name in rails_of(nic) or ("",)]
    first = networks[0]
    notes = () if nic or len(lab.topology.networks) == 1 else (_unnamed(lab, first),)
    notes = (*lab.notes, *notes)
    return Target(
        hosts=hosts,
        start_on=hosts,
        nics=(joined([network.device for network in networks]),) * len(hosts),
        addresses=tuple(lab.node_address(host, first.name) for host in hosts),
        link=_claimed(lab, link, networks),
        lab=lab,
        agent=str(lab.agent),
        notes=notes,
    )


# --- Reach a host of a target with a command: in a lab's node, on this machine, or through ssh or a
# program with the same calling convention.


def reach(target: Target, host: str, argv: Sequence[str]) -> list[str]:
    """Return the command line that runs ``argv`` on a host of the target: in a lab's node, through
    its agent or ssh, or directly if it is this machine.
    """
    if target.lab is not None:
        return target.lab.exec_argv(host, argv)
    if not host or is_here(host):
        return list(argv)
    if target.agent:
        return [target.agent, host, *map(shlex.quote, argv)]
    quiet = ["-o", "BatchMode=yes", "-o", "ConnectTimeout=10"]
    return ["ssh", *quiet, "-T", host, shlex.join(argv)]


def guarded(target: Target, host: str, argv: Sequence[str], mark: str = "") -> list[str]:
    """Like ``reach``, for commands that must not outlive the connection: when ssh is killed, the
    remote process continues.

    The remote guard kills the command when its standard input closes, so hold that open meanwhile.
    ``mark``: a NAME=VALUE that all processes of the command and their guard then have in their
    environment.
    """
    near = target.lab is not None or not host or is_here(host)
    if near and not mark:
        return reach(target, host, argv)
    marked = ["env", mark] if mark else []
    control = [] if near else ["--control-stdin"]
    node = str(find_program("wireproof-node"))
    return reach(target, host, [*marked, node, "guard", *control, "--", *argv])


def launcher_environment(target: Target, inherited: Mapping[str, str]) -> dict[str, str]:
    """Return the variables with which a plain ``mpirun -hosts n1,n2`` reaches the hosts as
    wireproof does.

    Variables that the user has set are omitted.
    """
    if not target.agent:
        return {}
    chosen = {
        "HYDRA_LAUNCHER": "ssh",
        "HYDRA_LAUNCHER_EXEC": target.agent,
        "I_MPI_HYDRA_BOOTSTRAP": "ssh",
        "I_MPI_HYDRA_BOOTSTRAP_EXEC": target.agent,
        "OMPI_MCA_plm_rsh_agent": target.agent,
        "PRTE_MCA_plm_ssh_agent": target.agent,
    }
    if target.lab is not None:
        # Open MPI and Intel MPI would bind rank 0 of every node to core 0: the nodes share this
        # machine's cores.
        chosen |= {"I_MPI_PIN": "0"}
        chosen |= {
            "OMPI_MCA_hwloc_base_binding_policy": "none",
            "PRTE_MCA_hwloc_default_binding_policy": "none",
        }
        chosen |= target.lab.agent_environment()
    if os.geteuid() == 0:
        chosen |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    return {name: value for name, value in chosen.items() if name not in inherited}
