"""Keep verdicts intact if standard output or error is closed, full or without a reader."""

import contextlib
import errno
import io
import os
import select
import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import TextIO


class _Lenient(io.RawIOBase):
    """Writes to a descriptor. The first error is kept and later data is dropped, so that the writer
    continues.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self.trouble: OSError | None = None

    def fileno(self) -> int:
        return self._descriptor

    def isatty(self) -> bool:
        return os.isatty(self._descriptor)

    def writable(self) -> bool:
        return True

    def write(self, data: object) -> int:
        view = memoryview(data)  # type: ignore[arg-type]
        left = view
        while left and self.trouble is None:
            try:
                left = left[os.write(self._descriptor, left) :]
            except BlockingIOError:
                select.select([], [self._descriptor], [], 1.0)
            except OSError as error:
                self.trouble = error
        return len(view)


def _result_lost(out: _Lenient | None) -> str:
    """Return the reason why standard output was not fully written; "" if it was, or if the reader
    closed the pipe.
    """
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.flush()
    trouble = out.trouble if out is not None else None
    # A reader that stops early (| head) is not an error.
    if trouble is None or trouble.errno == errno.EPIPE:
        return ""
    return trouble.strerror or str(trouble)


@contextlib.contextmanager
def own_streams() -> Iterator[Callable[[], str]]:
    """Replace standard output and error within the block, unless they have already been replaced.
    Yield a function that returns why standard output did not accept the result, or "".

    Closed descriptors are first opened to /dev/null: otherwise the next opened file would get the
    same number, and output would be written into it.
    """
    for descriptor in (0, 1, 2):
        _open_if_closed(descriptor)
    if sys.stdin is None:
        sys.stdin = os.fdopen(0, encoding="utf-8", errors="surrogateescape", closefd=False)
    out = None
    before = sys.stdout, sys.stderr
    try:
        if sys.stdout is None or sys.stdout is sys.__stdout__:
            sys.stdout, out = _wrapped(1, before[0], line_buffering=None)
        if sys.stderr is None or sys.stderr is sys.__stderr__:
            sys.stderr, _ = _wrapped(2, before[1], line_buffering=True)
        yield partial(_result_lost, out)
    finally:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
        sys.stdout, sys.stderr = before


def _open_if_closed(descriptor: int) -> None:
    try:
        os.fstat(descriptor)
    except OSError:
        nowhere = os.open(os.devnull, os.O_RDWR)
        if nowhere != descriptor:
            os.dup2(nowhere, descriptor)
            os.close(nowhere)


def _wrapped(
    descriptor: int, before: TextIO | None, *, line_buffering: bool | None
) -> tuple[TextIO, _Lenient]:
    raw = _Lenient(descriptor)
    if before is not None:
        before.flush()
    text = io.TextIOWrapper(
        io.BufferedWriter(raw),
        encoding=before.encoding if before is not None else "utf-8",
        errors=(before.errors or "strict") if before is not None else "backslashreplace",
        line_buffering=raw.isatty() if line_buffering is None else line_buffering,
    )
    return text, raw


def descriptor(stream: object) -> int | None:
    """Return the number behind ``sys.stdout`` or ``sys.stderr``; None if there is none."""
    try:
        return int(stream.fileno())  # type: ignore[attr-defined]
    except (OSError, ValueError, AttributeError):
        return None
