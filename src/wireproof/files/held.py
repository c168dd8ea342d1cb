"""Hold a folder by its descriptor while writing, so that files go there even if something else
takes its name.

On the path, only links of root and of this user are followed: another user could point a link
anywhere. A folder of another user is not written to, because its owner could replace it, unless it
has the sticky bit (/tmp).
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
"""True on Linux; elsewhere folders are used by name."""
_MOST_LINKS = 40
_PATH = getattr(os, "O_PATH", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)


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
    folder = _walked(path, make)
    try:
        status = os.fstat(folder)
        if status.st_uid not in trusted_owners() and not status.st_mode & stat.S_ISVTX:
            raise OSError(
                errno.EPERM,
                f"its folder belongs to the user with ID {status.st_uid}",
                str(path),
            )
        yield folder
    finally:
        os.close(folder)


def within(folder: int | None, path: Path) -> str | Path:
    """Return the name of ``path`` to use with ``dir_fd=folder``, the descriptor of its folder."""
    return path if folder is None else path.name


def make_folder(path: Path, mode: int = 0o777) -> None:
    """Create ``path`` and missing parents; an existing folder stays. It may be below a folder of
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
    """Open each part of the path relative to its parent, so that nothing can be exchanged in
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


def _read_link(above: int, name: str, path: Path, links: int) -> str:
    """Return the target of a link that belongs to root or this user."""
    link = os.open(name, _PATH, dir_fd=above)
    try:
        owner = os.fstat(link).st_uid
        if owner not in trusted_owners():
            raise OSError(
                errno.ELOOP,
                f"{name} on the path is a link of the user with ID {owner}",
                str(path),
            )
        if links > _MOST_LINKS:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
        return os.readlink("", dir_fd=link)
    finally:
        os.close(link)
