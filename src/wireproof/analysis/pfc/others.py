"""Broadcom, Chelsio, Pensando, Marvell (QLogic), Huawei."""

from __future__ import annotations

from wireproof.analysis.pfc.family import Dropped, PfcFamily, names

__all__ = ["OTHERS"]

_HW = "ib/{device}/{port}/hw_counters/"

BNXT = PfcFamily(
    name="Broadcom NetXtreme-C and -E, Thor (bnxt_en)",
    drivers=("bnxt_en", "bnge"),
    frames=(names("tx_pfc_ena_frames_pri{p}"), names("rx_pfc_ena_frames_pri{p}")),
    toggles=(names("pfc_pri{p}_tx_transitions"), names("pfc_pri{p}_rx_transitions")),
    paused_us=(names("pfc_pri{p}_tx_duration_us"), names("pfc_pri{p}_rx_duration_us")),
    load=(names("tx_bytes_pri{p}"), names("rx_bytes_pri{p}")),
    drops=(
        Dropped("rx", names("rx_stat_discard")),
        Dropped("rx", names("rx_total_ring_discards", "rx_total_discard_pkts"), proves=False),
        Dropped("rx", names(f"{_HW}rx_roce_discards"), proves=False),
        Dropped("tx", names("tx_stat_discard")),
        Dropped("tx", names("tx_total_ring_discards", "tx_total_discard_pkts"), proves=False),
        Dropped("tx", names(f"{_HW}tx_roce_discards"), proves=False),
    ),
    lost=tuple(
        names(_HW + one)
        for one in ("to_retransmits", "seq_err_naks_rcvd", "max_retry_exceeded", "oos_drop_count")
    ),
    marks=(
        names(f"{_HW}tx_cnp_pkts"),
        names(f"{_HW}rx_cnp_pkts"),
        names(f"{_HW}rx_ecn_marked_pkts"),
    ),
    link=(names("tx_pause_frames"), names("rx_pause_frames")),
    storms=(names("continuous_pause_events"), names("continuous_roce_pause_events")),
    refresh_ms=1000.0,
    source="linux drivers/net/ethernet/broadcom/bnxt/bnxt_ethtool.c bnxt_port_stats_arr, "
    "BNXT_RX_STATS_EXT_PFC_ENTRIES; what a transition is: FreeBSD sys/dev/bnxt bnxt_sysctl.c; "
    "linux drivers/infiniband/hw/bnxt_re/hw_counters.c",
    unchecked=(
        "that rx_pause_frames holds no PFC frames",
        "from which length of pause on continuous_pause_events counts",
    ),
    note="A transition is counted when a pause begins and when it ends: two of them are one end.",
)

CXGB4 = PfcFamily(
    name="Chelsio T4, T5, T6 (cxgb4)",
    drivers=("cxgb4",),
    frames=(
        names("tx_ppp{p}_frames", "TxPPP{p}Frames"),
        names("rx_ppp{p}_frames", "RxPPP{p}Frames"),
    ),
    drops=(
        *(
            Dropped(
                "rx", names(f"rx_bg{group}_frames_dropped", f"RxBG{group}FramesDropped"), group == 0
            )
            for group in range(4)
        ),
        Dropped("tx", names("tx_frames_dropped", "TxFramesDropped")),
    ),
    link=(names("tx_pause_frames", "TxPauseFrames"), names("rx_pause_frames", "RxPauseFrames")),
    source="linux drivers/net/ethernet/chelsio/cxgb4/cxgb4_ethtool.c stats_strings (before 4.4 in "
    "cxgb4_main.c, in other letters)",
    unchecked=("that pause frames of the link hold no PFC frames",),
    note="Xoff and Xon are one counter and no end of a pause is counted: condition 2 stays "
    "unproven.",
)

IONIC = PfcFamily(
    name="AMD Pensando (ionic)",
    drivers=("ionic",),
    paused_us=(names("tx_pripause_{p}_1us_count"), names("rx_pripause_{p}_1us_count")),
    load=(names("frames_tx_pri_{p}"), names("frames_rx_pri_{p}")),
    total=(names("frames_tx_pripause"), names("frames_rx_pripause")),
    drops=(
        Dropped("rx", names("frames_rx_dropped")),
        Dropped("rx", names("hw_rx_dropped"), proves=False),
        Dropped("tx", names("hw_tx_dropped")),
    ),
    lost=tuple(
        names(_HW + one)
        for one in ("tx_rdma_ack_timeout", "req_rx_pkt_seq_err", "resp_rx_outouf_seq")
    ),
    link=(names("frames_tx_pause"), names("frames_rx_pause")),
    refresh_ms=1000.0,
    source="linux drivers/net/ethernet/pensando/ionic/ionic_stats.c ionic_port_stats_desc",
    unchecked=("names of hw_counters: they come from the firmware",),
    note="Time of pause by priority, and no frames: that a pause ended is not counted.",
)

QEDE = PfcFamily(
    name="Marvell FastLinQ (qede)",
    drivers=("qede",),
    total=(names("tx_pfc_frames"), names("rx_pfc_frames")),
    drops=(
        Dropped("rx", names("brb_discards")),
        Dropped("rx", names("brb_truncates"), proves=False),
        Dropped("rx", names("no_buff_discards"), proves=False),
        Dropped("tx", names("tx_err_drop_pkts")),
    ),
    link=(names("tx_pause_frames"), names("rx_pause_frames")),
    refresh_ms=1000.0,
    source="linux drivers/net/ethernet/qlogic/qede/qede_ethtool.c qede_stats_arr",
    unchecked=("that rx_pause_frames holds no PFC frames",),
    note="PFC frames are not counted by priority: conditions 2 and 3 stay unproven.",
)

HNS3 = PfcFamily(
    name="HiSilicon Kunpeng (hns3)",
    drivers=("hns3",),
    frames=(names("mac_tx_pfc_pri{p}_pkt_num"), names("mac_rx_pfc_pri{p}_pkt_num")),
    link=(names("mac_tx_mac_pause_num"), names("mac_rx_mac_pause_num")),
    source="linux drivers/net/ethernet/hisilicon/hns3/hns3pf/hclge_main.c g_mac_stats_string",
    unchecked=("counters of packets that found no buffer: none is taken",),
    note="Xoff and Xon are one counter and drops are not read: conditions 1 and 2 stay unproven.",
)

OTHERS = (BNXT, CXGB4, IONIC, QEDE, HNS3)
