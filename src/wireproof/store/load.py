"""Reads a run folder back, sealed or not: frames and run.json are enough."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from pathlib import Path

import msgspec

from wireproof.files.hostile import open_regular, read_bounded
from wireproof.model.document import RunDocument, missing_code
from wireproof.model.errors import BadInput, made_by_newer
from wireproof.model.frames import (
    MAX_FRAMES_BYTES,
    BadFrame,
    FrameReader,
    OtherInterface,
    assemble,
    sealed_points,
)
from wireproof.model.frames import SCHEMA as INTERFACE
from wireproof.model.record import Frame
from wireproof.model.run import Missing, Run
from wireproof.model.sound import unsound
from wireproof.store.migrate import migrate

__all__ = ["DOCUMENT", "FRAMES", "each_frame", "load_document", "load_frames", "load_run"]

FRAMES = "frames.jsonl"
DOCUMENT = "run.json"
_CHUNK = 1 << 20
_LARGEST_DOCUMENT = 256 << 20
CUT_OFF = "the recording was cut off before it could say why"


def load_document(folder: Path) -> RunDocument:
    """run.json of ``folder``, migrated. Raises ``BadInput`` that says why it is not a run of
    ours.
    """
    path = folder / DOCUMENT
    if not folder.is_dir():
        raise BadInput(f"{folder} is not a folder: give the --out folder of a run.")
    if not path.is_file() and not path.is_symlink():
        raise BadInput(f"{folder} is not a run of wireproof: it has no {DOCUMENT}.")
    try:
        document = migrate(
            msgspec.json.decode(read_bounded(path, _LARGEST_DOCUMENT, follow=False)), str(path)
        )
        found = msgspec.convert(document, RunDocument, str_keys=True)
        if why := unsound(found):
            raise BadInput(f"{path} has a number that cannot be: {why}.")
        return found
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}.") from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadInput(f"{path} is damaged: {error}.") from error


def load_frames(folder: Path) -> list[Frame]:
    """Frames of ``folder`` in order; a torn tail is left out. Raises ``BadInput`` for a damaged
    line, naming it.
    """
    return list(each_frame(folder))


def each_frame(folder: Path) -> Iterator[Frame]:
    """As ``load_frames``, one after another: those of ten thousand nodes fill much memory."""
    path = folder / FRAMES
    reader = FrameReader()
    try:
        with open_regular(path, follow=False) as file:
            _refuse_huge(os.fstat(file.fileno()).st_size)
            while (data := file.read(_CHUNK)) and not reader.talk:
                for _, frame in reader.feed(data):
                    yield frame
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
    """The run that ``folder`` holds, with the reason for each planned point that is not there.

    Raises ``BadInput`` when the folder is not a run of ours or is damaged.
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
