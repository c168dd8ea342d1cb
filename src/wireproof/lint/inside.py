"""Files that a script writes: here-documents and ``echo LINE >> FILE``, judged as the file that
they become.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from wireproof.lint.kinds import kind_of_name
from wireproof.lint.rule import Kind, Recipe
from wireproof.lint.shell import Command, commands

__all__ = ["Written", "written"]

MOST = 200
"""Files inside of one script that are looked at."""


@dataclass(frozen=True, slots=True)
class Written:
    """A file inside of a script. ``above`` lines of the script stand before its first line.
    ``expanded``: the script's shell puts in the values of variables.
    """

    recipe: Recipe
    above: int
    expanded: bool


_SUBMITTERS = ("sbatch", "bash", "sh", "salloc", "ssh")


def written(recipe: Recipe) -> Iterator[Written]:
    """The files that ``recipe`` (a script) writes and whose kind is known; of very many the
    first.
    """
    yield from islice(_written(recipe), MOST)


def _written(recipe: Recipe) -> Iterator[Written]:
    seen: set[int] = set()
    for command in commands(recipe):
        if command.line in seen or not command.words:
            continue
        if command.heredoc is not None:
            kind = _kind(command)
            if kind is not None:
                seen.add(command.line)
                opening = recipe.lines[command.heredoc.line - 2]
                quoted = bool(re.search(r"<<-?\s*['\"\\]", opening[:2000]))
                inner = Recipe(recipe.name, kind, command.heredoc.lines)
                yield Written(inner, command.heredoc.line - 1, not quoted)
        elif command.program in ("echo", "printf"):
            yield from _echoed(recipe, command)


def _target(command: Command) -> str:
    targets = [redirect.target.text for redirect in command.redirects if ">" in redirect.operator]
    if command.program == "tee":
        targets += [text for text in command.texts[1:] if not text.startswith("-")]
    return targets[-1] if targets else ""


def _kind(command: Command) -> Kind | None:
    if command.program in _SUBMITTERS:
        return "script"
    return kind_of_name(_target(command))


def _echoed(recipe: Recipe, command: Command) -> Iterator[Written]:
    kind = kind_of_name(_target(command))
    words = [word for word in command.words[1:] if not word.text.startswith("-")]
    if (
        kind in (None, "script")
        or len(words) != 1
        or "\n" in words[0].text
        or "$(" in words[0].text
    ):
        return
    word = words[0]
    quoted = word.raw[:1] in "'\""
    line = " " * (word.column - 1 + quoted) + word.text
    yield Written(Recipe(recipe.name, kind, (line,)), word.line - 1, not word.raw.startswith("'"))
