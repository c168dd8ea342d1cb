"""Work that may block for ever, as reading from a file system whose server is gone does: it is done
aside, with a bound on time that holds.

A thread does not do: a process ends only when the last of its threads does, and one that waits in
the kernel for such a file system cannot even be killed.
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
"""Bytes of the answer's length, which goes ahead of it: half an answer is none."""
_ENDING_S = 0.2
_MOST_DESCRIPTORS = 65536


def answer_aside(work: Callable[[], bytes], within_s: float) -> bytes:
    """What ``work`` returns, from a process of its own that has none of our streams.

    Raises ``TimeoutError`` after ``within_s``: the process is killed, and left to the system where
    the kernel does not let it go. Raises ``ChildProcessError`` when it ended without an answer.
    """
    if not hasattr(os, "fork"):
        return _by_thread(work, within_s)
    until = time.monotonic() + within_s
    ours, theirs = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # other threads: the bound holds anyway
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
    """Whether ``work``, done aside, ends within ``within_s``, by an error or not."""

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
    """In the child. It keeps nothing that our caller waits for: a pipe that stays open would hold
    up whoever reads what we print.
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
    """Where processes cannot fork (Windows)."""
    answers: list[bytes] = []
    thread = threading.Thread(target=lambda: answers.append(work()), daemon=True)
    thread.start()
    thread.join(within_s)
    if thread.is_alive():
        raise TimeoutError
    if not answers:
        raise ChildProcessError("the thread that read it has ended without an answer")
    return answers[0]
