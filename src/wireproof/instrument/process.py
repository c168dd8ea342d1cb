"""One process tree: started under ``wireproof-node guard``, heard on two pipes, ended without
leftovers.

The guard holds the reading end of a control pipe. When we end it, or when we die of whatever
signal, the pipe closes and the guard takes down everything that the launcher has started, daemons
included.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal

from wireproof.launch.guard import start_guarded
from wireproof.model.errors import CouldNotMeasure

__all__ = ["GuardedProcess"]

CHUNK = 1 << 16
END_SECONDS = 12.0
"""The guard gives 2 s to SIGTERM and 5 s to SIGKILL; only a hung kernel takes longer."""
DRAIN_SECONDS = 3.0

Channel = Literal["out", "talk"]


class GuardedProcess:
    """``argv`` with ``plan`` (a file) as standard input. A context manager: leaving it leaves no
    process.
    """

    def __init__(
        self, argv: tuple[str, ...], environment: Mapping[str, str], plan: Path, node: Path
    ) -> None:
        reading, self._control = os.pipe()
        try:
            with plan.open("rb") as stdin:
                self._process = start_guarded(node, reading, argv, environment, stdin.fileno())
        except OSError as error:
            os.close(self._control)
            raise CouldNotMeasure(f"{argv[0]} cannot be started: {error.strerror}.") from error
        finally:
            os.close(reading)
        self._selector = selectors.DefaultSelector()
        for stream, channel in ((self._process.stdout, "out"), (self._process.stderr, "talk")):
            if stream is not None:
                os.set_blocking(stream.fileno(), False)
                self._selector.register(stream, selectors.EVENT_READ, channel)

    def __enter__(self) -> GuardedProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()
        self._selector.close()
        for stream in (self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()

    @property
    def listening(self) -> bool:
        """Something may still be said."""
        return bool(self._selector.get_map())

    def hear(self, seconds: float) -> Iterator[tuple[Channel, bytes]]:
        """What was said within ``seconds``; nothing when it was silent. A closed pipe is
        dropped.
        """
        if not self.listening:
            return
        for key, _ in self._selector.select(max(seconds, 0.0)):
            try:
                data = os.read(key.fd, CHUNK)
            except BlockingIOError:
                continue
            except OSError:
                data = b""
            if data:
                yield key.data, data
            else:
                self._selector.unregister(key.fileobj)

    def rest(self) -> Iterator[tuple[Channel, bytes]]:
        """What is still in the pipes after the end, bounded in time."""
        until = time.monotonic() + DRAIN_SECONDS
        while self.listening and time.monotonic() < until:
            heard = list(self.hear(0.2))
            yield from heard
            if not heard and self._process.poll() is not None:
                return

    def poll(self) -> int | None:
        """Exit status if the tree has ended, negative for a signal."""
        return self._process.poll()

    def end(self) -> int:
        """End the tree and wait for it; returns the exit status."""
        self._close_control()
        try:
            return self._process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
            return self._process.wait()

    def wait(self, seconds: float) -> int | None:
        """Exit status within ``seconds`` or None."""
        try:
            return self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None

    def _close_control(self) -> None:
        if self._control >= 0:
            os.close(self._control)
            self._control = -1
