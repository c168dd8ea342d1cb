"""Refuses a folder that differs from what was sealed, naming each file."""

import contextlib
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from wireproof.files.copies import copy_folder
from wireproof.model.errors import BadInput
from wireproof.store.manifest import differences

_MOST = 10
"""Differences that are listed individually."""


def refuse_altered(folder: Path) -> None:
    """Raise ``BadInput`` if ``folder`` has no manifest or differs from it, naming each file."""
    if not folder.is_dir():
        raise BadInput(f"{folder} is not a folder: give the folder of an unpacked dossier.")
    found = differences(folder)
    if found:
        names = listing([difference.said for difference in found])
        raise BadInput(f"{folder} is not what was sealed: {names}. No verdict is given.")


@contextlib.contextmanager
def held(folder: Path) -> Iterator[Path]:
    """Yield a private copy of ``folder`` with the same name, so that what is checked is what is
    used. Raises ``BadInput`` if it cannot be copied; a ``BadInput`` from within the block names
    ``folder`` instead of the copy.
    """
    with tempfile.TemporaryDirectory(prefix="wireproof-") as place:
        copy = Path(place) / (folder.resolve().name or "folder")
        try:
            copy_folder(folder, copy)
        except OSError as error:
            raise BadInput(f"{error.filename} cannot be read: {error.strerror}.") from error
        try:
            yield copy
        except BadInput as error:
            raise BadInput(str(error).replace(str(copy), str(folder))) from error


@contextlib.contextmanager
def unaltered(folder: Path) -> Iterator[Path]:
    """Yield a private copy of ``folder`` if it is as it was sealed; else raise ``BadInput``."""
    refuse_altered(folder)  # this message names the user's files
    with held(folder) as copy:
        refuse_altered(copy)
        yield copy


def listing(sentences: Sequence[str]) -> str:
    more = len(sentences) - _MOST
    return "; ".join(sentences[:_MOST]) + (f"; and {more} more" if more > 0 else "")
