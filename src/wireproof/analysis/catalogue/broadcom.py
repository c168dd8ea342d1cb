"""Broadcom: bnxt (also RoCE), tg3, bnx2, bnx2x."""

from __future__ import annotations

from wireproof.analysis.catalogue.build import ethtool, hw_counters, netdev, of_the_port
from wireproof.analysis.catalogue.row import Family

__all__ = ["BROADCOM"]

BNXT = Family(
    name="Broadcom NetXtreme-C and -E, Thor (bnxt_en, bnxt_re)",
    drivers=("bnxt_en", "bnxt_re*"),
    rows=(
        *of_the_port(
            ethtool(
                "tx_bytes",
                "rx_bytes",
                "linux drivers/net/ethernet/broadcom/bnxt/bnxt_ethtool.c bnxt_port_stats_arr: the "
                "port's statistics, which bnxt_hwrm_port_qstats asks for once in stats-block-usecs "
                "(1 s; bnxt.c bnxt_timer)",
                refresh_ms=1000.0,
                misses="what the adapter's own switch turned round; it holds the traffic of all "
                "functions of the port",
            )
        ),
        hw_counters(
            "tx_bytes",
            "rx_bytes",
            "linux drivers/infiniband/hw/bnxt_re/hw_counters.c bnxt_re_ib_get_hw_stats: unicast "
            "bytes of the statistics context, which the adapter writes once a second (main.c "
            "bnxt_re_net_stats_ctx_alloc)",
            refresh_ms=1000.0,
            packets_tx="tx_pkts",
            packets_rx="rx_pkts",
        ),
        netdev(
            "linux drivers/net/ethernet/broadcom/bnxt/bnxt.c bnxt_get_ring_stats: rings' contexts, "
            "which the adapter writes once in stats-block-usecs (1 s) and bnxt_timer adds up once "
            "a second",
            refresh_ms=2000.0,
            misses="RDMA",
        ),
    ),
    source="linux drivers/net/ethernet/broadcom/bnxt, drivers/infiniband/hw/bnxt_re",
    note="With `ethtool -C NIC stats-block-usecs 0` its counters stand still.",
)

TG3 = Family(
    name="Broadcom NetXtreme (tg3)",
    drivers=("tg3",),
    rows=(
        netdev(
            "linux drivers/net/ethernet/broadcom/tg3.c tg3_get_nstats: tx_octets and rx_octets of "
            "the MAC, written by the adapter or fetched by tg3_periodic_fetch_stats once a second",
            carrier="any",
            level="wire",
            refresh_ms=1000.0,
        ),
    ),
    source="linux drivers/net/ethernet/broadcom/tg3.c",
)

BNX2 = Family(
    name="Broadcom NetXtreme II (bnx2, bnx2x)",
    drivers=("bnx2", "bnx2x"),
    rows=(
        netdev(
            "linux drivers/net/ethernet/broadcom/bnx2.c bnx2_get_stats64, bnx2x/bnx2x_stats.c: the "
            "adapter's statistics block, written once a second",
            level="function",
            refresh_ms=1000.0,
        ),
    ),
    source="linux drivers/net/ethernet/broadcom/bnx2.c, drivers/net/ethernet/broadcom/bnx2x",
)

BROADCOM = (BNXT, TG3, BNX2)
