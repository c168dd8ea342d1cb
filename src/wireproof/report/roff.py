"""Manual pages: texts in roff with the ``man`` macros. Nothing in a text is taken for a request."""

import re
from collections.abc import Iterable

from wireproof.report.names import clean

_GLYPHS = str.maketrans(
    {
        "\\": r"\(rs",
        "-": r"\-",  # a plain one is a typographic hyphen, which no shell takes when it is pasted
        "'": r"\(aq",
        '"': r"\(dq",
        "`": r"\(ga",
        "^": r"\(ha",
        "~": r"\(ti",
        "…": "...",
    }
)


def literal(text: str) -> str:
    """One line as it is: no escape, no request at its start, ASCII alone."""
    line = clean(text, 4000).translate(_GLYPHS)
    line = "".join(char if char.isascii() else rf"\[u{ord(char):04X}]" for char in line)
    return rf"\&{line}" if line.startswith(".") else line


def _kept(line: str) -> str:
    """A line with its blanks, in a block that is not filled."""
    words = line.rstrip()
    inner = words.lstrip()
    parts = (literal(part) if part.strip() else part for part in re.split(r"( {2,})", inner))
    return rf"\&{' ' * (len(words) - len(inner))}{''.join(parts)}"


def title(name: str, number: int, source: str, manual: str) -> list[str]:
    """The first lines. They have no date: the same sources make the same page."""
    heading = f'.TH "{name.upper()}" "{number}" "" "{literal(source)}" "{literal(manual)}"'
    return [heading, ".nh", ".ad l"]


def section(text: str) -> str:
    return f'.SH "{literal(text.upper())}"'


def subsection(text: str) -> str:
    return f'.SS "{literal(text)}"'


def paragraphs(text: str) -> list[str]:
    r"""Paragraphs of a help text; one that begins with ``\b`` keeps its lines."""
    lines: list[str] = []
    for block in re.split(r"\n[ \t]*\n", text.strip("\n")):
        first, _, rest = block.partition("\n")
        if first.strip() == "\b":
            lines += verbatim(rest.split("\n"))
        elif block.strip():
            lines += [".PP", literal(block)]
    return lines


def verbatim(kept: Iterable[str]) -> list[str]:
    """Lines that are not filled: commands, tables."""
    return [".PP", ".RS 4", ".nf", *map(_kept, kept), ".fi", ".RE"]


def entry(term: str, text: str) -> list[str]:
    """A term of a list: what is typed as it stands is bold, a value's name is italic."""
    words = term.split()
    typed = not term.startswith("-")
    marked = [_marked(one, typed=typed or one[0] == "-" or one.islower()) for one in words]
    return [".TP", " ".join(marked), literal(text) or r"\&"]


def _marked(word: str, *, typed: bool) -> str:
    return rf"\f{'B' if typed else 'I'}{literal(word)}\fR"
