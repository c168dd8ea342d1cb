"""``SHA256SUMS``: the digests of all files in a folder, in the format of ``sha256sum -c``.

It lists every file of the folder except itself and its signatures, so that added files are also
detected. Only names that wireproof uses are allowed, so no name needs quoting.
"""

import errno
import hashlib
import os
import re
import stat
from collections.abc import Iterator
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Literal, NamedTuple

from wireproof.files.hostile import LARGEST, MOST, kind_of, open_regular, read_bounded, replace_file
from wireproof.model.errors import BadInput, reading

MANIFEST = "SHA256SUMS"
_SIGNATURE = re.compile(r"SHA256SUMS(?:\.[0-9]{1,2})?\.(?:sig|asc|minisig)", re.ASCII)
_DRAFT = re.compile(r"\.(SHA256SUMS.*)\.[0-9a-f]{8}\.new", re.ASCII)
"""The file that `replace_file` leaves if its process is killed; nothing reads it."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*(?:/[A-Za-z0-9][A-Za-z0-9._+-]*)*", re.ASCII)
_LINE = re.compile(r"([0-9a-f]{64}) [ *](.+)", re.ASCII)
_LARGEST = 64 << 20
_DEEPEST = 8
_CHUNK = 1 << 20

Kind = Literal["changed", "missing", "added", "renamed", "not a file"]


class Tampering(NamedTuple):
    """A difference from the sealed state. ``said``: a clause that describes it."""

    name: str
    kind: Kind
    said: str


def is_sealed(folder: Path) -> bool:
    """Return whether there is a manifest of any kind."""
    return os.path.lexists(folder / MANIFEST)


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a regular file in hexadecimal. Raise ``OSError``, also for a link and
    for a file larger than any result.
    """
    digest, left = hashlib.sha256(), LARGEST
    with open_regular(path, follow=False) as file:
        while data := file.read(_CHUNK):
            left -= len(data)
            if left < 0:
                raise OSError(errno.EFBIG, f"it is larger than {LARGEST >> 30} GiB", str(path))
            digest.update(data)
    return digest.hexdigest()


def write_manifest(folder: Path) -> int:
    """Seal the files in ``folder`` and return their number. Raise ``OSError``; raise ``BadInput``
    for anything that is not a regular file, or has an unexpected name.
    """
    lines = []
    for name, status in sorted(_tree(folder)):
        if kind := kind_of(status.st_mode):
            raise BadInput(f"{folder / name} is {kind}: it cannot be part of a dossier.")
        if not _NAME.fullmatch(name):
            raise BadInput(
                f"{folder} contains {name[:80]!r}: remove it, because it is not a file of "
                "wireproof."
            )
        lines.append(f"{digest_of(folder / name)}  {name}\n")
    replace_file(folder / MANIFEST, "".join(lines).encode("ascii"))
    return len(lines)


def manifest_bytes(folder: Path) -> bytes:
    """Return the raw manifest, which signatures cover. Raise ``BadInput`` if it cannot be read."""
    path = folder / MANIFEST
    missing = (
        f"{folder} has no {MANIFEST}: it is not a dossier, or its check did not finish"
        " (`check --profile acceptance` writes it last)."
    )
    with reading(path, missing):
        return read_bounded(path, _LARGEST, follow=False)


def listed(folder: Path, manifest: bytes | None = None) -> dict[str, str]:
    """Return the digest of each file that ``manifest`` (default: that of the folder) lists. Raise
    ``BadInput`` with the line if it is damaged.
    """
    path = folder / MANIFEST
    data = manifest_bytes(folder) if manifest is None else manifest
    if not data.endswith(b"\n"):
        raise BadInput(f"{path} is cut off: its last line has no line end.")
    digests: dict[str, str] = {}
    for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), start=1):
        parts = _LINE.fullmatch(line)
        if parts is None or not _NAME.fullmatch(parts[2]) or _is_own(parts[2]):
            raise BadInput(
                f"{path}, line {number} is damaged: {line[:60]!r} is not the digest of a file."
            )
        if parts[2] in digests:
            raise BadInput(f"{path}, line {number} is damaged: {parts[2]} is listed twice.")
        digests[parts[2]] = parts[1]
    return digests


def signatures_of(folder: Path) -> list[Path]:
    """Return the detached signatures of the manifest, by name."""
    return sorted(path for path in folder.iterdir() if _SIGNATURE.fullmatch(path.name))


def differences(folder: Path, manifest: bytes | None = None) -> list[Tampering]:
    """Return the differences between ``folder`` and ``manifest`` (default: that of the folder), by
    name; empty if it is as sealed. Raise ``BadInput`` if the manifest is missing or damaged, and
    for more files or bytes than a result has.
    """
    wanted = listed(folder, manifest)
    try:
        there = dict(islice(_tree(folder), MOST + 1))
    except OSError as error:
        raise BadInput(f"{error.filename} cannot be read: {error.strerror}.") from error
    if len(there) > MOST or sum(status.st_size for status in there.values()) > LARGEST:
        raise BadInput(
            f"{folder} contains more than {MOST} files or {LARGEST >> 30} GiB, which no dossier "
            "does."
        )
    changes = []
    for name, status in there.items():
        if kind := kind_of(status.st_mode):
            changes.append(Tampering(name, "not a file", f"{_shown(name)} is {kind}"))
        elif name in wanted and _digest(folder, name) != wanted[name]:
            changes.append(Tampering(name, "changed", f"{name} was changed"))
        elif name not in wanted:
            changes.append(Tampering(name, "added", f"{_shown(name)} was added"))
    gone = {name: digest for name, digest in wanted.items() if name not in there}
    return sorted(_with_renamed(folder, changes, gone))


def _with_renamed(folder: Path, changes: list[Tampering], gone: dict[str, str]) -> list[Tampering]:
    """Add missing files; an added file with the contents of a missing file counts as renamed."""
    by_digest = {digest: name for name, digest in gone.items()}
    described = []
    for change in changes:
        before = None
        if change.kind == "added" and gone:
            before = by_digest.pop(_digest(folder, change.name), None)
        if before is not None:
            del gone[before]
            clause = f"{before} was renamed to {_shown(change.name)}"
            change = Tampering(change.name, "renamed", clause)
        described.append(change)
    return described + [Tampering(name, "missing", f"{name} is missing") for name in gone]


def _digest(folder: Path, name: str) -> str:
    with reading(folder / name):
        return digest_of(folder / name)


def _shown(name: str) -> str:
    return name if _NAME.fullmatch(name) else repr(name[:100])


def _is_own(name: str) -> bool:
    draft = _DRAFT.fullmatch(name)
    name = draft[1] if draft else name
    return name == MANIFEST or _SIGNATURE.fullmatch(name) is not None


def _tree(
    folder: Path, inside: PurePosixPath | None = None
) -> Iterator[tuple[str, os.stat_result]]:
    """Yield everything in ``folder`` except folders, the manifest, its signatures and drafts
    of both, by name with slashes; links are not followed.
    """
    place = folder / inside if inside else folder
    for path in sorted(place.iterdir()):
        name = inside / path.name if inside else PurePosixPath(path.name)
        status = path.lstat()
        if stat.S_ISDIR(status.st_mode) and len(name.parts) < _DEEPEST:
            yield from _tree(folder, name)
        elif not _is_own(str(name)) or not stat.S_ISREG(status.st_mode):
            yield str(name), status
