# pure
"""Derive a machine from facts: the names that conditions of settings may use. Pure.

``host.*`` of the machine, ``nic.*`` of a fabric interface, ``rdma.*`` of an RDMA port. A name whose
source could not be read is UNKNOWN.
"""

import dataclasses
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from wireproof.audit.expression import UNKNOWN, Unknown, Value
from wireproof.audit.facts import HostFacts, first_match
from wireproof.audit.host import (
    DISCLOSED_FILES,
    DISCLOSED_GLOBS,
    HOST_FILES,
    PACKAGES,
    host_names,
    modules_in,
)
from wireproof.audit.interfaces import (
    INTERFACES,
    ROUTES,
    SLOTS,
    audited,
    interface_kind,
    is_real,
    listed_nics,
    manages,
    names_of,
    rate_of,
    with_slots,
)
from wireproof.audit.pci import PCI, accelerators, adapters_of, pci_devices, pci_facts
from wireproof.audit.printed import (
    IBSTAT,
    mlxconfig_files,
    modes_of,
    printed_driver,
    printed_files,
    signalled,
)
from wireproof.audit.values import cpu_list
from wireproof.model.record import Nic

FILES = (*HOST_FILES, INTERFACES, PCI, *ROUTES, *DISCLOSED_FILES)
_GPUS = "/sys/bus/pci/drivers/nvidia/*/numa_node"
ADAPTERS = "/sys/class/net/*/device/uevent"
"""The file that names the driver of an adapter's interface."""
RDMA_PORTS = "/sys/class/infiniband/*/ports/*/link_layer"
GLOBS = (
    ADAPTERS,
    "/sys/class/net/*/operstate",
    "/sys/class/net/*/speed",
    "/sys/class/net/*/type",
    "/sys/class/net/*/device/numa_node",
    "/sys/class/net/*/device/local_cpulist",
    "/sys/class/infiniband/*/device/uevent",
    RDMA_PORTS,
    "/sys/class/infiniband/*/ports/*/rate",
    "/sys/class/infiniband/*/ports/*/state",
    "/sys/class/infiniband/*/device/net/*/mtu",
    PACKAGES,
    _GPUS,
    *DISCLOSED_GLOBS,
    *SLOTS,
)
NAMES = {
    "host.vendor": "intel, amd, arm, ibm or another maker of the processor",
    "host.cpu": "its generation: haswell, broadwell, skylake, icelake, sapphire-rapids, rome ...",
    "host.cores": "processors that are online",
    "host.sockets": "processor packages",
    "host.numa_nodes": "NUMA nodes that are online",
    "host.memory": "bytes",
    "host.swap": "bytes of swap space",
    "host.virtual": "a virtual machine",
    "host.board": "a physical machine, or a machine whose management controller is given",
    "host.kernel": "the kernel's release",
    "host.os": "ID of /etc/os-release",
    "host.os_version": "VERSION_ID of /etc/os-release",
    "host.modules": "names of the loaded modules",
    "host.cmdline": "the kernel's command line",
    "host.fabrics": "drivers of the fabric's ports",
    "host.rate": "the fastest port's Gb/s",
    "host.gpus": "GPUs with a driver",
    "host.rdma": "RDMA ports",
    "host.mtu": "the largest MTU of its interfaces except IPoIB",
    "nic.name": "the interface",
    "nic.kind": "ethernet, ipoib, bond, vlan, bridge, macvlan, ipvlan, veth, tun ...",
    "nic.device": "whether it belongs to an adapter and is not virtual",
    "nic.driver": "its driver; for a virtual interface, that of the adapters below it",
    "nic.rate": "Gb/s, 0 if it is down; for a virtual interface, those of the adapters below it",
    "nic.most": "Gb/s of the fastest link mode that it supports",
    "nic.offered": "Gb/s of the fastest link mode that both ends of its link offer",
    "nic.board": "PCI IDs of its adapter's model, else its card's address",
    "nic.sisters": "Gb/s of the fastest interface of the host with its driver and nic.most; if"
    " that is unknown, with its driver and nic.board",
    "nic.uncoded": "whether its module needs no error correction by the adapter: 100GBASE-LR4 and"
    " ER4, and modules of a single wavelength, which correct errors themselves",
    "nic.mtu": "its MTU",
    "nic.lower": "the interfaces below it: a bond's members, a VLAN's parent",
    "nic.lower_mtu": "the smallest MTU of those",
    "nic.master": "the bond or bridge that it is a member of",
    "nic.ipoib": "whether it is IP over InfiniBand or Omni-Path",
    "nic.rdma": "whether RDMA runs over its Ethernet (RoCE, iWARP)",
    "nic.idle": "whether it is down and nothing shows that it was ever used: it has no address, and"
    " its link was not lost since the driver was loaded",
    "nic.manages": "whether it has the default route, or none of the host's RDMA ports, and --nic"
    " does not name it",
    "nic.numa": "its NUMA node, -1 if the firmware does not report it",
    "nic.cpus": "the processors of its NUMA node",
    "rdma.name": "the RDMA device",
    "rdma.port": "its port",
    "rdma.driver": "its driver",
    "rdma.nic": "an interface of the same adapter, empty if it has none",
    "rdma.layer": "InfiniBand or Ethernet",
    "rdma.rate": "Gb/s",
    "rdma.active": "whether its state is ACTIVE",
    "rdma.board": "the ID of its board, else the device",
    "rdma.idle": "whether nothing shows that the port was ever used: another port of its card is"
    " active, its interface has no address, and its link was not lost since the driver was loaded",
    "rdma.most": "Gb/s that its lanes can signal at most",
    "rdma.sisters": "Gb/s of the fastest active port of the host with its board and link layer",
}


@dataclass(frozen=True)
class Instance:
    """An interface or RDMA port of the machine, with its names; ``label`` is for display."""

    label: str
    places: dict[str, str]
    names: dict[str, Value]


WHOLE = Instance("", {}, {})
"""The host itself."""


@dataclass(frozen=True)
class Machine:
    """The machine of a host. ``names``: the names of the host; instances add theirs."""

    facts: HostFacts
    names: dict[str, Value] = field(default_factory=dict)
    nics: tuple[Instance, ...] = ()
    rdma: tuple[Instance, ...] = ()


def machine_of(facts: HostFacts) -> Machine:
    """Derive the machine from its facts; missing information is UNKNOWN."""
    printed = printed_files(facts)
    facts = dataclasses.replace(facts, derived=printed)
    adapters = list(adapters_of(facts))
    firmware = dict(mlxconfig_files(facts, adapters))
    pci = with_slots(pci_facts(facts, adapters), facts, [name for name, _ in adapters])
    facts = dataclasses.replace(facts, derived={**firmware, **pci, **printed})
    rdma = tuple(_rdma_ports(facts))
    nics = tuple(_nics(facts))
    return Machine(facts, {**host_names(facts), **_fabric(nics, rdma, facts)}, nics, rdma)


def _driver(facts: HostFacts, uevent: str) -> Value:
    return first_match(r"^DRIVER=(\S+)$", facts.file(uevent).text or "") or UNKNOWN


def _nics(facts: HostFacts) -> list[Instance]:
    """Return the interfaces to audit with their names."""
    with_rdma = {
        path.split("/")[7] for path in facts.matching("/sys/class/infiniband/*/device/net/*/mtu")
    }
    ports = facts.matching(RDMA_PORTS)
    elsewhere: Value = bool(ports) or (UNKNOWN if _may_have_rdma(facts) else False)
    nics = audited(facts)
    rates = {nic.name: _speed(nic.name, facts) for nic in nics if is_real(nic)}
    named = {nic.name: nic for nic in nics}
    instances = [
        Instance(
            nic.name,
            {"nic": nic.name},
            {
                **names_of(nic, facts, nics),
                **_of_adapter(nic, facts),
                **modes_of(facts, nic.name),
                "nic.driver": _driver_of(nic, named, facts),
                "nic.rate": rate_of(nic, rates, named),
                "nic.rdma": (rdma := _over_ethernet(nic, with_rdma, facts)),
                "nic.manages": manages(facts, nic.name, rdma, elsewhere),
            },
        )
        for nic in nics
    ]
    every = [nic.names for nic in instances]
    for model in ("nic.most", "nic.board"):
        names = [each for each in every if each.get("nic.sisters", UNKNOWN) is UNKNOWN]
        _add_sisters(names, "nic", ("nic.driver", "nic.device", model))
    return instances


def _over_ethernet(nic: Nic, with_rdma: Collection[str], facts: HostFacts) -> Value:
    """Return whether RDMA runs over the interface's Ethernet."""
    if interface_kind(nic, facts) == "ipoib":
        return False
    return nic.name in with_rdma or (UNKNOWN if _may_have_rdma(facts) else False)


_RDMA_MODULES = frozenset({
    "bnxt_re", "efa", "erdma", "hfi1", "hns_roce", "i40iw", "ib_core", "ib_uverbs", "irdma",
    "iw_cxgb4", "mana_ib", "mlx4_core", "mlx5_core", "ocrdma", "qedr", "qib", "rdma_rxe", "siw",
    "usnic_verbs", "vmw_pvrdma",
})  # fmt: skip
"""The kernel's RDMA core, and drivers that need it: ib_core may be built in."""
_GPU_MODULES = frozenset({"nvidia", "amdgpu", "habanalabs", "xe"})


def _may_have_rdma(facts: HostFacts) -> bool:
    """Return whether invisible ports may exist; ibstat prints all ports."""
    if facts.command(IBSTAT).text:
        return False
    return facts.may_hide(RDMA_PORTS) and not _lacks(_RDMA_MODULES, facts)


def _lacks(modules: Collection[str], facts: HostFacts) -> bool:
    """Return whether the list of modules shows that none of ``modules`` is loaded."""
    listed = modules_in(facts.file("/proc/modules"))
    return isinstance(listed, list) and bool(listed) and not set(modules).intersection(listed)


def _gpus(facts: HostFacts) -> Value:
    devices = pci_devices(facts)
    count = max(len(facts.matching(_GPUS)), len(accelerators(devices)))
    hidden = facts.may_hide(_GPUS) and not devices and not _lacks(_GPU_MODULES, facts)
    return UNKNOWN if hidden and not count else count


def _is_down(name: str, facts: HostFacts) -> bool:
    return facts.line(f"/sys/class/net/{name}/operstate") == "down"


def _speed(name: str, facts: HostFacts) -> Value:
    if _is_down(name, facts):
        return 0.0
    speed = facts.line(f"/sys/class/net/{name}/speed")
    return int(speed) / 1000 if re.fullmatch(r"\d{1,9}", speed, re.ASCII) else UNKNOWN


def _of_adapter(nic: Nic, facts: HostFacts) -> dict[str, Value]:
    """Return the names for conditions that come from the sysfs files of an interface's adapter."""
    folder = f"/sys/class/net/{nic.name}"
    numa = facts.line(f"{folder}/device/numa_node")
    cpus = facts.line(f"{folder}/device/local_cpulist")
    uevent = facts.file(f"{folder}/device/uevent").text or ""
    board = re.findall(r"^PCI_(?:SUBSYS_)?ID=(\S+)$", uevent, re.MULTILINE)
    return {
        "nic.board": " ".join(board) or nic.pci.rpartition(".")[0] or UNKNOWN,
        "nic.idle": _is_down(nic.name, facts) and not nic.address and _never_up(nic.name, facts),
        "nic.ipoib": interface_kind(nic, facts) == "ipoib",
        "nic.cpus": cpu_list(cpus) if cpus else UNKNOWN,
        "nic.numa": int(numa) if re.fullmatch(r"-?\d{1,4}", numa) else UNKNOWN,
    }


_MOST_LEVELS = 8


def _driver_of(
    nic: Nic, named: Mapping[str, Nic], facts: HostFacts, levels: int = _MOST_LEVELS
) -> Value:
    """Return the driver of an adapter's interface; for a virtual interface, the common driver of
    all below it, else "".
    """
    driver = _driver(facts, f"/sys/class/net/{nic.name}/device/uevent")
    if not isinstance(driver, Unknown):
        return driver
    if is_real(nic):
        return nic.driver or printed_driver(facts, nic.name)
    below = [named[name] for name in nic.lower if name in named]
    drivers = {_driver_of(lower, named, facts, levels - 1) for lower in below} if levels else set()
    return drivers.pop() if len(drivers) == 1 else ""


def _rdma_ports(facts: HostFacts) -> list[Instance]:
    ports = []
    interfaces = {
        path.split("/")[4]: path.split("/")[7]
        for path in facts.matching("/sys/class/infiniband/*/device/net/*/mtu")
    }
    for path in facts.matching(RDMA_PORTS):
        device, port = path.split("/")[4], path.split("/")[6]
        folder = f"/sys/class/infiniband/{device}"
        rate = re.match(r"(\d{1,9}(?:\.\d{1,9})?) Gb", facts.line(f"{folder}/ports/{port}/rate"))
        names: dict[str, Value] = {
            "rdma.name": device,
            "rdma.port": port,
            "rdma.driver": _rdma_driver(facts, device),
            "rdma.nic": interfaces.get(device, ""),
            "rdma.layer": facts.line(path) or UNKNOWN,
            "rdma.rate": float(rate.group(1)) if rate else UNKNOWN,
            "rdma.active": facts.line(f"{folder}/ports/{port}/state").startswith("4:"),
            "rdma.board": facts.line(f"{folder}/board_id") or device,
            "rdma.most": signalled(facts, device, port),
        }
        ports.append(Instance(f"{device}:{port}", {"device": device, "port": port}, names))
    like = ("rdma.board", "rdma.layer", "rdma.active")
    _add_sisters([port_instance.names for port_instance in ports], "rdma", like)
    _add_idle(ports, facts)
    return ports


def _add_sisters(all_names: Sequence[dict[str, Value]], scope: str, like: Sequence[str]) -> None:
    """Add ``SCOPE.sisters`` to the names of each instance: the fastest rate among instances with
    the same values of ``like``, UNKNOWN if the last value of ``like`` is UNKNOWN.
    """
    fastest: dict[str, float] = {}
    for names in all_names:
        rate, key = names[f"{scope}.rate"], repr([names[name] for name in like])
        if isinstance(rate, (int, float)):
            fastest[key] = max(rate, fastest.get(key, 0.0))
    for names in all_names:
        key, known = repr([names[name] for name in like]), names[like[-1]] is not UNKNOWN
        names[f"{scope}.sisters"] = fastest.get(key, UNKNOWN) if known else UNKNOWN


def _add_idle(ports: Sequence[Instance], facts: HostFacts) -> None:
    addressed = {nic.name for nic in listed_nics(facts) if nic.address}
    active = Counter(_card(port, facts) for port in ports if port.names["rdma.active"])
    folder = "/sys/class/infiniband/{device}/ports/{port}"
    for port in ports:
        alone = port.names["rdma.active"] or not active[_card(port, facts)]
        nic = port.names["rdma.nic"]
        used = alone or nic in addressed
        lost = facts.line(f"{folder.format(**port.places)}/counters/link_downed")
        unused: Value = lost == "0" if lost else UNKNOWN
        if unused is True and nic:
            unused = _never_up(str(nic), facts)
        port.names["rdma.idle"] = False if used else unused


def _card(port: Instance, facts: HostFacts) -> str:
    """Return the PCI address of the port's card without the function, else its device."""
    device = port.places["device"]
    uevent = facts.file(f"/sys/class/infiniband/{device}/device/uevent").text or ""
    return first_match(r"^PCI_SLOT_NAME=(\S+)\.[0-7]$", uevent) or device


def _never_up(nic: str, facts: HostFacts) -> Value:
    """Return whether the interface had no link since the driver was loaded, which counts at most
    the change to "no carrier".
    """
    changes = facts.line(f"/sys/class/net/{nic}/carrier_changes")
    return changes in ("0", "1") if changes else UNKNOWN


def _rdma_driver(facts: HostFacts, device: str) -> Value:
    """Return the driver of an RDMA device; if no file names it, the loaded module that devices are
    named after (hfi1_0).
    """
    driver = _driver(facts, f"/sys/class/infiniband/{device}/device/uevent")
    name = re.sub(r"_?\d{1,4}$", "", device)
    module = facts.matching(f"/sys/module/{name}/parameters/*")
    return name if isinstance(driver, Unknown) and name and module else driver


def _fabric(
    nics: tuple[Instance, ...], rdma: tuple[Instance, ...], facts: HostFacts
) -> dict[str, Value]:
    real = [nic for nic in nics if nic.names["nic.device"]]
    drivers = [*_texts(rdma, "rdma.driver"), *_texts(real, "nic.driver")]
    rates = [*_numbers(rdma, "rdma.rate"), *_numbers(real, "nic.rate")]
    ethernet = [nic for nic in nics if nic.names["nic.kind"] != "ipoib"]
    hidden = not rdma and _may_have_rdma(facts)
    nameless = any(isinstance(port.names["rdma.driver"], Unknown) for port in rdma)
    unread = facts.file("/proc/modules").text is None
    unsure = nameless or (hidden and (unread or not drivers))
    return {
        "host.fabrics": UNKNOWN if unsure else sorted(set(drivers)),
        "host.rate": max(rates, default=UNKNOWN),
        "host.rdma": len(rdma) or (UNKNOWN if hidden else 0),
        "host.mtu": max(
            _numbers(ethernet, "nic.mtu"), default=0 if nics and not ethernet else UNKNOWN
        ),
        "host.gpus": _gpus(facts),
    }


def _texts(of: Iterable[Instance], name: str) -> list[str]:
    """Return the values that could be read."""
    return [text for instance in of if isinstance(text := instance.names[name], str)]


def _numbers(of: Iterable[Instance], name: str) -> list[float]:
    return [number for instance in of if isinstance(number := instance.names[name], (int, float))]
