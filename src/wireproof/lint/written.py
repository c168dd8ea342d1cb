"""Files that a script writes: here-documents, and ``echo LINE >> FILE``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from wireproof.lint.kinds import kind_of_name
from wireproof.lint.rule import Kind, Recipe
from wireproof.lint.shell import Command, Word, commands

__all__ = ["LONGEST_LINE", "WrittenFile", "WrittenLine", "written"]

LONGEST_LINE = 8192
"""Characters that are looked at; no configuration line is longer and searches stay short."""

MOST = 200
"""Files inside of one script that are looked at."""


@dataclass(frozen=True, slots=True)
class WrittenLine:
    """One line of configuration: ``text`` between ``before`` and ``after`` on line ``number`` (from
    1) of the file.
    """

    number: int
    text: str
    before: str = ""
    after: str = ""

    @classmethod
    def of(cls, number: int, text: str) -> WrittenLine:
        """A whole line of the file; what is beyond any configuration line is only kept."""
        return cls(number, text[:LONGEST_LINE], after=text[LONGEST_LINE:])

    def with_text(self, text: str) -> str:
        """The file's line with ``text`` in the place of this one."""
        return f"{self.before}{text}{self.after}"


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """A file that a script writes. ``whole``: a here-document is the file, an echo is a line of it.
    ``expanded``: the script's shell puts in the values of variables.
    """

    path: str
    kind: Kind
    lines: tuple[WrittenLine, ...]
    whole: bool
    expanded: bool


_SHELLS = ("sbatch", "bash", "sh", "salloc", "ssh")
"""Programs that run what stands on their standard input."""

_INTO = re.compile(r">>?\|?\s*[\"']?([^\s\"'<>|;&]+)")
_QUOTED = re.compile(r"""(["'])(.*)\1""")


@lru_cache(maxsize=8)
def written(recipe: Recipe) -> tuple[WrittenFile, ...]:
    """The files that ``recipe`` writes and whose kind is known; of very many the first."""
    return tuple(islice(_written(recipe), MOST))


def _written(recipe: Recipe) -> Iterator[WrittenFile]:
    every = commands(recipe)
    taken: set[int] = set()
    echoed: dict[str, list[WrittenLine]] = {}
    for at, command in enumerate(every):
        if not command.words or command.line in taken:
            continue
        if command.heredoc is not None:
            found = _heredoc(every, at)
            if found is not None:
                taken.add(command.line)
                yield found
        elif command.program in ("echo", "printf"):
            line = _echoed(recipe, command)
            if line is not None:
                echoed.setdefault(_target(every, at), []).append(line)
    for path, lines in echoed.items():
        kind = kind_of_name(path)
        if kind is not None:
            yield WrittenFile(path, kind, tuple(lines), whole=False, expanded=True)


def _heredoc(every: list[Command], at: int) -> WrittenFile | None:
    command = every[at]
    heredoc = command.heredoc
    path = _target(every, at)
    kind = kind_of_name(path)
    if command.program in _SHELLS:
        path = _remote_target(command)
        kind = kind_of_name(path) or "script"
    if heredoc is None or kind is None:
        return None
    body = enumerate(heredoc.lines, heredoc.line)
    lines = tuple(WrittenLine.of(number, text) for number, text in body)
    return WrittenFile(path, kind, lines, whole=True, expanded=not heredoc.quoted)


def _target(every: list[Command], at: int) -> str:
    """The file that the command's output goes to, "" when it goes to none."""
    command = every[at]
    targets = [
        redirect.target.text
        for redirect in command.redirects
        if ">" in redirect.operator and not redirect.operator.startswith("2")
    ]
    if command.program == "tee":
        targets += _arguments(command)
    elif command.piped and not targets:
        tee = next((one for one in every[at + 1 : at + 4] if one.program == "tee"), None)
        targets = _arguments(tee) if tee is not None else []
    return targets[-1] if targets else ""


def _arguments(command: Command) -> list[str]:
    return [text for text in command.texts[1:] if not text.startswith("-")]


def _remote_target(command: Command) -> str:
    """The file of ``ssh n1 'cat > /etc/hosts' <<EOF``: the command in quotes writes it."""
    for word in command.words[1:]:
        into = _INTO.search(word.text[:LONGEST_LINE]) if ">" in word.text else None
        if into is not None:
            return into[1]
    return ""


def _echoed(recipe: Recipe, command: Command) -> WrittenLine | None:
    """The one word that is printed, at its place; None for what the shell or echo would change."""
    words = [word for word in command.words[1:] if not word.text.startswith("-")]
    if len(words) != 1:
        return None
    word = words[0]
    quotes = _QUOTED.fullmatch(word.raw)
    body = quotes[2] if quotes else word.raw
    if _changes(word, body):
        return None
    whole = recipe.lines[word.line - 1]
    begin = word.column - 1 + (1 if quotes else 0)
    return WrittenLine(word.line, body, whole[:begin], whole[begin + len(body) :])


def _changes(word: Word, body: str) -> bool:
    if word.text != body or "\n" in body:
        return True
    return "\\" in body or "`" in body or "$(" in body
