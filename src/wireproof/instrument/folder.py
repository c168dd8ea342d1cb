"""The run folder while a run is recorded: frames.jsonl, run.json, plan.txt, engine.log.

Whatever kills us, what was written stays readable: frames are appended whole, run.json is replaced by rename.
"""

from __future__ import annotations

import contextlib
import errno
import os
import tempfile
from pathlib import Path

import msgspec

from wireproof.model.document import RunDocument
from wireproof.model.errors import BadInput, CouldNotMeasure
from wireproof.model.frames import BadFrame, FrameReader
from wireproof.model.record import Frame

__all__ = ["DiskFull", "RunFolder", "open_folder"]

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
RESERVE_FOR_POINT = 512
"""Room for the reason why a point is missing, which is told for each of them when the disk is full."""
RESERVE = ".reserve"
LOG_BYTES = 8 << 20
"""More talk than this tells nothing new and fills disks: the rest is counted, not kept."""


class DiskFull(CouldNotMeasure):
    """The run folder cannot take more; what was written before is good."""


class RunFolder:
    """An open run folder. ``known`` are the frames that an earlier, interrupted run has left (``resume``)."""

    def __init__(self, path: Path, known: list[Frame]) -> None:
        self.path = path
        self.known = known
        self._frames = os.open(path / "frames.jsonl", os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        self._log = os.open(path / "engine.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        self._logged = 0

    def append(self, line: bytes) -> None:
        """Write one frame and its newline, or nothing of it. Raises ``DiskFull``."""
        size = os.fstat(self._frames).st_size
        data = line + b"\n"
        try:
            written = os.write(self._frames, data)
            if written != len(data):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError as error:
            with contextlib.suppress(OSError):
                os.ftruncate(self._frames, size)
            self._release_reserve()
            raise self._full(error) from error

    def log(self, data: bytes) -> None:
        """Keep the talk of engine, MPI and launcher. A log that cannot be written loses the log, not the run."""
        room = LOG_BYTES - self._logged
        self._logged += len(data)
        if room > 0:
            with contextlib.suppress(OSError):
                os.write(self._log, data[:room])

    def write(self, name: str, data: bytes) -> None:
        """Replace the file ``name`` as a whole. Raises ``DiskFull``."""
        fresh = self.path / f".{name}.new"
        try:
            descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            fresh.replace(self.path / name)
        except OSError as error:
            with contextlib.suppress(OSError):
                fresh.unlink()
            raise self._full(error) from error

    def document(self, document: RunDocument) -> None:
        """Write run.json. Raises ``DiskFull``."""
        self.write("run.json", msgspec.json.encode(document) + b"\n")

    def reserve(self, points: int) -> None:
        """Set room aside that is given back when the disk is full, so that how the run ended can still be told.

        Raises ``DiskFull`` when there is not even that much.
        """
        size = (self.path / "run.json").stat().st_size * 2 + points * RESERVE_FOR_POINT
        descriptor = os.open(self.path / RESERVE, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            os.posix_fallocate(descriptor, 0, size)
        except OSError as error:
            self._release_reserve()
            # A limit on file sizes, or a file system that sets nothing aside: then there is no reserve.
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise self._full(error) from error
        finally:
            os.close(descriptor)

    def close(self) -> None:
        self._release_reserve()
        with contextlib.suppress(OSError):
            os.fsync(self._frames)
        for descriptor in (self._frames, self._log):
            with contextlib.suppress(OSError):
                os.close(descriptor)

    def _release_reserve(self) -> None:
        with contextlib.suppress(OSError):
            (self.path / RESERVE).unlink()

    def _full(self, error: OSError) -> CouldNotMeasure:
        if error.errno in FULL:
            return DiskFull(f"no space is left for the records in {self.path}: free some, or give --out elsewhere.")
        return CouldNotMeasure(f"the records cannot be written to {self.path}: {error.strerror}.")


def _recover(path: Path) -> list[Frame]:
    """Frames of an interrupted run; what a crash has torn off is cut away."""
    frames_path = path / "frames.jsonl"
    reader = FrameReader()
    try:
        data = frames_path.read_bytes() if frames_path.exists() else b""
        frames = [frame for _, frame in reader.feed(data)]
        if reader.torn:
            os.truncate(frames_path, len(data) - len(reader.torn))
    except BadFrame as error:
        raise BadInput(f"{frames_path} is damaged and cannot be resumed: {error}") from error
    except OSError as error:
        raise BadInput(f"{frames_path} cannot be read: {error.strerror}.") from error
    return frames


def _make(out: Path | None) -> Path:
    if out is None:
        return Path(tempfile.mkdtemp(prefix="wireproof-"))
    out.mkdir(mode=0o700, parents=True, exist_ok=True)
    return out


def open_folder(out: Path | None = None, *, resume: bool = False) -> RunFolder:
    """A private folder for one run: ``out`` (which must not exist or be empty) or a fresh temporary one.

    With ``resume``, ``out`` may hold an earlier run: its sealed points are known and will be skipped.
    Raises ``BadInput`` when ``out`` is in use, ``CouldNotMeasure`` when it cannot be made.
    """
    if resume and (out is None or not (out / "run.json").is_file()):
        raise BadInput(f"there is no run to resume in {out}: give the --out folder of an earlier run.")
    try:
        path = _make(out)
        if not resume and any(path.iterdir()):
            raise BadInput(f"the folder {path} is not empty: give another --out, or resume the run in it.")
        if not os.access(path, os.W_OK | os.X_OK):
            raise BadInput(f"the folder {path} cannot be written: give another --out.")
        return RunFolder(path, _recover(path) if resume else [])
    except FileExistsError as error:
        raise BadInput(f"{out} is not a folder: give another --out.") from error
    except NotADirectoryError as error:
        raise BadInput(f"{out} is below something that is not a folder: give another --out.") from error
    except OSError as error:
        raise CouldNotMeasure(f"the folder {out or 'for the run'} cannot be made: {error.strerror}.") from error
