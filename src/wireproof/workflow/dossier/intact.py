"""Refuses a folder that is not what was sealed; each file is named."""

import contextlib
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from wireproof.files.copies import copy_folder
from wireproof.model.errors import BadInput
from wireproof.store.manifest import differences

_MOST = 10
"""Differences that are named one by one."""


def refuse_altered(folder: Path) -> None:
    """Raises ``BadInput`` when ``folder`` has no manifest, or is otherwise than it says: each file
    is named.
    """
    if not folder.is_dir():
        raise BadInput(f"{folder} is not a folder: give a dossier's, unpacked.")
    found = differences(folder)
    if found:
        raise BadInput(
            f"{folder} is not what was sealed: {told([one.said for one in found])}. No verdict is"
            " given."
        )


@contextlib.contextmanager
def held(folder: Path) -> Iterator[Path]:
    """A copy of ``folder`` that nobody else can change, of the same name, for as long as the block
    lasts: what is checked there is what is used there. Raises ``BadInput`` for what cannot be
    copied; one from within the block names ``folder`` in place of the copy.
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
    """A copy of ``folder`` that nobody else can change, if it is what was sealed."""
    refuse_altered(folder)  # its sentence is about the files that the user has
    with held(folder) as copy:
        refuse_altered(copy)
        yield copy


def told(sentences: Sequence[str]) -> str:
    more = len(sentences) - _MOST
    return "; ".join(sentences[:_MOST]) + (f"; and {more} more" if more > 0 else "")
