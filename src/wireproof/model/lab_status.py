"""How a virtual cluster is: its nodes, its planted faults, and what its wire has counted."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Literal

from wireproof.model.topology import Fault, Topology

__all__ = ["LabStatus", "NodeStatus", "PortCount", "WireStatus", "fallen_behind"]

_LATE_SHARE = 0.001


@dataclasses.dataclass(frozen=True)
class PortCount:
    """What the switch has counted at one port: an observer that is neither of the nodes. tx leaves
    the node.

    ``lost``: by the planted loss; ``dropped``: at the tail of the switch's queue; ``refused``: by a
    NIC that is down.
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
    """What the wire says of itself. ``late``: frames handed over more than ``late_ns`` after they
    were due; ``starved``: frames that waited in a node while their line stood idle for longer than
    that; ``worst_ns``: the longest of both. ``first``: it runs before ordinary processes.
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
    """``state``: ``up``; ``degraded`` (a node or the wire has died); ``building``; ``crashed`` (its
    folder is left).
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
    """One sentence when the wire was late for more frames than chance explains in between, else
    "".
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
        " slower than they say"
    )
