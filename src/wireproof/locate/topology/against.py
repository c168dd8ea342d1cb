"""A fabric held against the nodes that are measured: who is unknown, who has no place, and by which
NIC.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import msgspec

from wireproof.locate.topology.names import short
from wireproof.model.fabric import Attachment, Fabric

__all__ = ["against", "leaf_numbers"]


def against(fabric: Fabric, nodes: Sequence[str], nic: str = "") -> tuple[Fabric, list[str]]:
    """The part of ``fabric`` that holds ``nodes``, under the names used there, and what does not
    fit, in sentences.

    A name with and without its domain is one node, unless that is ambiguous. ``nic``: the NIC that
    is measured (port numbers and the like ignored: ``mlx5_0:1`` is ``mlx5_0``); where the fabric
    knows it for a node, the node's other NICs are dropped, so that `Fabric.leaf_of` answers for the
    measured one. Switches and cables all stay, and so do the reader's own notes.
    """
    wanted = _names(nodes)
    own: dict[str, list[Attachment]] = {}
    foreign: list[str] = []
    for each in fabric.attachments:
        node = wanted.get(each.node) or wanted.get(each.node.split(".", 1)[0], "")
        if node:
            own.setdefault(node, []).append(msgspec.structs.replace(each, node=node))
        else:
            foreign.append(each.node)
    kept = [each for node in dict.fromkeys(nodes) for each in _measured(own.get(node, []), nic)]
    notes: list[str] = []
    if foreign:
        notes.append(f"{_listed(foreign, 'is', 'are')} in {fabric.source} but not measured here.")
    homeless = [node for node in dict.fromkeys(nodes) if node not in own]
    if homeless:
        notes.append(
            f"{_listed(homeless, 'has', 'have')} no place in {fabric.source}: their leaf is unknown."
        )
    split = [
        node
        for node, all_ in own.items()
        if len({each.switch for each in _measured(all_, nic)}) > 1
    ]
    if split:
        notes.append(
            f"{_listed(split, 'hangs', 'hang')} on several switches: the first is taken; name the NIC that is measured."
        )
    levels = fabric.levels if kept else {}
    return msgspec.structs.replace(fabric, attachments=tuple(kept), levels=levels), notes


def leaf_numbers(fabric: Fabric | None, nodes: Sequence[str]) -> list[int]:
    """For each of ``nodes`` its leaf as a number from 0, in the order in which they are first met;
    -1: no place.
    """
    first: dict[str, str] = {}
    for each in fabric.attachments if fabric is not None else ():
        first.setdefault(each.node, each.switch)
    numbers: dict[str, int] = {}
    return [
        numbers.setdefault(first[node], len(numbers)) if node in first else -1 for node in nodes
    ]


def _names(nodes: Iterable[str]) -> dict[str, str]:
    """Every name under which a node may be known: its own, and without its domain where only one
    node has that.
    """
    own = dict.fromkeys(nodes)
    stems = Counter(node.split(".", 1)[0] for node in own)
    known = {node.split(".", 1)[0]: node for node in own if stems[node.split(".", 1)[0]] == 1}
    return known | {node: node for node in own}


def _measured(attachments: list[Attachment], nic: str) -> list[Attachment]:
    wanted = nic.split(":", 1)[0]
    chosen = [each for each in attachments if wanted and each.nic.split(":", 1)[0] == wanted]
    return chosen or attachments


def _listed(names: Sequence[str], one: str, several: str) -> str:
    """``n1, n2`` or ``12 nodes (n1, n2, n3, ...)``, and the verb that fits."""
    unique = list(dict.fromkeys(names))
    shown = ", ".join(short(name) for name in unique[:3])
    if len(unique) == 1:
        return f"{shown} {one}"
    return (
        f"{shown} {several}"
        if len(unique) <= 3
        else f"{len(unique)} nodes ({shown}, ...) {several}"
    )
