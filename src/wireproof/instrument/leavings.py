"""Handle files that killed launchers leave in the temporary folder: put them into a private folder,
or remove them if no process can still use them.

Open MPI puts its session (``ompi.HOST.UID``) below ``TMPDIR``. MPICH's Hydra writes
``/tmp/hydra_hwloc_xmlfile_*`` whatever ``TMPDIR`` says.
"""

import contextlib
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

PREFIX = "wireproof-tmp-"
_LOCK = ".lock"
_YOUNG_S = 60.0
"""A folder as young as this may still be in creation and have no lock yet."""
_HYDRA = "hydra_hwloc_xmlfile_"
_HYDRA_FOLDER = Path("/tmp")  # noqa: S108  where Hydra has it, not our choice
_HYDRA_NAMES = ("hydra", "mpiexec")


@contextlib.contextmanager
def scratch(wanted: bool) -> Iterator[dict[str, str]]:
    """Return a private ``TMPDIR`` as a variable, which is removed at the end; nothing if it is not
    wanted or cannot be created.

    Only for processes of this machine: srun and Hydra pass the variable to hosts that have no such
    folder. Folders of earlier, killed processes of wireproof are also removed: their lock is free.
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
    _sweep(Path(tempfile.gettempdir()))
    try:
        path = Path(tempfile.mkdtemp(prefix=PREFIX))
    except OSError:
        return None
    lock = _lock(path)
    return None if lock is None else (path, lock)


def _lock(folder: Path) -> int | None:
    """Return the folder's lock, held; None if another process holds it or it belongs to another
    user.
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
    """Return a context after which this user's Hydra files of that time are removed if no Hydra of
    this user runs any more.
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
    cannot be examined counts as one.
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
