"""Which file overrules a value of ours at the next boot. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from wireproof.audit.facts import HostFacts
from wireproof.model.plan import FactRequest
from wireproof.tune.settings_files import FOLDERS, Written, winning, written_in

__all__ = ["files_of", "overruled", "settings_files"]


def settings_files() -> tuple[FactRequest, ...]:
    """The files that set something at boot."""
    globs = [FactRequest(kind="glob", path=path, limit_bytes=65536) for path in FOLDERS]
    return (FactRequest(kind="file", path="/etc/sysctl.conf"), *globs)


def files_of(facts: HostFacts) -> Mapping[str, str]:
    """The texts of those that are there, by path."""
    paths = [path for pattern in FOLDERS for path in facts.matching(pattern)]
    texts = {path: facts.file(path).text for path in ["/etc/sysctl.conf", *paths]}
    return {path: text for path, text in texts.items() if text is not None}


def overruled(files: Mapping[str, str], ours: Mapping[str, str]) -> dict[str, Written]:
    """By place: the line that gives it another value than ``ours`` at the next boot. ``ours``: the
    texts of our drop-ins by path, in place of what ``files`` has there.
    """
    texts = {**files, **ours}
    written = [one for path, text in texts.items() for one in written_in(path, text)]
    counting = winning(written)
    mine = winning(one for one in written if one.file in ours)
    return {
        place: counting[place]
        for place, one in sorted(mine.items())
        if counting[place].file not in ours and counting[place].value != one.value
    }
