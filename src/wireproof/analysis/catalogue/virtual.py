"""Interfaces without an adapter of their own, RDMA in software, and the loopback."""

from __future__ import annotations

from wireproof.analysis.catalogue.build import netdev
from wireproof.analysis.catalogue.row import Family

__all__ = ["LOOPBACK", "SOFT_RDMA", "VIRTUAL"]

_LINUX = "linux drivers/net/"
_BELOW = "Its packets count again in the interfaces beneath it."


def _stacked(
    name: str, kinds: str, drivers: tuple[str, ...], source: str, note: str = _BELOW
) -> Family:
    row = netdev(f"linux {source}", quality="double")
    return Family(
        name,
        drivers,
        (row,),
        source=f"linux {source}",
        stacked=True,
        note=note,
        kinds=tuple(kinds.split()),
    )


LOOPBACK = Family(
    name="loopback",
    drivers=("loopback",),
    rows=(
        netdev("linux drivers/net/loopback.c loopback_get_stats64: software, live; never a wire"),
    ),
    source="linux drivers/net/loopback.c",
)

VETH = Family(
    name="virtual Ethernet pair (veth)",
    drivers=("veth",),
    kinds=("veth",),
    rows=(
        netdev(
            "linux drivers/net/veth.c veth_get_stats64: software, live; a packet may be as large "
            "as the kernel's segmentation offload makes it"
        ),
    ),
    source="linux drivers/net/veth.c",
)

DUMMY = Family(
    name="dummy",
    drivers=("dummy",),
    kinds=("dummy",),
    rows=(netdev("linux drivers/net/dummy.c dummy_xmit: software; what is sent goes nowhere"),),
    source="linux drivers/net/dummy.c",
)

IPOIB = Family(
    name="IP over InfiniBand whose adapter is not known",
    drivers=("ib_ipoib", "ipoib"),
    kinds=("ipoib",),
    rows=(
        netdev(
            "linux drivers/infiniband/ulp/ipoib/ipoib_main.c ipoib_get_stats: software",
            misses="RDMA",
        ),
    ),
    source="linux drivers/infiniband/ulp/ipoib",
    blind=("rdma",),
    note="Where the adapter is known, its own rows are used; its port counters hold these bytes "
    "too.",
)

SOFT_RDMA = Family(
    name="RDMA in software (rxe, siw)",
    drivers=("rdma_rxe", "rxe", "siw"),
    rows=(),
    source="linux drivers/infiniband/sw/rxe/rxe_net.c rxe_send (an IP packet of the interface "
    "below), drivers/infiniband/sw/siw/siw_qp_tx.c (kernel TCP); measured with linux 6.1 rdma_rxe: "
    "100 writes of 64 KiB moved the interface by 7.27 MB and 1775 packets, hw_counters/sent_pkts "
    "by 1750 (150 of them sent again) and no byte counter of rxe's, which has none; the newest "
    "kernels add sent_bytes and port_xmit_data (rxe_mad.c), not needed",
    note="Its bytes are the interface's own, which then shows RDMA and TCP as one. What rxe sends "
    "within one machine moves its packet counters and no interface, the loopback's neither "
    "(measured). The rate that it prints is a guess from the interface's speed: 2.5 Gb/s where "
    "that is unknown.",
    rdma_packets=(
        "ib/{device}/{port}/hw_counters/sent_pkts",
        "ib/{device}/{port}/hw_counters/rcvd_pkts",
    ),
)

VIRTUAL = (
    LOOPBACK,
    VETH,
    DUMMY,
    IPOIB,
    SOFT_RDMA,
    _stacked(
        "bond",
        "bond",
        ("bonding",),
        "drivers/net/bonding/bond_main.c bond_get_stats: the sum of its members",
        _BELOW + " It is as late as they are.",
    ),
    _stacked("team", "team", ("team",), "drivers/net/team/team_core.c team_get_stats64: software"),
    _stacked(
        "bridge",
        "bridge",
        ("bridge",),
        "net/bridge/br_device.c br_get_stats64: software; only what the host itself sends or gets",
    ),
    _stacked(
        "VLAN",
        "vlan",
        ("802.1q*", "vlan", "8021q"),
        "net/8021q/vlan_dev.c vlan_dev_get_stats64: software",
    ),
    _stacked(
        "macvlan, macvtap, ipvlan, ipvtap",
        "macvlan macvtap ipvlan ipvtap",
        ("macvlan", "macvtap", "ipvlan", "ipvtap"),
        "drivers/net/macvlan.c macvlan_dev_get_stats64, ipvlan/ipvlan_main.c: software",
        _BELOW + " Two of one parent exchange packets that never leave the host.",
    ),
    _stacked(
        "tunnels (vxlan, geneve, gre, ipip, sit, wireguard, macsec)",
        "vxlan geneve gre gretap erspan ip6gre ip6gretap ipip sit ip6tnl vti vti6 wireguard macsec "
        "gtp bareudp xfrm",
        (
            "vxlan",
            "geneve",
            "gre",
            "gretap",
            "ip_gre",
            "ipip",
            "sit",
            "ip6tnl",
            "wireguard",
            "macsec",
        ),
        "net/core/dev.c dev_get_tstats64 and drivers/net/vxlan: software; without the outer "
        "headers",
    ),
    _stacked(
        "tun and tap",
        "tun",
        ("tun", "tap"),
        "drivers/net/tun.c tun_net_get_stats64: software",
        "A program holds the other end; what it does with the packets (another interface, a wire "
        "of a lab) is not known.",
    ),
    _stacked(
        "Open vSwitch",
        "openvswitch",
        ("openvswitch",),
        "net/openvswitch/vport-internal_dev.c: software",
    ),
    _stacked(
        "other virtual interfaces (ifb, vrf, hsr, netkit, opa_vnic)",
        "ifb vrf hsr netkit nlmon batadv lowpan dsa can",
        ("ifb", "vrf", "hsr", "netkit", "opa_vnic", "hfi_vnic", "dsa"),
        "include/uapi/linux/if_link.h: software",
    ),
)
