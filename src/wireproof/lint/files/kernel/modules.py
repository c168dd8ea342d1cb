"""Kernel modules of HPC networks: their parameters and the values that these take."""

from __future__ import annotations

from dataclasses import dataclass

from wireproof.lint.files.nearest import listed

__all__ = ["KNOWN", "LIMITS", "Limit"]


@dataclass(frozen=True, slots=True)
class Limit:
    """What one number may be: one of ``one_of``, or from ``low`` to ``high``, in steps of
    ``multiple``, perhaps a power of two. ``words`` says it.
    """

    words: str
    low: int | None = None
    high: int | None = None
    one_of: tuple[int, ...] = ()
    multiple: int = 1
    power_of_two: bool = False

    def holds(self, value: int) -> bool:
        """Whether ``value`` is allowed."""
        if self.one_of:
            return value in self.one_of
        if (self.low is not None and value < self.low) or (
            self.high is not None and value > self.high
        ):
            return False
        return value % self.multiple == 0 and (
            not self.power_of_two or (value > 0 and value & (value - 1) == 0)
        )


# Names of all driver generations: old and new ones are both right somewhere. Sources: the drivers'
# own listings (modinfo), hfi1 0.9-253 to 10.11 and CN5000; rv; upstream irdma, mlx4, mlx5,
# ib_ipoib.
KNOWN: dict[str, frozenset[str]] = {
    "hfi1": listed(
        """aspm cache_size cap_mask cu desct_intr eager_buffer_size hdrq_entsize ipoib_accel
        kdeth_qp krcvqs link_crc_mask lkey_table_size loopback max_ahs max_cqes max_cqs
        max_mcast_grps max_mcast_qp_attached max_mtu max_pds max_qp_wrs max_qps max_sges
        max_srq_sges max_srq_wrs max_srqs num_rcv_contexts num_sdma num_user_contexts num_vls
        pcie_caps pcie_ctle pcie_force pcie_pset pcie_retry pcie_target piothreshold
        port_reorder qp_table_size rcv_intr_count rcv_intr_dynamic rcv_intr_timeout rcvarr_split
        rcvhdrcnt sdma_comp_size sdma_descq_cnt sdma_idle_cnt sge_copy_mode use_bulksvc
        user_credit_return_threshold wss_clean_period wss_threshold"""
    ),
    "rv": listed(
        """num_conn q_depth mr_cache_size mr_cache_size_gpu enable_user_mr service_id
        fr_batch_size fr_page_list_len fr_pool_wm_lo gpu_cache_size gpu_rdma_cache_size"""
    ),
    "irdma": listed(
        """roce_ena limits_sel gen1_limits_sel fragment_count_limit max_rdma_vfs
        resource_profile roce_port_cfg en_rem_endpoint_trk dcqcn_enable dcqcn_cc_cfg_valid
        dcqcn_F dcqcn_T dcqcn_B dcqcn_min_dec_factor dcqcn_min_rate_MBps dcqcn_rai_factor
        dcqcn_hai_factor dcqcn_rreduce_mperiod push_mode upload_context debug"""
    ),
    "ib_ipoib": listed(
        """send_queue_size recv_queue_size debug_level mcast_debug_level data_debug_level
        cm_data_debug_level max_nonsrq_conn_qp ipoib_enhanced"""
    ),
    "mlx5_core": listed("debug_mask prof_sel node_guid guids probe_vf num_of_groups"),
    "mlx4_core": listed(
        """debug_level msi_x num_vfs port_type_array probe_vf log_num_mgm_entry_size
        enable_64b_cqe_eqe enable_4k_uar log_num_mac log_num_vlan use_prio log_mtts_per_seg
        internal_err_reset log_num_qp log_num_srq log_rdmarc_per_qp log_num_cq log_num_mcg
        log_num_mpt log_num_mtt enable_qos high_rate_steer fast_drop block_loopback roce_mode
        rr_proto ud_gid_type sr_iov set_4k_mtu enable_sys_tune"""
    ),
    "i40e": listed("debug max_vfs VMDQ"),
    "ice": listed("debug fwlog_level fwlog_events"),
    "bnxt_en": frozenset(["debug"]),
}

# hfi1: reference listing of the driver (modinfo) and its init code: hfi1_max_mtu, rcvhdrcnt (32 < n
# <= 16352, multiple of 32), num_vls (1-8), hdrq_entsize (2, 16 or 32 dwords).
LIMITS: dict[tuple[str, str], Limit] = {
    ("hfi1", "max_mtu"): Limit("2048, 4096, 8192 or 10240 bytes", one_of=(2048, 4096, 8192, 10240)),
    ("hfi1", "num_vls"): Limit("1 to 8", 1, 8),
    ("hfi1", "hdrq_entsize"): Limit("2, 16 or 32 (double words)", one_of=(2, 16, 32)),
    ("hfi1", "rcvhdrcnt"): Limit("a multiple of 32 from 64 to 16352", 64, 16352, multiple=32),
    ("hfi1", "eager_buffer_size"): Limit(
        "a power of two from 4096 to 67108864 bytes", 4096, 64 << 20, power_of_two=True
    ),
    ("hfi1", "sdma_descq_cnt"): Limit(
        "a power of two from 64 to 32768", 64, 32768, power_of_two=True
    ),
    ("hfi1", "num_sdma"): Limit("0 (all) to 16", 0, 16),
    ("hfi1", "rcvarr_split"): Limit("0 to 100 per cent", 0, 100),
    ("hfi1", "user_credit_return_threshold"): Limit("0 to 100 per cent", 0, 100),
    ("hfi1", "rcv_intr_count"): Limit("1 to 255 packets", 1, 255),
    ("hfi1", "sge_copy_mode"): Limit("0, 1 or 2", 0, 2),
    ("hfi1", "pcie_caps"): Limit(
        "payload code 0 to 3 in the low four bits, read request code 0 to 5 in the high four "
        "(0x51 is 256 and 4096)",
        one_of=tuple(request << 4 | payload for request in range(6) for payload in range(4)),
    ),
    ("hfi1", "pcie_target"): Limit("0 (skip) to 3", 0, 3),
    ("hfi1", "lkey_table_size"): Limit("1 to 23 bits", 1, 23),
    ("hfi1", "cu"): Limit("a power of two from 1 to 128", 1, 128, power_of_two=True),
    ("hfi1", "aspm"): Limit("0, 1 or 2", 0, 2),
    ("rv", "num_conn"): Limit("1 to 16 queue pairs per pair of nodes", 1, 16),
    ("irdma", "limits_sel"): Limit("0 to 7", 0, 7),
    ("irdma", "gen1_limits_sel"): Limit("0 to 7", 0, 7),
}
