"""A process tree: started under ``wireproof-node guard``, read through two pipes, ended without
leftovers.

The guard holds the reading end of a control pipe. When this process closes the other end or dies of
any signal, the guard ends all processes that the launcher has started, including daemons.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import shutil
import signal
import stat
import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal

from wireproof.files.held import lasting_folder, temporary_root
from wireproof.launch.engines import start_guarded
from wireproof.model.errors import CouldNotMeasure

# --- Handle files that killed launchers leave in the temporary folder: put them into a private
# folder, or remove them if no process can still use them.

PREFIX = "wireproof-tmp-"
_LOCK = ".lock"
_YOUNG_S = 60.0
"""A folder younger than this, in seconds, may still be in creation and have no lock yet."""
_HYDRA = "hydra_hwloc_xmlfile_"
_HYDRA_FOLDER = Path("/tmp")  # noqa: S108  the folder that Hydra uses
_HYDRA_NAMES = ("hydra", "mpiexec")


@contextlib.contextmanager
def scratch(wanted: bool) -> Iterator[dict[str, str]]:
    """Return a private ``TMPDIR`` as a variable, which is removed at the end; nothing if it is not
    wanted or cannot be created.

    Only for processes on this machine: srun and Hydra pass the variable to hosts on which the
    folder does not exist. Folders of earlier, killed wireproof processes are also removed: their
    lock is free.
    """
    folder = _made() if wanted else None
    if folder is None:
        yield {}
        return
    path, lock = folder
    try:
        yield {"TMPDIR": str(path)}
    finally:
        shutil.rmtree(path, ignore_errors=True)
        os.close(lock)


def _made() -> tuple[Path, int] | None:
    _sweep(temporary_root())
    try:
        path = lasting_folder(PREFIX)
    except OSError:
        return None
    lock = _lock(path)
    return None if lock is None else (path, lock)


def _lock(folder: Path) -> int | None:
    """Take the folder's lock and return it; None if another process holds it or it belongs to
    another user.
    """
    import fcntl  # not on Windows, where stored results are reported

    try:
        lock = os.open(folder / _LOCK, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError:
        return None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        return None
    return lock


def _sweep(root: Path) -> None:
    """Remove the folders of killed wireproof processes of this user."""
    with contextlib.suppress(OSError):
        for entry in os.scandir(root):
            if entry.name.startswith(PREFIX) and _ours(entry, stat.S_ISDIR, time.time() - _YOUNG_S):
                lock = _lock(Path(entry.path))
                if lock is not None:
                    shutil.rmtree(entry.path, ignore_errors=True)
                    os.close(lock)


def _ours(entry: os.DirEntry[str], kind: object, before: float) -> bool:
    try:
        found = entry.stat(follow_symlinks=False)
    except OSError:
        return False
    return bool(kind(found.st_mode)) and found.st_uid == os.geteuid() and found.st_mtime < before  # type: ignore[operator]


@contextlib.contextmanager
def hydra_files_removed(root: Path = _HYDRA_FOLDER) -> Iterator[None]:
    """Return a context that removes this user's Hydra files created during the block, if no Hydra
    of this user runs any more.
    """
    begun = time.time()
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            files = [entry for entry in os.scandir(root) if entry.name.startswith(_HYDRA)]
            now = time.time() + 1
            mine = [
                entry
                for entry in files
                if _ours(entry, stat.S_ISREG, now) and entry.stat().st_mtime >= begun - 1
            ]
            for entry in mine if mine and not _hydra_lives() else []:
                with contextlib.suppress(OSError):
                    os.unlink(entry.path)


def _hydra_lives() -> bool:
    """Return whether a launcher or proxy of this user runs, which may own a file. A process that
    cannot be examined is taken for a launcher.
    """
    try:
        processes = [entry for entry in os.scandir("/proc") if entry.name.isdigit()]
    except OSError:
        return True
    for entry in processes:
        try:
            if entry.stat().st_uid == os.geteuid():
                name = Path(entry.path, "comm").read_text(encoding="utf-8", errors="replace")
                if name.startswith(_HYDRA_NAMES):
                    return True
        except OSError:  # it has ended meanwhile
            continue
    return False


CHUNK = 1 << 16
END_SECONDS = 12.0
"""The guard allows 2 s for SIGTERM and 5 s for SIGKILL; only a hung kernel takes longer."""
DRAIN_SECONDS = 3.0
PACED = b"wireproof-plan paced\n"
"""Precedes a plan that is sent piece by piece: the engine then reports its reading progress
(`PlanRead`).
"""
AHEAD_BYTES = 48 << 10
"""Maximum number of bytes that are sent but not yet read: three quarters of a Linux pipe's
capacity.
"""

Channel = Literal["out", "talk"]


class _PacedPlan:
    """A plan that is being sent to rank 0, never further ahead of its reader than a pipe's
    capacity: MPICH's Hydra ends the job ("process reading stdin too slowly; can't keep up") if more
    is pending.
    """

    def __init__(self, plan: Path) -> None:
        self._left = memoryview(PACED + plan.read_bytes())
        self._sent = 0
        self.reading, self._sink = os.pipe()

    def feed(self, read_bytes: int) -> None:
        """Write as much as the pipe can take after the reader has read ``read_bytes``."""
        while self._left and (room := AHEAD_BYTES - (self._sent - read_bytes)) > 0:
            try:
                written = os.write(self._sink, self._left[: min(room, AHEAD_BYTES)])
            except BrokenPipeError:
                written = len(self._left)
            self._left, self._sent = self._left[written:], self._sent + written
        if not self._left:
            self.close()

    def close(self) -> None:
        if self._sink >= 0:
            os.close(self._sink)
            self._sink = -1


class GuardedProcess:
    """A process ``argv`` with ``plan`` (a file) as standard input. A context manager that leaves no
    process behind.
    """

    def __init__(
        self, argv: tuple[str, ...], environment: Mapping[str, str], plan: Path, node: Path
    ) -> None:
        reading, self._control = os.pipe()
        self._paced: _PacedPlan | None = None
        try:
            if plan.stat().st_size > AHEAD_BYTES - len(PACED):
                self._paced = _PacedPlan(plan)
            stdin = self._paced.reading if self._paced else os.open(plan, os.O_RDONLY)
            try:
                self._process = start_guarded(node, reading, argv, environment, stdin)
            finally:
                os.close(stdin)
        except OSError as error:
            os.close(self._control)
            self._close_plan()
            raise CouldNotMeasure(f"{argv[0]} cannot be started: {error.strerror}.") from error
        finally:
            os.close(reading)
        self.plan_read(0)
        self._selector = selectors.DefaultSelector()
        for stream, channel in ((self._process.stdout, "out"), (self._process.stderr, "talk")):
            if stream is not None:
                os.set_blocking(stream.fileno(), False)
                self._selector.register(stream, selectors.EVENT_READ, channel)

    def __enter__(self) -> GuardedProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()
        self._close_plan()
        self._selector.close()
        for stream in (self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()

    def plan_read(self, read_bytes: int) -> None:
        """Send more of a long plan, because rank 0 has read ``read_bytes`` of its
        standard input.
        """
        if self._paced is not None:
            self._paced.feed(read_bytes)

    def _close_plan(self) -> None:
        if self._paced is not None:
            self._paced.close()

    @property
    def listening(self) -> bool:
        """True if more output may come."""
        return bool(self._selector.get_map())

    def hear(self, seconds: float) -> Iterator[tuple[Channel, bytes]]:
        """Return the output within ``seconds``; nothing if the process was silent. Closed pipes are
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
        """Return the output that is still in the pipes after the end, bounded in time."""
        until = time.monotonic() + DRAIN_SECONDS
        while self.listening and time.monotonic() < until:
            heard = list(self.hear(0.2))
            yield from heard
            if not heard and self._process.poll() is not None:
                return

    def poll(self) -> int | None:
        """Return the exit status if the tree has ended, negative for a signal."""
        return self._process.poll()

    def end(self) -> int:
        """End the tree and wait for it; return the exit status."""
        self._close_control()
        try:
            return self._process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
            return self._process.wait()

    def wait(self, seconds: float) -> int | None:
        """Return the exit status within ``seconds`` or None."""
        try:
            return self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None

    def _close_control(self) -> None:
        if self._control >= 0:
            os.close(self._control)
            self._control = -1
