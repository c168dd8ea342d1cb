"""Folders of a history, each whole or not there."""

from __future__ import annotations

import contextlib
import errno
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path

from wireproof.model.errors import CouldNotMeasure

__all__ = ["not_copied", "whole_folder"]


@contextlib.contextmanager
def whole_folder(place: Path) -> Iterator[Path]:
    """A name to make the folder under; it is ``place`` when all went well, and gone when not, also
    when it is interrupted. Who makes the same at once comes first. Raises ``CouldNotMeasure``.
    """
    fresh = place.with_name(f".{place.name}.{secrets.token_hex(3)}")
    try:
        fresh.parent.mkdir(parents=True, exist_ok=True)
        yield fresh
        with contextlib.suppress(FileExistsError):
            _renamed(fresh, place)
    except OSError as error:
        raise not_copied(place, error) from error
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def _renamed(fresh: Path, place: Path) -> None:
    try:
        fresh.rename(place)
    except OSError as error:
        if error.errno == errno.ENOTEMPTY:
            raise FileExistsError(place) from error
        raise


def not_copied(place: Path, error: OSError) -> CouldNotMeasure:
    """The sentence for what the disk did not take."""
    why = error.strerror or str(error)[:200]
    return CouldNotMeasure(f"the result cannot be copied to {place.parent}: {why}.")
