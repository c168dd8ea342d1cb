# pure
"""Store the raw texts of one host, by the place from which they were read. Pure."""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import msgspec

from wireproof.model.record import FactFrame

Place = str | tuple[str, ...]
"""A file's path or a command's argument list."""

WHOSE = "limits-of"
"""The fact that names the process whose limits and cores /proc/self shows."""
_OWN = "/proc/self/"

_WORDS = {
    "missing": "does not exist",
    "denied": "cannot be read without root",
    "timeout": "did not answer in time",
    "failed": "could not be read",
}
_UNSUPPORTED = "Operation not supported"
"""EOPNOTSUPP: the driver lacks the feature, which is a valid answer."""
UNKEPT = "is not in the archive"
"""Reason for places that an archive does not keep: the host itself may have an answer."""
_UNINSTALLED = "is not installed there"
_LISTED = ("ok", "missing")
_WITNESSES = {
    "/sys/": "/sys/devices/system/cpu/online",
    "/proc/sys/": "/proc/sys/kernel/osrelease",
}
"""For each folder, a file that every Linux has. If it is missing, the folder is only partly
visible, as in some containers and archives, and other missing files may be hidden.
"""
_HIDDEN = "is missing, as are files that every Linux has: the folder is only partly visible"
_UNASKED = {
    "bios": "is read from the management controller: give --bmc",
    "environment": "belongs to a job: run the audit inside a job",
}


class PlaceAnswer(NamedTuple):
    """The answer of a place. ``text``: None if there is none, for the reason ``why``. ``absent``:
    the place is known not to exist.
    """

    place: str
    text: str | None
    why: str = ""
    absent: bool = False


@dataclass(frozen=True)
class HostFacts:
    """Files by path and commands by argument list, as a host answered. ``listed``: patterns whose
    matches are known. ``derived``: files computed from other answers. ``hidden``: folders that are
    only partly visible. ``unkept``: patterns of which an archive keeps nothing.
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
        """Collect the frames of one rank; duplicates count once."""
        facts = cls(host)
        listed, unkept = list[str](), list[str]()
        for frame in frames:
            if frame.kind == "command":
                facts.commands.setdefault(tuple(frame.argv), frame)
            elif frame.kind == "file":
                facts.files.setdefault(frame.path, frame)
            else:
                facts.globs.setdefault(frame.path, frame)
                if frame.status in _LISTED:
                    listed.append(frame.path)
                if frame.reason == UNKEPT:
                    unkept.append(frame.path)
        facts = dataclasses.replace(facts, listed=tuple(listed), unkept=tuple(unkept))
        return facts._with_hidden()

    def _with_hidden(self) -> HostFacts:
        """Mark missing files as unknown in folders that are only partly visible."""
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
        if frame is None and matches_any(self.listed, path):
            if self.may_hide(path):
                return PlaceAnswer(path, None, _HIDDEN)
            return PlaceAnswer(path, None, _WORDS["missing"], absent=True)
        if frame is None and matches_any(self.unkept, path):
            return PlaceAnswer(path, None, UNKEPT)
        return _answer(path, frame)

    def line(self, path: str) -> str:
        """Return the stripped text of a file, "" if there is none."""
        return (self.file(path).text or "").strip()

    def command(
        self, argv: tuple[str, ...], statuses: Sequence[int] = (), own: bool = True
    ) -> PlaceAnswer:
        """Return the output of a command. ``statuses``: exit statuses besides 0 for which the
        output counts. ``own``: a host without the command also lacks the feature that the command
        reports.
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
        """Return the answer of a file or command, None if there is none."""
        if isinstance(place, tuple):
            return self.commands.get(place)
        return self._of_file(place)

    def _of_file(self, path: str) -> FactFrame | None:
        """Return the answer of the file, else the derived answer: archives keep one or
        the other.
        """
        frame = self.files.get(path)
        if frame is None or not _is_kept(frame):
            return self.derived.get(path) or frame
        return frame

    def matching(self, pattern: str) -> list[str]:
        """Return the paths that match ``pattern``, sorted; ``*`` stays within a folder."""
        files = self.files
        kept = [path for path in self._paths(pattern) if _is_there(files[path])]
        derived = [
            path
            for path in _matching(self.derived, pattern)
            if path not in files or not _is_kept(files[path])
        ]
        if derived:
            return sorted([*kept, *derived])
        return kept

    @functools.cached_property
    def _paths(self) -> Callable[[str], list[str]]:
        return _paths_of(tuple(self.files))

    def each(self, pattern: str) -> dict[str, str]:
        """Return the texts of all matching files by path, "" for unreadable files; for a path
        without wildcard, only its text.
        """
        if "*" not in pattern:
            text = self.file(pattern).text
            return {} if text is None else {pattern: text}
        listed = self.globs.get(pattern)
        whole = listed is not None and listed.status == "ok" and not listed.truncated
        paths = listed.text.split() if listed and whole else self.matching(pattern)
        return {path: self.file(path).text or "" for path in paths}

    def was_listed(self, pattern: str) -> bool:
        """Return whether the host listed the matches of ``pattern``, even if there are none."""
        return pattern in self.listed and not self.may_hide(pattern)

    def is_cut(self, pattern: str) -> bool:
        """Return whether more files match than were listed."""
        listed = self.globs.get(pattern)
        return listed is not None and (listed.truncated or listed.status == "timeout")

    def may_hide(self, path: str) -> bool:
        """Return whether ``path``, or its matches, may exist although not found: the folder is only
        partly visible, or an archive does not keep it.
        """
        asked = self.globs.get(path)
        unkept = asked is not None and asked.reason == UNKEPT
        return unkept or (bool(self.hidden) and path.startswith(self.hidden))


@functools.lru_cache(maxsize=64)
def _paths_of(paths: tuple[str, ...]) -> Callable[[str], list[str]]:
    """Return a function for the sorted paths that match a pattern. Similar hosts share paths and
    patterns, so both are cached.
    """
    return functools.cache(lambda pattern: sorted(_matching(paths, pattern)))


def _matching(paths: Iterable[str], pattern: str) -> list[str]:
    matches = _compiled((pattern,)).fullmatch
    start = pattern.partition("*")[0]
    return [path for path in paths if path.startswith(start) and matches(path)]


def _is_there(frame: FactFrame) -> bool:
    return frame.status != "missing" and _is_kept(frame)


def _is_kept(frame: FactFrame) -> bool:
    return frame.reason not in (_HIDDEN, UNKEPT)


def matches_any(patterns: Iterable[str], path: str) -> bool:
    """Return whether any pattern matches ``path``; ``*`` stays within a folder."""
    return _compiled(tuple(patterns)).fullmatch(path) is not None


def first_match(pattern: str, text: str) -> str:
    """Return the group of the first line or part of ``text`` that matches; "" if none does."""
    match = re.search(pattern, text, re.MULTILINE)
    return (match[1] or "") if match else ""


def sections(heading: re.Pattern[str], text: str) -> Iterator[tuple[re.Match[str], str]]:
    """Yield each heading with the text below it, up to the next heading."""
    heads = list(heading.finditer(text))
    for head, end in zip(heads, [*(head.start() for head in heads[1:]), len(text)], strict=False):
        yield head, text[head.end() : end]


@functools.lru_cache(maxsize=1024)
def _compiled(patterns: tuple[str, ...]) -> re.Pattern[str]:
    """Compile all patterns into a single expression; only ``*`` is special."""
    if not patterns:
        return re.compile(r"(?!)")
    return re.compile("|".join(re.escape(pattern).replace(r"\*", "[^/]*") for pattern in patterns))


def _answer(place: str, frame: FactFrame | None) -> PlaceAnswer:
    if frame is None:
        return PlaceAnswer(place, None, _UNASKED.get(place, "was not asked for"))
    if frame.status != "ok":
        why = " ".join(frame.reason.split()) or _WORDS[frame.status]
        lacking = frame.status == "missing" or (frame.status == "failed" and _UNSUPPORTED in why)
        return PlaceAnswer(place, None, why, absent=lacking)
    if "\0" in frame.text.rstrip("\0"):
        return PlaceAnswer(place, None, "contains bytes that are not text")
    return PlaceAnswer(place, frame.text)
