"""Cloud adapters, paravirtual ones and the kernel's own virtual interfaces. Sources as in
``fabric``.
"""

from collections.abc import Mapping
from dataclasses import replace

from tests.zoo.counters import ethtool, hw, netdev
from tests.zoo.ethernet import ADAPTERS as ETHERNET
from tests.zoo.fabric import MLX
from tests.zoo.parts import KERNEL, RDMA, Adapter, Port, alone

Share = tuple[float, float]
_WHOLE = (1.0, 1.0)
_SUM = "bond_get_stats sums its members"
_IXGBE = next(one for one in ETHERNET if one.key == "ixgbe").ports[0]
_MLX5 = next(one for one in MLX if one.key == "mlx5-eth").ports[0]


def _leg(nic: str, base: Port = _IXGBE, **changes: object) -> Port:
    return replace(base, nic=nic, pci=f"0000:19:00.{nic[-1]}", **changes)


def _upper(nic: str, kind: str, *lower: str, driver: str = "") -> Port:
    return Port(nic, driver, netdev(), kind="virtual", lower=lower, link_kind=kind)


def _cloud(nic: str, driver: str, *more: object, **changes: object) -> Port:
    port = Port(nic, driver, (*netdev(), *more), pci="0000:00:05.0", mtu=1500)
    return replace(port, **changes)


_VF = replace(
    _MLX5,
    nic="enP5s1",
    function="",
    pci="0005:00:02.0",
    master="eth1",
    files=tuple(file for file in _MLX5.files if not file.path.endswith("_phy")),
)

_LACP = {"p0": (1.0, 0.0), "p1": (0.0, 1.0)}
_BOND_C, _VLAN = "net/bonding/bond_main.c", "802.1Q VLAN Support"
_STACKED = (
    ("bond-ab", "bond, active-backup", "bond0", "bond", "bonding", f"{_BOND_C}: {_SUM}"),
    ("bond-lacp", "bond, 802.3ad", "bond0", "bond", "bonding", _BOND_C, _LACP, 2.5e9),
    ("team", "team", "team0", "team", "team", "net/team"),
    ("macvlan", "macvlan on ixgbe", "mv0", "macvlan", "macvlan", "net/macvlan.c"),
    ("ipvlan", "ipvlan on ixgbe", "ipv0", "ipvlan", "ipvlan", "net/ipvlan"),
    ("vlan", "VLAN on ixgbe", "p0.7", "vlan", _VLAN, "net/8021q/vlan_dev.c"),
    ("bridge", "bridge over ixgbe", "br0", "bridge", "bridge", "net/bridge/br_device.c"),
)
"""Key, title, interface, its kind and driver, source, shares of the ports below, rate."""


def _stacked(
    key: str,
    title: str,
    nic: str,
    kind: str,
    driver: str,
    source: str,
    below: Mapping[str, Share] = {"p0": _WHOLE},
    rate: float = 1.25e9,
) -> Adapter:
    """An interface over a port of ixgbe; over two of them if it owns its members."""
    lower = ("p0", "p1") if kind in ("bond", "team") else ("p0",)
    master = nic if kind in ("bond", "team", "bridge") else ""
    ports = (
        _upper(nic, kind, *lower, driver=driver),
        *(_leg(one, master=master) for one in lower),
    )
    return Adapter(key, title, ports, nic, {"kernel": {nic: _WHOLE, **below}}, source, rate=rate)


ADAPTERS = (
    alone("ena", "ena without EFA", _cloud("hsn0", "ena"), "net/ethernet/amazon/ena"),
    alone("gve", "gve (Google)", _cloud("hsn0", "gve"), "net/ethernet/google/gve", rate=6e9),
    alone(
        "mana",
        "mana (Azure), RDMA",
        _cloud(
            "hsn0",
            "mana",
            *hw("tx_bytes", "rx_bytes", RDMA),
            *hw("tx_packets", "rx_packets", RDMA, what="packets"),
            *ethtool("hc_tx_bytes", "hc_rx_bytes", KERNEL, "function"),
            device="mana_0",
            rdma_driver="mana",
            link_layer="Ethernet",
            rate="200 Gb/sec (4X HDR)",
        ),
        "infiniband/hw/mana/counters.c",
        fast="rdma",
        rate=25e9,
    ),
    Adapter(
        "mana-netvsc",
        "hv_netvsc with a mana VF",
        (
            Port("eth1", "hv_netvsc", netdev(), subsystem="vmbus", mtu=1500),
            _cloud("enP30832s1", "mana", master="eth1", pci="7870:00:00.0"),
        ),
        "eth1",
        {"kernel": {"eth1": _WHOLE, "enP30832s1": _WHOLE}},
        "net/hyperv/netvsc_drv.c: netvsc_get_stats64 adds the VF's",
        rate=25e9,
    ),
    Adapter(
        "netvsc-mlx5",
        "hv_netvsc with an mlx5 VF",
        (Port("eth1", "hv_netvsc", netdev(), subsystem="vmbus", mtu=1500), _VF),
        "eth1",
        {"kernel": {"eth1": _WHOLE, "enP5s1": _WHOLE}},
        "net/hyperv/netvsc_drv.c: netvsc_get_stats64 adds the VF's",
    ),
    alone(
        "virtio_net",
        "virtio_net",
        Port("hsn0", "virtio_net", netdev(), subsystem="virtio", mtu=1500),
        "net/virtio_net.c",
        rate=5e9,
    ),
    alone(
        "vmxnet3",
        "vmxnet3",
        _cloud("hsn0", "vmxnet3", speed_mbps=10000),
        "net/vmxnet3/vmxnet3_ethtool.c: the hypervisor's queue statistics",
        rate=1.25e9,
    ),
    alone(
        "veth", "veth of a container", _upper("hsn0", "veth", driver="veth"), "net/veth.c", rate=5e9
    ),
    *(_stacked(*row) for row in _STACKED),
    Adapter(
        "tun",
        "tun (a tunnel whose packets leave by ixgbe)",
        (_upper("tun0", "tun", driver="tun"), _leg("p0")),
        "tun0",
        {"kernel": {"tun0": _WHOLE, "p0": (1.05, 1.05)}},
        "net/tun.c",
        rate=1.0e9,
    ),
)
