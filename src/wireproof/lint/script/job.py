"""A script as the rules see it: its #SBATCH options, the variables that it sets, the MPI launches,
whose MPI it is.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import islice

from wireproof.lint.rule import Recipe
from wireproof.lint.script.launch import Launch, launches
from wireproof.lint.shell import Command, Segment, Word, commands, lines_inside, segments

__all__ = ["Job", "Option", "SetVariable", "jobs"]

MOST = 500
"""Launches of one script that are looked at."""

_SBATCH = re.compile(r"#SBATCH[ \t]+")
_SHORT = {
    "-N": "--nodes",
    "-n": "--ntasks",
    "-c": "--cpus-per-task",
    "-t": "--time",
    "-p": "--partition",
    "-J": "--job-name",
    "-o": "--output",
    "-e": "--error",
    "-A": "--account",
    "-C": "--constraint",
    "-w": "--nodelist",
    "-x": "--exclude",
    "-D": "--chdir",
    "-q": "--qos",
    "-L": "--licenses",
    "-d": "--dependency",
    "-G": "--gpus",
    "-a": "--array",
    "-m": "--distribution",
    "-i": "--input",
    "-S": "--core-spec",
    "-B": "--extra-node-info",
    "-b": "--begin",
    "-M": "--clusters",
    "-F": "--nodefile",
}
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


@dataclass(frozen=True, slots=True)
class Option:
    """One option of an #SBATCH line: its long name, its value ("" when it has none), the place of
    its name.
    """

    name: str
    value: str
    word: Word


@dataclass(frozen=True, slots=True)
class SetVariable:
    """A variable that gets a value: by assignment, ``export``, ``-genv``, ``-x``. ``value_word`` is
    the word that holds the value (the same as ``word`` for ``NAME=value``). ``how``: assignment,
    export, genv, x, mca.
    """

    name: str
    value: str
    word: Word
    value_word: Word
    how: str


@dataclass(eq=False)  # compared by identity: what is derived from it is remembered
class Job:
    """The commands of one segment, in order, with what is around them."""

    recipe: Recipe
    part: Segment
    commands: tuple[Command, ...]
    settings: tuple[SetVariable, ...] = field(default=())

    @cached_property
    def text(self) -> str:
        """The segment's text, without comments' lines."""
        lines = self.recipe.lines[self.part.first - 1 : self.part.last]
        return "\n".join(line for line in lines if not line.lstrip().startswith("#"))

    @cached_property
    def sbatch(self) -> tuple[Option, ...]:
        """The options of all #SBATCH lines, also of those that come too late."""
        return tuple(_sbatch(self.recipe, self.part))

    @cached_property
    def slurm(self) -> bool:
        """It runs under Slurm."""
        return bool(self.sbatch) or "SLURM_" in self.text

    @cached_property
    def _last_values(self) -> dict[str, str]:
        return {option.name: option.value for option in self.sbatch}

    def option(self, name: str) -> str | None:
        """The last value of an #SBATCH option, by its long name."""
        return self._last_values.get(name)

    def count(self, name: str) -> int | None:
        """The value of an #SBATCH option that is a plain number (of ``2-4`` the smaller)."""
        value = (self.option(name) or "").split("-")[0]
        return int(value) if value.isascii() and value.isdigit() and len(value) < 9 else None

    @cached_property
    def launches(self) -> tuple[Launch, ...]:
        """The MPI launches; of very many the first."""
        return tuple(islice(launches(self.commands), MOST))

    @cached_property
    def _lines(self) -> list[int]:
        return [command.line for command in self.commands]

    def after(self, line: int) -> Command | None:
        """The first command that begins behind a line."""
        at = bisect_right(self._lines, line)
        return self.commands[at] if at < len(self.commands) else None

    @cached_property
    def exported(self) -> dict[str, int]:
        """The names that ``export`` has, and the line of the first time."""
        found: dict[str, int] = {}
        for command in self.commands:
            if command.program == "export":
                for text in command.texts[1:]:
                    found.setdefault(text.partition("=")[0], command.line)
        return found

    @cached_property
    def _general(self) -> tuple[SetVariable, ...]:
        return tuple(
            setting for setting in self.settings if setting.how in ("export", "assignment")
        )

    def before(self, line: int) -> dict[str, str]:
        """The variables that are set in lines before this one, not by a launch line's own
        options.
        """
        end = bisect_left(self._general, line, key=lambda setting: setting.word.line)
        return {setting.name: setting.value for setting in self._general[:end]}

    def within(self, first: int, last: int) -> dict[str, str]:
        """The variables that are set in these lines."""
        begin = bisect_left(self.settings, first, key=lambda setting: setting.word.line)
        end = bisect_right(self.settings, last, key=lambda setting: setting.word.line)
        return {setting.name: setting.value for setting in self.settings[begin:end]}

    @cached_property
    def hidden(self) -> bool:
        """Something that we cannot see may set more: a sourced file, a module, ``set -a``, an
        environment file.
        """
        for command in self.commands:
            if command.program in ("source", ".") and len(command.words) > 1:
                if not re.search(
                    r"(setvars|env/vars|mpivars|mpivars\.release)\.c?sh$", command.texts[1]
                ):
                    return True
            elif command.program in ("module", "ml", "spack", "eval", "conda", "micromamba"):
                return True
        return False


@lru_cache(maxsize=4)
def jobs(recipe: Recipe) -> tuple[Job, ...]:
    """The recipe's segments as jobs."""
    every = commands(recipe)
    found, at = [], 0
    for part in segments(recipe):
        begin = at
        while at < len(every) and every[at].line <= part.last:
            at += 1
        mine = tuple(every[begin:at])
        found.append(Job(recipe, part, mine, tuple(_settings(mine))))
    return tuple(found)


def _sbatch(recipe: Recipe, part: Segment) -> Iterator[Option]:
    inside = lines_inside(recipe)
    head = recipe.lines[part.first - 1]
    indent = len(head) - len(head.lstrip())  # of a script that a page shows indented
    for number in range(part.first, part.last + 1):
        line = recipe.lines[number - 1]
        match = (
            _SBATCH.match(line, indent)
            if not line[:indent].strip() and number not in inside
            else None
        )
        if match is None:
            continue
        words = [
            Word(found.group(), number, found.start() + 1, found.group())
            for found in re.finditer(
                r"\S+", line[: line.find(" #", indent + 7) if " #" in line[indent + 7 :] else None]
            )
            if found.start() >= match.end()
        ]
        yield from _options(words)


def _options(words: list[Word]) -> Iterator[Option]:
    at = 0
    while at < len(words):
        text = words[at].text
        name, equals, value = text.partition("=")
        after = (
            words[at + 1].text
            if at + 1 < len(words) and not words[at + 1].text.startswith("-")
            else ""
        )
        if text.startswith("--"):
            yield Option(name, value if equals else after, words[at])
        elif text.startswith("-") and len(text) > 1:
            long = _SHORT.get(text[:2], text[:2])
            yield Option(long, text[2:] or after, words[at])
        at += 1


def _settings(every: tuple[Command, ...]) -> Iterator[SetVariable]:
    seen: set[tuple[int, int]] = set()
    for command in every:
        for setting in _of(command):
            place = (setting.word.line, setting.word.column)
            if place not in seen:
                seen.add(place)
                yield setting


def _of(command: Command) -> Iterator[SetVariable]:
    for word in command.assignments:
        yield _assigned(word, "assignment")
    if command.program in ("export", "declare", "env", "setenv", "set"):
        yield from _exported(command)
    for at in range(len(command.words) - 1):
        yield from _by_option(command.words[at : at + 3])


def _exported(command: Command) -> Iterator[SetVariable]:
    texts, words = command.texts, command.words
    if command.program == "setenv" and len(words) == 3:
        yield SetVariable(texts[1], texts[2], words[1], words[2], "export")
    for word in words[1:]:
        if _sets(word):
            yield _assigned(word, "export")


def _by_option(words: tuple[Word, ...]) -> Iterator[SetVariable]:
    """``-genv NAME VALUE``, ``-x NAME=VALUE``, ``--mca NAME VALUE``."""
    option, name = words[0].text, words[1]
    value = words[2] if len(words) > 2 else None
    if option in ("-genv", "-env", "--genv", "--env"):
        if "=" in name.text:
            yield _assigned(name, "genv")
        elif value is not None:
            yield SetVariable(name.text, value.text.rstrip(","), name, value, "genv")
    elif option == "-x":
        if _sets(name):
            yield _assigned(name, "x")
    elif option in ("-mca", "--mca", "-gmca", "--gmca") and value is not None:
        yield SetVariable("OMPI_MCA_" + name.text, value.text, name, value, "mca")


def _sets(word: Word) -> bool:
    name, equals, _ = word.text.partition("=")
    return bool(equals) and _NAME.match(name) is not None


def _assigned(word: Word, how: str) -> SetVariable:
    name, _, value = word.text.partition("=")
    return SetVariable(name.removesuffix("+"), value, word, word, how)
