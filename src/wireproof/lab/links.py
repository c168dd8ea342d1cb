"""Build a lab's links, inject faults into them, and describe them as claims."""

import contextlib
import signal
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import msgspec

from wireproof.lab import commands, supervisor
from wireproof.lab.state import LabState, is_alive, send_signal
from wireproof.lab.wire import CONFIG, read_wire_status, wire_obstacle, wire_text
from wireproof.model.claim import LinkClaim
from wireproof.model.errors import BadInput, LabError
from wireproof.model.topology import Fault, FaultKind, Topology

_PATIENCE_S = 5.0


def buildable(topology: Topology) -> tuple[Topology, tuple[str, ...]]:
    """Return the topology that this machine can build, and a note on every difference from the
    request.
    """
    obstacle = wire_obstacle() if topology.serialises else ""
    if not obstacle:
        return topology, ()
    if topology.latency or topology.loss:
        raise LabError(f"latency and loss need the store-and-forward wire, and {obstacle}.")
    note = (
        f"the links are token buckets, not store-and-forward as requested: {obstacle}; bursts"
        " pass at the CPU's speed"
    )
    return msgspec.structs.replace(topology, wire="token-bucket"), (note,)


def claimed_link(name: str, topology: Topology, network_name: str) -> LinkClaim:
    """Return the link as the lab built it; the NIC itself always claims 10 Gb/s.

    HTB counts no preamble and no frame check, and lets bursts pass; the wire does neither.
    """
    link = topology.network(network_name)
    how = (
        "serialised frame by frame"
        if topology.serialises
        else "shaped by HTB"
        if link.rate
        else "not shaped"
    )
    return LinkClaim(
        kind=f"lab-{link.rate or 'unshaped'}",
        protocol="tcp",
        rate_bits_per_s=None if link.rate_bits_per_s is None else float(link.rate_bits_per_s),
        mtu=link.mtu,
        source=f"lab {name}, network {network_name}: {how}",
        preamble_counted=topology.serialises,
    )


def connect(program: Path, folder: Path, state: LabState) -> None:
    """Create links, addresses and shaping, with two processes for the switch and two per node; the
    wire has created its own links.
    """
    topology = state.topology
    pids = {node: process.inner for node, process in state.nodes.items()}
    batches: list[tuple[str, str, list[str]]] = []
    if not topology.serialises:
        batches.append((commands.SWITCH, "ip", commands.switch_link_lines(topology, pids)))
        batches.append((commands.SWITCH, "tc", commands.switch_shaping_lines(topology)))
    for node in topology.nodes:
        batches.append((node, "ip", commands.node_link_lines(topology, node)))
        shaping = [] if topology.serialises else commands.node_shaping_lines(topology, node)
        batches.append((node, "tc", shaping))
    for where, tool, lines in batches:
        supervisor.run_batch(program, folder, where, tool, lines)


def write_wire(folder: Path, topology: Topology, faults: Sequence[Fault], revision: int) -> None:
    """Replace the wire's configuration atomically."""
    fresh = folder / f"{CONFIG}.new"
    fresh.write_text(wire_text(topology, faults, revision), encoding="ascii")
    fresh.replace(folder / CONFIG)


def replant(
    program: Path, folder: Path, state: LabState, fault: Fault, faults: tuple[Fault, ...]
) -> None:
    """Apply ``faults`` instead of the current faults at the place of ``fault``."""
    topology, network = state.topology, state.topology.network(fault.network)
    if topology.serialises and fault.kind != "down":
        _change_wire(folder, state, faults)
    for where, tool, lines in commands.fault_batches(
        topology, fault.node, network, state.faults, faults
    ):
        supervisor.run_batch(program, folder, where, tool, lines)


def _change_wire(folder: Path, state: LabState, faults: tuple[Fault, ...]) -> None:
    """Change the faults of the wire, and return once it uses the new file."""
    now = read_wire_status(folder)
    if now is None or state.wire is None or not is_alive(state.wire):
        raise LabError(f"the wire of lab {state.name} has died: take the lab down and up again.")
    write_wire(folder, state.topology, faults, now.revision + 1)
    send_signal(state.wire.pid, signal.SIGHUP, lambda _: is_alive(state.wire))
    until = time.monotonic() + _PATIENCE_S
    while (seen := read_wire_status(folder)) is not None and time.monotonic() < until:
        if seen.revision == now.revision + 1:
            return
        time.sleep(0.002)
    with contextlib.suppress(OSError):
        write_wire(folder, state.topology, state.faults, now.revision)
    raise LabError(
        f"the wire of lab {state.name} did not apply the change within {_PATIENCE_S:g} s: it is"
        " overloaded."
    )


def fault_in(
    name: str,
    topology: Topology,
    *,
    node: str,
    kind: FaultKind,
    value: str = "",
    network: str | None = None,
    direction: Literal["tx", "rx"] | None = None,
) -> Fault:
    """Return a fault of the lab ``name``; the default direction is the node's outgoing traffic.
    Raise ``BadInput`` if the network must be given, because the lab has several.
    """
    networks = [item.name for item in topology.networks]
    if network is None and len(networks) > 1:
        raise BadInput(
            f"lab {name} has the networks {', '.join(networks)}: choose one with --network."
        )
    return Fault(
        node=node,
        network=network or networks[0],
        kind=kind,
        direction="" if kind == "down" else direction or "tx",
        value=value,
    )
