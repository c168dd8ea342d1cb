"""Folders of a history, each whole or not there."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path

from wireproof.files.held import held_folder, within
from wireproof.model.errors import CouldNotMeasure

__all__ = ["not_copied", "whole_folder"]


@contextlib.contextmanager
def whole_folder(place: Path) -> Iterator[Path]:
    """A name to make the folder under; it is ``place`` when all went well, and gone when not, also
    when it is interrupted. Who makes the same at once comes first. Raises ``CouldNotMeasure``.
    """
    fresh = place.with_name(f".{place.name}.{secrets.token_hex(3)}")
    try:
        with (
            held_folder(place.parents[1], make=0o777),
            held_folder(place.parent, make=0o777) as folder,
        ):
            try:
                yield fresh
                with contextlib.suppress(FileExistsError):
                    _renamed(fresh, place, folder)
            finally:
                shutil.rmtree(within(folder, fresh), ignore_errors=True, dir_fd=folder)
    except OSError as error:
        raise not_copied(place, error) from error


def _renamed(fresh: Path, place: Path, folder: int | None) -> None:
    try:
        draft, name = within(folder, fresh), within(folder, place)
        os.rename(draft, name, src_dir_fd=folder, dst_dir_fd=folder)
    except OSError as error:
        if error.errno == errno.ENOTEMPTY:
            raise FileExistsError(place) from error
        raise


def not_copied(place: Path, error: OSError) -> CouldNotMeasure:
    """The sentence for what the disk did not take."""
    why = error.strerror or str(error)[:200]
    return CouldNotMeasure(f"the result cannot be copied to {place.parent}: {why}.")
