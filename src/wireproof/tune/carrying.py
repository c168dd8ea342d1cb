"""Find the interfaces of a host that carry connections which must not break. Pure."""

import ipaddress
import re
from collections.abc import Iterable

from wireproof.audit.facts import HostFacts
from wireproof.audit.interfaces import ROUTES, listed_nics
from wireproof.model.plan import FactRequest

_TABLES = ("/proc/net/tcp", "/proc/net/tcp6")
CONNECTIONS = (
    *(FactRequest(kind="file", path=path, limit_bytes=1 << 20) for path in _TABLES),
    *(FactRequest(kind="file", path=path) for path in ROUTES),
)
_ESTABLISHED_SSH = re.compile(r"^[ \t]*\d+: ([0-9A-F]{8}|[0-9A-F]{32}):0016 \S+ 01 ", re.MULTILINE)


def ssh_addresses(facts: HostFacts) -> set[str]:
    """Return the local address of each open connection to the host's port 22."""
    addresses: set[str] = set()
    for table in _TABLES:
        for digits in _ESTABLISHED_SSH.findall(facts.file(table).text or ""):
            addresses.add(_address(digits))
    return addresses


def _address(digits: str) -> str:
    """Decode an address in the kernel's notation: words of four bytes in little-endian order."""
    raw = bytes.fromhex(digits)
    data = b"".join(raw[at : at + 4][::-1] for at in range(0, len(raw), 4))
    address = ipaddress.ip_address(data)
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return str(mapped or address)


def having(facts: HostFacts, addresses: Iterable[str]) -> set[str]:
    """Return the interfaces that have any of the addresses."""
    wanted = set(addresses)
    return {
        nic.name
        for nic in listed_nics(facts)
        if {address.split("/")[0] for address in nic.address} & wanted
    }


_VM = "/proc/sys/vm/"
_GROUPS: tuple[tuple[str, ...], ...] = (
    (f"{_VM}dirty_bytes", f"{_VM}dirty_ratio"),
    (f"{_VM}dirty_background_bytes", f"{_VM}dirty_background_ratio"),
    (f"{_VM}overcommit_kbytes", f"{_VM}overcommit_ratio"),
    (f"{_VM}nr_hugepages", f"{_VM}nr_hugepages_mempolicy"),
    (
        "/proc/sys/kernel/watchdog",
        "/proc/sys/kernel/nmi_watchdog",
        "/proc/sys/kernel/soft_watchdog",
    ),
)
_OF_ALL = (
    "/proc/sys/net/ipv4/ip_forward",
    "/proc/sys/net/ipv4/conf/all/forwarding",
    "/proc/sys/net/ipv6/conf/all/forwarding",
    "/proc/sys/net/ipv6/conf/all/disable_ipv6",
)
_LEAST_MTU = 1280


def lossy(path: str, value: str) -> str:
    """Return why undoing ``value`` in ``path`` would not restore everything; "" if it would. The
    node's guard decides in the end: engine/node/tune/allowed.cpp.
    """
    if path in _OF_ALL:
        return "it changes every interface, and their own values cannot all be restored"
    name = path.rpartition("/")[2]
    if path.startswith("/proc/sys/net/ipv6/conf/") and name == "disable_ipv6" and value != "0":
        return "it removes IPv6 addresses and routes, which cannot be restored"
    if name == "mtu" and value.isdecimal() and int(value) < _LEAST_MTU:
        return "below 1280 the kernel removes IPv6 addresses and routes, which cannot be restored"
    return ""


def coupled_with(path: str) -> tuple[str, ...]:
    """Return the files whose values a write to ``path`` may change."""
    for group in _GROUPS:
        if path in group:
            return tuple(other for other in group if other != path)
    return ()
