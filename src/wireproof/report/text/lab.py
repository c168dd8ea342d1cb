"""A virtual cluster as text for a terminal."""

from __future__ import annotations

from wireproof.model.topology import LabStatus, fallen_behind

__all__ = ["lab_text"]


def lab_text(status: LabStatus) -> str:
    """Its networks, wire, nodes and planted faults, one line each."""
    lines = [f"{status.name}: {status.state}", *(f"  NOTE: {note}" for note in status.notes)]
    for network in status.topology.networks if status.topology else ():
        rate = network.rate or "not shaped"
        lines.append(f"  network {network.name}: {network.device}, {rate}, MTU {network.mtu}")
    lines += _wire_lines(status)
    for node in status.nodes:
        where = ", ".join(f"{name} {address}" for name, address in node.addresses.items())
        lines.append(f"  {node.name}: {'up' if node.alive else 'DEAD'}, {where}")
    for fault in status.faults:
        what = f"{fault.direction} {fault.kind} {fault.value}".rstrip()
        lines.append(f"  planted: {fault.node} {fault.network} {what}")
    return "\n".join(lines)


def _wire_lines(status: LabStatus) -> list[str]:
    """How the links keep their rates, and whether they did."""
    topology, wire = status.topology, status.wire
    if topology is None or not topology.serialises:
        return []
    added = [f"latency {topology.latency}"] if topology.latency else []
    added += [f"loss {topology.loss}"] if topology.loss else []
    lines = [f"  wire: {', '.join(['store-and-forward', *added])}"]
    if wire is None:
        return [*lines, "  wire: DEAD, no node reaches another"]
    late = f"{wire.late + wire.starved} of them more than {wire.late_ns / 1e6:g} ms late"
    lines[0] += f"; {wire.frames} frames, {late}"
    lines[0] += "" if wire.first else "; it has no right to run before ordinary processes"
    behind = fallen_behind(None, wire)
    return [*lines, f"  NOTE: {behind}"] if behind else lines
