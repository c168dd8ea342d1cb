"""The default snapshot: files and commands whose raw text is stored with every run. Data, not code.

The engine returns raw text; it is parsed here on the head node, so that newer rules can judge old
snapshots.
"""

from collections.abc import Iterable

from wireproof.model.plan import FactRequest

QUICK_FILES = (
    "/proc/version",
    "/sys/devices/system/clocksource/clocksource0/current_clocksource",
    "/sys/kernel/mm/transparent_hugepage/enabled",
    "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
    "/sys/devices/system/cpu/smt/active",
    "/proc/loadavg",
)
FILES = (
    "/etc/os-release",
    "/proc/cmdline",
    "/proc/meminfo",
    "/proc/modules",
    "/proc/sys/kernel/numa_balancing",
    "/proc/sys/kernel/sched_rt_runtime_us",
    "/sys/devices/system/clocksource/clocksource0/available_clocksource",
    "/sys/devices/system/cpu/cpu0/cpufreq/scaling_driver",
    "/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq",
    "/sys/devices/system/cpu/cpuidle/current_driver",
    "/sys/devices/system/cpu/intel_pstate/no_turbo",
    "/sys/devices/system/cpu/isolated",
    "/sys/devices/system/node/online",
    "/sys/module/intel_idle/parameters/max_cstate",
    "/sys/class/dmi/id/bios_version",
    "/sys/class/dmi/id/product_name",
)
SYSCTLS = (
    "net/core/rmem_max",
    "net/core/wmem_max",
    "net/core/rmem_default",
    "net/core/wmem_default",
    "net/core/netdev_max_backlog",
    "net/core/netdev_budget",
    "net/core/busy_poll",
    "net/core/busy_read",
    "net/core/default_qdisc",
    "net/core/somaxconn",
    "net/core/optmem_max",
    "net/ipv4/tcp_rmem",
    "net/ipv4/tcp_wmem",
    "net/ipv4/tcp_timestamps",
    "net/ipv4/tcp_sack",
    "net/ipv4/tcp_congestion_control",
    "net/ipv4/tcp_available_congestion_control",
    "net/ipv4/tcp_mtu_probing",
    "net/ipv4/tcp_low_latency",
    "net/ipv4/tcp_slow_start_after_idle",
    "net/ipv4/neigh/default/gc_thresh3",
    "net/ipv4/conf/all/arp_ignore",
    "net/ipv4/conf/all/rp_filter",
    "vm/zone_reclaim_mode",
    "vm/overcommit_memory",
)
GLOBS = (
    "/sys/class/net/*/mtu",
    "/sys/class/net/*/speed",
    "/sys/class/net/*/duplex",
    "/sys/class/net/*/operstate",
    "/sys/class/net/*/tx_queue_len",
    "/sys/class/net/*/device/current_link_speed",
    "/sys/class/net/*/device/current_link_width",
    "/sys/class/net/*/device/max_link_speed",
    "/sys/class/net/*/device/max_link_width",
    "/sys/class/net/*/device/numa_node",
    "/sys/class/net/*/device/vendor",
    "/sys/class/net/*/device/device",
    "/sys/class/infiniband/*/fw_ver",
    "/sys/class/infiniband/*/board_id",
    "/sys/class/infiniband/*/ports/*/rate",
    "/sys/class/infiniband/*/ports/*/state",
    "/sys/class/infiniband/*/ports/*/link_layer",
    "/sys/class/infiniband/*/device/current_link_speed",
    "/sys/class/infiniband/*/device/current_link_width",
    "/sys/module/hfi1/parameters/*",
    "/sys/module/mlx5_core/parameters/*",
    "/sys/module/ib_ipoib/parameters/*",
    "/sys/module/irdma/parameters/*",
    "/etc/modprobe.d/*.conf",
    "/etc/sysctl.d/*.conf",
)
COMMANDS: tuple[tuple[str, ...], ...] = (
    ("lscpu",),
    ("lspci", "-vv"),
    ("ip", "-d", "-s", "link", "show"),
    ("ip", "route", "show", "table", "all"),
    ("tuned-adm", "active"),
    ("ibstat",),
    ("opainfo",),
)
NIC_COMMANDS: tuple[tuple[str, ...], ...] = (
    ("ethtool", "{nic}"),
    ("ethtool", "-i", "{nic}"),
    ("ethtool", "-k", "{nic}"),
    ("ethtool", "-c", "{nic}"),
    ("ethtool", "-g", "{nic}"),
    ("ethtool", "-a", "{nic}"),
    ("tc", "-s", "qdisc", "show", "dev", "{nic}"),
)
"""Run for each claimed NIC: link, driver, offloads, coalescing, rings, pause, queueing."""


def _files(paths: Iterable[str]) -> list[FactRequest]:
    return [FactRequest(kind="file", path=path) for path in paths]


def quick() -> tuple[FactRequest, ...]:
    """Return the few files that every measurement stores: clock source, huge pages,
    governor, load.
    """
    return tuple(_files(QUICK_FILES))


def snapshot(nics: Iterable[str] = ()) -> tuple[FactRequest, ...]:
    """Return everything, with the commands for each of ``nics`` (without the port of an RDMA
    device, which is not a netdev).
    """
    requests = [*quick(), *_files(FILES), *_files(f"/proc/sys/{name}" for name in SYSCTLS)]
    requests += [FactRequest(kind="glob", path=path, limit_bytes=16384) for path in GLOBS]
    requests += [FactRequest(kind="command", argv=argv, limit_bytes=1 << 18) for argv in COMMANDS]
    for nic in dict.fromkeys(nic for nic in nics if nic and ":" not in nic):
        requests += [
            FactRequest(kind="command", argv=tuple(word.format(nic=nic) for word in argv))
            for argv in NIC_COMMANDS
        ]
    return tuple(requests)
