"""The journal of firmware changes: one file for each change set and host, in a folder of our own.

It is written and on the disk before a BMC is asked for anything, and holds no password.
"""

import os
import re
from pathlib import Path

import msgspec

from wireproof.files.hostile import read_bounded, replace_file
from wireproof.files.private import own_folder
from wireproof.model.bmc import FirmwareSet
from wireproof.model.errors import BadInput, CouldNotMeasure
from wireproof.model.json_reader import decode_json

_LARGEST = 1 << 20
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", re.ASCII)
_HOST = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,251}[A-Za-z0-9])?", re.ASCII)


def write_set(folder: Path, one: FirmwareSet) -> None:
    """Keep the set as ``folder/ID/HOST.json``, whole and on the disk. ``CouldNotMeasure`` when that
    cannot be done: then nothing may be changed.
    """
    if not _ID.fullmatch(one.id) or not _HOST.fullmatch(one.host):
        raise BadInput(f"{one.id!r} of {one.host!r} cannot be the name of a journal.")
    try:
        place = own_folder(folder / one.id, below=folder)
        replace_file(place / f"{one.host}.json", msgspec.json.encode(one) + b"\n")
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
    """The sets of a host, newest first; with ``name`` that one. ``BadInput`` names a file that is
    none of ours.
    """
    if not _HOST.fullmatch(host) or not folder.is_dir():
        return []
    places = [folder / name] if _ID.fullmatch(name) else [] if name else list(folder.iterdir())
    found = [_read(place / f"{host}.json") for place in places if (place / f"{host}.json").exists()]
    return sorted(found, key=lambda one: (one.since, one.id), reverse=True)


def newest_set(folder: Path, host: str, name: str = "") -> FirmwareSet | None:
    """The newest set that is not reverted, or the one of that name."""
    found = sets_of(folder, host, name)
    return next((one for one in found if name or one.state != "reverted"), None)


def _read(path: Path) -> FirmwareSet:
    try:
        return decode_json(read_bounded(path, _LARGEST, follow=False), FirmwareSet)
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}.") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadInput(f"{path} is no journal of firmware changes: {error}.") from error
