"""Identify the MPI of a launcher by ``--version`` of the launcher, the sonames of its libraries,
and the library's answer.
"""

import dataclasses
import json
import os
import struct
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

from wireproof.files.programs import by_path
from wireproof.launch.engines import ABI_OF_SONAME, Family, MpiInstall, version_of
from wireproof.launch.known import MPIS

# --- Read the soname of a shared library and the libraries that a program needs from the file:
# nothing is loaded or run.

PT_LOAD, PT_DYNAMIC = 1, 2
DT_NULL, DT_NEEDED, DT_STRTAB, DT_SONAME = 0, 1, 5, 14
_MOST_HEADERS = 256
_MOST_NAMES = 1024
_MOST_DYNAMIC_BYTES = 1 << 16
_LONGEST_NAME = 256


def read_soname(path: Path) -> str | None:
    """Return ``libmpi_abi.so.1`` of a library file; None if it is not an ELF shared library or has
    no soname.
    """
    return next(iter(_names_in(path, DT_SONAME)), None)


def read_needed(path: Path) -> tuple[str, ...]:
    """Return the sonames that a program or library needs (``libmpi.so.40``); empty if it is not an
    ELF file (a script).
    """
    return tuple(_names_in(path, DT_NEEDED))


def _names_in(path: Path, wanted: int) -> list[str]:
    try:
        with path.open("rb") as file:
            return _names(_Elf(file.read(64), file), wanted)
    except (OSError, struct.error, ValueError):
        return []


class _Elf:
    """Header fields that depend on class and byte order, and positioned reads."""

    def __init__(self, ident: bytes, file: BinaryIO) -> None:
        if (
            len(ident) < 52
            or ident[:4] != b"\x7fELF"
            or ident[4] not in (1, 2)
            or ident[5] not in (1, 2)
        ):
            raise ValueError("no ELF file")
        self.wide = ident[4] == 2
        self.order = "<" if ident[5] == 1 else ">"
        self._file = file
        layout = "QQQIHHH" if self.wide else "IIIIHHH"
        (
            _entry,
            self.header_offset,
            _sections,
            _flags,
            _size,
            self.header_size,
            self.header_count,
        ) = struct.unpack_from(self.order + layout, ident, 24)

    def read(self, offset: int, size: int) -> bytes:
        self._file.seek(offset)
        return self._file.read(size)

    def segments(self) -> list[tuple[int, int, int, int]]:
        """Return (type, file offset, address, file size) of each program header."""
        result = []
        for index in range(min(self.header_count, _MOST_HEADERS)):
            data = self.read(self.header_offset + index * self.header_size, self.header_size)
            if self.wide:
                kind, _, offset, address, _, size = struct.unpack_from(self.order + "IIQQQQ", data)
            else:
                kind, offset, address, _, size = struct.unpack_from(self.order + "IIIII", data)
            result.append((kind, offset, address, size))
        return result


def _names(elf: _Elf, wanted: int) -> list[str]:
    segments = elf.segments()
    dynamic = next((segment for segment in segments if segment[0] == PT_DYNAMIC), None)
    if dynamic is None:
        return []
    entry = struct.Struct(elf.order + ("qQ" if elf.wide else "iI"))
    data = elf.read(dynamic[1], min(dynamic[3], _MOST_DYNAMIC_BYTES))
    texts: list[int] = []
    table: int | None = None
    for tag, value in entry.iter_unpack(data[: len(data) // entry.size * entry.size]):
        if tag == DT_NULL:
            break
        if tag == DT_STRTAB and table is None:
            table = value
        elif tag == wanted and len(texts) < _MOST_NAMES:
            texts.append(value)
    return (
        []
        if table is None
        else [name for text in texts if (name := _text_at(elf, segments, table, text))]
    )


def _text_at(elf: _Elf, segments: list[tuple[int, int, int, int]], table: int, text: int) -> str:
    for kind, offset, address, size in segments:
        if kind == PT_LOAD and address <= table < address + size:
            return (
                elf.read(offset + table - address + text, _LONGEST_NAME)
                .split(b"\0", 1)[0]
                .decode("ascii", "replace")
            )
    return ""


ASK_SECONDS = 20.0
_MOST_FILES = 4096


@dataclasses.dataclass(frozen=True)
class LibraryAnswer:
    """A library's report about itself without MPI_Init. ``abi_major`` above 0: it supports the
    standard ABI.
    """

    version: str = ""
    abi_major: int = 0
    abi_minor: int = 0
    problem: str = ""


def probe_argv(library: Path) -> list[str]:
    """Return the command that queries ``library`` in a separate process."""
    return [sys.executable, "-I", str(Path(__file__).with_name("abi_probe.py")), str(library)]


def _bare_environment(folder: Path | None = None) -> dict[str, str]:
    environment = {
        name: os.environ[name] for name in ("PATH", "HOME", "LANG", "TMPDIR") if name in os.environ
    }
    if folder is not None:
        environment["LD_LIBRARY_PATH"] = str(folder)
    return environment


def ask_library(library: Path) -> LibraryAnswer:
    """Return version and ABI of an MPI library; ``problem``: the reason if there is no answer."""
    try:
        done = subprocess.run(
            **by_path(probe_argv(library), _bare_environment(library.parent)),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=ASK_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return LibraryAnswer(problem=f"{library} did not answer ({type(error).__name__})")
    for line in done.stdout.splitlines():
        if line.startswith(b"WIREPROOF "):
            return LibraryAnswer(**json.loads(line.removeprefix(b"WIREPROOF ")))
    last = done.stderr.decode("utf-8", "replace").strip().splitlines()[-1:]
    return LibraryAnswer(
        problem=f"{library} cannot be loaded: {last[0][:200] if last else 'no reason given'}"
    )


def _first_named(text: str, marks: Iterable[tuple[str, Family]]) -> Family | None:
    """Return the family whose mark occurs first; later text may be unrelated, such as the builder's
    host name.
    """
    text = text.lower()
    found = [(text.find(mark.lower()), family) for mark, family in marks]
    return min(((place, family) for place, family in found if place >= 0), default=(0, None))[1]


def family_of_library(version: str) -> Family | None:
    """Return the family from the text of ``MPI_Get_library_version``."""
    return _first_named(version, ((one.library_says, one.name) for one in MPIS.values()))


def family_of_launcher(version: str) -> Family | None:
    """Return the family from the output of ``mpiexec --version``."""
    marks = ((mark, one.name) for one in MPIS.values() for mark in one.launcher_says)
    return _first_named(version, marks)


def _launcher_family(launcher: Path) -> Family | None:
    try:
        done = subprocess.run(
            **by_path([str(launcher), "--version"], _bare_environment()),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=ASK_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return family_of_launcher(
        done.stdout.decode("utf-8", "replace") + done.stderr.decode("utf-8", "replace")
    )


def sonames(folders: Iterable[Path]) -> dict[str, Path]:
    """Return the sonames for which an engine variant exists, and their files. Linker scripts and
    other files are skipped.
    """
    found: dict[str, Path] = {}
    for folder in folders:
        for path in sorted(folder.glob("libmpi*.so*"))[:_MOST_FILES]:
            soname = read_soname(path)
            if soname not in ABI_OF_SONAME or not path.name.startswith(
                soname.split(".so")[0] + ".so"
            ):
                continue
            # The best path is the name that the loader looks for; a development link comes second.
            if soname not in found or (path.name == soname and found[soname].name != soname):
                found[soname] = path
    return found


def identify(launcher: Path, origin: str, folders: tuple[Path, ...]) -> MpiInstall | None:
    """Return the MPI of ``launcher``, with its library from ``folders``; None if it is not a known
    MPI launcher.
    """
    family = _launcher_family(launcher)
    if family is None:
        return None
    install = MpiInstall(family=family, origin=origin, launcher=launcher, library=None)
    libraries = sonames(folders)
    answers: list[str] = []
    for soname, abi in ABI_OF_SONAME.items():
        library = libraries.get(soname)
        if library is None:
            continue
        answer = ask_library(library)
        if answer.problem or family_of_library(answer.version) != family:
            answers.append(answer.problem or f"{library} is {version_of(answer.version)}")
            continue
        if abi == "mpiabi" and answer.abi_major <= 0:
            answers.append(f"{library} has no working standard ABI")
            continue
        return dataclasses.replace(
            install,
            library=library,
            soname=soname,
            abi=abi,
            abi_version=f"{answer.abi_major}.{answer.abi_minor}" if answer.abi_major > 0 else "",
            version=version_of(answer.version),
        )
    return dataclasses.replace(install, problem=_no_library(folders, answers))


def _no_library(folders: tuple[Path, ...], answers: list[str]) -> str:
    where = ", ".join(map(str, folders)) or "its prefix"
    if answers:
        return f"no library with a known ABI ({'; '.join(answers)})"
    return f"no {', '.join(ABI_OF_SONAME)} in {where}"
