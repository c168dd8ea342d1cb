"""Where a measurement happens: hosts, how they are reached, the claimed NICs and the claimed link."""

from __future__ import annotations

import dataclasses
import socket
from pathlib import Path
from typing import TYPE_CHECKING

from wireproof.model.claim import Claim, HostClaim, LinkClaim
from wireproof.model.errors import BadInput
from wireproof.settings.resolve import Settings

if TYPE_CHECKING:
    from wireproof.lab.cluster import Lab
    from wireproof.launch.request import LaunchCommand

__all__ = ["Place", "agent_of", "lab_of", "lab_place", "place_of", "this_machine"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Place:
    """One rank per entry of ``hosts``. ``start_on`` is where the launcher is told to put them: only a planted lie
    differs from ``hosts``. ``wire`` False: nothing is claimed about a wire (one plain machine)."""

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

    @property
    def size(self) -> int:
        return len(self.hosts) or self.ranks

    @property
    def machine_ranks(self) -> int:
        """Ranks that share this machine's cores: all nodes of a lab do."""
        return self.size if self.lab is not None else 0

    def claim(self) -> Claim:
        names = self.hosts or (socket.gethostname(),) * self.ranks
        nics = self.nics or ("",) * len(names)
        hosts = [HostClaim(rank=i, host=name, nic=nics[i]) for i, name in enumerate(names)]
        return Claim(hosts=hosts, link=self.link, wire=self.wire, virtual=self.lab is not None)

    def meet(self) -> str:
        """ADDRESS:PORT at which rank 0 of the tcp transport waits for the others."""
        from wireproof.launch.meeting import meeting_point

        if not self.hosts:
            return meeting_point("127.0.0.1")
        return meeting_point(self.addresses[0] if self.addresses else self.hosts[0])

    def enter(self, command: LaunchCommand) -> LaunchCommand:
        """The command as this place needs it: in a lab the launcher runs inside the first node, to be reachable."""
        if self.lab is None:
            return command
        return dataclasses.replace(
            command,
            argv=tuple(self.lab.exec_argv(self.start_on[0], command.argv)),
            environment={**command.environment, **self.lab.agent_environment()},
        )


def _claimed_link(settings: Settings, mtu: int | None, pcie: str) -> LinkClaim | None:
    if not settings.link.value:
        return None
    from wireproof.physics.links import link_from_name
    from wireproof.physics.pcie import parse_slot

    if pcie:
        parse_slot(pcie)
    return link_from_name(settings.link.value, mtu=mtu, pcie=pcie, source=settings.link.source or "--link")


def this_machine(link: LinkClaim | None = None, ranks: int = 2) -> Place:
    """Ranks on this machine and no other: shared memory or loopback, never a wire."""
    return Place(hosts=(), start_on=(), link=link, wire=False, ranks=ranks)


def lab_place(lab: Lab, hosts: tuple[str, ...], *, nic: str = "", link: LinkClaim | None = None) -> Place:
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
    said = () if nic or len(networks) == 1 else (f"--nic was not given: {network.device}, the fastest, is claimed",)
    return Place(
        hosts=hosts,
        start_on=hosts,
        nics=(network.device,) * len(hosts),
        addresses=tuple(lab.node_address(host, network.name) for host in hosts),
        link=link or lab.expected_link(network.name),
        lab=lab,
        agent=str(lab.agent),
        said=said,
    )


def lab_of(hosts: tuple[str, ...], name: str | None) -> Lab | None:
    """The lab named, or the one lab that has all these hosts as nodes."""
    from wireproof.lab.cluster import find_labs, open_lab

    if name:
        return open_lab(name)
    having = [one.name for one in find_labs() if one.topology and set(hosts) <= set(one.topology.nodes)]
    if len(having) > 1:
        raise BadInput(f"the labs {', '.join(having)} all have these nodes: say which with --lab.")
    return open_lab(having[0]) if having else None


def agent_of(settings: Settings) -> str:
    """The program of ``--launcher``, called like ssh; "" for ssh itself."""
    launcher = settings.launcher.value
    if launcher in ("", "ssh"):
        return ""
    path = Path(launcher)
    if not path.is_file():
        raise BadInput(f"--launcher {launcher!r} is neither ssh nor a program: give the path of one called like ssh.")
    return str(path.absolute())


def place_of(settings: Settings, *, lab: str | None, mtu: int | None = None, pcie: str = "") -> Place:
    """The place that the settings name: a lab's nodes, hosts by ssh, or this machine."""
    hosts = settings.hosts.value
    link = _claimed_link(settings, mtu, pcie)
    if not hosts and lab is None:
        return this_machine(link)
    if len(hosts) == 1:
        raise BadInput(
            f"one host ({hosts[0]}) has nobody to talk to: give two or more, or none for this machine alone."
        )
    found = lab_of(hosts, lab)
    hosts = hosts or (found.nodes if found else ())
    if found is not None:
        place = lab_place(found, hosts, nic=settings.nic.value, link=link)
        note = (f"the hosts are nodes of lab {found.name}: links are virtual",) if lab is None else ()
        return dataclasses.replace(place, said=(*note, *place.said))
    nics = (settings.nic.value,) * len(hosts) if settings.nic.value else ()
    return Place(hosts=hosts, start_on=hosts, nics=nics, link=link, agent=agent_of(settings))
