"""What the files say of the host itself: processor, memory, system, whether it is virtual. Pure."""

from __future__ import annotations

import re

from wireproof.audit.expression import UNKNOWN, Unknown, Value
from wireproof.audit.facts import HostFacts, PlaceAnswer
from wireproof.audit.values import cpu_list

__all__ = ["HOST_FILES", "PACKAGES", "host_names", "modules_in"]

HOST_FILES = (
    "/proc/cpuinfo",
    "/proc/version",
    "/proc/meminfo",
    "/proc/cmdline",
    "/etc/os-release",
    "/usr/lib/os-release",
    "/sys/class/dmi/id/product_name",
    "/sys/class/dmi/id/sys_vendor",
    "/sys/hypervisor/type",
    "/sys/devices/system/cpu/online",
    "/sys/devices/system/node/online",
    "/proc/modules",
)
PACKAGES = "/sys/devices/system/cpu/cpu*/topology/physical_package_id"

_INTEL = {
    63: "haswell", 79: "broadwell", 86: "broadwell", 85: "skylake", 106: "icelake", 108: "icelake",
    143: "sapphire-rapids", 207: "emerald-rapids", 173: "granite-rapids", 174: "granite-rapids",
    175: "sierra-forest", 62: "ivybridge", 45: "sandybridge",
}  # fmt: skip
_AMD = (
    (0x17, range(0x08), "naples"),
    (0x17, range(0x30, 0x40), "rome"),
    (0x19, range(0x10), "milan"),
    (0x19, range(0x10, 0x20), "genoa"),
    (0x19, range(0xA0, 0xB0), "bergamo"),
    (0x1A, range(0x20), "turin"),
)
"""Family, models, name: the server processors alone, desktops' and laptops' models lie between."""
_ARM = {"0x41": "neoverse", "0x48": "kunpeng", "0x46": "a64fx"}
"""By implementer. Grace is of Arm's cores (0x41), as others are."""
_DMI = "/sys/class/dmi/id"
_VIRTUAL = re.compile(
    r"Amazon EC2\n(?!.*\.metal)|Google\nGoogle Compute Engine"
    r"|(QEMU|VMware, Inc\.|Xen|Parallels[^\n]*|innotek GmbH|OpenStack Foundation)\n"
    r"|[^\n]*\n[^\n]*\b(KVM|Virtual Machine)\b"
)
"""Maker and product, a line each, that hypervisors and clouds give their machines."""


def host_names(facts: HostFacts) -> dict[str, Value]:
    """The names ``host.*`` that do not depend on its adapters."""
    cpu = facts.line("/proc/cpuinfo")
    named = facts.line("/etc/os-release") or facts.line("/usr/lib/os-release")
    release = dict(re.findall(r'^(\w+)="?([^"\n]*)"?$', named, re.MULTILINE))
    kernel = re.match(r"Linux version (\S+)", facts.line("/proc/version"))
    memory = re.search(r"^MemTotal:\s+(\d+) kB", facts.line("/proc/meminfo"), re.MULTILINE)
    swap = re.search(r"^SwapTotal:\s+(\d+) kB", facts.line("/proc/meminfo"), re.MULTILINE)
    modules = facts.file("/proc/modules")
    packages = {facts.line(path) for path in facts.matching(PACKAGES)}
    vendor, generation = _processor(cpu)
    virtual = _virtual(facts, cpu)
    return {
        "host.vendor": vendor,
        "host.cpu": generation,
        "host.cores": _count(facts.line("/sys/devices/system/cpu/online")),
        "host.numa_nodes": _count(facts.line("/sys/devices/system/node/online")),
        "host.sockets": len(packages) or UNKNOWN,
        "host.memory": int(memory.group(1)) * 1024 if memory else UNKNOWN,
        "host.swap": int(swap.group(1)) * 1024 if swap else UNKNOWN,
        "host.virtual": virtual,
        "host.board": True if "bios" in facts.files else _not(virtual),
        "host.kernel": kernel.group(1) if kernel else UNKNOWN,
        "host.os": release.get("ID", UNKNOWN),
        "host.os_version": release.get("VERSION_ID", UNKNOWN),
        "host.modules": modules_in(modules),
        "host.cmdline": facts.file("/proc/cmdline").text or UNKNOWN,
    }


def _not(value: Value) -> Value:
    return value if isinstance(value, Unknown) else not value


def modules_in(answer: PlaceAnswer) -> Value:
    """A kernel without loadable modules has no such file."""
    if answer.text is None:
        return [] if answer.absent else UNKNOWN
    return [line.split(" ", 1)[0] for line in answer.text.splitlines()]


def _count(ranges: str) -> Value:
    found = cpu_list(ranges) if ranges else UNKNOWN
    return len(found) if isinstance(found, list) else UNKNOWN


def _processor(cpuinfo: str) -> tuple[Value, Value]:
    """Maker and generation; UNKNOWN where the text does not name them."""
    named = dict(re.findall(r"^([\w ]+?)\s*: (.*)$", cpuinfo[:8192], re.MULTILINE))
    if (implementer := named.get("CPU implementer")) is not None:
        return "arm", _ARM.get(implementer, UNKNOWN)
    try:
        family, model = int(named["cpu family"]), int(named["model"])
    except (KeyError, ValueError):
        return UNKNOWN, UNKNOWN
    vendor = named.get("vendor_id", "")
    if vendor == "GenuineIntel":
        stepping = int(named["stepping"]) if named.get("stepping", "").isdigit() else 0
        name = _INTEL.get(model, UNKNOWN) if family == 6 else UNKNOWN
        return "intel", "cascadelake" if name == "skylake" and stepping >= 5 else name
    if vendor == "AuthenticAMD":
        fitting = [name for at, models, name in _AMD if family == at and model in models]
        return "amd", fitting[0] if fitting else UNKNOWN
    return vendor.lower() or UNKNOWN, UNKNOWN


def _virtual(facts: HostFacts, cpuinfo: str) -> Value:
    """By the processor's flag ``hypervisor``, which every hypervisor sets; Arm has no such flag:
    there by what the firmware calls the machine.
    """
    if not cpuinfo:
        return UNKNOWN
    if re.search(r"^flags\s*:.*\bhypervisor\b", cpuinfo, re.MULTILINE):
        return True
    if facts.line("/sys/hypervisor/type"):
        return True
    named = f"{facts.line(f'{_DMI}/sys_vendor')}\n{facts.line(f'{_DMI}/product_name')}"
    return "CPU implementer" in cpuinfo and _VIRTUAL.match(named) is not None
