"""Determine whether a host is this machine, which then needs neither ssh nor an sshd."""

import contextlib
import errno
import ipaddress
import random
import re
import socket
from collections.abc import Callable, Sequence

from wireproof.model.errors import BadInput
from wireproof.options.hosts import check_nic

# --- The rendezvous of the ranks of the tcp transport: an address of rank 0's host and a port.

LOW, HIGH = 20_000, 32_000
"""Below Linux's ephemeral ports (32768), so that no outgoing connection uses the port."""
_TRIES = 64


def meeting_point(address: str) -> str:
    """Return ``ADDRESS:PORT``. The port is free if ``address`` belongs to this machine; for another
    host a port that is probably free is drawn.
    """
    draw = random.SystemRandom()
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    shown = f"[{address}]" if family == socket.AF_INET6 else address
    for _ in range(_TRIES):
        port = draw.randrange(LOW, HIGH)
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            try:
                probe.bind((address, port))
            except OSError as error:
                if error.errno == errno.EADDRINUSE:
                    continue
        return f"{shown}:{port}"
    return f"{shown}:{draw.randrange(LOW, HIGH)}"


_ANY_PORT = 9
_LOOK_UPS = 32
"""Simultaneous look-ups: a name server that does not answer costs seconds for each name."""


def _addresses(name: str) -> list[str]:
    try:
        found = socket.getaddrinfo(name, None, type=socket.SOCK_DGRAM)
    except (OSError, UnicodeError):
        return []
    return [str(address[0]) for *_, address in found]


def _own(address: str) -> bool:
    """Return whether the address belongs to this machine. The kernel replies from the same address
    only then. A successful bind to the address proves nothing if ``net.ipv4.ip_nonlocal_bind`` is
    1. Nothing is sent.
    """
    if (parsed := _parsed(address)) is not None and parsed.is_loopback:
        return True  # all of 127.0.0.0/8, but the kernel answers only from 127.0.0.1
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with (
        contextlib.suppress(OSError, ValueError),
        socket.socket(family, socket.SOCK_DGRAM) as probe,
    ):
        probe.connect((address, _ANY_PORT))
        source = str(probe.getsockname()[0])
        return ipaddress.ip_address(source) == ipaddress.ip_address(address)
    return False


def _parsed(address: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(address)
    except ValueError:
        return None


def is_here(
    host: str, *, own_name: str = "", addresses: Callable[[str], Sequence[str]] = _addresses
) -> bool:
    """Return whether ``host`` (a short or a full name, an alias, an address) is this machine.

    A name is looked up only if it differs from the machine's name (``own_name``, default: the name
    in the kernel). A full name that begins with our short name and is unknown to the name service
    is taken for this machine, because the network's domain may be missing from the name service.
    """
    name = host.lower().rstrip(".")
    own = (own_name or socket.gethostname()).lower()
    if name in ("localhost", own, own.split(".", 1)[0]):
        return True
    parsed = {one: _parsed(one) for one in addresses(name)}
    found = [one for one, value in parsed.items() if value is None or not value.is_unspecified]
    if found:
        return any(_own(one) for one in found)
    return "." not in own and name.split(".", 1)[0] == own


def hosts_here(hosts: Sequence[str]) -> set[str]:
    """Return the hosts among ``hosts`` that are this machine."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(_LOOK_UPS) as pool:
        return {host for host, here in zip(hosts, pool.map(is_here, hosts), strict=True) if here}


# --- Queries to a host before a benchmark starts there: the cores near the NIC, its address. If a
# host does not answer, a note is printed and the run continues.


_LONGEST = 1 << 16
_RANGE = re.compile(r"([0-9]{1,5})(?:-([0-9]{1,5}))?", re.ASCII)
_PREFERRED = 4
"""Index into the cores near the NIC: the lowest cores serve interrupts and the system (the
documents use cores 4 and 6).
"""


def is_nic(name: str) -> bool:
    """Return whether a name printed by a host is safe in an argument list."""
    try:
        return check_nic(name) == name
    except BadInput:
        return False


def cpulist_argv(nic: str) -> list[str]:
    """Return the command that prints the cores of the NIC's socket; ``nic`` is a netdev or an RDMA
    device with or without its port.
    """
    device = nic.split(":", 1)[0]
    return [
        "cat",
        *(f"/sys/class/{kind}/{device}/device/local_cpulist" for kind in ("net", "infiniband")),
    ]


def netdevs_argv(nic: str) -> list[str]:
    """Return the command that prints the netdevs of an RDMA device (``ib0`` of ``hfi1_0``); nothing
    for a netdev.
    """
    return ["ls", f"/sys/class/infiniband/{nic.split(':', 1)[0]}/device/net"]


def address_argv(nic: str) -> list[str]:
    """Return the command that prints the netdev's IPv4 addresses, one on each line."""
    return ["ip", "-o", "-4", "addr", "show", "dev", nic.split(":", 1)[0]]


def core_near(cpulist: str) -> int | None:
    """Return a core of ``0-23,48-71``: the fifth, or the last of a short list; None if there is no
    list.
    """
    cores: list[int] = []
    for part in cpulist.split("\n", 1)[0].strip().split(","):
        found = _RANGE.fullmatch(part)
        if found is None:
            return None
        first = int(found.group(1))
        cores += range(first, min(int(found.group(2) or first), first + _LONGEST) + 1)
    return cores[min(_PREFERRED, len(cores) - 1)] if cores else None


def address_in(printed: str) -> str:
    """Return the first address of ``3: ib0 inet 10.0.0.2/24 brd ...``; "" if there is none."""
    for line in printed.splitlines()[:64]:
        words = line.split()
        if "inet" in words[:-1]:
            text = words[words.index("inet") + 1].split("/", 1)[0]
            try:
                return str(ipaddress.IPv4Address(text))
            except ValueError:
                continue
    return ""
