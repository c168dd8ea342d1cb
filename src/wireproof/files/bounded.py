"""Work with a limit: of time, for operations that may block forever, such as reading from a file
system whose server is gone; of size, for compressed files, a few kB of which can unpack to any
number of GB.

A thread does not help: a process ends only with its last thread, and a thread that waits in the
kernel for such a file system cannot be killed. Such work runs in a separate process.
"""

import bz2
import contextlib
import errno
import gzip
import lzma
import os
import select
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from typing import BinaryIO, NoReturn

_HEAD = 8
"""Size in bytes of the length field in front of the answer, with which a partial answer is
detected.
"""
_ENDING_S = 0.2
_MOST_DESCRIPTORS = 65536


def answer_aside(work: Callable[[], bytes], within_s: float) -> bytes:
    """Run ``work`` in a child process without the parent's streams, and return its result.

    Raises ``TimeoutError`` after ``within_s``; the process is killed, or abandoned if the kernel
    does not release it. Raises ``ChildProcessError`` if it ended without an answer.
    """
    if not hasattr(os, "fork"):
        return _by_thread(work, within_s)
    until = time.monotonic() + within_s
    ours, theirs = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", DeprecationWarning
        )  # Python warns about threads, but the time limit also covers them
        child = os.fork()
    if child == 0:
        _answer(work, theirs)
    os.close(theirs)
    try:
        return _read_answer(ours, until)
    finally:
        os.close(ours)
        _end(child)


def ends_within(work: Callable[[], object], within_s: float) -> bool:
    """Run ``work`` in a child process; return whether it ends within ``within_s``, with or without
    an error.
    """

    def tried() -> bytes:
        work()
        return b"ended"

    try:
        with contextlib.suppress(ChildProcessError):
            answer_aside(tried, within_s)
    except TimeoutError:
        return False
    return True


def _answer(work: Callable[[], bytes], out: int) -> NoReturn:
    """Run in the child. Close all streams that the caller shares: an open pipe would block the
    reader of the caller's output.
    """
    try:
        nowhere = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(nowhere, descriptor)
        os.closerange(3, out)
        os.closerange(out + 1, _MOST_DESCRIPTORS)
        data = work()
        left = memoryview(len(data).to_bytes(_HEAD, "big") + data)
        while left:
            left = left[os.write(out, left) :]
    finally:
        os._exit(0)


def _read_answer(source: int, until: float) -> bytes:
    data = bytearray()
    while True:
        left = until - time.monotonic()
        if left <= 0 or not select.select([source], [], [], left)[0]:
            raise TimeoutError
        more = os.read(source, 1 << 20)
        data += more
        if len(data) >= _HEAD and len(data) == _HEAD + int.from_bytes(data[:_HEAD], "big"):
            return bytes(data[_HEAD:])
        if not more:
            raise ChildProcessError("the process that read it has ended without an answer")


def _end(child: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(child, signal.SIGKILL)
    until = time.monotonic() + _ENDING_S
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(child, os.WNOHANG)[0] == 0 and time.monotonic() < until:
            time.sleep(0.002)


def _by_thread(work: Callable[[], bytes], within_s: float) -> bytes:
    """Fallback for systems that cannot fork (Windows)."""
    answers: list[bytes] = []
    thread = threading.Thread(target=lambda: answers.append(work()), daemon=True)
    thread.start()
    thread.join(within_s)
    if thread.is_alive():
        raise TimeoutError
    if not answers:
        raise ChildProcessError("the thread that read it has ended without an answer")
    return answers[0]


# --- Compressed files, read as a stream.

_BLOCK = 1 << 18
_LARGEST_READ = 1 << 20
"""Limit in bytes of a single read, because tarfile loads a header of any size into memory."""
_FREE = 256 << 20
_RATIO = 200
"""Maximum number of bytes per packed byte beyond ``_FREE``: text reaches 40, a disk image of zeros
1000.
"""
_XZ_MEMORY = 256 << 20
_KEPT = 512
"""tarfile seeks back by a byte to check whether a member was complete."""


def _blocks(stream: BinaryIO | gzip.GzipFile | bz2.BZ2File) -> Iterator[bytes]:
    while data := stream.read(_BLOCK):
        yield data


def _xz(file: BinaryIO) -> Iterator[bytes]:
    """Unpack without LZMAFile, whose memory is limited only by the file's request."""
    rest = file.read(_BLOCK)
    while rest:
        decoder = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_XZ_MEMORY)
        while not decoder.eof:
            yield decoder.decompress(rest, _BLOCK)
            rest = file.read(_BLOCK) if decoder.needs_input and not decoder.eof else b""
            if decoder.needs_input and not rest and not decoder.eof:
                raise EOFError("it is truncated")
        rest = (decoder.unused_data or file.read(_BLOCK)).lstrip(b"\0")  # padding between streams


_FORMS: tuple[tuple[bytes, Callable[[BinaryIO], Iterator[bytes]]], ...] = (
    (b"\x1f\x8b", lambda file: _blocks(gzip.GzipFile(fileobj=file))),
    (b"BZh", lambda file: _blocks(bz2.BZ2File(file))),
    (b"\xfd7zXZ\0", _xz),
)


class Unpacked:
    """The unpacked contents of ``file``, by its magic number, readable once from the beginning.
    ``largest``: limit in bytes, including skipped bytes. Errors are ``OSError`` whose text ends a
    sentence, and those of the format (``EOFError``, ``zlib.error``, ``lzma.LZMAError``).
    """

    def __init__(self, file: BinaryIO, largest: int) -> None:
        self._file, self._largest = file, largest
        self._size = os.fstat(file.fileno()).st_size
        head = file.read(8)
        file.seek(0)
        form = next((form for magic, form in _FORMS if head.startswith(magic)), _blocks)
        self._ratio = form is not _blocks
        self._chunks = form(file)
        self._data, self._start, self._position = b"", 0, 0
        self.headers = 0
        """Number of bytes in an archive's extended headers so far; the parser updates it."""

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
            raise OSError(errno.ESPIPE, "it seeks backwards")
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
