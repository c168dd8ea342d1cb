"""Root folders of machines that are not here: files as their systems lay them out."""

import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path

from tests.audit.pci_space import gpu_node

from wireproof.audit import judge_machines
from wireproof.audit.catalogue import Catalogue
from wireproof.audit.facts import HostFacts
from wireproof.audit.machine import Machine
from wireproof.model.record import FactFrame
from wireproof.model.setting import AuditResult, Profile

ROWS = tomllib.loads(Path(__file__).with_name("rows.toml").read_text())
OUTPUTS = tomllib.loads(Path(__file__).with_name("outputs.toml").read_text())


def cpu(vendor: str, family: int, model: int, stepping: int = 2, flags: str = "fpu vme") -> str:
    return (
        f"processor\t: 0\nvendor_id\t: {vendor}\ncpu family\t: {family}\nmodel\t\t: {model}\n"
        f"model name\t: made up\nstepping\t: {stepping}\nflags\t\t: {flags}\n\n"
    )


def host(kernel: str, os_id: str, version: str, cores: int, sockets: int = 2) -> dict[str, str]:
    files = {
        "proc/version": f"Linux version {kernel} (mock@build) (gcc) #1 SMP",
        "proc/sys/kernel/osrelease": kernel,
        "proc/cmdline": "BOOT_IMAGE=/vmlinuz root=/dev/sda2 ro quiet",
        "proc/meminfo": "MemTotal:       131824520 kB\nMemFree: 1 kB\nSwapTotal: 4194304 kB\n",
        "proc/loadavg": "0.02 0.05 0.01 1/400 4711",
        "etc/os-release": f'ID="{os_id}"\nVERSION_ID="{version}"\n',
        "sys/devices/system/cpu/online": f"0-{cores - 1}",
        "sys/devices/system/cpu/present": f"0-{cores - 1}",
        "sys/devices/system/node/online": f"0-{sockets - 1}",
        "sys/devices/system/clocksource/clocksource0/current_clocksource": "tsc",
        "proc/self/limits": "Limit  Soft Limit  Hard Limit  Units\n"
        "Max locked memory         unlimited            unlimited            bytes\n"
        "Max open files            65536                65536                files\n"
        "Max stack size            unlimited            unlimited            bytes\n"
        "Max processes             unlimited            unlimited            processes\n",
        "proc/sys/vm/swappiness": "10",
        "proc/sys/vm/zone_reclaim_mode": "0",
        "proc/sys/kernel/numa_balancing": "0",
    }
    for socket in range(sockets):
        folder = f"sys/devices/system/cpu/cpu{socket}"
        files[f"{folder}/topology/physical_package_id"] = str(socket)
    return files


def netdev(name: str, driver: str, speed: int, **more: str) -> dict[str, str]:
    folder = f"sys/class/net/{name}"
    return {
        f"{folder}/device/uevent": f"DRIVER={driver}\nPCI_CLASS=20000",
        f"{folder}/operstate": "up",
        f"{folder}/speed": str(speed),
        f"{folder}/type": "1",
        f"{folder}/mtu": "9000",
        f"{folder}/duplex": "full",
        f"{folder}/carrier_changes": "2",
        f"{folder}/device/numa_node": "0",
        f"{folder}/device/current_link_width": "16",
        f"{folder}/device/max_link_width": "16",
        f"{folder}/device/current_link_speed": "16.0 GT/s PCIe",
        f"{folder}/device/max_link_speed": "16.0 GT/s PCIe",
        f"{folder}/device/power/control": "on",
        **{f"{folder}/{place}": text for place, text in more.items()},
    }


def rdma(device: str, driver: str, layer: str, rate: str, **more: str) -> dict[str, str]:
    folder = f"sys/class/infiniband/{device}"
    files = {
        f"{folder}/device/uevent": f"DRIVER={driver}",
        f"{folder}/ports/1/link_layer": layer,
        f"{folder}/ports/1/rate": rate,
        f"{folder}/ports/1/state": "4: ACTIVE",
        f"{folder}/ports/1/phys_state": "5: LinkUp",
        f"{folder}/ports/1/sm_lid": "0x1",
        f"{folder}/fw_ver": "1.27.0",
        f"{folder}/device/numa_node": "0",
        f"{folder}/device/current_link_width": "16",
        f"{folder}/device/max_link_width": "16",
        f"{folder}/device/current_link_speed": "8.0 GT/s PCIe",
        f"{folder}/device/max_link_speed": "8.0 GT/s PCIe",
    }
    return files | {f"{folder}/{place}": text for place, text in more.items()}


HFI1_2015 = {
    "cap_mask": "0x4c09a01cb9a", "cu": "1", "eager_buffer_size": "2097152", "hdrq_entsize": "32",
    "kdeth_qp": "128", "krcvqs": "", "link_crc_mask": "3", "lkey_table_size": "16",
    "loopback": "0", "max_ahs": "65535", "max_cqes": "196607", "max_cqs": "131071",
    "max_mcast_grps": "16384", "max_mcast_qp_attached": "16", "max_mtu": "8192",
    "max_pds": "65535", "max_qp_wrs": "16383", "max_qps": "16384", "max_sges": "96",
    "max_srq_sges": "128", "max_srq_wrs": "131071", "max_srqs": "1024", "num_rcv_contexts": "0",
    "num_sdma": "0", "num_vls": "8", "pcie_caps": "0", "pcie_force": "0", "pcie_pset": "2",
    "pcie_retry": "5", "pcie_target": "3", "port_reorder": "N", "qp_table_size": "256",
    "rcv_intr_count": "16", "rcv_intr_timeout": "840", "rcvarr_split": "25", "rcvhdrcnt": "2048",
    "sdma_comp_size": "128", "sdma_descq_cnt": "1024", "sdma_idle_cnt": "250",
    "user_credit_return_threshold": "33",
}  # fmt: skip
"""The values that the tuning document of 2015 prints."""


def _haswell_hfi1() -> dict[str, str]:
    """The documents' machine: RHEL 7 with Omni-Path, before anybody has tuned it."""
    files = host("3.10.0-123.el7.x86_64", "rhel", "7.0", 24)
    files["proc/cpuinfo"] = cpu("GenuineIntel", 6, 63)
    files |= rdma("hfi1_0", "hfi1", "InfiniBand", "100 Gb/sec (4X EDR)")
    files |= {f"sys/module/hfi1/parameters/{k}": text for k, text in HFI1_2015.items()}
    files |= netdev("ib0", "hfi1", 100000, type="32", mode="datagram", mtu="2044")
    files["proc/modules"] = "hfi1 600000 4 - Live 0x0\nib_ipoib 100000 0 - Live 0x0\nacpi_pad 1 0\n"
    files["sys/module/acpi_pad/initstate"] = "live"
    files["sys/module/ib_ipoib/initstate"] = "live"
    files["etc/sysconfig/irqbalance"] = (
        "# append any args here\n#IRQBALANCE_ARGS=\nIRQBALANCE_ARGS=\n"
    )
    policy = "sys/devices/system/cpu/cpufreq/policy0"
    files |= {
        f"{policy}/scaling_governor": "powersave",
        "sys/devices/system/cpu/cpu0/cpufreq/scaling_driver": "intel_pstate",
        "sys/devices/system/cpu/cpu0/cpufreq/scaling_min_freq": "1200000",
        "sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq": "3300000",
        "sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq": "3300000",
        "sys/devices/system/cpu/intel_pstate/no_turbo": "0",
    }
    return files


def _icelake_e810() -> dict[str, str]:
    """The slides' machine: RHEL 8 with RoCE on E810."""
    files = host("4.18.0-553.el8.x86_64", "rhel", "8.10", 112)
    files["proc/cpuinfo"] = cpu("GenuineIntel", 6, 106, 6)
    files |= netdev("eth2", "ice", 100000)
    files |= rdma("irdma0", "irdma", "Ethernet", "100 Gb/sec (4X EDR)")
    files["sys/class/infiniband/irdma0/device/net/eth2/mtu"] = "9000"
    files["proc/modules"] = "irdma 300000 1 - Live 0x0\nice 1 1 - Live\nrv 1 0 - Live\n"
    files["sys/module/rv/initstate"] = "live"
    files["sys/module/irdma/parameters/roce_ena"] = "0"
    files["sys/devices/system/cpu/cpufreq/policy0/scaling_governor"] = "performance"
    return files


def _epyc_connectx() -> dict[str, str]:
    files = host("5.14.0-427.el9.x86_64", "rhel", "9.4", 256)
    files["proc/cpuinfo"] = cpu("AuthenticAMD", 0x19, 0x11, 1)
    files |= rdma("mlx5_0", "mlx5_core", "InfiniBand", "200 Gb/sec (4X HDR)")
    files["proc/modules"] = "mlx5_core 1 1 - Live\nib_ipoib 1 0 - Live\n"
    files |= netdev("ib0", "mlx5_core", 200000, type="32", mode="datagram", mtu="4092")
    files["sys/kernel/iommu_groups/7/type"] = "DMA"
    files["sys/devices/system/cpu/cpufreq/policy0/scaling_governor"] = "schedutil"
    return files


def _sapphire_cn5000() -> dict[str, str]:
    files = host("6.4.0-150600.21-default", "sles", "15.6", 192)
    files["proc/cpuinfo"] = cpu("GenuineIntel", 6, 143, 8)
    files |= rdma("hfi1_0", "hfi1", "InfiniBand", "400 Gb/sec (4X NDR)")
    today = {"num_vls": "4", "num_sdma": "8", "max_mtu": "10240", "num_user_contexts": "208"}
    files |= {f"sys/module/hfi1/parameters/{k}": text for k, text in today.items()}
    files["proc/modules"] = "hfi1 1 1 - Live\n"
    files["sys/devices/system/cpu/cpufreq/policy0/scaling_governor"] = "performance"
    return files


def _eight_gpus() -> dict[str, str | bytes]:
    files: dict[str, str | bytes] = dict(gpu_node(8))
    files |= host("6.8.0-45-generic", "ubuntu", "24.04", 224)
    files["proc/cpuinfo"] = cpu("GenuineIntel", 6, 143, 8)
    for number in range(8):
        files |= rdma(f"mlx5_{number}", "mlx5_core", "Ethernet", "400 Gb/sec (4X NDR)")
        files |= netdev(f"rail{number}", "mlx5_core", 400000)
        slot = f"PCI_SLOT_NAME=0000:{0x10 * (number + 1) + 2:02x}:00.0"
        files[f"sys/class/net/rail{number}/device/uevent"] = f"DRIVER=mlx5_core\n{slot}"
        device = f"sys/class/infiniband/mlx5_{number}/device/net/rail{number}/mtu"
        files[device] = "9000"
        gpu = f"0000:{0x10 * (number + 1) + 3:02x}:00.0"
        files[f"sys/bus/pci/drivers/nvidia/{gpu}/numa_node"] = str(number // 4)
    files["sys/class/net/rail3/device/current_link_width"] = "8"
    files["proc/modules"] = "mlx5_core 1 1 - Live\nnvidia 1 1 - Live\n"
    return files


MACHINES: Mapping[str, Mapping[str, str | bytes]] = {
    "haswell-hfi1": _haswell_hfi1(),
    "icelake-e810": _icelake_e810(),
    "epyc-connectx": _epyc_connectx(),
    "sapphire-cn5000": _sapphire_cn5000(),
    "eight-gpus": _eight_gpus(),
}


def lay_out(folder: Path, machine: str, changes: Mapping[str, str | None] | None = None) -> Path:
    """The machine's root below ``folder``; ``changes``: other texts, None: no file."""
    for place, text in {**MACHINES[machine], **(changes or {})}.items():
        if text is not None:
            file = folder / place
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(text if isinstance(text, bytes) else f"{text}\n".encode())
    return folder


def facts_of(texts: Mapping[str, str], name: str = "n1") -> HostFacts:
    """Files that were read, as one host's facts."""
    frames = [
        FactFrame(rank=0, kind="file", status="ok", path=path, text=text)
        for path, text in texts.items()
    ]
    return HostFacts.of(name, frames)


def judge_machine(
    machine: Machine, catalogue: Catalogue, profile: Profile, only: Iterable[str] = ()
) -> list[AuditResult]:
    """Return a result for each entry and instance, in the order of the catalogue."""
    return list(judge_machines([machine], catalogue, profile, only))
