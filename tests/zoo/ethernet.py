"""Ethernet adapters with and without RDMA, and one driver that no catalogue can know. Sources as in
``fabric``.
"""

from dataclasses import replace

from tests.zoo.counters import ethtool, hw, netdev, port_data
from tests.zoo.parts import ALL, KERNEL, RDMA, Port, alone, of_rdma, stuck

_SERIAL = {"serial": "b4-96-91-ff-ff-a1-b2-c0"}


def _plain(driver: str, *more: object, speed: int = 25000, **changes: object) -> Port:
    files = (*netdev(), *more)
    port = Port(
        "hsn0",
        driver,
        files,
        speed_mbps=speed,
        pci="0000:18:00.0",
        identity=_SERIAL,
        function="physical",
    )
    return replace(port, **changes)


def _roce(driver: str, device: str, *more: object, speed: int = 100000, **changes: object) -> Port:
    guid = {"system_guid": "b696:91ff:fea1:b2c0", "node_guid": "b696:91ff:fea1:b2c0", **_SERIAL}
    return _plain(
        driver,
        *more,
        speed=speed,
        **{
            "device": device,
            "rdma_driver": driver,
            "link_layer": "Ethernet",
            "rate": f"{speed // 1000} Gb/sec (4X EDR)",
            "identity": guid,
            **changes,
        },
    )


_IP_OCTETS = (
    *hw("ip4OutOctets", "ip4InOctets", RDMA, header=44),
    *hw("ip4OutPkts", "ip4InPkts", RDMA, what="packets"),
    *hw("ip6OutOctets", "ip6InOctets", frozenset()),
    *hw("ip6OutPkts", "ip6InPkts", frozenset(), what="packets"),
)
_NIC = {
    "ice": ethtool("tx_bytes.nic", "rx_bytes.nic", ALL, "wire"),
    "ice-unified": ethtool("port-tx_bytes", "port-rx_bytes", ALL, "wire"),
    "i40e": ethtool("port.tx_bytes", "port.rx_bytes", ALL, "wire"),
    "bnxt": ethtool("tx_bytes", "rx_bytes", ALL, "wire", age_ms=1000.0),
    "hns3": (
        *ethtool("mac_tx_total_oct_num", "mac_rx_total_oct_num", ALL, "wire"),
        *ethtool("mac_tx_total_pkt_num", "mac_rx_total_pkt_num", ALL, "wire", what="packets"),
    ),
    "ionic": (
        *ethtool("octets_tx_total", "octets_rx_all", ALL, "wire", age_ms=1000.0),
        *ethtool("frames_tx_all", "frames_rx_all", ALL, "wire", age_ms=1000.0, what="packets"),
    ),
}
_HNS_PACKETS = hw("tx_pkt", "rx_pkt", RDMA, what="packets")

ADAPTERS = (
    alone(
        "ice",
        "ice (E810) without RDMA",
        _plain("ice", *_NIC["ice"]),
        "net/ethernet/intel/ice/ice_ethtool.c",
        turns=True,
        rate=3.1e9,
    ),
    alone(
        "ice-unified",
        "ice (E810) without RDMA, Intel's own driver with unified names",
        _plain("ice", *_NIC["ice-unified"]),
        "github intel/ethernet-linux-ice src/ice_ethtool.h",
        turns=True,
        rate=3.1e9,
    ),
    of_rdma(
        "irdma-e810",
        "irdma on E810, RoCE",
        _roce("ice", "rocep24s0f0", *_NIC["ice"], *_IP_OCTETS),
        "infiniband/hw/irdma (VSI statistics of IP), intel/ice/ice_ethtool.c",
    ),
    of_rdma(
        "irdma-e810-vf",
        "irdma on an E810 VF (iavf)",
        _roce(
            "iavf",
            "rocep24s0f0v0",
            function="",
            files=(*netdev("function", KERNEL, 2000.0), *_IP_OCTETS),
        ),
        "infiniband/hw/irdma; intel/iavf: no port statistics, its own from the PF every 2 s",
    ),
    of_rdma(
        "irdma-idpf",
        "irdma on an IPU E2000 (idpf)",
        _roce(
            "idpf",
            "rocep24s0f0",
            function="",
            files=(*netdev("stack", KERNEL, 10_000.0), *_IP_OCTETS),
        ),
        "intel/idpf/idpf_lib.c idpf_statistics_task: its own from the control plane every 10 s",
    ),
    of_rdma(
        "irdma-x722",
        "irdma on X722, iWARP",
        _roce("i40e", "iwp24s0f0", *_NIC["i40e"], *_IP_OCTETS, speed=10000, link_layer="Ethernet"),
        "infiniband/hw/irdma/i40iw_hw.c, intel/i40e/i40e_ethtool.c",
        rate=1.25e9,
    ),
    alone(
        "i40e",
        "i40e (X710)",
        _plain("i40e", *_NIC["i40e"], speed=10000),
        "net/ethernet/intel/i40e/i40e_ethtool.c",
        turns=True,
        rate=1.25e9,
    ),
    alone(
        "ixgbe",
        "ixgbe (X520)",
        _plain(
            "ixgbe",
            *ethtool("tx_bytes_nic", "rx_bytes_nic", ALL, "wire"),
            *ethtool("tx_pkts_nic", "rx_pkts_nic", ALL, "wire", what="packets"),
            speed=10000,
        ),
        "net/ethernet/intel/ixgbe/ixgbe_ethtool.c",
        turns=True,
        rate=1.25e9,
    ),
    alone(
        "igb",
        "igb",
        _plain(
            "igb",
            *ethtool("tx_bytes", "rx_bytes", ALL, "wire"),
            *ethtool("tx_packets", "rx_packets", ALL, "wire", what="packets"),
            speed=1000,
        ),
        "net/ethernet/intel/igb/igb_ethtool.c: gotc and gorc",
        turns=True,
        rate=1.25e8,
    ),
    alone(
        "e1000e",
        "e1000e",
        _plain("e1000e", speed=1000, files=netdev("wire", ALL)),
        "net/ethernet/intel/e1000e/netdev.c: get_stats64 gives the MAC's gotc and gorc",
        rate=1.25e8,
    ),
    alone(
        "tg3",
        "tg3",
        _plain("tg3", speed=1000, files=(*netdev("wire", ALL, 1000.0),)),
        "net/ethernet/broadcom/tg3.c: statistics block of the MAC, coalesced once a second",
        rate=1.25e8,
    ),
    alone(
        "bnxt_en",
        "bnxt_en without RDMA",
        _plain("bnxt_en", files=(*netdev("function", KERNEL, 1000.0), *_NIC["bnxt"])),
        "net/ethernet/broadcom/bnxt: ring statistics written by the chip once a second "
        "(stats-block-usecs)",
        turns=True,
        rate=3.1e9,
    ),
    alone(
        "bnxt_en-stopped",
        "bnxt_en with `ethtool -C NIC stats-block-usecs 0`",
        _plain("bnxt_en", files=stuck((*netdev("function", KERNEL, 1000.0), *_NIC["bnxt"]))),
        "net/ethernet/broadcom/bnxt/bnxt.c bnxt_timer, bnxt_hwrm_stat_ctx_alloc",
        turns=True,
        rate=3.1e9,
    ),
    of_rdma(
        "bnxt_re",
        "bnxt_re, RoCE",
        _roce(
            "bnxt_en",
            "bnxt_re0",
            files=(
                *netdev("function", KERNEL, 1000.0),
                *_NIC["bnxt"],
                *hw("tx_bytes", "rx_bytes", RDMA, age_ms=1000.0),
                *hw("tx_pkts", "rx_pkts", RDMA, what="packets", age_ms=1000.0),
            ),
        ),
        "infiniband/hw/bnxt_re/hw_counters.c: ucast bytes of the RoCE statistics context",
    ),
    of_rdma(
        "bnxt_re-vf",
        "bnxt_re on a VF",
        _roce(
            "bnxt_en",
            "bnxt_re0",
            function="",  # in a guest
            files=(
                *netdev("function", KERNEL, 2000.0),
                *hw("tx_bytes", "rx_bytes", RDMA, age_ms=1000.0),
                *hw("tx_pkts", "rx_pkts", RDMA, what="packets", age_ms=1000.0),
            ),
        ),
        "net/ethernet/broadcom/bnxt/bnxt.c bnxt_timer: rings' contexts, written once a second and "
        "added up once a second; no statistics of the port",
    ),
    of_rdma(
        "ionic",
        "ionic (Pensando), RoCE",
        _roce(
            "ionic",
            "ionic_0",
            files=(
                *netdev("function", KERNEL, 1000.0),
                *_NIC["ionic"],
                *hw("tx_rdma_ucast_bytes", "rx_rdma_ucast_bytes", RDMA),
                *hw("tx_rdma_ucast_pkts", "rx_rdma_ucast_pkts", RDMA, what="packets"),
            ),
        ),
        "pensando/ionic/ionic_stats.c; infiniband/hw/ionic/ionic_hw_stats.c (names from the "
        "firmware)",
        unsure=True,
    ),
    alone(
        "qede",
        "qede without RDMA",
        _plain("qede", files=netdev("function", KERNEL, 1000.0)),
        "net/ethernet/qlogic/qede: vport statistics, fetched once a second",
        turns=True,
        rate=3.1e9,
    ),
    of_rdma(
        "qedr",
        "qedr, RoCE",
        _roce("qede", "qedr0", files=netdev("function", KERNEL, 1000.0)),
        "infiniband/hw/qedr: no byte counter at all",
    ),
    alone(
        "hns3",
        "hns3 without RDMA",
        _plain("hns3", *_NIC["hns3"], speed=100000),
        "net/ethernet/hisilicon/hns3/hns3pf/hclge_main.c: MAC statistics",
        turns=True,
    ),
    of_rdma(
        "hns_roce",
        "hns_roce, PF",
        _roce("hns3", "hns_0", *_NIC["hns3"], *_HNS_PACKETS),
        "infiniband/hw/hns/hns_roce_main.c (packets alone); hclge_main.c g_mac_stats_string",
    ),
    of_rdma(
        "hns_roce-vf",
        "hns_roce, VF",
        _roce("hns3", "hns_1", *_HNS_PACKETS, function=""),
        "infiniband/hw/hns; hns3vf has no MAC statistics",
    ),
    alone(
        "cxgb4",
        "cxgb4 / iw_cxgb4, iWARP",
        _roce("cxgb4", "cxgb4_0", files=netdev("wire", ALL)),
        "net/ethernet/chelsio/cxgb4/cxgb4_main.c cxgb_get_stats: MPS port statistics, offloaded "
        "TCP included",
        fast="rdma",
    ),
    alone(
        "stmmac",
        "stmmac under a platform's name (RK3588)",
        Port("hsn0", "rk_gmac-dwmac", netdev(), speed_mbps=1000, subsystem="platform"),
        "net/ethernet/stmicro/stmmac/stmmac_main.c stmmac_get_stats64: sums of the queues",
        rate=1.25e8,
    ),
    of_rdma(
        "hiroce3",
        "hinic3 with hiroce3 (Huawei), RoCE",
        _roce("hisdk3", "hrn0", *_NIC["hns3"], rdma_driver="hisdk3"),
        "openEuler kernel huawei/hinic3/hinic3_ethtool_stats.c: octets of the MAC, of the PF",
    ),
    alone(
        "newcomer",
        "an unknown driver without RDMA",
        _plain("acme_eth"),
        "made up: what the kernel counts crossed it, and what else may have crossed is not known",
        rate=3.1e9,
        unsure=True,
        known=False,
    ),
    alone(
        "unknown",
        "an unknown driver with RDMA",
        _roce("acme_nic", "acme_0", *port_data(RDMA, "function")),
        "made up: the unit of its counters is not known",
        fast="rdma",
        known=False,
    ),
)
