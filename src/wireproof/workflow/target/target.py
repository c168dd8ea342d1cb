"""Where a measurement happens: hosts, how they are reached, the claimed NICs and the claimed
link.
"""

from __future__ import annotations

import dataclasses
import os
import shlex
import socket
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wireproof.model.claim import Claim, HostClaim, LinkClaim
from wireproof.model.errors import BadInput
from wireproof.settings.resolve import Settings
from wireproof.workflow.target.lab_or_hosts import lab_of

if TYPE_CHECKING:
    from wireproof.lab.cluster import Lab
    from wireproof.launch.request import LaunchCommand, Starter
    from wireproof.launch.schedulers.allocation import Allocation

__all__ = [
    "Target",
    "agent_of",
    "allocated",
    "claimed_link",
    "lab_target",
    "prefix_of",
    "reader_prefix",
    "resolve_target",
    "this_machine",
]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Target:
    """One rank per entry of ``hosts``. ``start_on`` is where the launcher is told to put them: only
    a planted lie differs from ``hosts``. ``wire`` False: nothing is claimed about a wire (one plain
    machine).
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

    @property
    def size(self) -> int:
        return len(self.hosts) or self.ranks

    @property
    def reached_by_agent(self) -> bool:
        """A program of the user's own reaches the hosts: it is stronger than a scheduler's way."""
        return bool(self.agent) and self.lab is None

    @property
    def machine_ranks(self) -> int:
        """Ranks that share this machine's cores: all nodes of a lab do."""
        return self.size if self.lab is not None or self.virtual else 0

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
        from wireproof.launch.hosts.rendezvous import meeting_point

        if not self.hosts:
            return meeting_point("127.0.0.1")
        return meeting_point(self.addresses[0] if self.addresses else self.hosts[0])

    def through(self) -> tuple[str, ...]:
        """Words ahead of a scheduler's own commands: in a lab they run on its first node."""
        return (
            tuple(self.lab.exec_argv(self.lab.nodes[0], ["x"])[:-1]) if self.lab is not None else ()
        )

    def enter(self, command: LaunchCommand) -> LaunchCommand:
        """The command as this target needs it: in a lab the launcher runs inside the first node, to
        be reachable.
        """
        if self.lab is None:
            return command
        return dataclasses.replace(
            command,
            argv=tuple(self.lab.exec_argv(self.start_on[0], command.argv)),
            environment={**command.environment, **self.lab.agent_environment()},
        )


def claimed_link(settings: Settings, mtu: int | None, pcie: str) -> LinkClaim | None:
    """The link of ``--link``; None when it was not given."""
    if not settings.link.value:
        return None
    from wireproof.physics.claims import claim_from_text

    return claim_from_text(
        settings.link.value, mtu=mtu, pcie=pcie, source=settings.link.source or "--link"
    )


def this_machine(link: LinkClaim | None = None, ranks: int = 2) -> Target:
    """Ranks on this machine and no other: shared memory or loopback, never a wire."""
    return Target(hosts=(), start_on=(), link=link, wire=False, ranks=ranks)


def lab_target(
    lab: Lab, hosts: tuple[str, ...], *, nic: str = "", link: LinkClaim | None = None
) -> Target:
    """Nodes of a lab, their NIC on one network of it, and the link as the lab has built it."""
    unknown = [host for host in hosts if host not in lab.nodes]
    if unknown:
        raise BadInput(f"lab {lab.name} has no node {unknown[0]!r}: it has {', '.join(lab.nodes)}.")
    networks = lab.topology.networks
    fitting = [network for network in networks if nic in ("", network.device, network.name)]
    if not fitting:
        raise BadInput(
            f"no node of lab {lab.name} has the NIC {nic!r}: there is {', '.join(n.device for n in networks)}."
        )
    network = max(fitting, key=lambda one: one.rate_bits_per_s or float("inf"))
    said = (
        ()
        if nic or len(networks) == 1
        else (f"--nic was not given: {network.device}, the fastest, is claimed",)
    )
    said = (*lab.notes, *said)
    return Target(
        hosts=hosts,
        start_on=hosts,
        nics=(network.device,) * len(hosts),
        addresses=tuple(lab.node_address(host, network.name) for host in hosts),
        link=link or lab.expected_link(network.name),
        lab=lab,
        agent=str(lab.agent),
        said=said,
    )


def agent_of(settings: Settings) -> str:
    """The program of ``--launcher``, called like ssh; "" for ssh itself."""
    launcher = settings.launcher.value
    if launcher in ("", "ssh"):
        return ""
    path = Path(launcher)
    if not path.is_file():
        raise BadInput(
            f"--launcher {launcher!r} is neither ssh nor a program: give the path of one called like ssh."
        )
    return str(path.absolute())


def prefix_of(text: str) -> tuple[str, ...]:
    """The words of ``--prefix``; ``BadInput`` when its quotes are not closed."""
    try:
        return tuple(shlex.split(text))
    except ValueError as error:
        raise BadInput(
            f"--prefix {text[:60]!r} cannot be split into words ({error}): close its quotes."
        ) from error


def reader_prefix(text: str) -> tuple[str, ...]:
    """The words of ``prove --prefix``, that the reader of the ports is started through."""
    from wireproof.launch.command import check_prefix

    words = prefix_of(text)
    check_prefix(words)
    return words


@dataclasses.dataclass(frozen=True, kw_only=True)
class TargetOptions:
    """What was said about the target besides the declared settings. ``scheduler`` ``auto``: an
    allocation around us gives the hosts, and its launcher (or the MPI's, by ``starter``) starts the
    ranks on them.
    """

    lab: str | None = None
    mtu: int | None = None
    pcie: str = ""
    scheduler: str = "none"
    prefix: str = ""
    starter: str = "auto"
    virtual: bool = False
    sysfs_root: str = ""

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> TargetOptions:
        """From a verb's options; those that it does not have keep their defaults."""
        known = {field.name for field in dataclasses.fields(cls)}
        return cls(**{name: value for name, value in options.items() if name in known})


def resolve_target(settings: Settings, asked: TargetOptions) -> Target:
    """The target that the settings name: a lab's nodes, the allocation that we run in, hosts by ssh,
    or this machine.
    """
    return dataclasses.replace(_resolved(settings, asked), sysfs_root=asked.sysfs_root)


def _resolved(settings: Settings, asked: TargetOptions) -> Target:
    hosts = settings.hosts.value
    if asked.scheduler == "auto":
        _once_in_a_step()
        from wireproof.launch.schedulers.allocation import current

        allocation = current()
        if allocation is not None and (len(hosts) > 1 or (not hosts and len(allocation.hosts) > 1)):
            return allocated(settings, allocation, asked)
    link = claimed_link(settings, asked.mtu, asked.pcie)
    prefix = prefix_of(asked.prefix)
    if not hosts and asked.lab is None:
        return dataclasses.replace(this_machine(link), prefix=prefix)
    if len(hosts) == 1:
        raise BadInput(
            f"one host ({hosts[0]}) has nobody to talk to: give two or more, or none for this machine alone."
        )
    found = lab_of(hosts, asked.lab, settings.launcher.value)
    hosts = hosts or (found.nodes if found else ())
    if found is not None:
        target = lab_target(found, hosts, nic=settings.nic.value, link=link)
        note = (
            (f"the hosts are nodes of lab {found.name}: links are virtual",)
            if asked.lab is None
            else ()
        )
        return dataclasses.replace(target, said=(*note, *target.said), prefix=prefix)
    nics = (settings.nic.value,) * len(hosts) if settings.nic.value else ()
    agent = agent_of(settings)
    return Target(
        hosts=hosts,
        start_on=hosts,
        nics=nics,
        link=link,
        agent=agent,
        prefix=prefix,
        virtual=asked.virtual,
    )


def _once_in_a_step() -> None:
    """``srun -N4 wireproof check`` would start four whole measurements at once, in each other's
    way.
    """
    task = os.environ.get("SLURM_PROCID", "")
    if task.isdigit() and int(task) > 0 and os.environ.get("SLURM_STEP_NUM_TASKS", "1") != "1":
        raise BadInput(
            f"this is task {task} of a job step: start wireproof once in the job (without srun, or srun -n 1);"
            " it starts the ranks on the nodes by itself."
        )


def allocated(settings: Settings, allocation: Allocation, asked: TargetOptions) -> Target:
    """The nodes of an allocation, or those of them that ``--hosts`` names, in that order."""
    hosts = settings.hosts.value or allocation.hosts
    strangers = [host for host in hosts if host not in allocation.hosts]
    if strangers:
        raise BadInput(
            f"{strangers[0]} is not a node of {allocation.scheduler} job {allocation.job} ({len(allocation.hosts)}"
            f" nodes, {allocation.hosts[0]} the first): leave --hosts out, or give --scheduler none to use ssh."
        )
    if len(hosts) < 2:
        raise BadInput(
            f"{allocation.scheduler} job {allocation.job} has one node ({hosts[0]}), which has nobody to talk to:"
            " ask for two or more, or give --scheduler none for this machine alone."
        )
    link = claimed_link(settings, asked.mtu, asked.pcie)
    found = lab_of(hosts, asked.lab, settings.launcher.value)
    if found is not None:
        target = lab_target(found, hosts, nic=settings.nic.value, link=link)
    else:
        nics = (settings.nic.value,) * len(hosts) if settings.nic.value else ()
        agent = agent_of(settings)
        target = Target(
            hosts=hosts, start_on=hosts, nics=nics, link=link, agent=agent, virtual=asked.virtual
        )
    said = f"{allocation.scheduler} job {allocation.job}: {len(hosts)} nodes"
    return dataclasses.replace(
        target,
        allocation=allocation,
        starter="mpi" if asked.starter == "mpi" else "scheduler",
        prefix=prefix_of(asked.prefix),
        sysfs_root=asked.sysfs_root,
        said=(said, *target.said, *allocation.notes),
    )
