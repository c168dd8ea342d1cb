"""The file of a lab's topology: read from TOML and checked. Pure.

A file looks like this; ``nodes`` is a count (n1, n2, ...) or a list of names::

    nodes = 4
    share = ["ipc"]              # optional: namespaces that the nodes share
    wire = "store-and-forward"   # optional: how the links limit their rates; default: token-bucket
    latency = "50us"             # optional: added to each frame from node to node; not for
                                 # token-bucket
    loss = "0.1%"                # optional: of these frames; not for token-bucket
    seed = 1                     # optional: seed of the loss

    [[network]]
    name = "hsn"
    device = "hsn0"              # the NIC's name in every node
    rate = "1gbit"               # optional; if missing, not shaped
    mtu = 1500
    subnet = "10.20.1.0/24"      # node number i gets address i
    switch = "hsn"               # optional: networks with the same switch are joined

    [[fault]]
    node = "n3"
    network = "hsn"
    kind = "rate"                # rate, loss, delay, down
    direction = "tx"             # as seen from the node: tx leaves it, rx reaches it; not for down
    value = "300mbit"            # rate: 300mbit; loss: 1%; delay: 100us; not for down
"""

import ipaddress
import re
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec

from wireproof.files.hostile import read_bounded
from wireproof.model.errors import BadInput, reading
from wireproof.model.toml import LARGEST, read_struct
from wireproof.model.topology import (
    Fault,
    Network,
    Share,
    Topology,
    Wire,
    nearest,
    parse_delay_us,
    parse_loss_percent,
    parse_rate,
)

MOST_NODES = 128
_NODE = re.compile(r"[a-z]([a-z0-9-]{0,30}[a-z0-9])?", re.ASCII)
_NETWORK = re.compile(r"[a-z][a-z0-9]{0,9}", re.ASCII)
_DEVICE = re.compile(r"[a-z][a-z0-9_]{0,14}", re.ASCII)
_RESERVED = ("switch", "localhost")
_MOST_WIRE_RATE, _MOST_WIRE_FRAMES_PER_S = 5e9, 205_000
_LINE_OVERHEAD = 14 + 24  # header; frame check, preamble and gap


_VALUES = {"rate": parse_rate, "loss": parse_loss_percent, "delay": parse_delay_us}


class _TopologyFile(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    nodes: int | list[str]
    network: tuple[Network, ...] = ()
    fault: tuple[Fault, ...] = ()
    share: tuple[Share, ...] = ()
    wire: Wire = "token-bucket"
    latency: str = ""
    loss: str = ""
    seed: int = 1


def parse_topology(text: str, source: str = "topology") -> Topology:
    """Parse the topology in ``text`` (TOML). Raise ``BadInput`` with ``source``, the key and the
    remedy.
    """
    file = read_struct(text, source, _TopologyFile)
    nodes = file.nodes
    if isinstance(nodes, int):
        if not 1 <= nodes <= MOST_NODES:
            raise BadInput(f"{source}: nodes = {nodes} is out of range: give 1 to {MOST_NODES}.")
        nodes = [f"n{number}" for number in range(1, nodes + 1)]
    topology = Topology(
        nodes=tuple(nodes),
        networks=file.network,
        faults=file.fault,
        share=file.share,
        wire=file.wire,
        latency=file.latency,
        loss=file.loss,
        seed=file.seed,
    )
    check_topology(topology, source)
    return topology


def check_topology(topology: Topology, source: str = "topology") -> None:
    """Raise ``BadInput`` for a topology that cannot be built or has surprising effects; the message
    contains ``source`` and the key.
    """
    if not topology.networks:
        raise BadInput(f"{source}: there is no network: add one under a line [[network]].")
    for network in topology.networks:
        _check_network(network, topology, f"{source}: network {network.name!r}")
    _check_distinct(topology, source)
    _check_nodes(topology, source)
    _check_wire(topology, source)
    if "mount" in topology.share and not {"pid", "shm"} <= set(topology.share):
        raise BadInput(
            f'{source}: share = ["mount"] needs "pid" and "shm" too: '
            "a node's own /proc and /dev/shm are mounts."
        )
    seen: set[tuple[str, str, str, str]] = set()
    for number, fault in enumerate(topology.faults, start=1):
        where = f"{source}: fault {number}"
        check_fault(fault, topology, where)
        if fault.place in seen:
            raise BadInput(f"{where}: {fault.kind} is given twice for the same place: remove one.")
        seen.add(fault.place)


def _check_wire(topology: Topology, source: str) -> None:
    for key, parse in (("latency", parse_delay_us), ("loss", parse_loss_percent)):
        value = getattr(topology, key)
        if value and not topology.serialises:
            raise BadInput(
                f'{source}: {key} needs wire = "store-and-forward": a token bucket cannot do that.'
            )
        _try(source, key, parse, value or {"latency": "1us", "loss": "1%"}[key])
    if not 0 <= topology.seed < 1 << 62:
        raise BadInput(
            f"{source}: seed = {topology.seed} is out of range: give 0 or more, such as 1."
        )
    for network in topology.networks if topology.serialises else ():
        where, rate = f"{source}: network {network.name!r}", network.rate_bits_per_s
        if rate is None:
            raise BadInput(
                f'{where}: wire = "store-and-forward" needs a rate: write rate = "1gbit".'
            )
        most = most_wire_rate(network.mtu)
        if rate > most:
            raise BadInput(
                f'{where}: wire = "store-and-forward" is accurate with MTU {network.mtu} up to '
                f"{most / 1e9:.3g}gbit: give that or less (rate is {network.rate}), a larger mtu, "
                'or wire = "token-bucket".'
            )


def most_wire_rate(mtu: int) -> float:
    """Maximum rate in bits/s at which one process on two cores keeps store-and-forward links
    accurate; measured, see docs/lab.md.
    """
    return min(_MOST_WIRE_RATE, _MOST_WIRE_FRAMES_PER_S * (mtu + _LINE_OVERHEAD) * 8)


def _check_nodes(topology: Topology, source: str) -> None:
    if not 1 <= len(topology.nodes) <= MOST_NODES:
        raise BadInput(f"{source}: nodes has {len(topology.nodes)} names: give 1 to {MOST_NODES}.")
    for node in topology.nodes:
        if _NODE.fullmatch(node) is None or node in _RESERVED:
            raise BadInput(
                f"{source}: nodes: {node[:40]!r} cannot be a node's name: use lower-case letters, "
                "digits and -."
            )
    endings = ("", *(f"-{one.name}" for one in topology.networks))
    names = Counter(f"{node}{ending}" for node in topology.nodes for ending in endings)
    name, times = names.most_common(1)[0]
    if times > 1:
        raise BadInput(f"{source}: nodes: the name {name!r} would occur twice: rename a node.")


def _check_network(network: Network, topology: Topology, where: str) -> None:
    for key, name in (("name", network.name), ("switch", network.bridge)):
        if _NETWORK.fullmatch(name) is None:
            raise BadInput(
                f"{where}: {key}: use 1 to 10 lower-case letters and digits, letter first."
            )
    _check_device(network.device, where)
    if not 576 <= network.mtu <= 65535:
        raise BadInput(
            f"{where}: mtu = {network.mtu} is out of range: give 576 to 65535, usually 1500 or "
            "9000."
        )
    _try(where, "rate", parse_rate, network.rate or "1gbit")
    try:
        subnet = ipaddress.IPv4Network(network.subnet)
    except ValueError as error:
        raise BadInput(f'{where}: subnet: {error}: write one such as "10.20.1.0/24".') from error
    if subnet.num_addresses - 2 < len(topology.nodes) or subnet.is_loopback or subnet.is_multicast:
        raise BadInput(
            f"{where}: subnet {network.subnet} is too small for {len(topology.nodes)} nodes."
        )


def _check_device(device: str, where: str) -> None:
    if _DEVICE.fullmatch(device) is None or device in ("lo", "all", "default"):
        raise BadInput(
            f"{where}: device {device[:40]!r} cannot be a NIC's name: write one such as hsn0."
        )
    if re.fullmatch(r"[0-9a-f]+", device):
        raise BadInput(
            f"{where}: device {device!r} has only hexadecimal digits, which PSM3 interprets as a"
            " number: write hsn0."
        )


def _check_distinct(topology: Topology, source: str) -> None:
    for key in ("name", "device"):
        values = Counter(getattr(network, key) for network in topology.networks)
        value, times = values.most_common(1)[0]
        if times > 1:
            raise BadInput(
                f"{source}: two networks have {key} = {value!r}: give them different values."
            )
    subnets = [ipaddress.IPv4Network(network.subnet) for network in topology.networks]
    for index, subnet in enumerate(subnets):
        if any(subnet.overlaps(other) for other in subnets[:index]):
            raise BadInput(
                f"{source}: network {topology.networks[index].name!r}: subnet {subnet} overlaps"
                " another subnet."
            )


def _try(where: str, key: str, parse: Any, value: str) -> None:
    try:
        parse(value)
    except BadInput as error:
        raise BadInput(f"{where}: {key}: {error}.") from error


def check_fault(fault: Fault, topology: Topology, where: str = "fault") -> None:
    """Raise ``BadInput`` if the fault refers to something that does not exist, or makes no
    sense.
    """
    names = [network.name for network in topology.networks]
    for key, value, known in (
        ("node", fault.node, topology.nodes),
        ("network", fault.network, names),
    ):
        if value not in known:
            raise BadInput(f"{where}: {key}: there is no {value[:40]!r}{nearest(value, known)}.")
    if fault.kind == "down":
        if fault.direction or fault.value:
            raise BadInput(
                f"{where}: a fault of kind down has neither a direction nor a value: leave them"
                " out."
            )
        return
    if not fault.direction:
        raise BadInput(
            f'{where}: direction is missing: write direction = "tx" (leaves the node) or "rx" '
            "(reaches it)."
        )
    if not fault.value:
        raise BadInput(f"{where}: value is missing: {fault.kind} needs one.")
    _try(where, "value", _VALUES[fault.kind], fault.value)


def load_topology(path: Path) -> Topology:
    """Return the topology in ``path``. Raise ``BadInput`` with the file, the key and the remedy."""
    with reading(path, f"{path} does not exist: give a topology file, see examples/lab."):
        text = read_bounded(path, LARGEST).decode("utf-8")
    return parse_topology(text, str(path))
