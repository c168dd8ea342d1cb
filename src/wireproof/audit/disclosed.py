"""What the facts of a host say of its hardware, firmware and system, item by item, for a
disclosure. What cannot be read is not left out: it says why. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from wireproof.audit.facts import HostFacts
from wireproof.model.disclosure import Group

__all__ = ["DISCLOSED_FILES", "DISCLOSED_GLOBS", "DisclosedItem", "disclosed_items"]

_DMI = "/sys/class/dmi/id"
DISCLOSED_FILES = (f"{_DMI}/bios_version", f"{_DMI}/bios_date")
DISCLOSED_GLOBS = (
    "/sys/class/infiniband/*/fw_ver",
    "/sys/class/infiniband/*/board_id",
    "/sys/class/net/*/device/driver/module/version",
)
"""What is read of a host for this alone, beside what the audit's settings need."""
_CPUINFO = "/proc/cpuinfo"
_MOST = 400


class DisclosedItem(NamedTuple):
    """``value`` "": not known, and ``why``."""

    group: Group
    name: str
    value: str
    why: str = ""


def disclosed_items(facts: HostFacts) -> list[DisclosedItem]:
    """Each item once; those of which there may be several (adapters) once for each."""
    found = [_item(facts, *one) for one in _SINGLE]
    return [
        *found,
        *_of_each(facts, "firmware", "fw_ver", "firmware of {}"),
        *_of_each(facts, "hardware", "board_id", "board of {}"),
        *_drivers(facts),
    ]


def _item(
    facts: HostFacts, group: Group, name: str, paths: tuple[str, ...], read: Callable[[str], str]
) -> DisclosedItem:
    """Of the first of ``paths`` that answers."""
    for path in paths:
        text = facts.file(path).text
        if text and (value := " ".join(read(text).split())[:_MOST]):
            return DisclosedItem(group, name, value)
    return DisclosedItem(group, name, "", facts.file(paths[0]).why or "it does not say")


def _line(text: str) -> str:
    return text.strip().partition("\n")[0]


def _field(name: str) -> Callable[[str], str]:
    """Behind ``name`` and a colon or an equal sign, the first that stands there."""
    pattern = re.compile(rf"^{name}[ \t]*[:=][ \t]*\"?([^\"\n]*)\"?$", re.MULTILINE)

    def read(text: str) -> str:
        found = pattern.search(text)
        return found[1] if found else ""

    return read


def _processors(text: str) -> str:
    """Sockets, cores and threads of an x86 processor; the number of processors of others."""
    threads = len(re.findall(r"^processor\s*:", text, re.MULTILINE))
    sockets = len(set(re.findall(r"^physical id\s*:\s*(\d+)", text, re.MULTILINE)))
    cores = _field("cpu cores")(text)
    if sockets and cores.isdigit():
        return f"{sockets} x {cores} cores, {threads} threads online"
    return f"{threads} processors" if threads else ""


def _memory(text: str) -> str:
    kilobytes = _field("MemTotal")(text).partition(" ")[0]
    return f"{int(kilobytes) / (1 << 20):.1f} GiB" if kilobytes.isdigit() else ""


def _kernel(text: str) -> str:
    found = re.match(r"Linux version (\S+)", text)
    return found[1] if found else ""


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
    ("system", "kernel", ("/proc/version",), _kernel),
    ("system", "kernel command line", ("/proc/cmdline",), _line),
)


def _of_each(facts: HostFacts, group: Group, file: str, name: str) -> list[DisclosedItem]:
    """A file of every RDMA device."""
    return [
        DisclosedItem(
            group, name.format(path.split("/")[4]), _line(facts.file(path).text or "")[:_MOST]
        )
        for path in facts.matching(f"/sys/class/infiniband/*/{file}")
        if (facts.file(path).text or "").strip()
    ]


def _drivers(facts: HostFacts) -> list[DisclosedItem]:
    """Versions of drivers that state one (those in the kernel's tree have the kernel's), and the
    firmware that ``ethtool -i`` prints.
    """
    found = [
        DisclosedItem("system", f"driver version of {path.split('/')[4]}", _line(text)[:_MOST])
        for path in facts.matching("/sys/class/net/*/device/driver/module/version")
        if (text := (facts.file(path).text or "").strip())
    ]
    for argv, frame in facts.commands.items():
        if argv[:2] == ("ethtool", "-i") and frame.status == "ok":
            firmware = _field("firmware-version")(frame.text).strip()
            if firmware and firmware != "N/A":
                found.append(DisclosedItem("firmware", f"firmware of {argv[2]}", firmware[:_MOST]))
    return found
