"""Manual pages: text in roff with the ``man`` macros. No text is interpreted as a request."""

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
    """Return one line that roff prints unchanged: no escapes, no request at its start, ASCII
    only.
    """
    line = clean(text, 4000).translate(_GLYPHS)
    line = "".join(char if char.isascii() else rf"\[u{ord(char):04X}]" for char in line)
    return rf"\&{line}" if line.startswith(".") else line


def _kept(line: str) -> str:
    """Return a line with its blanks, for a block that is not filled."""
    words = line.rstrip()
    inner = words.lstrip()
    parts = (literal(part) if part.strip() else part for part in re.split(r"( {2,})", inner))
    return rf"\&{' ' * (len(words) - len(inner))}{''.join(parts)}"


def title(name: str, number: int, source: str, manual: str) -> list[str]:
    """Return the first lines. They have no date, so the same sources give the same page."""
    heading = f'.TH "{name.upper()}" "{number}" "" "{literal(source)}" "{literal(manual)}"'
    return [heading, ".nh", ".ad l"]


def section(text: str) -> str:
    return f'.SH "{literal(text.upper())}"'


def subsection(text: str) -> str:
    return f'.SS "{literal(text)}"'


def paragraphs(text: str) -> list[str]:
    r"""Return the paragraphs of a help text; a paragraph that begins with ``\b`` keeps its
    lines.
    """
    lines: list[str] = []
    for block in re.split(r"\n[ \t]*\n", text.strip("\n")):
        first, _, rest = block.partition("\n")
        if first.strip() == "\b":
            lines += verbatim(rest.split("\n"))
        elif block.strip():
            lines += [".PP", literal(block)]
    return lines


def verbatim(kept: Iterable[str]) -> list[str]:
    """Return lines that are not filled: commands, tables."""
    return [".PP", ".RS 4", ".nf", *map(_kept, kept), ".fi", ".RE"]


def entry(term: str, text: str) -> list[str]:
    """Return an entry of a definition list: literal words are bold, names of values italic."""
    words = term.split()
    typed = not term.startswith("-")
    marked = [_marked(one, typed=typed or one[0] == "-" or one.islower()) for one in words]
    return [".TP", " ".join(marked), literal(text) or r"\&"]


def _marked(word: str, *, typed: bool) -> str:
    return rf"\f{'B' if typed else 'I'}{literal(word)}\fR"
