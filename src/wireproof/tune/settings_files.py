"""What the configuration files of a host set: sysctl.d, modprobe.d, tmpfiles.d. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["FOLDERS", "Written", "sysctl_path", "winning", "written_in"]

FOLDERS = (
    "/etc/sysctl.d/*.conf",
    "/run/sysctl.d/*.conf",
    "/usr/lib/sysctl.d/*.conf",
    "/etc/modprobe.d/*.conf",
    "/run/modprobe.d/*.conf",
    "/usr/lib/modprobe.d/*.conf",
    "/etc/tmpfiles.d/*.conf",
    "/run/tmpfiles.d/*.conf",
    "/usr/lib/tmpfiles.d/*.conf",
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
    folder = _kind(file)
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


def winning(written: Iterable[Written]) -> dict[str, Written]:
    """What counts at the next boot, by place. Of two files with one name that of /etc is read
    alone. Then the last by name counts, sysctl.conf at the end; of tmpfiles.d the first by name.
    """
    kept = list(written)
    read: dict[tuple[str, str], str] = {}
    for file in sorted({one.file for one in kept}, key=_folder):
        read[_kind(file), _name(file)] = file
    counted = [one for one in kept if read[_kind(one.file), _name(one.file)] == one.file]
    early = [one for one in counted if _kind(one.file) == "tmpfiles.d"]
    late = [one for one in counted if _kind(one.file) != "tmpfiles.d"]
    first = {one.place: one for one in sorted(early, key=lambda one: _name(one.file), reverse=True)}
    last = sorted(late, key=lambda one: (one.file == "/etc/sysctl.conf", _name(one.file)))
    return first | {one.place: one for one in last}


def _folder(file: str) -> int:
    folders = ("/usr/lib/", "/run/", "/etc/")
    return next((at for at, name in enumerate(folders) if file.startswith(name)), 0)


def _kind(file: str) -> str:
    return file.rsplit("/", 2)[-2] if file.count("/") > 1 else ""


def _name(file: str) -> str:
    return file.rpartition("/")[2]
