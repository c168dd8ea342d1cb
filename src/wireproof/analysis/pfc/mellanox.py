"""NVIDIA and Mellanox: ConnectX-4 and later (mlx5), ConnectX-3 (mlx4)."""

from __future__ import annotations

from wireproof.analysis.pfc.family import Dropped, PfcFamily, names

__all__ = ["MELLANOX"]

_HW = "ib/{device}/{port}/hw_counters/"

MLX5 = PfcFamily(
    name="NVIDIA ConnectX-4 and later, BlueField (mlx5)",
    drivers=("mlx5_core*",),
    frames=(names("tx_prio{p}_pause"), names("rx_prio{p}_pause")),
    resumes=((), names("rx_prio{p}_pause_transition")),
    paused_us=(names("tx_prio{p}_pause_duration"), names("rx_prio{p}_pause_duration")),
    load=(names("tx_prio{p}_bytes"), names("rx_prio{p}_bytes")),
    drops=(
        Dropped("rx", names("rx_prio{p}_discards")),
        Dropped("rx", names("rx_prio{p}_buf_discard"), proves=False),
        Dropped("rx", names("rx_prio{p}_cong_discard"), proves=False),
        Dropped("rx", names("rx_discards_phy")),
        Dropped("rx", names("rx_out_of_buffer"), proves=False),
        Dropped("rx", names(f"{_HW}out_of_buffer"), proves=False),
        Dropped("tx", names("tx_discards_phy")),
    ),
    lost=tuple(
        names(_HW + one) for one in ("out_of_sequence", "packet_seq_err", "local_ack_timeout_err")
    ),
    marks=tuple(
        names(_HW + one) for one in ("np_cnp_sent", "rp_cnp_handled", "np_ecn_marked_roce_packets")
    ),
    link=(names("tx_global_pause"), names("rx_global_pause")),
    storms=(names("tx_pause_storm_warning_events"), names("tx_pause_storm_error_events")),
    shown_when_on=True,
    source="linux drivers/net/ethernet/mellanox/mlx5/core/en_stats.c pport_per_prio_pfc_stats_desc,"
    " pport_per_prio_traffic_stats_desc, mlx5e_grp_per_prio_pfc_fill_strings; counters.rst",
    note="Pause frames of Xoff and Xon are one counter; that a pause ended is counted of those "
    "received alone, so a host that sends pauses leaves its own Xon unproven. A priority whose PFC "
    "is off has no pause counters.",
)

MLX4 = PfcFamily(
    name="Mellanox ConnectX-3 (mlx4)",
    drivers=("mlx4_en*", "mlx4_core*"),
    frames=(names("tx_pause_prio_{p}"), names("rx_pause_prio_{p}")),
    resumes=(names("tx_pause_transition_prio_{p}"), names("rx_pause_transition_prio_{p}")),
    paused_us=(names("tx_pause_duration_prio_{p}"), names("rx_pause_duration_prio_{p}")),
    load=(names("tx_prio_{p}_bytes"), names("rx_prio_{p}_bytes")),
    drops=(
        Dropped("rx", names("rx_over_errors")),
        Dropped("rx", names("rx_dropped"), proves=False),
        Dropped("tx", names("tx_dropped")),
    ),
    lost=tuple(
        names(_HW + one) for one in ("sq_num_oos", "sq_num_to", "rq_num_oos", "sq_num_rree")
    ),
    link=(names("tx_pause"), names("rx_pause")),
    refresh_ms=250.0,
    source="linux drivers/net/ethernet/mellanox/mlx4/en_ethtool.c main_strings",
    unchecked=(
        "which counter shows packets that found no buffer: rx_over_errors is taken",
        "names of hw_counters (sq_num_oos ...), from memory",
        "that tx_pause_transition counts the ends of pauses as rx_pause_transition of mlx5 does",
    ),
)

MELLANOX = (MLX5, MLX4)
