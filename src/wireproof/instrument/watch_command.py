"""Run a command between the readings of its hosts' watches, pass on its output, and store a bounded
part of it.
"""

import contextlib
import os
import selectors
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

from wireproof.instrument.watch import Watcher
from wireproof.launch.engines import start_guarded
from wireproof.model.errors import CouldNotMeasure
from wireproof.model.secrets import clean_text

MOST_OUTPUT = 32 << 20
"""Limit in bytes of the stored output, which is searched for numbers; all output is passed on."""
CHUNK = 1 << 16
_KEPT_OF_ERRORS = 4096
_ENDING_S = 0.2
END_SECONDS = 12.0
"""The guard allows 2 s for SIGTERM and 5 s for SIGKILL."""

Heard = Callable[[int], bool]


class Hearing:
    """Reads all pipes in a single loop, so that no process blocks on a pipe that is not read."""

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()

    def add(self, descriptor: int, heard: Heard) -> None:
        """Call ``heard(descriptor)`` when data is available; it returns False at the end."""
        self._selector.register(descriptor, selectors.EVENT_READ, heard)

    def add_watch(self, watcher: Watcher) -> None:
        for descriptor in watcher.descriptors:
            self.add(descriptor, watcher.hear)

    def listen(self, seconds: float, until: Callable[[], bool]) -> bool:
        """Read from all pipes until ``until()`` is true (return True) or the time is over (return
        False).
        """
        end = time.monotonic() + seconds
        while not until():
            left = end - time.monotonic()
            if left <= 0:
                return False
            self._once(min(left, 0.25))
        return True

    def _once(self, seconds: float) -> None:
        if not self._selector.get_map():
            time.sleep(min(seconds, 0.05))
            return
        for key, _ in self._selector.select(seconds):
            if not key.data(key.fd):
                self._selector.unregister(key.fd)

    def close(self) -> None:
        self._selector.close()


Stdin = Literal["shared", "empty", "held"]
"""The standard input of a command: ours (empty if it is a terminal, which a command in another
session cannot read); empty, for a command that is repeated; or open and empty until the command is
ended, as required by a guard behind ssh.
"""


@contextlib.contextmanager
def _stdin(held: int | None, *, shared: bool) -> Iterator[int]:
    """Return ``held``, or else our standard input if it is ``shared`` and no terminal."""
    if held is not None:
        yield held
        os.close(held)
        return
    try:
        usable = shared and not os.isatty(sys.stdin.fileno())
    except (OSError, ValueError, AttributeError):
        usable = False
    if usable:
        yield sys.stdin.fileno()
        return
    null = os.open(os.devnull, os.O_RDONLY)
    try:
        yield null
    finally:
        os.close(null)


class WatchedCommand:
    """A command ``argv`` under the guard. ``sinks``: descriptors to which its output and errors are
    passed on; None: not passed on.

    Raise ``CouldNotMeasure`` if the guard cannot be started; if the command
    cannot be started, its exit status is 126 or 127.
    """

    def __init__(
        self,
        argv: Sequence[str],
        environment: Mapping[str, str],
        node: Path,
        sinks: tuple[int | None, int | None],
        hearing: Hearing,
        *,
        stdin: Stdin = "shared",
    ) -> None:
        self.output = bytearray()
        self.dropped = 0
        self._errors = b""
        self._open = 2
        reading, self._control = os.pipe()
        held: int | None = None
        self._stdin: int | None = None
        if stdin == "held":
            held, self._stdin = os.pipe()
        try:
            with _stdin(held, shared=stdin == "shared") as source:
                self._process = start_guarded(node, reading, argv, environment, source)
        except OSError as error:
            self._let_go()
            raise CouldNotMeasure(f"{argv[0]} cannot be started: {error.strerror}.") from error
        finally:
            os.close(reading)
        for stream, sink, keep in (
            (self._process.stdout, sinks[0], self._keep_output),
            (self._process.stderr, sinks[1], self._keep_errors),
        ):
            if stream is not None:
                hearing.add(stream.fileno(), self._passer(sink, keep))

    def _keep_output(self, data: bytes) -> None:
        room = MOST_OUTPUT - len(self.output)
        self.output += data[: max(0, room)]
        self.dropped += max(0, len(data) - max(0, room))

    def _keep_errors(self, data: bytes) -> None:
        self._errors = (self._errors + data)[-_KEPT_OF_ERRORS:]

    def last_words(self) -> str:
        """The last line of its standard error, else of its output, safe to print; "" if both are
        empty.
        """
        for text in (self._errors, bytes(self.output[-_KEPT_OF_ERRORS:])):
            if lines := [line for line in text.splitlines() if line.strip()]:
                return clean_text(lines[-1])[-300:]
        return ""

    def _passer(self, sink: int | None, keep: Callable[[bytes], None]) -> Heard:
        state = {"sink": sink}

        def heard(descriptor: int) -> bool:
            data = os.read(descriptor, CHUNK)
            if not data:
                self._open -= 1
                return False
            if state["sink"] is not None and not _pass_on(state["sink"], data):
                state["sink"] = None
            keep(data)
            return True

        return heard

    def ended(self) -> bool:
        """True if its process has ended and its output was read to the end (daemons may hold the
        pipe: the guard ends them).

        After the end of its output, wait for the process, which usually ends at once: otherwise its
        duration would be a multiple of the time between two looks.
        """
        if self._open:
            return False
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_ENDING_S)
        return self.gone

    @property
    def gone(self) -> bool:
        return self._process.poll() is not None

    def _let_go(self) -> None:
        """Close the descriptors that keep the command alive, here and behind a remote shell."""
        for descriptor in (self._stdin, self._control):
            if descriptor is not None and descriptor >= 0:
                os.close(descriptor)
        self._stdin, self._control = None, -1

    def end(self) -> int:
        """End the process tree, if it has not ended; return its exit status, 128 + signal for a
        signal.
        """
        self._let_go()
        try:
            status = self._process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            status = self._process.wait()
        return 128 - status if status < 0 else status

    def close(self) -> None:
        self.end()
        for stream in (self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()


def _pass_on(sink: int, data: bytes) -> bool:
    """Return False if the reader has closed its end (``| head``): the command still runs to
    completion.
    """
    view = memoryview(data)
    while view:
        try:
            view = view[os.write(sink, view) :]
        except OSError:
            return False
    return True
