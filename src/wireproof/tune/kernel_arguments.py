"""How an argument of the kernel is added on a system: the command to run, never an edit in place.
Pure.

Sources: grubby(8); update-grub(8) and /etc/default/grub.d of Debian and Ubuntu; pbl(8) of SUSE;
rpm-ostree(1) kargs; bootc, kernel arguments (/usr/lib/bootc/kargs.d).
"""

from __future__ import annotations

__all__ = ["added"]

_RED_HAT = {"rhel", "centos", "rocky", "almalinux", "ol", "fedora", "scientific", "amzn"}
_DEBIAN = {"debian", "ubuntu", "linuxmint", "pop"}
_SUSE = {"sles", "sled", "opensuse-leap", "opensuse-tumbleweed", "sle_hpc"}
_GRUB_D = "/etc/default/grub.d/90-wireproof.cfg"


def added(argument: str, system: object, *, image: bool) -> str:
    """What to run on ``system`` (ID of os-release). ``image``: the system is an image (ostree)."""
    if image:
        return (
            f"rpm-ostree kargs --append-if-missing={argument}, or with bootc"
            f' kargs = ["{argument}"] in /usr/lib/bootc/kargs.d/90-wireproof.toml of the image;'
            " then a reboot"
        )
    if system in _DEBIAN:
        line = f'GRUB_CMDLINE_LINUX="$GRUB_CMDLINE_LINUX {argument}"'
        return f"the line {line} in {_GRUB_D}, then update-grub and a reboot"
    if system in _SUSE:
        return f'pbl --add-option "{argument}" and pbl --config, then a reboot'
    grubby = f'grubby --update-kernel=ALL --args="{argument}"'
    if system in _RED_HAT:
        return f"{grubby}, then a reboot"
    return f"the kernel argument {argument} by the system's own tool ({grubby}), then a reboot"
