"""RDMA-capable adapters of other makers: Slingshot, Pensando, Marvell, HiSilicon, Chelsio, Cisco,
Emulex.
"""

from __future__ import annotations

from wireproof.analysis.catalogue.build import ethtool, hw_counters, netdev, of_the_port, port_data
from wireproof.analysis.catalogue.row import Family, Row

__all__ = ["MAKERS"]

_TELEMETRY = "cxi/{device}/hni_"
_SIZES = (
    "27 35 36_to_63 64 65_to_127 128_to_255 256_to_511 512_to_1023 1024_to_2047 2048_to_4095 "
    "4096_to_8191 8192_to_max"
)


CXI = Family(
    name="HPE Slingshot, Cassini (cxi)",
    drivers=("cxi*",),
    rows=(
        *of_the_port(
            Row(
                tx=(_TELEMETRY + "sts_tx_ok_octets",),
                rx=(_TELEMETRY + "sts_rx_ok_octets",),
                packets_tx=tuple(f"{_TELEMETRY}tx_ok_{size}" for size in _SIZES.split()),
                packets_rx=tuple(f"{_TELEMETRY}rx_ok_{size}" for size in _SIZES.split()),
                carrier="any",
                level="function",
                width=56,
                source="github HewlettPackard/shs-cxi-driver "
                "drivers/net/ethernet/hpe/ss1/cass_telem.c telem_sysfs_item_retrieve: registers of "
                "the network interface, read on request, as VALUE@SECONDS; shs-cassini-headers "
                "include/cassini-telemetry-sysfs-defs.h: 56 bits; unchecked: whether a loopback "
                "inside the adapter counts",
            )
        ),
        netdev(
            "github HewlettPackard/shs-cxi-driver drivers/net/ethernet/hpe/ss1/cxi_eth_ops.c: "
            "software",
            misses="libfabric's cxi, the traffic of MPI",
        ),
    ),
    source="github HewlettPackard/shs-cxi-driver docs/ABI/testing/sysfs-class-cxi",
    blind=("rdma",),
    deviceless=True,
    note="Files of /sys/class/cxi/DEVICE/device/telemetry. Where they are hidden, MPI's traffic is "
    "not seen at all.",
)

IONIC = Family(
    name="AMD Pensando (ionic)",
    drivers=("ionic*",),
    rows=(
        ethtool(
            "octets_tx_total",
            "octets_rx_all",
            "linux drivers/net/ethernet/pensando/ionic/ionic_stats.c ionic_port_stats_desc: the "
            "port's block, which the firmware writes; unchecked: how often",
            packets_tx="frames_tx_all",
            packets_rx="frames_rx_all",
            refresh_ms=2000.0,
            quality="lower-bound",
        ),
        hw_counters(
            "tx_rdma_ucast_bytes",
            "rx_rdma_ucast_bytes",
            "linux drivers/infiniband/hw/ionic/ionic_hw_stats.c (6.18 and later; before that AMD's "
            "own driver): names and numbers are the firmware's, read on request; ionic_if.h "
            "ionic_lif_stats has the same names",
            packets_tx="tx_rdma_ucast_pkts",
            packets_rx="rx_rdma_ucast_pkts",
            misses="multicast",
        ),
        netdev(
            "linux drivers/net/ethernet/pensando/ionic/ionic_lif.c ionic_get_stats64: the "
            "firmware's block of the function, refreshed once a second; unchecked: the time",
            level="function",
            refresh_ms=2000.0,
            misses="RDMA",
        ),
    ),
    source="linux drivers/net/ethernet/pensando/ionic, drivers/infiniband/hw/ionic",
    note="Its port_xmit_data is empty.",
)

QEDE = Family(
    name="Marvell FastLinQ (qede, qedr)",
    drivers=("qede", "qedr*"),
    rows=(
        netdev(
            "linux drivers/net/ethernet/qlogic/qede/qede_main.c qede_get_stats64: the function's "
            "Ethernet statistics; on request, since linux 6.5 once a second",
            level="function",
            refresh_ms=1000.0,
            misses="RDMA",
        ),
    ),
    source="linux drivers/net/ethernet/qlogic/qede, drivers/infiniband/hw/qedr (no hw_counters)",
    blind=("rdma",),
)

HNS3 = Family(
    name="HiSilicon (hns3, hns_roce)",
    drivers=("hns3", "hns_roce*", "hclge*"),
    rows=(
        *of_the_port(
            ethtool(
                "mac_tx_total_oct_num",
                "mac_rx_total_oct_num",
                "linux drivers/net/ethernet/hisilicon/hns3/hns3pf/hclge_main.c g_mac_stats_string: "
                "the MAC, read on request",
                packets_tx="mac_tx_total_pkt_num",
                packets_rx="mac_rx_total_pkt_num",
            )
        ),
        netdev(
            "linux drivers/net/ethernet/hisilicon/hns3/hns3_enet.c hns3_nic_get_stats64: rings, "
            "live",
            misses="RDMA",
        ),
    ),
    source="linux drivers/net/ethernet/hisilicon/hns3; drivers/infiniband/hw/hns: hw_counters of "
    "packets, not bytes",
    blind=("rdma",),
)

CXGB4 = Family(
    name="Chelsio T4 to T6 (cxgb4, iw_cxgb4)",
    drivers=("cxgb4", "iw_cxgb4*"),
    rows=(
        netdev(
            "linux drivers/net/ethernet/chelsio/cxgb4/cxgb4_main.c cxgb_get_stats, t4_hw.c "
            "t4_get_port_stats: octets of the port's MAC, live; iWARP is in them",
            carrier="any",
            level="wire",
        ),
    ),
    source="linux drivers/net/ethernet/chelsio/cxgb4, drivers/infiniband/hw/cxgb4 (hw_counters of "
    "segments, not bytes)",
)

CXGB4VF = Family(
    name="Chelsio virtual functions (cxgb4vf)",
    drivers=("cxgb4vf",),
    rows=(
        netdev(
            "linux drivers/net/ethernet/chelsio/cxgb4vf/cxgb4vf_main.c cxgb4vf_get_stats: the "
            "firmware's numbers, on request",
            level="function",
        ),
    ),
    source="linux drivers/net/ethernet/chelsio/cxgb4vf",
)

ENIC = Family(
    name="Cisco VIC (enic, usNIC)",
    drivers=("enic", "usnic*"),
    rows=(
        netdev(
            "linux drivers/net/ethernet/cisco/enic/enic_main.c enic_get_stats: the virtual NIC's "
            "own, on request",
            level="function",
            misses="usNIC, whose queues are other virtual functions",
        ),
    ),
    source="linux drivers/net/ethernet/cisco/enic, drivers/infiniband/hw/usnic (no counters)",
    blind=("rdma",),
    deviceless=True,
)

BE2NET = Family(
    name="Emulex OneConnect (be2net, ocrdma)",
    drivers=("be2net", "ocrdma*"),
    rows=(
        port_data(
            "linux drivers/infiniband/hw/ocrdma/ocrdma_stats.c ocrdma_sysfs_xmit_data: bytes of "
            "send, write and read response divided by 4, cut to 32 bits, asked for once a second "
            "(ocrdma_update_stats)",
            "rdma",
            "function",
            width=32,
            refresh_ms=1000.0,
        ),
        netdev(
            "linux drivers/net/ethernet/emulex/benet/be_main.c be_get_stats64: queues, live",
            misses="RDMA",
        ),
    ),
    source="linux drivers/net/ethernet/emulex/benet, drivers/infiniband/hw/ocrdma",
)

NES = Family(
    name="NetEffect (iw_nes) and Chelsio T3 (cxgb3, iw_cxgb3)",
    drivers=("iw_nes*", "cxgb3", "iw_cxgb3*"),
    rows=(netdev("unchecked: the driver's own statistics", refresh_ms=2000.0, misses="RDMA"),),
    source="unchecked",
    blind=("rdma",),
)

MAKERS = (CXI, IONIC, QEDE, HNS3, CXGB4, CXGB4VF, ENIC, BE2NET, NES)
