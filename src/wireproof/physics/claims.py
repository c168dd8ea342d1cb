"""``--link KIND[:GBPS]`` and ``--path``: what a user writes, turned into a claim or refused with one sentence."""

from __future__ import annotations

import difflib
import re

import msgspec

from wireproof.model.claim import LinkClaim, Protocol
from wireproof.physics.errors import PhysicsError
from wireproof.physics.limits import limits
from wireproof.physics.links import link_from_name, link_names

__all__ = ["FAMILIES", "PATHS", "carried_by", "claim_from_text"]

FAMILIES = ("ethernet", "roce", "infiniband", "efa", "slingshot", "ipoib", "ipofabric", "psm3")
"""Kinds without a rate of their own; ``ethernet:25`` or ``infiniband:200`` states it."""

_KERNEL = ("tcp", "sockets", "udp", "ipoib", "kernel")
_VERBS = ("rdma", "verbs", "roce", "rocev2", "rc", "ud")
_OPEN = ("", "ucx", "ofi", "mpi", "any")
PATHS = (*_KERNEL, *_VERBS, "psm", "psm2", "psm3", "opx", "efa", "cxi", "ucx", "ofi", "shm")
"""What ``path`` may be. ``ucx`` and ``ofi`` choose for themselves: they decide nothing here."""

_ETHERNET = ("tcp", "rocev2", "psm3", "efa", "slingshot")
_FITS: dict[Protocol, tuple[str, ...]] = {
    "infiniband": (*_VERBS, "psm3"),
    "omnipath": (*_VERBS, "psm2", "opx"),
    "truescale": (*_VERBS, "psm"),
    "efa": ("efa", *_VERBS),
    "slingshot": ("cxi", *_VERBS),
    "rocev2": (*_VERBS, "psm3"),
    "psm3": ("psm3", *_VERBS),
    "tcp": (*_KERNEL, *_VERBS, "psm3", "efa"),
    "shm": ("shm",),
    "loopback": _KERNEL,
}

# nominal and data rates in Gb/s, as they are written for 4 lanes
_INFINIBAND = {
    8: "sdr", 10: "sdr", 16: "ddr", 20: "ddr", 32: "qdr", 40: "qdr", 54: "fdr", 56: "fdr", 100: "edr",
    200: "hdr200", 400: "ndr400", 800: "xdr800",
}  # fmt: skip
_NOMINAL = {"sdr": 10, "ddr": 20, "qdr": 40, "fdr10": 40, "fdr": 56, "truescale": 40, "ipoib-sdr": 10}
_MOST_GBPS = 6400.0
_RATE = re.compile(r"(\d{1,6}(?:\.\d{1,6})?)(?:g|gb|gbe|gbps|gbit|gb/s|gbit/s)?")
_SHOWN = 60


def claim_from_text(text: str, *, path: str = "", mtu: int | None = None, pcie: str = "") -> LinkClaim:
    """The claim of ``KIND[:GBPS]``: a family (``ethernet:25``, ``infiniband``) or any of ``link_names()``.

    Without a rate a family claims none: only its floor holds. ``path`` says what carries the bytes over that link:
    ``tcp`` over ``edr`` is IPoIB, ``psm3`` over ``ethernet`` is PSM3 over RoCE. MTU in bytes; ``pcie`` as ``gen3 x16``.
    Raises PhysicsError, in one sentence, for an unknown kind or path, an impossible rate, MTU or slot, and for a path
    that the link cannot have.
    """
    kind, colon, stated = text.strip().lower().partition(":")
    kind, way = kind.strip(), _path(path)
    rate = _gbps(stated, text) if colon else None
    link = _family(kind, rate) if kind in FAMILIES or kind in ("eth", "ib") else _named(kind, rate)
    link = msgspec.structs.replace(_carried(link, way), mtu=mtu, pcie=pcie)
    limits(link, "pingpong", "latency", 0)  # refuses an impossible MTU or slot now, not at the first table
    return link


def _path(path: str) -> str:
    way = path.strip().lower()
    if way and way not in PATHS and way not in _OPEN:
        near = difflib.get_close_matches(way[:_SHOWN], PATHS, n=2, cutoff=0.4)
        hint = f"did you mean {' or '.join(near)}? " if near else ""
        raise PhysicsError(f"unknown path {path[:_SHOWN]!r}; {hint}Known: {', '.join(PATHS)}")
    return way


def _gbps(stated: str, text: str) -> float:
    match = _RATE.fullmatch(stated.strip())
    rate = float(match.group(1)) if match else 0.0
    if not 0 < rate <= _MOST_GBPS:
        raise PhysicsError(f"link {text[:_SHOWN]!r}: {stated[:_SHOWN]!r} is no rate; write Gb/s, as in ethernet:25")
    return rate


def _family(kind: str, rate: float | None) -> LinkClaim:
    """A kind without a rate of its own, with the stated one or none."""
    kind = {"eth": "ethernet", "ib": "infiniband"}.get(kind, kind)
    if kind in ("infiniband", "ipoib"):
        prefix = "ipoib-" if kind == "ipoib" else ""
        if rate is None:
            return LinkClaim(kind=kind, protocol="tcp" if prefix else "infiniband", source="no rate stated")
        if rate not in _INFINIBAND:
            raise PhysicsError(
                f"InfiniBand has no rate of {rate:g} Gb/s; it has 10 (sdr), 20 (ddr), 40 (qdr), 56 (fdr), 100 (edr), "
                "200 (hdr), 400 (ndr), 800 (xdr)"
            )
        return link_from_name(prefix + _INFINIBAND[int(rate)])
    if kind == "ipofabric":
        return _named("ipofabric-opa100", rate)
    protocols: dict[str, Protocol] = {
        "ethernet": "tcp", "roce": "rocev2", "efa": "efa", "slingshot": "slingshot", "psm3": "psm3"
    }  # fmt: skip
    return _of_protocol(protocols[kind], rate)


def _of_protocol(protocol: Protocol, rate: float | None) -> LinkClaim:
    """An Ethernet-based link of any rate: standards have few, bonds and clouds have all."""
    if rate is None:
        family = {"tcp": "ethernet", "rocev2": "roce"}.get(protocol, protocol)
        return LinkClaim(kind=family, protocol=protocol, source="no rate stated")
    name = {"tcp": f"{rate:g}gbe", "rocev2": f"roce{rate:g}"}.get(protocol, f"{protocol}{rate:g}")
    return LinkClaim(kind=name, protocol=protocol, rate_bits_per_s=rate * 1e9, source=f"stated: {rate:g} Gb/s")


def _named(kind: str, rate: float | None) -> LinkClaim:
    """A link whose name says its rate; a stated rate must agree."""
    if len(kind) > _SHOWN:
        raise PhysicsError(f"unknown link {kind[:_SHOWN]!r}...; write one of {', '.join((*FAMILIES, *link_names()))}")
    try:
        link = link_from_name(kind)
    except PhysicsError as error:
        near = difflib.get_close_matches(kind, FAMILIES, n=1, cutoff=0.6)
        raise PhysicsError(f"unknown link {kind!r}; did you mean {near[0]}?" if near else str(error)) from None
    if rate is None:
        return link
    if link.rate_bits_per_s is None:
        raise PhysicsError(f"{kind!r} is no line and has no rate; write it without :{rate:g}")
    own = link.rate_bits_per_s / 1e9
    nominal = _NOMINAL.get(link.kind.removeprefix("ipoib-"), own)
    if not (abs(rate - own) < 0.6 or rate == nominal):
        raise PhysicsError(
            f"{kind!r} is a link of {nominal:g} Gb/s and cannot be one of {rate:g}; write {kind} alone, "
            f"or a family with its rate (ethernet:{rate:g}, roce:{rate:g}, infiniband:{rate:g})"
        )
    return link


def carried_by(link: LinkClaim, path: str) -> LinkClaim:
    """The claim of the same link when ``path`` carries the bytes: RoCE of an Ethernet, IPoIB of an InfiniBand.

    The MTU is kept where both speak of the same one. Raises PhysicsError where the link cannot have the path.
    """
    other = _carried(link, _path(path))
    if other is link:
        return link
    ethernet = link.protocol in _ETHERNET and other.protocol in _ETHERNET
    return msgspec.structs.replace(other, mtu=link.mtu if ethernet else None, pcie=link.pcie)


def _carried(link: LinkClaim, way: str) -> LinkClaim:
    """The link as ``way`` uses it."""
    if way in _OPEN:
        return link
    if way == "shm":
        return link_from_name("shm")
    rate = None if link.rate_bits_per_s is None else link.rate_bits_per_s / 1e9
    if way in _KERNEL and link.protocol in ("infiniband", "truescale"):
        name = "qdr" if link.protocol == "truescale" else link.kind
        return LinkClaim(kind="ipoib", protocol="tcp") if rate is None else link_from_name(f"ipoib-{name}")
    if way in _KERNEL and link.protocol == "omnipath":
        return LinkClaim(kind=f"ipofabric-{link.kind}", protocol="tcp", rate_bits_per_s=link.rate_bits_per_s)
    if way in _KERNEL and link.protocol in _ETHERNET:
        return link if link.protocol == "tcp" else _of_protocol("tcp", rate)
    if way not in _FITS[link.protocol] or (link.protocol == "tcp" and link.kind.startswith("ip")):
        raise PhysicsError(f"path {way!r} does not run over {link.kind}; write one of {_ways(link.protocol)}")
    if way in ("psm3", "efa") and link.protocol in _ETHERNET:
        return _of_protocol("psm3" if way == "psm3" else "efa", rate)
    return _of_protocol("rocev2", rate) if link.protocol == "tcp" else link


def _ways(protocol: Protocol) -> str:
    ways = _FITS[protocol] if protocol in ("shm", "loopback", "tcp") else ("tcp", *_FITS[protocol])
    return ", ".join(dict.fromkeys(ways))
