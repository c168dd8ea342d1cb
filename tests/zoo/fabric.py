"""InfiniBand and RoCE on mlx4 and mlx5.

Sources are paths in the Linux tree (``drivers/`` left out) unless said otherwise.
"""

from dataclasses import replace

from tests.zoo.counters import ROCE_HEADER, TCP_HEADER, WHOLE, ethtool, netdev, port_data
from tests.zoo.parts import ALL, KERNEL, RDMA, Adapter, File, Port, alone, of_rdma, stuck

_GUID = {
    "system_guid": "9803:9b03:0012:aa00",
    "node_guid": "9803:9b03:0012:aa00",
    "serial": "98-03-9b-ff-ff-12-aa-00",
}
_NODE = {key: value for key, value in _GUID.items() if key.endswith("guid")}
_SWITCH = {"switch_id": "00aa1203009b0398", "port_id": "98039b12aa00"}
LINK_IB = {"link_layer": "InfiniBand", "kind": "infiniband", "mtu": 2044}

_IDLE: frozenset[str] = frozenset()
_IDLE_CASTS = ("multicast", "broadcast", "rdma_multicast")
_VPORT = (
    *((f"{cast}_{what}", _IDLE) for what in ("bytes", "packets") for cast in _IDLE_CASTS),
    ("unicast_packets", KERNEL),
    *(("rdma_unicast_bytes", RDMA), ("rdma_unicast_packets", RDMA)),
)
MLX5_VPORT = (
    *(
        file
        for name, counts in _VPORT
        for file in ethtool(
            f"tx_vport_{name}",
            f"rx_vport_{name}",
            counts,
            "function",
            what=name.rpartition("_")[2],
        )
    ),
    *ethtool(
        "tx_vport_unicast_bytes", "rx_vport_unicast_bytes", KERNEL, "function", header=TCP_HEADER
    ),
)
MLX5_PHY = (
    *ethtool("tx_bytes_phy", "rx_bytes_phy", ALL, "wire"),
    *ethtool("tx_packets_phy", "rx_packets_phy", ALL, "wire", what="packets"),
)
MLX5_ROCE = port_data(RDMA, "function", header=ROCE_HEADER)


def _mlx5(nic: str = "hsn0", device: str = "mlx5_0", **changes: object) -> Port:
    port = Port(
        nic,
        "mlx5_core",
        (*netdev(), *MLX5_PHY, *MLX5_VPORT, *MLX5_ROCE),
        device=device,
        rdma_driver="mlx5_core",
        link_layer="Ethernet",
        rate="100 Gb/sec (4X EDR)",
        speed_mbps=100000,
        function="physical",
        identity={**_GUID, **_SWITCH},
        pci="0000:3b:00.0",
    )
    return replace(port, **changes)


MLX5_IB = _mlx5(
    files=(*netdev(), *stuck(MLX5_PHY), *port_data(ALL, "function")),
    rate="100 Gb/sec (4X EDR)",
    speed_mbps=None,
    identity=_GUID,
    **LINK_IB,
)
_VF_FILES = (*netdev(), *stuck(MLX5_PHY), *MLX5_VPORT, *MLX5_ROCE)
_LOOPBACK = File(
    "ethtool/{nic}/vport_loopback_bytes", "both", "bytes", ALL, "turned", header=ROCE_HEADER
)
_LEG = {"kernel": {"bond0": WHOLE, "p0": (0.6, 0.3), "p1": (0.4, 0.7)}}
_MLX5_SOURCE = (
    "infiniband/hw/mlx5/mad.c (port_xmit_data from the vport), "
    "net/ethernet/mellanox/mlx5/core/en_stats.c, ipoib/ipoib.c (the 802.3 group is listed on "
    "InfiniBand too), Documentation mlx5/counters.rst"
)

_MLX4_IB = Port(
    "ib0",
    "mlx4_core",
    (*netdev(), *port_data(ALL, "wire")),
    device="mlx4_0",
    rdma_driver="mlx4_core",
    rate="40 Gb/sec (4X QDR)",
    function="physical",
    identity=_GUID,
    pci="0000:04:00.0",
    **LINK_IB,
)

# Untagged traffic of the port is in novlan, the priorities stand still; whether what the adapter
# turned round counts was not found out, so it does here. The driver asks for them every 250 ms.
_MLX4_PORT = (
    *ethtool("tx_novlan_bytes", "rx_novlan_bytes", ALL, "function", age_ms=250.0),
    *ethtool(
        "tx_novlan_packets", "rx_novlan_packets", ALL, "function", age_ms=250.0, what="packets"
    ),
    *(
        file
        for n in range(8)
        for what in ("bytes", "packets")
        for file in ethtool(
            f"tx_prio_{n}_{what}", f"rx_prio_{n}_{what}", _IDLE, "function", age_ms=250.0, what=what
        )
    ),
)

# The width of these registers is not said; 56 bits are what the driver masks them to.

_VLAN = Port(
    "hsn0.100",
    "",
    netdev(),
    kind="virtual",
    lower=("hsn0",),
    link_kind="vlan",
    device="mlx5_0",
    rdma_driver="mlx5_core",
    link_layer="Ethernet",
    rate="100 Gb/sec (4X EDR)",
    identity=_NODE,
)
_BOND = Port(
    "bond0",
    "",
    (*netdev(), *MLX5_ROCE),
    kind="virtual",
    lower=("p0", "p1"),
    link_kind="bond",
    device="mlx5_bond_0",
    rdma_driver="mlx5_core",
    link_layer="Ethernet",
    rate="100 Gb/sec (4X EDR)",
    speed_mbps=200000,
    identity=_NODE,
)


def _leg(nic: str, number: int) -> Port:
    """The bond's RDMA device stands on the first port's hardware."""
    files = (*netdev(), *MLX5_PHY)
    own = {"files": files, "master": "bond0", "pci": f"0000:3b:00.{number}"}
    if number == 0:
        return _mlx5(nic, "mlx5_bond_0", **own)
    return _mlx5(
        nic,
        "",
        rdma_driver="",
        link_layer="",
        rate="",
        **own,
        identity={**_SWITCH, "serial": _GUID["serial"]},
    )


MLX = (
    alone(
        "mlx4-ib",
        "mlx4, InfiniBand (ConnectX-3)",
        _MLX4_IB,
        "infiniband/hw/mlx4/mad.c: the firmware's port counters",
        fast="rdma",
        rate=3.9e9,
    ),
    alone(
        "mlx4-ib-32",
        "mlx4, InfiniBand, 32-bit port counters",
        replace(_MLX4_IB, files=(*netdev(), *port_data(ALL, "wire", width=32, pegs=True))),
        "infiniband/core/sysfs.c: PortCounters where extended width is missing;"
        " they stop at all ones (IBA 16.1.3.5)",
        fast="rdma",
        rate=3.9e9,
    ),
    of_rdma(
        "mlx4-roce",
        "mlx4, RoCE (ConnectX-3)",
        Port(
            "hsn0",
            "mlx4_core",
            (*netdev(), *_MLX4_PORT, *port_data(RDMA, "function", header=ROCE_HEADER)),
            device="mlx4_0",
            rdma_driver="mlx4_core",
            link_layer="Ethernet",
            rate="40 Gb/sec (4X QDR)",
            speed_mbps=40000,
            function="physical",
            identity={**_GUID, "port_id": "f45214aa0001"},
            pci="0000:04:00.0",
        ),
        "infiniband/hw/mlx4/mad.c iboe_process_mad: the counters of the QPs;"
        " net/ethernet/mellanox/mlx4/en_port.c",
        rate=4.8e9,
    ),
    of_rdma("mlx5-ib-pf", "mlx5, InfiniBand, PF", replace(MLX5_IB, nic="ib0"), _MLX5_SOURCE),
    of_rdma(
        "mlx5-ib-vf",
        "mlx5, InfiniBand, VF",
        replace(
            MLX5_IB, nic="ib0", function="virtual", identity={**_GUID, "physical": "0000:3b:00.0"}
        ),
        _MLX5_SOURCE,
    ),
    of_rdma("mlx5-roce-pf", "mlx5, RoCE, PF", _mlx5(), _MLX5_SOURCE, fast="rdma", turns=True),
    of_rdma(
        "mlx5-roce-vf",
        "mlx5, RoCE, VF (port registers unreadable)",
        _mlx5(
            files=_VF_FILES,
            function="virtual",
            identity={**_GUID, **_SWITCH, "physical": "0000:3b:00.0"},
            pci="0000:3b:00.2",
        ),
        _MLX5_SOURCE,
    ),
    of_rdma(
        "mlx5-roce-guest",
        "mlx5, RoCE, VF in a virtual machine",
        _mlx5(files=_VF_FILES, function="", identity={**_NODE, **_SWITCH}, pci="0000:00:06.0"),
        "nothing in the guest says that it is a function; " + _MLX5_SOURCE,
    ),
    of_rdma(
        "mlx5-roce-loopback",
        "mlx5, RoCE, VF in a virtual machine with loopback counters, without adapter identity",
        _mlx5(files=(*_VF_FILES, _LOOPBACK), function="", identity={}, pci="0000:00:06.0"),
        "counters.rst vport_loopback_bytes (received and transmitted); " + _MLX5_SOURCE,
    ),
    of_rdma(
        "mlx5-zero-trust",
        "mlx5, RoCE, a host that may not read the port's registers",
        _mlx5(files=_VF_FILES),
        "BlueField's restricted host (mlxprivhost --disable_counter_rd): the physical function's "
        "registers read 0; " + _MLX5_SOURCE,
    ),
    of_rdma(
        "mlx5-sf",
        "mlx5, RoCE, scalable function",
        _mlx5(
            files=_VF_FILES,
            function="scalable",
            driver="mlx5_core.sf",
            rdma_driver="mlx5_core.sf",
            pci="",
            subsystem="auxiliary",
            identity={**_NODE, **_SWITCH, "physical": "0000:3b:00.0"},
        ),
        "net/ethernet/mellanox/mlx5/core/sf/dev/driver.c; " + _MLX5_SOURCE,
    ),
    Adapter(
        "mlx5-lag",
        "mlx5, RoCE LAG (bond of two ports)",
        (_BOND, _leg("p0", 0), _leg("p1", 1)),
        "bond0",
        {"rdma": {"bond0": WHOLE, "p0": (0.6, 0.3), "p1": (0.4, 0.7)}, **_LEG},
        _MLX5_SOURCE,
        fast="rdma",
        turns=True,
        rate=25e9,
    ),
    alone(
        "mlx5-ipoib",
        "mlx5, IPoIB alone (TCP over ib0)",
        replace(MLX5_IB, nic="ib0"),
        _MLX5_SOURCE,
        turns=True,
    ),
    alone(
        "mlx5-eth",
        "mlx5, Ethernet without RDMA",
        _mlx5(
            device="",
            rdma_driver="",
            link_layer="",
            rate="",
            files=(*netdev(), *MLX5_PHY, *MLX5_VPORT),
            identity={**_SWITCH, "serial": _GUID["serial"]},
        ),
        _MLX5_SOURCE,
        turns=True,
    ),
    Adapter(
        "mlx5-vlan",
        "VLAN on mlx5, RoCE",
        (_VLAN, _mlx5()),
        "hsn0.100",
        {"rdma": {"hsn0": WHOLE}, "kernel": {"hsn0.100": WHOLE, "hsn0": WHOLE}},
        "net/8021q; " + _MLX5_SOURCE,
        fast="rdma",
        turns=True,
    ),
)
