"""Temporary files that become a file when they are complete, and what is left of them if a process
is killed: the next write to the folder removes it.
"""

import contextlib
import os
import re
import secrets
import stat
import time

_DRAFT = re.compile(r"\..+\.[0-9a-f]{8}\.new", re.ASCII | re.DOTALL)
_LEAST_AGE_S = 60
"""Age from which a draft without a lock is left over: a lock follows the creation at once."""

_swept: set[tuple[int, int]] = set()
"""Folders, by device and inode, that this process has searched: a folder may hold many files."""


def draft_name(name: str) -> str:
    """Return a new name for a draft of ``name``."""
    return f".{name}.{secrets.token_hex(4)}.new"


def hold(descriptor: int) -> bool:
    """Lock a draft until it is closed. Return False if a process holds it, or locks fail."""
    try:
        from fcntl import LOCK_EX, LOCK_NB, flock

        flock(descriptor, LOCK_EX | LOCK_NB)
    except (ImportError, OSError):
        return False
    return True


def sweep(folder: int) -> None:
    """Remove the drafts in ``folder`` that killed processes of this user have left, once for each
    process. Errors are ignored: the drafts harm nobody.
    """
    with contextlib.suppress(OSError):
        status = os.fstat(folder)
        place = (status.st_dev, status.st_ino)
        if place in _swept:
            return
        _swept.add(place)
        for name in filter(_DRAFT.fullmatch, _listed(folder)):
            with contextlib.suppress(OSError):
                _remove_left_over(name, folder)


def _listed(folder: int) -> list[str]:
    """Return the names in a folder that may be held by ``O_PATH``, which cannot be listed."""
    descriptor = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=folder)
    try:
        return os.listdir(descriptor)
    finally:
        os.close(descriptor)


def _remove_left_over(name: str, folder: int) -> None:
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    descriptor = os.open(name, flags, dir_fd=folder)
    try:
        status = os.fstat(descriptor)
        ours = status.st_uid == os.geteuid() and status.st_nlink == 1
        old = time.time() - status.st_mtime > _LEAST_AGE_S
        if stat.S_ISREG(status.st_mode) and ours and old and hold(descriptor):
            os.unlink(name, dir_fd=folder)
    finally:
        os.close(descriptor)
