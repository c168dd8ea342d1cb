"""The file that a collector reads a verdict from."""

from __future__ import annotations

import contextlib
from pathlib import Path

from wireproof.files.aside import answer_aside
from wireproof.files.hostile import remove_file, replace_file
from wireproof.model.errors import CouldNotMeasure

__all__ = ["put_verdict"]


def put_verdict(page: Path, text: str, within_s: float) -> None:
    """Readable by all, as a collector that runs as another user needs it. Where it cannot be
    written an old verdict must not stand for the new one. Raises ``CouldNotMeasure``.
    """
    try:
        why = answer_aside(lambda: _replaced(page, text), within_s).decode()
    except TimeoutError:
        why = "its file system does not answer"
    except OSError as error:
        why = str(error)
    if why:
        raise CouldNotMeasure(f"{page} cannot be written: {why}.")


def _replaced(page: Path, text: str) -> bytes:
    """Why it was not, with what became of the old file; empty when it was."""
    try:
        replace_file(page, text.encode() + b"\n", mode=0o644)
    except OSError as error:
        why = str(error.strerror)
        with contextlib.suppress(OSError):
            remove_file(page)
            why += "; the old verdict in it is removed"
        return why.encode()
    return b""
