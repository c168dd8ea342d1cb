# pure
"""The signs that rules consist of. A sign is true or false for a machine; if it is true, it returns
its evidence.
"""

import re
import statistics

import msgspec

from wireproof.locate.causes.differing import headers_cost
from wireproof.locate.causes.properties import (
    NAMES,
    UNLIMITED,
    NodeProperties,
    OtherNodes,
    Usual,
)
from wireproof.model.errors import suggestion
from wireproof.model.located import Blame
from wireproof.model.quantity import line_rate, percent, significant, throughput

_MOST_NAMED = 4
_UNITS = {
    "mtu": "B",
    "clock_read": "ns",
    "max_frequency": "kHz",
    "steal": "ns",
    "pcie_current_speed": "GT/s",
    "pcie_max_speed": "GT/s",
}

_SHARES = {"busy_share", "claimed_share", "clock_apart", "kernel_share", "other_share"}


def _tag(name: str) -> str:
    """Return the tag of a class name, such as ``is-not`` for IsNot."""
    return re.sub(r"(?<!^)([A-Z])", r"-\1", name).lower()


class CauseSign(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="sign", tag=_tag
):
    """Base of all signs; files select a sign by the field ``sign``. ``seen`` returns evidence
    sentences, empty if the sign does not hold or is unknown. ``means`` describes the condition.
    """

    def __post_init__(self) -> None:
        """Refuse a name that no node has, because the sign would never hold."""
        for name in filter(None, (getattr(self, "name", ""), getattr(self, "than", ""))):
            if name not in NAMES:
                raise ValueError(f"no node has {name[:60]!r}; {suggestion(name, sorted(NAMES))}")

    def means(self) -> str:
        raise NotImplementedError

    def seen(self, machine: NodeProperties, peers: OtherNodes, blame: Blame) -> list[str]:
        raise NotImplementedError


def _spaced(name: str) -> str:
    return name.replace("_", " ")


def _shown(name: str, value: float | str) -> str:
    if isinstance(value, str):
        return value
    if value >= UNLIMITED / 8:
        return "no limit"
    if name == "speed":
        return line_rate(value)
    if name.endswith("_goodput"):
        return throughput(value)
    if name in _SHARES:
        return percent(value, 1)
    number = f"{value:.0f}" if value == int(value) else significant(value)
    return f"{number} {_UNITS.get(name, '')}".rstrip()


def _stated(machine: NodeProperties, name: str, value: float | str) -> str:
    """Return a statement such as ``n3: mtu 1500 B``."""
    return f"{machine.name}: {_spaced(name)} {_shown(name, value)}"


def _against(machine: NodeProperties, name: str, value: float | str, usual: Usual) -> str:
    others = f"{usual.members} of {usual.asked} other nodes have {_shown(name, usual.value)}"
    return f"{_stated(machine, name, value)}; {others}"


class Is(CauseSign, frozen=True):
    """A property has this value."""

    name: str
    value: str

    def means(self) -> str:
        return f"{_spaced(self.name)} is {self.value}"

    def seen(self, machine: NodeProperties, peers: OtherNodes, blame: Blame) -> list[str]:
        actual = machine.properties.get(self.name)
        return [f"{machine.name}: {_spaced(self.name)} is {actual}"] if actual == self.value else []


class IsNot(Is, frozen=True):
    """A property is known and has another value."""

    def means(self) -> str:
        return f"{_spaced(self.name)} is not {self.value}"

    def seen(self, machine: NodeProperties, peers: OtherNodes, blame: Blame) -> list[str]:
        actual = machine.properties.get(self.name)
        if actual is None or actual == self.value:
            return []
        return [f"{machine.name}: {_spaced(self.name)} is {actual}"]


class Less(CauseSign, frozen=True):
    """A property is less than another property of the same machine."""

    name: str
    than: str

    def means(self) -> str:
        return f"{_spaced(self.name)} is less than {_spaced(self.than)}"

    def seen(self, machine: NodeProperties, peers: OtherNodes, blame: Blame) -> list[str]:
        value, limit = machine.number(self.name), machine.number(self.than)
        if value is None or limit is None or not value < limit:
            return []
        more = f"{_spaced(self.than)} {_shown(self.than, limit)}"
        return [f"{_stated(machine, self.name, value)}, {more}"]


class Below(CauseSign, frozen=True):
    """A number is below the value of most peers."""

    name: str

    def means(self) -> str:
        return f"{_spaced(self.name)} is below that of most other nodes"

    def seen(self, machine: NodeProperties, peers: OtherNodes, blame: Blame) -> list[str]:
        value, usual = machine.number(self.name), peers.usual(self.name)
        if value is None or usual is None or not isinstance(usual.value, float):
            return []
        return [_against(machine, self.name, value, usual)] if value < usual.value else []


class Differs(CauseSign, frozen=True):
    """A property differs from the value of most peers."""

    name: str

    def means(self) -> str:
        return f"{_spaced(self.name)} differs from that of most other nodes"

    def seen(self, machine: NodeProperties, peers: OtherNodes, blame: Blame) -> list[str]:
        value, usual = machine.properties.get(self.name), peers.usual(self.name)
        if usual is None or value is None or value == usual.value:
            return []
        return [_against(machine, self.name, value, usual)]


class Unusual(Differs, frozen=True):
    """A property is known but is not known to be usual among peers: a property of all nodes does
    not explain a single slow node.
    """

    def means(self) -> str:
        return f"{_spaced(self.name)} is not the value of most other nodes"

    def seen(self, machine: NodeProperties, peers: OtherNodes, blame: Blame) -> list[str]:
        value = machine.properties.get(self.name)
        if value is None or peers.usual(self.name) is not None:
            return super().seen(machine, peers, blame)
        stated = _stated(machine, self.name, value)
        return [f"{stated}; values of other nodes are unknown or differ"]


class Above(CauseSign, frozen=True):
    """A number is at least ``least``, and at least ``times`` the median of the peers. 0 ``times``
    means no comparison; otherwise at least two peers must have the number.
    """

    name: str
    least: float
    times: float = 0.0

    def means(self) -> str:
        more = f", and {self.times:g} times the others' median" if self.times else ""
        return f"{_spaced(self.name)} is {self.least:g} or more{more}"

    def seen(self, machine: NodeProperties, peers: OtherNodes, blame: Blame) -> list[str]:
        value = machine.number(self.name)
        if value is None or value < self.least:
            return []
        stated = _stated(machine, self.name, value)
        if not self.times:
            return [stated]
        usual = peers.median(self.name)
        if usual is None or value < self.times * usual[0]:
            return []
        return [f"{stated}, median of {usual[1]} other nodes {_shown(self.name, usual[0])}"]


class Most(CauseSign, frozen=True):
    """A number is at most this."""

    name: str
    most: float

    def means(self) -> str:
        return f"{_spaced(self.name)} is {self.most:g} or less"

    def seen(self, machine: NodeProperties, peers: OtherNodes, blame: Blame) -> list[str]:
        value = machine.number(self.name)
        return [] if value is None or value > self.most else [_stated(machine, self.name, value)]


class Explains(CauseSign, frozen=True):
    """A limit in bytes/s is below the expected rate (or within 10 % above), so that it can explain
    the loss. ``tight``: the measured rate must also reach most of the limit.
    """

    name: str
    tight: bool = False

    def means(self) -> str:
        more = ", and most of that limit was reached" if self.tight else ""
        return f"{_spaced(self.name)} is at most the expected rate{more}"

    def seen(self, machine: NodeProperties, peers: OtherNodes, blame: Blame) -> list[str]:
        limit = machine.number(self.name)
        if blame.metric != "goodput" or limit is None or limit > 1.1 * blame.expected:
            return []
        if self.tight and not 0.7 * limit <= blame.value <= 1.05 * limit:
            return []
        expected, reached = throughput(blame.expected), throughput(blame.value)
        return [f"{_spaced(self.name)} {throughput(limit)}, expected {expected}, reached {reached}"]


class HeadersExplain(CauseSign, frozen=True):
    """The loss matches the header cost of smaller packets, within 3 % of the goodput or a third of
    that cost: payload / wire = (MTU - 52) / (MTU + 38) for TCP over Ethernet, compared with the
    peers' MTU.
    """

    def means(self) -> str:
        return "the loss equals the header cost of the smaller packets"

    def seen(self, machine: NodeProperties, peers: OtherNodes, blame: Blame) -> list[str]:
        loss = headers_cost(machine.number("mtu"), peers.usual_number("mtu"))
        if loss is None or abs(blame.slowdown - loss) > max(0.03, loss / 3):
            return []
        cost, lost = percent(loss, 1), percent(blame.slowdown, 1)
        return [f"the headers of packets of this size cost {cost}, and the loss is {lost}"]


class Grows(CauseSign, frozen=True):
    """Counters of the machine's NIC or IP stack whose names contain one of ``words``, and none of
    ``without``, rose by ``least`` or more, and per byte ``times`` as much as on most peers.
    """

    words: tuple[str, ...]
    without: tuple[str, ...] = ()
    least: int = 10
    times: float = 4.0

    def __post_init__(self) -> None:
        if not self.words or not all(map(str.strip, (*self.words, *self.without))):
            raise ValueError("'words' must name a counter")

    def means(self) -> str:
        return (
            f"counters of the NIC or of IP named {', '.join(self.words)} rise by at least "
            f"{self.least}, and {self.times:g} times as much per byte as those of most other nodes"
            + (f" (not {', '.join(self.without)})" if self.without else "")
        )

    def seen(self, machine: NodeProperties, peers: OtherNodes, blame: Blame) -> list[str]:
        rises = self._rises(machine)
        if sum(rises.values()) < self.least:
            return []
        asked = peers.counted
        usual = statistics.median(map(self._per_byte, asked)) if asked else 0.0
        if self._per_byte(machine) < self.times * usual:
            return []
        first = sorted(rises.items(), key=lambda item: -item[1])[:_MOST_NAMED]
        listed = ", ".join(f"{name[:80]} +{count}" for name, count in first)
        amount = f"{significant(usual * 1e9)} per GB" if usual else "0"
        return [f"{machine.name}: {listed} (median of {len(asked)} other nodes: {amount})"]

    def _per_byte(self, machine: NodeProperties) -> float:
        return sum(self._rises(machine).values()) / max(1.0, machine.volume)

    def _rises(self, machine: NodeProperties) -> dict[str, int]:
        return {
            name: count
            for name, count in machine.rose.items()
            if machine.owns(name) and self._is_named(name.rsplit("/", 1)[-1].lower())
        }

    def _is_named(self, leaf: str) -> bool:
        meant = any(word in leaf for word in self.words)
        return meant and not any(word in leaf for word in self.without)


class SettingDiffers(CauseSign, frozen=True):
    """Settings that most peers agree on differ on this machine."""

    def means(self) -> str:
        return "a sysctl, huge pages, or output of ethtool -k, -c, -g or -a differs from most nodes"

    def seen(self, machine: NodeProperties, peers: OtherNodes, blame: Blame) -> list[str]:
        differing = []
        for name, value in sorted(machine.settings.items()):
            usual = peers.usual_setting(name)
            if usual is not None and value != usual.value:
                others = f"{usual.members} of {usual.asked} other nodes have {usual.value}"
                differing.append(f"{machine.name}: {name} {value}; {others}")
        more = len(differing) - _MOST_NAMED
        return [*differing[:_MOST_NAMED], *([f"and {more} more settings"] if more > 0 else [])]


AnySign = (
    Is
    | IsNot
    | Unusual
    | Less
    | Below
    | Differs
    | Above
    | Most
    | Explains
    | HeadersExplain
    | Grows
    | SettingDiffers
)
