# pure
"""Determine the files and lines of a host that take effect at the next boot, and those that
override wireproof's drop-ins. Pure.
"""

import dataclasses
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase

from wireproof.audit.facts import HostFacts
from wireproof.model import gathered
from wireproof.model.plan import FactRequest
from wireproof.tune.settings_files import FileSetting, boot_files, kind_of, written_in

FILES = ("/etc/sysctl.conf", "/etc/security/limits.conf", "/proc/cmdline")
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
    "/run/udev/rules.d/9*.rules",
    "/usr/lib/udev/rules.d/9*.rules",
    "/etc/security/limits.d/*.conf",
    *(path for kind in boot_files() for path in kind.paths),
)
"""Only those of the distributions' udev rules that may run after wireproof's rules."""
_ORDER = {"/etc/security/limits.conf": -1, "/etc/sysctl.conf": 1, "/proc/cmdline": 1}
"""Files that are read before or after all folders."""


def read_at_boot(texts: Mapping[str, str]) -> dict[str, str]:
    """Remove files that are not read: for equal names, only the file in the last of /usr/lib, /run,
    /etc is used, even if it is empty.
    """
    read = {(kind_of(path), _name(path)): path for path in sorted(texts, key=_folder)}
    return {path: text for path, text in texts.items() if read[kind_of(path), _name(path)] == path}


def winning(written: Iterable[FileSetting]) -> dict[str, FileSetting]:
    """Return the setting that takes effect at the next boot, by place: the last by name, with
    sysctl.conf and the kernel command line at the end; for tmpfiles.d and systemd-networkd, the
    first by name.
    """
    by_name = sorted(written, key=lambda setting: _name(setting.file))
    early = [setting for setting in reversed(by_name) if _counts_first(setting.file)]
    late = [setting for setting in by_name if not _counts_first(setting.file)]
    last = sorted([*early, *late], key=lambda setting: (setting.rank, _ORDER.get(setting.file, 0)))
    return {setting.place: setting for setting in last}


def _counts_first(file: str) -> bool:
    return kind_of(file) == "tmpfiles.d" or file.endswith((".network", ".link"))


def _folder(file: str) -> int:
    folders = ("/usr/lib/", "/run/", "/etc/")
    return next((at for at, name in enumerate(folders) if file.startswith(name)), 0)


def _name(file: str) -> str:
    return file.rpartition("/")[2]


_PATTERN = frozenset("*?[")


def settings_files() -> tuple[FactRequest, ...]:
    """Return requests for the files that set values at boot."""
    files = [FactRequest(kind="file", path=path) for path in FILES]
    globs = [FactRequest(kind="glob", path=path, limit_bytes=65536) for path in FOLDERS]
    return (*files, *globs)


def files_of(facts: HostFacts) -> Mapping[str, str]:
    """Return the texts of the files that are read at boot, by path; "" for a file without text,
    such as a link to /dev/null.
    """
    paths = [path for pattern in FOLDERS for path in facts.matching(pattern)]
    answers = {path: facts.file(path) for path in [*FILES, *paths]}
    there = (path for path in paths if not answers[path].absent)
    texts = dict.fromkeys(there, "") | {
        path: answer.text for path, answer in answers.items() if answer.text is not None
    }
    return read_at_boot(texts)


def unread(facts: HostFacts, ours: Mapping[str, str]) -> list[str]:
    """Return the network files that could not be read, if ``ours`` sets an MTU: they may override
    it.
    """
    places = [item.place for path, text in ours.items() for item in written_in(path, text)]
    if not any(place.endswith("/mtu") for place in places):
        return []
    paths = [path for kind in boot_files() for item in kind.paths for path in facts.matching(item)]
    answers = {path: facts.file(path) for path in paths}
    return [
        f"{path} {item.why}: it is unknown whether it overrides the MTU at the next boot"
        for path, item in answers.items()
        if item.text is None and not item.absent
    ]


def overruled(files: Mapping[str, str], ours: Mapping[str, str]) -> dict[str, FileSetting]:
    """Return, by place, the line that sets another value than ``ours`` at the next boot.
    ``ours``: texts of wireproof's drop-ins by path, which replace those in ``files``.
    """
    texts = read_at_boot({**files, **ours})
    written = [setting for path, text in texts.items() for setting in written_in(path, text)]
    at_place = gathered((setting.place, setting) for setting in written)
    patterns = [setting for setting in written if _PATTERN.intersection(setting.place)]
    overruling = {}
    for place, mine in sorted(
        winning(setting for setting in written if setting.file in ours).items()
    ):
        fitting = (each for each in patterns if fnmatchcase(place, each.place))
        others = [dataclasses.replace(setting, place=place) for setting in fitting]
        counting = winning([*at_place[place], *others])[place]
        if counting.file not in ours and counting.value != mine.value:
            overruling[place] = counting
    return overruling
