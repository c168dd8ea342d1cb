"""Private folders: nobody else can have made the folder, own it, or put files into it."""

import contextlib
import errno
import os
import stat
import tempfile
from pathlib import Path

_MODE = 0o700
_WRITE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH
_WHOLE_MAP = ("0", "0", "4294967295")


def foreign(status: os.stat_result) -> str:
    """Return why others may write to a folder with this ``stat``; "" if only this user can."""
    if not stat.S_ISDIR(status.st_mode):
        return "is not a folder"
    if status.st_uid != os.geteuid():
        return f"belongs to the user with ID {status.st_uid}"
    if status.st_mode & _WRITE_BY_OTHERS:
        return f"can be written by others (mode {stat.S_IMODE(status.st_mode):04o})"
    return ""


def own_folder(path: Path, *, below: Path | None = None) -> Path:
    """Return ``path``, created with mode 0700 if missing, after checking that it is private.

    All folders from ``below`` (default: ``path`` itself) down to ``path`` must belong to this user.
    Folders above must belong to this user or root, and others must not be able to write to them,
    except to sticky ones such as /tmp: whoever can rename a folder above can replace it. For the
    same reason the returned path contains no links. Raises ``OSError`` whose ``strerror`` gives the
    reason.
    """
    path = path.absolute()
    first = path if below is None else below.absolute()
    above = Path(os.path.realpath(first.parent))
    path, first = above / path.relative_to(first.parent), above / first.name
    inner = [
        folder
        for folder in (*reversed(path.parents), path)
        if folder == first or first in folder.parents
    ]
    first.parent.mkdir(parents=True, exist_ok=True, mode=_MODE)
    for folder in (above, *above.parents):
        if why := written_by_others(folder.stat()):
            raise OSError(errno.EPERM, f"{folder} {why}", str(path))
    for folder in inner:
        with contextlib.suppress(FileExistsError):
            folder.mkdir(mode=_MODE)
        # links are refused: they may lead elsewhere later
        if why := foreign(folder.lstat()):
            raise OSError(errno.EPERM, f"{folder} {why}", str(path))
    return path


def private_file(prefix: str, name: str, data: bytes) -> Path:
    """Write ``data`` to a file in a new folder that only this user can read."""
    path = Path(tempfile.mkdtemp(prefix=prefix)) / name
    with open(path, "xb", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
        file.write(data)
    return path


def written_by_others(status: os.stat_result) -> str:
    """Return why others than this user and root can change a file or folder with this ``stat``; ""
    if they cannot. In a sticky folder others can only create files.
    """
    if status.st_uid not in trusted_owners():
        return f"belongs to the user with ID {status.st_uid}"
    if status.st_mode & _WRITE_BY_OTHERS and not status.st_mode & stat.S_ISVTX:
        who = "everybody" if status.st_mode & stat.S_IWOTH else "its group"
        return f"can be written by {who} (mode {stat.S_IMODE(status.st_mode):04o})"
    return ""


def trusted_owners() -> set[int]:
    """Return the owners of folders to trust: this user and root. In a user namespace, root of the
    outside appears as the overflow user.
    """
    trusted = {0, os.geteuid()}
    try:
        whole = tuple(Path("/proc/self/uid_map").read_text(encoding="ascii").split()) == _WHOLE_MAP
        if not whole:
            trusted.add(int(Path("/proc/sys/kernel/overflowuid").read_text(encoding="ascii")))
    except (OSError, ValueError):
        pass
    return trusted
