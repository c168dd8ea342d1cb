"""Claims: what the user says about the path, against which the evidence is held. Several NICs that
carry the payload together (rails) are written as one claim: ``hsn0,hsn1``.
"""

from collections.abc import Sequence
from typing import Literal

import msgspec

_BETWEEN = ","


def rails_of(nic: str) -> tuple[str, ...]:
    """The NICs of a claim in their order; none of "" (nothing is claimed)."""
    return tuple(nic.split(_BETWEEN)) if nic else ()


def is_several(nic: str) -> bool:
    """Whether the claim names rails, and not one NIC or none."""
    return _BETWEEN in nic


def joined(names: Sequence[str]) -> str:
    """The claim of these NICs together."""
    return _BETWEEN.join(names)


def first_rail(nic: str) -> str:
    """The NIC that speaks for a host where only one can; "" of no claim."""
    return nic.partition(_BETWEEN)[0]


Protocol = Literal[
    "tcp",
    "rocev2",
    "iwarp",
    "infiniband",
    "omnipath",
    "truescale",
    "psm3",
    "efa",
    "slingshot",
    "fabric",
    "shm",
    "loopback",
]


class LinkClaim(msgspec.Struct, frozen=True, kw_only=True):
    """The link that is claimed. ``rate_bits_per_s`` is the line rate of one rail after encoding;
    ``source`` says who stated it. ``rails``: how many such links carry the bytes together;
    ``rates``, ``kinds``: the line rate and the kind of each, where they differ (``kind`` and
    ``rate_bits_per_s`` are then the fastest's).
    ``stripes``: how many of them one flow fills: ``all`` (they are NICs that were named), ``any``
    number, or "" as the protocol does by itself.
    ``at_most``: the rate is an upper limit only (a virtual function, which may be held to less), so
    that a shortfall is a doubt and no failure.
    """

    kind: str
    protocol: Protocol
    rate_bits_per_s: float | None = None
    mtu: int | None = None
    pcie: str = ""
    source: str = ""
    preamble_counted: bool = True
    rails: int = 1
    rates: tuple[float, ...] = ()
    kinds: tuple[str, ...] = ()
    stripes: Literal["", "all", "any"] = ""
    at_most: bool = False

    @property
    def name(self) -> str:
        """``edr``; ``2 x edr`` of two rails; ``10gbe + 1gbe`` of two that differ."""
        if self.kinds:
            return " + ".join(self.kinds)
        return f"{self.rails} x {self.kind}" if self.rails > 1 else self.kind

    @property
    def line_rate(self) -> float | None:
        """Bits/s of all rails together."""
        if self.rate_bits_per_s is None:
            return None
        return sum(self.rates) if self.rates else self.rate_bits_per_s * self.rails

    @property
    def shares(self) -> tuple[float, ...]:
        """The line rate of each rail, as a share of the fastest's."""
        if not self.rates or not self.rate_bits_per_s:
            return (1.0,) * self.rails
        return tuple(rate / self.rate_bits_per_s for rate in self.rates)


class HostClaim(msgspec.Struct, frozen=True, kw_only=True):
    rank: int
    host: str
    nic: str = ""


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """``wire`` False: the user asked for shared memory or loopback on one machine; nothing is
    claimed about a wire.

    ``played``: the counters are those of a recorded or made-up world that the model moves; no
    number is a real one. ``provider``: libfabric's, that was asked for ("" = any).
    """

    hosts: list[HostClaim]
    link: LinkClaim | None = None
    wire: bool = True
    virtual: bool = False
    played: bool = False
    provider: str = ""


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """What physics allows. ``derivation`` are the lines of arithmetic that a person can follow.

    Of a shaped link, which lets bursts pass: ``credit_bytes`` of a message after an idle moment
    cost no time, and messages of fewer than ``judged_from_bytes`` are not held against the ceiling.
    """

    attainable_bytes_per_s: float | None
    floor_ns: float | None
    credit_bytes: int = 0
    judged_from_bytes: int = 0
    derivation: list[str] = msgspec.field(default_factory=list)
    sources: list[str] = msgspec.field(default_factory=list)


class Criteria(msgspec.Struct, frozen=True, kw_only=True):
    """Practical thresholds; every one is printed with the verdict that used it."""

    min_efficiency: float = 0.90
    ceiling_tolerance: float = 0.02
    floor_tolerance: float = 0.02
    direction_ratio: float = 0.85
    peer_ratio: float = 0.85
    on_wire_min: float = 0.98
    on_wire_max: float = 1.35
    stray_share: float = 0.05
    rail_tolerance: float = 0.25
    min_payload_bytes: int = 16384
    max_half_width: float = 0.10
