"""What a log says of the software below a benchmark: the MPI, the system and its kernel. A banner,
or the output of `uname -a`, `mpirun --version` or `cat /etc/os-release`, holds for what follows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from wireproof.adapters.page import Page
from wireproof.model.series import SOFTWARE, Series

__all__ = ["with_software"]

_VERSION = r"(\d[\w.]{0,30}(?: Update \d{1,2})?)"
_SIGNS: tuple[tuple[str, str, str, re.Pattern[str]], ...] = (
    # what it is, a word in the line, how it is called, where its version is
    (
        "mpi",
        "MPI Library",
        "Intel MPI",
        re.compile(r"Intel\(R\) MPI Library(?: for Linux\* OS)?,? Version " + _VERSION),
    ),
    ("mpi", "Open MPI)", "Open MPI", re.compile(r"\(Open MPI\) " + _VERSION)),
    ("system", "PRETTY_NAME=", "", re.compile(r'^PRETTY_NAME="?([\w][\w ./()-]{2,60}?)"?$')),
    (
        "system",
        " release ",
        "",
        re.compile(
            r"^((?:AlmaLinux|CentOS|Fedora|Oracle|Red Hat|Rocky)[\w ]{0,40} release \d[\w.]{0,20})"
            r"(?: \([\w ]{1,40}\))?$"
        ),
    ),
    ("kernel", "# Release", "Linux", re.compile(r"^# Release +: " + r"(\d[\w.+-]{2,60})$")),
    ("kernel", "Linux ", "Linux", re.compile(r"^Linux \S{1,80} (\d+\.\d[\w.+-]{2,60})(?: |$)")),
)
_HINTS = tuple({word.encode() for _, word, _, _ in _SIGNS})


def _said(line: str) -> Iterator[tuple[str, str]]:
    for kind, word, name, pattern in _SIGNS:
        found = pattern.search(line[:400]) if word in line else None
        if found is not None:
            yield kind, f"{name} {found.group(1)}".strip()


def with_software(found: list[Series], page: Page, data: bytes) -> list[Series]:
    """The series with a note for each of MPI, system and kernel that stands above its rows."""
    if not any(word in data for word in _HINTS):
        return found
    noted, begin, known = list[Series](), 0, dict[str, str]()
    for one in found:
        end = max(one.last_line, one.first_line)
        for line in page.lines[begin:end]:
            known.update(_said(line))
        begin = max(begin, end)
        notes = [*one.notes, *(SOFTWARE + known[kind] for kind in sorted(known))]
        noted.append(msgspec.structs.replace(one, notes=notes) if known else one)
    return noted
