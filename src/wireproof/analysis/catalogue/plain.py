"""Ethernet adapters without RDMA: what the kernel's own statistics count, and how late."""

from __future__ import annotations

from wireproof.analysis.catalogue.build import ethtool, netdev, of_the_port
from wireproof.analysis.catalogue.row import Family

__all__ = ["PLAIN"]

_LINUX = "linux drivers/net/"


def _software(name: str, drivers: tuple[str, ...], source: str) -> Family:
    """Counted by the driver for each packet that it hands over, at once."""
    return Family(
        name, drivers, (netdev(f"{_LINUX}{source}: software, live"),), source=_LINUX + source
    )


SFC = Family(
    name="Solarflare (sfc)",
    drivers=("sfc", "sfc_siena", "sfc-falcon", "sfc_falcon"),
    rows=(
        *of_the_port(
            ethtool(
                "port_tx_bytes",
                "port_rx_bytes",
                "linux drivers/net/ethernet/sfc/ef10.c efx_ef10_stat_desc: the port's MAC, written "
                "by the adapter once a second; Onload is in it",
                refresh_ms=1000.0,
            )
        ),
        netdev(
            "linux drivers/net/ethernet/sfc/ef10.c efx_ef10_update_stats_pf, _vf: the port's, or "
            "the virtual function's",
            carrier="any",
            level="function",
            refresh_ms=1000.0,
        ),
    ),
    source="linux drivers/net/ethernet/sfc",
)

MLXSW = Family(
    name="NVIDIA Spectrum switch ports (mlxsw)",
    drivers=("mlxsw*",),
    rows=(
        netdev(
            "linux drivers/net/ethernet/mellanox/mlxsw/spectrum.c mlxsw_sp_port_get_stats64: the "
            "port's IEEE 802.3 counters, kept for a second; forwarded traffic is in them",
            carrier="any",
            level="wire",
            refresh_ms=1000.0,
        ),
    ),
    source="linux drivers/net/ethernet/mellanox/mlxsw/spectrum.c",
)

ATLANTIC = Family(
    name="Aquantia and Marvell AQtion (atlantic)",
    drivers=("atlantic",),
    rows=(
        netdev(
            "linux drivers/net/ethernet/aquantia/atlantic/aq_nic.c aq_nic_update_ndev_stats: "
            "octets of the adapter's DMA, asked for once a second",
            level="function",
            refresh_ms=1000.0,
        ),
    ),
    source="linux drivers/net/ethernet/aquantia/atlantic",
)

THUNDERX = Family(
    name="Cavium ThunderX and Marvell OcteonTX2 (nicvf, rvu_nicpf, rvu_nicvf)",
    drivers=("nicvf", "thunder-nicvf", "rvu_nicpf", "rvu_nicvf"),
    rows=(
        netdev(
            "linux drivers/net/ethernet/cavium/thunder/nicvf_main.c nicvf_get_stats64, "
            "marvell/octeontx2/nic/otx2_common.c otx2_get_stats64: registers of the virtual NIC, "
            "on request",
            level="function",
        ),
    ),
    source="linux drivers/net/ethernet/cavium/thunder, drivers/net/ethernet/marvell/octeontx2/nic",
)

SOME = Family(
    name="other Ethernet adapters without RDMA",
    drivers=(
        "8139cp",
        "8139too",
        "alx",
        "am65-cpsw-nuss",
        "amd-xgbe",
        "aqc111",
        "asix",
        "atl1c",
        "atl1e",
        "ax88179_178a",
        "axienet",
        "b44",
        "bcmgenet",
        "bna",
        "cdc_ether",
        "cdc_ncm",
        "cpsw",
        "cxgb",
        "dpaa2-eth",
        "e100",
        "ehea",
        "fbnic",
        "fec",
        "forcedeth",
        "fsl-gianfar",
        "fsl_dpaa",
        "fsl_dpaa2_eth",
        "fsl_enetc",
        "fsl_enetc_vf",
        "hinic",
        "hinic3",
        "hns",
        "hns-nic",
        "ibmveth",
        "ibmvnic",
        "jme",
        "lan743x",
        "lan78xx",
        "macb",
        "mlxbf_gige",
        "mtk_soc_eth",
        "mvneta",
        "mvpp2",
        "myri10ge",
        "netdevsim",
        "netsec",
        "netxen_nic",
        "ngbe",
        "ngbevf",
        "niu",
        "nvethernet",
        "octeon_ep",
        "pcnet32",
        "qeth",
        "qlcnic",
        "rndis_host",
        "skge",
        "sky2",
        "smsc95xx",
        "st_gmac",
        "stmmaceth",
        "sunvnet",
        "tegra-mgbe",
        "thunderbolt-net",
        "tn40xx",
        "tulip",
        "txgbe",
        "txgbevf",
        "usbnet",
        "via-rhine",
        "via-velocity",
        "xgene-enet",
    ),
    rows=(
        netdev(
            "unchecked: linux include/uapi/linux/if_link.h rtnl_link_stats64 tx_bytes",
            refresh_ms=2000.0,
        ),
    ),
    source="unchecked: what the driver counts and how late; 2 s is the slowest known",
)

PLAIN = (
    SFC,
    MLXSW,
    ATLANTIC,
    THUNDERX,
    _software(
        "Realtek PCIe (r8169)",
        ("r8169", "r8125", "r8126", "r8127", "r8168"),
        "ethernet/realtek/r8169_main.c rtl8169_get_stats64",
    ),
    _software("Realtek USB (r8152)", ("r8152",), "usb/r8152.c rtl8152_get_stats"),
    _software(
        "Netronome (nfp)",
        ("nfp", "nfp_netvf"),
        "ethernet/netronome/nfp/nfp_net_common.c nfp_net_stat64",
    ),
    _software(
        "Cavium LiquidIO",
        ("liquidio", "liquidio_vf"),
        "ethernet/cavium/liquidio/lio_main.c liquidio_get_stats64",
    ),
    SOME,
)
