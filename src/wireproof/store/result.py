"""Writes and reads ``result.json``, the file that says which records make up a result."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec

from wireproof.files.hostile import read_bounded, replace_file
from wireproof.model.errors import BadInput, made_by_newer
from wireproof.model.fabric import Fabric
from wireproof.model.sound import unsound
from wireproof.model.stored import KIND, SCHEMA, StoredResult

__all__ = ["RESULT", "read_fabrics", "read_result", "write_result"]

RESULT = "result.json"
_LARGEST = 256 << 20
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", re.ASCII)


def write_result(folder: Path, result: StoredResult) -> None:
    """Raises ``OSError``; the file is whole or not there."""
    replace_file(folder / RESULT, msgspec.json.encode(result) + b"\n")


def read_result(folder: Path) -> StoredResult | None:
    """What ``folder`` says of its parts; None when there is no such file.

    Raises ``BadInput`` when it is damaged, of a newer version, or names what is not inside.
    """
    path = folder / RESULT
    try:
        data = read_bounded(path, _LARGEST, follow=False)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}.") from error
    try:
        found = msgspec.convert(
            _checked(msgspec.json.decode(data), path), StoredResult, str_keys=True
        )
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadInput(f"{path} is damaged: {error}.") from error
    if why := unsound(found):
        raise BadInput(f"{path} has a number that cannot be: {why}.")
    names = [name for part in found.parts for name in part.records]
    for name in [*names, *filter(None, [found.settings])]:
        if not _NAME.fullmatch(name):
            raise BadInput(f"{path} names {name[:60]!r}, which is no folder of a launch.")
    return found


class _FabricPart(msgspec.Struct, frozen=True):
    fabric: Fabric | None = None


class _Fabrics(msgspec.Struct, frozen=True):
    parts: list[_FabricPart]


def read_fabrics(folder: Path) -> list[Fabric]:
    """The topologies that the result in ``folder`` knows, and nothing else of it. Raises
    ``BadInput`` when it cannot be read.
    """
    path = folder / RESULT
    try:
        found = msgspec.json.decode(read_bounded(path, _LARGEST, follow=False), type=_Fabrics)
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}.") from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadInput(f"{path} is damaged: {error}.") from error
    return [one.fabric for one in found.parts if one.fabric is not None]


def _checked(document: object, path: Path) -> object:
    if not isinstance(document, dict) or document.get("kind") != KIND:
        raise BadInput(f"{path} is not a result of wireproof.")
    schema = document.get("schema")
    if not isinstance(schema, int) or isinstance(schema, bool) or schema < 1:
        raise BadInput(f"{path} is damaged: it has no schema number.")
    if schema > SCHEMA:
        raise made_by_newer(path, schema, SCHEMA)
    return document
