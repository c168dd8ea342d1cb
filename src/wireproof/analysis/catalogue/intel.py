"""Intel: E810 and E800 (ice, irdma), X710 and X722 (i40e, i40iw), 10 and 1 Gb/s, virtual
functions.
"""

from __future__ import annotations

from typing import Any

from wireproof.analysis.catalogue.build import ethtool, hw_counters, netdev
from wireproof.analysis.catalogue.row import Family, Row

__all__ = ["INTEL"]

_OCTETS = ("ip4OutOctets ip6OutOctets", "ip4InOctets ip6InOctets")
_PACKETS: dict[str, Any] = {
    "packets_tx": "ip4OutPkts ip6OutPkts",
    "packets_rx": "ip4InPkts ip6InPkts",
}
_IRDMA = (
    "linux drivers/infiniband/hw/irdma/verbs.c irdma_hw_stat_descs, irdma_get_hw_stats (48-bit "
    "registers added up to 64, read on request)"
)
_TURNED = (
    "what the adapter's own switch turned round; it holds the traffic of all functions of the port"
)
_PORT = "linux 5.14 and later: of the port"
_DEVICE = "i40iw up to linux 5.13 and irdma outside the kernel: of the device too"


def _irdma() -> tuple[Row, Row]:
    """Octets of IP with its header, RoCE or iWARP above it; which folder holds them depends on the
    kernel's age.
    """
    misses = "14 to 18 bytes of Ethernet header and the check sequence of each packet; multicast"
    port = hw_counters(*_OCTETS, f"{_IRDMA}; {_PORT}", misses=misses, **_PACKETS)
    device = hw_counters(*_OCTETS, f"{_IRDMA}; {_DEVICE}", of_port=False, misses=misses, **_PACKETS)
    return port, device


ICE = Family(
    name="Intel E810, E822, E825, E830 (ice, irdma)",
    drivers=("ice", "ice.*", "irdma*"),
    rows=(
        ethtool(
            "tx_bytes.nic",
            "rx_bytes.nic",
            "linux drivers/net/ethernet/intel/ice/ice_ethtool.c ice_gstrings_pf_stats; ice_main.c "
            "ice_update_pf_stats: GLPRT_GOTC and GLPRT_GORC of the MAC, 40 bits added up to 64, "
            "read on request",
            misses=_TURNED,
        ),
        ethtool(
            "port-tx_bytes",
            "port-rx_bytes",
            "github intel/ethernet-linux-ice src/ice_ethtool.h ICE_PORT_TX_BYTES,"
            " ICE_PORT_RX_BYTES: "
            "the same registers, by the unified names of a driver built with UNIFIED_STATS",
            misses=_TURNED,
        ),
        *_irdma(),
        netdev(
            "linux drivers/net/ethernet/intel/ice/ice_main.c ice_get_stats64: rings, live. In "
            "github intel/ethernet-linux-ice src/ice_main.c ice_update_vsi_ring_stats, 1.14.9 and "
            "later, the registers of the function as the watchdog last read them, every 1 to 2 s",
            misses="RDMA (unchecked: of Intel's own driver)",
        ),
    ),
    source="linux drivers/net/ethernet/intel/ice, drivers/infiniband/hw/irdma; github "
    "intel/ethernet-linux-ice src",
    note="Intel's own driver from 1.14.9 on shows the interface's statistics 1 to 2 s late; which "
    "driver runs is not recorded. What crossed is taken from the port's row, which both drivers "
    "read on request.",
)

I40E = Family(
    name="Intel X710, XL710, X722 (i40e; irdma or i40iw on X722)",
    drivers=("i40e", "i40iw*"),
    rows=(
        ethtool(
            "port.tx_bytes",
            "port.rx_bytes",
            "linux drivers/net/ethernet/intel/i40e/i40e_ethtool.c i40e_gstrings_stats; i40e_main.c "
            "i40e_update_pf_stats: GLPRT_GOTC and GLPRT_GORC of the MAC, 48 bits added up to 64, "
            "read on request",
            misses="what the adapter's own switch turned round; it holds the traffic of all "
            "functions of the port",
        ),
        *_irdma(),
        netdev(
            "linux drivers/net/ethernet/intel/i40e/i40e_main.c i40e_get_netdev_stats_struct: rings",
            misses="RDMA",
        ),
    ),
    source="linux drivers/net/ethernet/intel/i40e, drivers/infiniband/hw/irdma",
)

IDPF = Family(
    name="Intel IPU E2000 (idpf, irdma)",
    drivers=("idpf*",),
    rows=(
        *_irdma(),
        netdev(
            "linux drivers/net/ethernet/intel/idpf/idpf_lib.c idpf_get_stats64, "
            "idpf_statistics_task: the control plane's numbers, asked for every 10 s (a change to "
            "250 ms was proposed)",
            refresh_ms=10000.0,
            misses="RDMA",
        ),
    ),
    source="linux drivers/net/ethernet/intel/idpf, drivers/infiniband/hw/irdma",
)

IAVF = Family(
    name="Intel virtual functions of E810 and X710 (iavf)",
    drivers=("iavf", "i40evf"),
    rows=(
        *_irdma(),
        netdev(
            "linux drivers/net/ethernet/intel/iavf/iavf_virtchnl.c VIRTCHNL_OP_GET_STATS: the "
            "physical function's numbers of this one, asked for by the watchdog every 2 s",
            level="function",
            refresh_ms=2000.0,
            misses="RDMA",
        ),
    ),
    source="linux drivers/net/ethernet/intel/iavf",
)

_MAC_OF_FUNCTION = (
    "; unchecked: whether frames that the internal switch turned round are in it, "
    "so it is taken for the function's"
)

IXGBE = Family(
    name="Intel 82598, 82599, X540, X550, E610 (ixgbe)",
    drivers=("ixgbe",),
    rows=(
        ethtool(
            "tx_bytes_nic",
            "rx_bytes_nic",
            "linux drivers/net/ethernet/intel/ixgbe/ixgbe_ethtool.c ixgbe_gstrings_stats: GOTC and "
            "GORC of the MAC, added up on request and every 2 s" + _MAC_OF_FUNCTION,
            level="function",
            packets_tx="tx_pkts_nic",
            packets_rx="rx_pkts_nic",
            fcs=True,
        ),
        netdev(
            "linux drivers/net/ethernet/intel/ixgbe/ixgbe_main.c ixgbe_get_stats64: rings, live"
        ),
    ),
    source="linux drivers/net/ethernet/intel/ixgbe",
)

IGB = Family(
    name="Intel 82575 to I354 and I225, I226 (igb, igc)",
    drivers=("igb", "igc"),
    rows=(
        ethtool(
            "tx_bytes",
            "rx_bytes",
            "linux drivers/net/ethernet/intel/igb/igb_ethtool.c igb_gstrings_stats, "
            "igc/igc_ethtool.c: GOTC and GORC of the "
            "MAC, added up on request and every 2 s" + _MAC_OF_FUNCTION,
            level="function",
            packets_tx="tx_packets",
            packets_rx="rx_packets",
            fcs=True,
        ),
        netdev(
            "linux drivers/net/ethernet/intel/igb/igb_main.c igb_update_stats, igc/igc_main.c: "
            "rings, live"
        ),
    ),
    source="linux drivers/net/ethernet/intel/igb, drivers/net/ethernet/intel/igc",
)

E1000E = Family(
    name="Intel 1 Gb/s client adapters (e1000e)",
    drivers=("e1000e",),
    rows=(
        netdev(
            "linux drivers/net/ethernet/intel/e1000e/netdev.c e1000e_get_stats64: GOTC and GORC of "
            "the MAC, live",
            carrier="any",
            level="wire",
            fcs=True,
        ),
    ),
    source="linux drivers/net/ethernet/intel/e1000e",
    note="Virtual machines have emulated ones: then the wire is the hypervisor's.",
)

E1000 = Family(
    name="Intel 8254x and its emulations (e1000)",
    drivers=("e1000",),
    rows=(
        netdev(
            "linux drivers/net/ethernet/intel/e1000/e1000_main.c e1000_update_stats: GOTC and GORC "
            "of the MAC, every 2 s (e1000_watchdog)",
            carrier="any",
            level="function",
            refresh_ms=2000.0,
            fcs=True,
        ),
    ),
    source="linux drivers/net/ethernet/intel/e1000",
    note="Mostly an emulation: its wire is the hypervisor's.",
)

INTEL_VF = Family(
    name="Intel virtual functions of 1 and 10 Gb/s (igbvf, ixgbevf)",
    drivers=("igbvf", "ixgbevf"),
    rows=(
        netdev(
            "linux drivers/net/ethernet/intel/ixgbevf/ixgbevf_main.c ixgbevf_get_stats, "
            "igbvf/netdev.c: rings, live",
        ),
    ),
    source="linux drivers/net/ethernet/intel/ixgbevf, drivers/net/ethernet/intel/igbvf",
)

FM10K = Family(
    name="Intel FM10000 (fm10k)",
    drivers=("fm10k",),
    rows=(
        netdev(
            "linux drivers/net/ethernet/intel/fm10k/fm10k_netdev.c fm10k_get_stats64: rings, live"
        ),
    ),
    source="linux drivers/net/ethernet/intel/fm10k",
)

INTEL = (ICE, I40E, IDPF, IAVF, IXGBE, IGB, E1000E, E1000, INTEL_VF, FM10K)
