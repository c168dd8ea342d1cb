"""From a recipe to its commands."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import lru_cache

from wireproof.lint.rule import Recipe
from wireproof.lint.shell.command import Command, Heredoc, Redirect, Word
from wireproof.lint.shell.lex import Token, tokens
from wireproof.lint.shell.segment import Segment, indent, is_prose, segments
from wireproof.lint.shell.wrap import inner

__all__ = ["commands"]

_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=")
_KEYWORDS = frozenset(
    ("if", "then", "elif", "else", "fi", "while", "until", "do", "done", "{", "}", "!", "coproc")
)
_HEADS = frozenset(("for", "case", "select", "function", "esac", "in", "[[", "[", "test"))
NESTED = 8
"""How many wrappers may stand in front of one program."""


def commands(recipe: Recipe) -> list[Command]:
    """Every simple command, in order; of a wrapped command the wrapper first, then what it starts.
    Sentences and comments are left out. Never raises; time is linear in the size.
    """
    return list(_commands(recipe))


@lru_cache(maxsize=4)
def _commands(recipe: Recipe) -> tuple[Command, ...]:
    found: list[Command] = []
    for part in segments(recipe):
        found.extend(_segment(recipe, part))
    return tuple(found)


def _segment(recipe: Recipe, part: Segment) -> Iterator[Command]:
    lines = list(recipe.lines[part.first - 1 : part.last])
    bodies = _Bodies(lines)
    blanked: list[str] = []
    indents: list[int] = []
    continued = False
    for line in lines:
        sentence = not part.script and not continued and is_prose(line)
        shown = "" if sentence else line if part.script else _cut_remark(line)
        blanked.append(shown)
        indents.append(0 if part.script or continued else min(indent(shown), len(shown)))
        continued = line.rstrip(" \t\r").endswith("\\") and not sentence
    for number, line in enumerate(blanked):
        if line.endswith(("\\ ", "\\\r", "\\\t")) and not part.script:
            # a document's line end: the backslash was meant to continue
            blanked[number] = line.rstrip()
    stream = tokens(blanked, part.first, indents, spanning=part.script)
    yield from _simple(stream, recipe, part, bodies)


def _cut_remark(line: str) -> str:
    """Without ``// on the server``, which documents write behind commands; the length before it
    does not change.
    """
    at = line.find(" // ")
    return line if at < 0 else line[:at]


class _Bodies:
    """Finds the ends of here-documents in constant time each."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self.places: dict[str, list[int]] = {}
        for at, line in enumerate(lines):
            self.places.setdefault(line.strip(), []).append(at)

    def end(self, mark: str, after: int) -> int | None:
        """The index of the first line after ``after`` that is ``mark``."""
        places = self.places.get(mark, [])
        at = bisect_right(places, after)
        return places[at] if at < len(places) else None


def _simple(
    stream: Iterator[Token], recipe: Recipe, part: Segment, bodies: _Bodies
) -> Iterator[Command]:
    words: list[Word] = []
    redirects: list[Redirect] = []
    heredoc: Heredoc | None = None
    operator, skip = "", 0
    for token in stream:
        if token.line < skip:
            continue
        if isinstance(token, Word):
            if not operator:
                words.append(token)
            elif operator.startswith("<<") and operator != "<<<":
                heredoc = _heredoc(token, part, bodies)
                operator = ""
            else:
                redirects.append(Redirect(operator, token))
                operator = ""
        elif (
            token.text[-1] in "<>-&"
            and token.text not in ("&", "&&", "|&")
            and ("<" in token.text or ">" in token.text)
        ):
            operator = token.text
        else:
            yield from _command(words, redirects, heredoc, recipe)
            if heredoc is not None and token.text == "\n":
                skip = heredoc.line + len(heredoc.lines) + 1
            words, redirects, heredoc, operator = [], [], None, ""
    yield from _command(words, redirects, heredoc, recipe)


def _heredoc(mark: Word, part: Segment, bodies: _Bodies) -> Heredoc | None:
    at = mark.line - part.first
    end = bodies.end(mark.text, at)
    if end is None:
        return None
    return Heredoc(mark.line + 1, tuple(bodies.lines[at + 1 : end]))


def _command(
    words: list[Word], redirects: list[Redirect], heredoc: Heredoc | None, recipe: Recipe
) -> Iterator[Command]:
    while words and words[0].text in _KEYWORDS:
        words = words[1:]
    at = 0
    while at < len(words) and _ASSIGNMENT.match(words[at].text):
        at += 1
    assignments, rest = tuple(words[:at]), tuple(words[at:])
    everything = [*words, *(redirect.target for redirect in redirects)]
    if not everything or (rest and rest[0].text in _HEADS):
        return
    first, final = everything[0], everything[-1]
    last = max(word.line + word.raw.count("\n") for word in everything)
    text = _source(recipe, first, final)
    outer: tuple[Word, ...] = ()
    for _ in range(NESTED):
        yield Command(rest, first.line, last, text, assignments, tuple(redirects), heredoc, outer)
        start = inner(rest) if rest else None
        if start is None or start >= len(rest):
            return
        between = tuple(word for word in rest[:start] if _ASSIGNMENT.match(word.text))
        outer, rest, assignments = outer + rest[:start], rest[start:], assignments + between


def _source(recipe: Recipe, first: Word, final: Word) -> str:
    if first.line == final.line:
        return recipe.lines[first.line - 1][first.column - 1 : final.column - 1 + len(final.raw)]
    middle = recipe.lines[first.line : final.line - 1]
    tail = recipe.lines[final.line - 1][: final.column - 1 + len(final.raw)]
    return "\n".join((recipe.lines[first.line - 1][first.column - 1 :], *middle, tail))
