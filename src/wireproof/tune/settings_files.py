"""What the configuration files of a host set: sysctl.d, modprobe.d, tmpfiles.d. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["FOLDERS", "Written", "sysctl_path", "written_in"]

FOLDERS = (
    "/etc/sysctl.d/*.conf",
    "/run/sysctl.d/*.conf",
    "/usr/lib/sysctl.d/*.conf",
    "/etc/modprobe.d/*.conf",
    "/etc/tmpfiles.d/*.conf",
    "/etc/udev/rules.d/*.rules",
    "/etc/security/limits.d/*.conf",
)
_OPTION = re.compile(r"(\w+)=(\S+)")


@dataclass(frozen=True)
class Written:
    """``place``: the file of the kernel that gets ``value``. ``file``: the one that says so."""

    place: str
    value: str
    file: str


def sysctl_path(name: str) -> str:
    """As sysctl(8) reads names: the first of ``.`` and ``/`` separates."""
    first = next((letter for letter in name if letter in "./"), "/")
    return "/proc/sys/" + (name if first == "/" else name.translate(str.maketrans("./", "/.")))


def written_in(file: str, text: str) -> list[Written]:
    """What ``file`` sets, in its order; lines of other kinds are passed over."""
    lines = [line.strip() for line in text.splitlines()]
    lines = [line for line in lines if line and line[0] not in "#;"]
    folder = file.rsplit("/", 2)[-2] if file.count("/") > 1 else ""
    if folder == "sysctl.d" or file == "/etc/sysctl.conf":
        found: Iterable[tuple[str, str]] = _sysctl(lines)
    elif folder == "modprobe.d":
        found = _modprobe(lines)
    elif folder == "tmpfiles.d":
        found = _tmpfiles(lines)
    else:
        found = ()
    return [Written(place, value, file) for place, value in found]


def _sysctl(lines: Iterable[str]) -> Iterable[tuple[str, str]]:
    for line in lines:
        name, given, value = line.lstrip("-").partition("=")
        if given and name.strip() and "*" not in name:
            yield sysctl_path(name.strip()), " ".join(value.split())


def _modprobe(lines: Iterable[str]) -> Iterable[tuple[str, str]]:
    for line in lines:
        words = line.split()
        if words[:1] != ["options"] or len(words) < 3:
            continue
        module = words[1].replace("-", "_")
        for name, value in _OPTION.findall(" ".join(words[2:])):
            yield f"/sys/module/{module}/parameters/{name}", value.strip('"')


def _tmpfiles(lines: Iterable[str]) -> Iterable[tuple[str, str]]:
    for line in lines:
        words = line.split(None, 6)
        if len(words) == 7 and words[0].rstrip("+!-") == "w":
            yield words[1].replace("%%", "%"), words[6].replace("%%", "%")
