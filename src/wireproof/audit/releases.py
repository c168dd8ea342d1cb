"""Since and until which release a setting is there, held against the host's kernel and system.
Pure.

``Linux 5.6`` and ``RHEL 8`` are compared. Other words (of a driver, of a package) only inform: the
host does not say its release by one name.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from wireproof.audit.expression import Value
from wireproof.model.setting import Setting

__all__ = ["gone", "not_yet"]

_RELEASE = re.compile(r"(Linux|RHEL) (\d+(?:\.\d+){0,3})", re.ASCII)
_LIKE_RHEL = {"rhel", "centos", "rocky", "almalinux", "ol"}

Names = Callable[[str], Value]


def gone(setting: Setting, names: Names) -> str:
    """Why the host's release does not have it any more; "" where it has, or nothing is known."""
    found = _compared(setting.until, names)
    if found is None or found[0] < found[1]:
        return ""
    return f"it is gone since {setting.until}; {found[2]}"


def not_yet(setting: Setting, names: Names) -> str:
    """Why the host's release does not have it yet; "" where it has, or nothing is known. Systems
    take new things into old kernels: only what is not there is told so.
    """
    found = _compared(setting.since, names)
    if found is None or found[0] >= found[1]:
        return ""
    return f"it is there since {setting.since}; {found[2]}"


def _compared(release: str, names: Names) -> tuple[list[int], list[int], str] | None:
    """The host's release, the setting's, and the host's for people."""
    wanted = _RELEASE.fullmatch(release)
    if wanted is None:
        return None
    linux = wanted.group(1) == "Linux"
    if not linux and names("host.os") not in _LIKE_RHEL:
        return None
    here = names("host.kernel" if linux else "host.os_version")
    number = re.match(r"\d+(?:\.\d+){0,3}", here, re.ASCII) if isinstance(here, str) else None
    if number is None:
        return None
    said = f"this {'kernel' if linux else 'system'} is {number.group()}"
    return _parts(number.group()), _parts(wanted.group(2)), said


def _parts(text: str) -> list[int]:
    return [int(part) for part in text.split(".")]
