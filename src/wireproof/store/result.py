"""Write and read ``result.json``, which lists the records of a result, and ``dossier.json``, which
contains the version, rules and criteria by which a dossier was judged; find the newest of many
results.
"""

import contextlib
import hashlib
import math
import os
import re
import stat
import time
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

import msgspec

from wireproof.files.hostile import read_bounded, replace_file
from wireproof.model.dossier import DOSSIER_KIND, DOSSIER_SCHEMA, Dossier, beyond
from wireproof.model.errors import BadInput, decode_json, made_by_newer, member_of, reading
from wireproof.model.frames import unsound
from wireproof.model.located import Fabric
from wireproof.model.run import RESULT_KIND, RESULT_SCHEMA, Run, StoredResult, seconds_of
from wireproof.store.history import RESULTS
from wireproof.store.load import DOCUMENT, head_of

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

    Raises ``BadInput`` if it is damaged, has a newer schema, lists invalid folders, or differs from
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
        raise BadInput(f"{folder} is a dossier, but its {RESULT} is not the sealed file.")
    with reading(path):
        _check_head(data, path)
        result = decode_json(data, StoredResult)
    if why := unsound(result):
        raise BadInput(f"{path} has an impossible number: {why}.")
    if why := next(filter(None, (beyond(part.criteria) for part in result.parts)), ""):
        raise BadInput(f"{path} has an invalid criterion: {why}.")
    names = [name for part in result.parts for name in part.records]
    for name in [*names, *filter(None, [result.settings])]:
        if not _NAME.fullmatch(name):
            raise BadInput(f"{path} contains {name[:60]!r}, which is not the folder of a launch.")
    return result


class _FabricPart(msgspec.Struct, frozen=True):
    fabric: Fabric | None = None


def read_fabrics(folder: Path) -> list[Fabric]:
    """Return only the topologies of the result in ``folder``. Raise ``BadInput`` if it cannot be
    read.
    """
    path = folder / RESULT
    with reading(path):
        parts = member_of(read_bounded(path, _LARGEST, follow=False), "parts", list[_FabricPart])
    return [part.fabric for part in parts if part.fabric is not None]


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
    with reading(path, f"{folder} has no {DOSSIER}: it is not a dossier of wireproof."):
        data = read_bounded(path, _LARGEST_DOSSIER, follow=False)
        head = decode_json(data, _DossierHead)
        if head.kind != DOSSIER_KIND or head.schema < 1:
            raise BadInput(f"{path} is not a dossier of wireproof.")
        if head.schema > DOSSIER_SCHEMA:
            newer = f"{head.schema} of {head.wireproof[:40]!r}"
            raise made_by_newer(path, newer, DOSSIER_SCHEMA)
        return decode_json(data, Dossier)


# --- Find the newest of many stored results.

SKEW_S = 300.0
"""Clocks of a cluster differ by less than this."""
QUIET_S = 600.0
"""A check that has written nothing for this long counts as interrupted."""
_MOST_UNFINISHED = 20
_LARGEST_DOCUMENT = 16 << 20
_MOST_RESULTS = 1000
"""Maximum number of results of a folder to examine, newest first."""


def newest_result(source: Path, wanted: Collection[str]) -> tuple[Path, StoredResult] | None:
    """Return (folder, result) for the result in ``source``, or for the newest in a folder of
    results (such as a history) that includes one of the ``wanted`` nodes; empty means any node.

    Raises ``BadInput`` or ``OSError`` for an unreadable result, because it may be the newest.
    """
    direct = read_result(source)
    if direct is not None:
        return source, direct
    newest, best = -math.inf, None
    for written, folder in _places(source)[:_MOST_RESULTS]:
        # A file is written after its measurement, and may be copied later. So files written before
        # the best measurement are older, and all further files are older too.
        if written + SKEW_S < newest:
            break
        result = read_result(folder)
        if result is None or (wanted and not _has(result, wanted)):
            continue
        when = seconds_of(measured(part.run for part in result.parts))
        if (when if when is not None else written) > newest:
            newest, best = when if when is not None else written, (folder, result)
    return best


class _HostName(msgspec.Struct):
    host: str


def unfinished_after(source: Path, result: Path, wanted: Collection[str]) -> Path | None:
    """Return the folder of a check in ``source`` that started after ``result`` was written, covers
    one of the ``wanted`` nodes (empty: any), and was interrupted; None if there is none.
    """
    written = os.lstat(result / RESULT).st_mtime
    begun = [
        (at, folder)
        for folder in (*_folders(source), *_folders(source / RESULTS))
        if not os.path.lexists(folder / RESULT)
        for at in [_last_written(folder)]
        if written < at < time.time() - QUIET_S
    ]
    for _, folder in sorted(begun, reverse=True)[:_MOST_UNFINISHED]:
        hosts = _hosts_of(folder)
        if hosts is None or not wanted or not hosts.isdisjoint(wanted):
            return folder
    return None


def _last_written(folder: Path) -> float:
    """Return when the records in a folder were last written; 0 if it is not a check."""
    times = [0.0]
    with contextlib.suppress(OSError):
        for launch in _folders(folder):
            if os.path.lexists(launch / DOCUMENT):
                times += [
                    entry.stat(follow_symlinks=False).st_mtime for entry in os.scandir(launch)
                ]
    return max(times)


def _hosts_of(folder: Path) -> set[str] | None:
    """Return the nodes of a check; None if its records do not contain them."""
    hosts: set[str] = set()
    try:
        for launch in _folders(folder):
            if os.path.lexists(launch / DOCUMENT):
                data = read_bounded(launch / DOCUMENT, _LARGEST_DOCUMENT, follow=False)
                claim = bytes(member_of(data, "claim", msgspec.Raw))
                hosts |= {host.host for host in member_of(claim, "hosts", list[_HostName])}
    except (OSError, ValueError, RecursionError):
        return None
    return hosts or None


def measured(runs: Iterable[Run]) -> str:
    """Return the start time of the first run; a run without a date counts as the first, because
    evidence is as old as its oldest part.
    """
    return min(
        (run.provenance.started for run in runs),
        key=lambda text: (seconds_of(text) is not None, seconds_of(text) or 0.0),
        default="",
    )


def _has(result: StoredResult, wanted: Collection[str]) -> bool:
    return any(node.node in wanted for part in result.parts for node in part.nodes)


def _places(source: Path) -> list[tuple[float, Path]]:
    """Return the folders of results, most recently written first. Folders that vanish meanwhile and
    dangling links are skipped; a folder that cannot be entered raises ``BadInput``.
    """
    places = []
    for folder in (*_folders(source), *_folders(source / RESULTS)):
        try:
            places.append((os.lstat(folder / RESULT).st_mtime, folder))
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            raise BadInput(f"{folder} cannot be read: {error.strerror}.") from error
    return sorted(places, reverse=True)


def _folders(place: Path) -> Iterator[Path]:
    """Yield the folders in ``place``, including links to folders, without hidden ones."""
    try:
        names = sorted(name for name in os.listdir(place) if not name.startswith("."))
    except (FileNotFoundError, NotADirectoryError):
        return
    for name in names:
        with contextlib.suppress(FileNotFoundError):  # a dangling link, or a folder that vanished
            if stat.S_ISDIR(os.stat(place / name).st_mode):
                yield place / name
