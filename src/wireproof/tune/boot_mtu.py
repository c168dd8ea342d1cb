"""The MTU that configuration files of the network give an interface at boot. Pure.

Of these files only lines that name an interface or a size are looked at: keyfiles of NetworkManager
hold passwords, which `instrument.facts` leaves out.
"""

import functools
import re
from collections import defaultdict
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Literal

import msgspec

from wireproof.model.site import packaged
from wireproof.model.toml import read_toml

_SECTION = re.compile(r"\[([^\]]*)\]")
_INDENTED = re.compile(r"( *)(?:- +)?[\"']?([^\s\"':#]+)[\"']?:(?:\s+(.*))?")
_SIZE = re.compile(r"0*([1-9]\d{0,8})(K?)", re.IGNORECASE)


class BootFiles(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One kind of file; ``boot_mtu.toml`` says what each field is."""

    paths: tuple[str, ...]
    form: Literal["sections", "words", "indented", "stanzas"]
    nic: tuple[str, ...]
    mtu: tuple[str, ...]
    off: tuple[str, ...]
    rank: int
    source: str


@functools.cache
def boot_files() -> tuple[BootFiles, ...]:
    """All kinds that are known."""
    name = "boot_mtu.toml"
    rows = read_toml(packaged("wireproof.tune", name), name)["files"]
    return msgspec.convert(rows, tuple[BootFiles, ...])


def boot_files_of(path: str) -> BootFiles | None:
    """The kind that the file at ``path`` is."""
    kinds = (kind for kind in boot_files() if any(fnmatchcase(path, one) for one in kind.paths))
    return next(kinds, None)


def mtus_in(path: str, text: str, kind: BootFiles) -> Iterator[tuple[str, str]]:
    """Interface, also a pattern, and MTU."""
    for heading, values in _values(text, kind).items():
        size = next((found for key in kind.mtu if (found := _bytes(values.get(key, "")))), "")
        lines = {f"{key}={value}" for key, value in values.items()}
        if not size or lines.intersection(kind.off):
            continue
        named = [values[key] for key in kind.nic if values.get(key)]
        names = named[0] if named else heading or _of_name(path, kind)
        for name in names.split():
            if not name.startswith("!") and "/" not in name:
                yield name, size


def _of_name(path: str, kind: BootFiles) -> str:
    """A file that names no interface is for every interface of its kind."""
    return path.rpartition("/")[2].partition("-")[2] if kind.form == "words" else "*"


def _bytes(text: str) -> str:
    found = _SIZE.fullmatch(text)
    return str(int(found[1]) * (1024 if found[2] else 1)) if found else ""


def _values(text: str, kind: BootFiles) -> dict[str, dict[str, str]]:
    """Keys and values in small letters' keys, by the interface's heading where there is one."""
    found: dict[str, dict[str, str]] = defaultdict(dict)
    reader = {"indented": _indented, "stanzas": _stanzas}.get(kind.form, _assigned)
    for heading, key, value in reader(text):
        found[heading][key.lower()] = value.strip().strip("\"'")
    return found


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
    """Values below ``network``, a kind and an interface; of YAML the form that people write."""
    above: list[tuple[int, str]] = []
    for line in text.splitlines():
        found = _INDENTED.fullmatch(line.partition(" #")[0].rstrip())
        if found is None:
            continue
        depth = len(found[1])
        while above and above[-1][0] >= depth:
            above.pop()
        names = [name for _, name in above]
        if found[3]:
            if len(names) >= 3 and names[0] == "network":
                yield names[2], ".".join([*names[3:], found[2]]), found[3]
        else:
            above.append((depth, found[2]))
