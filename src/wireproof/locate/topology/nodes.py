"""Look up the nodes of a fabric: the leaf of each, the up-links of each leaf, and which of the
measured nodes are unknown, have no place, or are attached by which NIC.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

import msgspec

from wireproof.locate.topology.build import short
from wireproof.model.located import Attachment, Fabric


def switch_of(fabric: Fabric | None) -> dict[str, str]:
    """Map each node to its switch; if it has several, to the first that the fabric lists."""
    switches: dict[str, str] = {}
    for attachment in fabric.attachments if fabric else ():
        switches.setdefault(attachment.node, attachment.switch)
    return switches


def uplinks(fabric: Fabric) -> dict[str, list[str]]:
    """Map each leaf to the switch at the far end of each of its up-links; parallel cables are
    listed separately.
    """
    far_ends: dict[str, list[str]] = {attachment.switch: [] for attachment in fabric.attachments}
    for cable in fabric.cables:
        for low, high in ((cable.one, cable.other), (cable.other, cable.one)):
            if low in far_ends and fabric.levels.get(high, 0) > fabric.levels.get(low, 0):
                far_ends[low] += [high] * min(cable.count, 10_000)
    return far_ends


def positions(fabric: Fabric) -> dict[str, int]:
    """Map each node to its position on its leaf, from 0: by port if all ports of the leaf are
    numbers, else in listed order.
    """
    first: dict[str, tuple[str, str]] = {}
    for attachment in fabric.attachments:
        first.setdefault(attachment.node, (attachment.switch, attachment.port))
    members: dict[str, list[tuple[str, str]]] = {}
    for node, (switch, port) in first.items():
        members.setdefault(switch, []).append((node, port))
    places: dict[str, int] = {}
    for on_leaf in members.values():
        if all(port.isdecimal() and len(port) < 10 for _, port in on_leaf):
            on_leaf.sort(key=lambda item: int(item[1]))
        places |= {node: index for index, (node, _) in enumerate(on_leaf)}
    return places


_SEVERAL = "attached to several switches: the first is used; name the measured NIC."


def against(fabric: Fabric, nodes: Sequence[str], nic: str = "") -> tuple[Fabric, list[str]]:
    """Return the part of ``fabric`` that holds ``nodes``, under the names used there, and sentences
    about what does not match.

    A name with and without its domain is the same node, unless that is ambiguous. ``nic``: the
    measured NIC (port numbers are ignored: ``mlx5_0:1`` is ``mlx5_0``). If the fabric lists this
    NIC for a node, the node's other NICs are dropped, so that `Fabric.leaf_of` answers for the
    measured NIC. All switches, cables and notes of the reader are kept.
    """
    own, foreign = _by_node(fabric, nodes)
    every = dict.fromkeys(nodes)
    placed = {node: _measured(own[node], nic) for node in every if node in own}
    kept = [attachment for attachments in placed.values() for attachment in attachments]
    homeless = [node for node in every if node not in own]
    split = [node for node in own if len({attachment.switch for attachment in placed[node]}) > 1]
    notes = [
        f"{_listed(names, *verbs)} {rest}"
        for names, verbs, rest in (
            (foreign, ("is", "are"), f"in {fabric.source} but not measured here."),
            (homeless, ("has", "have"), f"no place in {fabric.source}: their leaf is unknown."),
            (split, ("is", "are"), _SEVERAL),
        )
        if names
    ]
    levels = fabric.levels if kept else {}
    return msgspec.structs.replace(fabric, attachments=tuple(kept), levels=levels), notes


def _by_node(fabric: Fabric, nodes: Iterable[str]) -> tuple[dict[str, list[Attachment]], list[str]]:
    """Return (attachments of each node under the name used here; names that are not measured)."""
    wanted = _names(nodes)
    attached: dict[str, list[Attachment]] = {}
    foreign: list[str] = []
    for attachment in fabric.attachments:
        node = wanted.get(attachment.node) or wanted.get(attachment.node.split(".", 1)[0], "")
        if node:
            attached.setdefault(node, []).append(msgspec.structs.replace(attachment, node=node))
        else:
            foreign.append(attachment.node)
    return attached, foreign


def leaf_numbers(fabric: Fabric | None, nodes: Sequence[str]) -> list[int]:
    """Number the leaf of each of ``nodes`` from 0, in order of first appearance; -1 for nodes
    without a place.
    """
    first = switch_of(fabric)
    numbers: dict[str, int] = {}
    return [
        numbers.setdefault(first[node], len(numbers)) if node in first else -1 for node in nodes
    ]


def _names(nodes: Iterable[str]) -> dict[str, str]:
    """Map every name under which a node may be known to the node: its full name, and its short name
    if only one node has it.
    """
    unique = dict.fromkeys(nodes)
    stems = Counter(node.split(".", 1)[0] for node in unique)
    known = {node.split(".", 1)[0]: node for node in unique if stems[node.split(".", 1)[0]] == 1}
    return known | {node: node for node in unique}


def _measured(attachments: list[Attachment], nic: str) -> list[Attachment]:
    wanted = nic.split(":", 1)[0]
    chosen = [
        attachment
        for attachment in attachments
        if wanted and attachment.nic.split(":", 1)[0] == wanted
    ]
    return chosen or attachments


def _listed(names: Sequence[str], one: str, several: str) -> str:
    """Return ``n1, n2`` or ``12 nodes (n1, n2, n3, ...)`` with the matching verb."""
    unique = list(dict.fromkeys(names))
    shown = ", ".join(short(name) for name in unique[:3])
    if len(unique) > 3:
        return f"{len(unique)} nodes ({shown}, ...) {several}"
    return f"{shown} {one if len(unique) == 1 else several}"
