"""Reads a supportconfig archive of SUSE and lays it out like a sosreport.

Its texts have many sections, each a command or a file.

    #==[ Command ]======================================#
    # /sbin/ethtool -g eth0
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from wireproof.files.hostile import open_regular
from wireproof.model.errors import BadInput
from wireproof.workflow.printed_texts import places

NAMES = ("scc_", "nts_")
"""Prefix of the name of the archive's folder (supportutils 3 and before)."""
_WITNESSES = ("basic-environment.txt", "supportconfig.txt")
_SECTION = re.compile(
    r"^#==\[ (Command|Configuration File) \]=+#\n# ([^\n]{1,300})\n", re.MULTILINE
)
_ANY_SECTION = re.compile(r"^#==\[ ", re.MULTILINE)
_LARGEST_TEXT = 64 << 20
_MOST_SECTIONS = 20_000
_LONGEST_NAME = 200
_ROOTS = ("etc", "proc", "sys")
_ASIDE = ("--no-pager", "2>/dev/null")
"""Words of a command that do not change its output."""
_HOST = re.compile(r"^(?:scc|nts)_(.+)_\d{6}_\d{4}$")


def is_supportconfig(folder: Path) -> bool:
    """Return whether ``folder`` holds the texts of a supportconfig."""
    return any((folder / name).is_file() for name in _WITNESSES)


def lay_out(source: Path, folder: Path) -> None:
    """Write the sections of ``source`` below ``folder``: files of /etc, /proc and /sys at their
    paths, and output of commands under the name that sos gives the command. The longest text of a
    name counts. Raises ``BadInput`` above 20,000 texts, because each becomes a file.
    """
    for number, (place, body) in enumerate(_all_places(source)):
        if number >= _MOST_SECTIONS:
            raise BadInput(
                f"{source} has more than {_MOST_SECTIONS} sections, which no supportconfig has."
            )
        _write(folder / place, body)
    if host := _HOST.match(source.name):
        _write(folder / "etc/hostname", f"{host[1]}\n")


def _all_places(source: Path) -> Iterator[tuple[PurePosixPath, str]]:
    for text in sorted(source.glob("*.txt")):
        try:
            with open_regular(text, follow=False) as file:
                content = file.read(_LARGEST_TEXT).decode("utf-8", "replace")
        except OSError:
            continue
        yield from _places(content)


def _places(content: str) -> Iterator[tuple[PurePosixPath, str]]:
    """Yield the path of each section below a root, with its text."""
    for head in _SECTION.finditer(content):
        after = _ANY_SECTION.search(content, head.end())
        body = content[head.end() : after.start() if after else len(content)].rstrip() + "\n"
        if head[1] == "Configuration File":
            if place := _file(head[2]):
                yield place, body
                yield from _of_bond(place, body)
        else:
            yield from _of_command(head[2], body)


_PARAMETER = re.compile(r"^/(sys/module/\w{1,60}/parameters/\w{1,60})=(.*)$", re.MULTILINE)
_MODULE = re.compile(r"^(?!Module )(\w{1,60}) ", re.MULTILINE)


def _of_command(subject: str, body: str) -> Iterator[tuple[PurePosixPath, str]]:
    """Yield the output of a command, the parameters of a module from its modinfo section, and an
    entry for each module in a list of modules.
    """
    program, *words = subject.partition(" | ")[0].split() or [""]
    words = [PurePosixPath(program).name, *(word for word in words if word not in _ASIDE)]
    if words[0] == "cat" and len(words) == 2:
        if place := _file(words[1]):
            yield place, body
        return
    if words[0] == "modinfo":
        yield from ((PurePosixPath(path), f"{text}\n") for path, text in _PARAMETER.findall(body))
    listed = words in (["sort", "/proc/modules"], ["lsmod"])
    for name, text in _of_modules(body) if listed else places(" ".join(words), body):
        yield PurePosixPath(name), text


def _of_modules(body: str) -> Iterator[tuple[str, str]]:
    yield "proc/modules", body
    for module in _MODULE.findall(body):
        yield f"sys/module/{module}/initstate", "live\n"


_MODES = {
    "round-robin": "balance-rr 0", "active-backup": "active-backup 1", "(xor)": "balance-xor 2",
    "broadcast": "broadcast 3", "802.3ad": "802.3ad 4", "transmit load": "balance-tlb 5",
    "adaptive load": "balance-alb 6",
}  # fmt: skip
"""Modes of a bond by words of /proc/net/bonding (linux: bond_main.c, bond_mode_name)."""
_IN_BOND = {
    "mode": r"^Bonding Mode: (.*)$", "xmit_hash_policy": r"^Transmit Hash Policy: (\S+)",
    "miimon": r"^MII Polling Interval \(ms\): (\d+)$",
    "arp_interval": r"^ARP Polling Interval \(ms\): (\d+)",
}  # fmt: skip
_MEMBER = re.compile(r"^Slave Interface: ([\w.:-]{1,15})\nMII Status: (\w+)$", re.MULTILINE)


def _of_bond(place: PurePosixPath, body: str) -> Iterator[tuple[PurePosixPath, str]]:
    """Yield the files of /sys whose content /proc/net/bonding shows."""
    if place.parent != PurePosixPath("proc/net/bonding"):
        return
    folder = PurePosixPath("sys/class/net")
    for name, pattern in _IN_BOND.items():
        found = re.search(pattern, body, re.MULTILINE)
        text = found[1] if found else "0" if name == "arp_interval" else ""
        if name == "mode":
            text = next((mode for words, mode in _MODES.items() if words in text), "")
        if text:
            yield folder / place.name / "bonding" / name, f"{text}\n"
    for member, state in _MEMBER.findall(body):
        yield folder / member / "bonding_slave/mii_status", f"{state}\n"


def _file(subject: str) -> PurePosixPath | None:
    """Return the path of a section like ``/etc/sysctl.conf``; None for ``/etc/x - File not found``
    and for files that are not read.
    """
    path, _, remark = subject.partition(" ")
    parts = PurePosixPath(path).parts
    within = len(parts) > 2 and parts[0] == "/" and parts[1] in _ROOTS and ".." not in parts
    fits = all(map(_is_name, parts))
    return PurePosixPath(*parts[1:]) if within and fits and not remark else None


def _is_name(text: str) -> bool:
    """Return whether a file can have this name."""
    return len(os.fsencode(text)) <= _LONGEST_NAME and "\0" not in text


def _write(path: Path, text: str) -> None:
    """Write into a folder that this process has just created, unless a longer file exists."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600), "wb") as file:
            content = text.encode()
            if len(content) > os.fstat(file.fileno()).st_size:
                file.truncate(0)
                file.write(content)
    except (FileExistsError, NotADirectoryError, IsADirectoryError):
        return
