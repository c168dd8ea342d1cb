"""Thirty machines of clusters and clouds, each set up as it should be."""

import json
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from tests.audit.fleet import AMD, ARM, INTEL, POWER, RISCV, Node
from tests.audit.trees import HFI1_2015, OUTPUTS

from wireproof.audit.pci import PciDevice

RHEL7, RHEL8, RHEL9 = "3.10.0-1160.el7.x86_64", "4.18.0-553.el8.x86_64", "5.14.0-427.el9.x86_64"
SLES, UBUNTU = "6.4.0-150600.21-default", "6.8.0-45-generic"
HDR, NDR = "200 Gb/sec (4X HDR)", "400 Gb/sec (4X NDR)"
_HFI1_TODAY = {
    "max_mtu": "10240", "num_user_contexts": "-1", "sdma_descq_cnt": "2048", "cap_mask":
    "0x4c09a00cb9a", "eager_buffer_size": "8388608", "max_cqes": "3145727", "max_qps": "32768",
    "pcie_pset": "255", "piothreshold": "256", "sge_copy_mode": "0",
    "wss_threshold": "80", "wss_clean_period": "256", "cache_size": "256", "pcie_ctle": "3",
    "aspm": "0", "ipoib_accel": "1", "desct_intr": "64",
}  # fmt: skip
OPAINFO = OUTPUTS["fleet-machines-opainfo"]


def _connectx(processor: str, ports: int = 1, rate: str = HDR, cores: int = 64) -> Node:
    """InfiniBand with IPoIB on each port."""
    node = Node.of(RHEL9, "rocky 9.4", processor, cores)
    for at in range(ports):
        nic = f"ib{at}"
        generation, transfers = (5, "32.0") if rate == NDR else (4, "16.0")
        node.nic(nic, "mlx5_core", 200000, slot=0x41 + at, mtu=4092, ipoib=True,
                 generation=generation)  # fmt: skip
        node.port(f"mlx5_{at}", "mlx5_core", "InfiniBand", rate)
        slot = f"DRIVER=mlx5_core\nPCI_SLOT_NAME=0000:{0x41 + at:02x}:00.0"
        device = f"sys/class/infiniband/mlx5_{at}/device"
        transfers = f"{transfers} GT/s PCIe"
        speeds = {f"{device}/{which}_link_speed": transfers for which in ("current", "max")}
        node.set({f"{device}/uevent": slot, **speeds})
    node.has(ib_ipoib__send_queue_size="512", ib_ipoib__recv_queue_size="512")
    return node.modules("mlx5_core", "mlx5_ib", "ib_core", "ib_uverbs", "ib_ipoib")


def _old_connectx() -> Node:
    """A kernel without much that is newer."""
    node = Node.of(RHEL7, "centos 7.9", INTEL["haswell"], 24)
    node.nic("ib0", "mlx5_core", 100000, slot=3, mtu=2044, ipoib=True)
    node.port("mlx5_0", "mlx5_core", "InfiniBand", "100 Gb/sec (4X EDR)")
    node.has(ib_ipoib__send_queue_size="512", ib_ipoib__recv_queue_size="512")
    node.modules("mlx5_core", "mlx5_ib", "ib_core", "ib_uverbs", "ib_ipoib")
    newer = ("smt/active", "vulnerabilities", "stat_interval", "iommu_groups", "timedatectl show")
    gone: dict[str, str | None] = {
        place: None for place in node.files if any(each in place for each in newer)
    }
    clock = "     NTP enabled: yes\nNTP synchronized: yes"
    return node.set({**gone, "timedatectl": clock, "etc/sysconfig/irqbalance": "IRQBALANCE_ARGS="})


def _roce(driver: str, rdma_driver: str, device: str, processor: str, speed: int = 100000) -> Node:
    """Two ports of RoCE with PFC on priority 3."""
    node = Node.of(RHEL9, "rhel 9.4", processor, 64)
    for at in range(2):
        node.nic(f"ens1f{at}np{at}", driver, speed, slot=0x17 + at)
        node.port(f"{device}{at}", rdma_driver, "Ethernet", f"{speed // 1000} Gb/sec (4X EDR)",
                  f"ens1f{at}np{at}")  # fmt: skip
    return node.modules(driver, "ib_core", "ib_uverbs")


def _virtual_functions() -> Node:
    """Adapters of PCIe 5.0 in slots of 4.0, and a virtual function, whose link registers are 0."""
    node = _roce("mlx5_core", "mlx5_core", "mlx5_", AMD["milan"], 200000)
    boost = {f"sys/devices/system/cpu/cpufreq/policy{core}/boost": "1" for core in range(2)}
    node.set({"proc/version": "Linux version 6.12.0-55.el10.x86_64", **boost})
    newest = {place: "32.0 GT/s PCIe" for place in node.files if place.endswith("max_link_speed")}
    node.set(newest)
    node.nic("ens1f0v0", "mlx5_core", 200000, slot=0x19)
    folder = "sys/class/net/ens1f0v0/device"
    node.set({f"{folder}/current_link_width": "0", f"{folder}/current_link_speed": "Unknown"})
    node.devices = [_as_in_such_slots(device) for device in node.devices]
    return node


def _as_in_such_slots(device: PciDevice) -> PciDevice:
    replace = msgspec.structs.replace
    if device.address == "0000:19:00.0":
        zeros = {"width": 0, "speed": 0, "payload": 128, "read_request": 128, "relaxed": False}
        return replace(device, **zeros, speed_most=5)
    return replace(device, speed_most=5) if device.type == 0 else device


def _e810() -> Node:
    node = _roce("ice", "ice", "irdma", INTEL["icelake"])
    node.has(irdma__roce_ena="1", irdma__limits_sel="5").modules("irdma", "ice", "ib_core")
    return node.set({"sys/module/rv/initstate": "live", "environment": "PSM3_RDMA=1"})


MLXCONFIG = OUTPUTS["fleet-machines-mlxconfig"]


def _with_firmware() -> Node:
    """Read as an archive keeps it, of the second adapter."""
    node = _roce("mlx5_core", "mlx5_core", "mlx5_", AMD["milan"])
    return node.set({"mlxconfig -d 0000:18:00.0 -e q": MLXCONFIG})


def _link_pauses(node: Node) -> Node:
    """Lossless by pause frames of the link, without priorities."""
    pauses = {place: text.replace("\t\toff", "\t\ton") for place, text in node.files.items()
              if place.startswith("ethtool -a")}  # fmt: skip
    off = {place: text.replace("3:on", "3:off") for place, text in node.files.items()
           if place.startswith("dcb")}  # fmt: skip
    return node.set({**pauses, **off})


def _opa(
    processor: str, ports: int, parameters: Mapping[str, str], kernel: str, generation: int = 3
) -> Node:
    """Omni-Path with IPoIB."""
    node = Node.of(kernel, "rhel 7.9" if kernel == RHEL7 else "rhel 8.10", processor, 48)
    speed = "100Gb" if "num_user_contexts" in parameters and ports == 1 else "25Gb"
    for at in range(ports):
        node.nic(f"ib{at}", "hfi1", 100000, slot=0x18 + at, ipoib=True, mtu=10236,
                 generation=generation)  # fmt: skip
        node.port(f"hfi1_{at}", "hfi1", "InfiniBand", "100 Gb/sec (4X EDR)")
        slot = f"DRIVER=hfi1\nPCI_SLOT_NAME=0000:{0x18 + at:02x}:00.0"
        device = f"sys/class/infiniband/hfi1_{at}/device"
        node.set({f"{device}/uevent": slot})
        speed_now = node.files[f"sys/class/net/ib{at}/device/current_link_speed"]
        node.set({f"{device}/{which}_link_speed": speed_now for which in ("current", "max")})
        node.set({f"sys/class/infiniband/hfi1_{at}/nctxts": "160"})
    node.has(**{f"hfi1__{name}": text for name, text in parameters.items()})
    node.modules("hfi1", "ib_core", "ib_uverbs", "ib_ipoib")
    node.has(ib_ipoib__send_queue_size="512", ib_ipoib__recv_queue_size="512")
    return node.set(
        {
            "opainfo": "".join(OPAINFO.format(at=at, speed=speed) for at in range(ports)),
            "stat -c %a:%G /dev/hfi1_0": "666:root",
            "systemctl is-active opafm.service": "inactive",
            "mpi-selector --query": "default:openmpi_gcc_hfi-4.1\nlevel:system",
        }
    )


def _opa_2015() -> Node:
    node = _opa(INTEL["haswell"], 1, HFI1_2015, RHEL7)
    datagram = {"sys/class/net/ib0/mode": "connected", "sys/class/net/ib0/mtu": "65520"}
    irqbalance = {"etc/sysconfig/irqbalance": "IRQBALANCE_ARGS=--hintpolicy=exact"}
    node.set({**datagram, **irqbalance, "opainfo": OPAINFO.format(at=0, speed="25Gb")})
    return _with_bios(node)


_BIOS = {
    "CPU Power and Performance Policy": "Performance", "Workload Configuration": "Balanced",
    "Uncore Frequency Scaling": "Enabled", "Performance P-limit": "Enabled",
    "Enhanced Intel SpeedStep(R) Tech": "Enabled", "Intel Configurable TDP": "Nominal",
    "Intel(R) Turbo Boost Technology": "Enabled", "CPU C-State": "Enabled",
    "Processor C3": "Disabled", "Processor C6": "Enabled", "IOU Non-posted Prefetch": "Disabled",
    "Cluster-on-Die": "Disabled", "Early Snoop": "Disabled", "MaxPayloadSize": "Auto",
    "Snoop Hold-off Timer": "9", "L3 Cache as NUMA Domain": "Disabled",
    "Algorithm Performance Boost Disable (ApbDis)": "Enabled", "Preferred IO Bus": "Enabled",
    "x2APIC Mode": "Enabled", "Memory Encryption": "Disabled",
    "Memory Mapped I/O above 4 GB": "Enabled", "Memory Operating Speed Selection": "Auto",
}  # fmt: skip
"""Attributes of several makers, each with a value that is right."""


def _with_bios(node: Node) -> Node:
    """The management controller is asked, too."""
    return node.set({"bios": json.dumps({"maker": "", "attributes": _BIOS})})


def _cn5000() -> Node:
    today = {**HFI1_2015, **_HFI1_TODAY, "num_vls": "4", "num_sdma": "8", "use_bulksvc": "Y",
             "num_user_contexts": ""}  # fmt: skip
    node = _opa(INTEL["sapphire"], 1, today, RHEL8, 5)
    place = "sys/class/infiniband/hfi1_0/ports/1/rate"
    return node.set({place: "400 Gb/sec (4X NDR)", "proc/sys/kernel/osrelease": RHEL8})


def _slingshot() -> Node:
    node = Node.of(SLES, "sles 15.6", AMD["milan"], 64)
    for at in range(4):
        node.nic(f"hsn{at}", "cxi_ss1", 200000, slot=0x21 + at, pauses=True)
    return node.modules("cxi_ss1", "cxi_user")


def _efa() -> Node:
    node = Node.of("6.1.102-108.amzn2023.x86_64", "amzn 2023", INTEL["icelake"], 64, virtual=True)
    node.nic("ens5", "ena", 100000, slot=5)
    node.port("rdmap0s6", "efa", "Unspecified", "100 Gb/sec (4X EDR)")
    node.set({"sys/class/infiniband/rdmap0s6/ports/1/sm_lid": "0x0"})
    node.set({"proc/sys/vm/nr_hugepages": "5128", _CLOCK: "kvm-clock"})
    return node.modules("efa", "ena", "ib_core", "ib_uverbs")


_CLOCK = "sys/devices/system/clocksource/clocksource0/current_clocksource"


def _guest(driver: str, name: str, speed: int, mtu: int, clock: str = "kvm-clock") -> Node:
    node = Node.of(UBUNTU, "ubuntu 24.04", INTEL["sapphire"], 16, virtual=True)
    node.nic(name, driver, speed, slot=4, mtu=mtu)
    return node.set({_CLOCK: clock}).modules(driver, "ext4")


def _azure_hb() -> Node:
    node = _guest("hv_netvsc", "eth0", 50000, 1500, "hyperv_clocksource_tsc_page")
    node.nic("ib0", "mlx5_core", 200000, slot=0x41, mtu=2044, ipoib=True)
    node.port("mlx5_ib0", "mlx5_core", "InfiniBand", HDR)
    node.has(ib_ipoib__send_queue_size="512", ib_ipoib__recv_queue_size="512")
    return node.modules("hv_netvsc", "mlx5_core", "ib_core", "ib_uverbs", "ib_ipoib")


def _guest_roce() -> Node:
    node = _guest("mlx5_core", "ens4", 100000, 9000)
    node.port("mlx5_0", "mlx5_core", "Ethernet", "100 Gb/sec (4X EDR)", "ens4")
    return node.modules("mlx5_core", "mlx5_ib", "ib_core", "ib_uverbs")


def _arm(kernel: str = UBUNTU) -> Node:
    node = Node.of(kernel, "ubuntu 24.04", ARM, 72)
    node.nic("enp1s0np0", "mlx5_core", 400000, slot=1, generation=5)
    node.port("mlx5_0", "mlx5_core", "Ethernet", NDR, "enp1s0np0")
    node.modules("mlx5_core", "mlx5_ib", "ib_core", "ib_uverbs")
    return node.set({_CLOCK: "arch_sys_counter", "sys/devices/system/cpu/cpuidle/current_driver":
                     "acpi_idle"} | _without_intel(node))  # fmt: skip


def _without_intel(node: Node) -> dict[str, str | None]:
    """What other processors' systems do not have."""
    signs = ("intel", "thermal_throttle", "microcode", "energy_performance")
    return {place: None for place in node.files if any(sign in place for sign in signs)}


def _power() -> Node:
    node = Node.of(RHEL8, "rhel 8.10", POWER, 64)
    node.nic("ib0", "mlx5_core", 100000, slot=3, mtu=4092, ipoib=True)
    node.port("mlx5_0", "mlx5_core", "InfiniBand", "100 Gb/sec (4X EDR)")
    node.modules("mlx5_core", "mlx5_ib", "ib_core", "ib_uverbs", "ib_ipoib")
    node.has(ib_ipoib__send_queue_size="512", ib_ipoib__recv_queue_size="512")
    return node.set({_CLOCK: "timebase"} | _without_intel(node))


def _riscv() -> Node:
    node = Node.of("6.6.20-riscv64", "fedora 38", RISCV, 64)
    node.nic("enp1s0", "mlx5_core", 25000, slot=1, generation=3)
    node.modules("mlx5_core")
    clock = {_CLOCK: "riscv_clocksource", "sys/devices/system/cpu/cpuidle/current_driver": None}
    return node.set(clock | _without_intel(node))


def _bonded() -> Node:
    node = Node.of(UBUNTU, "ubuntu 22.04", AMD["genoa"], 64)
    for at in range(2):
        node.nic(f"ens1f{at}np{at}", "mlx5_core", 100000, slot=0x17, master="bond0")
    node.port("mlx5_bond_0", "mlx5_core", "Ethernet", "100 Gb/sec (4X EDR)", "ens1f0np0")
    node.upper("bond0", "bond", ["ens1f0np0", "ens1f1np1"]).upper("bond0.40", "vlan", ["bond0"])
    return node.modules("mlx5_core", "mlx5_ib", "ib_core", "ib_uverbs", "bonding")


def _gpus() -> Node:
    node = Node.of(UBUNTU, "ubuntu 22.04", INTEL["sapphire"], 96)
    for at in range(8):
        nic = f"rail{at}"
        node.nic(nic, "mlx5_core", 400000, slot=0x19 + at, generation=5)
        node.port(f"mlx5_{at}", "mlx5_core", "Ethernet", NDR, nic)
        node.gpu(0x19 + at, 0x99 + at)
    _other_socket(node)
    _with_bios(node)
    return node.modules("mlx5_core", "mlx5_ib", "ib_core", "ib_uverbs", "nvidia")


def _other_socket(node: Node) -> None:
    """The last rail and its GPU hang on the second socket, and nothing says where the GPU is."""
    changes: dict[str, dict[str, Any]] = {
        "0000:00:00.0": {"address": "0000:e0:00.0", "numa": 1},
        "0000:20:00.0": {"numa": 1},
        "0000:a0:00.0": {"numa": None},
    }
    node.devices = [
        msgspec.structs.replace(one, **changes.get(one.address, {})) for one in node.devices
    ]


def _plain(driver: str, speed: int, processor: str, ports: int = 1) -> Node:
    """Ethernet without RDMA, and without swap."""
    node = Node.of(RHEL9, "almalinux 9.4", processor, 32)
    for at in range(ports):
        node.nic(f"eno{at + 1}", driver, speed, slot=2 + at, mtu=1500 if speed < 10000 else 9000)
    node.set({"proc/meminfo": "MemTotal: 131824520 kB\nSwapTotal: 0 kB\n"})
    node.set({"proc/sys/vm/swappiness": "60", "proc/sys/vm/zone_reclaim_mode": "1"})
    limits = node.files["proc/self/limits"].replace("unlimited            unlimited   "
             "         bytes", "8388608  8388608  bytes", 1)  # fmt: skip
    return node.set({"proc/self/limits": limits}).modules(driver, "ext4")


def _slurm(node: Node) -> Node:
    return node.set(
        {
            "etc/slurm/slurm.conf": "ClusterName=c\nPropagateResourceLimitsExcept=MEMLOCK\n",
            "systemctl show -p LimitMEMLOCK slurmd.service": "LimitMEMLOCK=infinity",
        }
    )


def _all_cores(node: Node) -> Node:
    """The kernel's limit is the number of processors that there are."""
    argument = {"proc/cmdline": "BOOT_IMAGE=/vmlinuz ro nr_cpus=32"}
    return node.set({**argument, "sys/devices/system/cpu/offline": ""})


FLEET: Mapping[str, Callable[[], Node]] = {
    "connectx-6-milan": lambda: _slurm(_connectx(AMD["milan"])),
    "connectx-7-two-ports": lambda: _connectx(AMD["genoa"], 2, NDR),
    "connectx-5-rome": lambda: _with_bios(_connectx(AMD["rome"], 1, "100 Gb/sec (4X EDR)", 256)),
    "e810": _e810,
    "e810-without-pfc": lambda: _link_pauses(_e810()),
    "i40e": lambda: _plain("i40e", 40000, INTEL["skylake"], 2),
    "bnxt": lambda: _roce("bnxt_en", "bnxt_re", "bnxt_re", AMD["genoa"], 200000),
    "connectx-6-dx": lambda: _roce("mlx5_core", "mlx5_core", "mlx5_", AMD["milan"]),
    "connectx-6-dx-firmware": _with_firmware,
    "virtual-functions": _virtual_functions,
    "opa-haswell": _opa_2015,
    "opa-two-adapters": lambda: _opa(INTEL["skylake"], 2, {**HFI1_2015, **_HFI1_TODAY}, RHEL8),
    "cn5000": _cn5000,
    "slingshot": _slingshot,
    "efa": _efa,
    "ena-without-efa": lambda: _guest("ena", "ens5", 25000, 9001),
    "hv-netvsc": lambda: _guest("hv_netvsc", "eth0", 50000, 1500, "hyperv_clocksource_tsc_page"),
    "connectx-4-rhel7": _old_connectx,
    "gve": lambda: _guest("gve", "ens4", 100000, 8896),
    "mana": lambda: _guest("mana", "eth0", 200000, 1500, "hyperv_clocksource_tsc_page"),
    "azure-hb": _azure_hb,
    "kvm-virtio": lambda: _guest("virtio_net", "ens3", 10000, 9000),
    "kvm-roce": _guest_roce,
    "grace": _arm,
    "power9": _power,
    "riscv": _riscv,
    "bonded-roce": _bonded,
    "eight-gpus": _gpus,
    "gigabit": lambda: _slurm(_plain("igb", 1000, INTEL["broadwell"])),
    "ten-gigabit": lambda: _all_cores(_plain("i40e", 10000, INTEL["skylake"])),
}
