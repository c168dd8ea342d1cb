# pure
"""The lab: its topology (nodes, networks, planted faults; ``lab.topology_file`` reads and checks
it), its state, and the counts of its wire.
"""

import dataclasses
import difflib
import ipaddress
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

import msgspec

from wireproof.model.errors import BadInput
from wireproof.model.finding import Direction

_NUMBER = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)\s*([a-z%]+)", re.ASCII)


def _quantity(text: str, units: dict[str, float], what: str, example: str) -> float:
    found = _NUMBER.fullmatch(text.strip().lower())
    factor = units.get(found.group(2)) if found else None
    if found is None or factor is None:
        raise BadInput(f"{what} {text[:40]!r} is not understood: write {example}")
    return float(found.group(1)) * factor


def parse_rate(text: str) -> int:
    """Return bits/s for ``"1gbit"``, ``"2.5gbit"``, ``"300mbit"``, ``"64kbit"`` (steps of 10^3, as
    in tc).
    """
    rate = _quantity(
        text,
        {"kbit": 1e3, "mbit": 1e6, "gbit": 1e9},
        "rate",
        "a rate such as 300mbit, 1gbit, 2.5gbit",
    )
    if not 8e3 <= rate <= 1e12:
        raise BadInput(f"rate {text} is out of range: give 8kbit to 1000gbit")
    return round(rate)


def parse_loss_percent(text: str) -> float:
    """Return the percentage in ``"1%"``, ``"0.01%"``."""
    loss = _quantity(text, {"%": 1.0}, "loss", "a percentage such as 1% or 0.01%")
    if not 0 < loss <= 100:
        raise BadInput(f"loss {text} is out of range: give more than 0% and at most 100%")
    return loss


def parse_delay_us(text: str) -> float:
    """Return microseconds for ``"100us"``, ``"2ms"``."""
    delay = _quantity(
        text, {"us": 1.0, "ms": 1e3, "s": 1e6}, "delay", "a time such as 100us or 2ms"
    )
    if not 1 <= delay <= 10e6:
        raise BadInput(f"delay {text} is out of range: give 1us to 10s")
    return delay


FaultKind = Literal["rate", "loss", "delay", "down"]
Share = Literal["uts", "ipc", "mount", "pid", "shm"]
Wire = Literal["token-bucket", "store-and-forward"]

KINDS: tuple[Share, ...] = ("uts", "ipc", "mount", "pid", "shm")
"""The resources that nodes may share on purpose. "shm" is /dev/shm. A shared network namespace is
excluded: its nodes would have no separate NICs.
"""


class Network(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One network, on which each node has one NIC. ``rate``: "" means not shaped, as fast as the
    machine allows.
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
    """A planted fault. ``direction`` is as seen by the node: ``tx`` leaves it, ``rx`` reaches
    it.
    """

    node: str
    network: str
    kind: FaultKind
    direction: Direction = ""
    value: str = ""

    @property
    def place(self) -> tuple[str, str, str, str]:
        """The place where the fault acts. Two faults in the same place exclude each other."""
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
        """True if every frame takes its transmission time on each link; a token bucket lets bursts
        pass.
        """
        return self.wire == "store-and-forward"

    def network(self, name: str) -> Network:
        """Return the network with this name; raise ``BadInput`` if there is none."""
        for network in self.networks:
            if network.name == name:
                return network
        raise BadInput(
            f"there is no network {name!r}{nearest(name, [one.name for one in self.networks])}."
        )

    def address(self, node: str, network: str) -> str:
        """Return the numeric address of the node's NIC on the network."""
        if node not in self.nodes:
            raise BadInput(f"there is no node {node!r}{nearest(node, self.nodes)}.")
        subnet = ipaddress.IPv4Network(self.network(network).subnet)
        return str(subnet.network_address + self.nodes.index(node) + 1)


def nearest(name: str, known: Iterable[str]) -> str:
    """Return a hint for a message about an unknown name: the closest known name, or all of them."""
    names = list(known)
    found = difflib.get_close_matches(name, names, n=1)
    return f" (did you mean {found[0]}?)" if found else f" (known: {', '.join(names) or 'none'})"


_LATE_SHARE = 0.001


@dataclasses.dataclass(frozen=True)
class PortCount:
    """The switch's counts for one port, independent of both nodes. ``tx`` leaves the node.

    Frames lost: ``lost`` by the planted loss, ``dropped`` at the tail of the switch's queue,
    ``refused`` by a NIC that is down.
    """

    tx_frames: int
    tx_bytes: int
    rx_frames: int
    rx_bytes: int
    tx_lost: int
    rx_lost: int
    dropped: int
    refused: int


@dataclasses.dataclass(frozen=True)
class WireStatus:
    """The statistics of a wire. ``late``: frames delivered more than ``late_ns`` after
    they were due; ``starved``: frames that waited in a node for longer than that while their
    line was idle; ``worst_ns``: the longest of both delays. ``first``: the wire's process has
    priority over ordinary processes.
    """

    revision: int
    frames: int
    late: int
    starved: int
    worst_ns: int
    late_ns: int
    first: bool
    ports: tuple[PortCount, ...] = ()


@dataclasses.dataclass(frozen=True)
class NodeStatus:
    name: str
    alive: bool
    pid: int | None
    addresses: dict[str, str]


@dataclasses.dataclass(frozen=True)
class LabStatus:
    """State of a lab: ``up``; ``degraded`` (a node or the wire has died); ``building``; ``crashed``
    (only its folder is left).
    """

    name: str
    state: Literal["up", "degraded", "building", "crashed"]
    folder: Path
    created_unix: float | None = None
    user_namespace: bool = False
    nodes: tuple[NodeStatus, ...] = ()
    topology: Topology | None = None
    faults: tuple[Fault, ...] = ()
    wire: WireStatus | None = None
    notes: tuple[str, ...] = ()


def fallen_behind(before: WireStatus | None, after: WireStatus | None) -> str:
    """Return a sentence if the wire delayed more frames in this interval than chance explains,
    otherwise "".
    """
    if after is None:
        return ""
    frames = after.frames - (before.frames if before else 0)
    late = after.late - (before.late if before else 0)
    starved = after.starved - (before.starved if before else 0)
    if late + starved <= _LATE_SHARE * frames:
        return ""
    return (
        f"the lab's wire fell behind: {late + starved} of {frames} frames were more than"
        f" {after.late_ns / 1e6:g} ms late (at most {after.worst_ns / 1e6:.3g} ms); the links were"
        " slower than configured"
    )
