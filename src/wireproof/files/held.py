"""Hold a folder by its descriptor while writing, so that files go there even if another file takes
its name.

On the path, only links of root and of this user are followed: a link of another user could point
anywhere. A folder of another user is refused, because its owner could replace it; only folders with
the sticky bit (/tmp) are accepted.
"""

import contextlib
import errno
import itertools
import os
import re
import secrets
import shutil
import stat
import tempfile
import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path

# --- Private folders: no other user can have created the folder, can own it, or can put files into
# it.

_MODE = 0o700
_WRITE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH
_WHOLE_MAP = ("0", "0", "4294967295")


def foreign(status: os.stat_result) -> str:
    """Return the reason why others can write to a folder with this ``stat``; "" if only this user
    can.
    """
    if not stat.S_ISDIR(status.st_mode):
        return "is not a folder"
    if status.st_uid != os.geteuid():
        return f"belongs to the user with ID {status.st_uid}"
    if status.st_mode & _WRITE_BY_OTHERS:
        return f"is writable by others (mode {stat.S_IMODE(status.st_mode):04o})"
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
        # links are refused: they may point elsewhere later
        if why := foreign(folder.lstat()):
            raise OSError(errno.EPERM, f"{folder} {why}", str(path))
    return path


class UntrustedFolder(OSError):
    """There is no folder for temporary files, or another user can change its contents."""


def temporary_root() -> Path:
    """Return the folder for temporary files. Raise ``UntrustedFolder`` if no folder is writable, or
    if another user can replace its contents: `sudo -E` keeps the TMPDIR of another user.
    """
    try:
        root = Path(os.path.realpath(tempfile.gettempdir()))
    except FileNotFoundError as error:
        reason = "no folder for temporary files can be written to"
        raise UntrustedFolder(
            errno.ENOENT, f"{reason}: set TMPDIR to a folder that belongs to you"
        ) from error
    for folder in (root, *root.parents) if CAN_HOLD else ():
        if why := written_by_others(folder.stat()):
            reason = f"temporary files are not safe in {root}, because {folder} {why}"
            raise UntrustedFolder(
                errno.EPERM, f"{reason}: set TMPDIR to a folder that belongs to you"
            )
    return root


@contextlib.contextmanager
def temporary_folder(prefix: str) -> Iterator[str]:
    """Yield a new folder, which is removed at the end of the block. If a file server keeps part of
    it (an NFS server keeps a file that is still open), no error is raised.
    """
    made = tempfile.TemporaryDirectory(
        prefix=prefix, dir=temporary_root(), ignore_cleanup_errors=True
    )
    try:
        yield made.name
    finally:
        try:
            made.cleanup()
        except KeyboardInterrupt:  # it comes once
            shutil.rmtree(made.name, ignore_errors=True)
            raise


def lasting_folder(prefix: str) -> Path:
    """Return a new folder for temporary files, which the caller must remove or keep."""
    return Path(tempfile.mkdtemp(prefix=prefix, dir=temporary_root()))


def private_file(prefix: str, name: str, data: bytes) -> Path:
    """Write ``data`` to a file in a new folder that only this user can read."""
    path = lasting_folder(prefix) / name
    with open(path, "xb", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
        file.write(data)
    return path


def written_by_others(status: os.stat_result) -> str:
    """Return the reason why users other than this user and root can change a file or folder with
    this ``stat``; "" if they cannot. In a sticky folder others can only create files.
    """
    if status.st_uid not in trusted_owners():
        return f"belongs to the user with ID {status.st_uid}"
    if status.st_mode & _WRITE_BY_OTHERS and not status.st_mode & stat.S_ISVTX:
        who = "everybody" if status.st_mode & stat.S_IWOTH else "its group"
        return f"is writable by {who} (mode {stat.S_IMODE(status.st_mode):04o})"
    return ""


def trusted_owners() -> set[int]:
    """Return the trusted owners of folders: this user and root. In a user namespace, root of the
    parent namespace appears as the overflow user.
    """
    trusted = {0, os.geteuid()}
    try:
        whole = tuple(Path("/proc/self/uid_map").read_text(encoding="ascii").split()) == _WHOLE_MAP
        if not whole:
            trusted.add(int(Path("/proc/sys/kernel/overflowuid").read_text(encoding="ascii")))
    except (OSError, ValueError):
        pass
    return trusted


def real_path(path: Path) -> Path:
    """Return the path without links. Unlike ``Path.resolve``, this raises no error for a loop of
    links.
    """
    return Path(os.path.realpath(path))


def is_anothers(path: Path) -> bool:
    """Return whether a user other than this user and root may control the contents of ``path``,
    because the folder, or a folder above it, belongs to that user: `sudo -E` keeps the HOME of
    another user.
    """
    if not CAN_HOLD:
        return False
    owners, real = trusted_owners(), real_path(path)
    try:
        return any(folder.stat().st_uid not in owners for folder in (real, *real.parents))
    except OSError:
        return True


def use_own_home() -> None:
    """As root, set HOME from the system's table of users if it belongs to another user: git, Open
    MPI, UCX and others read names of programs and libraries from files in it.
    """
    if not CAN_HOLD or os.geteuid() != 0:
        return
    if is_anothers(Path(os.environ.get("XDG_CONFIG_HOME") or "/")):
        del os.environ["XDG_CONFIG_HOME"]
    if is_anothers(Path(os.environ.get("HOME") or "/")):
        import pwd

        os.environ["HOME"] = pwd.getpwuid(0).pw_dir


CAN_HOLD = os.open in os.supports_dir_fd and all(
    hasattr(os, name) for name in ("O_PATH", "O_DIRECTORY", "O_NOFOLLOW")
)
"""True on Linux; elsewhere folders are used by name."""
_MOST_LINKS = 40
_PATH = getattr(os, "O_PATH", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)


@contextlib.contextmanager
def open_until_end(descriptor: int) -> Iterator[int]:
    """Provide an open descriptor, which is closed at the end of the block."""
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def held_folder(path: Path, *, make: int | None = None) -> Iterator[int | None]:
    """Provide the descriptor of ``path`` (opened with ``O_PATH``), created with mode ``make`` if
    missing; None if folders cannot be held.

    Raises ``OSError`` whose ``strerror`` continues "... cannot be written: ".
    """
    if not CAN_HOLD:
        if make is not None:
            path.mkdir(parents=True, exist_ok=True, mode=make)
        yield None
        return
    with open_until_end(_walked(path, make)) as folder:
        status = os.fstat(folder)
        if status.st_uid not in trusted_owners() and not status.st_mode & stat.S_ISVTX:
            raise OSError(
                errno.EPERM,
                f"its folder belongs to the user with ID {status.st_uid}",
                str(path),
            )
        yield folder


def within(folder: int | None, path: Path) -> str | Path:
    """Return the name of ``path`` to use with ``dir_fd=folder``, the descriptor of its folder."""
    return path if folder is None else path.name


def make_folder(path: Path, mode: int = 0o755) -> None:
    """Create ``path`` and missing parents; an existing folder is kept. The mode also limits the
    permissions that a default ACL of the folder above grants to others. It may be below a folder of
    another user, because the new folders belong to this user. Raise ``OSError`` like
    ``Path.mkdir``, and for another user's link on the path.
    """
    if CAN_HOLD:
        try:
            os.close(_walked(path, mode))
        except NotADirectoryError:
            if path.parent.is_dir():
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path)) from None
            raise
    else:
        path.mkdir(parents=True, exist_ok=True, mode=mode)


def _walked(path: Path, make: int | None) -> int:
    """Open each part of the path relative to its parent, so that no part can be replaced in
    between.
    """
    left = deque(path.absolute().parts[1:])
    folder = os.open("/", _PATH | os.O_DIRECTORY)
    links = 0
    try:
        while left:
            name = left.popleft()
            inner = _folder_in(folder, name, make)
            if inner is None:
                links += 1
                target = _read_link(folder, name, path, links)
                left.extendleft(reversed(Path(target).parts))
                continue
            os.close(folder)
            folder = inner
    except BaseException:
        os.close(folder)
        raise
    return folder


def _folder_in(above: int, name: str, make: int | None) -> int | None:
    """Return the descriptor of a folder, created if needed; None for a link. ``name`` may be the
    root.
    """
    # O_DIRECTORY first: that triggers automounts, such as of home folders.
    try:
        return os.open(name, _PATH | os.O_DIRECTORY, dir_fd=above)
    except FileNotFoundError:
        if make is None:
            raise
        with contextlib.suppress(FileExistsError):
            os.mkdir(name, make, dir_fd=above)
        return os.open(name, _PATH | os.O_DIRECTORY, dir_fd=above)
    except NotADirectoryError:
        if stat.S_ISLNK(os.stat(name, dir_fd=above, follow_symlinks=False).st_mode):
            return None
        raise


def _read_link(above: int | None, name: str, path: Path, links: int) -> str:
    """Return the target of a link that belongs to root or this user."""
    with open_until_end(os.open(name, _PATH, dir_fd=above)) as link:
        owner = os.fstat(link).st_uid
        if owner not in trusted_owners():
            which = "it" if above is None else f"{name} on the path"
            raise OSError(
                errno.ELOOP,
                f"{which} is a symbolic link of the user with ID {owner}",
                str(path),
            )
        if links > _MOST_LINKS:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
        return os.readlink("", dir_fd=link)


def through_links(path: Path | str) -> tuple[str, bool]:
    """Return the path of the file behind ``path`` if its links belong to root or this user, so that
    no link has to be followed when opening it; True if the link must be followed, because it is an
    open file in /proc (such as /dev/stdin), which may have no path.
    """
    name = os.fspath(path)
    for links in itertools.count(1):
        status = os.lstat(name)
        if not stat.S_ISLNK(status.st_mode):
            break
        if status.st_dev == os.stat("/proc").st_dev:
            return name, True
        target = _read_link(None, name, Path(path), links)
        name = os.path.join(os.path.dirname(name), target)
    return name, False


# --- Drafts: temporary files that are renamed when they are complete. The next write to the folder
# removes drafts that a killed process has left.

_DRAFT = re.compile(r"\..+\.[0-9a-f]{8}\.new", re.ASCII | re.DOTALL)
_LEAST_AGE_S = 60
"""Age in seconds from which a draft without a lock is a leftover: the lock is taken immediately
after the creation.
"""

_swept: set[tuple[int, int]] = set()
"""Folders, by device and inode, that this process has already searched, because a folder may
contain many files.
"""


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
    """Remove the drafts in ``folder`` that killed processes of this user have left; each process
    does this once per folder. Errors are ignored: the drafts do no harm.
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
    """Return the names in a folder that may be held with ``O_PATH``, whose descriptor cannot be
    listed.
    """
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
    with open_until_end(os.open(".", flags, dir_fd=folder)) as descriptor:
        return os.listdir(descriptor)


def _remove_left_over(name: str, folder: int) -> None:
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with open_until_end(os.open(name, flags, dir_fd=folder)) as descriptor:
        status = os.fstat(descriptor)
        ours = status.st_uid == os.geteuid() and status.st_nlink == 1
        old = time.time() - status.st_mtime > _LEAST_AGE_S
        if stat.S_ISREG(status.st_mode) and ours and old and hold(descriptor):
            os.unlink(name, dir_fd=folder)
