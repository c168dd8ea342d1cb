"""Names below /proc/sys that tuning files set: Linux 2.6.32 to 6.18, removed ones included."""

from __future__ import annotations

from wireproof.lint.files.nearest import listed

__all__ = ["NAMES", "REMOVED", "TRIPLES"]

# Directory (dotted): its files. Source: /proc/sys of Linux 6.18 and
# Documentation/networking/ip-sysctl of older ones.
NAMES: dict[str, frozenset[str]] = {
    "net.core": listed(
        """
        bpf_jit_enable bpf_jit_harden bpf_jit_kallsyms bpf_jit_limit busy_poll busy_read
        default_qdisc dev_weight dev_weight_rx_bias dev_weight_tx_bias devconf_inherit_init_net
        divert_version fb_tunnels_only_for_init_net flow_limit_cpu_bitmap flow_limit_table_len
        gro_normal_batch high_order_alloc_disable hot_list_length max_skb_frags mem_pcpu_rsv
        message_burst message_cost netdev_budget netdev_budget_usecs netdev_max_backlog
        netdev_rss_key netdev_tstamp_prequeue netdev_unregister_timeout_secs optmem_max rmem_default
        rmem_max rps_default_mask rps_sock_flow_entries skb_defer_max somaxconn tstamp_allow_data
        txrehash warnings wmem_default wmem_max xfrm_acq_expires xfrm_aevent_etime
        xfrm_aevent_rseqth xfrm_larval_drop"""
    ),
    "net.ipv4": listed(
        """
        cipso_cache_bucket_size cipso_cache_enable cipso_rbm_optfmt cipso_rbm_strictvalid
        fib_multipath_hash_fields fib_multipath_hash_policy fib_multipath_hash_seed
        fib_multipath_use_neigh fib_notify_on_flag_change fib_sync_mem fwmark_reflect
        icmp_echo_enable_probe icmp_echo_ignore_all icmp_echo_ignore_broadcasts
        icmp_errors_use_inbound_ifaddr icmp_ignore_bogus_error_responses icmp_msgs_burst
        icmp_msgs_per_sec icmp_ratelimit icmp_ratemask igmp_link_local_mcast_reports
        igmp_max_memberships igmp_max_msf igmp_qrv inet_peer_maxttl inet_peer_minttl
        inet_peer_threshold ip_always_defrag ip_autobind_reuse ip_conntrack_max ip_default_ttl
        ip_dynaddr ip_early_demux ip_forward ip_forward_update_priority ip_forward_use_pmtu
        ip_local_port_range ip_local_reserved_ports ip_no_pmtu_disc ip_nonlocal_bind ip_queue_maxlen
        ip_unprivileged_port_start ipfrag_high_thresh ipfrag_low_thresh ipfrag_max_dist
        ipfrag_secret_interval ipfrag_time nexthop_compat_mode ping_group_range raw_l3mdev_accept
        tcp_abc tcp_abort_on_overflow tcp_adv_win_scale tcp_allowed_congestion_control tcp_app_win
        tcp_autocorking tcp_available_congestion_control tcp_available_ulp tcp_backlog_ack_defer
        tcp_base_mss tcp_bic tcp_bic_beta tcp_bic_fast_convergence tcp_bic_low_window
        tcp_challenge_ack_limit tcp_child_ehash_entries tcp_comp_sack_delay_ns tcp_comp_sack_nr
        tcp_comp_sack_slack_ns tcp_congestion_control tcp_cookie_size tcp_default_win_scale
        tcp_delack_seg tcp_dma_copybreak tcp_dsack tcp_early_demux tcp_early_retrans tcp_ecn
        tcp_ecn_fallback tcp_ecn_option tcp_ecn_option_beacon tcp_ehash_entries tcp_fack
        tcp_fastopen tcp_fastopen_blackhole_timeout_sec tcp_fastopen_key tcp_fin_timeout tcp_frto
        tcp_frto_response tcp_fwmark_accept tcp_invalid_ratelimit tcp_keepalive_intvl
        tcp_keepalive_probes tcp_keepalive_time tcp_l3mdev_accept tcp_limit_output_bytes
        tcp_low_latency tcp_max_orphans tcp_max_reordering tcp_max_ssthresh tcp_max_syn_backlog
        tcp_max_tw_buckets tcp_mem tcp_migrate_req tcp_min_rtt_wlen tcp_min_snd_mss tcp_min_tso_segs
        tcp_moderate_rcvbuf tcp_mtu_probe_floor tcp_mtu_probing tcp_no_metrics_save
        tcp_no_ssthresh_metrics_save tcp_notsent_lowat tcp_orphan_retries tcp_pacing_ca_ratio
        tcp_pacing_ss_ratio tcp_pingpong_thresh tcp_plb_cong_thresh tcp_plb_enabled
        tcp_plb_idle_rehash_rounds tcp_plb_rehash_rounds tcp_plb_suspend_rto_sec tcp_probe_interval
        tcp_probe_threshold tcp_recovery tcp_reflect_tos tcp_reordering tcp_retrans_collapse
        tcp_retries1 tcp_retries2 tcp_rfc1337 tcp_rmem tcp_rto_max_ms tcp_rto_min_us tcp_sack
        tcp_shrink_window tcp_slow_start_after_idle tcp_stdurg tcp_syn_linear_timeouts
        tcp_syn_retries tcp_synack_retries tcp_syncookies tcp_thin_dupack tcp_thin_linear_timeouts
        tcp_timestamps tcp_tso_rtt_log tcp_tso_win_divisor tcp_tw_recycle tcp_tw_reuse
        tcp_tw_reuse_delay tcp_use_userconfig tcp_vegas_cong_avoid tcp_westwood tcp_window_scaling
        tcp_wmem tcp_workaround_signed_windows udp_child_hash_entries udp_early_demux
        udp_hash_entries udp_l3mdev_accept udp_mem udp_rmem_min udp_wmem_min xfrm4_gc_thresh"""
    ),
    "vm": listed(
        """
        admin_reserve_kbytes block_dump compact_memory compact_unevictable_allowed
        compaction_proactiveness defrag_mode dirty_background_bytes dirty_background_ratio
        dirty_bytes dirty_expire_centisecs dirty_ratio dirty_writeback_centisecs
        dirtytime_expire_seconds drop_caches enable_soft_offline extfrag_threshold
        hugepages_treat_as_movable hugetlb_optimize_vmemmap hugetlb_shm_group laptop_mode
        legacy_va_layout lowmem_reserve_ratio max_map_count memfd_noexec memory_failure_early_kill
        memory_failure_recovery min_free_kbytes min_slab_ratio min_unmapped_ratio mmap_min_addr
        mmap_rnd_bits mmap_rnd_compat_bits nr_hugepages nr_hugepages_mempolicy
        nr_overcommit_hugepages nr_pdflush_threads numa_stat numa_zonelist_order oom_dump_tasks
        oom_kill_allocating_task overcommit_kbytes overcommit_memory overcommit_ratio page-cluster
        page_lock_unfairness pagecache panic_on_oom percpu_pagelist_fraction
        percpu_pagelist_high_fraction shrink_inodes_with_pagecache stat_interval stat_refresh
        swap_token_timeout swappiness unprivileged_userfaultfd user_reserve_kbytes
        vfs_cache_pressure vfs_cache_pressure_denom watermark_boost_factor watermark_scale_factor
        zone_reclaim_mode"""
    ),
}

# What the kernel no longer obeys. Source: kernel commit logs 4396e460 (tw_recycle), ip-sysctl.
REMOVED: dict[str, str] = {
    "net.ipv4.tcp_tw_recycle": "removed in Linux 4.12: it broke peers behind address translation",
    "net.ipv4.tcp_low_latency": "without effect since Linux 4.14, where the prequeue was removed",
    "net.ipv4.tcp_fack": "without effect since Linux 4.15, where RACK replaced it",
    **dict.fromkeys(
        (
            *("net.ipv4.tcp_abc", "net.ipv4.tcp_dma_copybreak", "net.ipv4.tcp_max_ssthresh"),
            *("net.ipv4.tcp_cookie_size", "net.ipv4.tcp_frto_response", "vm.nr_pdflush_threads"),
        ),
        "long removed from the kernel",
    ),
}

# Three numbers each: minimum, default (or pressure), maximum.
TRIPLES = frozenset(
    ("net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem", "net.ipv4.tcp_mem", "net.ipv4.udp_mem")
)
