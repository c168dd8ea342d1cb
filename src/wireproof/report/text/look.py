"""How output text may look: colour, width and alphabet are decided here."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TextIO

from wireproof.report.names import clean, harmless

_ASCII = {
    "µ": "u",
    "±": "+-",
    "→": "->",
    "…": "...",
    "×": "x",
    "≥": ">=",
    "≤": "<=",
    "–": "-",
    "—": "-",
    "↔": "<->",
}


@dataclass(frozen=True)
class Look:
    """How text may look at its destination."""

    width: int = 80
    color: bool = False
    ascii: bool = False

    @classmethod
    def of(cls, stream: TextIO, environment: Mapping[str, str], columns: int | None = None) -> Look:
        """Return the look for ``stream``: colour only on a terminal without ``NO_COLOR`` and
        ``TERM=dumb``; ASCII if the encoding is not UTF-8.
        """
        terminal = stream.isatty()
        color = (
            terminal
            and not environment.get("NO_COLOR")
            and environment.get("TERM", "") not in ("", "dumb")
        )
        encoding = (getattr(stream, "encoding", None) or "ascii").lower().replace("-", "")
        asked = environment.get("COLUMNS", "")
        width = columns or (
            int(asked) if asked.isascii() and asked.isdigit() else _columns_of(stream)
        )
        return cls(
            width=max(40, min(width, 160)), color=color, ascii=not encoding.startswith("utf")
        )

    def say(self, text: object, limit: int = 400) -> str:
        """Return any text made safe, in the alphabet of the destination."""
        return self._spelt(clean(text, limit))

    def keep(self, text: str) -> str:
        """Return a command made safe, with all its characters and blanks, because people paste
        it.
        """
        return self._spelt(harmless(text))

    def _spelt(self, line: str) -> str:
        if self.ascii:
            for char, stand_in in _ASCII.items():
                line = line.replace(char, stand_in)
            line = line.encode("ascii", "backslashreplace").decode("ascii")
        return line


def _columns_of(stream: TextIO) -> int:
    """Return the width of the terminal; 80 if there is none or its width is unknown."""
    try:
        return os.get_terminal_size(stream.fileno()).columns or 80
    except (OSError, ValueError):
        return 80


PLAIN = Look()
"""80 columns without colour, as in a file."""
