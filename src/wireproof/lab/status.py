"""Which labs are there, and how each of them is."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from wireproof.lab.state import LabState, find_holders, is_alive, read_state, state_root
from wireproof.lab.wire import read_wire_status
from wireproof.model.errors import BadInput
from wireproof.model.topology import LabStatus, NodeStatus

__all__ = ["find_labs", "labs_called", "status_of"]


def find_labs() -> list[LabStatus]:
    """All labs of this user, crashed ones too, by name."""
    root = state_root()
    folders = sorted(entry for entry in root.iterdir() if entry.is_dir()) if root.is_dir() else []
    return [status_of(folder) for folder in folders]


def labs_called(name: str | None) -> list[LabStatus]:
    """The lab of that name, or all without one. ``BadInput`` when there is none of it."""
    labs = find_labs()
    found = [one for one in labs if name in (None, one.name)]
    if name and not found:
        known = ", ".join(one.name for one in labs) or "none is up"
        raise BadInput(f"there is no lab {name!r}: {known}.")
    return found


def _phase(
    folder: Path, state: LabState, nodes: tuple[NodeStatus, ...]
) -> Literal["up", "degraded", "building", "crashed"]:
    if state.phase == "building":
        return "building" if any(find_holders(folder, state.cookie)) else "crashed"
    if not is_alive(state.supervisor):
        return "crashed"
    whole = all(node.alive for node in nodes) and (state.wire is None or is_alive(state.wire))
    return "up" if whole else "degraded"


def status_of(folder: Path) -> LabStatus:
    """What is there of the lab in ``folder``, whoever of it has died."""
    state = read_state(folder)
    if state is None:
        return LabStatus(folder.name, "crashed", folder)
    nodes = tuple(
        NodeStatus(
            node,
            is_alive(state.nodes.get(node)),
            state.nodes[node].pid if node in state.nodes else None,
            {
                network.name: state.topology.address(node, network.name)
                for network in state.topology.networks
            },
        )
        for node in state.topology.nodes
    )
    return LabStatus(
        folder.name,
        _phase(folder, state, nodes),
        folder,
        created_unix=state.created_unix,
        user_namespace=state.user_namespace,
        nodes=nodes,
        topology=state.topology,
        faults=state.faults,
        wire=read_wire_status(folder) if state.wire is not None else None,
        notes=state.notes,
    )
