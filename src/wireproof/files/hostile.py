"""Open files in untrusted folders: only regular files, with bounds, without blocking, never through
a link.

Every refusal is an ``OSError`` whose ``strerror`` continues "... cannot be read: ", so that callers
can start the sentence.
"""

import contextlib
import errno
import io
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, TypeVar

from wireproof.files.held import (
    CAN_HOLD,
    draft_name,
    held_folder,
    hold,
    open_until_end,
    sweep,
    through_links,
    within,
)

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_T = TypeVar("_T")
_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISLNK, "a symbolic link"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)

_BLOCK = 1 << 20
_READ = os.O_RDONLY
"""Flags to open a file for reading. Stored files are judged on any system: Windows lacks the first
three flags and opens files as text without the last.
"""
for _name in ("O_CLOEXEC", "O_NONBLOCK", "O_NOCTTY", "O_BINARY"):
    _READ |= getattr(os, _name, 0)


def kind_of(mode: int) -> str:
    """Return the kind of a file, for a sentence; "" for a regular file."""
    return next(
        (name for test, name in _KINDS if test(mode)),
        "" if stat.S_ISREG(mode) else "a special file",
    )


def refuse_other_than_regular(status: os.stat_result, path: object) -> None:
    """Raise ``OSError`` with the kind of the file unless it is regular."""
    if kind := kind_of(status.st_mode):
        number = errno.EISDIR if stat.S_ISDIR(status.st_mode) else errno.EINVAL
        raise OSError(number, f"it is {kind} and not a file", str(path))


def open_regular(path: Path | str, *, follow: bool = True, folder: int | None = None) -> BinaryIO:
    """Open a regular file for reading.

    Use ``follow`` False for a file in a folder that others may have created: symbolic links are
    then refused. Otherwise links of this user and root are followed: a link of another user may
    lead to a file that only this user can read. ``folder``: descriptor of the folder of a relative
    ``path``. Pipes and devices are refused before they are opened, because opening them can wait
    forever or have effects.
    """
    try:
        name: Path | str = path
        if follow and CAN_HOLD and folder is None:
            name, follow = through_links(path)
        refuse_other_than_regular(os.stat(name, dir_fd=folder, follow_symlinks=follow), path)
        flags = _READ if follow else _READ | getattr(os, "O_NOFOLLOW", 0)
        descriptor = os.open(name, flags, dir_fd=folder)
    except ValueError as error:  # a null byte in the name
        raise OSError(errno.EINVAL, str(error), repr(path)) from error
    try:
        refuse_other_than_regular(os.fstat(descriptor), path)  # the file may have been replaced
        return io.BufferedReader(_Answering(descriptor))
    except BaseException:
        os.close(descriptor)
        raise


class _Answering(io.FileIO):
    """A file that raises ``OSError`` instead of returning None if reading would block: /proc/kmsg
    appears to be a regular file.
    """

    def readinto(self, buffer: "WriteableBuffer", /) -> int:
        found: int | None = super().readinto(buffer)
        return self._answered(found)

    def readall(self) -> bytes:
        return self._answered(super().readall())

    def _answered(self, found: _T | None) -> _T:
        if found is None:
            raise OSError(errno.EAGAIN, "it has no data to read now, and reading it would block")
        return found


def read_bounded(
    path: Path | str, largest: int, *, follow: bool = True, folder: int | None = None
) -> bytes:
    """Return the bytes of a regular file. Raise ``OSError`` if it is not a regular file, or has
    more than ``largest`` bytes.
    """
    with open_regular(path, follow=follow, folder=folder) as file:
        stated_size = os.fstat(file.fileno()).st_size
        data = _read(file, stated_size, largest) if stated_size <= largest else b""
    if (
        max(stated_size, len(data)) > largest
    ):  # /proc reports size 0; a sparse file may report more than a disk can hold
        size = f"{largest >> 20} MiB" if largest >= 1 << 20 else f"{largest} bytes"
        raise OSError(errno.EFBIG, f"it is larger than {size}", str(path))
    return data


def text_in(path: Path, largest: int) -> str:
    """Return the text of a regular file that is no link; "" if it cannot be read."""
    try:
        return read_bounded(path, largest, follow=False).decode("utf-8", "replace")
    except OSError:
        return ""


def _read(file: BinaryIO, stated: int, largest: int) -> bytes:
    """Return at most ``largest`` + 1 bytes. Python allocates the requested size, and a file may
    contain more than its stated size, because it grows or is in /proc.
    """
    data = file.read(stated + 1)
    if len(data) <= stated:
        return data
    pieces = [data]
    left = largest + 1 - len(data)
    while left > 0 and (data := file.read(min(left, _BLOCK))):
        pieces.append(data)
        left -= len(data)
    return b"".join(pieces)


def append_to(name: str, folder: int) -> int:
    """Return a descriptor to append to the file ``name`` in ``folder``, created if missing,
    readable only by this user.

    Symbolic and hard links are refused, so that the data goes into this folder and nowhere else.
    """
    flags = (
        os.O_WRONLY
        | os.O_CREAT
        | os.O_APPEND
        | os.O_CLOEXEC
        | os.O_NOFOLLOW
        | os.O_NONBLOCK
        | os.O_NOCTTY
    )
    try:
        descriptor = os.open(name, flags, 0o600, dir_fd=folder)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENXIO):  # a link; a pipe without a reader
            kind = kind_of(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode) or "no file"
            raise OSError(errno.EINVAL, f"{name} is {kind} and not a file", name) from error
        raise
    try:
        status = os.fstat(descriptor)
        refuse_other_than_regular(status, name)
        if status.st_nlink > 1:
            raise OSError(
                errno.EMLINK,
                f"{name} has a second name (a hard link), which may belong to another user",
                name,
            )
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def create(name: str | Path, folder: int | None) -> int:
    """Return a descriptor of the new, empty file ``name`` in ``folder``, readable only by this
    user. An existing file or link of that name is removed, never followed.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    flags |= getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0)
    try:
        return os.open(name, flags, 0o600, dir_fd=folder)
    except FileExistsError:
        os.unlink(name, dir_fd=folder)
        return os.open(name, flags, 0o600, dir_fd=folder)


def replace_in(
    name: str, folder: int, data: bytes, mode: int = 0o600, owner: tuple[int, int] | None = None
) -> None:
    """Replace the file ``name`` atomically, readable only by this user unless ``mode`` differs.
    After an ``OSError`` the old file is unchanged and no temporary file is left. Devices and pipes
    are refused, also behind a link, because replacing would destroy them. Concurrent writers use
    separate temporary files, and the last writer wins; files of killed writers are removed.
    ``owner``: user and group, which only root can set.
    """
    with contextlib.suppress(FileNotFoundError):
        refuse_other_than_regular(os.stat(name, dir_fd=folder), name)
    sweep(folder)
    fresh = draft_name(name)
    try:
        with os.fdopen(create(fresh, folder), "wb") as file:
            hold(file.fileno())
            if owner is not None:
                with contextlib.suppress(PermissionError):
                    os.fchown(file.fileno(), *owner)
            os.fchmod(file.fileno(), mode)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(fresh, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(fresh, dir_fd=folder)
        raise


def replace_file(path: Path, data: bytes, mode: int = 0o600) -> None:
    """Replace a file by path, in a held folder (see ``held_folder`` for refusals). If folders
    cannot be held (Windows), the name is resolved twice.
    """
    with held_folder(path.parent) as folder:
        if folder is None:
            _replace_by_name(path, data)
        else:
            replace_in(path.name, folder, data, mode)


def rewrite_file(path: Path, before: bytes, after: bytes) -> None:
    """Replace a user's file that contains ``before``, keeping its owner and permissions. Raise
    ``OSError`` for a link, for a file that has changed, and for a folder that `held_folder`
    refuses.
    """
    with held_folder(path.parent) as folder:
        with open_regular(within(folder, path), follow=False, folder=folder) as file:
            status = os.fstat(file.fileno())
            if file.read(len(before) + 1) != before:
                raise OSError(errno.EBUSY, "it has changed since it was read", str(path))
        if folder is None:
            _replace_by_name(path, after)
        else:
            owner = (status.st_uid, status.st_gid)
            replace_in(path.name, folder, after, status.st_mode & 0o777, owner)


def remove_file(path: Path) -> None:
    """Remove a regular file from a folder to which this user may write. Raise ``OSError`` for other
    files.
    """
    with held_folder(path.parent) as folder:
        name = within(folder, path)
        refuse_other_than_regular(os.stat(name, dir_fd=folder, follow_symlinks=False), path)
        os.unlink(name, dir_fd=folder)


def _replace_by_name(path: Path, data: bytes) -> None:
    with contextlib.suppress(FileNotFoundError):
        refuse_other_than_regular(path.stat(), path.name)
    fresh = path.with_name(draft_name(path.name))
    try:
        with fresh.open("xb") as file:
            file.write(data)
        fresh.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            fresh.unlink()
        raise


_LONGEST = 1024
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def read_secret(path: Path) -> str:
    """Return the first line of the file, without its end. Raise ``OSError`` with the reason if
    others can read the file, it belongs to another user, is empty, or is not text.
    """
    with open_regular(path) as file:
        status = os.fstat(file.fileno())
        if status.st_uid not in (0, os.geteuid()):
            raise OSError(errno.EPERM, f"it belongs to the user with ID {status.st_uid}", str(path))
        if status.st_mode & _OTHERS:
            mode = stat.S_IMODE(status.st_mode)
            raise OSError(
                errno.EPERM,
                f"its mode is {mode:04o}, so others can read it (chmod 600 {path.name})",
                str(path),
            )
        line = file.read(_LONGEST + 1).split(b"\n", 1)[0].removesuffix(b"\r")
    if len(line) > _LONGEST:
        raise OSError(errno.EFBIG, f"its first line is longer than {_LONGEST} bytes", str(path))
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise OSError(errno.EINVAL, "its first line is not UTF-8", str(path)) from error
    if not text or not text.isprintable():
        what = "has a character that cannot be printed" if text else "is empty"
        raise OSError(errno.EINVAL, f"its first line {what}", str(path))
    return text


# --- Copy folders that others may have created: only regular files, bounded, read once without
# following links, and readable only by this user regardless of their modes.


LARGEST = 4 << 30
"""Limit in bytes of all files together: ten times the largest result that a check writes."""
MOST = 200_000
DEPTH = 16
_CHUNK = 1 << 20
_BY_DESCRIPTOR = os.open in os.supports_dir_fd


class _Budget:
    """The rest of the limits for a copy. Each refusal is an ``OSError`` whose text ends a
    sentence.
    """

    def __init__(self) -> None:
        self.bytes, self.files = LARGEST, MOST

    def take(self, path: Path, size: int = 0, files: int = 0) -> None:
        self.bytes, self.files = self.bytes - size, self.files - files
        if self.bytes < 0:
            raise OSError(errno.EFBIG, f"it contains more than {LARGEST >> 30} GiB", str(path))
        if self.files < 0:
            raise OSError(errno.EFBIG, f"it contains more than {MOST} files", str(path))


def copy_folder(source: Path, target: Path) -> None:
    """Copy ``source`` to the new folder ``target``: folders get mode 0700, files 0600.

    Raises ``OSError`` for links and other files that are not regular, for more than ``LARGEST``
    bytes or ``MOST`` files, and for folders deeper than ``DEPTH``.
    """
    with held_folder(target.parent) as into:
        _copy(source, target, (None, into), _Budget(), DEPTH)


def _copy(
    source: Path, target: Path, above: tuple[int | None, int | None], budget: _Budget, depth: int
) -> None:
    """``above``: descriptors of the parent folders, None if unsupported."""
    if depth < 0:
        raise OSError(errno.ELOOP, f"it contains folders deeper than {DEPTH} levels", str(source))
    from_above, into_above = above
    os.mkdir(target if into_above is None else target.name, 0o700, dir_fd=into_above)
    with (
        _opened(source, from_above) as folder,
        _opened(target, into_above) as into,
        os.scandir(source if folder is None else folder) as entries,
    ):
        for entry in entries:
            path, copy = source / entry.name, target / entry.name
            budget.take(path, files=1)
            if entry.is_dir(follow_symlinks=False):
                _copy(path, copy, (folder, into), budget, depth - 1)
            else:
                with open_regular(
                    path if folder is None else entry.name, follow=False, folder=folder
                ) as file:
                    _copy_file(file, copy, path, budget, into)


@contextlib.contextmanager
def _opened(source: Path, above: int | None) -> Iterator[int | None]:
    """Provide the descriptor of the folder; None on systems without support."""
    if not _BY_DESCRIPTOR:
        if kind := kind_of(source.lstat().st_mode).replace("a folder", ""):
            raise OSError(errno.ENOTDIR, f"{source} is {kind} and not a folder", str(source))
        yield None
        return
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
    name, flags = (source, flags) if above is None else (source.name, flags | os.O_NOFOLLOW)
    with open_until_end(os.open(name, flags, dir_fd=above)) as folder:
        yield folder


def _copy_file(file: BinaryIO, target: Path, path: Path, budget: _Budget, into: int | None) -> None:
    """Copy a file. A file that grows while it is copied has the same limit; a file whose stated
    size is too large is refused before any space is used.
    """
    stated = os.fstat(file.fileno()).st_size
    budget.take(path, size=stated)
    copied = 0
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    name = target if into is None else target.name
    with os.fdopen(os.open(name, flags, 0o600, dir_fd=into), "wb") as copy:
        while block := file.read(_CHUNK):
            copied += len(block)
            if copied > stated:
                budget.take(path, size=len(block))
            copy.write(block)
