"""Reads a supportconfig archive of SUSE and lays it out like a sosreport.

Its texts have many sections, each a command or a file.

    #==[ Command ]======================================#
    # /sbin/ethtool -g eth0
"""

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

from wireproof.files.hostile import open_regular
from wireproof.model.errors import BadInput

NAMES = ("scc_", "nts_")
"""How the name of the archive's folder begins (supportutils 3 and before)."""
_WITNESSES = ("basic-environment.txt", "supportconfig.txt")
_SECTION = re.compile(
    r"^#==\[ (Command|Configuration File) \]=+#\n# ([^\n]{1,300})\n", re.MULTILINE
)
_ANY_SECTION = re.compile(r"^#==\[ ", re.MULTILINE)
_LARGEST_TEXT = 64 << 20
_MOST_SECTIONS = 20_000
_LONGEST_NAME = 200
_ROOTS = ("etc", "proc", "sys")
_COMMANDS = PurePosixPath("sos_commands/supportconfig")
_UNLIKE = re.compile(r"[^\w\-./]+")
"""Characters that sos replaces by ``_``."""
_HOST = re.compile(r"^(?:scc|nts)_(.+)_\d{6}_\d{4}$")


def is_supportconfig(folder: Path) -> bool:
    """Return whether ``folder`` holds the texts of a supportconfig."""
    return any((folder / name).is_file() for name in _WITNESSES)


def lay_out(source: Path, folder: Path) -> None:
    """Write the sections of ``source`` below ``folder``: files of /etc, /proc and /sys at their
    paths, and output of commands under the command's name. The first section of a name counts.
    Raises ``BadInput`` above 20,000 sections, because each becomes a file.
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
        place = _file(head[2]) if head[1] == "Configuration File" else _command(head[2])
        if place is not None:
            body = content[head.end() : after.start() if after else len(content)]
            yield place, f"{body.rstrip()}\n"


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


def _command(subject: str) -> PurePosixPath | None:
    """Return the path of a command's output: the file for ``cat FILE``, else the name that sos
    gives it.
    """
    words = subject.split()
    words[0] = PurePosixPath(words[0]).name
    if words[0] == "cat" and len(words) == 2:
        return _file(words[1])
    name = file_called(words)
    return _COMMANDS / name if _is_name(name) and name.strip(".") else None


def file_called(words: Sequence[str]) -> str:
    """Return the name that sos gives the file of a command's output."""
    return _UNLIKE.sub("_", " ".join(words)).replace("/", ".")


def _write(path: Path, text: str) -> None:
    """Write into a folder that we have just created; existing files stay."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(text.encode())
    except (FileExistsError, NotADirectoryError):
        return
