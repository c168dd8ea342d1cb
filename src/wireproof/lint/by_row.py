"""The rules that are rows: finds where a line or a command breaks one. The rows about variables
stand in ``script.variables``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from wireproof.lint.admin.by_program import on
from wireproof.lint.files.nearest import nearest
from wireproof.lint.rule import Broken, Check, CommandRow, LineRow, Recipe, compiled, filled
from wireproof.lint.rules import book
from wireproof.lint.shell import Command, Word, commands
from wireproof.lint.written import LONGEST_LINE

__all__ = ["CHECKS"]


def by_line(recipe: Recipe) -> Iterator[Broken]:
    """The rows ``[[line]]``."""
    for row in book().line:
        if recipe.kind in book().rules[row.code].kinds:
            for number, line in enumerate(recipe.lines, start=1):
                yield from _in_line(row, number, line)


def _in_line(row: LineRow, number: int, line: str) -> Iterator[Broken]:
    text = line[:LONGEST_LINE]
    for match in compiled(row.match).finditer(text):
        if row.unless and compiled(row.unless).search(text):
            return
        change = None if row.change is None else match.expand(row.change)
        fix = None if change is None else line[: match.start()] + change + line[match.end() :]
        seen = filled(match.expand(row.seen), match=match.group()[:120])
        yield Broken(row.code, number, match.start() + 1, seen, fix)


def by_command(recipe: Recipe) -> Iterator[Broken]:
    """The rows ``[[command]]``."""
    if recipe.kind not in ("script", "unknown"):
        return
    for command in commands(recipe):
        for row in book().command if command.words else ():
            if compiled(row.program).fullmatch(command.program) and _fits(row, recipe, command):
                yield from _in_command(row, recipe, command)


def _fits(row: CommandRow, recipe: Recipe, command: Command) -> bool:
    if row.where and not compiled(row.where).search(command.text):
        return False
    if row.unless and compiled(row.unless).search(command.text):
        return False
    around = (line[:LONGEST_LINE] for line in recipe.lines) if row.elsewhere else ()
    return not any(compiled(row.elsewhere).search(line) for line in around)


def _in_command(row: CommandRow, recipe: Recipe, command: Command) -> Iterator[Broken]:
    """Each wrong word; of those that are changed the first, with a fix that changes them all."""
    words = [(word, row.hit(word.raw, word.text)) for word in _words(row, command)]
    wrong = [(word, match) for word, match in words if match is not None]
    changes = [(word, _change(row, word, match)) for word, match in wrong]
    edits = [(word, change) for word, change in changes if change is not None]
    for word, _ in wrong[:1] if edits else wrong:
        values = str(word.text.count(",") + 1)
        names = {"command": command.text, "program": command.program, "values": values}
        seen = filled(row.seen, word=word.text[:160], **names)
        yield on(row.code, recipe, command, word, seen, edits or None)


def _change(row: CommandRow, word: Word, match: re.Match[str]) -> str | None:
    """What takes the word's place, None if a person must decide."""
    if row.choices:
        lower = word.text.lower()
        return row.meant.get(lower) or nearest(lower, row.choices, row.likeness)
    return None if row.change is None else match.expand(row.change)


def _words(row: CommandRow, command: Command) -> tuple[Word, ...]:
    words = command.words
    if row.option:
        pairs = pairwise(words)
        return tuple(value for name, value in pairs if name.text in row.option)
    if row.place:
        return words[row.place : row.place + 1]
    return words[1:] if row.word else words[:1]


CHECKS: tuple[Check, ...] = (by_line, by_command)
