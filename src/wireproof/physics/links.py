"""Names of links: what ``--link`` accepts, with the line rate after encoding."""

from __future__ import annotations

import difflib

from wireproof.model.claim import LinkClaim, Protocol
from wireproof.physics.errors import PhysicsError

__all__ = ["LANE_GBPS", "infiniband_name", "link_from_name", "link_names"]

_ETHERNET = ("1", "2.5", "5", "10", "25", "40", "50", "100", "200", "400", "800")

LANE_GBPS = {
    "sdr": 2.0,
    "ddr": 4.0,
    "qdr": 8.0,
    "fdr10": 10.0,
    "fdr": 14.0625 * 64 / 66,
    "edr": 25.0,
    "hdr": 50.0,
    "ndr": 100.0,
    "xdr": 200.0,
}
"""Gb/s of data of one lane, by generation of InfiniBand: after 8b/10b (to QDR), 64b/66b (FDR10 to
EDR), 256b/257b and FEC (from HDR). IBTA volume 2.
"""

_BY_RATE = ("hdr", "ndr", "xdr")  # their names say the rate, since ports of two lanes are usual
_WIDTHS = (*tuple((generation, 4) for generation in LANE_GBPS), ("hdr", 2), ("ndr", 2), ("xdr", 2))


def infiniband_name(generation: str, lanes: int) -> str:
    """``edr`` and ``hdr200`` of four lanes, ``hdr100`` of two, ``edr-1x`` of what a bad cable
    leaves.
    """
    if generation in _BY_RATE and lanes in (2, 4):
        return f"{generation}{LANE_GBPS[generation] * lanes:g}"
    return generation if lanes == 4 else f"{generation}-{lanes}x"


_INFINIBAND = {
    infiniband_name(name, lanes): LANE_GBPS[name] * lanes
    for name, lanes in sorted(
        _WIDTHS, key=lambda width: (list(LANE_GBPS).index(width[0]), width[1])
    )
}

_ALIASES = {
    "gbe": "1gbe",
    "gige": "1gbe",
    "hdr": "hdr200",
    "ndr": "ndr400",
    "xdr": "xdr800",
    "opa": "opa100",
    "omnipath": "opa100",
    "omni-path": "opa100",
    "opa400": "cn5000",
    "true-scale": "truescale",
    "myrinet": "myrinet2000",
    "myrinet-10g": "myri10g",
    "tofu": "tofu1",
    "tofu-d": "tofud",
    "bxiv2": "bxi",
    "slingshot10": "slingshot100",
    "slingshot-10": "slingshot100",
    "slingshot11": "slingshot200",
    "slingshot-11": "slingshot200",
    "ipoib-hdr": "ipoib-hdr200",
    "ipoib-ndr": "ipoib-ndr400",
    "ipofabric": "ipofabric-opa100",
    "ipoib-opa100": "ipofabric-opa100",
    "shared-memory": "shm",
    "lo": "loopback",
}


_UNFRAMED = "framing not published, so the ceiling is the line's"
_FABRICS: dict[str, tuple[float, str]] = {
    "myrinet2000": (2e9, f"2 + 2 Gb/s; 247 MB/s measured (Myricom); {_UNFRAMED}"),
    "myri10g": (10e9, f"10 Gb/s (Myricom), unchecked; {_UNFRAMED}"),
    "gemini": (8 * 8e9, f"about 8 GB/s into a Cray XE6's node at most, unchecked; {_UNFRAMED}"),
    "aries": (
        8 * 15.75e9,
        f"PCIe 3.0 x16 of a Cray XC's node, 15.75 GB/s, is the narrowest, unchecked; {_UNFRAMED}",
    ),
    "tofu1": (8 * 5e9, f"5 GB/s of one link (K computer); {_UNFRAMED}"),
    "tofu2": (8 * 12.5e9, f"12.5 GB/s of one link (FX100), unchecked; {_UNFRAMED}"),
    "tofud": (8 * 6.8e9, f"6.8 GB/s of one of six interfaces (Fugaku); {_UNFRAMED}"),
    "bxi": (100e9, f"100 Gb/s of one port (Atos BXI 1 and 2), unchecked; {_UNFRAMED}"),
}
"""Fabrics of one maker without a rule of framing here: (bits/s, where it is from)."""


def _rows() -> dict[str, tuple[Protocol, float | None, str]]:
    rows: dict[str, tuple[Protocol, float | None, str]] = {}
    for speed in _ETHERNET:
        rows[f"{speed}gbe"] = ("tcp", float(speed) * 1e9, "IEEE 802.3 (rate of the MAC)")
        rows[f"roce{speed}"] = ("rocev2", float(speed) * 1e9, "IEEE 802.3 (rate of the MAC)")
    for name, rate in _INFINIBAND.items():
        rows[name] = ("infiniband", rate * 1e9, "IBTA volume 2, after encoding")
    rows["opa100"] = ("omnipath", 100e9, "4 x 25.78125 Gb/s x 1024/1056")
    rows["cn5000"] = ("omnipath", 400e9, "CN5000, 4 lanes, after FEC")
    for name, rate in _INFINIBAND.items():
        rows[f"ipoib-{name}"] = ("tcp", rate * 1e9, "kernel TCP; IBTA volume 2, after encoding")
    for speed in ("100", "200", "400"):
        rows[f"efa{speed}"] = ("efa", float(speed) * 1e9, "rate of one EFA device")
    for speed in ("10", "25", "40", "100"):
        rows[f"iwarp{speed}"] = ("iwarp", float(speed) * 1e9, "IEEE 802.3 (rate of the MAC)")
    for speed in ("100", "200", "400"):
        rows[f"slingshot{speed}"] = (
            "slingshot",
            float(speed) * 1e9,
            "IEEE 802.3 (rate of the MAC)",
        )
    rows["ipofabric-opa100"] = ("tcp", 100e9, "kernel TCP; 4 x 25.78125 Gb/s x 1024/1056")
    rows["truescale"] = ("truescale", 32e9, "40 Gb/s, 8b/10b")
    rows |= {name: ("fabric", rate, why) for name, (rate, why) in _FABRICS.items()}
    rows["shm"] = ("shm", None, "one machine: no line")
    rows["loopback"] = ("loopback", None, "one machine: no line")
    return rows


_LINKS = _rows()


def link_names() -> tuple[str, ...]:
    """Every canonical name, in the order of families and rates."""
    return tuple(_LINKS)


def link_from_name(
    name: str, *, mtu: int | None = None, pcie: str = "", source: str = ""
) -> LinkClaim:
    """The claim that a name stands for: ``10gbe``, ``roce25``, ``edr``, ``hdr200``, ``opa100``,
    ``truescale``, ``shm``.

    The MTU stays unknown unless given. Raises PhysicsError with the nearest names for a name that
    is not known.
    """
    key = name.strip().lower().replace(" ", "").removeprefix("ib-").removeprefix("infiniband-")
    key = _ALIASES.get(key, key)
    if key not in _LINKS:
        near = difflib.get_close_matches(key, [*_LINKS, *_ALIASES], n=3, cutoff=0.5) or [
            "1gbe",
            "10gbe",
            "edr",
            "opa100",
        ]
        raise PhysicsError(
            f"unknown link {name!r}; did you mean {', '.join(near)}? `wireproof convert --links`"
            " lists all"
        )
    protocol, rate, why = _LINKS[key]
    return LinkClaim(
        kind=key, protocol=protocol, rate_bits_per_s=rate, mtu=mtu, pcie=pcie, source=source or why
    )
