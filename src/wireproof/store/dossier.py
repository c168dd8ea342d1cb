"""Writes and reads ``dossier.json``: by which version, rules and criteria a dossier was judged."""

from __future__ import annotations

from pathlib import Path

import msgspec

from wireproof.files.hostile import read_bounded, replace_file
from wireproof.model.dossier import KIND, SCHEMA, Dossier
from wireproof.model.errors import BadInput, made_by_newer
from wireproof.model.json_reader import decode_json

__all__ = ["DOSSIER", "read_dossier", "write_dossier"]

DOSSIER = "dossier.json"
_LARGEST = 16 << 20


class _Head(msgspec.Struct):
    kind: str = ""
    schema: int = 0
    wireproof: str = ""


def write_dossier(folder: Path, dossier: Dossier) -> None:
    """Raises ``OSError``; the file is whole or not there."""
    data = msgspec.json.format(msgspec.json.encode(dossier), indent=1)
    replace_file(folder / DOSSIER, data + b"\n")


def read_dossier(folder: Path) -> Dossier:
    """Raises ``BadInput`` when it is not there, is damaged, or of a newer version."""
    path = folder / DOSSIER
    try:
        data = read_bounded(path, _LARGEST, follow=False)
        head = decode_json(data, _Head)
        if head.kind != KIND or head.schema < 1:
            raise BadInput(f"{path} is no dossier of wireproof.")
        if head.schema > SCHEMA:
            raise made_by_newer(path, f"{head.schema} of {head.wireproof[:40]!r}", SCHEMA)
        return decode_json(data, Dossier)
    except FileNotFoundError:
        raise BadInput(f"{folder} has no {DOSSIER}: it is no dossier of wireproof.") from None
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}.") from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadInput(f"{path} is damaged: {error}.") from error
