"""The style of output text, and its wrapping to a width: paragraphs and rows of cells become lines,
coloured if the output supports colour.
"""

from __future__ import annotations

import itertools
import os
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, NamedTuple, TextIO

import msgspec

from wireproof.report.names import clean, harmless

if TYPE_CHECKING:
    from wireproof.report.document import Head


# --- The style of output text: colour, width and alphabet.

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


class Look(msgspec.Struct, frozen=True):
    """The style that the destination of a text supports."""

    width: int = 80
    color: bool = False
    ascii: bool = False

    @classmethod
    def of(cls, stream: TextIO, environment: Mapping[str, str], columns: int | None = None) -> Look:
        """Return the look for ``stream``: colour only on a terminal without ``NO_COLOR`` and
        ``TERM=dumb``; ASCII if the encoding is not UTF-8.
        """
        color = (
            stream.isatty()
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
        """Return a text made safe, in the alphabet of the destination."""
        return self._spelt(clean(text, limit))

    def keep(self, text: str) -> str:
        """Return a command made safe, with all its characters and spaces, because people paste
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


_CODES = {"bold": "1", "dim": "2", "italic": "3", "red": "31", "green": "32", "yellow": "33"}
_WORD = re.compile(r"\s*\S+\s*|\s+")
_LONGEST = 100_000
"""Width in cells for a line that is not wrapped."""
_LEAST_ROOM = 20
"""Columns beside a mark; with fewer, the text begins in the line of the mark and goes on below."""
_NO_CELL = frozenset({"Mn", "Me", "Cf"})


class Piece(NamedTuple):
    """Text in one style: "", or words from ``bold dim italic red green yellow``."""

    text: str
    style: str = ""


class Paragraph(NamedTuple):
    """Pieces that are wrapped together, with every line indented by ``indent`` spaces. A line break
    in a piece ends the line.

    ``mark``: text before the first line, in the style ``ink``; the other lines are indented by its
    width. ``whole``: lines are not wrapped, because people paste them.
    """

    pieces: tuple[Piece, ...]
    indent: int = 0
    mark: str = ""
    whole: bool = False
    ink: str = ""

    @classmethod
    def of(cls, text: str, style: str = "", indent: int = 0) -> Paragraph:
        return cls((Piece(text, style),), indent)


def cell_length(text: str) -> int:
    """Return the number of terminal cells that ``text`` takes: wide characters take two, combining
    marks none.
    """
    return len(text) if text.isascii() else sum(map(_cells, text))


def _cells(char: str) -> int:
    if unicodedata.category(char) in _NO_CELL:
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def paint(paragraphs: Iterable[Paragraph], look: Look) -> str:
    """Return the lines, none wider than ``look``; "" without paragraphs."""
    lines: list[str] = []
    for pieces, indent, mark, whole, ink in paragraphs:
        lead = " " * indent + _inked(Piece(mark, ink), look.color)
        width = indent + cell_length(mark)
        if mark and not whole and look.width - width < _LEAST_ROOM:
            pieces, width = (Piece(f"{mark.rstrip()}  ", ink), *pieces), indent + 2
            lead = " " * indent
        for line in wrapped(pieces, _LONGEST if whole else look.width - width):
            shown = "".join(_inked(piece, look.color) for piece in line)
            lines.append((lead + shown).rstrip())
            lead = " " * width
    return "\n".join(lines) + "\n" if lines else ""


def _inked(piece: Piece, color: bool) -> str:
    if not (color and piece.style and piece.text):
        return piece.text
    codes = ";".join(_CODES[word] for word in piece.style.split())
    return f"\x1b[{codes}m{piece.text}\x1b[0m"


def wrapped(pieces: Sequence[Piece], width: int) -> Iterator[list[Piece]]:
    """Yield lines of at most ``width`` cells, broken between words. A word longer than a line
    starts a new line and is split.
    """
    whole = "".join(piece.text for piece in pieces)
    styles = [piece.style for piece in pieces for _ in piece.text]
    start = 0
    for line in whole.split("\n"):
        for low, high in _folds(line, max(1, width)):
            end = low + len(line[low:high].rstrip())
            yield _pieces(line[low:end], styles[start + low : start + end])
        start += len(line) + 1


def _pieces(text: str, styles: Sequence[str]) -> list[Piece]:
    groups = itertools.groupby(zip(text, styles, strict=True), key=lambda pair: pair[1])
    return [Piece("".join(char for char, _ in group), style) for style, group in groups]


def _folds(line: str, width: int) -> Iterator[tuple[int, int]]:
    begin = used = 0
    for match in _WORD.finditer(line) if cell_length(line) > width else ():
        low, high = match.span()
        if used and used + cell_length(match[0].rstrip()) > width:
            yield begin, low
            begin, used = low, 0
        for at in range(low, high):
            cells = _cells(line[at])
            if used + cells > width and not line[at].isspace():
                yield begin, at
                begin, used = at, 0
            used += cells
    yield begin, len(line)


_LEAST = 3


def fitting(
    heads: Sequence[Head], cells: Sequence[Sequence[str]], width: int
) -> tuple[list[int], int, list[str]]:
    """Return the indices of the columns that fit into ``width``, the gap between them, and the
    titles of the omitted columns.
    """
    need = [
        max([cell_length(row[i]) for row in cells] + [cell_length(head.title)])
        for i, head in enumerate(heads)
    ]
    kept = list(range(len(heads)))
    dropped: list[str] = []
    while True:
        for gap in (2, 1):
            if sum(need[i] for i in kept) + gap * (len(kept) - 1) <= width or len(kept) <= _LEAST:
                return kept, gap, dropped
        least = min(kept, key=lambda i: heads[i].keep)
        kept.remove(least)
        dropped.append(heads[least].title)


def grid(
    heads: Sequence[Head], cells: Sequence[Sequence[str]], styles: Sequence[str], look: Look
) -> tuple[list[Paragraph], list[str]]:
    """Return the lines of the table, one style per row, and the titles of omitted columns.

    ``cells`` must be safe text. Cells that are wider than their column are wrapped.
    """
    kept, gap, dropped = fitting(heads, cells, look.width)
    rows = [[look.say(heads[i].title) for i in kept], *([row[i] for i in kept] for row in cells)]
    widths = [max(cell_length(row[at]) for row in rows) for at in range(len(kept))]
    while sum(widths) + gap * (len(kept) - 1) > look.width:
        widths[widths.index(max(widths))] -= 1
    lefts = [heads[i].left for i in kept]
    lines: list[Paragraph] = []
    for row, style in zip(rows, ["dim", *styles], strict=True):
        for line in _folded(row, widths):
            joined = (" " * gap).join(map(_aligned, line, widths, lefts))
            lines.append(Paragraph.of(joined.rstrip(), style))
    return lines, dropped


def _folded(row: Sequence[str], widths: Sequence[int]) -> Iterator[tuple[str, ...]]:
    folded = (
        ["".join(piece.text for piece in line) for line in wrapped([Piece(cell)], width)]
        for cell, width in zip(row, widths, strict=True)
    )
    return zip_longest(*folded, fillvalue="")


def _aligned(cell: str, width: int, left: bool) -> str:
    blanks = " " * (width - cell_length(cell))
    return cell + blanks if left else blanks + cell
