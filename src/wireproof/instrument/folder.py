"""The run folder while a run is recorded: frames.jsonl, run.json, plan.txt, engine.log.

The records stay readable regardless of how this process ends: frames are appended as a whole,
run.json is replaced by rename.
"""

import contextlib
import errno
import os
import stat
from pathlib import Path

import msgspec

from wireproof.files.held import foreign, lasting_folder, make_folder
from wireproof.files.hostile import append_to, create, open_regular, replace_in
from wireproof.model.errors import BadInput, CouldNotMeasure
from wireproof.model.frames import MAX_FRAMES_BYTES, BadFrame, FrameReader
from wireproof.model.record import Frame
from wireproof.model.run import RunDocument

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
RESERVE_FOR_POINT = 512
"""Space reserved to record the reason for each missing point if the disk is full."""
RESERVE = ".reserve"
FRAMES = "frames.jsonl"
CHUNK = 1 << 20
LOG_BYTES = 8 << 20
"""Output beyond this limit in bytes is not informative and fills disks: it is counted but not
stored.
"""


class DiskFull(CouldNotMeasure):
    """No more data can be written to the run folder; earlier records are good."""


class RunFolder:
    """An open run folder. ``known``: the frames of an earlier, interrupted run (``resume``)."""

    def __init__(self, path: Path, *, resume: bool) -> None:
        self.path = path
        self._opened: list[int] = []
        try:
            # All files are opened relative to this descriptor, so replacing the folder has no
            # effect.
            self._folder = self._keep(
                os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
            )
            if why := foreign(os.fstat(self._folder)):
                raise BadInput(
                    f"the folder {path} {why}: give another --out, or make it private (chmod 700)."
                )
            self._frames = self._keep(append_to(FRAMES, self._folder))
            _only_writer(self._frames, path)
            self._log = self._keep(append_to("engine.log", self._folder))
            self.known = _recover(path, self._folder, self._frames) if resume else []
        except BaseException:
            self._close_all()
            raise
        self._logged = 0

    def _keep(self, descriptor: int) -> int:
        self._opened.append(descriptor)
        return descriptor

    def _close_all(self) -> None:
        for descriptor in self._opened:
            with contextlib.suppress(OSError):
                os.close(descriptor)

    def append(self, line: bytes) -> None:
        """Write a frame and its newline completely or not at all. Raise ``DiskFull``."""
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
        """Store the output of engine, MPI and launcher. If the log cannot be written, only the log
        is lost.
        """
        room = LOG_BYTES - self._logged
        self._logged += len(data)
        if room > 0:
            with contextlib.suppress(OSError):
                os.write(self._log, data[:room])

    def write(self, name: str, data: bytes) -> None:
        """Replace the file ``name`` atomically. Raise ``DiskFull``."""
        try:
            replace_in(name, self._folder, data)
        except OSError as error:
            raise self._full(error) from error

    def document(self, document: RunDocument) -> None:
        """Write run.json. Raise ``DiskFull``."""
        self.write("run.json", msgspec.json.encode(document) + b"\n")

    def reserve(self, points: int) -> None:
        """Reserve space that is released when the disk is full, so that the end of the run can
        still be recorded.

        Raise ``DiskFull`` if even this space is not available.
        """
        size = os.stat("run.json", dir_fd=self._folder).st_size * 2 + points * RESERVE_FOR_POINT
        try:
            descriptor = create(RESERVE, self._folder)
        except OSError as error:
            raise self._full(error) from error
        try:
            os.posix_fallocate(descriptor, 0, size)
        except OSError as error:
            self._release_reserve()
            # If file sizes are limited, or the file system cannot reserve space, there is no
            # reserve.
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise self._full(error) from error
        finally:
            os.close(descriptor)

    def close(self) -> None:
        self._release_reserve()
        with contextlib.suppress(OSError):
            os.fsync(self._frames)
        self._close_all()

    def _release_reserve(self) -> None:
        with contextlib.suppress(OSError):
            os.unlink(RESERVE, dir_fd=self._folder)

    def _full(self, error: OSError) -> CouldNotMeasure:
        if error.errno in FULL:
            return DiskFull(
                f"no space is left for the records in {self.path}: free some space, or give"
                " another --out."
            )
        return CouldNotMeasure(f"the records cannot be written to {self.path}: {error.strerror}.")


def _only_writer(frames: int, path: Path) -> None:
    """Raise ``BadInput`` while another process records the same run, because their frames would be
    mixed. The lock is released when its holder ends, for any reason; file systems without locks are
    not protected.
    """
    import fcntl  # stored results are also read on systems without this module

    try:
        fcntl.flock(frames, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise BadInput(
            f"another wireproof is recording into {path}: wait until it has ended, or give another"
            " --out."
        ) from error
    except OSError:
        pass


def _recover(path: Path, folder: int, writing: int) -> list[Frame]:
    """Return the frames of an interrupted run; a part torn off by a crash is removed."""
    frames_path = path / FRAMES
    reader, frames = FrameReader(), list[Frame]()
    try:
        size = os.fstat(writing).st_size
        if size > MAX_FRAMES_BYTES:
            raise BadInput(
                f"{frames_path} is larger than {MAX_FRAMES_BYTES >> 20} MiB: wireproof did not"
                " write it."
            )
        with open_regular(FRAMES, follow=False, folder=folder) as file:
            while data := file.read(CHUNK):
                frames += [frame for _, frame in reader.feed(data)]
        if reader.torn:
            os.ftruncate(writing, size - len(reader.torn))
    except BadFrame as error:
        raise BadInput(
            f"{frames_path}, line {reader.lines}, is damaged and cannot be resumed: {error}"
        ) from error
    except OSError as error:
        raise BadInput(f"{frames_path} cannot be read: {error.strerror}.") from error
    return frames


def _is_plain_file(path: Path) -> bool:
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False


def open_folder(out: Path | None = None, *, resume: bool = False) -> RunFolder:
    """Return a private folder for a run: ``out`` (which must be empty or not exist) or a new
    temporary folder.

    With ``resume``, ``out`` may contain an earlier run: its sealed points are known and will be
    skipped. Raise ``BadInput`` if ``out`` is in use, ``CouldNotMeasure`` if it cannot be created.
    """
    if resume and (out is None or not _is_plain_file(out / "run.json")):
        raise BadInput(
            f"there is no run to resume in {out}: give the --out folder of an earlier run."
        )
    try:
        path = lasting_folder("wireproof-") if out is None else out
        if out is not None:
            make_folder(out, 0o700)
        if not resume and any(path.iterdir()):
            raise BadInput(
                f"the folder {path} is not empty: give another --out, or resume the run in it."
            )
        if not os.access(path, os.W_OK | os.X_OK):
            raise BadInput(f"the folder {path} cannot be written: give another --out.")
        return RunFolder(path, resume=resume)
    except FileExistsError as error:
        raise BadInput(f"{out} is not a folder: give another --out.") from error
    except NotADirectoryError as error:
        raise BadInput(f"a parent of {out} is not a folder: give another --out.") from error
    except OSError as error:
        raise CouldNotMeasure(
            f"the folder {out or 'for the run'} cannot be created: {error.strerror}."
        ) from error
