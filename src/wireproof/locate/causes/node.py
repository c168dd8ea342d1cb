"""What is known of one node beside its peers, and how it is said: what signs look at. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from wireproof.locate.causes.properties import UNLIMITED, Properties
from wireproof.model.located import Blame

__all__ = ["AGREE", "LEAST_PEERS", "Node", "Sign", "against", "shown_as", "usual_of", "worded"]

AGREE = 0.75
"""The share of peers that must have one value for it to be the usual one."""
LEAST_PEERS = 2


@dataclass(frozen=True)
class Node:
    """``rose``: counters that rose; ``volume``: bytes that the node sent and received, to compare
    rises by.
    """

    name: str
    nic: str = ""
    device: str = ""
    properties: Properties = field(default_factory=dict)
    settings: dict[str, str] = field(default_factory=dict)
    rose: dict[str, int] = field(default_factory=dict)
    counted: bool = False
    volume: float = 0.0


@dataclass(frozen=True)
class Sign:
    """Base of all signs. ``seen`` returns sentences, empty when the sign does not hold or cannot be
    told; ``means`` says in words what it asks.
    """

    def means(self) -> str:
        raise NotImplementedError

    def seen(self, node: Node, peers: Sequence[Node], blame: Blame) -> list[str]:
        raise NotImplementedError


def usual_of(name: str, peers: Sequence[Node]) -> tuple[float | str, int, int] | None:
    """(the value that most peers have, how many have it, how many were asked); None where they do
    not agree.
    """
    values = [peer.properties[name] for peer in peers if name in peer.properties]
    if len(values) < LEAST_PEERS:
        return None
    value, count = Counter(values).most_common(1)[0]
    return (value, count, len(values)) if count >= AGREE * len(values) else None


_UNITS = {
    "speed": "b/s",
    "mtu": "B",
    "clock_read": "ns",
    "pcie_goodput": "B/s",
    "queue_goodput": "B/s",
    "max_frequency": "kHz",
    "steal": "ns",
    "pcie_current_speed": "GT/s",
    "pcie_max_speed": "GT/s",
}


def shown_as(name: str, value: float | str) -> str:
    if isinstance(value, str):
        return value
    if value >= UNLIMITED / 8:
        return "no limit"
    unit = _UNITS.get(name, "")
    for least, prefix in ((1e9, "G"), (1e6, "M")):
        if unit.endswith("/s") and value >= least:
            return f"{value / least:.4g} {prefix}{unit}"
    return f"{value:.0f} {unit}" if unit and value == int(value) else f"{value:.4g} {unit}".strip()


def worded(name: str) -> str:
    return name.replace("_", " ")


def against(node: Node, name: str, value: float | str, usual: tuple[float | str, int, int]) -> str:
    what, count, asked = usual
    own, theirs = shown_as(name, value), shown_as(name, what)
    return f"{node.name}: {worded(name)} {own}; {count} of {asked} other nodes have {theirs}"
