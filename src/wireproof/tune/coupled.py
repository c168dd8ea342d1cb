"""Files of the kernel that change each other: a write to one resets the other; and values that an
undo does not bring back whole. Pure.

Sources: linux, net/ipv4/devinet.c (inet_forward_change), net/ipv6/addrconf.c, RFC 8200 section 5,
Documentation/admin-guide/sysctl/vm.rst and kernel.rst, mm/page-writeback.c,
kernel/watchdog.c, Documentation/admin-guide/mm/hugetlbpage.rst.
"""

from __future__ import annotations

__all__ = ["coupled_with", "lossy"]

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
    """Why an undo of ``value`` in ``path`` would not bring everything back; "" if it would. The
    node's own guard is the last word: engine/node/tune/allowed.cpp.
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
    """The files whose values a write to ``path`` may change."""
    for group in _GROUPS:
        if path in group:
            return tuple(other for other in group if other != path)
    return ()
