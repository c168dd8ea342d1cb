"""Copy folders that others may have made: only regular files, bounded, read once without following
links, readable only by this user whatever their modes were.
"""

import contextlib
import errno
import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from wireproof.files.held import held_folder
from wireproof.files.hostile import kind_of, open_regular

LARGEST = 4 << 30
"""Bytes of all files together: ten times the largest result that a check writes."""
MOST = 200_000
DEPTH = 16
_BLOCK = 1 << 20
_BY_DESCRIPTOR = os.open in os.supports_dir_fd


class _Budget:
    """What may still be copied. Each refusal is an ``OSError`` whose text ends a sentence."""

    def __init__(self) -> None:
        self.bytes, self.files = LARGEST, MOST

    def take(self, path: Path, size: int = 0, files: int = 0) -> None:
        self.bytes, self.files = self.bytes - size, self.files - files
        if self.bytes < 0:
            raise OSError(errno.EFBIG, f"it holds more than {LARGEST >> 30} GiB", str(path))
        if self.files < 0:
            raise OSError(errno.EFBIG, f"it holds more than {MOST} files", str(path))


def copy_folder(source: Path, target: Path) -> None:
    """Copy ``source`` to the new folder ``target``: folders get mode 0700, files 0600.

    Raises ``OSError`` for anything but folders and regular files (including links), for more than
    ``LARGEST`` bytes or ``MOST`` files, and for folders deeper than ``DEPTH``.
    """
    with held_folder(target.parent) as into:
        _copy(source, target, (None, into), _Budget(), DEPTH)


def _copy(
    source: Path, target: Path, above: tuple[int | None, int | None], budget: _Budget, depth: int
) -> None:
    """``above``: descriptors of the parent folders, None if unsupported."""
    if depth < 0:
        raise OSError(errno.ELOOP, f"it holds folders deeper than {DEPTH}", str(source))
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
    folder = os.open(name, flags, dir_fd=above)
    try:
        yield folder
    finally:
        os.close(folder)


def _copy_file(file: BinaryIO, target: Path, path: Path, budget: _Budget, into: int | None) -> None:
    """Copy a file. A file that grows while it is copied has the same limit; a file whose stated
    size is too large is refused before it takes space.
    """
    stated = os.fstat(file.fileno()).st_size
    budget.take(path, size=stated)
    copied = 0
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    name = target if into is None else target.name
    with os.fdopen(os.open(name, flags, 0o600, dir_fd=into), "wb") as copy:
        while block := file.read(_BLOCK):
            copied += len(block)
            if copied > stated:
                budget.take(path, size=len(block))
            copy.write(block)
