"""Words of a command line, here-documents, and the corrected line of a fix."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType

from wireproof.lint.rule import Broken, Recipe

__all__ = [
    "Command",
    "Edit",
    "Heredoc",
    "Redirect",
    "Word",
    "at_word",
    "corrected",
    "heredocs",
    "lines_inside",
]


@dataclass(frozen=True, slots=True)
class Word:
    """``text`` has its quotes and backslashes removed (variables stay as written); ``raw`` is the
    source's text, which starts at ``line`` and ``column`` (both from 1, columns in characters).
    """

    text: str
    line: int
    column: int
    raw: str


@dataclass(frozen=True, slots=True)
class Redirect:
    """``operator`` is ``>``, ``>>``, ``<``, ``2>`` … ; ``target`` the file, or ``&1``."""

    operator: str
    target: Word


@dataclass(frozen=True, slots=True)
class Heredoc:
    """The lines between ``<<EOF`` and ``EOF``; ``line`` is the first of them (from 1). ``quoted``:
    the shell leaves variables in it as they are.
    """

    line: int
    lines: tuple[str, ...]
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class Command:
    """One simple command. ``words[0]`` is the program, or the first option where a document shows
    options only; empty when the line only assigns. ``line`` to ``last`` are its physical lines;
    ``text`` is its source. ``outer`` are the words of the wrappers that start it (``sudo``, ``pdsh
    -w c1``, ``mpirun -n 2`` …). ``piped``: its output goes to the next command.
    """

    words: tuple[Word, ...]
    line: int
    last: int
    text: str
    assignments: tuple[Word, ...] = ()
    redirects: tuple[Redirect, ...] = ()
    heredoc: Heredoc | None = None
    outer: tuple[Word, ...] = field(default=())
    piped: bool = False

    @property
    def program(self) -> str:
        """The program's name without its folder, "" when there is none."""
        return self.words[0].text.rsplit("/", 1)[-1] if self.words else ""

    @property
    def texts(self) -> tuple[str, ...]:
        """The words' texts."""
        return tuple(word.text for word in self.words)


_OPENING = re.compile(r"(?<!<)<<-?[ \t]{0,4}(['\"\\]?)([A-Za-z_!%@][\w.!%@+-]{0,60})(?!<)")
_LONGEST_MARK = 70
_LONGEST_LINE = 2000


@lru_cache(maxsize=4)
def heredocs(recipe: Recipe) -> Mapping[int, Heredoc]:
    """The here-documents by the number of the line that opens them; one without its end is none."""
    places: dict[str, list[int]] = {}
    for number, line in enumerate(recipe.lines, 1):
        if len(line) < _LONGEST_MARK:
            places.setdefault(line.strip(), []).append(number)
    found: dict[int, Heredoc] = {}
    end = 0
    for number, line in enumerate(recipe.lines, 1):
        if number <= end or "<<" not in line or line.lstrip().startswith("#"):
            continue
        opening = _OPENING.search(line[:_LONGEST_LINE])
        ends = places.get(opening[2], []) if opening else []
        at = bisect_right(ends, number)
        if opening and at < len(ends):
            end = ends[at]
            body = tuple(recipe.lines[number : end - 1])
            found[number] = Heredoc(number + 1, body, quoted=bool(opening[1]))
    return MappingProxyType(found)


@lru_cache(maxsize=4)
def lines_inside(recipe: Recipe) -> frozenset[int]:
    """The numbers of the lines inside of here-documents: data of the script, not its commands."""
    return frozenset(
        number
        for one in heredocs(recipe).values()
        for number in range(one.line, one.line + len(one.lines))
    )


Edit = tuple[Word, str]
"""The word that is replaced, and its new source text; "" takes the word and one blank before it
away.
"""


def corrected(recipe: Recipe, edits: Iterable[Edit], first: int, last: int | None = None) -> str:
    """The lines ``first`` to ``last`` (from 1) with the edits done, joined by newlines: a ``fix``.

    All words must stand on these lines, each on one line only.
    """
    last = first if last is None else last
    lines = list(recipe.lines[first - 1 : last])
    for word, new in sorted(edits, key=lambda edit: (edit[0].line, edit[0].column), reverse=True):
        at = word.line - first
        if not 0 <= at < len(lines):
            continue
        line, begin = lines[at], word.column - 1
        if line[begin : begin + len(word.raw)] != word.raw:
            continue
        before = line[:begin]
        if not new and before.endswith(" "):
            before = before[:-1]
        lines[at] = before + new + line[begin + len(word.raw) :]
    return "\n".join(lines)


def at_word(
    code: str, word: Word, seen: str = "", fix: str | None = None, last: int | None = None
) -> Broken:
    """``code`` broken at ``word``."""
    return Broken(code, word.line, word.column, seen, fix, last)
