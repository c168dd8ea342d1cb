"""Where in a script or a document a command is wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from wireproof.lint.rule import Broken, Check, Kind, Recipe
from wireproof.lint.shell import Command, Edit, Word, commands, corrected

__all__ = ["COMMANDS", "by_program", "is_commands", "on", "option_value"]

COMMANDS: tuple[Kind, ...] = ("script", "unknown")
CommandCheck = Callable[[Recipe, Command], Iterator[Broken]]


def is_commands(recipe: Recipe) -> bool:
    """Whether the recipe may hold commands."""
    return recipe.kind in COMMANDS


def by_program(judges: dict[str, CommandCheck]) -> Check:
    """A check that hands every command to the judge of its program."""

    def check(recipe: Recipe) -> Iterator[Broken]:
        if not is_commands(recipe):
            return
        for command in commands(recipe):
            judge = judges.get(command.program)
            if judge is not None:
                yield from judge(recipe, command)

    return check


def on(
    code: str,
    recipe: Recipe,
    command: Command,
    word: Word,
    seen: str = "",
    edits: Iterable[Edit] | None = None,
) -> Broken:
    """``code`` broken at ``word``; with ``edits`` the command's corrected lines are the fix."""
    fix = None if edits is None else corrected(recipe, edits, command.line, command.last)
    last = command.last if fix is not None and command.last > command.line else None
    line = command.line if last else word.line
    if fix is not None and last is None and word.line != command.line:
        fix = None
    return Broken(code, line, word.column, seen or word.text[:160], fix, last)


def option_value(command: Command, *names: str) -> Word | None:
    """The word behind the first of the options ``names``."""
    for at, word in enumerate(command.words[:-1]):
        if word.text in names:
            return command.words[at + 1]
    return None
