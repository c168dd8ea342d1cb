"""Reads the facts of a host that ansible gathered (``ansible -m setup --tree FOLDER``). Pure."""

import re
from collections.abc import Iterator
from typing import Any

import msgspec

_NIC = re.compile(r"[\w.@:-]{1,15}")
_COMMANDS = "sos_commands/any"


def places_of_facts(text: str) -> Iterator[tuple[str, str]]:
    """Yield the files and outputs that the facts stand for; nothing for what is no JSON."""
    try:
        facts = msgspec.json.decode(text, type=dict[str, Any]).get("ansible_facts")
    except (msgspec.MsgspecError, RecursionError):
        return
    if not isinstance(facts, dict):
        return
    known = {str(key).removeprefix("ansible_"): value for key, value in facts.items()}
    yield from ((place, f"{line}\n") for place, line in _of_host(known) if line)
    listed = known.get("interfaces")
    for nic in listed if isinstance(listed, list) else ():
        name = str(nic)
        fact = known.get(re.sub(r"[.:-]", "_", name))
        if _NIC.fullmatch(name) and isinstance(fact, dict):
            yield from _of_nic(name, fact)


def _of_host(facts: dict[str, Any]) -> Iterator[tuple[str, str]]:
    def text(name: str) -> str:
        value = facts.get(name)
        return " ".join(str(value).split()) if isinstance(value, (str, int, float)) else ""

    yield "etc/hostname", text("hostname")
    yield "proc/version", f"Linux version {text('kernel')}" if text("kernel") else ""
    yield "etc/os-release", _release(text("distribution"), text("distribution_version"))
    yield "proc/cmdline", _arguments(facts.get("cmdline"))
    yield "proc/meminfo", _memory(facts)
    yield "proc/cpuinfo", _processor(facts)
    for name in ("bios_version", "bios_date", "product_name"):
        yield f"sys/class/dmi/id/{name}", text(name)
    yield "sys/class/dmi/id/sys_vendor", text("system_vendor")
    selinux = facts.get("selinux")
    mode = selinux.get("mode") if isinstance(selinux, dict) else None
    yield "sys/fs/selinux/enforce", {"enforcing": "1", "permissive": "0"}.get(str(mode), "")


def _release(name: str, version: str) -> str:
    word = {"redhat": "rhel", "oraclelinux": "ol"}.get(name.lower(), name.lower())
    return f'ID="{word}"\nVERSION_ID="{version}"' if re.fullmatch(r"\w+", word) else ""


def _arguments(arguments: Any) -> str:
    if not isinstance(arguments, dict):
        return ""
    return " ".join(
        str(name) if value is True else f"{name}={value}" for name, value in arguments.items()
    )


def _memory(facts: dict[str, Any]) -> str:
    rows = (("MemTotal", "memtotal_mb"), ("SwapTotal", "swaptotal_mb"))
    values = ((name, facts.get(key)) for name, key in rows)
    return "\n".join(f"{name}: {value * 1024} kB" for name, value in values
                     if isinstance(value, int))  # fmt: skip


def _processor(facts: dict[str, Any]) -> str:
    """Return the maker, and whether it is a guest. The list has number, maker and model."""
    listed = facts.get("processor")
    if not isinstance(listed, list):
        return ""
    maker = next((str(one) for one in listed if str(one) in ("GenuineIntel", "AuthenticAMD")), "")
    guest = " hypervisor" if facts.get("virtualization_role") == "guest" else ""
    lines = ["processor\t: 0", f"vendor_id\t: {maker}" if maker else "", f"flags\t\t: fpu{guest}"]
    return "\n".join(filter(None, lines))


def _of_nic(name: str, fact: dict[str, Any]) -> Iterator[tuple[str, str]]:
    folder = f"sys/class/net/{name}"
    mtu, speed, active = (fact.get(key) for key in ("mtu", "speed", "active"))
    if isinstance(mtu, int):
        yield f"{folder}/mtu", f"{mtu}\n"
    if isinstance(speed, int) and speed:
        yield f"{folder}/speed", f"{speed}\n"
    if isinstance(active, bool):
        yield f"{folder}/operstate", "up\n" if active else "down\n"
    driver, pci = fact.get("module"), fact.get("pciid")
    if isinstance(driver, str) and re.fullmatch(r"\w{1,32}", driver):
        slot = f"bus-info: {pci}\n" if isinstance(pci, str) and ":" in pci else ""
        yield f"{_COMMANDS}/ethtool_-i_{name}", f"driver: {driver}\n{slot}"
    features = fact.get("features")
    if isinstance(features, dict):
        rows = (f"{str(key).replace('_', '-')}: {value}\n" for key, value in features.items())
        yield f"{_COMMANDS}/ethtool_-k_{name}", f"Features for {name}:\n" + "".join(rows)
