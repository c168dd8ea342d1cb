"""Two questions to a host before a benchmark starts there: which cores are near the NIC, and which
address does it have?

The answers are a convenience: a host that does not answer causes a note, and the run continues.
"""

import ipaddress
import re

from wireproof.model.errors import BadInput
from wireproof.settings.hosts import check_nic

_LONGEST = 1 << 16
_RANGE = re.compile(r"([0-9]{1,5})(?:-([0-9]{1,5}))?", re.ASCII)
_PREFERRED = 4
"""Index into the near cores: the lowest cores serve interrupts and the system (the documents use
cores 4 and 6).
"""


def is_nic(name: str) -> bool:
    """Return whether a name that a host has printed is safe in an argument list."""
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
