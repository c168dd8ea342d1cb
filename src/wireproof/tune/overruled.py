"""Which file overrules a value of ours at the next boot. Pure."""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Mapping
from fnmatch import fnmatchcase

from wireproof.audit.facts import HostFacts
from wireproof.model.plan import FactRequest
from wireproof.tune.boot_mtu import boot_files
from wireproof.tune.settings_files import FILES, FOLDERS, FileSetting, counted, winning, written_in

__all__ = ["files_of", "overruled", "settings_files", "unread"]

_PATTERN = frozenset("*?[")


def settings_files() -> tuple[FactRequest, ...]:
    """The files that set something at boot."""
    files = [FactRequest(kind="file", path=path) for path in FILES]
    globs = [FactRequest(kind="glob", path=path, limit_bytes=65536) for path in FOLDERS]
    return (*files, *globs)


def files_of(facts: HostFacts) -> Mapping[str, str]:
    """The texts of those that are there, by path."""
    paths = [path for pattern in FOLDERS for path in facts.matching(pattern)]
    texts = {path: facts.file(path).text for path in [*FILES, *paths]}
    return {path: text for path, text in texts.items() if text is not None}


def unread(facts: HostFacts, ours: Mapping[str, str]) -> list[str]:
    """The network's files that could not be read, if ``ours`` set an MTU: they may overrule it."""
    places = [one.place for path, text in ours.items() for one in written_in(path, text)]
    if not any(place.endswith("/mtu") for place in places):
        return []
    paths = [path for kind in boot_files() for one in kind.paths for path in facts.matching(one)]
    answers = {path: facts.file(path) for path in paths}
    return [
        f"{path} {one.why}: whether it overrules the MTU at the next boot is not known"
        for path, one in answers.items()
        if one.text is None and not one.absent
    ]


def overruled(files: Mapping[str, str], ours: Mapping[str, str]) -> dict[str, FileSetting]:
    """By place: the line that gives it another value than ``ours`` at the next boot. ``ours``: the
    texts of our drop-ins by path, in place of what ``files`` has there.
    """
    texts = {**files, **ours}
    written = counted(one for path, text in texts.items() for one in written_in(path, text))
    at_place: defaultdict[str, list[FileSetting]] = defaultdict(list)
    patterns: list[FileSetting] = []
    for one in written:
        (patterns if _PATTERN.intersection(one.place) else at_place[one.place]).append(one)
    found = {}
    for place, mine in sorted(winning(one for one in written if one.file in ours).items()):
        fitting = (one for one in patterns if fnmatchcase(place, one.place))
        others = [dataclasses.replace(one, place=place) for one in fitting]
        counting = winning([*at_place[place], *others])[place]
        if counting.file not in ours and counting.value != mine.value:
            found[place] = counting
    return found
