# pure
"""Derive the properties of the host itself from files: processor, memory, system, virtualization.
Pure.
"""

import functools
import re
from collections.abc import Callable, Iterator

from wireproof.audit.expression import UNKNOWN, Value
from wireproof.audit.facts import HostFacts, PlaceAnswer, first_match
from wireproof.audit.values import cpu_list
from wireproof.model.quantity import whole
from wireproof.model.setting import Disclosed, Group

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
    (0x19, range(0x90, 0xA0), "mi300a"),
    (0x19, range(0xA0, 0xB0), "bergamo"),
    (0x1A, range(0x20), "turin"),
)
"""Family, models, name: only server processors; models of desktops and laptops lie between them."""
_ARM = {"0x41": "neoverse", "0x48": "kunpeng", "0x46": "a64fx"}
"""By implementer. Grace has Arm cores (0x41), like others."""
_DMI = "/sys/class/dmi/id"
_VIRTUAL = re.compile(
    r"Amazon EC2\n(?!.*\.metal)|Google\nGoogle Compute Engine"
    r"|(QEMU|VMware, Inc\.|Xen|Parallels[^\n]*|innotek GmbH|KubeVirt|OpenStack Foundation)\n"
    r"|[^\n]*\n[^\n]*\b(KVM|Virtual Machine)\b"
)
"""Maker and product, each on its own line, of the machines that hypervisors and clouds provide."""


_VERSION = r"\ALinux version (\S+)"


def host_names(facts: HostFacts) -> dict[str, Value]:
    """Return the names ``host.*`` that do not depend on adapters."""
    cpu = facts.line("/proc/cpuinfo")
    named = facts.line("/etc/os-release") or facts.line("/usr/lib/os-release")
    release = dict(re.findall(r'^(\w+)="?([^"\n]*)"?$', named, re.MULTILINE))
    kernel = first_match(_VERSION, facts.line("/proc/version"))
    released = facts.line("/proc/sys/kernel/osrelease")  # for archives without /proc/version
    memory = re.search(r"^MemTotal:\s+(\d{1,15}) kB", facts.line("/proc/meminfo"), re.MULTILINE)
    swap = re.search(r"^SwapTotal:\s+(\d{1,15}) kB", facts.line("/proc/meminfo"), re.MULTILINE)
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
        "host.board": (
            True if "bios" in facts.files else UNKNOWN if virtual is UNKNOWN else not virtual
        ),
        "host.kernel": kernel or released or UNKNOWN,
        "host.os": release.get("ID", UNKNOWN),
        "host.os_version": release.get("VERSION_ID", UNKNOWN),
        "host.modules": modules_in(modules),
        "host.cmdline": facts.file("/proc/cmdline").text or UNKNOWN,
    }


def modules_in(answer: PlaceAnswer) -> Value:
    """Return the loaded modules; a kernel without loadable modules has no such file."""
    if answer.text is None:
        return [] if answer.absent else UNKNOWN
    return [line.split(" ", 1)[0] for line in answer.text.splitlines()]


def _count(ranges: str) -> Value:
    members = cpu_list(ranges) if ranges else UNKNOWN
    return len(members) if isinstance(members, list) else UNKNOWN


def _processor(cpuinfo: str) -> tuple[Value, Value]:
    """Return (maker, generation); UNKNOWN if the text does not name them."""
    named = dict(re.findall(r"^([\w ]+?)\s*: (.*)$", cpuinfo[:8192], re.MULTILINE))
    if (implementer := named.get("CPU implementer")) is not None:
        return "arm", _ARM.get(implementer, UNKNOWN)
    if (power := re.match(r"POWER\d+", named.get("cpu", ""))) is not None:
        return "ibm", power.group().lower()
    try:
        family, model = int(named["cpu family"]), int(named["model"])
    except (KeyError, ValueError):
        return UNKNOWN, UNKNOWN
    vendor = named.get("vendor_id", "")
    if vendor == "GenuineIntel":
        stepping = whole(named.get("stepping", "")) or 0
        name = _INTEL.get(model, UNKNOWN) if family == 6 else UNKNOWN
        return "intel", "cascadelake" if name == "skylake" and stepping >= 5 else name
    if vendor == "AuthenticAMD":
        fitting = [name for at, models, name in _AMD if family == at and model in models]
        return "amd", fitting[0] if fitting else UNKNOWN
    return vendor.lower() or UNKNOWN, UNKNOWN


def _virtual(facts: HostFacts, cpuinfo: str) -> Value:
    """Decide by the processor flag ``hypervisor``, which every hypervisor sets. Arm has no such
    flag, and folders of texts have no flags: decide by the machine's name in the firmware.
    """
    if re.search(r"^flags\s*:.*\bhypervisor\b", cpuinfo, re.MULTILINE):
        return True
    if facts.line("/sys/hypervisor/type"):
        return True
    named = f"{facts.line(f'{_DMI}/sys_vendor')}\n{facts.line(f'{_DMI}/product_name')}"
    if not cpuinfo and not named.strip():
        return UNKNOWN
    by_name = not cpuinfo or "CPU implementer" in cpuinfo
    return by_name and _VIRTUAL.match(named) is not None


DISCLOSED_FILES = (f"{_DMI}/bios_version", f"{_DMI}/bios_date")
DISCLOSED_GLOBS = (
    "/sys/class/infiniband/*/fw_ver",
    "/sys/class/infiniband/*/board_id",
    "/sys/class/net/*/device/driver/module/version",
)
"""Places that are read only for the disclosure, besides those that the settings need."""
_CPUINFO = "/proc/cpuinfo"
_LONGEST = 400


def disclosed_items(facts: HostFacts) -> list[Disclosed]:
    """Return every item of the host once; items of adapters, once per adapter."""
    return [
        *[_item(facts, *single) for single in _SINGLE],
        *(
            Disclosed(group=group, name=name, value=value[:_LONGEST], hosts=[facts.host])
            for group, name, value in _of_adapters(facts)
            if value
        ),
    ]


def _item(
    facts: HostFacts, group: Group, name: str, paths: tuple[str, ...], read: Callable[[str], str]
) -> Disclosed:
    """Return the item from the first of ``paths`` that answers."""
    for path in paths:
        text = facts.file(path).text
        if text and (value := " ".join(read(text).split())[:_LONGEST]):
            return Disclosed(group=group, name=name, value=value, hosts=[facts.host])
    why = facts.file(paths[0]).why or "it does not say"
    return Disclosed(group=group, name=name, value="", hosts=[facts.host], why=why)


def _line(text: str) -> str:
    return text.strip().partition("\n")[0]


def _field(name: str) -> Callable[[str], str]:
    """Return a reader of the text after ``name`` and a colon or an equals sign, at its first
    occurrence.
    """
    return functools.partial(first_match, rf"^{name}[ \t]*[:=][ \t]*\"?([^\"\n]*)\"?$")


def _processors(text: str) -> str:
    """Return sockets, cores and threads of x86 processors; for others the number of processors."""
    threads = len(re.findall(r"^processor\s*:", text, re.MULTILINE))
    sockets = len(set(re.findall(r"^physical id\s*:\s*(\d+)", text, re.MULTILINE)))
    cores = _field("cpu cores")(text)
    if sockets and cores.isdigit():
        return f"{sockets} x {cores} cores, {threads} threads online"
    return f"{threads} processors" if threads else ""


def _memory(text: str) -> str:
    kilobytes = whole(_field("MemTotal")(text).partition(" ")[0])
    return "" if kilobytes is None else f"{kilobytes / (1 << 20):.1f} GiB"


_SINGLE: tuple[tuple[Group, str, tuple[str, ...], Callable[[str], str]], ...] = (
    ("hardware", "maker", (f"{_DMI}/sys_vendor",), _line),
    ("hardware", "model", (f"{_DMI}/product_name",), _line),
    ("hardware", "processor", (_CPUINFO,), _field("(?:model name|CPU part|cpu model)")),
    ("hardware", "sockets x cores", (_CPUINFO,), _processors),
    ("hardware", "NUMA nodes online", ("/sys/devices/system/node/online",), _line),
    ("hardware", "memory", ("/proc/meminfo",), _memory),
    ("firmware", "BIOS version", (f"{_DMI}/bios_version",), _line),
    ("firmware", "BIOS date", (f"{_DMI}/bios_date",), _line),
    (
        "firmware",
        "microcode",
        ("/sys/devices/system/cpu/cpu0/microcode/version", _CPUINFO),
        lambda text: _field("microcode")(text) or (_line(text) if ":" not in text else ""),
    ),
    (
        "system",
        "operating system",
        ("/etc/os-release", "/usr/lib/os-release"),
        _field("PRETTY_NAME"),
    ),
    ("system", "kernel", ("/proc/version",), lambda text: first_match(_VERSION, text)),
    ("system", "kernel command line", ("/proc/cmdline",), _line),
)


_EACH: tuple[tuple[Group, str, str], ...] = (
    ("firmware", "firmware of {}", "/sys/class/infiniband/*/fw_ver"),
    ("hardware", "board of {}", "/sys/class/infiniband/*/board_id"),
    ("system", "driver version of {}", "/sys/class/net/*/device/driver/module/version"),
)
"""Items of an adapter. Drivers in the kernel's tree state no version: they have the kernel's."""


def _of_adapters(facts: HostFacts) -> Iterator[tuple[Group, str, str]]:
    """Yield group, name and value of each item, and the firmware that ``ethtool -i`` prints."""
    for group, name, pattern in _EACH:
        for path in facts.matching(pattern):
            yield group, name.format(path.split("/")[4]), _line(facts.file(path).text or "")
    for argv, frame in facts.commands.items():
        if argv[:2] == ("ethtool", "-i") and frame.status == "ok":
            firmware = _field("firmware-version")(frame.text).strip()
            yield "firmware", f"firmware of {argv[2]}", "" if firmware == "N/A" else firmware
