"""The journal of firmware changes: a file per change set and host, in a private folder.

It is written to disk before a BMC is asked for anything, and contains no password.
"""

import os
import re
from pathlib import Path

import msgspec

from wireproof.files.held import own_folder
from wireproof.files.hostile import read_bounded, replace_file
from wireproof.model.bmc import FirmwareSet
from wireproof.model.errors import BadInput, CouldNotMeasure, decode_json

_LARGEST = 1 << 20
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", re.ASCII)
_HOST = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,251}[A-Za-z0-9])?", re.ASCII)


def write_set(folder: Path, change: FirmwareSet) -> None:
    """Write the set to ``folder/ID/HOST.json``, atomically and flushed to disk. Raise
    ``CouldNotMeasure`` if that fails; then nothing may be changed.
    """
    if not _ID.fullmatch(change.id) or not _HOST.fullmatch(change.host):
        raise BadInput(f"{change.id!r} of {change.host!r} cannot be the name of a journal.")
    try:
        place = own_folder(folder / change.id, below=folder)
        replace_file(place / f"{change.host}.json", msgspec.json.encode(change) + b"\n")
        for each in (place, folder, folder.parent):
            _on_disk(each)
    except OSError as error:
        raise CouldNotMeasure(
            f"the journal in {folder} cannot be written ({error.strerror}): nothing was changed."
        ) from error


def _on_disk(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sets_of(folder: Path, host: str, name: str = "") -> list[FirmwareSet]:
    """Return the sets of a host, newest first; with ``name`` only that set. Raise ``BadInput`` for
    a file that is not a valid journal.
    """
    if not _HOST.fullmatch(host) or not folder.is_dir():
        return []
    places = [folder / name] if _ID.fullmatch(name) else [] if name else list(folder.iterdir())
    sets = [_read(place / f"{host}.json") for place in places if (place / f"{host}.json").exists()]
    return sorted(sets, key=lambda change_set: (change_set.since, change_set.id), reverse=True)


def newest_set(folder: Path, host: str, name: str = "") -> FirmwareSet | None:
    """Return the newest set that is not reverted, or the set of that name."""
    sets = sets_of(folder, host, name)
    return next((change_set for change_set in sets if name or change_set.state != "reverted"), None)


def _read(path: Path) -> FirmwareSet:
    try:
        return decode_json(read_bounded(path, _LARGEST, follow=False), FirmwareSet)
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}.") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadInput(f"{path} is not a journal of firmware changes: {error}.") from error
