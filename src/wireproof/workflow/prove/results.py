"""Files that a command writes its numbers to (HPCC's hpccoutf.txt): what it has added to them, not
what was there.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from wireproof.files.hostile import open_regular

__all__ = ["ResultFile", "usual_results"]

MOST_BYTES = 32 << 20
_USUAL = {"hpcc": "hpccoutf.txt"}


class ResultFile:
    """One file, as it was when this object was made."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._before = self._size()

    def _size(self) -> tuple[int, int]:
        """Size and time of the last change; nothing is a file of no bytes."""
        try:
            found = self.path.stat()
        except OSError:
            return 0, 0
        return (found.st_size, found.st_mtime_ns) if self.path.is_file() else (0, 0)

    def written(self) -> bytes:
        """What came since: the part behind the old end, or all of a file that was written anew;
        bounded.
        """
        size, changed = self._size()
        before, then = self._before
        if changed == then or not size:
            return b""
        try:
            with open_regular(self.path) as file:
                file.seek(before if size > before else 0)
                return file.read(MOST_BYTES)
        except OSError:
            return b""


def usual_results(argv: Sequence[str], folder: Path) -> list[Path]:
    """Files that a program named among the arguments is known to write into ``folder``."""
    names = {Path(word).name for word in argv[:200]}
    return [folder / file for program, file in _USUAL.items() if program in names]
