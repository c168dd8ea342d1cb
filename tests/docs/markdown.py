"""The fenced blocks, command spans, headings and links of the project's Markdown pages.

A comment above a block says what its test has to know, ``<!-- test: measured; needs netns -->``:

=================  ================================================================================
``not run: WHY``   the commands are parsed and not started, for this reason
``measured``       numbers differ from run to run: another number in a number's place is the same
``needs NAMES``    capabilities, as the markers of pytest name them
``with NAME=VAL``  a variable of the environment of the block's commands
``file NAME``      the block is this file, for the commands below it on the page
``read as KIND``   the reader of ours that must accept the block
``synopsis``       the block shows the form of a command
=================  ================================================================================
"""

import dataclasses
import functools
import re
from collections.abc import Iterator
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

import pages as site

ROOT = Path(__file__).resolve().parents[2]
TEXTS = site.pages()
"""The pages of the site, with what is made from the code."""
_NOTE = re.compile(r"\s*<!--\s*test:\s*(.*?)\s*-->\s*", re.DOTALL)
_WORDS = ("measured", "needs", "with", "file", "read as", "synopsis")


@dataclasses.dataclass(frozen=True)
class Block:
    """A fenced block: ``tag`` is the first word behind the fence, ``line`` that of the fence."""

    page: str
    line: int
    tag: str
    text: str
    note: dict[str, str]

    @property
    def place(self) -> str:
        return f"{self.page}:{self.line}"

    @property
    def needs(self) -> list[str]:
        return self.note.get("needs", "").split()


def pages() -> list[str]:
    """Every page of the site whose commands are tried, by its path."""
    return sorted(TEXTS.keys() - {"CHANGELOG.md", "packaging/README.md"})


@functools.cache
def tokens(page: str) -> list[Token]:
    return MarkdownIt("commonmark").enable("table").parse(TEXTS[page])


def blocks(page: str) -> list[Block]:
    """In their order on ``page``. Raises ValueError for a note that says nothing known."""
    found, note = [], ""
    for token in tokens(page):
        if token.type == "fence" and token.map:
            tag = (token.info.split() or [""])[0]
            line = token.map[0] + 1
            place = f"{page}:{line}"
            found.append(Block(page, line, tag, token.content, parsed_note(note, place)))
        elif note and not token.type.endswith("_open"):
            raise ValueError(f"{page}: the note {note!r} stands above no block")
        matched = _NOTE.fullmatch(token.content) if token.type == "html_block" else None
        note = matched[1] if matched else ""
    return found


def parsed_note(note: str, place: str) -> dict[str, str]:
    """``measured; needs netns`` as a table. Raises ValueError."""
    note, _, reason = note.partition("not run:")
    table = {"not run:": reason.strip()} if reason else {}
    for part in filter(None, re.split(r"\s*;\s*", note)):
        word = next((one for one in _WORDS if part == one or part.startswith(one + " ")), None)
        if word is None:
            raise ValueError(f"{place}: {part!r} is none of {', '.join(_WORDS)}")
        table[word] = part.removeprefix(word).strip()
    return table


def spans(page: str) -> Iterator[tuple[str, str]]:
    """(place, text) of each piece of inline code."""
    for token in tokens(page):
        for child in token.children or ():
            if child.type == "code_inline":
                yield f"{page}:{(token.map or [0])[0] + 1}", child.content


def links(page: str) -> Iterator[str]:
    """Where the links and pictures of ``page`` lead."""
    for token in tokens(page):
        for child in token.children or ():
            target = child.attrGet("href") or child.attrGet("src")
            if target is not None:
                yield str(target)


def anchors(page: str) -> set[str]:
    """The names of the headings, as GitHub makes them."""
    found: dict[str, int] = {}
    names = set()
    for at, token in enumerate(tokens(page)):
        if token.type == "heading_open":
            inline = tokens(page)[at + 1]
            text = "".join(one.content for one in inline.children or ())
            name = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
            again = found.get(name, 0)
            found[name] = again + 1
            names.add(f"{name}-{again}" if again else name)
    return names
