"""Which nodes are drawn together: those below one switch, or neighbours by name."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from wireproof.report.names import clean, fold, natural

__all__ = ["grouped"]

_BLOCK = 64
"""Nodes in one block of the map, at most, where no topology says what belongs together."""
_UNKNOWN = "no known switch"


def grouped(
    nodes: Collection[str], leaf: Mapping[str, str]
) -> tuple[bool, list[tuple[str, list[str]]]]:
    """Groups with their names, in order, and whether they are switches: they are where these are
    known of more than half of the nodes. Nodes that only the topology has are in it too.
    """
    known = sum(one in leaf for one in nodes)
    if leaf and 2 * known >= len(nodes):
        found: dict[str, list[str]] = {}
        for node in sorted({*nodes, *leaf}, key=natural):
            found.setdefault(leaf.get(node, _UNKNOWN), []).append(node)
        return True, [(name, found[name]) for name in sorted(found, key=natural)]
    ordered = sorted(nodes, key=natural)
    blocks = [ordered[at : at + _BLOCK] for at in range(0, len(ordered), _BLOCK)]
    return False, [(_span(block), block) for block in blocks]


def _span(block: list[str]) -> str:
    """``n[1-64]`` where that is short, else the first and the last."""
    folded = fold(block, 200)
    if len(folded) <= 24:
        return folded
    return f"{clean(block[0], 40)} – {clean(block[-1], 40)}"
