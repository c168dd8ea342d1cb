"""Rules and their rows as data, and the checks that find where a rule is broken."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import ClassVar, Literal

import msgspec

Kind = Literal[
    "script",  # shell and batch scripts, command lines
    "modprobe",
    "sysctl",
    "limits",
    "ifcfg",
    "keyfile",
    "irqbalance",
    "kernel-command-line",
    "repository",
    "fstab",
    "hosts",
    "hostfile",
    "toml",
    "unknown",
]
CONFIGURATION_FILES: tuple[Kind, ...] = (
    *("modprobe", "sysctl", "limits", "ifcfg", "keyfile", "irqbalance"),
    *("kernel-command-line", "repository", "fstab", "hosts"),
)


class Rule(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A rule. ``sentence`` says what is wrong, ``why`` what happens then, ``right`` the right form,
    ``source`` where it is documented. ``safe``: ``--fix`` may write the corrected line.
    ``severity`` ``warning``: the line may be intended. ``setting``: the entry of the catalogue of
    settings that the rule is about, if any.
    """

    code: str
    sentence: str
    why: str
    right: str
    source: str
    kinds: tuple[Kind, ...] = ("script",)
    severity: Literal["error", "warning"] = "error"
    safe: bool = False
    setting: str = ""


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """Return the compiled pattern of a row."""
    return re.compile(pattern, re.DOTALL)


def filled(template: str, **values: str) -> str:
    """Return ``template`` with the names in braces replaced by their values."""
    for name, value in values.items():
        template = template.replace(f"{{{name}}}", value)
    return template


class _Row(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A way to break the rule ``code``. ``change`` takes the place of what the row's pattern
    matches, with the groups of the pattern as ``\\1``; without it a person must decide. ``seen``
    goes into the message, with what stands in braces filled in.
    """

    FILLED: ClassVar[tuple[str, ...]] = ()
    code: str
    change: str | None = None
    seen: str = ""

    def _check(self, *names: str) -> None:
        """Raise ValueError that names the field that is not a regular expression, or whose groups
        ``change`` or ``seen`` does not know.
        """
        for name in names:
            try:
                pattern = compiled(getattr(self, name))
            except (re.error, RecursionError, OverflowError) as error:
                raise ValueError(f"{name!r} is no regular expression: {error}") from error
            if name == names[0]:
                self._check_groups(pattern)

    def _check_groups(self, pattern: re.Pattern[str]) -> None:
        for name in ("change", "seen"):
            try:
                pattern.sub(getattr(self, name) or "", "")
            except (re.error, IndexError) as error:
                raise ValueError(f"{name!r} does not fit the pattern: {error}") from error
        unknown = set(re.findall(r"\{(\w*)\}", self.seen)) - set(self.FILLED)
        if unknown:
            known = ", ".join(f"{{{name}}}" for name in self.FILLED)
            raise ValueError(f"'seen' has {{{min(unknown)}}}: it knows {known}")


class LineRow(_Row, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Every match of ``match`` in a line, unless the line also matches ``unless``. ``seen`` may
    contain ``{match}``.
    """

    FILLED = ("match",)
    match: str
    unless: str = ""

    def __post_init__(self) -> None:
        self._check("match", "unless")


class VariableRow(_Row, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A variable whose whole name matches ``name``. It is wrong if its value matches ``value``, or
    does not match ``allowed``; without both it is always wrong. ``right`` replaces that of the
    rule. ``seen`` may contain ``{name}`` and ``{value}``.
    """

    FILLED = ("name", "value")
    name: str
    value: str = ""
    allowed: str = ""
    right: str = ""

    def __post_init__(self) -> None:
        self._check("name", "value", "allowed")

    def of_value(self) -> bool:
        """Whether the row is about values."""
        return bool(self.value or self.allowed)

    def hits(self, name: str, value: str) -> bool:
        """Return whether a variable with this value breaks the rule."""
        if not compiled(self.name).fullmatch(name):
            return False
        if self.allowed and compiled(self.allowed).fullmatch(value):
            return False
        return not self.value or bool(compiled(self.value).fullmatch(value))


class CommandRow(_Row, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A command whose program matches ``program`` and whose text matches ``where``, but not
    ``unless`` (and whose recipe does not match ``elsewhere``). The checked words are the values of
    ``option``, or the word at ``place``, or, with ``word``, all words, else the program. A word is
    wrong if it matches ``word``, but not ``allowed`` or one of ``choices``, and, with ``below``, if
    it is a number below it. The most similar of ``choices`` replaces it, or the word that ``meant``
    gives. ``seen`` may contain ``{word}``, ``{command}``, ``{program}`` and ``{values}``, the
    number of values between commas.
    """

    FILLED = ("word", "command", "program", "values")
    program: str
    where: str = ""
    unless: str = ""
    elsewhere: str = ""
    option: tuple[str, ...] = ()
    place: int = 0
    word: str = ""
    allowed: str = ""
    choices: tuple[str, ...] = ()
    meant: dict[str, str] = {}
    likeness: float = 0.6
    below: int = 0

    def __post_init__(self) -> None:
        self._check("word", "program", "where", "unless", "elsewhere", "allowed")

    def hit(self, raw: str, text: str) -> re.Match[str] | None:
        """Return the match of the pattern in a wrong word, as written (``raw``) if the pattern
        matches that. The value of a variable is unknown.
        """
        judged = bool(self.allowed or self.choices)
        if judged and ("$" in text or text in self.choices):
            return None
        if self.allowed and compiled(self.allowed).fullmatch(text):
            return None
        if self.below and not (text.isascii() and text.isdigit() and int(text[:18]) < self.below):
            return None
        pattern = compiled(self.word or ".*")
        return pattern.fullmatch(raw) or pattern.fullmatch(text)


@dataclass(frozen=True, slots=True, eq=False)
class Recipe:
    """A file. ``lines`` are without line endings, as they are in the file; ``kind`` is as detected.

    Recipes are compared by identity: data cached for a recipe is looked up for each of its
    commands, and a hash of all lines would take quadratic time.
    """

    name: str
    kind: Kind
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Broken:
    """A rule that is broken at ``line`` and ``column`` (from 1). ``seen`` is part of the message.
    ``fix`` is the corrected line (several are joined by newlines), None if a person must decide;
    ``last`` is the last line that the fix replaces if it replaces more than ``line``. ``right``
    replaces that of the rule if the right form depends on the text.
    """

    code: str
    line: int
    column: int
    seen: str = ""
    fix: str | None = None
    last: int | None = None
    right: str = ""


Check = Callable[[Recipe], Iterator[Broken]]
"""A pure function that reads a file of the kinds that its rules name, and yields what is broken."""
