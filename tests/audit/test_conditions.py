"""What a condition says of one value, of settings whose good value another one decides."""

import re

import pytest
from tests.audit.trees import facts_of, judge_machine

from wireproof.audit.catalogue import requests
from wireproof.audit.expression import UNKNOWN
from wireproof.audit.facts import HostFacts
from wireproof.audit.interfaces import CHOSEN
from wireproof.audit.job import catalogue
from wireproof.audit.machine import machine_of
from wireproof.model.record import FactFrame
from wireproof.model.setting import Profile

RDMA = {
    "/sys/class/infiniband/mlx5_0/ports/1/link_layer": "InfiniBand",
    "/sys/class/infiniband/mlx5_0/device/uevent": "DRIVER=mlx5_core",
}
ROCE = {
    "interfaces": '[{"name": "eth0", "kind": "ethernet", "operstate": "up", "mtu": 9000}]',
    "/sys/class/infiniband/mlx5_0/ports/1/link_layer": "Ethernet",
    "/sys/class/infiniband/mlx5_0/device/net/eth0/mtu": "9000",
    "/sys/class/net/eth0/device/uevent": "DRIVER=mlx5_core",
    "/proc/cpuinfo": "flags\t\t: fpu\n",
}
MODULES = {"/proc/modules": "irdma 1 0\nnvidia 1 0\n"}
STATISTICS, PFC, FEC = "ethtool -S eth0", "dcb pfc show dev eth0", "ethtool -I --show-fec eth0"
PAUSE = "ethtool -a eth0"
CONF, LIMITS = "/etc/slurm/slurm.conf", "/proc/self/limits"
MEMLOCK = "systemctl show -p LimitMEMLOCK slurmd.service"
SLURM = {LIMITS: "Max locked memory  65536  65536  bytes"}
ENDLESS = "Max locked memory  unlimited  unlimited  bytes"
MTU, SPEED = "/sys/class/net/eth0/mtu", "/sys/class/net/eth0/speed"
DRIVER_OF = "/sys/class/net/eth0/device/uevent"
PROPAGATED = "slurm-propagated-limits"
NO_PFC = "prio-pfc 0:off 3:off"
PKEY = "/sys/class/infiniband/mlx5_0/ports/1/pkeys/0"
TCLASS = "/sys/class/infiniband/mlx5_0/tc/1/traffic_class"
NO_PAUSE = "  tx_prio3_pause: 0\n  rx_discards_phy: 9"
PROBING = "/proc/sys/net/ipv4/tcp_mtu_probing"
NEW, OLD = {"/proc/version": "Linux version 5.14.0"}, {"/proc/version": "Linux version 3.10.0"}
MEMORY = {"/proc/meminfo": "MemTotal: 1000000 kB"}


UVERBS = "stat -c %a:%G /dev/infiniband/uverbs0"


def status(name: str, texts: dict[str, str], profile: Profile = "throughput") -> str:
    """Of a setting on a host whose files and commands (those with a blank) say ``texts``."""
    frames = []
    for place, text in texts.items():
        command = " " in place
        frames.append(
            FactFrame(
                rank=0,
                kind="command" if command else "file",
                status="ok",
                path="" if command else place,
                argv=place.split() if command else [],
                text=text,
            )
        )
    frames += [
        FactFrame(rank=0, kind="file", status="missing", path=path)
        for path in ("/sys/module/rv/initstate",)
        if path not in texts
    ]
    machine = machine_of(HostFacts.of("n1", frames))
    found, *_ = judge_machine(machine, catalogue(), profile, [name])
    return found.status


CLOCK = "/sys/devices/system/clocksource/clocksource0/current_clocksource"


def variables(**named: str) -> dict[str, str]:
    return {"environment": "\n".join(f"{name}={text}" for name, text in named.items())}


@pytest.mark.parametrize(
    ("name", "texts", "expected"),
    [
        ("slurmd-memlock", {CONF: "", MEMLOCK: "LimitMEMLOCK=18446744073709551615"}, "pass"),
        ("slurmd-memlock", {CONF: "", MEMLOCK: "LimitMEMLOCK=67108864"}, "fail"),
        ("clock-source", {CLOCK: "timebase"}, "pass"),
        ("clock-source", {CLOCK: "riscv_clocksource"}, "pass"),
        ("clock-source", {CLOCK: "hpet"}, "fail"),
        ("zone-reclaim", {"/proc/sys/vm/zone_reclaim_mode": "1"}, "pass"),
        ("zone-reclaim", {"/proc/sys/vm/zone_reclaim_mode": "3"}, "fail"),
        ("env-fi-provider", RDMA | variables(FI_PROVIDER="tcp;ofi_rxm"), "fail"),
        ("env-fi-provider", RDMA | variables(FI_PROVIDER="verbs"), "pass"),
        ("env-fi-provider", variables(FI_PROVIDER="tcp"), "pass"),
        ("env-fi-provider", variables(UCX_TLS="tcp"), "not-applicable"),
        ("env-ucx-tls", RDMA | variables(UCX_TLS="tcp,self"), "fail"),
        ("env-ucx-tls", RDMA | variables(UCX_TLS="rc,self,sm"), "pass"),
        ("env-ucx-tls", RDMA | variables(UCX_TLS="^tcp"), "pass"),
        ("env-ompi-mca-btl", RDMA | variables(OMPI_MCA_btl="tcp,self"), "fail"),
        (
            "env-ompi-mca-btl",
            RDMA | variables(OMPI_MCA_btl="tcp,self", OMPI_MCA_pml="ucx"),
            "pass",
        ),
        ("env-ompi-mca-pml", RDMA | variables(OMPI_MCA_pml="ob1"), "fail"),
        ("env-i-mpi-fabrics", NEW | variables(I_MPI_FABRICS="shm:tmi"), "fail"),
        ("env-i-mpi-fabrics", OLD | variables(I_MPI_FABRICS="shm:tmi"), "pass"),
        ("env-psm3-rdma", variables(PSM3_RDMA="1"), "fail"),
        ("env-psm3-rdma", variables(PSM3_RDMA="1") | {"/sys/module/rv/initstate": "live"}, "pass"),
        ("env-psm3-rdma", variables(PSM3_RDMA="7"), "fail"),
        ("rv-module", MODULES | variables(PSM3_RDMA="1"), "fail"),
        ("rv-module", MODULES | variables(PSM3_RDMA="0"), "pass"),
        ("rv-module", MODULES, "unknown"),
        ("tcp-mtu-probing", ROCE | {PROBING: "0"}, "fail"),
        ("tcp-mtu-probing", ROCE | {PROBING: "1"}, "pass"),
        ("pfc-enabled", ROCE | {PFC: "prio-pfc 0:off 1:off 3:on 4:off"}, "pass"),
        ("pfc-enabled", ROCE | {PFC: "prio-pfc 0:off 1:off 3:off"}, "unknown"),
        ("pfc-enabled", ROCE | {PFC: NO_PFC, PAUSE: "RX:\t\toff\nTX:\t\toff"}, "fail"),
        ("pfc-enabled", ROCE | {PFC: NO_PFC, PAUSE: "RX:\t\ton\nTX:\t\toff"}, "fail"),
        ("pfc-enabled", ROCE | {PFC: NO_PFC, PAUSE: "RX:\t\ton\nTX:\t\ton"}, "pass"),
        ("pfc-enabled", ROCE | {PFC: NO_PFC, DRIVER_OF: "DRIVER=cxgb4"}, "not-applicable"),
        (PROPAGATED, SLURM | {CONF: "PropagateResourceLimitsExcept=MEMLOCK"}, "pass"),
        (PROPAGATED, SLURM | {CONF: "PropagateResourceLimits=NONE"}, "pass"),
        (PROPAGATED, SLURM | {CONF: "#PropagateResourceLimits=NONE"}, "fail"),
        (PROPAGATED, SLURM | {CONF: "# PropagateResourceLimits=NONE"}, "fail"),
        (PROPAGATED, SLURM | {CONF: "# use\n\t# PropagateResourceLimitsExcept=MEMLOCK"}, "fail"),
        (PROPAGATED, SLURM | {CONF: "PropagateResourceLimitsExcept=ALL"}, "pass"),
        (PROPAGATED, SLURM | {CONF: "propagateresourcelimitsexcept=memlock"}, "pass"),
        (PROPAGATED, SLURM | {CONF: "PropagateResourceLimits=all"}, "fail"),
        (PROPAGATED, SLURM | {CONF: "PropagateResourceLimits=CORE,NPROC"}, "pass"),
        (PROPAGATED, SLURM | {CONF: "PropagateResourceLimits=CORE,MEMLOCK"}, "fail"),
        (PROPAGATED, SLURM | {CONF: "PropagateResourceLimitsExcept=CORE"}, "fail"),
        (PROPAGATED, {CONF: "ClusterName=c", LIMITS: ENDLESS}, "pass"),
        ("mtu", ROCE | {MTU: "1500", SPEED: "100000", DRIVER_OF: "DRIVER=ena"}, "fail"),
        ("mtu", ROCE | {MTU: "8896", SPEED: "100000", DRIVER_OF: "DRIVER=gve"}, "pass"),
        ("mtu", ROCE | {MTU: "1500", SPEED: "100000", DRIVER_OF: "DRIVER=hv_netvsc"}, "pass"),
        ("limit-memlock", {"/proc/self/limits": "Max locked memory  65536  65536"}, "unknown"),
        ("pfc-drops", ROCE | {STATISTICS: "  rx_dropped: 0\n  rx_dropped.nic: 7"}, "fail"),
        ("pfc-drops", ROCE | {STATISTICS: "  rx_dropped: 0\n  port.rx_discards: 7"}, "fail"),
        ("pfc-enabled", ROCE | {PFC: "prio-pfc 0:on 1:on 2:on 3:on"}, "fail"),
        ("pfc-pauses-tx", ROCE | {STATISTICS: "  tx_prio3_pause: 0\n  rx_discards_phy: 9"}, "fail"),
        ("pfc-pauses-tx", ROCE | {STATISTICS: "  tx_prio3_pause: 4\n  rx_discards_phy: 9"}, "pass"),
        ("pfc-pauses-tx", ROCE | {STATISTICS: "  tx_prio3_pause: 0\n  rx_discards_phy: 0"}, "pass"),
        ("pfc-pauses-tx", ROCE | {STATISTICS: f"  tx_prio0_pause: 4\n{NO_PAUSE}"}, "pass"),
        ("pfc-pauses-tx", ROCE | {STATISTICS: f"  tx_prio0_pause: 0\n{NO_PAUSE}"}, "fail"),
        ("pfc-drops", ROCE | {STATISTICS: "  rx_stat_discard: 9\n  rx_total_discard_pkts: 0"},
         "fail"),
        ("pfc-drops", ROCE | {STATISTICS: "  rx_prio0_discards: 9\n  rx_discards_phy: 0"}, "fail"),
        ("pfc-drops", ROCE | {STATISTICS: "  frames_rx_dropped: 0\n  hw_rx_dropped: 2"}, "fail"),
        ("pfc-drops", ROCE | {STATISTICS: "  rx_dropped: 9\n  rx_dropped.nic: 0"}, "pass"),
        ("memory-errors", {"/sys/devices/system/edac/mc/mc1/ce_count": "99"}, "pass"),
        ("memory-errors", {"/sys/devices/system/edac/mc/mc1/ce_count": "100"}, "fail"),
        ("env-ucx-tls", RDMA | variables(UCX_TLS="^ib"), "fail"),
        ("env-ucx-tls", RDMA | variables(UCX_TLS="^rc,ud,dc"), "fail"),
        ("env-fi-provider", RDMA | variables(FI_PROVIDER="^tcp"), "pass"),
        ("env-fi-provider", RDMA | variables(FI_PROVIDER="^psm3,tcp"), "pass"),
        ("roce-traffic-class", RDMA | ROCE | {TCLASS: "Global tclass=196"}, "fail"),
        ("roce-traffic-class", RDMA | ROCE | {TCLASS: "Global tclass=106"}, "pass"),
        ("pfc-pauses-rx", ROCE | {STATISTICS: "  rx_priority_3_xoff.nic: 5"}, "pass"),
        ("cnp-dscp", ROCE | {"/sys/class/net/eth0/ecn/roce_np/cnp_dscp": "26"}, "fail"),
        ("fec-uncorrectable", ROCE | {FEC: "Statistics:\n  uncorrectable_blocks: 3"}, "fail"),
        ("partition-key", RDMA | {PKEY: "0x7fff"}, "fail"),
        ("partition-key", RDMA | {PKEY: "0xffff"}, "pass"),
        ("shared-memory", MEMORY | {"df -Pk /dev/shm": "tmpfs 500000 0 9 0% /dev/shm"}, "pass"),
        ("shared-memory", MEMORY | {"df -Pk /dev/shm": "shm 65536 0 65536 0% /dev/shm"}, "fail"),
        ("infiniband-devices", RDMA | {UVERBS: "666:root\n"}, "pass"),
        ("infiniband-devices", RDMA | {UVERBS: "600:root\n"}, "fail"),
        ("infiniband-devices", RDMA | {UVERBS: "660:root\n"}, "fail"),
        ("infiniband-devices", RDMA | {UVERBS: "660:rdma\n"}, "unknown"),
    ],
)  # fmt: skip
def test_a_value_is_judged_by_what_stands_beside_it(
    name: str, texts: dict[str, str], expected: str
) -> None:
    assert status(name, texts) == expected


def test_what_is_wanted_passes_and_what_is_below_fails() -> None:
    """Where the condition is one least number, people are told that number."""
    units = {"Ki": 1 << 10, "Mi": 1 << 20}
    for name, entry in catalogue().entries.items():
        bound = re.fullmatch(r"value >= (\d+)([KM]i)?", entry.setting.condition("throughput"))
        if bound:
            least = int(bound[1]) * units.get(bound[2], 1)
            told = [int(each) for each in re.findall(r"\d+", entry.setting.wish("throughput"))]
            assert not told or told[0] in (int(bound[1]), least, least >> 20), name


@pytest.mark.parametrize(("disabled", "expected"), [("0", "fail"), ("1", "pass")])
def test_the_sleep_of_the_last_core_counts(disabled: str, expected: str) -> None:
    texts = HASWELL | {
        "/sys/devices/system/cpu/cpu0/cpuidle/state3/latency": "133",
        "/sys/devices/system/cpu/cpu0/cpuidle/state3/disable": "1",
        "/sys/devices/system/cpu/cpu47/cpuidle/state3/disable": disabled,
    }
    assert status("idle-states", texts, "latency") == expected


def test_what_was_too_much_to_list_is_unknown() -> None:
    policies = "/sys/devices/system/cpu/cpufreq/policy*"
    paths = [policies.replace("*", str(number)) for number in range(3)]
    frames = [
        FactFrame(rank=0, kind="file", status="ok", path="/proc/cpuinfo", text="flags\t: fpu\n")
    ]
    for name, text in (("scaling_governor", "performance"), ("cpuinfo_max_freq", "3"),
                       ("scaling_max_freq", "3")):  # fmt: skip
        listed = "".join(f"{path}/{name}\n" for path in paths)
        frames.append(FactFrame(rank=0, kind="glob", status="ok", path=f"{policies}/{name}",
                                text=listed, truncated=True))  # fmt: skip
        frames += [
            FactFrame(rank=0, kind="file", status="ok", path=f"{path}/{name}", text=text)
            for path in paths
        ]
    machine = machine_of(HostFacts.of("n1", frames))
    found = judge_machine(machine, catalogue(), "throughput", ["cpu-governor", "clock-maximum"])
    assert [one.status for one in found] == ["pass"] * 3 + ["unknown"] * 2
    assert all("more than 3" in one.message for one in found[3:])


@pytest.mark.parametrize(("limit", "expected"), [("150000000", "fail"), ("250000000", "pass")])
def test_a_power_cap_is_held_against_the_processor_s_own(limit: str, expected: str) -> None:
    folder = "/sys/class/powercap/intel-rapl:0"
    texts = {
        "/proc/cpuinfo": "flags\t\t: fpu\n",
        f"{folder}/constraint_0_power_limit_uw": limit,
        f"{folder}/constraint_0_max_power_uw": "250000000",
    }
    assert status("power-limit", texts) == expected


HASWELL = {
    "/proc/cpuinfo": "vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 63\nflags\t\t: fpu\n",
    "/proc/version": "Linux version 3.10.0-123.el7.x86_64",
}
DRIVER = "/sys/devices/system/cpu/cpu0/cpufreq/scaling_driver"
IDLE = "/sys/devices/system/cpu/cpu0/cpuidle/state3"
PAGES = "/sys/kernel/mm/transparent_hugepage/enabled"
HFI1 = {
    "/sys/class/infiniband/hfi1_0/ports/1/link_layer": "InfiniBand",
    "/sys/class/infiniband/hfi1_0/device/uevent": "DRIVER=hfi1",
    "/sys/module/hfi1/parameters/ipoib_accel": "0",
    "/sys/module/hfi1/parameters/cap_mask": "0x4c09a00cb9a",
}
IOMMU = "/sys/kernel/iommu_groups/1/type"
HFI1_PARAMETERS = "/sys/module/hfi1/parameters"
OPA = {
    "/sys/class/infiniband/hfi1_0/ports/1/link_layer": "InfiniBand",
    "/sys/class/infiniband/hfi1_0/device/uevent": "DRIVER=hfi1",
    "/sys/devices/system/cpu/online": "0-191",
}
IN_TREE = OPA | {f"{HFI1_PARAMETERS}/cap_mask": "0x4c09a08cb9a"}
"""Accelerated IP is a bit of the mask; ipoib_accel is a parameter only of the maker's driver."""
IPOIB = {
    "interfaces": '[{"name": "ib0", "kind": "infiniband", "operstate": "up"}]',
    "/sys/class/net/ib0/type": "32",
}


@pytest.mark.parametrize(
    ("name", "texts", "by_profile"),
    [
        (
            "scaling-driver",
            HASWELL | {DRIVER: "intel_pstate"},
            {"throughput": "pass", "repeatability": "fail"},
        ),
        (
            "idle-states",
            HASWELL | {f"{IDLE}/disable": "0", f"{IDLE}/latency": "133"},
            {"throughput": "pass", "latency": "fail"},
        ),
        (
            "smt",
            HASWELL | {"/proc/version": "Linux version 5.14.0",
                       "/sys/devices/system/cpu/smt/active": "1"},
            {"throughput": "pass", "repeatability": "fail"},
        ),
        ("ipoib-mode", HFI1 | IPOIB | {"/sys/class/net/ib0/mode": "datagram"},
         {"throughput": "fail"}),
        ("ipoib-mode", RDMA | IPOIB | {"/sys/class/net/ib0/mode": "datagram"},
         {"throughput": "pass"}),
        ("ipoib-mode", IN_TREE | IPOIB | {"/sys/class/net/ib0/mode": "datagram"},
         {"throughput": "pass"}),
        ("huge-pages", {PAGES: "[always] never"}, {"throughput": "pass", "latency": "fail"}),
        ("huge-pages", {PAGES: "always [never]"}, {"throughput": "fail", "latency": "pass"}),
        ("iommu-mode", HASWELL | {IOMMU: "unknown"}, {"throughput": "pass"}),
        ("iommu-mode", HASWELL | {IOMMU: "DMA"}, {"throughput": "fail"}),
        (
            "coalescing-adaptive",
            ROCE | {"ethtool -c eth0": "Adaptive RX: on  TX: on"},
            {"throughput": "pass", "latency": "fail"},
        ),
    ],
)  # fmt: skip
def test_where_authorities_disagree_the_profile_or_the_driver_decides(
    name: str, texts: dict[str, str], by_profile: dict[Profile, str]
) -> None:
    assert {profile: status(name, texts, profile) for profile in by_profile} == by_profile
    assert "Authorities disagree" in catalogue().get(name).setting.why


ETHERNET_RATE = "/sys/class/infiniband/mlx5_0/ports/1/rate"
IPOIB = ROCE | {"/sys/class/net/eth0/type": "32"}
ARM = {"/proc/cpuinfo": "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd4f\n"}
SPEED = {"/sys/class/net/eth0/speed": "-1"}
VENDOR, PRODUCT = "/sys/class/dmi/id/sys_vendor", "/sys/class/dmi/id/product_name"
LID, STATE = (f"/sys/class/infiniband/mlx5_0/ports/1/{name}" for name in ("sm_lid", "state"))
GIDS = "/sys/class/infiniband/mlx5_0/ports/1/gid_attrs/types"
MLX5 = {"/sys/class/infiniband/mlx5_0/device/uevent": "DRIVER=mlx5_core"}
IRDMA = ROCE | {"/sys/class/infiniband/mlx5_0/device/uevent": "DRIVER=ice"}
ADAPTIVE = "ethtool -c eth0"
DRAM = "/sys/class/powercap/intel-rapl:0:0"
RDMA_UNIT = "systemctl is-enabled rdma-load-modules@rdma.service"


WIRED = {
    "interfaces": '[{"name": "eth0", "kind": "ethernet", "operstate": "up", "mtu": 9000}]',
    "/sys/class/net/eth0/device/uevent": "DRIVER=ice",
    "/proc/cpuinfo": "flags\t\t: fpu\n",
}
HDR = RDMA | {"/sys/class/infiniband/mlx5_0/ports/1/rate": "200 Gb/sec (4X HDR)"}
QDR = {"/sys/class/infiniband/mlx5_0/ports/1/rate": "40 Gb/sec (4X QDR)"}
BOARD = "/sys/class/infiniband/mlx5_0/board_id"
SISTER = {
    "/sys/class/infiniband/mlx5_1/ports/1/link_layer": "InfiniBand",
    "/sys/class/infiniband/mlx5_1/ports/1/rate": "400 Gb/sec (4X NDR)",
    "/sys/class/infiniband/mlx5_1/ports/1/state": "4: ACTIVE",
    "/sys/class/infiniband/mlx5_1/board_id": "MT_1",
}
PORT_INFO = "ibportstate -C mlx5_0 -P 1 -D 0 1"


def modes(supported: str, speed: int, offered: str = "", nic: str = "eth0") -> dict[str, str]:
    """What ethtool prints of an interface, and its speed. Modes in Mb/s."""

    def listed(heading: str, rates: str) -> str:
        first, *rest = [f"{rate}baseT/Full" for rate in rates.split()] or ["Not reported"]
        return f"\t{heading}:  {first}\n" + "".join(f"\t\t\t\t{mode}\n" for mode in rest)

    text = (
        f"Settings for {nic}:\n\tSupported ports: [ TP ]\n"
        + listed("Supported link modes", supported)
        + "\tSupported pause frame use: Symmetric\n"
        + listed("Advertised link modes", supported)
        + listed("Link partner advertised link modes", offered)
    )
    return {f"/sys/class/net/{nic}/speed": str(speed), f"ethtool {nic}": text}


TWO_PORTS = {
    **WIRED,
    **modes("25000", 25000, nic="eth1"),
    "interfaces": '[{"name": "eth0", "kind": "ethernet", "operstate": "up"},'
    ' {"name": "eth1", "kind": "ethernet", "operstate": "up"}]',
    "/sys/class/net/eth1/device/uevent": "DRIVER=ice",
}
BESIDE = {
    **TWO_PORTS,
    **modes("100000", 100000, nic="eth1"),
    "/sys/class/net/eth1/device/uevent": "DRIVER=mlx5_core",
}
"""An interface beside a faster one, on a host without RDMA."""
_HEAD = "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\n"
_TO_ALL, _DEAD = "{}\t00000000\t010200C0\t0003\t0\t0\t0\t00000000\n", f"{'0' * 32} 00 {'0' * 32} 00"
ROUTE = {"/proc/net/route": _HEAD + _TO_ALL.format("eth0")}
ELSEWHERE = {"/proc/net/route": _HEAD + _TO_ALL.format("eth1")}
ROUTE_6 = {
    "/proc/net/route": _HEAD,
    "/proc/net/ipv6_route": f"{_DEAD} {'0' * 32} ffffffff 00000001 00000000 00200200       lo\n"
    f"{_DEAD} fd{'0' * 29}1 00000400 00000003 00000000 00000003     eth0\n",
}


def supported(speed: str) -> str:
    """What ibportstate prints of a port on four lanes."""
    return (
        "# Port info: DR path slid 65535; dlid 65535; 0 port 1\nLinkState:.......Active\n"
        "LinkWidthSupported:..............1X or 4X\nLinkWidthActive:.................4X\n"
        "LinkSpeedSupported:..............2.5 Gbps or 5.0 Gbps or 10.0 Gbps\n"
        f"LinkSpeedExtSupported:...........14.0625 Gbps or 25.78125 Gbps or {speed} Gbps\n"
    )


@pytest.mark.parametrize(
    ("name", "texts", "expected"),
    [
        ("port-rate", ROCE | {ETHERNET_RATE: "25 Gb/sec (1X EDR)"}, "pass"),
        ("port-rate", RDMA | {ETHERNET_RATE: "25 Gb/sec (1X EDR)"}, "fail"),
        ("coalescing-adaptive", ROCE | {ADAPTIVE: "Adaptive RX: n/a  TX: n/a"}, "not-applicable"),
        ("coalescing-adaptive", ROCE | {ADAPTIVE: "Adaptive RX: off  TX: off"}, "fail"),
        ("coalescing-time", ROCE | {ADAPTIVE: "rx-usecs:\tn/a"}, "not-applicable"),
        ("flow-control-rx", ROCE | {PAUSE: "RX:\t\ton\nTX:\t\ton"}, "unknown"),
        ("flow-control-rx", ROCE | {PAUSE: "RX:\t\ton", PFC: "prio-pfc 0:off 3:on"}, "fail"),
        ("flow-control-rx", ROCE | {PAUSE: "RX:\t\ton", PFC: "prio-pfc 0:off 3:off"}, "pass"),
        ("flow-control-rx", IPOIB | {PAUSE: "RX:\t\ton\nTX:\t\ton"}, "pass"),
        ("roce-gid-type", ROCE | MLX5 | {f"{GIDS}/1": "RoCE v2"}, "unknown"),
        ("roce-gid-type", IRDMA | {f"{GIDS}/1": "RoCE v2"}, "pass"),
        ("port-lid", RDMA | {LID: "0x0", STATE: "1: DOWN"}, "pass"),
        ("port-lid", RDMA | {LID: "0x0", STATE: "2: INIT"}, "fail"),
        ("tcp-mtu-probing", ROCE | {PROBING: "0"}, "fail"),
        ("tcp-mtu-probing", IPOIB | {PROBING: "0"}, "pass"),
        (
            "tcp-mtu-probing",
            {
                PROBING: "0",
                "interfaces": '[{"name": "ib0", "kind": "infiniband", "mtu": 65520},'
                ' {"name": "eth0", "kind": "ethernet", "mtu": 1500}]',
            },
            "pass",
        ),
        ("pfc-enabled", IPOIB | {PFC: "prio-pfc 0:off 1:off"}, "not-applicable"),
        (
            "power-limit",
            {
                "/proc/cpuinfo": "flags\t\t: fpu\n",
                f"{DRAM}/constraint_0_power_limit_uw": "0",
                f"{DRAM}/constraint_0_max_power_uw": "41250000",
            },
            "pass",
        ),
        ("link-speed", ROCE | ARM | SPEED | {VENDOR: "NVIDIA", PRODUCT: "Grace"}, "fail"),
        (
            "link-speed",
            ROCE | ARM | SPEED | {VENDOR: "Amazon EC2", PRODUCT: "hpc7g.16xlarge"},
            "not-applicable",
        ),
        (
            "link-speed",
            ROCE | ARM | SPEED | {VENDOR: "Amazon EC2", PRODUCT: "c7gn.metal"},
            "fail",
        ),
        (
            "link-speed",
            ROCE | ARM | SPEED | {VENDOR: "QEMU", PRODUCT: "QEMU Virtual Machine"},
            "not-applicable",
        ),
        ("link-speed", WIRED | modes("1000 10000", 1000), "fail"),
        ("link-speed", WIRED | modes("25000", 1000), "fail"),
        ("link-speed", WIRED | modes("25000 100000", 10000), "fail"),
        ("link-speed", WIRED | modes("25000 100000", 25000), "pass"),
        ("link-speed", WIRED | modes("25000 100000", 25000, "25000 50000"), "pass"),
        ("link-speed", WIRED | modes("25000 100000", 25000, "25000 100000"), "fail"),
        ("link-speed", WIRED | modes("1000", 1000), "pass"),
        ("link-speed", WIRED | modes("", 1000), "unknown"),
        ("link-speed", WIRED | modes("", 1000) | {DRIVER_OF: "DRIVER=igb"}, "pass"),
        ("link-speed", WIRED | modes("", 25000), "pass"),
        ("link-speed", WIRED | modes("100", 100, "1000"), "pass"),
        ("link-speed", WIRED | modes("100 1000", 100), "fail"),
        ("link-speed", WIRED | modes("", 100), "unknown"),
        ("link-speed", WIRED | HDR | modes("1000 10000", 1000), "pass"),
        ("link-speed", WIRED | HDR | modes("1000 10000", 1000, "1000 10000"), "fail"),
        ("link-speed", WIRED | HDR | modes("10000", 1000) | {CHOSEN: "eth0"}, "fail"),
        ("link-speed", WIRED | HDR | ROCE | modes("10000", 1000) | ROUTE, "fail"),
        ("link-speed", BESIDE | modes("10000", 1000), "unknown"),
        ("link-speed", BESIDE | modes("10000", 1000) | ROUTE, "pass"),
        ("link-speed", BESIDE | modes("10000", 1000) | ROUTE_6, "pass"),
        ("link-speed", BESIDE | modes("10000", 1000) | ROUTE | {CHOSEN: "eth0"}, "fail"),
        ("link-speed", BESIDE | modes("10000", 1000) | ELSEWHERE, "fail"),
        ("link-speed", TWO_PORTS | modes("25000", 10000), "fail"),
        ("link-speed", TWO_PORTS | modes("10000", 10000), "pass"),
        ("port-rate", HDR | {STATE: "4: ACTIVE", BOARD: "MT_1"}, "pass"),
        ("port-rate", HDR | {STATE: "4: ACTIVE", BOARD: "MT_1"} | SISTER, "fail"),
        ("port-rate", HDR | {STATE: "4: ACTIVE", BOARD: "MT_2"} | SISTER, "pass"),
        ("port-rate", HDR | {STATE: "1: DOWN", BOARD: "MT_1"} | SISTER, "pass"),
        ("port-rate", HDR | {STATE: "4: ACTIVE", PORT_INFO: supported("53.125")}, "pass"),
        ("port-rate", HDR | {STATE: "4: ACTIVE", PORT_INFO: supported("212.5")}, "pass"),
        ("port-rate", HDR | QDR | {STATE: "4: ACTIVE", PORT_INFO: supported("53.125")}, "fail"),
        ("port-rate", HDR | {STATE: "4: ACTIVE", PORT_INFO: "ibwarn: no port"}, "pass"),
        ("rdma-service", ROCE | {RDMA_UNIT: "not-found"}, "fail"),
        (
            "rdma-service",
            {
                "interfaces": '[{"name": "eth0", "kind": "ethernet", "driver": "e1000e"}]',
                "/proc/cpuinfo": "flags\t\t: fpu\n",
                RDMA_UNIT: "not-found",
            },
            "not-applicable",
        ),
    ],
)
def test_what_a_driver_or_a_cloud_says_otherwise(
    name: str, texts: dict[str, str], expected: str
) -> None:
    assert status(name, texts) == expected


def test_a_laptop_s_processor_is_no_server_s() -> None:
    def named(family: int, model: int) -> object:
        text = f"vendor_id\t: AuthenticAMD\ncpu family\t: {family}\nmodel\t\t: {model}\n"
        frame = FactFrame(rank=0, kind="file", status="ok", path="/proc/cpuinfo", text=text)
        return machine_of(HostFacts.of("n1", [frame])).names["host.cpu"]

    assert [named(25, 1), named(25, 17), named(26, 2)] == ["milan", "genoa", "turin"]
    assert [named(25, 0x21), named(25, 0x74), named(26, 0x44)] == [UNKNOWN] * 3


def test_looking_whether_a_file_is_there_does_not_cut_what_a_pattern_reads() -> None:
    asked = {one.path for one in requests(catalogue()) if one.kind == "file"}
    assert "/sys/kernel/iommu_groups/0/type" not in asked
    assert "/sys/kernel/iommu_groups/*/type" in {one.path for one in requests(catalogue())}


CPU = "/sys/devices/system/cpu"
REAL = {"/proc/cpuinfo": "flags\t\t: fpu\n"}


BIAS = f"{CPU}/cpu*/power/energy_perf_bias"
PREFERENCE = "energy_performance_preference"
LEAST, MOST = "scaling_max_freq", "cpuinfo_max_freq"


def each(place: str, *values: str) -> dict[str, str]:
    return {place.replace("*", str(at)): value for at, value in enumerate(values)}


def policies(name: str, *values: str) -> dict[str, str]:
    return each(f"{CPU}/cpufreq/policy*/{name}", *values)


@pytest.mark.parametrize(
    ("name", "texts", "status", "where"),
    [
        ("energy-preference", policies(PREFERENCE, "performance", "power"), "fail", "policy1"),
        ("energy-preference", policies(PREFERENCE, *["performance"] * 12), "pass", ""),
        ("energy-preference", policies(PREFERENCE, "performance", "128"), "fail", "policy1"),
        ("energy-bias", each(BIAS, "0", "7"), "fail", "cpu1"),
        ("energy-bias", each(BIAS, "0", "0"), "pass", ""),
        ("energy-bias", each(BIAS, "6") | policies(PREFERENCE, "performance"), "unknown", ""),
        ("energy-bias", each(BIAS, "7") | policies(PREFERENCE, "performance"), "fail", ""),
        (
            "clock-maximum",
            policies(MOST, *["3000000"] * 3) | policies(LEAST, "3000000", "3000000", "800000"),
            "fail",
            "policy2",
        ),
        (
            "clock-maximum",
            policies(MOST, "3000000", "3400000") | policies(LEAST, "3000000", "3400000"),
            "pass",
            "",
        ),
        (
            "thermal-throttling",
            each(f"{CPU}/cpu*/thermal_throttle/package_throttle_count", *["0"] * 10, "7", "0"),
            "fail",
            "cpu10",
        ),
        (
            "rps",
            ROCE
            | each("/sys/class/net/eth0/queues/rx-*/rps_cpus", *["00"] * 3, "f,00000000", "00"),
            "fail",
            "rx-3",
        ),
        ("clock-maximum", {}, "unknown", ""),
    ],
)
def test_every_core_socket_and_queue_is_looked_at_and_the_worst_is_named(
    name: str, texts: dict[str, str], status: str, where: str
) -> None:
    machine = machine_of(facts_of(REAL | texts))
    (one,) = judge_machine(machine, catalogue(), "throughput", [name])
    assert one.status == status, one
    assert where in one.message


def test_a_fabric_whose_driver_nobody_names_is_not_taken_for_another() -> None:
    ports = {"/sys/class/infiniband/rdmap0s6/ports/1/link_layer": "Unspecified"}
    pages = {"/proc/sys/vm/nr_hugepages": "0"}
    assert status("reserved-huge-pages", ports | pages) == "unknown"
    driver = {"/sys/class/infiniband/rdmap0s6/device/uevent": "DRIVER=efa", **pages}
    assert status("reserved-huge-pages", ports | driver) == "fail"
