"""The newest of many stored results."""

from __future__ import annotations

import contextlib
import math
import os
import stat
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from wireproof.model.errors import BadInput
from wireproof.model.gate import seconds_of
from wireproof.model.run import Run
from wireproof.model.stored import StoredResult
from wireproof.store.history import RESULTS
from wireproof.store.result import RESULT, read_result

__all__ = ["SKEW_S", "measured", "newest_result"]

SKEW_S = 300.0
"""Clocks of one cluster differ by less."""
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
