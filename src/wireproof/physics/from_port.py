# pure
"""Derive the link from what a port reports: rate, width, MTU, slot, and the protocol of its
traffic.

Used if the user claims no link. For a speed that a driver invents (veth's 10 Gb/s), the result is
None.
"""

import re
from collections.abc import Iterable

import msgspec

from wireproof.model.claim import LinkClaim, Protocol
from wireproof.model.record import Nic
from wireproof.model.traffic import Carrier
from wireproof.physics.framing import possible_mtu, roce_path_mtu
from wireproof.physics.limits import parse_slot
from wireproof.physics.table import LANE_GBPS, PhysicsError, infiniband_name

# The text of the kernel's ib_core (drivers/infiniband/core: "%d%s Gb/sec (%dX%s)"); up to 5.10, SDR
# had no name.
_RATE = re.compile(
    r"\s*([0-9]{1,6}(?:\.[0-9])?) *Gb/sec *\(([0-9]{1,2})X(?: ([A-Z0-9]{2,6}))?\)", re.IGNORECASE
)
_MOST_LANES = 16
_MOST_GBPS = 6400.0

# The reported speed of these says nothing about a wire: it is a constant of the driver or a setting
# of a hypervisor.
_MADE_UP = (
    "veth",
    "netkit",
    "tun",
    "tap",
    "dummy",
    "ifb",
    "bridge",
    "vrf",
    "nlmon",
    "netdevsim",
    "openvswitch",
    "wireguard",
    "vxlan",
    "geneve",
    "ipip",
    "sit",
    "gre",
    "virtio_net",
    "virtio-net",
    "hv_netvsc",
    "vmxnet3",
    "vif",
    "xen-netfront",
    "netfront",
    "gve",
    "ena",
    "mana",
    "erdma",
    "e1000",
    "8139cp",
    "8139too",
    "rtl8139",
    "ne2k-pci",
    "pcnet32",
)
_NAMED = "rails"
_STACKED = ("vlan", "macvlan", "macvtap", "ipvlan", "ipvtap", "bond", "team", "bridge", _NAMED)
_AGGREGATES = ("bond", "team")
_STACKED_DRIVERS = {
    "bonding": "bond",
    "team": "team",
    "bridge": "bridge",
    "802.1q vlan support": "vlan",
    "macvlan": "macvlan",
    "ipvlan": "ipvlan",
}
_IWARP = ("iw_cxgb3", "iw_cxgb4", "cxgb3", "cxgb4", "iw_nes", "nes", "i40iw", "i40e", "siw")
_OMNIPATH = ("hfi1", "hfi2")
_TRUESCALE = ("qib", "ib_qib", "ib_ipath", "ipath")
_SLINGSHOT = ("cxi", "cxi_eth", "cxi_ss1", "cxi_core")
_NO_SDR = ("mlx5_core", "mlx5_ib", "mlx5")
_SHARED = ("tcp", "rocev2", "psm3", "iwarp")
"""Protocols whose virtual functions may be limited to less than the port's rate."""
_DEPTH = 4


def link_of_port(nic: Nic, carrier: Carrier, others: Iterable[Nic] = ()) -> LinkClaim | None:
    """Return the link that ``nic`` reports for bytes that ``carrier`` moved; None if it reports no
    rate.

    ``others``: the host's ports, so that a VLAN, macvlan, bond, team or bridge gets the link below
    it. A bond has as many rails as it has members with the same rate. A virtual function reports
    the rate of its port and may be limited to less: ``at_most``. Pure; never raises.
    """
    return _link(nic, carrier, {other.name: other for other in others}, _DEPTH)


def _link(nic: Nic, carrier: Carrier, others: dict[str, Nic], depth: int) -> LinkClaim | None:
    kind = nic.link_kind or _STACKED_DRIVERS.get(nic.driver.lower(), "")
    if kind in _STACKED and (nic.rdma is None or _is_of_what_is_below(nic, others)):
        return _of_lower(nic, kind, carrier, others, depth) if depth else None
    if nic.kind == "loopback" or _made_up(nic):
        return None
    protocol = _protocol(nic, carrier)
    stated = _stated(nic, protocol)
    if stated is None:
        return None
    name, rate, why = stated
    at_most = nic.function in ("virtual", "scalable") and protocol in _SHARED
    held = "; a virtual function may be limited to less" if at_most else ""
    return LinkClaim(
        kind=name,
        protocol=protocol,
        rate_bits_per_s=rate,
        mtu=_mtu(nic, protocol),
        pcie=_slot(nic.pcie),
        at_most=at_most,
        source=f"the port itself: {nic.name} reports {why}{held}",
    )


def _is_of_what_is_below(nic: Nic, others: dict[str, Nic]) -> bool:
    """Return whether the RDMA device belongs to the only port below, which may be several rails."""
    below = [others[name].rdma for name in nic.lower if name in others]
    return (
        len(below) == 1
        and nic.rdma is not None
        and below[0] is not None
        and ((below[0].device, below[0].port) == (nic.rdma.device, nic.rdma.port))
    )


def _mtu(nic: Nic, protocol: Protocol) -> int | None:
    """Return the interface's MTU as the protocol uses it; None if it does not determine the
    packets."""
    if nic.mtu is None or not possible_mtu(nic.mtu):
        return None
    if protocol in ("rocev2", "psm3"):
        return roce_path_mtu(nic.mtu)
    return nic.mtu if protocol in ("tcp", "iwarp") else None


def _of_lower(
    nic: Nic, kind: str, carrier: Carrier, others: dict[str, Nic], depth: int
) -> LinkClaim | None:
    """Return the link below: the parent's, or the members' together; None without a wire below."""
    below = [
        _link(others[name], carrier, others, depth - 1) for name in nic.lower if name in others
    ]
    found = [link for link in below if link is not None]
    if not found or len(found) != len(below):
        return (
            None  # a bridge with one virtual port also switches between processes of this machine
        )
    if len(found) > 1 and not _is_aggregate(kind, found):
        return None
    first = max(found, key=lambda link: link.rate_bits_per_s or 0.0)
    mtu = _mtu(nic, first.protocol) if first.protocol in ("tcp", "iwarp") else None
    return msgspec.structs.replace(
        first,
        rails=len(found) * first.rails,
        rates=_apart(found),
        kinds=tuple(link.kind for link in found) if _apart(found) else (),
        stripes="all" if kind == _NAMED else "",
        mtu=first.mtu if mtu is None else mtu,
        source=f"{first.source}, below {nic.name} ({kind})",
    )


def _is_aggregate(kind: str, members: Iterable[LinkClaim]) -> bool:
    """Return whether members carry one flow together: equal rates, or rails that the user listed,
    with any rates."""
    if kind == _NAMED and all(link.rails == 1 for link in members):
        return len({link.protocol for link in members}) == 1
    alike = len({(link.rate_bits_per_s, link.rails) for link in members}) == 1
    return kind in (*_AGGREGATES, _NAMED) and alike


def _apart(members: list[LinkClaim]) -> tuple[float, ...]:
    """Return the rate of each member if they differ, else ()."""
    rates = tuple(link.rate_bits_per_s or 0.0 for link in members)
    return rates if len(set(rates)) > 1 else ()


def _made_up(nic: Nic) -> bool:
    words = {nic.driver.lower(), nic.link_kind.lower()}
    return bool(words & set(_MADE_UP)) or (
        nic.kind == "virtual" and nic.rdma is None and not nic.pci
    )


def _drivers(nic: Nic) -> set[str]:
    """Return the RDMA device's driver, which is more specific than the interface's (ib_ipoib,
    bonding).
    """
    return {(nic.rdma.driver if nic.rdma is not None else "").lower() or nic.driver.lower()}


def _fabric(nic: Nic) -> bool:
    """Return True for a port of InfiniBand or Omni-Path, whatever its interface."""
    if nic.rdma is not None and nic.rdma.link_layer:
        return nic.rdma.link_layer.lower() == "infiniband"
    return nic.kind == "infiniband"


def _protocol(nic: Nic, carrier: Carrier) -> Protocol:
    """Return the protocol for the carrier of the bytes. For ``any`` it is the port's fastest
    protocol, which has the widest limits.
    """
    if carrier == "kernel":
        return "tcp"
    own = _of_drivers(nic)
    if own is not None:
        return own
    if nic.rdma is None and carrier == "any":
        return "tcp"
    if _drivers(nic) & set(_IWARP) or (nic.rdma is not None and nic.rdma.device.startswith("siw")):
        return "iwarp"
    return "psm3" if carrier == "psm" else "rocev2"


def _of_drivers(nic: Nic) -> Protocol | None:
    """Return the adapter's only protocol; None for an adapter with Ethernet protocols."""
    drivers = _drivers(nic)
    if drivers & set(_SLINGSHOT):
        return "slingshot"
    if "efa" in drivers:
        return "efa"
    if not _fabric(nic):
        return None
    if drivers & set(_OMNIPATH):
        return "omnipath"
    return "truescale" if drivers & set(_TRUESCALE) else "infiniband"


def stated_rate(text: str) -> tuple[str, int, float] | None:
    """Return (generation, lanes, Gb/s as printed) of RDMA's ``rate``: "100 Gb/sec (2X HDR)"; None
    if invalid.
    """
    match = _RATE.fullmatch(text.rstrip())
    if match is None:
        return None
    nominal, lanes = float(match.group(1)), int(match.group(2))
    if not 0 < nominal <= _MOST_GBPS or not 0 < lanes <= _MOST_LANES:
        return None
    return (match.group(3) or "sdr").lower(), lanes, nominal


def mac_rate(text: str) -> float | None:
    """Return the MAC's rate in bits/s, which RDMA's ``rate`` prints on Ethernet."""
    found = stated_rate(text)
    return None if found is None else found[2] * 1e9


def _stated(nic: Nic, protocol: Protocol) -> tuple[str, float | None, str] | None:
    """Return (kind, bits/s, the port's text) from the RDMA port, or else from the interface."""
    if _fabric(nic):
        return _of_fabric(nic, protocol)
    words = nic.rdma.rate.strip() if nic.rdma is not None and not nic.rdma.in_software else ""
    if protocol == "efa":
        return _of_efa(words)
    rate, why = _mac_rate(nic), f"{nic.speed_mbps} Mb/s"
    if rate is None:
        rate, why = mac_rate(words), words
    if rate is None:
        return None
    short = f"{rate / 1e9:g}"
    kind = {"tcp": f"{short}gbe", "rocev2": f"roce{short}"}.get(protocol, f"{protocol}{short}")
    return kind, rate, why


def _mac_rate(nic: Nic) -> float | None:
    possible = nic.speed_mbps and 0 < nic.speed_mbps <= _MOST_GBPS * 1e3
    return float(nic.speed_mbps or 0) * 1e6 if possible else None


def _of_efa(words: str) -> tuple[str, float | None, str] | None:
    """Return no rate for "100 Gb/sec (4X EDR)": older drivers print it for every device."""
    rate = mac_rate(words)
    if rate is None or stated_rate(words) == ("edr", 4, 100.0):
        return "efa", None, f"{words or 'no rate'}, which this driver reports for any device"
    return f"efa{rate / 1e9:g}", rate, words


def _of_fabric(nic: Nic, protocol: Protocol) -> tuple[str, float | None, str] | None:
    words = nic.rdma.rate.strip() if nic.rdma is not None else ""
    found = stated_rate(words)
    if found is None:
        found, words = _of_speed(nic), f"{nic.speed_mbps} Mb/s"
    if found is None or found[0] not in LANE_GBPS:
        return None
    generation, lanes, nominal = found
    data = LANE_GBPS[generation] * lanes * 1e9
    drivers = _drivers(nic)
    if generation == "sdr" and drivers & set(_NO_SDR):
        return None  # a kernel that does not know a newer speed prints SDR
    if drivers & set(_OMNIPATH):
        name = "opa100" if nominal <= 100 else "cn5000"
        return (f"ipofabric-{name}" if protocol == "tcp" else name), nominal * 1e9, words
    if protocol == "truescale":
        return "truescale", data, words
    name = infiniband_name(generation, lanes)
    return (f"ipoib-{name}" if protocol == "tcp" else name), data, words


def _of_speed(nic: Nic) -> tuple[str, int, float] | None:
    """Return IPoIB's rate from ethtool's nominal speed, which assumes 4 lanes.

    40 Gb/s may be QDR or FDR10: the larger one bounds the ceiling.
    """
    named = {
        10: "sdr",
        20: "ddr",
        40: "fdr10",
        56: "fdr",
        100: "edr",
        200: "hdr",
        400: "ndr",
        800: "xdr",
    }
    nominal = (nic.speed_mbps or 0) / 1e3
    return (named[int(nominal)], 4, nominal) if nominal in named else None


def _slot(text: str) -> str:
    """Return the slot if it is valid; the slot of a virtual function is often unknown."""
    try:
        parse_slot(text)
    except PhysicsError:
        return ""
    return text
