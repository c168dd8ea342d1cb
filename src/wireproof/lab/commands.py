"""Everything that a lab starts or writes, as values: argv lists, batch lines, the hosts file.
Pure.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from wireproof.lab.shaping import Shape, gso_bytes, shape_of, transition
from wireproof.model.topology import KINDS, Fault, Network, Topology

SWITCH = "@switch"
"""The supervisor's own namespaces, where the bridges are."""
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
    """argv of the supervisor. ``descriptors``: report socket, control pipe. ``user``: in a user
    namespace.
    """
    argv = [str(program), "hold", "--lab", name, "--cookie", cookie, "--state", str(state)]
    argv += ["--report-fd", str(descriptors[0]), "--control-fd", str(descriptors[1])]
    argv += ["--user-namespace"] if user else []
    argv += ["--wire"] if topology.serialises else []
    own = ",".join(["net", *(kind for kind in KINDS if kind not in topology.share)])
    return argv + [word for node in topology.nodes for word in ("--node", f"{node}={own}")]


def enter_argv(program: Path, state: Path, node: str, argv: Sequence[str]) -> list[str]:
    """argv that runs ``argv`` in a node (or on the switch)."""
    return [str(program), "enter", "--state", str(state), node, "--", *argv]


def hosts_text(topology: Topology) -> str:
    """/etc/hosts of every node: a node's name leads to its first network, NODE-NETWORK to that one.

    The remark names the node for the remote-shell agent, which takes any word of a line.
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
    """The switch's end of a node's link: ``n1-hsn0``, or its position where that is too long for
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
    """``ip -batch`` on the switch: bridges, and each link with its far end in the node.

    ``pids``: the nodes' as the switch sees them.
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
    """``ip -batch`` in the node: addresses, and each NIC up unless it is planted down."""
    lines = []
    for network in topology.networks:
        address = topology.address(node, network.name)
        if topology.serialises:
            # The wire has made the device; what it cannot take at once waits here.
            lines.append(f"link set dev {network.device} mtu {network.mtu} txqueuelen {_TAP_QUEUE}")
        lines.append(f"addr add {address}/{network.prefix_length} dev {network.device}")
        if not _is_down(topology.faults, node, network):
            lines.append(f"link set dev {network.device} up")
    return lines


def node_shaping_lines(topology: Topology, node: str) -> list[str]:
    """``tc -batch`` in the node: what leaves it."""
    lines = []
    for network in topology.networks:
        lines += transition(network.device, Shape(), shape_of(network, topology.faults, node, "tx"))
    return lines


def switch_shaping_lines(topology: Topology) -> list[str]:
    """``tc -batch`` on the switch: what reaches each node. Without it many senders would exceed one
    receiver's link.
    """
    lines = []
    for network in topology.networks:
        for node in topology.nodes:
            port = port_device(topology, node, network)
            lines += transition(port, Shape(), shape_of(network, topology.faults, node, "rx"))
    return lines


def link_state_lines(network: Network, *, up: bool) -> list[str]:
    """``ip -batch`` in a node: its NIC up or down; the address stays."""
    return [f"link set dev {network.device} {'up' if up else 'down'}"]


def fault_batches(
    topology: Topology, node: str, network: Network, old: Sequence[Fault], new: Sequence[Fault]
) -> list[tuple[str, str, list[str]]]:
    """(where, ``ip`` or ``tc``, lines) that lead one node's link from the faults ``old`` to
    ``new``.
    """
    batches = []
    if topology.serialises:
        down = _is_down(new, node, network)
        changed = down != _is_down(old, node, network)
        return [(node, "ip", link_state_lines(network, up=not down))] if changed else []
    ends = (("tx", node, network.device), ("rx", SWITCH, port_device(topology, node, network)))
    for direction, where, device in ends:
        before = shape_of(network, old, node, direction)
        batches.append(
            (where, "tc", transition(device, before, shape_of(network, new, node, direction)))
        )
    if _is_down(old, node, network) != _is_down(new, node, network):
        batches.append((node, "ip", link_state_lines(network, up=_is_down(old, node, network))))
    return [batch for batch in batches if batch[2]]
