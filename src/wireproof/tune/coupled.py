"""Files of the kernel that change each other: a write to one resets the other. Pure.

Sources: linux, Documentation/admin-guide/sysctl/vm.rst and kernel.rst, mm/page-writeback.c,
kernel/watchdog.c, Documentation/admin-guide/mm/hugetlbpage.rst.
"""

from __future__ import annotations

__all__ = ["coupled_with"]

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


def coupled_with(path: str) -> tuple[str, ...]:
    """The files whose values a write to ``path`` may change."""
    for group in _GROUPS:
        if path in group:
            return tuple(other for other in group if other != path)
    return ()
