"""Write and read ``result.json``, which names the records of a result, and ``dossier.json``, which
states the version, rules and criteria by which a dossier was judged.
"""

import hashlib
import re
from pathlib import Path

import msgspec

from wireproof.files.hostile import read_bounded, replace_file
from wireproof.model.dossier import DOSSIER_KIND, DOSSIER_SCHEMA, Dossier, beyond
from wireproof.model.errors import BadInput, made_by_newer
from wireproof.model.frames import unsound
from wireproof.model.json_reader import decode_json
from wireproof.model.located import Fabric
from wireproof.model.run import RESULT_KIND, RESULT_SCHEMA, StoredResult
from wireproof.store.load import head_of

RESULT = "result.json"
DOSSIER = "dossier.json"
_LARGEST = 256 << 20
_LARGEST_DOSSIER = 16 << 20
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", re.ASCII)


def write_result(folder: Path, result: StoredResult) -> None:
    """Write the result atomically. Raise ``OSError``."""
    replace_file(folder / RESULT, msgspec.json.encode(result) + b"\n")


def read_result(folder: Path, sealed: str = "") -> StoredResult | None:
    """Return the result in ``folder``; None if there is no such file. ``sealed``: SHA-256 that the
    file must have.

    Raises ``BadInput`` if it is damaged, has a newer schema, names invalid folders, or differs from
    the sealed file.
    """
    path = folder / RESULT
    try:
        data = read_bounded(path, _LARGEST, follow=False)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}.") from error
    if sealed and hashlib.sha256(data).hexdigest() != sealed:
        raise BadInput(f"{folder} is a dossier, and its {RESULT} is not what was sealed.")
    try:
        _check_head(data, path)
        result = decode_json(data, StoredResult)
    except msgspec.DecodeError as error:
        raise BadInput(f"{path} is damaged: {error}.") from error
    if why := unsound(result):
        raise BadInput(f"{path} has an impossible number: {why}.")
    if why := next(filter(None, (beyond(part.criteria) for part in result.parts)), ""):
        raise BadInput(f"{path} has an invalid criterion: {why}.")
    names = [name for part in result.parts for name in part.records]
    for name in [*names, *filter(None, [result.settings])]:
        if not _NAME.fullmatch(name):
            raise BadInput(f"{path} names {name[:60]!r}, which is not the folder of a launch.")
    return result


class _FabricPart(msgspec.Struct, frozen=True):
    fabric: Fabric | None = None


class _Fabrics(msgspec.Struct, frozen=True):
    parts: list[_FabricPart]


def read_fabrics(folder: Path) -> list[Fabric]:
    """Return only the topologies of the result in ``folder``. Raise ``BadInput`` if it cannot be
    read.
    """
    path = folder / RESULT
    try:
        result = decode_json(read_bounded(path, _LARGEST, follow=False), _Fabrics)
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}.") from error
    except msgspec.DecodeError as error:
        raise BadInput(f"{path} is damaged: {error}.") from error
    return [part.fabric for part in result.parts if part.fabric is not None]


def _check_head(data: bytes, path: Path) -> None:
    kind, schema = head_of(data)
    if kind != msgspec.json.encode(RESULT_KIND):
        raise BadInput(f"{path} is not a result of wireproof.")
    if not schema.isdigit() or int(schema[:20]) < 1:
        raise BadInput(f"{path} is damaged: it has no schema number.")
    if int(schema[:20]) > RESULT_SCHEMA:
        raise made_by_newer(path, int(schema[:20]), RESULT_SCHEMA)


class _DossierHead(msgspec.Struct):
    kind: str = ""
    schema: int = 0
    wireproof: str = ""


def write_dossier(folder: Path, dossier: Dossier) -> None:
    """Write the dossier atomically. Raise ``OSError``."""
    data = msgspec.json.format(msgspec.json.encode(dossier), indent=1)
    replace_file(folder / DOSSIER, data + b"\n")


def read_dossier(folder: Path) -> Dossier:
    """Return the dossier. Raise ``BadInput`` if it is missing, damaged, or has a newer schema."""
    path = folder / DOSSIER
    try:
        data = read_bounded(path, _LARGEST_DOSSIER, follow=False)
        head = decode_json(data, _DossierHead)
        if head.kind != DOSSIER_KIND or head.schema < 1:
            raise BadInput(f"{path} is not a dossier of wireproof.")
        if head.schema > DOSSIER_SCHEMA:
            newer = f"{head.schema} of {head.wireproof[:40]!r}"
            raise made_by_newer(path, newer, DOSSIER_SCHEMA)
        return decode_json(data, Dossier)
    except FileNotFoundError:
        raise BadInput(f"{folder} has no {DOSSIER}: it is not a dossier of wireproof.") from None
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}.") from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadInput(f"{path} is damaged: {error}.") from error
