"""The signs that rules are made of. A sign holds for a node or it does not; when it holds it says
what was seen.

``peers`` are nodes that nobody blames; what is called different, lower or higher is so against
them.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from wireproof.locate.causes.node import (
    AGREE,
    LEAST_PEERS,
    Node,
    Sign,
    against,
    shown_as,
    usual_of,
    worded,
)
from wireproof.model.located import Blame

__all__ = [
    "Above",
    "Below",
    "Differs",
    "Explains",
    "Grows",
    "HeadersExplain",
    "Is",
    "IsNot",
    "Less",
    "Most",
    "SettingDiffers",
    "Unusual",
]

_MOST_NAMED = 4


@dataclass(frozen=True)
class Is(Sign):
    """A property has this value."""

    name: str
    value: str

    def means(self) -> str:
        return f"{worded(self.name)} is {self.value}"

    def seen(self, node: Node, peers: Sequence[Node], blame: Blame) -> list[str]:
        found = node.properties.get(self.name)
        return [f"{node.name}: {worded(self.name)} is {found}"] if found == self.value else []


@dataclass(frozen=True)
class IsNot(Sign):
    """A property is known and has another value."""

    name: str
    value: str

    def means(self) -> str:
        return f"{worded(self.name)} is not {self.value}"

    def seen(self, node: Node, peers: Sequence[Node], blame: Blame) -> list[str]:
        found = node.properties.get(self.name)
        return (
            [f"{node.name}: {worded(self.name)} is {found}"]
            if found is not None and found != self.value
            else []
        )


@dataclass(frozen=True)
class Unusual(Sign):
    """A property is known, and not known to be what most peers have: what all have slows nobody
    down alone.
    """

    name: str

    def means(self) -> str:
        return f"{worded(self.name)} is not what most other nodes have"

    def seen(self, node: Node, peers: Sequence[Node], blame: Blame) -> list[str]:
        value, usual = node.properties.get(self.name), usual_of(self.name, peers)
        if value is None or (usual is not None and value == usual[0]):
            return []
        if usual is None:
            return [
                f"{node.name}: {worded(self.name)} {shown_as(self.name, value)}; other nodes' are not known or differ"
            ]
        return [against(node, self.name, value, usual)]


@dataclass(frozen=True)
class Less(Sign):
    """A property is less than another one of the same node."""

    name: str
    than: str

    def means(self) -> str:
        return f"{worded(self.name)} is less than {worded(self.than)}"

    def seen(self, node: Node, peers: Sequence[Node], blame: Blame) -> list[str]:
        one, other = node.properties.get(self.name), node.properties.get(self.than)
        if not isinstance(one, float) or not isinstance(other, float) or not one < other:
            return []
        shown = f"{worded(self.name)} {shown_as(self.name, one)}, {worded(self.than)} {shown_as(self.than, other)}"
        return [f"{node.name}: {shown}"]


@dataclass(frozen=True)
class Below(Sign):
    """A number is below what most peers have."""

    name: str

    def means(self) -> str:
        return f"{worded(self.name)} is below that of most other nodes"

    def seen(self, node: Node, peers: Sequence[Node], blame: Blame) -> list[str]:
        value, usual = node.properties.get(self.name), usual_of(self.name, peers)
        if (
            usual is None
            or not isinstance(value, float)
            or not isinstance(usual[0], float)
            or not value < usual[0]
        ):
            return []
        return [against(node, self.name, value, usual)]


@dataclass(frozen=True)
class Differs(Sign):
    """A property is not what most peers have."""

    name: str

    def means(self) -> str:
        return f"{worded(self.name)} differs from that of most other nodes"

    def seen(self, node: Node, peers: Sequence[Node], blame: Blame) -> list[str]:
        value, usual = node.properties.get(self.name), usual_of(self.name, peers)
        if usual is None or value is None or value == usual[0]:
            return []
        return [against(node, self.name, value, usual)]


@dataclass(frozen=True)
class Above(Sign):
    """A number is at least ``least``, and at least ``times`` the peers' median where they have it
    (``times`` 0: no comparison). With ``times``, two peers at least must have it.
    """

    name: str
    least: float
    times: float = 0.0

    def means(self) -> str:
        return f"{worded(self.name)} is {self.least:g} or more" + (
            f", and {self.times:g} times the others' median" if self.times else ""
        )

    def seen(self, node: Node, peers: Sequence[Node], blame: Blame) -> list[str]:
        value = node.properties.get(self.name)
        if not isinstance(value, float) or value < self.least:
            return []
        others = [v for peer in peers if isinstance(v := peer.properties.get(self.name), float)]
        if not self.times:
            return [f"{node.name}: {worded(self.name)} {shown_as(self.name, value)}"]
        if len(others) < LEAST_PEERS:
            return []
        middle = statistics.median(others)
        if value < self.times * middle:
            return []
        own, usual = shown_as(self.name, value), shown_as(self.name, middle)
        return [
            f"{node.name}: {worded(self.name)} {own}, median of {len(others)} other nodes {usual}"
        ]


@dataclass(frozen=True)
class Most(Sign):
    """A number is at most this."""

    name: str
    most: float

    def means(self) -> str:
        return f"{worded(self.name)} is {self.most:g} or less"

    def seen(self, node: Node, peers: Sequence[Node], blame: Blame) -> list[str]:
        value = node.properties.get(self.name)
        if not isinstance(value, float) or value > self.most:
            return []
        return [f"{node.name}: {worded(self.name)} {shown_as(self.name, value)}"]


@dataclass(frozen=True)
class Explains(Sign):
    """A limit in bytes/s is at most what was expected, so that it can be the reason; ``tight``: and
    what was reached is most of it.
    """

    name: str
    tight: bool = False

    def means(self) -> str:
        return f"{worded(self.name)} is no more than what was expected" + (
            ", and most of it was reached" if self.tight else ""
        )

    def seen(self, node: Node, peers: Sequence[Node], blame: Blame) -> list[str]:
        limit = node.properties.get(self.name)
        if (
            blame.metric != "goodput"
            or not isinstance(limit, float)
            or limit > 1.1 * blame.expected
        ):
            return []
        if self.tight and not 0.7 * limit <= blame.value <= 1.05 * limit:
            return []
        reached = f"expected {blame.expected / 1e6:.4g} MB/s, reached {blame.value / 1e6:.4g} MB/s"
        return [f"{worded(self.name)} {limit / 1e6:.4g} MB/s, {reached}"]


# IPv4, TCP and time stamps; Ethernet with preamble, frame check and gap
_HEADERS, _FRAME = 52.0, 38.0


@dataclass(frozen=True)
class HeadersExplain(Sign):
    """The loss is what the headers of smaller packets cost: payload / wire = (MTU - 52) / (MTU +
    38) of TCP over Ethernet, against the peers' MTU; within 3 % of the goodput or a third of the
    loss.
    """

    def means(self) -> str:
        return "the loss is what the headers of the smaller packets cost"

    def seen(self, node: Node, peers: Sequence[Node], blame: Blame) -> list[str]:
        own, usual = node.properties.get("mtu"), usual_of("mtu", peers)
        if (
            usual is None
            or not isinstance(own, float)
            or not isinstance(usual[0], float)
            or own <= _HEADERS
        ):
            return []
        mine, theirs = ((mtu - _HEADERS) / (mtu + _FRAME) for mtu in (own, usual[0]))
        loss = 1.0 - mine / theirs if theirs > 0 else 0.0
        if abs(blame.slowdown - loss) > max(0.03, loss / 3):
            return []
        return [
            f"the headers of such packets cost {100 * loss:.1f} %, the loss is {100 * blame.slowdown:.1f} %"
        ]


@dataclass(frozen=True)
class Grows(Sign):
    """Counters of the node's own NIC (or of its IP stack) with one of ``words`` in their names, and
    none of ``without``, rose by ``least`` or more, and ``times`` as much, per byte, as on most
    peers.
    """

    words: tuple[str, ...]
    without: tuple[str, ...] = ()
    least: int = 10
    times: float = 4.0

    def means(self) -> str:
        return (
            f"counters of the NIC or of IP named {', '.join(self.words)} rise by {self.least} or more, and "
            f"{self.times:g} times as much per byte as those of most other nodes"
            + (f" (not {', '.join(self.without)})" if self.without else "")
        )

    def seen(self, node: Node, peers: Sequence[Node], blame: Blame) -> list[str]:
        own = self._sum(node)
        if sum(own.values()) < self.least:
            return []
        asked = [peer for peer in peers if peer.counted]
        usual = (
            statistics.median(
                sum(self._sum(peer).values()) / max(1.0, peer.volume) for peer in asked
            )
            if asked
            else 0.0
        )
        if sum(own.values()) / max(1.0, node.volume) < self.times * usual:
            return []
        first = sorted(own.items(), key=lambda item: -item[1])[:_MOST_NAMED]
        listed = ", ".join(f"{name[:80]} +{count}" for name, count in first)
        amount = f"{usual * 1e9:.3g} per GB" if usual else "0"
        return [f"{node.name}: {listed} (median of {len(asked)} other nodes: {amount})"]

    def _sum(self, node: Node) -> dict[str, int]:
        return {name: count for name, count in node.rose.items() if self._means(node, name)}

    def _means(self, node: Node, name: str) -> bool:
        place, _, rest = name.partition("/")
        leaf = name.rsplit("/", 1)[-1].lower()
        owner = rest.split("/", 1)[0]
        mine = (
            place == "ip"
            or (place in ("net", "ethtool") and owner == node.nic)
            or (place == "ib" and owner == node.device)
        )
        return (
            mine
            and any(word in leaf for word in self.words)
            and not any(word in leaf for word in self.without)
        )


@dataclass(frozen=True)
class SettingDiffers(Sign):
    """Settings that most peers agree on and the node has otherwise."""

    def means(self) -> str:
        return (
            "a sysctl, huge pages, or what ethtool -k, -c, -g, -a say differs from most other nodes"
        )

    def seen(self, node: Node, peers: Sequence[Node], blame: Blame) -> list[str]:
        found = []
        for name, value in sorted(node.settings.items()):
            values = [peer.settings[name] for peer in peers if name in peer.settings]
            if len(values) < LEAST_PEERS:
                continue
            usual, count = Counter(values).most_common(1)[0]
            if value != usual and count >= AGREE * len(values):
                found.append(
                    f"{node.name}: {name} {value}; {count} of {len(values)} other nodes have {usual}"
                )
        more = [f"and {len(found) - _MOST_NAMED} more settings"] if len(found) > _MOST_NAMED else []
        return [*found[:_MOST_NAMED], *more]
