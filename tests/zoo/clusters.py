"""How clusters arrange adapters: bonds of every mode, what stands on them, containers, guests,
partitions, several adapters; and plain Ethernet of every kind. A row an animal; sources as in
``fabric``, of the adapters below as where these are.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tests.zoo.counters import WHOLE, ethtool, hw, netdev
from tests.zoo.ethernet import ADAPTERS as ETHERNET
from tests.zoo.fabric import MLX, MLX5_VPORT
from tests.zoo.other_fabrics import ADAPTERS as FABRICS
from tests.zoo.parts import ALL, KERNEL, RDMA, Adapter, File, Port
from tests.zoo.virtual import ADAPTERS as VIRTUAL

Share = tuple[float, float]
_NONE = (0.0, 0.0)
_PRESENT = {one.key: one for one in (*MLX, *ETHERNET, *FABRICS, *VIRTUAL)}


def _base(key: str) -> Port:
    return _PRESENT[key].port(_PRESENT[key].claimed)


def _interface(port: Port) -> tuple[File, ...]:
    return tuple(file for file in port.files if file.path.startswith("net/"))


# --- bonds -----------------------------------------------------------------------------------

MODES: dict[str, tuple[Share, Share]] = {
    "active-backup": (WHOLE, _NONE),
    "802.3ad": ((1.0, 0.0), (0.0, 1.0)),
    "balance-rr": ((0.5, 0.5), (0.5, 0.5)),
    "balance-xor": (_NONE, WHOLE),
    "balance-alb": ((0.5, 1.0), (0.5, 0.0)),
}
_BONDS = (
    ("mlx5-eth", "802.3ad"),
    ("mlx5-eth", "balance-rr"),
    ("bnxt_en", "active-backup"),
    ("bnxt_en", "802.3ad"),
    ("ice", "802.3ad"),
    ("ice", "balance-xor"),
    ("i40e", "balance-rr"),
    ("igb", "active-backup"),
    ("igb", "balance-alb"),
    ("tg3", "802.3ad"),
    ("mlx5-ipoib", "active-backup"),
)


def bond(key: str, mode: str) -> Adapter:
    """A bond of two ports of one card; its statistics are the sum of its members'."""
    below, of = _base(key), _PRESENT[key]
    legs = [
        replace(
            below,
            nic=f"p{number}",
            device=f"{below.device[:-1]}{number}" if below.device else "",
            pci=f"{below.pci[:-1]}{number}",
            master="bond0",
        )
        for number in (0, 1)
    ]
    lower = ("p0", "p1")
    bond = Port("bond0", "bonding", _interface(below), "virtual", lower=lower, link_kind="bond")
    shares = dict(zip(lower, MODES[mode], strict=True))
    one_port = mode in ("active-backup", "balance-xor")
    return Adapter(
        f"bond-{mode.removeprefix('balance-').replace('802.3ad', 'lacp')}-{key}",
        f"bond ({mode}) of {of.title}",
        (bond, *legs),
        "bond0",
        {"kernel": {"bond0": WHOLE, **shares}},
        f"net/bonding/bond_main.c; {of.source}",
        rate=of.rate if one_port else 2 * of.rate,
    )


# --- what stands on other ports ----------------------------------------------------------------


def above(
    key: str, nic: str, kind: str, of: Adapter, *, outer: float = 1.0, rdma: bool = False
) -> Adapter:
    """An interface over the claimed port of another animal; ``outer``: bytes below for each above,
    where packets are wrapped; ``rdma``: it uses the RDMA device below.
    """
    below = of.port(of.claimed)
    port = Port(nic, kind, netdev(), "virtual", lower=(below.nic,), link_kind=kind)
    if rdma:
        said = {"device": below.device, "rdma_driver": below.rdma_driver}
        port = replace(port, **said, link_layer=below.link_layer, rate=below.rate)
        port = replace(port, identity={k: v for k, v in below.identity.items() if "guid" in k})
    wrapped = {name: (tx * outer, rx * outer) for name, (tx, rx) in of.shares["kernel"].items()}
    shares: dict[str, Mapping[str, Share]] = {"kernel": {nic: WHOLE, **wrapped}}
    if rdma:
        shares["rdma"] = of.shares["rdma"]
    ports = [replace(one, master=nic) if kind == "bridge" else one for one in of.ports[:1]]
    return Adapter(
        key,
        f"{kind} over {of.title}",
        (port, *ports, *of.ports[1:]),
        nic,
        shares,
        f"net/{kind}; {of.source}",
        fast="rdma" if rdma else "",
        rate=of.rate * 0.95,
    )


_BOND = {f"{key} {mode}": bond(key, mode) for key, mode in _BONDS}
_VLAN_ON_BOND = above("vlan-bond", "bond0.7", "vlan", _PRESENT["bond-lacp"])
_STACKS = (
    _VLAN_ON_BOND,
    above("bridge-vlan-bond", "br0", "bridge", _VLAN_ON_BOND),
    above("bridge-bond-ice", "br0", "bridge", _BOND["ice 802.3ad"]),
    above("macvlan-bond-mlx5", "net1", "macvlan", _BOND["mlx5-eth 802.3ad"]),
    above("vlan-bond-bnxt", "bond0.30", "vlan", _BOND["bnxt_en active-backup"]),
    above("qinq", "p0.7.12", "vlan", _PRESENT["vlan"]),
    above("ipvlan-ice", "net1", "ipvlan", _PRESENT["ice"]),
    above("macvlan-bnxt", "net1", "macvlan", _PRESENT["bnxt_en"]),
    above("bridge-mlx5", "br0", "bridge", _PRESENT["mlx5-eth"]),
    above("vlan-mlx5-lag", "bond0.100", "vlan", _PRESENT["mlx5-lag"], rdma=True),
    above("vlan-bnxt_re", "hsn0.100", "vlan", _PRESENT["bnxt_re"], rdma=True),
    above("vlan-irdma", "hsn0.100", "vlan", _PRESENT["irdma-e810"], rdma=True),
    above("vxlan-ice", "vxlan5", "vxlan", _PRESENT["ice"], outer=1.02),
)

# --- containers and guests ---------------------------------------------------------------------

_IN_POD = {"kind": "virtual", "address": ("10.244.1.7/24",), "mtu": 1450}
_POD_ETH0 = Port("eth0", "veth", netdev(), link_kind="veth", **_IN_POD)


def _pod(key: str, title: str, of: str, **changes: object) -> Adapter:
    """An animal in a pod, whose eth0 is a veth."""
    one = _PRESENT[of]
    return replace(one, key=key, title=title, eth0=_POD_ETH0, **changes)


_NETKIT = Port("hsn0", "netkit", netdev(), link_kind="netkit", **_IN_POD)
_PODS = (
    _pod("pod-mlx5-vf", "mlx5 VF in a pod, RoCE", "mlx5-roce-vf"),
    _pod("pod-mlx5-ib-vf", "mlx5 VF in a pod, InfiniBand", "mlx5-ib-vf"),
    _pod("pod-irdma-vf", "irdma on an E810 VF in a pod", "irdma-e810-vf"),
    _pod(
        "pod-macvlan",
        "macvlan in a pod, the interface below it out of sight",
        "macvlan",
        ports=(Port("mv0", "macvlan", netdev(), link_kind="macvlan", **_IN_POD),),
        shares={"kernel": {"mv0": WHOLE}},
    ),
    _pod(
        "netkit",
        "netkit of a container",
        "veth",
        ports=(_NETKIT,),
        source="net/netkit.c",
    ),
)


def _guest(key: str, title: str, driver: str, source: str, **more: object) -> Adapter:
    """A virtual function in a guest, which knows no more than its own counters."""
    fields = {"level": "function", "age_ms": 0.0, "rate": 3.1e9, "files": (), **more}
    files = (*netdev(fields["level"], KERNEL, fields["age_ms"]), *fields["files"])
    port = Port("hsn0", driver, files, speed_mbps=25000, pci="0000:00:06.0")
    shares = {"kernel": {"hsn0": WHOLE}}
    return Adapter(key, title, (port,), "hsn0", shares, source, turns=True, rate=fields["rate"])


_GUESTS = (
    _guest("iavf", "iavf without RDMA", "iavf", "intel/iavf: from the PF, 2 s", age_ms=2000.0),
    _guest("ixgbevf", "ixgbevf", "ixgbevf", "intel/ixgbevf: its rings", level="stack"),
    _guest("igbvf", "igbvf", "igbvf", "intel/igbvf: its registers", rate=1.25e8),
    _guest("bnxt-vf", "bnxt_en VF", "bnxt_en", "broadcom/bnxt: as on the PF", age_ms=2000.0),
    _guest("idpf", "idpf without RDMA", "idpf", "intel/idpf: 10 s", age_ms=10_000.0),
    _guest(
        "mlx5-eth-guest",
        "mlx5 VF without RDMA in a virtual machine",
        "mlx5_core",
        "mellanox/mlx5/core/en_stats.c",
        level="stack",
        files=tuple(file for file in MLX5_VPORT if file.counts != RDMA),
    ),
)

# --- partitions of a port, several adapters ----------------------------------------------------


def shared(counters: tuple[str, str], *nics: str, age_ms: float = 0.0) -> Port:
    """The physical port below several functions: each of them shows its registers. It stands for
    no interface.
    """
    files = tuple(
        replace(file, path=file.path.replace("{nic}", nic))
        for nic in nics
        for file in ethtool(*counters, ALL, "wire", age_ms=age_ms)
    )
    return Port("phys9", "", files, "virtual")


def _partition(key: str, of: str, counters: tuple[str, str], *drop: str, **age: float) -> Adapter:
    """Two functions of one port, whose registers both show; the second is idle. ``drop``: endings
    of the files that are the port's.
    """
    one, port = _PRESENT[of], _base(of)
    files = tuple(file for file in port.files if not file.path.endswith(drop))
    second = replace(port, nic="hsn0b", pci=f"{port.pci[:-1]}4", files=files, device="")
    named = {name: value for name, value in port.identity.items() if "guid" not in name}
    second = replace(second, rdma_driver="", link_layer="", rate="", identity=named)
    shares = {carrier: {"hsn0": WHOLE, "phys9": WHOLE} for carrier in one.shares}
    ports = (replace(port, files=files), second, shared(counters, "hsn0", "hsn0b", **age))
    return replace(one, key=key, title=f"partition of {one.title}", ports=ports, shares=shares)


_I40E, _BNXT = ("port.tx_bytes", "port.rx_bytes"), ("tx_bytes", "rx_bytes")
_PHY = ("tx_bytes_phy", "rx_bytes_phy")
_PARTITIONS = (
    _partition("i40e-npar", "i40e", _I40E, "port.tx_bytes", "port.rx_bytes"),
    _partition(
        "bnxt-npar",
        "bnxt_en",
        _BNXT,
        "ethtool/{nic}/tx_bytes",
        "ethtool/{nic}/rx_bytes",
        age_ms=1000.0,
    ),
    _partition("mlx5-socket-direct", "mlx5-roce-pf", _PHY, "_bytes_phy", "_packets_phy"),
)


def several(key: str, of: str, count: int, title: str, *, one_card: bool = False) -> Adapter:
    """The adapter so many times, the first of them claimed; ``one_card``: ports of one."""
    one, port = _PRESENT[of], _base(of)
    more = tuple(
        replace(
            port,
            nic=f"{port.nic[:-1]}{number}" if port.nic else "",
            device=f"{port.device[:-1]}{number}" if port.device else "",
            pci=f"{port.pci[:-1]}{number}" if one_card else f"000{number}{port.pci[4:]}",
            identity=port.identity
            if one_card
            else {name: f"{number}{value[1:]}" for name, value in port.identity.items()},
        )
        for number in range(1, count)
    )
    return replace(one, key=key, title=title, ports=(*one.ports, *more))


_SEVERAL = (
    several("mlx5-dual", "mlx5-roce-pf", 2, "mlx5, RoCE, two ports of a card", one_card=True),
    several("gb10", "mlx5-roce-pf", 2, "mlx5, two functions of a cable, each its half"),
    several("mlx5-ib-8", "mlx5-ib-pf", 8, "mlx5, InfiniBand, eight adapters"),
    several("hfi1-2", "hfi1", 2, "hfi1, two adapters"),
    several("cxi-4", "cxi", 4, "cxi, four adapters"),
    several("cxi-8", "cxi", 8, "cxi, eight adapters"),
    several("efa-4", "efa", 4, "EFA, four adapters beside ena"),
    several("bnxt_re-8", "bnxt_re", 8, "bnxt_re, eight adapters"),
)

# --- InfiniBand's own forms, other RDMA ---------------------------------------------------------


def _pkey(key: str, of: str, pkey: str = "8001") -> Adapter:
    """A child interface of IPoIB: the port's counters are of parent and child together."""
    one, port = _PRESENT[of], _base(of)
    both = tuple(
        replace(
            file,
            path=file.path.replace("{device}", port.device).replace("{port}", str(port.ib_port)),
        )
        for file in port.files
        if file.path.startswith("ib/")
    )
    child = replace(port, nic=f"{port.nic}.{pkey}", files=_interface(port))
    ports = (child, replace(port, files=_interface(port)), Port("phys9", "", both, "virtual"))
    shares = {"kernel": {child.nic: WHOLE, "phys9": WHOLE}}
    title = f"IPoIB child (pkey) of {one.title}"
    return Adapter(key, title, ports, child.nic, shares, one.source, rate=one.rate, turns=one.turns)


_OTHERS = (
    _pkey("mlx5-pkey", "mlx5-ipoib"),
    _pkey("mlx4-pkey", "mlx4-ib"),
    replace(
        _PRESENT["mlx5-ipoib"],
        key="mlx5-ipoib-cm",
        title="mlx5, IPoIB in connected mode",
        ports=(replace(_base("mlx5-ipoib"), mtu=65520),),
    ),
    replace(
        _PRESENT["mlx5-ib-pf"],
        key="mlx5-hdr100",
        title="mlx5, InfiniBand, HDR100 (half of a split port)",
        ports=(replace(_base("mlx5-ib-pf"), rate="100 Gb/sec (2X HDR)"),),
    ),
    replace(
        _PRESENT["irdma-e810"],
        key="irdma-iwarp",
        title="irdma on E810, iWARP",
        ports=(replace(_base("irdma-e810"), device="iwp24s0f0"),),
    ),
    Adapter(
        "erdma",
        "erdma beside virtio_net",
        (
            Port("eth1", "virtio_net", netdev(), subsystem="virtio", mtu=1500),
            Port(
                "",
                "erdma",
                (
                    *hw("tx_bytes_cnt", "rx_bytes_cnt", RDMA, header=0),
                    *hw("tx_packets_cnt", "rx_packets_cnt", RDMA, what="packets"),
                ),
                kind="infiniband",
                device="erdma_0",
                rdma_driver="erdma",
                link_layer="Ethernet",
                rate="100 Gb/sec (4X EDR)",
                pci="0000:00:07.0",
            ),
        ),
        "erdma_0:1",
        {"rdma": {"erdma_0:1": WHOLE}},
        "infiniband/hw/erdma/erdma_verbs.c erdma_descs",
        fast="rdma",
        unsure=True,
    ),
    Adapter(
        "sfc",
        "Solarflare (sfc, EF10)",
        (
            Port(
                "hsn0",
                "sfc",
                (
                    *netdev("wire", ALL, 1000.0),
                    *ethtool("port_tx_bytes", "port_rx_bytes", ALL, "wire", age_ms=1000.0),
                ),
                speed_mbps=10000,
                pci="0000:18:00.0",
                function="physical",
                identity={"serial": "00-0f-53-ff-ff-10-20-30"},
            ),
        ),
        "hsn0",
        {"kernel": {"hsn0": WHOLE}},
        "net/ethernet/sfc/ef10.c: the MAC's, written by the adapter once a second",
        rate=1.25e9,
    ),
)

# --- plain Ethernet ----------------------------------------------------------------------------

_PLAIN = (
    ("r8152", "usb", 1000, "stack", 0.0, "net/usb/r8152.c: software"),
    ("ax88179_178a", "usb", 1000, "stack", 0.0, "net/usb/usbnet.c: software"),
    ("thunderbolt-net", "thunderbolt", 20000, "stack", 0.0, "net/thunderbolt/main.c: software"),
    ("macb", "platform", 1000, "wire", 0.0, "cadence/macb_main.c gem_get_stats: registers"),
    ("bcmgenet", "platform", 1000, "stack", 0.0, "broadcom/genet/bcmgenet.c: its rings"),
    ("fec", "platform", 1000, "stack", 0.0, "freescale/fec_main.c: software"),
    ("r8169", "pci", 1000, "stack", 0.0, "realtek/r8169_main.c: software"),
    ("igc", "pci", 2500, "stack", 0.0, "intel/igc/igc_main.c: its rings"),
    ("be2net", "pci", 10000, "stack", 0.0, "emulex/benet/be_main.c: its rings"),
    ("bnx2x", "pci", 10000, "function", 1000.0, "broadcom/bnx2x/bnx2x_stats.c: timer of a second"),
    ("nfp", "pci", 25000, "stack", 0.0, "netronome/nfp/nfp_net_common.c: its rings"),
    ("hinic", "pci", 25000, "stack", 0.0, "huawei/hinic/hinic_main.c: its queues"),
    ("vif", "xen", 10000, "stack", 0.0, "net/xen-netfront.c: software"),
    ("ibmveth", "vio", 10000, "stack", 0.0, "ibm/ibmveth.c: software"),
    ("hv_netvsc", "vmbus", 10000, "stack", 0.0, "net/hyperv/netvsc_drv.c: software"),
    ("atlantic", "pci", 10000, "function", 1000.0, "aquantia/atlantic/aq_nic.c: once a second"),
    ("amd-xgbe", "platform", 10000, "wire", 0.0, "amd/xgbe/xgbe-dev.c: the MAC's registers"),
    ("fbnic", "pci", 100000, "stack", 0.0, "meta/fbnic/fbnic_netdev.c: its rings"),
    ("cxgb4", "pci", 25000, "wire", 0.0, "chelsio/cxgb4/cxgb4_main.c: the port's statistics"),
)


def _plain(driver: str, bus: str, mbps: int, level: str, age_ms: float, source: str) -> Adapter:
    port = Port("hsn0", driver, netdev(level, KERNEL, age_ms), speed_mbps=mbps, subsystem=bus)
    port = replace(port, pci="0000:18:00.0", function="physical") if bus == "pci" else port
    shares = {"kernel": {"hsn0": WHOLE}}
    title = f"{driver} ({bus})"
    key = f"{driver}-eth" if driver in _PRESENT else driver
    return Adapter(key, title, (port,), "hsn0", shares, source, rate=mbps * 1e6 / 8)


ADAPTERS: Sequence[Adapter] = (
    *_BOND.values(),
    *_STACKS,
    *_PODS,
    *_GUESTS,
    *_PARTITIONS,
    *_SEVERAL,
    *_OTHERS,
    *(_plain(*row) for row in _PLAIN),
)
