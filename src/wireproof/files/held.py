"""A folder that is written to, held by its descriptor: what is written goes there, whatever is put
in its place meanwhile.

On the way to it no link is followed but those of root and of our own: another user's leads where
that user wants. A folder of another user is not written to, because whoever owns it may put
another one in its place; one with the sticky bit (/tmp) is.
"""

import contextlib
import errno
import os
import stat
from collections import deque
from collections.abc import Iterator
from pathlib import Path

from wireproof.files.private import trusted_owners

CAN_HOLD = os.open in os.supports_dir_fd and all(
    hasattr(os, name) for name in ("O_PATH", "O_DIRECTORY", "O_NOFOLLOW")
)
"""Linux; elsewhere a name is taken at its word."""
_MOST_LINKS = 40
_PATH = getattr(os, "O_PATH", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)


@contextlib.contextmanager
def held_folder(path: Path, *, make: int | None = None) -> Iterator[int | None]:
    """The descriptor of ``path`` (as by ``O_PATH``), made with the mode ``make`` where it is
    missing; None where a folder cannot be held.

    Raises ``OSError`` whose ``strerror`` continues "... cannot be written: ".
    """
    if not CAN_HOLD:
        if make is not None:
            path.mkdir(parents=True, exist_ok=True, mode=make)
        yield None
        return
    folder = _walked(path, make)
    try:
        found = os.fstat(folder)
        if found.st_uid not in trusted_owners() and not found.st_mode & stat.S_ISVTX:
            raise OSError(
                errno.EPERM,
                f"its folder belongs to the user with the number {found.st_uid}",
                str(path),
            )
        yield folder
    finally:
        os.close(folder)


def within(folder: int | None, path: Path) -> str | Path:
    """What to call ``path`` beside ``dir_fd=folder``, the descriptor of its folder."""
    return path if folder is None else path.name


def make_folder(path: Path, mode: int = 0o777) -> None:
    """Make ``path`` and what is missing above it; one that is there stays. It may be below a folder
    of another user: what is made is ours. Raises ``OSError`` as ``Path.mkdir`` does, and for a link
    of another user on the way.
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
    """Each part is opened in the folder before it, so that nothing can be exchanged in between."""
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
    """Descriptor of a folder, made if need be; None for a link. ``name`` may be the root."""
    # With O_DIRECTORY first: that is what mounts a home that is mounted when it is used.
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


def _read_link(above: int, name: str, path: Path, links: int) -> str:
    """Where a link leads, if it is root's or ours."""
    link = os.open(name, _PATH, dir_fd=above)
    try:
        owner = os.fstat(link).st_uid
        if owner not in trusted_owners():
            raise OSError(
                errno.ELOOP,
                f"{name} on the way is a link of the user with the number {owner}",
                str(path),
            )
        if links > _MOST_LINKS:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
        return os.readlink("", dir_fd=link)
    finally:
        os.close(link)
