"""Which interfaces of a host carry connections to it that must not break. Pure."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable

import msgspec

from wireproof.audit.facts import HostFacts
from wireproof.audit.interfaces import INTERFACES
from wireproof.model.json_reader import decode_json
from wireproof.model.plan import FactRequest
from wireproof.model.record import Nic

__all__ = ["CONNECTIONS", "default_interfaces", "having", "ssh_addresses", "with_lower"]

_TABLES = ("/proc/net/tcp", "/proc/net/tcp6")
_ROUTES = "/proc/net/route"
CONNECTIONS = (
    *(FactRequest(kind="file", path=path, limit_bytes=1 << 20) for path in _TABLES),
    FactRequest(kind="file", path=_ROUTES),
)
_ESTABLISHED_SSH = re.compile(r"^[ \t]*\d+: ([0-9A-F]{8}|[0-9A-F]{32}):0016 \S+ 01 ", re.MULTILINE)
_DEFAULT = re.compile(r"^(\S+)\s+00000000\s+\S+\s+([0-9A-F]{4})\s", re.MULTILINE)
_UP = 1


def ssh_addresses(facts: HostFacts) -> set[str]:
    """Our end of each connection to the host's port 22 that is open."""
    found: set[str] = set()
    for table in _TABLES:
        for digits in _ESTABLISHED_SSH.findall(facts.file(table).text or ""):
            found.add(_address(digits))
    return found


def _address(digits: str) -> str:
    """Of the kernel's words of four bytes, the least first."""
    raw = bytes.fromhex(digits)
    data = b"".join(raw[at : at + 4][::-1] for at in range(0, len(raw), 4))
    address = ipaddress.ip_address(data)
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return str(mapped or address)


def default_interfaces(facts: HostFacts) -> set[str]:
    """Those that a default route of IPv4 leads through."""
    text = facts.file(_ROUTES).text or ""
    return {name for name, flags in _DEFAULT.findall(text) if int(flags, 16) & _UP}


def having(facts: HostFacts, addresses: Iterable[str]) -> set[str]:
    """The interfaces with one of the addresses."""
    wanted = set(addresses)
    return {
        one.name for one in _nics(facts) if {each.split("/")[0] for each in one.address} & wanted
    }


def with_lower(facts: HostFacts, names: Iterable[str]) -> frozenset[str]:
    """The interfaces and all that they stand on."""
    lower = {one.name: one.lower for one in _nics(facts)}
    waiting, found = list(names), set[str]()
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += lower.get(name, [])
    return frozenset(found)


def _nics(facts: HostFacts) -> list[Nic]:
    text = facts.file(INTERFACES).text
    try:
        return decode_json(text, list[Nic]) if text else []
    except msgspec.DecodeError:
        return []
