"""Read a compressed file as a stream with a limit on the unpacked size: a few kB can unpack to any
number of GB.
"""

import bz2
import errno
import gzip
import lzma
import os
from collections.abc import Callable, Iterator
from typing import BinaryIO

_BLOCK = 1 << 18
_LARGEST_READ = 1 << 20
"""Bytes of a single read: tarfile loads a header of any size into memory."""
_FREE = 256 << 20
_RATIO = 200
"""Most bytes per packed byte beyond ``_FREE``: text reaches 40, a disk of zeros 1000."""
_XZ_MEMORY = 256 << 20
_KEPT = 512
"""tarfile goes back by a byte to check whether a member was complete."""


def _plain(file: BinaryIO) -> Iterator[bytes]:
    while data := file.read(_BLOCK):
        yield data


def _gzip(file: BinaryIO) -> Iterator[bytes]:
    with gzip.GzipFile(fileobj=file) as stream:
        while data := stream.read(_BLOCK):
            yield data


def _bzip2(file: BinaryIO) -> Iterator[bytes]:
    with bz2.BZ2File(file) as stream:
        while data := stream.read(_BLOCK):
            yield data


def _xz(file: BinaryIO) -> Iterator[bytes]:
    """Unpack without LZMAFile, whose memory is only limited by what the file requests."""
    rest = file.read(_BLOCK)
    while rest:
        decoder = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_XZ_MEMORY)
        while not decoder.eof:
            yield decoder.decompress(rest, _BLOCK)
            rest = file.read(_BLOCK) if decoder.needs_input and not decoder.eof else b""
            if decoder.needs_input and not rest and not decoder.eof:
                raise EOFError("it is cut off")
        rest = (decoder.unused_data or file.read(_BLOCK)).lstrip(b"\0")  # padding between streams


_FORMS: tuple[tuple[bytes, Callable[[BinaryIO], Iterator[bytes]]], ...] = (
    (b"\x1f\x8b", _gzip),
    (b"BZh", _bzip2),
    (b"\xfd7zXZ\0", _xz),
)


class Unpacked:
    """The unpacked contents of ``file``, by its magic number, readable once from the front.
    ``largest``: limit in bytes, including skipped ones. Errors are ``OSError`` whose text ends a
    sentence, and those of the format (``EOFError``, ``zlib.error``, ``lzma.LZMAError``).
    """

    def __init__(self, file: BinaryIO, largest: int) -> None:
        self._file, self._largest = file, largest
        self._size = os.fstat(file.fileno()).st_size
        head = file.read(8)
        file.seek(0)
        form = next((form for magic, form in _FORMS if head.startswith(magic)), _plain)
        self._ratio = form is not _plain
        self._chunks = form(file)
        self._data, self._start, self._position = b"", 0, 0
        self.headers = 0
        """Bytes of an archive's headers of headers so far: whoever takes them apart counts."""

    def tell(self) -> int:
        return self._position

    def read(self, size: int = -1) -> bytes:
        if not 0 <= size <= _LARGEST_READ:
            raise OSError(errno.EFBIG, "it has a header of more than 1 MiB")
        while self._end() < self._position + size and self._more():
            pass
        begin = self._position - self._start
        data = self._data[begin : begin + size]
        self._position += len(data)
        return data

    def seek(self, position: int, whence: int = os.SEEK_SET) -> int:
        if whence != os.SEEK_SET or position < self._start:
            raise OSError(errno.ESPIPE, "it goes back")
        while self._end() < position:
            self._position = self._end()  # skipped data is not kept
            if not self._more():
                return self._position
        self._position = position
        return position

    def _end(self) -> int:
        return self._start + len(self._data)

    def _more(self) -> bool:
        """Append a chunk and drop most of what was read; return False at the end."""
        chunk = next(self._chunks, None)
        if chunk is None:
            return False
        end = self._end() + len(chunk)
        if end > self._largest:
            raise OSError(errno.EFBIG, f"it unpacks to more than {self._largest >> 30} GiB")
        if self._ratio and end > max(_FREE, _RATIO * self._size):
            raise OSError(errno.EFBIG, f"it unpacks to more than {_RATIO} times its size")
        drop = max(0, min(self._position - self._start, len(self._data)) - _KEPT)
        self._data, self._start = self._data[drop:] + chunk, self._start + drop
        return True
