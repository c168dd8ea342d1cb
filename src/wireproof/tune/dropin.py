"""Drop-in files of our own: what stands there now, plus our lines. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable

from wireproof.tune.settings_files import written_in

__all__ = ["HEAD", "is_text", "key_of", "merged", "set_lines"]

HEAD = "# Written by wireproof tune; undone by wireproof tune revert."
_LIMIT = re.compile(r"(\S+\s+(?:-|soft|hard)\s+\w+)\s.*")


_NO_TEXT = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ufffd]")
"""Control characters, and what stands for bytes that are no UTF-8."""


def is_text(text: str) -> bool:
    """Whether a host takes it, whole, for a drop-in."""
    return len(text.encode("utf-8", "replace")) <= 65536 and not _NO_TEXT.search(text)


def key_of(path: str, line: str) -> str:
    """What a line sets; two lines with the same key set the same thing, however they are spaced."""
    written = written_in(path, line)
    if len(written) == 1 and not written[0].whom:
        return written[0].place
    found = _LIMIT.fullmatch(line) if "/limits.d/" in path else None
    return " ".join(found[1].split()) if found else line


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
