"""What is known of one node's machine, and of its peers: what signs look at. Pure."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from wireproof.locate.causes.properties import Properties

__all__ = ["Machine", "Peers", "Usual"]

_AGREE = 0.75  # the share of peers that must have one value for it to be the usual one
_LEAST_PEERS = 2


@dataclass(frozen=True)
class Machine:
    """``rose``: counters that rose; ``volume``: bytes that the node sent and received, to compare
    rises by.
    """

    name: str
    nic: str = ""
    device: str = ""
    rails: tuple[str, ...] = ()
    properties: Properties = field(default_factory=dict)
    settings: dict[str, str] = field(default_factory=dict)
    rose: dict[str, int] = field(default_factory=dict)
    counted: bool = False
    volume: float = 0.0

    def number(self, name: str) -> float | None:
        """A property that is a number; None when it is not known."""
        value = self.properties.get(name)
        return value if isinstance(value, float) else None

    def owns(self, counter: str) -> bool:
        """Whether a counter is of the machine's own NIC, or of its IP stack."""
        place, _, rest = counter.partition("/")
        owner = rest.split("/", 1)[0]
        return {
            "ip": True,
            "net": owner == self.nic or owner in self.rails,
            "ethtool": owner == self.nic or owner in self.rails,
            "ib": owner == self.device or owner in self.rails,
        }.get(place, False)


class Usual(NamedTuple):
    """The ``value`` that ``members`` of the ``asked`` peers have."""

    value: float | str
    members: int
    asked: int


@dataclass(frozen=True)
class Peers:
    """Nodes that no culprit names: what is called different, lower or higher is so against them."""

    machines: Sequence[Machine]

    def __len__(self) -> int:
        return len(self.machines)

    def usual(self, name: str) -> Usual | None:
        """The value of a property that most peers have; None where they do not agree."""
        return _usual([one.properties[name] for one in self.machines if name in one.properties])

    def usual_number(self, name: str) -> float | None:
        found = self.usual(name)
        return found.value if found and isinstance(found.value, float) else None

    def usual_setting(self, name: str) -> Usual | None:
        return _usual([one.settings[name] for one in self.machines if name in one.settings])

    def median(self, name: str) -> tuple[float, int] | None:
        """(median of a number, how many peers have it); None when too few do."""
        known = [value for one in self.machines if (value := one.number(name)) is not None]
        return (statistics.median(known), len(known)) if len(known) >= _LEAST_PEERS else None

    @property
    def counted(self) -> list[Machine]:
        """Peers whose counters were read."""
        return [one for one in self.machines if one.counted]


def _usual(values: Sequence[float | str]) -> Usual | None:
    if len(values) < _LEAST_PEERS:
        return None
    value, count = Counter(values).most_common(1)[0]
    return Usual(value, count, len(values)) if count >= _AGREE * len(values) else None
