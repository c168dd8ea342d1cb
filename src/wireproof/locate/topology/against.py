"""A fabric compared with the nodes that are measured: which are unknown, which have no place, and
by which NIC they hang on it.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

import msgspec

from wireproof.locate.topology.names import short
from wireproof.locate.topology.uplinks import switch_of
from wireproof.model.fabric import Attachment, Fabric

_SEVERAL = "on several switches: the first is taken; name the NIC that is measured."


def against(fabric: Fabric, nodes: Sequence[str], nic: str = "") -> tuple[Fabric, list[str]]:
    """The part of ``fabric`` that holds ``nodes``, under the names used there, and what does not
    fit, in sentences.

    A name with and without its domain is one node, unless that is ambiguous. ``nic``: the NIC that
    is measured (port numbers and the like ignored: ``mlx5_0:1`` is ``mlx5_0``); where the fabric
    knows it for a node, the node's other NICs are dropped, so that `Fabric.leaf_of` answers for the
    measured one. Switches and cables all stay, and so do the reader's own notes.
    """
    own, foreign = _by_node(fabric, nodes)
    every = dict.fromkeys(nodes)
    placed = {node: _measured(own[node], nic) for node in every if node in own}
    kept = [each for attachments in placed.values() for each in attachments]
    homeless = [node for node in every if node not in own]
    split = [node for node in own if len({each.switch for each in placed[node]}) > 1]
    notes = [
        f"{_listed(names, *verbs)} {rest}"
        for names, verbs, rest in (
            (foreign, ("is", "are"), f"in {fabric.source} but not measured here."),
            (homeless, ("has", "have"), f"no place in {fabric.source}: their leaf is unknown."),
            (split, ("hangs", "hang"), _SEVERAL),
        )
        if names
    ]
    levels = fabric.levels if kept else {}
    return msgspec.structs.replace(fabric, attachments=tuple(kept), levels=levels), notes


def _by_node(fabric: Fabric, nodes: Iterable[str]) -> tuple[dict[str, list[Attachment]], list[str]]:
    """(node, under the name used here, to its attachments; names that are not measured)."""
    wanted = _names(nodes)
    own: dict[str, list[Attachment]] = {}
    foreign: list[str] = []
    for each in fabric.attachments:
        node = wanted.get(each.node) or wanted.get(each.node.split(".", 1)[0], "")
        if node:
            own.setdefault(node, []).append(msgspec.structs.replace(each, node=node))
        else:
            foreign.append(each.node)
    return own, foreign


def leaf_numbers(fabric: Fabric | None, nodes: Sequence[str]) -> list[int]:
    """For each of ``nodes`` its leaf as a number from 0, in the order in which they are first met;
    -1: no place.
    """
    first = switch_of(fabric)
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
    if len(unique) > 3:
        return f"{len(unique)} nodes ({shown}, ...) {several}"
    return f"{shown} {one if len(unique) == 1 else several}"
