# pure
"""Parse ``--link KIND[:GBPS]`` and ``--path`` into a claim, or reject them with one sentence."""

import difflib
import re
from functools import lru_cache

import msgspec

from wireproof.model.claim import LinkClaim, Protocol
from wireproof.physics.limits import limits
from wireproof.physics.table import PhysicsError, link_from_name

FAMILIES = (
    "ethernet",
    "roce",
    "iwarp",
    "infiniband",
    "efa",
    "slingshot",
    "ipoib",
    "ipofabric",
    "psm3",
)
"""Kinds that imply no rate; ``ethernet:25`` or ``infiniband:200`` includes it."""

_PROTOCOLS: dict[str, Protocol] = {
    "ethernet": "tcp",
    "roce": "rocev2",
    "iwarp": "iwarp",
    "efa": "efa",
    "slingshot": "slingshot",
    "psm3": "psm3",
}
_KERNEL = ("tcp", "sockets", "udp", "ipoib", "kernel")
_VERBS = ("rdma", "verbs", "roce", "rocev2", "rc", "ud")
BYPASSES = ("bypass", "vma", "xlio", "onload", "tcpdirect", "rsocket", "dpdk")
"""Paths of TCP or UDP in user space: the kernel's framing without its floor."""
_OPEN = ("", "ucx", "ofi", "mpi", "any")
PATHS = (
    *_KERNEL,
    *BYPASSES,
    *_VERBS,
    "iwarp",
    "psm",
    "psm2",
    "psm3",
    "opx",
    "efa",
    "cxi",
    "native",
    "ucx",
    "ofi",
    "shm",
)
"""Values of ``path``. ``ucx`` and ``ofi`` select the transport at run time, so they do not
determine it.
"""

_ETHERNET = ("tcp", "rocev2", "iwarp", "psm3", "efa", "slingshot")
_FITS: dict[Protocol, tuple[str, ...]] = {
    "infiniband": (*_VERBS, "psm3"),
    "omnipath": (*_VERBS, "psm2", "opx"),
    "truescale": (*_VERBS, "psm"),
    "efa": ("efa", *_VERBS),
    "slingshot": ("cxi", *_VERBS),
    "fabric": ("native",),
    "rocev2": (*_VERBS, "psm3"),
    "iwarp": (*_VERBS, "iwarp"),
    "psm3": ("psm3", *_VERBS),
    "tcp": (*_KERNEL, *_VERBS, "iwarp", "psm3", "efa"),
    "shm": ("shm",),
    "loopback": _KERNEL,
}

_OWN_PROTOCOL: dict[str, Protocol] = {"psm3": "psm3", "efa": "efa", "iwarp": "iwarp"}
"""Paths with a special framing over any Ethernet."""

# nominal and data rates in Gb/s, as usually given for 4 lanes
_INFINIBAND = {
    8: "sdr",
    10: "sdr",
    16: "ddr",
    20: "ddr",
    32: "qdr",
    40: "qdr",
    54: "fdr",
    56: "fdr",
    100: "edr",
    200: "hdr200",
    400: "ndr400",
    800: "xdr800",
}
_NOMINAL = {
    "sdr": 10,
    "ddr": 20,
    "qdr": 40,
    "fdr10": 40,
    "fdr": 56,
    "truescale": 40,
    "ipoib-sdr": 10,
}
_MOST_GBPS, _MOST_RAILS = 51_200.0, 64
_MOST_INFINIBAND = 4096
_KEPT = ("rails", "rates", "kinds", "stripes", "at_most")
_SEVERAL = re.compile(r"(\d{1,4}) *[x*\u00d7] *(\S.*)")
# A rate above the fastest port of a family means several rails; these rates of one rail are tried
# in order.
_MOST_OF_ONE = {
    "infiniband": 800,
    "efa": 400,
    "slingshot": 400,
    "tcp": 800,
    "rocev2": 800,
    "iwarp": 800,
    "psm3": 800,
}
_RAILS_OF = {"efa": (200, 100), "slingshot": (200, 400), "infiniband": (400, 200, 800, 100)}
_ANY_RAILS = (400, 200, 100, 800)
_RATE = re.compile(r"(\d{1,6}(?:\.\d{1,6})?)(?:g|gb|gbe|gbps|gbit|gb/s|gbit/s)?")
_SHOWN = 60


def claim_from_text(
    text: str, *, path: str = "", mtu: int | None = None, pcie: str = "", source: str = ""
) -> LinkClaim:
    """Return the claim of ``[N x] KIND[:GBPS]``: a family (``ethernet:25``, ``infiniband``) or any
    of ``link_names()``.

    Without a rate, a family has only a floor. A rate that no port has (``infiniband:3200``) or a
    number (``4xndr400``, ``2 x edr``) means rails that carry one flow. ``path`` is the transport of
    the bytes over the link: ``tcp`` over ``edr`` is IPoIB, ``psm3`` over ``ethernet`` is PSM3 over
    RoCE. ``mtu`` is in bytes; ``pcie`` is written like ``gen3 x16``. Raises PhysicsError, in one
    sentence, for an unknown kind or path, an impossible rate, number of rails, MTU or slot, and for
    a path that the link does not support.
    """
    rails, rest = _rails(text)
    kind, colon, stated = rest.partition(":")
    kind, carrying = kind.strip(), _path(path)
    rate = _gbps(stated, text) if colon else None
    link = _family(kind, rate) if kind in FAMILIES or kind in ("eth", "ib") else _named(kind, rate)
    link = msgspec.structs.replace(link, rails=rails * link.rails)
    if link.rails > _MOST_RAILS or (rails > 1 and link.protocol in ("shm", "loopback")):
        raise PhysicsError(
            f"link {text[:_SHOWN]!r}: no flow uses {link.rails} rails of {link.kind}; write "
            "2xedr, 4xndr400"
        )
    link = msgspec.structs.replace(
        _kept(link, _carried(link, carrying)), mtu=mtu, pcie=pcie, source=source or link.source
    )
    if link.protocol == "infiniband" and mtu is not None and mtu > _MOST_INFINIBAND:
        raise PhysicsError(
            f"an InfiniBand packet carries 256, 512, 1024, 2048 or {_MOST_INFINIBAND} bytes,"
            " "
            f"not {mtu}, which is an IP MTU; give --path tcp for IP over InfiniBand"
        )
    # rejects an impossible MTU or slot now instead of at the first table
    limits(link, "pingpong", "latency", 0)
    return link


def _rails(text: str) -> tuple[int, str]:
    """Return (number of rails, the link of each): ``4 x ndr400``, ``4xndr400``.

    A leading rate (``10gbe``) is not a number of rails.
    """
    plain = text.strip().lower()
    match = _SEVERAL.fullmatch(plain)
    if match is None:
        return 1, plain
    number, rest = int(match.group(1)), match.group(2).strip()
    if number < 1:
        raise PhysicsError(f"link {text[:_SHOWN]!r}: a link has at least one rail")
    # 2xdr800 may have been meant as 2 xdr800
    return number, f"x{rest}" if rest.startswith("dr") else rest


def _path(path: str) -> str:
    plain = path.strip().lower()
    if plain and plain not in PATHS and plain not in _OPEN:
        near = difflib.get_close_matches(plain[:_SHOWN], PATHS, n=2, cutoff=0.4)
        hint = f"did you mean {' or '.join(near)}? " if near else ""
        raise PhysicsError(f"unknown path {path[:_SHOWN]!r}; {hint}Known: {', '.join(PATHS)}")
    return plain


def _gbps(stated: str, text: str) -> float:
    match = _RATE.fullmatch(stated.strip())
    rate = float(match.group(1)) if match else 0.0
    if not 0 < rate <= _MOST_GBPS:
        raise PhysicsError(
            f"link {text[:_SHOWN]!r}: {stated[:_SHOWN]!r} is not a rate; write Gb/s, as in"
            " ethernet:25"
        )
    return rate


def _family(kind: str, rate: float | None) -> LinkClaim:
    """Return a kind that implies no rate, with the stated rate or none."""
    kind = {"eth": "ethernet", "ib": "infiniband"}.get(kind, kind)
    if kind in ("infiniband", "ipoib"):
        return _of_infiniband(kind, rate)
    if kind == "ipofabric":
        return _named("ipofabric-opa100", rate)
    return _of_protocol(_PROTOCOLS[kind], rate)


def _of_infiniband(kind: str, rate: float | None) -> LinkClaim:
    """Return InfiniBand, or the kernel's IP over InfiniBand."""
    prefix = "ipoib-" if kind == "ipoib" else ""
    if rate is None:
        protocol: Protocol = "tcp" if prefix else "infiniband"
        return LinkClaim(kind=kind, protocol=protocol, source="no rate stated")
    if rate in _INFINIBAND:
        return link_from_name(prefix + _INFINIBAND[int(rate)])
    found = _in_rails("infiniband", rate)
    if found is None:
        raise PhysicsError(
            f"InfiniBand has no rate of {rate:g} Gb/s; it has 10 (sdr), 20 (ddr), 40 (qdr), "
            "56 (fdr), 100 (edr), 200 (hdr), 400 (ndr), 800 (xdr), and above that several rails "
            "of one of these (1600, 3200 ...)"
        )
    each = link_from_name(prefix + _INFINIBAND[int(found[1])])
    return msgspec.structs.replace(each, rails=found[0], source=_in_words(*found))


def _of_protocol(protocol: Protocol, rate: float | None) -> LinkClaim:
    """Return an Ethernet-based link of any rate, since bonds and clouds have rates beyond the
    standards.
    """
    if rate is None:
        family = {"tcp": "ethernet", "rocev2": "roce"}.get(protocol, protocol)
        return LinkClaim(kind=family, protocol=protocol, source="no rate stated")
    found = _in_rails(protocol, rate)
    rails, each = found if found is not None else (1, rate)
    name = {"tcp": f"{each:g}gbe", "rocev2": f"roce{each:g}"}.get(protocol, f"{protocol}{each:g}")
    source = _in_words(rails, each) if rails > 1 else f"stated: {rate:g} Gb/s"
    return LinkClaim(
        kind=name, protocol=protocol, rate_bits_per_s=each * 1e9, source=source, rails=rails
    )


def _in_rails(protocol: str, rate: float) -> tuple[int, float] | None:
    """Return (rails, Gb/s of each) for a rate above the fastest port of its family; None if a
    single port can reach it.
    """
    if rate <= _MOST_OF_ONE.get(protocol, _MOST_GBPS):
        return None
    return next(
        (
            (int(rate / each), float(each))
            for each in _RAILS_OF.get(protocol, _ANY_RAILS)
            if rate % each == 0
        ),
        None,
    )


def _in_words(rails: int, each: float) -> str:
    return (
        f"stated: {rails * each:g} Gb/s, which is more than one port has: assumed to be {rails} "
        f"rails of {each:g}"
    )


def _named(kind: str, rate: float | None) -> LinkClaim:
    """Return a link whose name implies its rate; a stated rate must agree."""
    if len(kind) > _SHOWN:
        raise PhysicsError(
            f"unknown link {kind[:_SHOWN]!r}...; `wireproof explain --links` lists all"
        )
    try:
        link = link_from_name(kind)
    except PhysicsError as error:
        near = difflib.get_close_matches(kind, FAMILIES, n=1, cutoff=0.6)
        raise PhysicsError(
            f"unknown link {kind!r}; did you mean {near[0]}?" if near else str(error)
        ) from None
    if rate is None:
        return link
    if link.rate_bits_per_s is None:
        raise PhysicsError(f"{kind!r} is not a link and has no rate; write it without :{rate:g}")
    own = link.rate_bits_per_s / 1e9
    nominal = _NOMINAL.get(link.kind.removeprefix("ipoib-"), own)
    if not (abs(rate - own) < 0.6 or rate == nominal):
        raise PhysicsError(
            f"{kind!r} is a link of {nominal:g} Gb/s, not {rate:g}; write {kind} "
            f"alone, or a family with its rate (ethernet:{rate:g}, roce:{rate:g}, "
            f"infiniband:{rate:g})"
        )
    return link


@lru_cache(maxsize=512)
def carried_by(link: LinkClaim, path: str) -> LinkClaim:
    """Return the claim for the same link if ``path`` carries the bytes: RoCE on an Ethernet, IPoIB
    on InfiniBand.

    The MTU is kept if both use the same MTU. Raises PhysicsError for an impossible path.
    """
    other = _kept(link, _carried(link, _path(path)))
    if other is link:
        return link
    ethernet = link.protocol in _ETHERNET and other.protocol in _ETHERNET
    return msgspec.structs.replace(other, mtu=link.mtu if ethernet else None, pcie=link.pcie)


def _kept(link: LinkClaim, other: LinkClaim) -> LinkClaim:
    """Return ``other`` with the rails, and with a rate that is an upper limit: they do not depend
    on the transport."""
    if other is link or other.protocol in ("shm", "loopback"):
        return other
    return msgspec.structs.replace(other, **{name: getattr(link, name) for name in _KEPT})


def _carried(link: LinkClaim, path: str) -> LinkClaim:
    """Return the link as ``path`` uses it."""
    if path in _OPEN:
        return link
    if path == "shm":
        return link_from_name("shm")
    if path in BYPASSES:
        path = "tcp"
    kernel = _over_kernel(link) if path in _KERNEL else None
    if kernel is not None:
        return kernel
    if path not in _FITS[link.protocol] or _is_ip_over_fabric(link):
        known = _paths_of(link.protocol)
        raise PhysicsError(f"path {path!r} does not run over {link.kind}; write one of {known}")
    named = _OWN_PROTOCOL.get(path) if link.protocol in _ETHERNET else None
    wanted = named or ("rocev2" if link.protocol == "tcp" else link.protocol)
    return link if link.protocol == wanted else _of_protocol(wanted, _gbps_of(link))


def _over_kernel(link: LinkClaim) -> LinkClaim | None:
    """Return the link as the kernel's sockets use it; None if there is no rule."""
    rate = link.rate_bits_per_s
    if link.protocol in ("infiniband", "truescale"):
        name = "qdr" if link.protocol == "truescale" else link.kind
        kind = "ipoib" if rate is None else f"ipoib-{name}"
        # The name is not used, because a port may have lost lanes (edr-1x).
        return LinkClaim(kind=kind, protocol="tcp", rate_bits_per_s=rate, source=link.source)
    if link.protocol == "omnipath":
        return LinkClaim(kind=f"ipofabric-{link.kind}", protocol="tcp", rate_bits_per_s=rate)
    if link.protocol in _ETHERNET:
        return link if link.protocol == "tcp" else _of_protocol("tcp", _gbps_of(link))
    return None


def _gbps_of(link: LinkClaim) -> float | None:
    return None if link.rate_bits_per_s is None else link.rate_bits_per_s / 1e9


def _is_ip_over_fabric(link: LinkClaim) -> bool:
    return link.protocol == "tcp" and link.kind.startswith("ip")


def _paths_of(protocol: Protocol) -> str:
    fitting = _FITS[protocol]
    paths = fitting if protocol in ("shm", "loopback", "tcp") else ("tcp", *fitting)
    return ", ".join(dict.fromkeys(paths))
