"""Wrong settings to plant, by machine: the setting that is to fail, on which instance, where, and
what stands there. ``old -> new`` replaces a part of the text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from wireproof.audit.interrupts import AFFINITIES

__all__ = ["PLANTED", "Plant"]

Plant = tuple[str, str, str, str]
_CPU, _NET, _IB = "sys/devices/system/cpu", "sys/class/net", "sys/class/infiniband"
_SYS, _HFI1 = "proc/sys", "sys/module/hfi1/parameters"
_THP = "sys/kernel/mm/transparent_hugepage"
_PCI = "pci"
_CLOCK = "sys/devices/system/clocksource/clocksource0/current_clocksource"


def _port(device: str, **texts: str) -> list[Plant]:
    """Counters and states of an RDMA port: setting with ``_`` to ``file -> text``."""
    rows = []
    for name, row in texts.items():
        place, text = row.split(" => ")
        rows.append(
            (name.replace("_", "-"), f"{device}:1", f"{_IB}/{device}/ports/1/{place}", text)
        )
    return rows


def _hfi1(**texts: str) -> list[Plant]:
    """Parameters of the driver."""
    return [
        (f"hfi1-{name.replace('_', '-')}", "", f"{_HFI1}/{name}", text)
        for name, text in texts.items()
    ]


def _host(folder: str, **texts: str) -> list[Plant]:
    rows = []
    for name, row in texts.items():
        place, text = row.split(" => ")
        rows.append((name.replace("_", "-"), "", f"{folder}/{place}", text))
    return rows


def _bios(**texts: str) -> list[Plant]:
    return [(f"bios-{name.replace('_', '-')}", "", "bios", text) for name, text in texts.items()]


def _of_nic(nic: str, **texts: str) -> list[Plant]:
    """Files of an interface, or ``-X old -> new`` of what ethtool prints."""
    rows = []
    for name, row in texts.items():
        option, text = re.fullmatch(r"((?:-\S+ )*)(.*)", row, re.DOTALL).groups()
        place, _, whole = text.partition(" => ")
        full = f"ethtool {option}{nic}" if option else f"{_NET}/{nic}/{place}"
        rows.append((name.replace("_", "-"), nic, full, whole or text))
    return rows


def _irqs(*cores: int) -> str:
    """Where the interrupts of the first interface go."""
    return "".join(
        f"/proc/irq/{at}/effective_affinity_list:{core}\n" for at, core in enumerate(cores, 100)
    )


PLANTED: Mapping[str, list[Plant]] = {
    "connectx-6-milan": [
        *_port(
            "mlx5_0",
            port_state="state => 2: INIT",
            port_physical="phys_state => 2: Polling",
            port_rate="rate => 50 Gb/sec (1X HDR)",
            symbol_errors="counters/symbol_error => 4000",
            link_recoveries="counters/link_error_recovery => 12",
            link_downs="counters/link_downed => 40",
            receive_errors="counters/port_rcv_errors => 77",
            partition_key="pkeys/0 => 0x7fff",
        ),
        (
            "slurmd-memlock",
            "",
            "systemctl show -p LimitMEMLOCK slurmd.service",
            "LimitMEMLOCK=65536",
        ),
        (
            "limit-memlock",
            "",
            "proc/self/limits",
            (
                "Max locked memory         unlimited            unlimited -> "
                "Max locked memory         65536                65536"
            ),
        ),
        ("infiniband-devices", "", "stat -c %a /dev/infiniband/uverbs0", "600"),
        ("cpu-governor", "policy63", f"{_CPU}/cpufreq/policy63/scaling_governor", "schedutil"),
        ("turbo-boost", "", f"{_CPU}/cpufreq/boost", "0"),
    ],
    "connectx-7-two-ports": [
        *_port(
            "mlx5_1",
            port_lid="sm_lid => 0x0",
            local_integrity="counters/local_link_integrity_errors => 3",
            buffer_overruns="counters/excessive_buffer_overrun_errors => 9",
            transmit_discards="counters/port_xmit_discards => 5000",
            remote_errors="counters/port_rcv_remote_physical_errors => 900",
            out_of_sequence="hw_counters/out_of_sequence => 4000",
            ack_timeouts="hw_counters/local_ack_timeout_err => 4000",
            rnr_retries="hw_counters/rnr_nak_retry_err => 4000",
            packet_sequence_errors="hw_counters/packet_seq_err => 4000",
        ),
        ("node-description", "mlx5_1:1", f"{_IB}/mlx5_1/node_desc", "MT4129 ConnectX7 Mellanox"),
        ("numa-node-rdma", "mlx5_1:1", f"{_IB}/mlx5_1/device/numa_node", "-1"),
        ("pcie-width-rdma", "mlx5_1:1", f"{_IB}/mlx5_1/device/current_link_width", "8"),
        ("pcie-speed-rdma", "mlx5_1:1", f"{_IB}/mlx5_1/device/current_link_speed", "2.5 GT/s PCIe"),
        (
            "pcie-max-payload-rdma",
            "mlx5_1:1",
            _PCI,
            ('4: "payload":512,"payload_most":512 -> "payload":128,"payload_most":512'),
        ),
        ("pcie-read-request-rdma", "mlx5_1:1", _PCI, '2: read_request":4096 -> read_request":512'),
        ("energy-preference", "", f"{_CPU}/cpufreq/policy1/energy_performance_preference", "power"),
    ],
    "connectx-5-rome": [
        *_bios(
            l3_numa='Domain": "Disabled -> Domain": "Enabled',
            apbdis='(ApbDis)": "Enabled -> (ApbDis)": "Disabled',
            preferred_io='IO Bus": "Enabled -> IO Bus": "Disabled',
            x2apic='x2APIC Mode": "Enabled -> x2APIC Mode": "Disabled',
        ),
        ("iommu-mode", "17", "sys/kernel/iommu_groups/17/type", "DMA"),
        ("ipoib-mtu", "ib0", f"{_NET}/ib0/mtu", "1500"),
        ("ipoib-send-queue", "", "sys/module/ib_ipoib/parameters/send_queue_size", "64"),
        ("ipoib-receive-queue", "", "sys/module/ib_ipoib/parameters/recv_queue_size", "64"),
        ("adapters-without-driver", "", _PCI, '020000","driver":"mlx5_core -> 020000","driver":"'),
        ("clock-maximum", "", f"{_CPU}/cpufreq/policy1/scaling_max_freq", "1500000"),
        ("microcode", "", f"{_CPU}/cpu255/microcode/version", "0x2b000571"),
        ("memory-errors", "mc1", "sys/devices/system/edac/mc/mc1/ce_count", "12"),
    ],
    "e810": [
        *_of_nic(
            "ens1f1np1",
            mtu="mtu => 1500",
            ring_rx="-g RX:\t\t\t4096 -> RX:\t\t\t512",
            ring_tx="-g TX:\t\t\t4096 -> TX:\t\t\t256",
            channels="-l 2: Combined:\t32 -> Combined:\t1",
            coalescing_adaptive="-c Adaptive RX: on -> Adaptive RX: off",
            flow_control_rx="-a RX:\t\toff -> RX:\t\ton",
            flow_control_tx="-a TX:\t\toff -> TX:\t\ton",
            pfc_drops="-S rx_dropped.nic: 0 -> rx_dropped.nic: 812",
            fec="--show-fec encoding: RS -> encoding: Off",
            duplex="duplex => half",
            carrier_changes="carrier_changes => 412",
            pcie_width="device/current_link_width => 8",
            pcie_speed="device/current_link_speed => 8.0 GT/s PCIe",
        ),
        ("rv-module", "", "sys/module/rv/initstate", ""),
        ("irdma-roce", "", "sys/module/irdma/parameters/roce_ena", "0"),
        ("irdma-limits", "", "sys/module/irdma/parameters/limits_sel", "2"),
        ("roce-gid-type", "irdma1:1", f"{_IB}/irdma1/ports/1/gid_attrs/types/1", "IB/RoCE v1"),
        ("pfc-enabled", "ens1f1np1", "dcb pfc show dev ens1f1np1", "3:on -> 3:off"),
    ],
    "e810-without-pfc": [
        ("pfc-enabled", "ens1f0np0", "ethtool -a ens1f0np0", "RX:\t\ton -> RX:\t\toff"),
        ("duplex", "ens1f0np0", f"{_NET}/ens1f0np0/duplex", "half"),
    ],
    "i40e": [
        *_of_nic(
            "eno2",
            offload_tso="-k tcp-segmentation-offload: on -> tcp-segmentation-offload: off",
            offload_gso="-k generic-segmentation-offload: on -> generic-segmentation-offload: off",
            offload_gro="-k generic-receive-offload: on -> generic-receive-offload: off",
            offload_rx_checksum="-k rx-checksumming: on -> rx-checksumming: off",
            offload_tx_checksum="-k tx-checksumming: on -> tx-checksumming: off",
            offload_sg="-k scatter-gather: on -> scatter-gather: off",
            offload_lro="-k large-receive-offload: off -> large-receive-offload: on",
            rps="queues/rx-1/rps_cpus => ff",
            tx_queue_length="tx_queue_len => 100",
            link_speed="speed => -1",
            device_power="device/power/control => auto",
            numa_node="device/numa_node => -1",
            aer_errors="device/aer_dev_correctable => TOTAL_ERR_COR 9000",
        ),
        ("rp-filter-interface", "eno2", f"{_SYS}/net/ipv4/conf/eno2/rp_filter", "1"),
        ("job-cores", "eno2", "proc/self/status", "Cpus_allowed_list:\t16-31"),
        ("kernel-arguments", "", "proc/cmdline", "BOOT_IMAGE=/vmlinuz ro pci=nomsi"),
        ("isolated-cores", "", f"{_CPU}/isolated", "2-31"),
    ],
    "connectx-6-dx-firmware": [
        (
            "mlxconfig-pending",
            "ens1f1np1",
            "mlxconfig -d 0000:18:00.0 -e q",
            "3: per_mkey(0) -> force_relax(1)",
        ),
    ],
    "bnxt": [
        *_of_nic(
            "ens1f1np1",
            pfc_drops="-S rx_total_discard_pkts: 0 -> rx_total_discard_pkts: 66",
            fec_uncorrectable="-I --show-fec uncorrectable_blocks: 0 -> uncorrectable_blocks: 7",
            ring_rx="-g 2: RX:\t\t\t2047 -> RX:\t\t\t511",
        ),
        ("pcie-path-rate", "ens1f0np0", _PCI, '"speed":4 -> "speed":3'),
        ("pcie-max-payload", "ens1f0np0", _PCI, 'type":0,"payload":512 -> type":0,"payload":128'),
        ("pcie-read-request", "ens1f0np0", _PCI, 'read_request":4096 -> read_request":256'),
        ("relaxed-ordering", "ens1f0np0", _PCI, 'relaxed":true -> relaxed":false'),
        ("huge-pages", "", f"{_THP}/enabled", "always madvise [never]"),
        ("huge-page-defrag", "", f"{_THP}/defrag", "[always] defer madvise never"),
    ],
    "connectx-6-dx": [
        ("irq-spread", "ens1f0np0", " ".join(AFFINITIES), _irqs(*([0] * 8))),
        ("irq-near", "ens1f0np0", " ".join(AFFINITIES), _irqs(*range(0x78, 0x80))),
        *_of_nic(
            "ens1f1np1",
            ecn_np="ecn/roce_np/enable/3 => 0",
            ecn_rp="ecn/roce_rp/enable/3 => 0",
            cnp_dscp="ecn/roce_np/cnp_dscp => 26",
            cnp_priority="ecn/roce_np/cnp_802p_prio => 0",
            pfc_pauses_tx="-S rx_discards_phy: 0 -> rx_discards_phy: 900",
        ),
        ("roce-traffic-class", "mlx5_1:1", f"{_IB}/mlx5_1/tc/1/traffic_class", "Global tclass=0"),
        ("roce-gid-type", "mlx5_1:1", f"{_IB}/mlx5_1/ports/1/gid_attrs/types/3", "IB/RoCE v1"),
        ("tuned-profile", "", "tuned-adm active", "Current active profile: powersave"),
        ("time-sync", "", "timedatectl show -p NTPSynchronized", "NTPSynchronized=no"),
        ("rdma-service", "", "systemctl is-enabled rdma-load-modules@rdma.service", "masked"),
        ("env-ucx-tls", "", "environment", "UCX_TLS=tcp,self"),
    ],
    "opa-haswell": [
        *_hfi1(
            krcvqs="1,1,1,1,1",
            num_rcv_contexts="4",
            rcvhdrcnt="512",
            hdrq_entsize="16",
            eager_buffer_size="1048576",
            rcvarr_split="50",
            max_mtu="4096",
            num_vls="2",
            num_sdma="4",
            sdma_descq_cnt="256",
            sdma_comp_size="64",
            sdma_idle_cnt="5000",
            rcv_intr_timeout="8400",
            rcv_intr_count="64",
            user_credit_return_threshold="90",
            cu="2",
            cap_mask="0x0",
            pcie_caps="3",
            pcie_target="1",
            pcie_force="1",
            pcie_retry="0",
            pcie_pset="4",
            link_crc_mask="0",
            loopback="1",
            port_reorder="Y",
            lkey_table_size="8",
            max_pds="100",
            max_ahs="100",
            max_cqes="100",
            max_cqs="100",
            max_qp_wrs="100",
            max_sges="8",
            max_mcast_grps="8",
            max_mcast_qp_attached="2",
            max_srqs="8",
            max_srq_sges="8",
            max_srq_wrs="8",
            qp_table_size="16",
            max_qps="64",
            kdeth_qp="64",
        ),
        *_bios(
            power_policy='Policy": "Performance -> Policy": "Balanced Power',
            workload='Configuration": "Balanced -> Configuration": "I/O Sensitive',
            uncore_scaling='Scaling": "Enabled -> Scaling": "Minimum',
            p_limit='P-limit": "Enabled -> P-limit": "Disabled',
            speedstep='Tech": "Enabled -> Tech": "Disabled',
            configurable_tdp='TDP": "Nominal -> TDP": "Level 2',
            turbo='Technology": "Enabled -> Technology": "Disabled',
            c_states='C-State": "Enabled -> C-State": "Disabled',
            c3='C3": "Disabled -> C3": "Enabled',
            c6='C6": "Enabled -> C6": "Disabled',
            iou_prefetch='Prefetch": "Disabled -> Prefetch": "Enabled',
            cluster_on_die='on-Die": "Disabled -> on-Die": "Enabled',
            early_snoop='Early Snoop": "Disabled -> Early Snoop": "Enabled',
            max_payload='MaxPayloadSize": "Auto -> MaxPayloadSize": "128B',
            snoop_holdoff='Timer": "9 -> Timer": "15',
            memory_encryption='Encryption": "Disabled -> Encryption": "Enabled',
            memory_speed='Selection": "Auto -> Selection": "1600',
        ),
        ("ipoib-mode", "ib0", f"{_NET}/ib0/mode", "datagram"),
        ("ipoib-module", "", "sys/module/ib_ipoib/initstate", ""),
        ("acpi-pad", "", "sys/module/acpi_pad/initstate", "live"),
        ("irqbalance", "", "etc/sysconfig/irqbalance", "IRQBALANCE_ARGS="),
        ("mpi-selector", "", "mpi-selector --query", "default:openmpi-4.1\nlevel:user"),
    ],
    "opa-two-adapters": [
        *_hfi1(
            num_user_contexts="8",
            desct_intr="1",
            rcv_intr_dynamic="0",
            piothreshold="1",
            sge_copy_mode="1",
            wss_threshold="5",
            wss_clean_period="1",
            cache_size="64",
            pcie_ctle="0",
            aspm="2",
            ipoib_accel="0",
        ),
        ("opa-link-width", "hfi1_1:1", "opainfo", "2: ActTx: 4  Rx: 4 -> ActTx: 2  Rx: 2"),
        (
            "opa-link-quality",
            "hfi1_1:1",
            "opainfo",
            "2: Quality: 5 (Excellent) -> Quality: 2 (Poor)",
        ),
        ("opa-link-speed", "hfi1_1:1", "opainfo", "2: Act: 25Gb -> Act: 12.5Gb"),
        ("opa-module", "hfi1_1:1", "opainfo", "2: QSFP Copper,       2m -> QSFP No Loc Media"),
    ],
    "cn5000": [
        ("opa-link-speed", "hfi1_0:1", "opainfo", "Act: 100Gb -> Act: 50Gb"),
        ("hfi1-user-contexts", "hfi1_0:1", f"{_IB}/hfi1_0/nctxts", "20"),
        *_hfi1(num_sdma="2", num_vls="1", max_mtu="2048"),
    ],
    "slingshot": [
        *_of_nic("hsn3", mtu="mtu => 1500", link_speed="speed => 0", duplex="duplex => half"),
        ("idle-driver", "", f"{_CPU}/cpuidle/current_driver", "none"),
        (
            "limit-memlock",
            "",
            "proc/self/limits",
            (
                "Max locked memory         unlimited            unlimited -> "
                "Max locked memory         65536                65536"
            ),
        ),
        (
            "pcie-aspm",
            "",
            "sys/module/pcie_aspm/parameters/policy",
            "default performance [powersave] powersupersave",
        ),
    ],
    "efa": [
        ("reserved-huge-pages", "", f"{_SYS}/vm/nr_hugepages", "0"),
        *_of_nic("ens5", mtu="mtu => 1500", channels="-l 2: Combined:\t32 -> Combined:\t2"),
        ("env-fi-provider", "", "environment", "FI_PROVIDER=tcp"),
        ("shared-memory", "", "df -Pk /dev/shm", "tmpfs 65912260 -> tmpfs 65536"),
    ],
    "ena-without-efa": [
        *_of_nic("ens5", mtu="mtu => 1500", ring_rx="-g RX:\t\t\t4096 -> RX:\t\t\t256"),
    ],
    "hv-netvsc": [
        *_of_nic(
            "eth0", mtu="mtu => 576", offload_sg="-k scatter-gather: on -> scatter-gather: off"
        ),
    ],
    "connectx-4-rhel7": [
        ("time-sync", "", "timedatectl", "synchronized: yes -> synchronized: no"),
        ("acpi-pad", "", "sys/module/acpi_pad/initstate", "live"),
        ("cpu-governor", "policy23", f"{_CPU}/cpufreq/policy23/scaling_governor", "ondemand"),
        ("node-description", "mlx5_0:1", f"{_IB}/mlx5_0/node_desc", "MT4115 ConnectX4"),
    ],
    "gve": [
        *_of_nic("ens4", mtu="mtu => 1460"),
        ("channels-rx", "ens4", "ethtool -l ens4", "2: RX:\t\t8 -> RX:\t\t1"),
        *_host(
            f"{_SYS}/net", rmem_max="core/rmem_max => 212992", wmem_max="core/wmem_max => 212992"
        ),
    ],
    "mana": [
        *_of_nic(
            "eth0",
            offload_tso="-k tcp-segmentation-offload: on -> tcp-segmentation-offload: off",
            channels="-l 2: Combined:\t8 -> Combined:\t1",
        ),
        *_host(
            f"{_SYS}/net/ipv4",
            tcp_rmem="tcp_rmem => 4096 87380 6291456",
            tcp_wmem="tcp_wmem => 4096 16384 4194304",
        ),
    ],
    "azure-hb": [
        *_port(
            "mlx5_ib0", port_state="state => 1: DOWN", symbol_errors="counters/symbol_error => 900"
        ),
        ("clock-source", "", _CLOCK, "acpi_pm"),
        ("ipoib-mtu", "ib0", f"{_NET}/ib0/mtu", "1500"),
    ],
    "kvm-virtio": [
        *_of_nic(
            "ens3",
            offload_gro="-k generic-receive-offload: on -> generic-receive-offload: off",
            mtu="mtu => 1500",
        ),
        *_host(
            f"{_SYS}/net/ipv4",
            congestion_control="tcp_congestion_control => reno",
            tcp_sack="tcp_sack => 0",
            tcp_timestamps="tcp_timestamps => 0",
            tcp_window_scaling="tcp_window_scaling => 0",
            tcp_slow_start_idle="tcp_slow_start_after_idle => 1",
            ports_local="ip_local_port_range => 50000 55000",
        ),
    ],
    "kvm-roce": [
        ("roce-gid-type", "mlx5_0:1", f"{_IB}/mlx5_0/ports/1/gid_attrs/types/3", "IB/RoCE v1"),
        ("pfc-enabled", "ens4", "dcb pfc show dev ens4", "prio-pfc 0:on 1:on 2:on 3:on 4:on"),
        *_host(
            f"{_SYS}/net",
            arp_table="ipv4/neigh/default/gc_thresh3 => 128",
            tcp_mtu_probing="ipv4/tcp_mtu_probing => 0",
            listen_backlog="core/somaxconn => 128",
            netdev_backlog="core/netdev_max_backlog => 1000",
            netdev_budget="core/netdev_budget => 64",
            default_qdisc="core/default_qdisc => sfq",
        ),
    ],
    "grace": [
        ("clock-source", "", _CLOCK, "jiffies"),
        ("cpu-governor", "policy71", f"{_CPU}/cpufreq/policy71/scaling_governor", "schedutil"),
        ("clock-maximum", "", f"{_CPU}/cpufreq/policy71/scaling_max_freq", "1000000"),
        ("relaxed-ordering", "enp1s0np0", _PCI, 'relaxed":true -> relaxed":false'),
        *_of_nic(
            "enp1s0np0",
            pcie_speed="device/current_link_speed => 8.0 GT/s PCIe",
            coalescing_adaptive="-c Adaptive RX: on -> Adaptive RX: off",
        ),
    ],
    "power9": [
        ("clock-source", "", _CLOCK, "jiffies"),
        ("numa-balancing", "", f"{_SYS}/kernel/numa_balancing", "1"),
        *_port(
            "mlx5_0", port_rate="rate => 25 Gb/sec (1X EDR)", link_downs="counters/link_downed => 9"
        ),
    ],
    "riscv": [
        ("numa-balancing", "", f"{_SYS}/kernel/numa_balancing", "1"),
        *_of_nic("enp1s0", pcie_width="device/current_link_width => 4", mtu="mtu => 1500"),
        ("swappiness", "", f"{_SYS}/vm/swappiness", "60"),
    ],
    "bonded-roce": [
        ("bond-mode", "bond0", f"{_NET}/bond0/bonding/mode", "balance-rr 0"),
        ("bond-hash", "bond0", f"{_NET}/bond0/bonding/xmit_hash_policy", "layer2 0"),
        ("bond-monitor", "bond0", f"{_NET}/bond0/bonding/miimon", "0"),
        ("bond-arp-monitor", "bond0", f"{_NET}/bond0/bonding/arp_interval", "100"),
        ("bond-member", "ens1f1np1", f"{_NET}/ens1f1np1/bonding_slave/mii_status", "down"),
        ("mtu-below", "bond0.40", f"{_NET}/bond0.40/mtu", "9216"),
        ("mtu", "bond0.40", f"{_NET}/bond0.40/mtu", "1500"),
        ("rp-filter-interface", "bond0.40", f"{_SYS}/net/ipv4/conf/bond0.40/rp_filter", "1"),
    ],
    "eight-gpus": [
        ("turbo", "", f"{_CPU}/intel_pstate/no_turbo", "1"),
        (
            "power-limit",
            "intel-rapl:1",
            "sys/class/powercap/intel-rapl:1/constraint_0_power_limit_uw",
            "150000000",
        ),
        ("thermal-throttling", "", f"{_CPU}/cpu95/thermal_throttle/package_throttle_count", "912"),
        ("gpu-distance", "rail7", _PCI, '"secondary":160 -> "secondary":250'),
        ("acs", "rail0", _PCI, '"acs":null -> "acs":29'),
        ("gpu-peer-memory", "", "proc/version", "Linux version 5.4.0-100-generic"),
        *_bios(above_4g='above 4 GB": "Enabled -> above 4 GB": "Disabled'),
        *_of_nic(
            "rail7", pcie_width="device/current_link_width => 8", numa_node="device/numa_node => -1"
        ),
        ("pcie-path-rate", "rail0", _PCI, '"speed":5 -> "speed":3'),
        ("env-ompi-mca-btl", "", "environment", "OMPI_MCA_btl=tcp,self"),
        ("env-ompi-mca-pml", "", "environment", "OMPI_MCA_pml=ob1"),
        ("env-psm3-rdma", "", "environment", "PSM3_RDMA=9"),
        ("env-i-mpi-fabrics", "", "environment", "I_MPI_FABRICS=tcp"),
        ("load", "", "proc/loadavg", "88.02 80.05 70.01 1/400 4711"),
    ],
    "gigabit": [
        *_of_nic("eno1", link_speed="speed => 100", duplex="duplex => half"),
        ("slurm-propagated-limits", "", "etc/slurm/slurm.conf", "ClusterName=c"),
        ("zone-reclaim", "", f"{_SYS}/vm/zone_reclaim_mode", "3"),
        ("min-free-memory", "", f"{_SYS}/vm/min_free_kbytes", "11263"),
        ("ptrace-scope", "", f"{_SYS}/kernel/yama/ptrace_scope", "2"),
        ("rp-filter", "", f"{_SYS}/net/ipv4/conf/all/rp_filter", "1"),
        (
            "limit-stack",
            "",
            "proc/self/limits",
            ("Max stack size            unlimited -> Max stack size            1048576"),
        ),
    ],
    "ten-gigabit": [
        *_of_nic("eno1", mtu="mtu => 1500"),
        ("limit-open-files", "", "proc/self/limits", "65536 -> 1024"),
        (
            "limit-processes",
            "",
            "proc/self/limits",
            ("Max processes             unlimited -> Max processes             1024"),
        ),
        ("power-manager", "", "systemctl is-active power-profiles-daemon.service", "active"),
        ("kernel-arguments", "", "proc/cmdline", "BOOT_IMAGE=/vmlinuz ro maxcpus=4"),
    ],
}
