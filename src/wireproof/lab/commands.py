"""Compute everything that a lab starts or writes: argument lists, batch lines, the hosts file.
Pure.

Each end of a link is shaped by lines for ``tc -batch``. HTB with a bucket of 64 us of line rate is
accurate in a ping-pong. tbf is not, because its bucket refills while the answer travels back
(measured: 239 MB/s for 64 kB messages at "1 Gbit/s"). HTB counts whole frames without preamble and
FCS.

If a timer fires late, any capacity beyond the bucket is lost. Measured on two busy cores at 1
Gbit/s (ceiling 119.5 MB/s), stream and 1 MiB ping-pong: bucket 2 kB on both ends 107 and 110 MB/s;
8 kB on both 117 and 119; 8 kB, and 32 kB at the switch, 118 and 119. Traffic at the switch's end is
already paced unless several senders share the link, so its bucket is four times as deep, without
further loss.
"""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from wireproof.model.topology import (
    KINDS,
    Fault,
    Network,
    Topology,
    parse_delay_us,
    parse_loss_percent,
    parse_rate,
)

SLOW_RATE = 2_000_000_000
"""Below this rate, a 64 KiB segment would hold a whole ping-pong message, so segments are
smaller.
"""
_SLOW_GSO = 16384
_SMALLEST_BURST = 2000
_SWITCH_DEPTH = 4
_UNLIMITED = 100_000_000_000
_ROOT, _CLASS, _NETEM = "1:", "1:1", "10:"


@dataclasses.dataclass(frozen=True)
class Shape:
    """The shaping of packets that leave a device. ``rate``: bits/s, None if not shaped. ``burst``:
    size of the bucket in bytes.
    """

    rate: int | None = None
    loss_percent: float | None = None
    delay_us: float | None = None
    burst: int = 0

    @property
    def uses_netem(self) -> bool:
        return self.loss_percent is not None or self.delay_us is not None


def burst_bytes(rate: int) -> int:
    """Return the number of bytes in 64 us at line rate, at least a frame: 8000 B at 1 Gb/s."""
    return max(rate * 64 // 8_000_000, _SMALLEST_BURST)


def gso_bytes(network: Network) -> int | None:
    """Return the largest segment in bytes that a device of this network may pass down; None for the
    kernel's default.
    """
    rate = network.rate_bits_per_s
    return _SLOW_GSO if rate is not None and rate < SLOW_RATE else None


def shape_of(network: Network, faults: Iterable[Fault], node: str, direction: str) -> Shape:
    """Return the shape of a direction of a node's link with its faults: ``tx`` leaves the node,
    ``rx`` leaves the switch.

    The lower rate of link and fault applies.
    """
    rate = network.rate_bits_per_s
    depth = _SWITCH_DEPTH if direction == "rx" else 1
    shape = Shape(rate=rate, burst=depth * burst_bytes(rate)) if rate else Shape()
    for fault in faults:
        if (fault.node, fault.network, fault.direction) != (node, network.name, direction):
            continue
        if fault.kind == "rate":
            limit = min(parse_rate(fault.value), rate or parse_rate(fault.value))
            shape = dataclasses.replace(shape, rate=limit, burst=burst_bytes(limit))
        elif fault.kind == "loss":
            shape = dataclasses.replace(shape, loss_percent=parse_loss_percent(fault.value))
        elif fault.kind == "delay":
            shape = dataclasses.replace(shape, delay_us=parse_delay_us(fault.value))
    return shape


def _class(verb: str, device: str, shape: Shape) -> str:
    # netem needs a parent class; an unshaped link gets a class faster than the machine.
    rate = shape.rate or _UNLIMITED
    burst = shape.burst or burst_bytes(rate)
    return (
        f"class {verb} dev {device} parent {_ROOT} classid {_CLASS} htb rate {rate}bit ceil"
        f" {rate}bit burst {burst} cburst {burst} quantum 60000"
    )


def _netem(verb: str, device: str, shape: Shape) -> str:
    # The queue must hold all packets in flight: 10000 packets are 60 ms of 1 Gb/s in the smallest
    # segments.
    words = [f"qdisc {verb} dev {device} parent {_CLASS} handle {_NETEM} netem limit 10000"]
    if shape.delay_us is not None:
        words.append(f"delay {shape.delay_us:g}us")
    if shape.loss_percent is not None:
        words.append(f"loss {shape.loss_percent:g}%")
    return " ".join(words)


def _from_nothing(device: str, shape: Shape) -> list[str]:
    if shape == Shape():
        return []
    lines = [
        f"qdisc add dev {device} root handle {_ROOT} htb default 1 r2q 1000",
        _class("add", device, shape),
    ]
    return [*lines, _netem("add", device, shape)] if shape.uses_netem else lines


def transition(device: str, old: Shape, new: Shape) -> list[str]:
    """Return lines that change one shape into another, without dropping queued packets if
    possible.
    """
    if old == new:
        return []
    if Shape() in (old, new) or (old.rate is None) != (new.rate is None):
        removal = [] if old == Shape() else [f"qdisc del dev {device} root"]
        return removal + _from_nothing(device, new)
    lines = []
    if (new.rate, new.burst) != (old.rate, old.burst):
        lines.append(_class("change", device, new))
    if old.uses_netem and not new.uses_netem:
        lines.append(f"qdisc del dev {device} parent {_CLASS} handle {_NETEM}")
    elif new.uses_netem and (old.loss_percent, old.delay_us) != (new.loss_percent, new.delay_us):
        lines.append(_netem("change" if old.uses_netem else "add", device, new))
    return lines


SWITCH = "@switch"
"""The supervisor's namespaces, which contain the bridges."""
_LONGEST_DEVICE = 15
_TAP_QUEUE = 4096


def hold_argv(
    program: Path,
    *,
    name: str,
    state: Path,
    cookie: str,
    topology: Topology,
    descriptors: tuple[int, int],
    user: bool,
) -> list[str]:
    """Return the arguments of the supervisor. ``descriptors``: report socket, control pipe.
    ``user``: run in a user namespace.
    """
    argv = [str(program), "hold", "--lab", name, "--cookie", cookie, "--state", str(state)]
    argv += ["--report-fd", str(descriptors[0]), "--control-fd", str(descriptors[1])]
    argv += ["--user-namespace"] if user else []
    argv += ["--wire"] if topology.serialises else []
    kinds = ",".join(["net", *(kind for kind in KINDS if kind not in topology.share)])
    return argv + [word for node in topology.nodes for word in ("--node", f"{node}={kinds}")]


def enter_argv(program: Path, state: Path, node: str, argv: Sequence[str]) -> list[str]:
    """Return the arguments that run ``argv`` in a node (or on the switch)."""
    return [str(program), "enter", "--state", str(state), node, "--", *argv]


def hosts_text(topology: Topology) -> str:
    """Return /etc/hosts of every node: a node's name resolves to its first network, NODE-NETWORK to
    that network.

    The comment contains the node's name for the remote-shell agent, which accepts any word of a
    line.
    """
    lines = ["127.0.0.1 localhost"]
    for position, network in enumerate(topology.networks):
        for node in topology.nodes:
            names = f"{node} {node}-{network.name}" if position == 0 else f"{node}-{network.name}"
            lines.append(f"{topology.address(node, network.name)} {names} # {node}")
    return "\n".join(lines) + "\n"


def bridge_device(network: Network) -> str:
    return f"br_{network.bridge}"


def port_device(topology: Topology, node: str, network: Network) -> str:
    """Return the switch's end of a node's link: ``n1-hsn0``, or its index if that is too long for
    the kernel.
    """
    readable = f"{node}-{network.device}"
    if len(readable) <= _LONGEST_DEVICE:
        return readable
    return f"p{topology.nodes.index(node)}-{topology.networks.index(network)}"


def _segment(network: Network) -> str:
    size = gso_bytes(network)
    return f" gso_max_size {size}" if size else ""


def switch_link_lines(topology: Topology, pids: Mapping[str, int]) -> list[str]:
    """Return lines for ``ip -batch`` on the switch: bridges, and each link with its far end in the
    node.

    ``pids``: PIDs of the nodes as seen from the switch.
    """
    lines = []
    for bridge in dict.fromkeys(bridge_device(network) for network in topology.networks):
        lines.append(f"link add {bridge} type bridge forward_delay 0 mcast_snooping 0")
        lines.append(f"link set dev {bridge} up")
    for network in topology.networks:
        for node in topology.nodes:
            port = port_device(topology, node, network)
            lines.append(
                f"link add {port} mtu {network.mtu}{_segment(network)} type veth peer name"
                f" {network.device} mtu {network.mtu}{_segment(network)} netns {pids[node]}"
            )
            lines.append(f"link set dev {port} master {bridge_device(network)} up")
    return lines


def _is_down(faults: Sequence[Fault], node: str, network: Network) -> bool:
    return any(
        (fault.node, fault.network, fault.kind) == (node, network.name, "down") for fault in faults
    )


def node_link_lines(topology: Topology, node: str) -> list[str]:
    """Return lines for ``ip -batch`` in the node: addresses, and each NIC up unless a fault keeps
    it down.
    """
    lines = []
    for network in topology.networks:
        address = topology.address(node, network.name)
        if topology.serialises:
            # The wire created the device; this queue holds the frames that the wire cannot accept
            # at once.
            lines.append(f"link set dev {network.device} mtu {network.mtu} txqueuelen {_TAP_QUEUE}")
        lines.append(f"addr add {address}/{network.prefix_length} dev {network.device}")
        if not _is_down(topology.faults, node, network):
            lines.append(f"link set dev {network.device} up")
    return lines


def node_shaping_lines(topology: Topology, node: str) -> list[str]:
    """Return lines for ``tc -batch`` in the node, for traffic that leaves it."""
    lines = []
    for network in topology.networks:
        lines += transition(network.device, Shape(), shape_of(network, topology.faults, node, "tx"))
    return lines


def switch_shaping_lines(topology: Topology) -> list[str]:
    """Return lines for ``tc -batch`` on the switch, for traffic to each node. Without them, many
    senders would exceed a receiver's link rate.
    """
    lines = []
    for network in topology.networks:
        for node in topology.nodes:
            port = port_device(topology, node, network)
            lines += transition(port, Shape(), shape_of(network, topology.faults, node, "rx"))
    return lines


def fault_batches(
    topology: Topology, node: str, network: Network, old: Sequence[Fault], new: Sequence[Fault]
) -> list[tuple[str, str, list[str]]]:
    """Return (where, ``ip`` or ``tc``, lines) that change a node's link from the faults ``old`` to
    ``new``; the address of a NIC that goes down is kept.
    """
    batches = []
    ends = (("tx", node, network.device), ("rx", SWITCH, port_device(topology, node, network)))
    for direction, where, device in () if topology.serialises else ends:
        before, after = (shape_of(network, faults, node, direction) for faults in (old, new))
        batches.append((where, "tc", transition(device, before, after)))
    down = _is_down(new, node, network)
    if down != _is_down(old, node, network):
        batches.append((node, "ip", [f"link set dev {network.device} {'down' if down else 'up'}"]))
    return [batch for batch in batches if batch[2]]
