"""Read the soname of a shared library and the libraries that a program needs from the file: nothing
is loaded or run.

Reads only the parts of an ELF64 or ELF32 dynamic section that are needed (System V ABI, chapters 4
and 5). A wheel's ``libmpi.so`` can be a linker script, which is not an ELF file and has no soname.
"""

import struct
from pathlib import Path
from typing import BinaryIO

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
    try:
        with path.open("rb") as file:
            return next(iter(_names(_Elf(file.read(64), file), DT_SONAME)), None)
    except (OSError, struct.error, ValueError):
        return None


def read_needed(path: Path) -> tuple[str, ...]:
    """Return the sonames that a program or library needs (``libmpi.so.40``); empty if it is not an
    ELF file (a script).
    """
    try:
        with path.open("rb") as file:
            return tuple(_names(_Elf(file.read(64), file), DT_NEEDED))
    except (OSError, struct.error, ValueError):
        return ()


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
