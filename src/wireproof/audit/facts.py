"""The raw texts of one host, by the place where they stood. Pure."""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import msgspec

from wireproof.model.record import FactFrame

Place = str | tuple[str, ...]
"""A file's path or a command's argument list."""

WHOSE = "limits-of"
"""The fact that says whose limits and cores those below /proc/self are."""
_OWN = "/proc/self/"

_WORDS = {
    "missing": "is not there",
    "denied": "may not be read (needs root)",
    "timeout": "did not answer in time",
    "failed": "could not be read",
}
_UNSUPPORTED = "Operation not supported"
"""EOPNOTSUPP: the driver does not have what was asked for, which is an answer."""
UNKEPT = "is not in the archive"
"""Why a place of an archive has no answer: the host itself may have one."""
_UNINSTALLED = "is not installed there"
_LISTED = ("ok", "missing")
_WITNESSES = {
    "/sys/": "/sys/devices/system/cpu/online",
    "/proc/sys/": "/proc/sys/kernel/osrelease",
}
"""Of each folder a file that every Linux has: where it is not, the folder is shown in part, as in
some containers and archives, and what else is missing there may be hidden.
"""
_HIDDEN = "is not there, but neither are files that every Linux has: the folder is here in part"
_UNASKED = {
    "bios": "is read from the management controller: give --bmc",
    "environment": "is that of a job: run the audit inside one",
}


@dataclass(frozen=True)
class PlaceAnswer:
    """What one place said. ``text`` None: nothing, and ``why`` says so. ``absent``: it is known not
    to be there.
    """

    place: str
    text: str | None
    why: str = ""
    absent: bool = False


@dataclass(frozen=True)
class HostFacts:
    """Files by path and commands by argument list, as one host answered. ``listed``: the patterns
    whose matches are known. ``derived``: files that were made of others. ``hidden``: folders of
    which a part alone is shown. ``unkept``: patterns that an archive keeps nothing of.
    """

    host: str
    files: dict[str, FactFrame] = field(default_factory=dict)
    globs: dict[str, FactFrame] = field(default_factory=dict)
    commands: dict[tuple[str, ...], FactFrame] = field(default_factory=dict)
    listed: tuple[str, ...] = ()
    derived: dict[str, FactFrame] = field(default_factory=dict)
    hidden: tuple[str, ...] = ()
    unkept: tuple[str, ...] = ()

    @classmethod
    def of(cls, host: str, frames: Iterable[FactFrame]) -> HostFacts:
        """The facts of one rank's frames; what was asked for twice counts once."""
        found = cls(host)
        listed, unkept = list[str](), list[str]()
        for frame in frames:
            if frame.kind == "command":
                found.commands.setdefault(tuple(frame.argv), frame)
            elif frame.kind == "file":
                found.files.setdefault(frame.path, frame)
            else:
                found.globs.setdefault(frame.path, frame)
                if frame.status in _LISTED:
                    listed.append(frame.path)
                if frame.reason == UNKEPT:
                    unkept.append(frame.path)
        found = dataclasses.replace(found, listed=tuple(listed), unkept=tuple(unkept))
        return found._with_hidden()

    def _with_hidden(self) -> HostFacts:
        """What is missing where a part alone is shown is not known to be missing."""
        shown = {folder: self.files.get(witness) for folder, witness in _WITNESSES.items()}
        hidden = tuple(each for each, one in shown.items() if one and one.status == "missing")
        if not hidden:
            return self
        files = {
            path: msgspec.structs.replace(frame, status="failed", reason=_HIDDEN)
            if frame.status == "missing" and path.startswith(hidden)
            else frame
            for path, frame in self.files.items()
        }
        return dataclasses.replace(self, files=files, hidden=hidden)

    def file(self, path: str) -> PlaceAnswer:
        if path.startswith(_OWN) and WHOSE in self.files and path in self.files:
            return _answer(f"{path} of {self.files[WHOSE].text}", self.files[path])
        frame = self._of_file(path)
        if frame is None and self._was_looked_for(path):
            if self.may_hide(path):
                return PlaceAnswer(path, None, _HIDDEN)
            return PlaceAnswer(path, None, _WORDS["missing"], absent=True)
        if frame is None and matches_any(self.unkept, path):
            return PlaceAnswer(path, None, UNKEPT)
        return _answer(path, frame)

    def line(self, path: str) -> str:
        """The text of a file without the blanks around it, "" for none."""
        return (self.file(path).text or "").strip()

    def command(
        self, argv: tuple[str, ...], statuses: Sequence[int] = (), own: bool = True
    ) -> PlaceAnswer:
        """What it printed. ``statuses``: exit statuses besides 0 that its text counts with;
        ``own``: a host without the command does not have what it tells of.
        """
        place, frame = " ".join(argv), self.commands.get(argv)
        if frame is None or frame.status == "ok":
            return _answer(place, frame)
        if frame.exit_status in statuses and frame.text.strip():
            return PlaceAnswer(place, frame.text)
        if frame.status == "missing" and frame.reason == UNKEPT:
            return PlaceAnswer(place, None, UNKEPT)
        if frame.status == "missing" and not own:
            return PlaceAnswer(place, None, _UNINSTALLED)
        return _answer(place, frame)

    def at(self, place: Place) -> FactFrame | None:
        """What a file or a command answered, None when nothing did."""
        if isinstance(place, tuple):
            return self.commands.get(place)
        return self._of_file(place)

    def _of_file(self, path: str) -> FactFrame | None:
        """What the file said, else what others say of it: archives keep the one or the other."""
        frame = self.files.get(path)
        if frame is None or not _is_kept(frame):
            return self.derived.get(path) or frame
        return frame

    def matching(self, pattern: str) -> list[str]:
        """Paths that match ``pattern``, whose ``*`` stays within one folder, in their order."""
        files = self.files
        found = [path for path in self._paths.matching(pattern) if _is_there(files[path])]
        made = [
            path
            for path in _matching(self.derived, pattern)
            if path not in files or not _is_kept(files[path])
        ]
        if made:
            return sorted([*found, *made])
        return found

    @functools.cached_property
    def _paths(self) -> _FilePatterns:
        return _paths_of(tuple(self.files))

    def each(self, pattern: str) -> dict[str, str]:
        """The texts of all files that match, by path, "" for those that could not be read; of a
        file without a wildcard its text alone.
        """
        if "*" not in pattern:
            text = self.file(pattern).text
            return {} if text is None else {pattern: text}
        listed = self.globs.get(pattern)
        whole = listed is not None and listed.status == "ok" and not listed.truncated
        paths = listed.text.split() if listed and whole else self.matching(pattern)
        return {path: self.file(path).text or "" for path in paths}

    def was_listed(self, pattern: str) -> bool:
        """The host said what matches ``pattern``, though it be nothing."""
        return pattern in self.listed and not self.may_hide(pattern)

    def is_cut(self, pattern: str) -> bool:
        """Whether more files match than were listed."""
        listed = self.globs.get(pattern)
        return listed is not None and (listed.truncated or listed.status == "timeout")

    def may_hide(self, path: str) -> bool:
        """Whether ``path``, or what matches it, may be there though it is not found: it lies where
        a part alone is shown, or an archive does not keep it.
        """
        asked = self.globs.get(path)
        unkept = asked is not None and asked.reason == UNKEPT
        return unkept or (bool(self.hidden) and path.startswith(self.hidden))

    def _was_looked_for(self, path: str) -> bool:
        """A pattern that was listed and does not list ``path`` says that it is not there."""
        return matches_any(self.listed, path)


class _FilePatterns:
    """The places of files: like hosts have the same ones, and ask for the same patterns."""

    def __init__(self, paths: tuple[str, ...]) -> None:
        self._all = paths
        self._known: dict[str, list[str]] = {}

    def matching(self, pattern: str) -> list[str]:
        """Those that match, in their order."""
        found = self._known.get(pattern)
        if found is None:
            found = self._known[pattern] = sorted(_matching(self._all, pattern))
        return found


@functools.lru_cache(maxsize=64)
def _paths_of(paths: tuple[str, ...]) -> _FilePatterns:
    return _FilePatterns(paths)


def _matching(paths: Iterable[str], pattern: str) -> list[str]:
    matches = _compiled((pattern,)).fullmatch
    start = pattern.partition("*")[0]
    return [path for path in paths if path.startswith(start) and matches(path)]


def _is_there(frame: FactFrame) -> bool:
    return frame.status != "missing" and _is_kept(frame)


def _is_kept(frame: FactFrame) -> bool:
    return frame.reason not in (_HIDDEN, UNKEPT)


def matches_any(patterns: Iterable[str], path: str) -> bool:
    """Whether one of the patterns matches ``path``; a ``*`` stays within one folder."""
    return _compiled(tuple(patterns)).fullmatch(path) is not None


@functools.lru_cache(maxsize=1024)
def _compiled(patterns: tuple[str, ...]) -> re.Pattern[str]:
    """One expression for all patterns, of whose signs only ``*`` is one."""
    if not patterns:
        return re.compile(r"(?!)")
    return re.compile("|".join(re.escape(each).replace(r"\*", "[^/]*") for each in patterns))


def _answer(place: str, frame: FactFrame | None) -> PlaceAnswer:
    if frame is None:
        return PlaceAnswer(place, None, _UNASKED.get(place, "was not asked for"))
    if frame.status != "ok":
        why = " ".join(frame.reason.split()) or _WORDS[frame.status]
        lacking = frame.status == "missing" or (frame.status == "failed" and _UNSUPPORTED in why)
        return PlaceAnswer(place, None, why, absent=lacking)
    if "\0" in frame.text.rstrip("\0"):
        return PlaceAnswer(place, None, "holds bytes that are no text")
    return PlaceAnswer(place, frame.text)
