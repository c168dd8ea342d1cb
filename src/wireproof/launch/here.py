"""Is a host this very machine? Then nothing need be reached by ssh, and no sshd need answer."""

import contextlib
import errno
import ipaddress
import random
import socket
from collections.abc import Callable, Sequence

# --- Where the ranks of the tcp transport meet: an address of rank 0's host and a port.

LOW, HIGH = 20_000, 32_000
"""Below Linux's ephemeral ports (32768), so that no outgoing connection holds the port."""
_TRIES = 64


def meeting_point(address: str) -> str:
    """``ADDRESS:PORT``. A port that is free, if ``address`` is ours; on another host a likely free
    one is drawn.
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
"""At a time: a name server that does not answer costs seconds for each name."""


def _addresses(name: str) -> list[str]:
    """The addresses of a name (an address is its own), none when it is not known here."""
    try:
        found = socket.getaddrinfo(name, None, type=socket.SOCK_DGRAM)
    except (OSError, UnicodeError):
        return []
    return [str(address[0]) for *_, address in found]


def _own(address: str) -> bool:
    """The kernel answers to an address of its own from that very address. Binding to it proves
    nothing where ``net.ipv4.ip_nonlocal_bind`` is 1. Nothing is sent.
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
    """All of 127.0.0.0/8 is this machine; the kernel answers from 127.0.0.1 only."""
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
    """Whether ``host`` (a short or a full name, an alias, an address) is this machine.

    A name is looked up only where it is not the machine's own (``own_name``, default: what the
    kernel calls it). A full name that begins with our short one and is not known to the name
    service is taken for ours: the network's name need not be in it.
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
    """Those of ``hosts`` that are this machine."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(_LOOK_UPS) as pool:
        return {host for host, here in zip(hosts, pool.map(is_here, hosts), strict=True) if here}
