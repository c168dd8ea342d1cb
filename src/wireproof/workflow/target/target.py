"""Where a measurement happens: hosts, how they are reached, the claimed NICs and link."""

from __future__ import annotations

import dataclasses
import socket
from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from wireproof.model.claim import Claim, HostClaim, LinkClaim, joined, rails_of
from wireproof.model.errors import BadInput
from wireproof.model.plan import Policy
from wireproof.physics.rails import links_together

if TYPE_CHECKING:
    from wireproof.lab.cluster import Lab
    from wireproof.launch.registry import Scheduler
    from wireproof.launch.request import LaunchCommand, Starter
    from wireproof.launch.schedulers.allocation import Allocation
    from wireproof.model.topology import Network


MOST_RANKS = 100_000


@dataclasses.dataclass(frozen=True, kw_only=True)
class Target:
    """One rank per entry of ``hosts``; none of them means this machine alone, with ``ranks`` ranks.

    ``start_on`` is where the launcher puts them: only a planted lie differs from ``hosts``.
    ``wire`` False: nothing is claimed about a wire (one plain machine). ``environment``: variables
    that a scheduler inside a lab is reached with. ``said``: what a person should know of this
    choice.
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
    said: tuple[str, ...] = ()
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
        """Whose allocation the hosts are of."""
        from wireproof.launch.known import SCHEDULERS

        return SCHEDULERS[self.allocation.scheduler] if self.allocation is not None else None

    @property
    def reached_by_agent(self) -> bool:
        """A program of the user's own reaches the hosts: it is stronger than a scheduler's way."""
        return bool(self.agent) and self.lab is None

    @property
    def machine_ranks(self) -> int:
        """Ranks that share this machine's cores: all nodes of a lab do."""
        return self.size if self.lab is not None or self.virtual else 0

    @property
    def claimed_rate(self) -> float | None:
        """Bits per second that are claimed of the link between hosts; None where no wire is."""
        return self.link.rate_bits_per_s if self.hosts and self.link else None

    def pinned(self, policy: Policy) -> Policy:
        """``policy`` with each rank on a core of its NIC's socket, where several are left to it; a
        lab's nodes have no sockets.
        """
        real = self.hosts and self.lab is None and not self.virtual
        return msgspec.structs.replace(policy, pin="nic") if real else policy

    def spread(self, ppn: int) -> Target:
        """The same target with ``ppn`` ranks on each host, those of one host with neighbouring
        numbers.
        """
        if ppn == 1:
            return self
        if self.size * ppn > MOST_RANKS:
            raise BadInput(
                f"{self.size} hosts with {ppn} ranks each are more than {MOST_RANKS} ranks: give"
                " fewer."
            )

        def each(values: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(value for value in values for _ in range(ppn))

        return dataclasses.replace(
            self,
            hosts=each(self.hosts),
            start_on=each(self.start_on),
            nics=each(self.nics),
            addresses=each(self.addresses),
            ranks=self.ranks if self.hosts else self.ranks * ppn,
        )

    def only(self, ranks: Sequence[int]) -> Target:
        """The same target with these ranks alone, numbered from 0 in their order."""

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
        """What is claimed of these ranks: their hosts, NICs and link."""
        names = self.hosts or (socket.gethostname(),) * self.ranks
        nics = self.nics or ("",) * len(names)
        hosts = [HostClaim(rank=i, host=name, nic=nics[i]) for i, name in enumerate(names)]
        return Claim(
            hosts=hosts,
            link=self.link,
            wire=self.wire,
            virtual=self.virtual or self.lab is not None,
        )

    def meet(self) -> str:
        """ADDRESS:PORT at which rank 0 of the tcp transport waits for the others."""
        from wireproof.launch.here import meeting_point

        if not self.hosts:
            return meeting_point("127.0.0.1")
        return meeting_point(self.addresses[0] if self.addresses else self.hosts[0])

    def through(self) -> tuple[str, ...]:
        """Words ahead of a scheduler's own commands: in a lab they run on its first node."""
        if self.lab is None:
            return ()
        variables = [f"{name}={value}" for name, value in self.environment]
        enter = self.lab.exec_argv(self.lab.nodes[0], ["x"])[:-1]
        return (*enter, "env", *variables) if variables else tuple(enter)

    def enter(self, command: LaunchCommand) -> LaunchCommand:
        """The command as this target needs it: in a lab the launcher runs inside the first node, to
        be reachable.
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
    """Ranks on this machine and no other: shared memory or loopback, never a wire."""
    return Target(hosts=(), start_on=(), link=link, wire=False, ranks=ranks)


def _network(lab: Lab, nic: str) -> Network:
    """The lab's network that has the NIC (by its name or the network's); the fastest of ""."""
    networks = lab.topology.networks
    fitting = [network for network in networks if nic in ("", network.device, network.name)]
    if not fitting:
        raise BadInput(
            f"no node of lab {lab.name} has the NIC {nic!r}: there is"
            f" {', '.join(n.device for n in networks)}."
        )
    return max(fitting, key=lambda one: one.rate_bits_per_s or float("inf"))


def lab_target(
    lab: Lab, hosts: tuple[str, ...], *, nic: str = "", link: LinkClaim | None = None
) -> Target:
    """Nodes of a lab, their NIC on one network of it, and the link as the lab has built it."""
    unknown = [host for host in hosts if host not in lab.nodes]
    if unknown:
        raise BadInput(f"lab {lab.name} has no node {unknown[0]!r}: it has {', '.join(lab.nodes)}.")
    networks = [_network(lab, name) for name in rails_of(nic) or ("",)]
    first = networks[0]
    said = (
        ()
        if nic or len(lab.topology.networks) == 1
        else (f"--nic was not given: {first.device}, the fastest, is claimed",)
    )
    said = (*lab.notes, *said)
    return Target(
        hosts=hosts,
        start_on=hosts,
        nics=(joined([network.device for network in networks]),) * len(hosts),
        addresses=tuple(lab.node_address(host, first.name) for host in hosts),
        link=link or links_together([lab.expected_link(network.name) for network in networks]),
        lab=lab,
        agent=str(lab.agent),
        said=said,
    )
