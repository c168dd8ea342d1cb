"""Reads a password from a file that nobody else can read."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from wireproof.files.hostile import open_regular

__all__ = ["read_secret"]

_LONGEST = 1024
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def read_secret(path: Path) -> str:
    """The first line of the file, without its end. ``OSError`` whose ``strerror`` says what is
    wrong: others can read the file, it belongs to somebody else, it is empty, or it is no text.
    """
    with open_regular(path) as file:
        found = os.fstat(file.fileno())
        if found.st_uid not in (0, os.geteuid()):
            raise OSError(
                errno.EPERM, f"it belongs to the user with the number {found.st_uid}", str(path)
            )
        if found.st_mode & _OTHERS:
            mode = stat.S_IMODE(found.st_mode)
            raise OSError(
                errno.EPERM,
                f"its mode is {mode:04o}, so that others may read it (chmod 600 {path.name})",
                str(path),
            )
        line = file.read(_LONGEST + 1).split(b"\n", 1)[0].removesuffix(b"\r")
    if len(line) > _LONGEST:
        raise OSError(errno.EFBIG, f"its first line is longer than {_LONGEST} bytes", str(path))
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise OSError(errno.EINVAL, "its first line is no UTF-8", str(path)) from error
    if not text or not text.isprintable():
        what = "has a character that cannot be printed" if text else "is empty"
        raise OSError(errno.EINVAL, f"its first line {what}", str(path))
    return text
