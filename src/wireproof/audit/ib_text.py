"""Files of /sys/class/infiniband from what ``ibstat``, ``ibv_devinfo`` and ``perfquery`` printed,
as archives keep it. Pure. The texts are hostile: what is not understood is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from wireproof.audit.facts import HostFacts
from wireproof.model.record import Nic

__all__ = ["DEVINFO", "IBSTAT", "files_of_ib", "perfquery_of"]

IBSTAT = ("ibstat",)
DEVINFO = ("ibv_devinfo", "-v")
_PORT_STATES = {"Down": 1, "Initializing": 2, "Armed": 3, "Active": 4}
"""Numbers of PortInfo.PortState (IBA, 14.2.5.6), as /sys prints them before the word."""
_PHYSICAL = {"Sleep": 1, "Polling": 2, "Disabled": 3, "PortConfigurationTraining": 4,
             "LinkUp": 5, "LinkErrorRecovery": 6}  # fmt: skip
_CA = re.compile(r"^CA '([\w.-]{1,64})'\n((?:[ \t].*\n?)*)", re.MULTILINE)
_PORT = re.compile(r"^[ \t]+Port (\d{1,3}):\n((?:\s+(?!Port \d)[^\n]*\n?)*)", re.MULTILINE)
_HCA = re.compile(r"^hca_id:[ \t]*([\w.-]{1,64})\n((?:[ \t].*\n?|\n)*)", re.MULTILINE)
_HCA_PORT = re.compile(r"^[ \t]+port:\s+(\d{1,3})\n((?:\s+(?!port:)[^\n]*\n?)*)", re.MULTILINE)
_GID = re.compile(r"^[ \t]+GID\[\s*(\d{1,4})\]:.*, (RoCE v[12]|IB/RoCE v1)\s*$", re.MULTILINE)
_DRIVERS = {
    "mlx5": "mlx5_core",
    "mlx4": "mlx4_core",
    "hfi1": "hfi1",
    "irdma": "irdma",
    "bnxt_re": "bnxt_re",
}
"""Drivers whose devices have names of the kernel: NAME_NUMBER or NAMENUMBER."""
_QUERIED = {
    "SymbolErrorCounter": "symbol_error",
    "LinkErrorRecoveryCounter": "link_error_recovery",
    "LinkDownedCounter": "link_downed",
    "PortRcvErrors": "port_rcv_errors",
    "PortRcvRemotePhysicalErrors": "port_rcv_remote_physical_errors",
    "PortXmitDiscards": "port_xmit_discards",
    "LocalLinkIntegrityErrors": "local_link_integrity_errors",
    "ExcessiveBufferOverrunErrors": "excessive_buffer_overrun_errors",
}
_FOLDER = "/sys/class/infiniband"

Files = Iterator[tuple[str, str]]


def perfquery_of(device: str, port: str) -> tuple[str, ...]:
    """What an archive keeps of a port's counters."""
    return ("perfquery", "-C", device, "-P", port)


def files_of_ib(facts: HostFacts, nics: Iterable[Nic]) -> Files:
    """By path, what the files would say. ``nics``: by whose addresses RoCE's ports are theirs."""
    lanes = dict(_lanes(facts))
    owners = {_guid(one.mac): one for one in nics if len(one.mac) == _MAC}
    for device, body in _CA.findall(f"{facts.command(IBSTAT).text or ''}\n"):
        folder = f"{_FOLDER}/{device}"
        if driver := _DRIVERS.get(re.sub(r"_?\d{1,4}$", "", device)):
            yield f"{folder}/device/uevent", f"DRIVER={driver}\n"
        if firmware := re.search(r"^[ \t]+Firmware version: (\S+)$", body, re.MULTILINE):
            yield f"{folder}/fw_ver", firmware[1]
        for port, lines in _PORT.findall(body):
            values = dict(re.findall(r"^[ \t]+([\w ]+): (.+)$", lines, re.MULTILINE))
            for name, text in _of_port(values, lanes.get((device, port), "")):
                yield f"{folder}/ports/{port}/{name}", text
            if owner := owners.get(values.get("Port GUID", "")):
                yield f"{folder}/device/net/{owner.name}/mtu", str(owner.mtu or "")
    yield from _of_devinfo(facts)
    yield from _of_perfquery(facts)


_MAC = len("00:11:22:33:44:55")
_LOCAL = 0x02
"""The bit of an EUI-64 that an interface identifier inverts (RFC 4291, appendix A)."""


def _guid(mac: str) -> str:
    """The GUID that drivers give RoCE's port of the interface."""
    first, *rest = (int(part, 16) for part in mac.split(":"))
    parts = [first ^ _LOCAL, *rest[:2], 0xFF, 0xFE, *rest[2:]]
    return "0x" + "".join(f"{part:02x}" for part in parts)


def _of_port(values: dict[str, str], lanes: str) -> Files:
    if layer := values.get("Link layer"):
        yield "link_layer", layer
    if re.fullmatch(r"\d{1,4}(\.\d)?", rate := values.get("Rate", "")):
        yield "rate", f"{rate} Gb/sec ({lanes})" if lanes else f"{rate} Gb/sec"
    if (state := values.get("State", "")) in _PORT_STATES:
        yield "state", f"{_PORT_STATES[state]}: {state.upper().replace('INITIALIZING', 'INIT')}"
    if (state := values.get("Physical state", "")) in _PHYSICAL:
        yield "phys_state", f"{_PHYSICAL[state]}: {state}"
    if re.fullmatch(r"\d{1,5}", lid := values.get("SM lid", "")):
        yield "sm_lid", f"0x{int(lid):x}"


def _devinfo(facts: HostFacts) -> Iterator[tuple[str, str]]:
    return iter(_HCA.findall(f"{facts.command(DEVINFO).text or ''}\n"))


def _lanes(facts: HostFacts) -> Iterator[tuple[tuple[str, str], str]]:
    """How many lanes each port uses, such as 4X."""
    for device, body in _devinfo(facts):
        for port, lines in _HCA_PORT.findall(body):
            if found := re.search(r"^[ \t]+active_width:\s+(\d{1,2}X)\b", lines, re.MULTILINE):
                yield (device, port), found[1]


def _of_devinfo(facts: HostFacts) -> Files:
    for device, body in _devinfo(facts):
        if board := re.search(r"^[ \t]+board_id:\s+(\S+)$", body, re.MULTILINE):
            yield f"{_FOLDER}/{device}/board_id", board[1]
        for port, lines in _HCA_PORT.findall(body):
            for index, kind in _GID.findall(lines):
                yield f"{_FOLDER}/{device}/ports/{port}/gid_attrs/types/{index}", kind


_WORDS = len(perfquery_of("", ""))


def _of_perfquery(facts: HostFacts) -> Files:
    for argv, frame in facts.commands.items():
        if frame.status != "ok" or len(argv) != _WORDS or argv != perfquery_of(argv[2], argv[4]):
            continue
        for name, count in re.findall(r"^(\w+):\.+(\d{1,20})$", frame.text, re.MULTILINE):
            if file := _QUERIED.get(name):
                yield f"{_FOLDER}/{argv[2]}/ports/{argv[4]}/counters/{file}", count
