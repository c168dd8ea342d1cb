# pure
"""Claims: the user's statements about the path, which are compared with the evidence.

Several NICs that carry the payload together (rails) are written as one claim: ``hsn0,hsn1``.
"""

from collections.abc import Sequence
from typing import Literal

import msgspec

_BETWEEN = ","


def rails_of(nic: str) -> tuple[str, ...]:
    """Return the NICs of a claim in their order; none for "" (nothing is claimed)."""
    return tuple(nic.split(_BETWEEN)) if nic else ()


def is_several(nic: str) -> bool:
    """Return True if the claim names several rails."""
    return _BETWEEN in nic


def joined(names: Sequence[str]) -> str:
    """Return the claim that consists of these NICs."""
    return _BETWEEN.join(names)


def first_rail(nic: str) -> str:
    """Return the first NIC of a claim, for uses that can name only one; "" if nothing is
    claimed.
    """
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
    """The claimed link.

    ``rate_bits_per_s``: line rate of one rail after encoding; ``source``: the origin of that rate.
    ``rails``: number of these links that share the bytes; ``rates``, ``kinds``: line rate and kind
    of each rail if they differ (``kind`` and ``rate_bits_per_s`` are then those of the fastest).
    ``stripes``: number of rails that one flow fills: ``all`` (the user named the NICs), ``any``
    number, or "" if the protocol decides. ``at_most``: the rate is only an upper limit, as for a
    virtual function that may be throttled; a shortfall is then inconclusive instead of a failure.
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
        """Name of the link: ``edr``; ``2 x edr`` for two equal rails; ``10gbe + 1gbe`` for
        different ones.
        """
        if self.kinds:
            return " + ".join(self.kinds)
        return f"{self.rails} x {self.kind}" if self.rails > 1 else self.kind

    @property
    def line_rate(self) -> float | None:
        """Line rate of all rails together in bits/s; None if unknown."""
        if self.rate_bits_per_s is None:
            return None
        return sum(self.rates) if self.rates else self.rate_bits_per_s * self.rails

    @property
    def shares(self) -> tuple[float, ...]:
        """Line rate of each rail as a share of the fastest rail's."""
        if not self.rates or not self.rate_bits_per_s:
            return (1.0,) * self.rails
        return tuple(rate / self.rate_bits_per_s for rate in self.rates)


class HostClaim(msgspec.Struct, frozen=True, kw_only=True):
    rank: int
    host: str
    nic: str = ""


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """The claims of the user about hosts, NICs and link.

    ``wire`` False: the user asked for shared memory or loopback on one machine, so nothing is
    claimed about a wire. ``played``: the counters come from a recorded or simulated system, so no
    number is a real measurement. ``provider``: the libfabric provider that was requested, "" for
    any.
    """

    hosts: list[HostClaim]
    link: LinkClaim | None = None
    wire: bool = True
    virtual: bool = False
    played: bool = False
    provider: str = ""


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """The physical limits of the claimed link. ``derivation``: the arithmetic, line by line.

    For a shaped link that allows bursts, ``credit_bytes``: bytes that pass without delay after an
    idle period; messages smaller than ``judged_from_bytes`` are not compared with the ceiling.
    """

    attainable_bytes_per_s: float | None
    floor_ns: float | None
    credit_bytes: int = 0
    judged_from_bytes: int = 0
    derivation: list[str] = msgspec.field(default_factory=list)
    sources: list[str] = msgspec.field(default_factory=list)


class Criteria(msgspec.Struct, frozen=True, kw_only=True):
    """Practical thresholds. Each threshold is printed with the verdict that uses it."""

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
