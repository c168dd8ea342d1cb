"""A folder of our own: nobody else can have made it, owns it, or can put something into it."""

import contextlib
import errno
import os
import stat
import tempfile
from pathlib import Path

_MODE = 0o700
_WRITE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH
_WHOLE_MAP = ("0", "0", "4294967295")


def foreign(found: os.stat_result) -> str:
    """Why a folder with this ``stat`` is not ours alone to write to; "" when it is."""
    if not stat.S_ISDIR(found.st_mode):
        return "is not a folder"
    if found.st_uid != os.geteuid():
        return f"belongs to the user with the number {found.st_uid}"
    if found.st_mode & _WRITE_BY_OTHERS:
        return f"can be written by others (mode {stat.S_IMODE(found.st_mode):04o})"
    return ""


def own_folder(path: Path, *, below: Path | None = None) -> Path:
    """``path``, made with mode 0700 where it is missing, and checked: a folder that is ours alone.

    All folders from ``below`` (default: ``path`` itself) down to ``path`` must be ours; those above
    must belong to us or to root and be writable by nobody else, except a sticky one such as /tmp:
    whoever can rename a folder above can put another in its place. Returned is ``path`` without
    links, for the same reason. Raises ``OSError`` whose ``strerror`` says what was seen.
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
        if why := _loose(folder):
            raise OSError(errno.EPERM, f"{folder} {why}", str(path))
    for folder in inner:
        with contextlib.suppress(FileExistsError):
            folder.mkdir(mode=_MODE)
        # a link is no folder: it may lead to another one tomorrow
        if why := foreign(folder.lstat()):
            raise OSError(errno.EPERM, f"{folder} {why}", str(path))
    return path


def private_file(prefix: str, name: str, data: bytes) -> Path:
    """A file with ``data`` in a fresh folder that only we can read."""
    path = Path(tempfile.mkdtemp(prefix=prefix)) / name
    with open(path, "xb", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
        file.write(data)
    return path


def _loose(folder: Path) -> str:
    """Why somebody else could exchange what is in ``folder``; "" when nobody but root can."""
    return written_by_others(folder.stat())


def written_by_others(found: os.stat_result) -> str:
    """Why others than we and root can change a file or folder with this ``stat``; "" if they
    cannot. In a sticky folder they can make files only.
    """
    if found.st_uid not in trusted_owners():
        return f"belongs to the user with the number {found.st_uid}"
    if found.st_mode & _WRITE_BY_OTHERS and not found.st_mode & stat.S_ISVTX:
        who = "everybody" if found.st_mode & stat.S_IWOTH else "its group"
        return f"can be written by {who} (mode {stat.S_IMODE(found.st_mode):04o})"
    return ""


def trusted_owners() -> set[int]:
    """Owners of folders that we may rely on: we and root; in a user namespace root outside is the
    overflow user.
    """
    trusted = {0, os.geteuid()}
    try:
        whole = tuple(Path("/proc/self/uid_map").read_text(encoding="ascii").split()) == _WHOLE_MAP
        if not whole:
            trusted.add(int(Path("/proc/sys/kernel/overflowuid").read_text(encoding="ascii")))
    except (OSError, ValueError):
        pass
    return trusted
