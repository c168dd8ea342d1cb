# pure
"""Parse the settings in a host's configuration files: sysctl.d, modprobe.d, tmpfiles.d, udev rules,
limits.d, network files, and the kernel command line. Pure.

Of network files, only lines with an interface or a size are read: keyfiles of NetworkManager
contain passwords, which `instrument.plan_text` leaves out.
"""

import functools
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Literal

import msgspec

from wireproof.model.site import packaged
from wireproof.model.toml import read_toml

_SECTION = re.compile(r"\[([^\]]*)\]")
_INDENTED = re.compile(r"( *)(?:- +)?[\"']?([^\s\"':#]+)[\"']?:(?:\s+(.*))?")
_SIZE = re.compile(r"0*([1-9]\d{0,8})(K?)", re.IGNORECASE)


class BootFiles(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A kind of configuration file; ``boot_mtu.toml`` explains each field."""

    paths: tuple[str, ...]
    form: Literal["sections", "words", "indented", "stanzas"]
    nic: tuple[str, ...]
    mtu: tuple[str, ...]
    off: tuple[str, ...]
    rank: int
    source: str


@functools.cache
def boot_files() -> tuple[BootFiles, ...]:
    """Return all known kinds."""
    name = "boot_mtu.toml"
    rows = read_toml(packaged("wireproof.tune", name), name)["files"]
    return msgspec.convert(rows, tuple[BootFiles, ...])


def boot_files_of(path: str) -> BootFiles | None:
    """Return the kind of the file at ``path``, or None."""
    kinds = (
        kind for kind in boot_files() if any(fnmatchcase(path, pattern) for pattern in kind.paths)
    )
    return next(kinds, None)


def mtus_in(path: str, text: str, kind: BootFiles) -> Iterator[tuple[str, str]]:
    """Yield (interface or pattern, MTU)."""
    for heading, values in _values(text, kind).items():
        size = next((parsed for key in kind.mtu if (parsed := _bytes(values.get(key, "")))), "")
        lines = {f"{key}={value}" for key, value in values.items()}
        if not size or lines.intersection(kind.off):
            continue
        named = [values[key] for key in kind.nic if values.get(key)]
        names = named[0] if named else heading or _of_name(path, kind)
        for name in names.split():
            if not name.startswith("!") and "/" not in name:
                yield name, size


def _of_name(path: str, kind: BootFiles) -> str:
    """Return the interface in the file's name, or "*": a file without an interface name applies to
    every interface of its kind.
    """
    return path.rpartition("/")[2].partition("-")[2] if kind.form == "words" else "*"


def _bytes(text: str) -> str:
    parts = _SIZE.fullmatch(text)
    return str(int(parts[1]) * (1024 if parts[2] else 1)) if parts else ""


def _values(text: str, kind: BootFiles) -> dict[str, dict[str, str]]:
    """Return lower-case keys with their values, by the heading of the interface if there is one."""
    values: dict[str, dict[str, str]] = defaultdict(dict)
    reader = {"indented": _indented, "stanzas": _stanzas}.get(kind.form, _assigned)
    for heading, key, value in reader(text):
        values[heading][key.lower()] = value.strip().strip("\"'")
    return values


def _assigned(text: str) -> Iterator[tuple[str, str, str]]:
    section = ""
    for line in map(str.strip, text.splitlines()):
        if heading := _SECTION.fullmatch(line):
            section = f"{heading[1]}."
        elif "=" in line and line[0] not in "#;":
            key, _, value = line.partition("=")
            yield "", f"{section}{key.strip()}", value


def _stanzas(text: str) -> Iterator[tuple[str, str, str]]:
    heading = ""
    for line in text.splitlines():
        words = line.split()
        if words[:1] == ["iface"] and len(words) > 1:
            heading = words[1]
        elif heading and len(words) == 2:
            yield heading, words[0], words[1]


def _indented(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield values below ``network``, a kind and an interface, from the commonly used subset of
    YAML.
    """
    above: list[tuple[int, str]] = []
    for line in text.splitlines():
        parts = _INDENTED.fullmatch(line.partition(" #")[0].rstrip())
        if parts is None:
            continue
        depth = len(parts[1])
        while above and above[-1][0] >= depth:
            above.pop()
        names = [name for _, name in above]
        if parts[3]:
            if len(names) >= 3 and names[0] == "network":
                yield names[2], ".".join([*names[3:], parts[2]]), parts[3]
        else:
            above.append((depth, parts[2]))


_OPTION = re.compile(r"(\w+)=(\S+)")
_ARGUMENT = re.compile(r"(?:^|\s)(?!sysctl\.)([\w-]+)\.(\w+)=(\S+)")
_RULE = re.compile(r'([A-Z]+(?:\{[^}]*\})?)\s*([-+:=!]?=)\s*"((?:[^"\\]|\\.)*)"')
_ETHTOOL = re.compile(r"\bethtool\s+(-\S+)\s+(\S+)\s+([^;&|'\"]+)")
_NIC_OF_RULE = ("NAME", "ENV{INTERFACE}", "KERNEL")
_NO_CONDITIONS = (*_NIC_OF_RULE, "ACTION", "SUBSYSTEM")


@dataclass(frozen=True)
class FileSetting:
    """``place``: the kernel file that receives ``value`` (or a pattern), the command and key of
    ethtool, or the limit. ``file``: the file that sets it. ``whom``: the user or the condition to
    which it applies. A larger ``rank`` takes precedence.
    """

    place: str
    value: str
    file: str = ""
    whom: str = ""
    rank: int = 0

    @property
    def says(self) -> str:
        """Describe the value for display."""
        more = f" for {self.whom[:80]}" if self.whom else ""
        return f"{self.value[:80]!r}{more}"


def sysctl_path(name: str) -> str:
    """Return the path of a sysctl. As in sysctl(8), the first of ``.`` and ``/`` is the
    separator.
    """
    first = next((letter for letter in name if letter in "./"), "/")
    return "/proc/sys/" + (name if first == "/" else name.translate(str.maketrans("./", "/.")))


def written_in(file: str, text: str) -> list[FileSetting]:
    """Return the settings in ``file``, in order; lines of other kinds are skipped."""
    if kind := boot_files_of(file):
        mtus = mtus_in(file, text, kind)
        return [
            FileSetting(f"/sys/class/net/{nic}/mtu", size, file, rank=kind.rank)
            for nic, size in mtus
        ]
    reader = _READERS.get(file) or _READERS.get(kind_of(file))
    if reader is None:
        return []
    lines = (line.strip() for line in text.replace("\\\n", " ").splitlines())
    kept = (line for line in lines if line and line[0] not in "#;")
    return [replace(setting, file=file) for line in kept for setting in reader(line)]


def _sysctl(line: str) -> Iterator[FileSetting]:
    name, given, value = line.lstrip("-").partition("=")
    if given and name.strip() and "*" not in name:
        yield FileSetting(sysctl_path(name.strip()), " ".join(value.split()))


def _modprobe(line: str) -> Iterator[FileSetting]:
    words = line.split()
    if words[:1] == ["options"] and len(words) > 2:
        for name, value in _OPTION.findall(" ".join(words[2:])):
            yield _parameter(words[1], name, value)


def _arguments(line: str) -> Iterator[FileSetting]:
    """Yield parameters of modules: modprobe reads them after its own files."""
    yield from (_parameter(*argument) for argument in _ARGUMENT.findall(line))


def _parameter(module: str, name: str, value: str) -> FileSetting:
    path = f"/sys/module/{module.replace('-', '_')}/parameters/{name}"
    return FileSetting(path, value.strip('"'))


_TMPFILES = re.compile(r"""\s*(["']?)w[-+!=~^$]*\1\s+("[^"]+"|'[^']+'|\S+)(?:\s+\S+){4}\s+(\S.*)""")


def _tmpfiles(line: str) -> Iterator[FileSetting]:
    """Yield the setting of a ``w`` line. The path may be quoted, the text is the rest of the line
    (tmpfiles.d(5)).
    """
    if found := _TMPFILES.fullmatch(line):
        path, text = found[2], found[3].rstrip()
        path = path[1:-1] if path[0] in "\"'" else path
        yield FileSetting(path.replace("%%", "%"), text.replace("%%", "%"))


def _limits(line: str) -> Iterator[FileSetting]:
    """Yield limits. A line for a user takes precedence over a group, and a group over everyone
    (pam_limits(8)). Lines for everyone do not apply to root.
    """
    words = line.split()
    if len(words) != 4 or words[0] == "root" or words[0].startswith("%"):
        return
    whom, kind, item, value = words
    value = "unlimited" if value in ("-1", "infinity") else value
    rank = 0 if whom == "*" else 1 if whom.startswith("@") else 2
    for limit in ("soft", "hard") if kind == "-" else (kind,):
        yield FileSetting(f"limit {limit} {item}", value, "", "" if whom == "*" else whom, rank)


def _rules(line: str) -> Iterator[FileSetting]:
    """Yield the settings that a udev rule writes to interfaces, directly or with ethtool."""
    words = _RULE.findall(line)
    matched = {name: value for name, sign, value in words if sign == "=="}
    subsystems = matched.get("SUBSYSTEM", "net").split("|")
    of_net = any(fnmatchcase("net", subsystem) for subsystem in subsystems)
    if not of_net or matched.get("ACTION") == "remove":
        return
    nics = next((matched[name] for name in _NIC_OF_RULE if name in matched), "*").split("|")
    conditions = [
        f"{name}{sign}{value}"
        for name, sign, value in words
        if sign in ("==", "!=") and name not in _NO_CONDITIONS
    ]
    for name, sign, value in words:
        for nic in nics if sign in ("=", ":=", "+=") else ():
            for place, given in _of_rule(name, value, nic):
                yield FileSetting(place, given, "", ", ".join(conditions))


def _of_rule(name: str, value: str, nic: str) -> Iterator[tuple[str, str]]:
    if name.startswith("ATTR{"):
        yield f"/sys/class/net/{nic}/{name[5:-1]}", value
    elif call := _ETHTOOL.search(value) if name.startswith("RUN") else None:
        of = nic if call[2].startswith(("$", "%")) else call[2]
        words = call[3].split()
        for key, given in zip(words[::2], words[1::2], strict=False):
            yield f"ethtool {call[1]} {of} {key}", given


_READERS: dict[str, Callable[[str], Iterator[FileSetting]]] = {
    "/etc/sysctl.conf": _sysctl,
    "/etc/security/limits.conf": _limits,
    "/proc/cmdline": _arguments,
    "sysctl.d": _sysctl,
    "modprobe.d": _modprobe,
    "tmpfiles.d": _tmpfiles,
    "rules.d": _rules,
    "limits.d": _limits,
}
"""By file, or by the name of its folder."""


def kind_of(file: str) -> str:
    return file.rsplit("/", 2)[-2] if file.count("/") > 1 else ""


HEAD = "# Written by wireproof tune; undone by wireproof tune revert."
_LIMIT = re.compile(r"(\S+\s+(?:-|soft|hard)\s+\w+)\s.*")


_NO_TEXT = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ufffd]")
"""Control characters, and the replacement for bytes that are not UTF-8."""


def is_text(text: str) -> bool:
    """Return whether a host accepts the complete text as a drop-in."""
    return len(text.encode("utf-8", "replace")) <= 65536 and not _NO_TEXT.search(text)


def key_of(path: str, line: str) -> str:
    """Return the key of a line; lines with the same key set the same value, whatever their
    spacing.
    """
    written = written_in(path, line)
    if len(written) == 1 and not written[0].whom:
        return written[0].place
    limit = _LIMIT.fullmatch(line) if "/limits.d/" in path else None
    return " ".join(limit[1].split()) if limit else line


def merged(path: str, now: str | None, lines: Iterable[str]) -> str:
    """Return the text of the drop-in with ``lines``: they replace lines with the same key, others
    are appended. All other lines stay unchanged.
    """
    wanted = {key_of(path, line): line for line in lines}
    out: list[str] = []
    for line in (now or HEAD).splitlines():
        key = key_of(path, line.strip())
        if key not in wanted:
            out.append(line)
        elif wanted[key] not in out:
            out.append(wanted[key])
    out += [line for line in wanted.values() if line not in out]
    return "\n".join(out) + "\n"


def set_lines(text: str) -> list[str]:
    """Return the lines of a drop-in that set a value."""
    stripped = (line.strip() for line in text.splitlines())
    return [line for line in stripped if line and line[0] not in "#;"]
