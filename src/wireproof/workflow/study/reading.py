"""What a launch of a study said and counted, by the library's own reader where it has one.

Statistics files hold the whole environment of a process: their readers let the library's own
settings pass and nothing else, and no text of them is kept.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

from wireproof.adapters.psm3 import is_statistics, readback, statistics
from wireproof.files.held import make_folder
from wireproof.files.hostile import read_bounded
from wireproof.model.errors import BadInput
from wireproof.model.psm3 import Statistics
from wireproof.model.study import Library
from wireproof.study.readback import Said, said_in
from wireproof.verdict.psm3.judge import judge_statistics

__all__ = ["counted", "counting", "heard"]

_MOST_FILES = 256
_LARGEST = 16 << 20
_TELLING = ("fail", "inconclusive", "warning")


def counting(library: Library, folder: Path) -> dict[str, str]:
    """The variables that make a run leave its counters in ``folder``, which is made."""
    if not library.counts:
        return {}
    make_folder(folder, 0o700)
    return {name: value.replace("{folder}", str(folder)) for name, value in library.counts.items()}


def heard(text: str, library: Library, folder: Path) -> Said:
    """The lines of a start by their kinds; what a reader makes of text and counters has kinds of
    its own (observed, taken).
    """
    found: Mapping[str, list[tuple[str, str, str]]] = defaultdict(
        list, {kind: list(lines) for kind, lines in said_in(text, library).items()}
    )
    if library.reader == "psm3":
        texts = [data.decode("utf-8", "replace") for _, data in _files(folder)]
        for seen in readback(text, texts):
            if seen.kind in ("observed", "taken"):
                found[seen.kind].append((seen.who, seen.setting, seen.value))
    return found


def counted(library: Library, folder: Path) -> dict[str, str]:
    """What the library's own counters are found to say, by code; nothing where none were left."""
    if library.reader != "psm3":
        return {}
    files: list[Statistics] = []
    for name, data in _files(folder):
        try:
            files.append(statistics(data, name))
        except BadInput:
            continue
    if not files:
        return {}
    judged = judge_statistics(files, wire=True)
    return {one.code: one.message for one in judged.findings if one.severity in _TELLING}


def _files(folder: Path) -> list[tuple[str, bytes]]:
    """Statistics files that the ranks on this machine have left."""
    found: list[tuple[str, bytes]] = []
    try:
        paths = sorted(folder.iterdir())[:_MOST_FILES]
    except OSError:
        return []
    for path in paths:
        try:
            data = read_bounded(path, _LARGEST, follow=False)
        except OSError:
            continue
        if is_statistics(data):
            found.append((path.name, data))
    return found
