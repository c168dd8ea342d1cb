"""The lab's topology: nodes, networks, planted faults. ``topology_toml`` reads and checks it."""

from __future__ import annotations

import difflib
import ipaddress
from collections.abc import Iterable
from typing import Literal

import msgspec

from wireproof.model.errors import BadInput
from wireproof.model.subject import Direction
from wireproof.model.topology_values import parse_rate

__all__ = ["KINDS", "Fault", "Network", "Share", "Topology", "Wire", "nearest"]

FaultKind = Literal["rate", "loss", "delay", "down"]
Share = Literal["uts", "ipc", "mount", "pid", "shm"]
Wire = Literal["token-bucket", "store-and-forward"]

KINDS: tuple[Share, ...] = ("uts", "ipc", "mount", "pid", "shm")
"""What nodes may share on purpose. "shm" is /dev/shm. A shared network namespace would have no NIC
of its own.
"""


class Network(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One network: each node has one NIC on it. ``rate`` "" means not shaped: as fast as the
    machine is.
    """

    name: str
    device: str
    subnet: str
    rate: str = ""
    mtu: int = 1500
    switch: str = ""

    @property
    def rate_bits_per_s(self) -> int | None:
        return parse_rate(self.rate) if self.rate else None

    @property
    def bridge(self) -> str:
        return self.switch or self.name

    @property
    def prefix_length(self) -> int:
        return ipaddress.IPv4Network(self.subnet).prefixlen


class Fault(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Something planted. ``direction`` is from the node's view: ``tx`` leaves it, ``rx`` reaches
    it.
    """

    node: str
    network: str
    kind: FaultKind
    direction: Direction = ""
    value: str = ""

    @property
    def place(self) -> tuple[str, str, str, str]:
        """Two faults with one place exclude each other."""
        return (self.node, self.network, self.direction, self.kind)


class Topology(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    nodes: tuple[str, ...]
    networks: tuple[Network, ...]
    faults: tuple[Fault, ...] = ()
    share: tuple[Share, ...] = ()
    wire: Wire = "token-bucket"
    latency: str = ""
    loss: str = ""
    seed: int = 1

    @property
    def serialises(self) -> bool:
        """Every frame of every link takes its time; a token bucket lets bursts pass."""
        return self.wire == "store-and-forward"

    def network(self, name: str) -> Network:
        """The network of that name; ``BadInput`` when there is none."""
        for network in self.networks:
            if network.name == name:
                return network
        raise BadInput(
            f"there is no network {name!r}{nearest(name, [one.name for one in self.networks])}."
        )

    def address(self, node: str, network: str) -> str:
        """Numeric address of the node's NIC on the network."""
        if node not in self.nodes:
            raise BadInput(f"there is no node {node!r}{nearest(node, self.nodes)}.")
        subnet = ipaddress.IPv4Network(self.network(network).subnet)
        return str(subnet.network_address + self.nodes.index(node) + 1)


def nearest(name: str, known: Iterable[str]) -> str:
    """What was meant, or what there is, for a sentence about a name that is not known."""
    names = list(known)
    found = difflib.get_close_matches(name, names, n=1)
    return f" (did you mean {found[0]}?)" if found else f" (there is {', '.join(names) or 'none'})"
