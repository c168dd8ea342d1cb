"""Read a run folder, sealed or not: frames and run.json are enough."""

import contextlib
import errno
import os
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from wireproof.files.hostile import open_regular, read_bounded
from wireproof.model.errors import BadInput, decode_json, made_by_newer, reading
from wireproof.model.frames import (
    MAX_FRAMES_BYTES,
    BadFrame,
    FrameReader,
    OtherInterface,
    assemble,
    sealed_points,
    unsound,
)
from wireproof.model.frames import SCHEMA as INTERFACE
from wireproof.model.record import Frame
from wireproof.model.run import KIND, SCHEMA, Missing, Run, RunDocument, missing_code

Step = Callable[[dict[str, Any]], dict[str, Any]]

_LOST = re.compile(
    r"(ended|killed) by|\brank \d+\b.*\b(lost|gone|died|killed)\b|peer.*gone", re.IGNORECASE
)
_LATE = re.compile(r"deadline|timed? ?out", re.IGNORECASE)
_OTHER_ENDINGS = ("interrupted", "disk-full", "mismatch", "not-started", "bad-frame")
_NO_RESULT = "the engine sent no result for it"
_NOT_REACHED = "not reached: "


def _coded(sentence: str, ended: object) -> dict[str, Any]:
    """Convert a sentence of schema 1 to code and text, by the rules of that version."""
    reached = not sentence.startswith(_NOT_REACHED)
    if sentence == _NO_RESULT:
        code: object = "no-result"
    elif _LOST.search(sentence):
        code = "rank-lost"
    elif _LATE.search(sentence):
        code = "deadline"
    else:
        code = ended if ended in _OTHER_ENDINGS else "failed"
    return {"code": code, "text": sentence.removeprefix(_NOT_REACHED), "reached": reached}


def _missing_has_codes(document: dict[str, Any]) -> dict[str, Any]:
    """Migrate from schema 1, which had a sentence for each missing point."""
    missing = document.get("missing")
    if not isinstance(missing, dict):
        return document
    coded = {
        point: _coded(why, document.get("ended")) if isinstance(why, str) else why
        for point, why in missing.items()
    }
    return {**document, "missing": coded}


MIGRATIONS: dict[int, Step] = {1: _missing_has_codes}
"""Key N migrates from schema N to N + 1. A step never changes its argument, and is tested with an
old stored file.
"""


def migrate(
    document: object, name: str, *, steps: Mapping[int, Step] = MIGRATIONS, target: int = SCHEMA
) -> dict[str, Any]:
    """Return ``document`` (decoded JSON of ``name``) in schema ``target``.

    Raises ``BadInput`` if wireproof did not write it, if its schema is newer, or if there is no
    migration.
    """
    if not isinstance(document, dict) or document.get("kind") != KIND:
        raise BadInput(
            f"{name} was not written by wireproof: give a folder that 'wireproof measure --out' "
            "created."
        )
    schema = document.get("schema")
    if not isinstance(schema, int) or isinstance(schema, bool) or schema < 0:
        raise BadInput(f"{name} has no schema version: the file is damaged.")
    if schema > target:
        raise made_by_newer(name, schema, target)
    while schema < target:
        if schema not in steps:
            raise BadInput(f"{name} has schema {schema}, which this wireproof can no longer read.")
        document = steps[schema](document)
        schema += 1
        document = {**document, "schema": schema}
    return document


FRAMES = "frames.jsonl"
DOCUMENT = "run.json"
_CHUNK = 1 << 16
_MOST_BLANK = 1000
"""Maximum number of empty lines: the recorder writes none, and each takes as much time as a
frame."""
_LARGEST_DOCUMENT = 256 << 20
CUT_OFF = "the recording was cut off before it contained a reason"


def load_document(folder: Path) -> RunDocument:
    """Return run.json of ``folder``, migrated. Raise ``BadInput`` with the reason if the folder is
    not a run.
    """
    path = folder / DOCUMENT
    if not folder.is_dir():
        raise BadInput(f"{folder} is not a folder: give the --out folder of a run.")
    if not path.is_file() and not path.is_symlink():
        raise BadInput(f"{folder} is not a run of wireproof: it contains no {DOCUMENT}.")
    with reading(path):
        document = _document(read_bounded(path, _LARGEST_DOCUMENT, follow=False), path)
        if why := unsound(document):
            raise BadInput(f"{path} has an impossible number: {why}.")
        return document


class _Head(msgspec.Struct):
    kind: msgspec.Raw = msgspec.Raw()
    schema: msgspec.Raw = msgspec.Raw()


_OURS = (msgspec.json.encode(KIND), msgspec.json.encode(SCHEMA))


def head_of(data: bytes) -> tuple[bytes, bytes]:
    """Return the raw ``kind`` and ``schema`` of a stored document; empty if it is not an object."""
    head = _Head()
    with contextlib.suppress(msgspec.ValidationError, UnicodeDecodeError, RecursionError):
        head = msgspec.json.decode(data, type=_Head)
    return bytes(head.kind), bytes(head.schema)


def _document(data: bytes, path: Path) -> RunDocument:
    """Decode a document. An older schema is migrated, which takes twice the memory."""
    if head_of(data) == _OURS:
        return decode_json(data, RunDocument)
    document = migrate(decode_json(data, object, times=2), str(path))
    return msgspec.convert(document, RunDocument, str_keys=True)


def load_frames(folder: Path) -> list[Frame]:
    """Return the frames of ``folder`` in order; a torn last line is left out. Raise ``BadInput``
    for a damaged line, with its number.
    """
    return list(each_frame(folder))


def each_frame(folder: Path) -> Iterator[Frame]:
    """Yield frames like ``load_frames``, one at a time, because the frames of ten thousand nodes
    need much memory.
    """
    path = folder / FRAMES
    reader = FrameReader()
    try:
        with open_regular(path, follow=False) as file:
            _refuse_huge(os.fstat(file.fileno()).st_size)
            while (data := file.read(_CHUNK)) and not reader.talk:
                for _, frame in reader.feed(data):
                    yield frame
                if reader.blank > _MOST_BLANK:
                    raise BadFrame("the file is damaged: too many of its lines are empty.")
    except FileNotFoundError:
        return
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}.") from error
    except OtherInterface as error:
        raise made_by_newer(path, error.schema, INTERFACE) from error
    except BadFrame as error:
        raise BadInput(f"{path}, line {reader.lines}: {error}") from error
    if reader.talk:
        raise BadInput(
            f"{path} has lines that are not frames ({reader.talk[0][:60]!r}): the file is damaged."
        )


def _refuse_huge(size: int) -> None:
    if size > MAX_FRAMES_BYTES:
        raise OSError(errno.EFBIG, f"it is larger than {MAX_FRAMES_BYTES >> 20} MiB")


def load_run(folder: Path) -> Run:
    """Return the run in ``folder``, with the reason for each planned point that is missing.

    Raises ``BadInput`` if the folder is not a run of wireproof, or is damaged.
    """
    document = load_document(folder)
    frames = load_frames(folder)
    missing = dict(document.missing)
    sealed = sealed_points(frames)
    untold = Missing(missing_code(document.ended), document.reason or CUT_OFF)
    for point in document.plan.points:
        if point.id not in sealed:
            missing.setdefault(point.id, untold)
    return assemble(frames, claim=document.claim, provenance=document.provenance, missing=missing)
