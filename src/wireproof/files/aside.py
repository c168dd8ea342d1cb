"""Run work that may block forever, such as reading from a file system whose server is gone, in a
separate process with a firm time limit.

A thread does not help: a process ends only with its last thread, and a thread that waits in the
kernel for such a file system cannot be killed.
"""

import contextlib
import os
import select
import signal
import threading
import time
import warnings
from collections.abc import Callable
from typing import NoReturn

_HEAD = 8
"""Bytes of the length that precedes the answer, so that a partial answer is detected."""
_ENDING_S = 0.2
_MOST_DESCRIPTORS = 65536


def answer_aside(work: Callable[[], bytes], within_s: float) -> bytes:
    """Return what ``work`` returns, from a child process without the parent's streams.

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
        )  # warns about threads, which the time limit covers
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
    """Return whether ``work``, in a child process, ends within ``within_s``, with or without an
    error.
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
    """Run in the child. Close everything that the caller may wait for: an open pipe would block
    whoever reads the caller's output.
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
