"""Find the newest of many stored results."""

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
from wireproof.model.json_reader import decode_json
from wireproof.model.run import Run, StoredResult, seconds_of
from wireproof.store.history import RESULTS
from wireproof.store.load import DOCUMENT
from wireproof.store.result import RESULT, read_result

SKEW_S = 300.0
"""Clocks of a cluster differ by less than this."""
QUIET_S = 600.0
"""A check that wrote nothing for this long has broken off."""
_MOST_UNFINISHED = 20
_LARGEST_DOCUMENT = 16 << 20
_MOST_RESULTS = 1000
"""Most results of a folder to examine, newest first."""


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
        # the best measurement are older, and so are all further files.
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


class _Claimed(msgspec.Struct):
    hosts: list[_HostName]


class _Begun(msgspec.Struct):
    claim: _Claimed


def unfinished_after(source: Path, result: Path, wanted: Collection[str]) -> Path | None:
    """Return the folder of a check in ``source`` that started after ``result`` was written, covers
    one of the ``wanted`` nodes (empty: any), and has broken off; None if there is none.
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
    """Return the nodes of a check; None if its records do not tell."""
    hosts: set[str] = set()
    try:
        for launch in _folders(folder):
            if os.path.lexists(launch / DOCUMENT):
                data = read_bounded(launch / DOCUMENT, _LARGEST_DOCUMENT, follow=False)
                hosts |= {host.host for host in decode_json(data, _Begun).claim.hosts}
    except (OSError, ValueError, RecursionError):
        return None
    return hosts or None


def measured(runs: Iterable[Run]) -> str:
    """Return when the first run started; a run without date comes first, because evidence is as old
    as its oldest part.
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
