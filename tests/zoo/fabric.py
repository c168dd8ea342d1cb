"""InfiniBand, RoCE on mlx4/mlx5, Omni-Path, True Scale, Slingshot, EFA and the software RDMA devices.

Sources are paths in the Linux tree (``drivers/`` left out) unless said otherwise.
"""

from __future__ import annotations

from dataclasses import replace

from tests.zoo.parts import ALL, KERNEL, RDMA, Adapter, File, Port, both_ways, stuck

__all__ = ["ADAPTERS", "netdev", "port_data"]

IB_HEADER, ROCE_HEADER, TCP_HEADER, OPA_HEADER = 26, 62, 66, 40
_WHOLE = (1.0, 1.0)


def netdev(level: str = "stack", counts: frozenset[str] = KERNEL, age_ms: float = 0.0) -> tuple[File, ...]:
    """The interface's own statistics; a driver that sums its rings in software counts the kernel's packets alone."""
    made = [
        *both_ways("net/{nic}/{way}_bytes", counts, level, header=TCP_HEADER, age_ms=age_ms),
        *both_ways("net/{nic}/{way}_packets", counts, level, what="packets", age_ms=age_ms),
    ]
    return tuple(made)


def port_data(
    counts: frozenset[str], level: str, *, unit: int = 4, header: int = IB_HEADER, width: int = 64, pegs: bool = False
) -> tuple[File, ...]:
    """``port_xmit_data`` and its three companions."""
    where = "ib/{device}/{port}/counters/{way}"
    data, packets = ("port_xmit_data", "port_rcv_data"), ("port_xmit_packets", "port_rcv_packets")
    first = both_ways(where, counts, level, names=data, unit=unit, header=header, width=width, pegs=pegs)
    return (*first, *both_ways(where, counts, level, names=packets, what="packets", width=width, pegs=pegs))


def ethtool(name_tx: str, name_rx: str, counts: frozenset[str], level: str, *, header: int = ROCE_HEADER,
            age_ms: float = 0.0, what: str = "bytes") -> tuple[File, ...]:  # fmt: skip
    """A pair of the driver's statistics."""
    return both_ways(
        "ethtool/{nic}/{way}", counts, level, names=(name_tx, name_rx), header=header, age_ms=age_ms, what=what
    )  # fmt: skip


def hw(name_tx: str, name_rx: str, counts: frozenset[str], level: str = "function", *, header: int = ROCE_HEADER,
       what: str = "bytes", age_ms: float = 0.0, folder: str = "{port}/hw_counters") -> tuple[File, ...]:  # fmt: skip
    """A pair of the RDMA device's hardware counters."""
    return both_ways(
        "ib/{device}/" + folder + "/{way}", counts, level, names=(name_tx, name_rx), header=header, what=what,
        age_ms=age_ms,
    )  # fmt: skip


_RXE_PACKETS = (
    File("ib/{device}/{port}/hw_counters/sent_pkts", "tx", "packets", RDMA, "stack", age_ms=12.0),
    File("ib/{device}/{port}/hw_counters/rcvd_pkts", "rx", "packets", RDMA, "stack", age_ms=12.0),
)
"""Its own packets, counted in software, those within the machine too: seen with linux 6.1 in tests/vm."""


def _shares(name: str, carriers: frozenset[str] | set[str]) -> dict[str, dict[str, tuple[float, float]]]:
    return {carrier: {name: _WHOLE} for carrier in sorted(carriers)}


_GUID = {"system_guid": "9803:9b03:0012:aa00", "node_guid": "9803:9b03:0012:aa00", "serial": "98-03-9b-ff-ff-12-aa-00"}
_NODE = {key: value for key, value in _GUID.items() if key.endswith("guid")}
_SWITCH = {"switch_id": "00aa1203009b0398", "port_id": "98039b12aa00"}
_LINK_IB = {"link_layer": "InfiniBand", "kind": "infiniband", "mtu": 2044}

_IDLE: frozenset[str] = frozenset()
MLX5_VPORT = (
    *ethtool("tx_vport_multicast_bytes", "rx_vport_multicast_bytes", _IDLE, "function"),
    *ethtool("tx_vport_broadcast_bytes", "rx_vport_broadcast_bytes", _IDLE, "function"),
    *ethtool("tx_vport_rdma_multicast_bytes", "rx_vport_rdma_multicast_bytes", _IDLE, "function"),
    *ethtool("tx_vport_multicast_packets", "rx_vport_multicast_packets", _IDLE, "function", what="packets"),
    *ethtool("tx_vport_broadcast_packets", "rx_vport_broadcast_packets", _IDLE, "function", what="packets"),
    *ethtool("tx_vport_rdma_multicast_packets", "rx_vport_rdma_multicast_packets", _IDLE, "function", what="packets"),
    *ethtool("tx_vport_unicast_packets", "rx_vport_unicast_packets", KERNEL, "function", what="packets"),
    *ethtool("tx_vport_rdma_unicast_bytes", "rx_vport_rdma_unicast_bytes", RDMA, "function"),
    *ethtool("tx_vport_rdma_unicast_packets", "rx_vport_rdma_unicast_packets", RDMA, "function", what="packets"),
    *ethtool("tx_vport_unicast_bytes", "rx_vport_unicast_bytes", KERNEL, "function", header=TCP_HEADER),
)
MLX5_PHY = (
    *ethtool("tx_bytes_phy", "rx_bytes_phy", ALL, "wire"),
    *ethtool("tx_packets_phy", "rx_packets_phy", ALL, "wire", what="packets"),
)
MLX5_ROCE = port_data(RDMA, "function", header=ROCE_HEADER)


def _mlx5(nic: str = "hsn0", device: str = "mlx5_0", **changes: object) -> Port:
    port = Port(
        nic, "mlx5_core", (*netdev(), *MLX5_PHY, *MLX5_VPORT, *MLX5_ROCE), device=device, rdma_driver="mlx5_core",
        link_layer="Ethernet", rate="100 Gb/sec (4X EDR)", speed_mbps=100000, function="physical",
        identity={**_GUID, **_SWITCH}, pci="0000:3b:00.0",
    )  # fmt: skip
    return replace(port, **changes)


MLX5_IB = _mlx5(
    files=(*netdev(), *stuck(MLX5_PHY), *port_data(ALL, "function")), rate="100 Gb/sec (4X EDR)", speed_mbps=None,
    identity=_GUID, **_LINK_IB,
)  # fmt: skip
_VF_FILES = (*netdev(), *stuck(MLX5_PHY), *MLX5_VPORT, *MLX5_ROCE)
_LEG = {"kernel": {"bond0": _WHOLE, "p0": (0.6, 0.3), "p1": (0.4, 0.7)}}
_MLX5_SOURCE = (
    "infiniband/hw/mlx5/mad.c (port_xmit_data from the vport), net/ethernet/mellanox/mlx5/core/en_stats.c,"
    " ipoib/ipoib.c (the 802.3 group is listed on InfiniBand too), Documentation mlx5/counters.rst"
)

_MLX4_IB = Port(
    "ib0", "mlx4_core", (*netdev(), *port_data(ALL, "wire")), device="mlx4_0", rdma_driver="mlx4_core",
    rate="40 Gb/sec (4X QDR)", function="physical", identity=_GUID, pci="0000:04:00.0", **_LINK_IB,
)  # fmt: skip
_QIB = Port(
    "ib0", "ib_qib", (*netdev(), *port_data(ALL, "wire")), device="qib0", rdma_driver="ib_qib",
    rate="40 Gb/sec (4X QDR)", identity={"system_guid": "0011:7500:0070:1122", "node_guid": "0011:7500:0070:1122"},
    pci="0000:05:00.0", **_LINK_IB,
)  # fmt: skip
_HFI = Port(
    "ib0", "hfi1", (*netdev(), *port_data(ALL, "wire", unit=8, header=OPA_HEADER)), device="hfi1_0",
    rdma_driver="hfi1", rate="100 Gb/sec (4X EDR)", pci="0000:06:00.0",
    identity={"system_guid": "0011:7501:0170:1122", "node_guid": "0011:7501:0170:1122"},
    link_layer="InfiniBand", kind="infiniband", mtu=10236,
)  # fmt: skip

# Untagged traffic of the port is in novlan, the priorities stand still; whether what the adapter turned round counts
# was not found out, so it does here. The driver asks for them every 250 ms.
_MLX4_PORT = (
    *ethtool("tx_novlan_bytes", "rx_novlan_bytes", ALL, "function", age_ms=250.0),
    *ethtool("tx_novlan_packets", "rx_novlan_packets", ALL, "function", age_ms=250.0, what="packets"),
    *(
        file
        for n in range(8)
        for what in ("bytes", "packets")
        for file in ethtool(f"tx_prio_{n}_{what}", f"rx_prio_{n}_{what}", _IDLE, "function", age_ms=250.0, what=what)
    ),
)

# The width of these registers is not said; 56 bits are what the driver masks them to.
_TELEMETRY = both_ways(
    "cxi/{device}/hni_sts_{way}_ok_octets", ALL, "wire", header=ROCE_HEADER, width=56,
)  # fmt: skip

_VLAN = Port(
    "hsn0.100", "", netdev(), kind="virtual", lower=("hsn0",), link_kind="vlan", device="mlx5_0",
    rdma_driver="mlx5_core", link_layer="Ethernet", rate="100 Gb/sec (4X EDR)", identity=_NODE,
)  # fmt: skip
_BOND = Port(
    "bond0", "", (*netdev(), *MLX5_ROCE), kind="virtual", lower=("p0", "p1"), link_kind="bond", device="mlx5_bond_0",
    rdma_driver="mlx5_core", link_layer="Ethernet", rate="100 Gb/sec (4X EDR)", speed_mbps=200000,
    identity=_NODE,
)  # fmt: skip


def _leg(nic: str, number: int) -> Port:
    """The bond's RDMA device stands on the first port's hardware."""
    files = (*netdev(), *MLX5_PHY)
    own = {"files": files, "master": "bond0", "pci": f"0000:3b:00.{number}"}
    if number == 0:
        return _mlx5(nic, "mlx5_bond_0", **own)
    return _mlx5(nic, "", rdma_driver="", link_layer="", rate="", **own,
                 identity={**_SWITCH, "serial": _GUID["serial"]})  # fmt: skip


MLX = (
    Adapter("mlx4-ib", "mlx4, InfiniBand (ConnectX-3)", (_MLX4_IB,), "ib0", _shares("ib0", {"rdma", "kernel"}),
            "infiniband/hw/mlx4/mad.c: the firmware's port counters", fast="rdma", rate=3.9e9),
    Adapter("mlx4-ib-32", "mlx4, InfiniBand, 32-bit port counters",
            (replace(_MLX4_IB, files=(*netdev(), *port_data(ALL, "wire", width=32, pegs=True))),), "ib0",
            _shares("ib0", {"rdma", "kernel"}), "infiniband/core/sysfs.c: PortCounters where extended width is missing;"
            " they stop at all ones (IBA 16.1.3.5)", fast="rdma", rate=3.9e9),
    Adapter("mlx4-roce", "mlx4, RoCE (ConnectX-3)", (Port(
        "hsn0", "mlx4_core", (*netdev(), *_MLX4_PORT, *port_data(RDMA, "function", header=ROCE_HEADER)),
        device="mlx4_0",
        rdma_driver="mlx4_core", link_layer="Ethernet", rate="40 Gb/sec (4X QDR)", speed_mbps=40000,
        function="physical", identity={**_GUID, "port_id": "f45214aa0001"}, pci="0000:04:00.0"),), "hsn0",
        _shares("hsn0", {"rdma", "kernel"}), "infiniband/hw/mlx4/mad.c iboe_process_mad: the counters of the QPs;"
        " net/ethernet/mellanox/mlx4/en_port.c",
        fast="rdma", turns=True, rate=4.8e9),
    Adapter("mlx5-ib-pf", "mlx5, InfiniBand, PF", (replace(MLX5_IB, nic="ib0"),), "ib0",
            _shares("ib0", {"rdma", "kernel"}), _MLX5_SOURCE, fast="rdma", turns=True),
    Adapter("mlx5-ib-vf", "mlx5, InfiniBand, VF", (replace(
        MLX5_IB, nic="ib0", function="virtual", identity={**_GUID, "physical": "0000:3b:00.0"}),), "ib0",
        _shares("ib0", {"rdma", "kernel"}), _MLX5_SOURCE, fast="rdma", turns=True),
    Adapter("mlx5-roce-pf", "mlx5, RoCE, PF", (_mlx5(),), "hsn0", _shares("hsn0", {"rdma", "kernel"}), _MLX5_SOURCE,
            fast="rdma", turns=True),
    Adapter("mlx5-roce-vf", "mlx5, RoCE, VF (port registers unreadable)", (_mlx5(
        files=_VF_FILES, function="virtual", identity={**_GUID, **_SWITCH, "physical": "0000:3b:00.0"},
        pci="0000:3b:00.2"),), "hsn0", _shares("hsn0", {"rdma", "kernel"}), _MLX5_SOURCE, fast="rdma", turns=True),
    Adapter("mlx5-roce-guest", "mlx5, RoCE, VF in a virtual machine", (_mlx5(
        files=_VF_FILES, function="", identity={**_NODE, **_SWITCH}, pci="0000:00:06.0"),), "hsn0",
        _shares("hsn0", {"rdma", "kernel"}), "nothing in the guest says that it is a function; " + _MLX5_SOURCE,
        fast="rdma", turns=True),
    Adapter("mlx5-sf", "mlx5, RoCE, scalable function", (_mlx5(
        files=_VF_FILES, function="scalable", driver="mlx5_core.sf", rdma_driver="mlx5_core.sf", pci="",
        subsystem="auxiliary", identity={**_NODE, **_SWITCH, "physical": "0000:3b:00.0"}),), "hsn0",
        _shares("hsn0", {"rdma", "kernel"}),
        "net/ethernet/mellanox/mlx5/core/sf/dev/driver.c; " + _MLX5_SOURCE, fast="rdma", turns=True),
    Adapter("mlx5-lag", "mlx5, RoCE LAG (bond of two ports)", (_BOND, _leg("p0", 0), _leg("p1", 1)), "bond0",
            {"rdma": {"bond0": _WHOLE, "p0": (0.6, 0.3), "p1": (0.4, 0.7)}, **_LEG}, _MLX5_SOURCE, fast="rdma",
            turns=True, rate=25e9),
    Adapter("mlx5-ipoib", "mlx5, IPoIB alone (TCP over ib0)", (replace(MLX5_IB, nic="ib0"),), "ib0",
            _shares("ib0", {"kernel"}), _MLX5_SOURCE, turns=True),
    Adapter("mlx5-eth", "mlx5, Ethernet without RDMA", (_mlx5(
        device="", rdma_driver="", link_layer="", rate="", files=(*netdev(), *MLX5_PHY, *MLX5_VPORT),
        identity={**_SWITCH, "serial": _GUID["serial"]}),), "hsn0",
        _shares("hsn0", {"kernel"}), _MLX5_SOURCE, turns=True),
    Adapter("mlx5-vlan", "VLAN on mlx5, RoCE", (_VLAN, _mlx5()), "hsn0.100",
            {"rdma": {"hsn0": _WHOLE}, "kernel": {"hsn0.100": _WHOLE, "hsn0": _WHOLE}},
            "net/8021q; " + _MLX5_SOURCE, fast="rdma", turns=True),
)  # fmt: skip

OTHER = (
    Adapter("qib", "qib (True Scale), PSM", (_QIB,), "ib0", _shares("ib0", {"psm", "kernel"}),
            "infiniband/hw/qib/qib_mad.c: WORDSEND and WORDRCV of the chip, 4-byte words", fast="psm", rate=3.5e9),
    Adapter("qib-32", "qib, 32-bit port counters", (
        replace(_QIB, files=(*netdev(), *port_data(ALL, "wire", width=32, pegs=True))),), "ib0",
        _shares("ib0", {"psm", "kernel"}), "infiniband/core/sysfs.c", fast="psm", rate=3.5e9),
    Adapter("hfi1", "hfi1 (Omni-Path 100), PSM2", (_HFI,), "ib0", _shares("ib0", {"psm", "kernel"}),
            "infiniband/hw/hfi1/mad.c: C_DC_XMIT_FLITS, 8-byte flits, unconverted", fast="psm"),
    Adapter("cn5000", "hfi1 (CN5000), OPX", (replace(
        _HFI, rate="400 Gb/sec (4X NDR)", mtu=10236, files=(*netdev(), *stuck(port_data(ALL, "wire", unit=8)))),),
        "ib0", _shares("ib0", {"psm", "kernel"}), "hfi2 as proposed, chip.h: C_DC_XMIT_FLITS is of Omni-Path 100"
        " alone; what fills port_xmit_data is not known", fast="psm", rate=50e9),
    Adapter("cxi", "cxi (Slingshot 11), telemetry readable", (Port(
        "hsn0", "cxi_ss1", (*netdev(), *_TELEMETRY), device="cxi0", rdma_driver="cxi_ss1",
        speed_mbps=200000, pci="0000:21:00.0", function="physical"),), "hsn0", _shares("hsn0", {"rdma", "kernel"}),
        "HewlettPackard/shs-cxi-driver cass_telem.c: the octets of the network interface", fast="rdma", rate=25e9),
    Adapter("cxi-dark", "cxi (Slingshot 11), telemetry hidden", (Port(
        "hsn0", "cxi_ss1", netdev(), speed_mbps=200000, pci="0000:21:00.0", function="physical"),), "hsn0",
        _shares("hsn0", {"rdma", "kernel"}), "HewlettPackard/shs-cxi-driver: cxi_eth counts sockets; RDMA is in"
        " the telemetry alone", fast="rdma", rate=25e9),
    Adapter("efa", "EFA beside ena", (
        Port("ens5", "ena", netdev(), speed_mbps=None, pci="0000:00:05.0", mtu=9001),
        Port("", "efa", (*hw("tx_bytes", "rx_bytes", RDMA, header=0),
                         *hw("tx_pkts", "rx_pkts", RDMA, what="packets")), kind="infiniband", device="efa_0",
             rdma_driver="efa", link_layer="Unspecified", rate="100 Gb/sec (4X EDR)", pci="0000:00:06.0")),
        "efa_0:1", {"rdma": {"efa_0:1": _WHOLE}}, "infiniband/hw/efa/efa_verbs.c, net/ethernet/amazon/ena",
        fast="rdma", unsure=True),
    Adapter("rxe", "rxe (soft RoCE) over ixgbe", (Port(
        "hsn0", "ixgbe", (*netdev(counts=ALL), *ethtool("tx_bytes_nic", "rx_bytes_nic", ALL, "wire"), *_RXE_PACKETS),
        device="rxe0", rdma_driver="rdma_rxe",
        link_layer="Ethernet", rate="10 Gb/sec (4X SDR)", speed_mbps=10000, pci="0000:07:00.0"),),
        "hsn0", _shares("hsn0", {"rdma", "kernel"}), "infiniband/sw/rxe/rxe_net.c: packets leave as UDP through the"
        " interface", fast="rdma", rate=1.25e9),
    Adapter("siw", "siw (soft iWARP) over ixgbe", (Port(
        "hsn0", "ixgbe", (*netdev(counts=ALL), *ethtool("tx_bytes_nic", "rx_bytes_nic", ALL, "wire")),
        device="siw0", rdma_driver="siw",
        link_layer="Ethernet", rate="10 Gb/sec (4X SDR)", speed_mbps=10000, pci="0000:07:00.0"),),
        "hsn0", _shares("hsn0", {"rdma", "kernel"}), "infiniband/sw/siw: kernel TCP sockets", fast="rdma", rate=1.25e9),
)  # fmt: skip

ADAPTERS = (*MLX, *OTHER)
