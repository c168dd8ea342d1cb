"""The newest of many stored results."""

import contextlib
import math
import os
import stat
import time
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

import msgspec

from wireproof.files.hostile import read_bounded
from wireproof.model.errors import BadInput
from wireproof.model.gate import seconds_of
from wireproof.model.json_reader import decode_json
from wireproof.model.run import Run
from wireproof.model.stored import StoredResult
from wireproof.store.history import RESULTS
from wireproof.store.load import DOCUMENT
from wireproof.store.result import RESULT, read_result

SKEW_S = 300.0
"""Clocks of one cluster differ by less."""
QUIET_S = 600.0
"""A check that has written nothing for so long has broken off."""
_MOST_UNFINISHED = 20
_LARGEST_DOCUMENT = 16 << 20
_MOST_RESULTS = 1000
"""Results of a folder that are looked at, newest first."""


def newest_result(source: Path, wanted: Collection[str]) -> tuple[Path, StoredResult] | None:
    """The result in ``source``, or the newest of a folder of results (a history is one) that has
    one of the nodes; with its folder. ``wanted`` empty: of any node.

    Raises ``BadInput`` or ``OSError`` for what cannot be read: it may be the newest.
    """
    own = read_result(source)
    if own is not None:
        return source, own
    newest, best = -math.inf, None
    for written, folder in _places(source)[:_MOST_RESULTS]:
        # A file is written after what it tells was measured, and may be copied later: the rest of
        # them, written before the best was measured, are older.
        if written + SKEW_S < newest:
            break
        found = read_result(folder)
        if found is None or (wanted and not _has(found, wanted)):
            continue
        when = seconds_of(measured(part.run for part in found.parts))
        if (when if when is not None else written) > newest:
            newest, best = when if when is not None else written, (folder, found)
    return best


class _HostName(msgspec.Struct):
    host: str


class _Claimed(msgspec.Struct):
    hosts: list[_HostName]


class _Begun(msgspec.Struct):
    claim: _Claimed


def unfinished_after(source: Path, result: Path, wanted: Collection[str]) -> Path | None:
    """The folder of a check in ``source`` that was begun after ``result`` was written, of one of
    the nodes (``wanted`` empty: of any), and that has broken off; None if there is none.
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
    """When a file of its records was last written; 0 for a folder that is no check's."""
    times = [0.0]
    with contextlib.suppress(OSError):
        for launch in _folders(folder):
            if os.path.lexists(launch / DOCUMENT):
                times += [one.stat(follow_symlinks=False).st_mtime for one in os.scandir(launch)]
    return max(times)


def _hosts_of(folder: Path) -> set[str] | None:
    """The nodes that the check is of; None if its records do not tell."""
    found: set[str] = set()
    try:
        for launch in _folders(folder):
            if os.path.lexists(launch / DOCUMENT):
                data = read_bounded(launch / DOCUMENT, _LARGEST_DOCUMENT, follow=False)
                found |= {one.host for one in decode_json(data, _Begun).claim.hosts}
    except (OSError, ValueError, RecursionError):
        return None
    return found or None


def measured(runs: Iterable[Run]) -> str:
    """When the first of them was started, or what has no date: evidence is as old as its oldest."""
    return min(
        (run.provenance.started for run in runs),
        key=lambda text: (seconds_of(text) is not None, seconds_of(text) or 0.0),
        default="",
    )


def _has(result: StoredResult, wanted: Collection[str]) -> bool:
    return any(one.node in wanted for part in result.parts for one in part.nodes)


def _places(source: Path) -> list[tuple[float, Path]]:
    """The folders of results, those that were written last first. What goes meanwhile is gone, what
    leads nowhere is none; a folder that cannot be entered is told.
    """
    found = []
    for folder in (*_folders(source), *_folders(source / RESULTS)):
        try:
            found.append((os.lstat(folder / RESULT).st_mtime, folder))
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            raise BadInput(f"{folder} cannot be read: {error.strerror}.") from error
    return sorted(found, reverse=True)


def _folders(place: Path) -> Iterator[Path]:
    """The folders in ``place``, links to folders included, without hidden ones."""
    try:
        names = sorted(name for name in os.listdir(place) if not name.startswith("."))
    except (FileNotFoundError, NotADirectoryError):
        return
    for name in names:
        with contextlib.suppress(FileNotFoundError):  # a link that leads nowhere, or what has gone
            if stat.S_ISDIR(os.stat(place / name).st_mode):
                yield place / name
