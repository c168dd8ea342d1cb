"""Find out whether a host is this machine, which then needs neither ssh nor an sshd."""

import contextlib
import errno
import ipaddress
import random
import socket
from collections.abc import Callable, Sequence

# --- The meeting point of the ranks of the tcp transport: an address of rank 0's host and a port.

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
    only then. Binding to the address proves nothing if ``net.ipv4.ip_nonlocal_bind`` is 1. Nothing
    is sent.
    """
    if _is_loopback(address):
        return True
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with (
        contextlib.suppress(OSError, ValueError),
        socket.socket(family, socket.SOCK_DGRAM) as probe,
    ):
        probe.connect((address, _ANY_PORT))
        source = str(probe.getsockname()[0])
        return ipaddress.ip_address(source) == ipaddress.ip_address(address)
    return False


def _is_loopback(address: str) -> bool:
    """Return whether this is in 127.0.0.0/8. All of it is this machine, but the kernel answers only
    from 127.0.0.1.
    """
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False


def _unspecified(address: str) -> bool:
    try:
        return ipaddress.ip_address(address).is_unspecified
    except ValueError:
        return False


def is_here(
    host: str, *, own_name: str = "", addresses: Callable[[str], Sequence[str]] = _addresses
) -> bool:
    """Return whether ``host`` (a short or a full name, an alias, an address) is this machine.

    A name is looked up only if it differs from the machine's name (``own_name``, default: the name
    in the kernel). A full name that begins with our short name and is unknown to the name service
    counts as this machine, because the network's domain need not be in the name service.
    """
    name = host.lower().rstrip(".")
    own = (own_name or socket.gethostname()).lower()
    if name in ("localhost", own, own.split(".", 1)[0]):
        return True
    found = [one for one in addresses(name) if not _unspecified(one)]
    if found:
        return any(_own(one) for one in found)
    return "." not in own and name.split(".", 1)[0] == own


def hosts_here(hosts: Sequence[str]) -> set[str]:
    """Return the hosts among ``hosts`` that are this machine."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(_LOOK_UPS) as pool:
        return {host for host, here in zip(hosts, pool.map(is_here, hosts), strict=True) if here}
