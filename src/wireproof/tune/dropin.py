"""Drop-in files of our own: what stands there now, plus our lines. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable

from wireproof.tune.settings_files import written_in

__all__ = ["HEAD", "key_of", "merged", "set_lines"]

HEAD = "# Written by wireproof tune; undone by wireproof tune revert."
_KEYS = (
    (re.compile(r"(\S+\s+-\s+\w+)\s.*"), "limits.d"),
    (re.compile(r'(ACTION.*ATTR\{[^}]*\})=".*"'), "rules.d"),
    (re.compile(r'(ACTION.*RUN\+="\S+ \S+ \S+ \S+) .*"'), "rules.d"),
)


def key_of(path: str, line: str) -> str:
    """What a line sets; two lines with the same key set the same thing, however they are spaced."""
    written = written_in(path, line)
    if len(written) == 1:
        return written[0].place
    for pattern, folder in _KEYS:
        if f"/{folder}/" in path and (found := pattern.fullmatch(line)):
            return " ".join(found[1].split())
    return line


def merged(path: str, now: str | None, lines: Iterable[str]) -> str:
    """The text of the drop-in with ``lines``: in the place of those that set the same, else at its
    end. Lines of others stay as they are.
    """
    wanted = {key_of(path, line): line for line in lines}
    out: list[str] = []
    for line in (now or HEAD).splitlines():
        key = key_of(path, line.strip())
        if key not in wanted:
            out.append(line)
        elif wanted[key] not in out:
            out.append(wanted[key])
    out += [line for line in wanted.values() if line not in out]
    return "\n".join(out) + "\n"


def set_lines(text: str) -> list[str]:
    """The lines of a drop-in that set something."""
    stripped = (line.strip() for line in text.splitlines())
    return [line for line in stripped if line and line[0] not in "#;"]
