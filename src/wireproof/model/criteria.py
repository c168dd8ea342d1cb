"""The thresholds of a verdict with their meaning: what two parties agree on before they measure."""

from __future__ import annotations

import msgspec

from wireproof.model.claim import Criteria

__all__ = ["DEFAULT_SOURCE", "KNOWN", "Agreed", "Criterion", "Threshold", "threshold_criteria"]

DEFAULT_SOURCE = "default of wireproof"


class Threshold(msgspec.Struct, frozen=True):
    """A field of ``Criteria``: the values that it can have, from ``least`` to ``most``, its unit
    ("1" is a share), and what it decides.
    """

    name: str
    least: float
    most: float
    unit: str
    about: str


KNOWN: tuple[Threshold, ...] = (
    Threshold("min_efficiency", 0.01, 1.0, "1", "least goodput, of what the link can carry"),
    Threshold(
        "direction_ratio", 0.01, 1.0, "1", "least goodput of the slower direction, of the other"
    ),
    Threshold("peer_ratio", 0.01, 1.0, "1", "least goodput of a node or pair, of its peers"),
    Threshold(
        "max_half_width", 0.001, 0.5, "1", "widest half of the 95 % interval, of the number itself"
    ),
    Threshold("ceiling_tolerance", 0.0, 0.5, "1", "most by which the ceiling may be exceeded"),
    Threshold("floor_tolerance", 0.0, 0.5, "1", "most by which the latency floor may be missed"),
    Threshold("on_wire_min", 0.5, 1.0, "1", "least bytes seen on the claimed NICs, of the payload"),
    Threshold("on_wire_max", 1.0, 4.0, "1", "most bytes seen on the claimed NICs, of the payload"),
    Threshold("stray_share", 0.0, 0.5, "1", "most bytes seen on any other NIC, of the payload"),
    Threshold("rail_tolerance", 0.0, 1.0, "1", "most by which a rail's share may be off"),
    Threshold(
        "min_payload_bytes", 1, 1 << 30, "B", "least payload that stands out from other traffic"
    ),
)
"""In the order in which people read them."""


class Criterion(msgspec.Struct, frozen=True, kw_only=True):
    """One criterion of a result. ``chosen``: somebody has set it, and ``source`` says who."""

    name: str
    value: float | str
    unit: str
    about: str
    chosen: bool = False
    source: str = DEFAULT_SOURCE


class Agreed(msgspec.Struct, frozen=True, kw_only=True):
    """Criteria that were given. ``chosen``: the names that the file sets; ``source``: its name;
    ``sha256``: of its bytes.
    """

    criteria: Criteria
    chosen: tuple[str, ...]
    source: str
    sha256: str


def threshold_criteria(criteria: Criteria, agreed: Agreed | None) -> list[Criterion]:
    """Every threshold with its value and where that comes from."""
    return [
        Criterion(
            name=one.name,
            value=getattr(criteria, one.name),
            unit=one.unit,
            about=one.about,
            chosen=agreed is not None and one.name in agreed.chosen,
            source=agreed.source
            if agreed is not None and one.name in agreed.chosen
            else DEFAULT_SOURCE,
        )
        for one in KNOWN
    ]
