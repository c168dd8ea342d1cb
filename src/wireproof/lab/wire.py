"""The store-and-forward wire: its configuration and its counters.

The other side is in ``wireproof-node``: engine/node/wire.
"""

import os
import struct
from collections.abc import Callable, Sequence
from pathlib import Path

from wireproof.lab.commands import shape_of
from wireproof.model.errors import LabError
from wireproof.model.record import EngineError
from wireproof.model.topology import (
    Fault,
    Network,
    PortCount,
    Topology,
    WireStatus,
    fallen_behind,
    parse_delay_us,
    parse_loss_percent,
)

WIRE = "@wire"
CONFIG, STATUS = "wire", "wire.status"
QUEUE_BYTES = 8 << 20
"""Queue of a switch port in bytes: more than a TCP connection ever has in flight here."""
LATE_NS = 1_000_000
_HEADER = struct.Struct("=8s8Q")
_PORT = struct.Struct("=8Q")


def _line(
    topology: Topology, faults: Sequence[Fault], node: str, network: Network, direction: str
) -> str:
    """Return the words for a direction of a link (bits/s, ns, lost frames per 10^9): the network's
    rate; towards the switch, also the latency and loss of the lab; then the faults.
    """
    shape = shape_of(network, faults, node, direction)
    delay_ns, loss = round((shape.delay_us or 0.0) * 1000), (shape.loss_percent or 0.0) / 100
    if direction == "tx":
        delay_ns += round((parse_delay_us(topology.latency) if topology.latency else 0.0) * 1000)
        lost_anyway = parse_loss_percent(topology.loss) / 100 if topology.loss else 0.0
        loss = 1 - (1 - lost_anyway) * (1 - loss)
    words = {"rate": shape.rate or 0, "delay": delay_ns, "loss": round(loss * 1e9)}
    return " ".join(f"{direction}_{name}={value}" for name, value in words.items())


def wire_ports(topology: Topology) -> list[tuple[str, Network]]:
    """Return (node, network) of every port, in the order of the configuration and the status."""
    return [(node, network) for network in topology.networks for node in topology.nodes]


def wire_text(topology: Topology, faults: Sequence[Fault], revision: int) -> str:
    """Return the file that the wire reads: a line per port."""
    lines = [f"revision {revision}", f"seed {topology.seed}", f"late_ns {LATE_NS}"]
    switches = list(dict.fromkeys(network.bridge for network in topology.networks))
    for node, network in wire_ports(topology):
        directions = [
            _line(topology, faults, node, network, direction) for direction in ("tx", "rx")
        ]
        place = f"domain={switches.index(network.bridge)} mtu={network.mtu} queue={QUEUE_BYTES}"
        lines.append(f"port {node} {network.device} {place} {' '.join(directions)}")
    return "\n".join(lines) + "\n"


def wire_obstacle(device: Path = Path("/dev/net/tun")) -> str:
    """Return the reason why no TAP device can be created here, with the remedy; "" if it can be
    tried.
    """
    try:
        os.close(os.open(device, os.O_RDWR | os.O_CLOEXEC))
    except FileNotFoundError:
        return (
            f"{device} does not exist: run `modprobe tun` as root (for a container: pass"
            " the device to it)"
        )
    except OSError as error:
        return f"{device} cannot be opened ({error.strerror}): run `chmod 666 {device}` as root"
    return ""


def read_wire_status(folder: Path) -> WireStatus | None:
    """Return the current counters; None if there is no wire."""
    try:
        data = (folder / STATUS).read_bytes()
    except OSError:
        return None
    if len(data) < _HEADER.size:
        return None
    magic, ports, revision, frames, late, starved, worst_ns, late_ns, first = _HEADER.unpack_from(
        data
    )
    if magic != b"WPWIRE1\n" or len(data) < _HEADER.size + ports * _PORT.size:
        raise LabError(
            f"{folder / STATUS} was written by another version of wireproof: take the lab down"
            " and up again."
        )
    counts = tuple(
        PortCount(*_PORT.unpack_from(data, _HEADER.size + i * _PORT.size)) for i in range(ports)
    )
    return WireStatus(revision, frames, late, starved, worst_ns, late_ns, bool(first), counts)


def wire_observer(
    status: Callable[[], WireStatus | None],
) -> Callable[[], Sequence[EngineError]]:
    """Observe the wire's counters from now on. The returned function reports frames that were late
    because the wire fell behind. ``status`` reads the status of a lab's wire.
    """
    if (before := status()) is None:
        return tuple

    def observe() -> Sequence[EngineError]:
        late = fallen_behind(before, status())
        return (EngineError(code="wire-late", message=late),) if late else ()

    return observe
