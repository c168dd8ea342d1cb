"""Nodes of one leaf that are all slow: the switch is the simpler cause."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

import numpy as np

from wireproof.locate.topology.uplinks import switch_of
from wireproof.model.fabric import Fabric
from wireproof.model.located import Blame, Direction, Stage
from wireproof.model.subject import Node, Port, Switch

__all__ = ["whole_leaves"]

_WHOLE = 0.75


def whole_leaves(
    blames: Iterable[Blame], fabric: Fabric | None, measured: Iterable[str]
) -> list[Blame]:
    """``blames`` with the nodes of a leaf joined into one switch, where three quarters of its
    measured nodes (three at least) are blamed in one direction by about one factor: the switch, or
    what feeds it, is the simpler cause.
    """
    found = list(blames)
    leaf = switch_of(fabric)
    sizes = Counter(leaf[node] for node in dict.fromkeys(measured) if node in leaf)
    if len(sizes) < 2:
        return found
    for (switch, direction), own in _by_leaf(found, leaf).items():
        middle = float(np.median([blame.slowdown for blame in own]))
        alike = [blame for blame in own if abs(blame.slowdown - middle) <= 0.25 * middle + 0.02]
        if len(alike) >= max(3, _WHOLE * sizes[switch]):
            found = [blame for blame in found if blame not in alike]
            found.append(_joined(switch, direction, alike, middle, sizes[switch]))
    return found


def _by_leaf(
    blames: Iterable[Blame], leaf: Mapping[str, str]
) -> dict[tuple[str, Direction], list[Blame]]:
    """Leaf and direction to the nodes and ports that are blamed there."""
    groups: dict[tuple[str, Direction], list[Blame]] = {}
    for blame in blames:
        if isinstance(blame.about, Node | Port) and blame.subject in leaf:
            groups.setdefault((leaf[blame.subject], blame.direction), []).append(blame)
    return groups


def _joined(switch: str, direction: Direction, own: list[Blame], middle: float, size: int) -> Blame:
    stage: Stage = "confirmed" if any(blame.stage == "confirmed" for blame in own) else "screened"
    return Blame(
        kind="switch",
        subject=switch,
        about=Switch(switch),
        direction=direction,
        metric=own[0].metric,
        slowdown=middle,
        low=float(np.median([blame.low for blame in own])),
        high=float(np.median([blame.high for blame in own])),
        confidence=max(blame.confidence for blame in own),
        stage=stage,
        value=float(np.median([blame.value for blame in own])),
        expected=float(np.median([blame.expected for blame in own])),
        nodes=[blame.subject for blame in own],
        evidence=[
            f"{len(own)} of the {size} measured nodes of {switch} are slow by about one factor"
        ],
    )
