"""The soname of a shared library, read from the file: nothing is loaded, nothing is run.

Only what an ELF64 or ELF32 dynamic section needs (System V ABI, chapters 4 and 5). A wheel's ``libmpi.so`` can be a
linker script: that is no ELF file and has no soname.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import BinaryIO

__all__ = ["read_soname"]

PT_LOAD, PT_DYNAMIC = 1, 2
DT_NULL, DT_STRTAB, DT_SONAME = 0, 5, 14
_MOST_HEADERS = 256
_MOST_DYNAMIC_BYTES = 1 << 16
_LONGEST_NAME = 256


def read_soname(path: Path) -> str | None:
    """``libmpi_abi.so.1`` of a library file; None when it is no ELF shared library or names no soname."""
    try:
        with path.open("rb") as file:
            return _soname(_Elf(file.read(64), file))
    except (OSError, struct.error, ValueError):
        return None


class _Elf:
    """Header fields that differ between classes and byte orders, and positioned reads."""

    def __init__(self, ident: bytes, file: BinaryIO) -> None:
        if len(ident) < 52 or ident[:4] != b"\x7fELF" or ident[4] not in (1, 2) or ident[5] not in (1, 2):
            raise ValueError("no ELF file")
        self.wide = ident[4] == 2
        self.order = "<" if ident[5] == 1 else ">"
        self._file = file
        layout = "QQQIHHH" if self.wide else "IIIIHHH"
        _entry, self.header_offset, _sections, _flags, _size, self.header_size, self.header_count = struct.unpack_from(
            self.order + layout, ident, 24
        )

    def read(self, offset: int, size: int) -> bytes:
        self._file.seek(offset)
        return self._file.read(size)

    def segments(self) -> list[tuple[int, int, int, int]]:
        """(type, file offset, address, file size) of each program header."""
        result = []
        for index in range(min(self.header_count, _MOST_HEADERS)):
            data = self.read(self.header_offset + index * self.header_size, self.header_size)
            if self.wide:
                kind, _, offset, address, _, size = struct.unpack_from(self.order + "IIQQQQ", data)
            else:
                kind, offset, address, _, size = struct.unpack_from(self.order + "IIIII", data)
            result.append((kind, offset, address, size))
        return result


def _soname(elf: _Elf) -> str | None:
    segments = elf.segments()
    dynamic = next((segment for segment in segments if segment[0] == PT_DYNAMIC), None)
    if dynamic is None:
        return None
    entry = struct.Struct(elf.order + ("qQ" if elf.wide else "iI"))
    data = elf.read(dynamic[1], min(dynamic[3], _MOST_DYNAMIC_BYTES))
    tags: dict[int, int] = {}
    for tag, value in entry.iter_unpack(data[: len(data) // entry.size * entry.size]):
        if tag == DT_NULL:
            break
        tags.setdefault(tag, value)
    if DT_SONAME not in tags or DT_STRTAB not in tags:
        return None
    for kind, offset, address, size in segments:
        if kind == PT_LOAD and address <= tags[DT_STRTAB] < address + size:
            text = elf.read(offset + tags[DT_STRTAB] - address + tags[DT_SONAME], _LONGEST_NAME)
            return text.split(b"\0", 1)[0].decode("ascii", "replace") or None
    return None
