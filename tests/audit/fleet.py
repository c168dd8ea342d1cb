"""Whole machines, set up as they should be: files, interfaces, PCI devices and what commands print,
each in the words of its driver. ``files`` has places without their first slash, as in a root
folder; commands are places with a blank.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec
from tests.audit.trees import cpu, host, netdev, rdma

from wireproof.audit.catalogue import ELSEWHERE, requests, requests_of_instances
from wireproof.audit.facts import HostFacts, matches_any
from wireproof.audit.job import catalogue
from wireproof.audit.machine import Machine, machine_of
from wireproof.audit.pci import PciDevice
from wireproof.audit.values import AFFINITIES, folded, vectors_of
from wireproof.model.plan import FactRequest
from wireproof.model.record import FactFrame, Nic

_SYSCTLS = {
    "kernel/nmi_watchdog": "0", "kernel/sched_rt_runtime_us": "950000",
    "kernel/timer_migration": "1", "kernel/yama/ptrace_scope": "0", "vm/min_free_kbytes": "135168",
    "vm/nr_hugepages": "0", "vm/stat_interval": "10", "net/core/busy_poll": "0",
    "net/core/busy_read": "0", "net/core/default_qdisc": "fq_codel", "net/core/netdev_budget":
    "600", "net/core/netdev_max_backlog": "30000", "net/core/rmem_max": "67108864",
    "net/core/somaxconn": "4096", "net/core/wmem_max": "67108864",
    "net/ipv4/conf/all/arp_ignore": "0", "net/ipv4/conf/all/rp_filter": "0",
    "net/ipv4/ip_local_port_range": "32768\t60999", "net/ipv4/neigh/default/gc_thresh3": "8192",
    "net/ipv4/tcp_congestion_control": "cubic", "net/ipv4/tcp_mtu_probing": "1",
    "net/ipv4/tcp_rmem": "4096\t131072\t67108864", "net/ipv4/tcp_sack": "1",
    "net/ipv4/tcp_slow_start_after_idle": "0", "net/ipv4/tcp_timestamps": "1",
    "net/ipv4/tcp_window_scaling": "1", "net/ipv4/tcp_wmem": "4096\t65536\t67108864",
}  # fmt: skip
_COMMANDS = {
    "systemctl is-active power-profiles-daemon.service": "inactive",
    "systemctl is-active firewalld.service": "inactive",
    "systemctl is-active irqbalance.service": "active",
    "tuned-adm active": "Current active profile: hpc-compute",
    "timedatectl show -p NTPSynchronized": "NTPSynchronized=yes",
    "timedatectl": "System clock synchronized: yes\n              NTP service: active",
    "df -Pk /dev/shm": "Filesystem 1024-blocks Used Available Capacity Mounted on\n"
    "tmpfs 65912260 0 65912260 0% /dev/shm",
}
_RING = {
    "mlx5_core": (8192, 8192, 8192, 8192), "ice": (8160, 8160, 4096, 4096),
    "i40e": (4096, 4096, 4096, 4096), "bnxt_en": (2047, 2047, 2047, 2047),
    "ena": (8192, 1024, 4096, 1024), "gve": (1024, 1024, 1024, 1024), "mana": (8192, 8192, 512,
    256), "hv_netvsc": (18811, 2560, 9709, 170), "virtio_net": (256, 256, 256, 256),
    "cxi_ss1": (0, 0, 0, 0), "tg3": (2047, 511, 200, 511), "igb": (4096, 4096, 256, 256),
    "hfi1": (0, 0, 0, 0), "mlx5_ipoib": (8192, 8192, 512, 1024),
}  # fmt: skip
"""Most and now of what is received and sent, as a tuned node or the cloud has it."""
_ADAPTIVE = ("mlx5_core", "ice", "i40e", "bnxt_en", "ena", "virtio_net", "mlx5_ipoib")
_STATISTICS = {
    "mlx5_core": ("rx_discards_phy", "rx_prio3_pause", "tx_prio3_pause"),
    "ice": ("rx_dropped", "rx_dropped.nic", "rx_priority_3_xoff.nic", "tx_priority_3_xoff.nic"),
    "i40e": ("rx_dropped", "port.rx_discards", "port.rx_priority_3_xoff",
             "port.tx_priority_3_xoff"),
    "bnxt_en": ("rx_total_discard_pkts", "rx_pfc_ena_frames_pri3", "tx_pfc_ena_frames_pri3"),
    "igb": ("rx_packets", "rx_missed_errors"),
}  # fmt: skip
_FEATURES = (
    *("rx-checksumming", "tx-checksumming", "scatter-gather", "tcp-segmentation-offload"),
    *("generic-segmentation-offload", "generic-receive-offload"),
)
_GENERATIONS = {3: "8.0", 4: "16.0", 5: "32.0"}


def printed(heading: str, nic: str, *rows: str) -> str:
    """As ethtool prints."""
    return "\n".join((f"{heading} for {nic}:", *rows))


def _ring(driver: str, nic: str) -> str:
    most_rx, most_tx, rx, tx = _RING[driver]
    mini = ("RX Mini:\t\tn/a", "RX Jumbo:\t\tn/a")
    most = ("Pre-set maximums:", f"RX:\t\t\t{most_rx}", *mini, f"TX:\t\t\t{most_tx}")
    now = ("Current hardware settings:", f"RX:\t\t\t{rx}", *mini, f"TX:\t\t\t{tx}")
    return printed("Ring parameters", nic, *most, *now)


def _channels(driver: str, nic: str, number: int) -> str:
    """gve and mlx4 have queues of each direction alone, others have both in one."""
    apart, both = (number, 0) if driver == "gve" else (0, number)
    rows = (f"RX:\t\t{apart}", f"TX:\t\t{apart}", "Other:\t\t0", f"Combined:\t{both}")
    most = ("Pre-set maximums:", *rows)
    return printed("Channel parameters", nic, *most, "Current hardware settings:", *rows)


def ethtool(nic: str, driver: str, queues: int, pauses: bool) -> dict[str, str]:
    """What ethtool says of an interface. ``pauses``: with pause frames of the link."""
    found = {
        f"ethtool -k {nic}": printed(
            "Features", nic, *(f"{name}: on" for name in _FEATURES), "large-receive-offload: off"
        ),
        f"ethtool -l {nic}": _channels(driver, nic, queues),
    }
    modes = "10baseT/Half 10baseT/Full\n\t                        1000baseT/Full"
    found[f"ethtool {nic}"] = printed(
        "Settings", nic, "\tSupported ports: [ TP ]", f"\tSupported link modes:   {modes}",
        "\tSupported pause frame use: Symmetric", "\tPort: Direct Attach Copper",
    )  # fmt: skip
    if _RING[driver][0]:
        found[f"ethtool -g {nic}"] = _ring(driver, nic)
    adaptive = "on" if driver in _ADAPTIVE else "n/a"
    found[f"ethtool -c {nic}"] = printed(
        "Coalesce parameters", nic, f"Adaptive RX: {adaptive}  TX: {adaptive}", "rx-usecs:\t8"
    )
    if driver not in ("ena", "gve", "mana", "hv_netvsc", "virtio_net", "hfi1", "mlx5_ipoib"):
        now = "on" if pauses else "off"
        rows = ("Autonegotiate:\toff", f"RX:\t\t{now}", f"TX:\t\t{now}")
        found[f"ethtool -a {nic}"] = printed("Pause parameters", nic, *rows)
    if driver in _STATISTICS:
        rows = tuple(f"     {name}: 0" for name in _STATISTICS[driver])
        found[f"ethtool -S {nic}"] = "\n".join(("NIC statistics:", *rows))
    return found


@dataclass
class Node:
    """A machine that is put together."""

    cores: int
    virtual: bool = False
    files: dict[str, str] = field(default_factory=dict)
    nics: list[Nic] = field(default_factory=list)
    devices: list[PciDevice] = field(default_factory=list)

    @classmethod
    def of(
        cls, kernel: str, system: str, processor: str, cores: int, *, virtual: bool = False
    ) -> Node:
        """``system``: ID and VERSION_ID. ``processor``: the text of /proc/cpuinfo."""
        found = cls(cores, virtual)
        found.files |= host(kernel, *system.split(), cores, 1 if virtual else 2)
        hypervisor = "fpu vme hypervisor" if virtual else "fpu vme"
        found.files["proc/cpuinfo"] = processor.replace("fpu vme", hypervisor)
        found.files |= {f"proc/sys/{name}": text for name, text in _SYSCTLS.items()}
        found.files |= _COMMANDS
        found.files |= _kernel_files()
        if not virtual:
            found._add_processors("intel" if "GenuineIntel" in processor else "amd")
        return found

    def _add_processors(self, maker: str) -> None:
        base, intel = "sys/devices/system/cpu", maker == "intel"
        for number in range(self.cores):
            core, policy = f"{base}/cpu{number}", f"{base}/cpufreq/policy{number}"
            clock = {
                "scaling_governor": "performance",
                "energy_performance_preference": "performance",
                "scaling_driver": "intel_pstate" if intel else "amd-pstate-epp",
                "scaling_min_freq": "800000",
                "scaling_max_freq": "3500000",
                "cpuinfo_max_freq": "3500000",
            }
            for name, text in clock.items():
                self.files[f"{policy}/{name}"] = self.files[f"{core}/cpufreq/{name}"] = text
            if intel:
                self.files[f"{core}/power/energy_perf_bias"] = "0"
                self.files[f"{core}/thermal_throttle/package_throttle_count"] = "0"
                self.files[f"{core}/thermal_throttle/core_throttle_count"] = "0"
            self.files[f"{core}/microcode/version"] = "0x2b000590"
            for state, latency in enumerate((0, 2, 190)):
                self.files[f"{core}/cpuidle/state{state}/disable"] = "0"
                self.files[f"{core}/cpuidle/state{state}/latency"] = str(latency)
        half = self.cores // 2
        for socket in range(2):
            folder = f"sys/class/powercap/intel-rapl:{socket}"
            if intel:
                self.files[f"{folder}/constraint_0_power_limit_uw"] = "350000000"
                self.files[f"{folder}/constraint_0_max_power_uw"] = "350000000"
            self.files[f"sys/devices/system/edac/mc/mc{socket}/ce_count"] = "0"
            self.files[f"sys/devices/system/edac/mc/mc{socket}/ue_count"] = "0"
            cores = f"{socket * half}-{(socket + 1) * half - 1}"
            self.files[f"sys/devices/system/node/node{socket}/cpulist"] = cores
        self.files[f"{base}/cpuidle/current_driver"] = "intel_idle" if intel else "acpi_idle"
        turbo = "intel_pstate/no_turbo" if intel else "cpufreq/boost"
        self.files[f"{base}/{turbo}"] = "0" if intel else "1"
        if intel:
            self.files[f"{base}/intel_pstate/max_perf_pct"] = "100"

    def nic(
        self, name: str, driver: str, speed: int, *, slot: int = 0, mtu: int = 9000, **more: Any
    ) -> Node:
        """An adapter's interface. ``slot``: the bus that it is on, 0 for none."""
        ipoib = bool(more.get("ipoib"))
        queues = min(self.cores // 2, 64)
        texts = netdev(name, driver, speed, mtu=str(mtu), tx_queue_len="1000",
                       type="32" if ipoib else "1")  # fmt: skip
        folder, pci = f"sys/class/net/{name}", f"0000:{slot:02x}:00.0" if slot else ""
        if slot:
            texts[f"{folder}/device/uevent"] = f"DRIVER={driver}\nPCI_SLOT_NAME={pci}"
            generation = more.get("generation", 4)
            self.devices += _path(slot, driver, generation)
            for which in ("current", "max"):
                rate = f"{_GENERATIONS[generation]} GT/s PCIe"
                texts[f"{folder}/device/{which}_link_speed"] = rate
        else:
            texts = {place: text for place, text in texts.items() if "_link_" not in place}
        if self.virtual:
            del texts[f"{folder}/device/numa_node"]
        elif slot:
            texts[f"{folder}/device/local_cpulist"] = f"0-{self.cores // 2 - 1}"
            texts[f"{folder}/device/aer_dev_correctable"] = "RxErr 0\nTOTAL_ERR_COR 0"
        for queue in range(2):
            texts[f"{folder}/queues/rx-{queue}/rps_cpus"] = "0"
        texts[f"proc/sys/net/ipv4/conf/{name}/rp_filter"] = "0"
        kind = "mlx5_ipoib" if ipoib and driver == "mlx5_core" else driver
        texts |= ethtool(name, kind, queues, pauses=bool(more.get("pauses")))
        if ipoib:
            texts[f"{folder}/mode"] = "datagram"
        if speed >= 25000 and not ipoib and not self.virtual:
            fec = printed("FEC parameters", name, "Active FEC encoding: RS")
            texts[f"ethtool --show-fec {name}"] = fec
            texts[f"ethtool -I --show-fec {name}"] = f"{fec}\nStatistics:\nuncorrectable_blocks: 0"
        numbers = range(100 * len(self.nics) + 100, 100 * len(self.nics) + 108)
        texts[" ".join(vectors_of(name))] = "".join(f"{number}\n" for number in numbers)
        lists = (f"/proc/irq/{at}/effective_affinity_list:{at % 100}\n" for at in numbers)
        everywhere = " ".join(AFFINITIES)
        texts[everywhere] = self.files.get(everywhere, "") + "".join(lists)
        self.files |= texts
        self.nics.append(
            Nic(
                name=name,
                driver=driver,
                mtu=mtu,
                operstate="up",
                pci=pci,
                kind="infiniband" if ipoib else "ethernet",
                address=[f"10.{len(self.nics)}.0.7"],
                master=more.get("master", ""),
            )
        )
        return self

    def gpu(self, slot: int, bus: int) -> Node:
        """A GPU behind one switch with the adapter at ``slot``, whose root port it shares."""
        root, own = (one for one in self.devices if one.bus[1] == slot or one.secondary == slot)
        link = {name: getattr(own, name) for name in ("width", "speed", "payload_most")}
        up, down = bus - 0x40, bus - 0x60
        inside = [
            PciDevice(address=f"0000:{up:02x}:00.0", device_class="060400", secondary=down, type=5,
                      driver="pcieport", **link),
            PciDevice(address=f"0000:{down:02x}:00.0", device_class="060400", secondary=slot,
                      type=6, driver="pcieport", **link),
            PciDevice(address=f"0000:{down:02x}:01.0", device_class="060400", secondary=bus,
                      type=6, driver="pcieport", **link),
            PciDevice(address=f"0000:{bus:02x}:00.0", device_class="030200", driver="nvidia",
                      type=0, numa=0, **link),
        ]  # fmt: skip
        at = self.devices.index(root)
        self.devices[at : at + 1] = [msgspec.structs.replace(root, secondary=up), *inside]
        self.files[f"sys/bus/pci/drivers/nvidia/0000:{bus:02x}:00.0/numa_node"] = "0"
        return self

    def port(self, device: str, driver: str, layer: str, rate: str, nic: str = "") -> Node:
        """An RDMA port; ``nic``: the interface over whose Ethernet it runs."""
        folder = "ports/1"
        counters = (
            *("symbol_error", "link_error_recovery", "link_downed", "port_rcv_errors"),
            *("local_link_integrity_errors", "excessive_buffer_overrun_errors"),
            *("port_xmit_discards", "port_rcv_remote_physical_errors"),
        )
        texts = {f"{folder}/counters/{name}": "0" for name in counters}
        if driver == "mlx5_core":
            hardware = ("out_of_sequence", "local_ack_timeout_err", "rnr_nak_retry_err",
                        "packet_seq_err")  # fmt: skip
            texts |= {f"{folder}/hw_counters/{name}": "0" for name in hardware}
        if layer == "InfiniBand":
            texts |= {f"{folder}/pkeys/0": "0xffff", "node_desc": f"n1 {device}"}
        else:
            index = 1 if driver in ("ice", "irdma") else 3
            texts[f"{folder}/gid_attrs/types/{index}"] = "RoCE v2"
            texts[f"device/net/{nic}/mtu"] = "9000"
        if driver == "mlx5_core" and nic:
            texts["tc/1/traffic_class"] = "Global tclass=106"
            ecn = {"roce_np/enable/3": "1", "roce_rp/enable/3": "1", "roce_np/cnp_dscp": "48",
                   "roce_np/cnp_802p_prio": "6"}  # fmt: skip
            self.files |= {f"sys/class/net/{nic}/ecn/{name}": text for name, text in ecn.items()}
        self.files |= rdma(device, driver, layer, rate, **texts)
        own = [one.pci for one in self.nics if one.name == nic and one.pci]
        slot = f"\nPCI_SLOT_NAME={own[0]}" if own else ""
        self.files[f"sys/class/infiniband/{device}/device/uevent"] = f"DRIVER={driver}{slot}"
        for which in ("current", "max"):  # of one adapter
            same = f"device/{which}_link_speed"
            if rate_of := self.files.get(f"sys/class/net/{nic}/{same}"):
                self.files[f"sys/class/infiniband/{device}/{same}"] = rate_of
        if nic:
            priorities = " ".join(f"{each}:{'on' if each == 3 else 'off'}" for each in range(8))
            self.files[f"dcb pfc show dev {nic}"] = f"pfc-cap 8 delay 0\nprio-pfc {priorities}"
            self.files[f"dcb app show dev {nic}"] = "dscp-prio 0:0 26:3 48:6"
        if not self.virtual:
            unit = "systemctl is-enabled rdma-load-modules@rdma.service"
            self.files[unit] = "static"
        self.files["stat -c %a:%G /dev/infiniband/uverbs0"] = "666:root"
        return self

    def upper(self, name: str, kind: str, lower: list[str], mtu: int = 9000) -> Node:
        """A bond or a VLAN."""
        folder = f"sys/class/net/{name}"
        self.files |= {f"{folder}/mtu": str(mtu), f"{folder}/operstate": "up",
                       f"{folder}/carrier_changes": "2", f"{folder}/tx_queue_len": "1000",
                       f"proc/sys/net/ipv4/conf/{name}/rp_filter": "0"}  # fmt: skip
        if kind == "bond":
            values = {"mode": "802.3ad 4", "xmit_hash_policy": "layer3+4 1", "miimon": "100",
                      "arp_interval": "0"}  # fmt: skip
            self.files |= {f"{folder}/bonding/{key}": text for key, text in values.items()}
            self.files |= {f"sys/class/net/{one}/bonding_slave/mii_status": "up" for one in lower}
        self.files[f"ethtool -k {name}"] = ethtool(name, "mlx5_core", 8, False)[
            f"ethtool -k {name}"
        ]
        self.nics.append(
            Nic(
                name=name,
                mtu=mtu,
                operstate="up",
                kind="virtual",
                link_kind=kind,
                lower=lower,
                address=["10.9.0.7"],
            )
        )
        return self

    def modules(self, *names: str) -> Node:
        self.files["proc/modules"] = "".join(f"{name} 1 0 - Live 0x0\n" for name in names)
        for name in names:
            self.files[f"sys/module/{name}/initstate"] = "live"
        return self

    def has(self, **texts: str) -> Node:
        """``a__b`` is the file a/b below /sys/module, of other folders as ``set``."""
        self.files |= {
            f"sys/module/{name.replace('__', '/parameters/')}": text for name, text in texts.items()
        }
        return self

    def set(self, texts: Mapping[str, str | None]) -> Node:
        """Other texts; None: no such file."""
        for place, text in texts.items():
            if text is None:
                self.files.pop(place, None)
            else:
                self.files[place] = text
        return self

    def texts(self) -> dict[str, str]:
        """All places, the engine's lists among them."""
        devices = msgspec.json.encode(self.devices).decode()
        nics = json.dumps([msgspec.to_builtins(one) for one in self.nics])
        environment = "PATH=/usr/bin"
        return {"environment": environment, "interfaces": nics, "pci": devices, **self.files}


def _kernel_files() -> dict[str, str]:
    return {
        "sys/kernel/mm/transparent_hugepage/enabled": "[always] madvise never",
        "sys/kernel/mm/transparent_hugepage/defrag": "always defer defer+madvise [madvise] never",
        "sys/kernel/iommu_groups/0/type": "identity",
        "sys/kernel/iommu_groups/17/type": "DMA-FQ",
        "sys/module/pcie_aspm/parameters/policy": "[default] performance powersave powersupersave",
        "sys/devices/system/cpu/isolated": "",
        "sys/devices/system/cpu/smt/active": "0",
        "sys/devices/system/cpu/vulnerabilities/meltdown": "Not affected",
        "sys/class/dmi/id/sys_vendor": "Dell Inc.",
        "sys/class/dmi/id/product_name": "PowerEdge C6525",
        "sys/class/dmi/id/bios_version": "2.14.3",
        "proc/self/status": "Name:\twireproof\nCpus_allowed_list:\t0-511",
    }


def _path(bus: int, driver: str, generation: int) -> list[PciDevice]:
    """A root port and the adapter below it."""
    link: dict[str, Any] = {"payload": 512, "payload_most": 512, "width": 16, "width_most": 16,
                            "speed": generation, "speed_most": generation}  # fmt: skip
    root = PciDevice(address=f"0000:00:{bus % 32:02x}.0", device_class="060400", driver="pcieport",
                     numa=0, secondary=bus, type=4, read_request=128, acs=0, **link)  # fmt: skip
    own = PciDevice(address=f"0000:{bus:02x}:00.0", device_class="020000", driver=driver, numa=0,
                    type=0, read_request=4096, relaxed=True, **link)  # fmt: skip
    return [root, own]


def answered(texts: Mapping[str, str], name: str = "n1") -> Machine:
    """What a host says on which ``texts`` stand, and nothing else."""
    found = [*frames_of(requests(catalogue()), texts)]
    machine = machine_of(HostFacts.of(name, found))
    found += frames_of(requests_of_instances(catalogue(), [*machine.nics, *machine.rdma]), texts)
    return machine_of(HostFacts.of(name, folded(found, [one.label for one in machine.nics])))


def frames_of(wanted: Any, texts: Mapping[str, str]) -> list[FactFrame]:
    found = []
    for request in wanted:
        place = " ".join(request.argv) or request.path.lstrip("/")
        if request.kind == "glob":
            paths = sorted(one for one in texts if matches_any((place,), one))
            listing = "".join(f"/{path}\n" for path in paths)
            found.append(_frame("glob", request.path, (), listing if paths else None))
            found += [_frame("file", f"/{path}", (), texts[path]) for path in paths]
        else:
            found.append(_answer(request, texts.get(place)))
    kept = [tuple(place.split()) for place in texts if place.startswith("mlxconfig")]
    found += [_frame("command", "", argv, texts[" ".join(argv)]) for argv in kept]
    given = [place for place in ELSEWHERE if place in texts]
    found += [_frame("file", place, (), texts[place]) for place in given]
    return found


def _answer(request: FactRequest, text: str | None) -> FactFrame:
    """What a driver does not have is said so by ethtool."""
    if text is None and request.argv[:1] == ("ethtool",):
        reason = "netlink error: Operation not supported"
        return FactFrame(rank=0, kind="command", status="failed", argv=list(request.argv),
                         reason=reason, exit_status=95)  # fmt: skip
    return _frame(request.kind, request.path, request.argv, text)


def _frame(kind: Any, path: str, argv: Any, text: str | None) -> FactFrame:
    status: Any = "missing" if text is None else "ok"
    reason = "No such file or directory" if text is None else ""
    return FactFrame(rank=0, kind=kind, status=status, path=path, argv=list(argv), text=text or "",
                     reason=reason)  # fmt: skip


INTEL = {
    "haswell": cpu("GenuineIntel", 6, 63), "broadwell": cpu("GenuineIntel", 6, 79, 1),
    "skylake": cpu("GenuineIntel", 6, 85, 4), "icelake": cpu("GenuineIntel", 6, 106, 6),
    "sapphire": cpu("GenuineIntel", 6, 143, 8),
}  # fmt: skip
AMD = {
    "rome": cpu("AuthenticAMD", 0x17, 0x31, 0), "milan": cpu("AuthenticAMD", 0x19, 1, 1),
    "genoa": cpu("AuthenticAMD", 0x19, 0x11, 1),
}  # fmt: skip
ARM = "processor\t: 0\nCPU implementer\t: 0x41\nCPU architecture: 8\nCPU part\t: 0xd4f\n"
POWER = (
    "processor\t: 0\ncpu\t\t: POWER9, altivec supported\nrevision\t: 2.2\n\nmachine\t: PowerNV\n"
)
RISCV = "processor\t: 0\nhart\t\t: 2\nisa\t\t: rv64imafdcv\nmmu\t\t: sv39\nmvendorid\t: 0x5b7\n"
