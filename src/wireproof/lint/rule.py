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
    """``sentence`` says what is wrong, ``why`` what happens then, ``right`` the right form,
    ``source`` where it is written. ``safe``: the corrected line may be written by ``--fix``.
    ``severity`` ``warning``: it may be meant. ``setting``: the entry of the catalogue of settings
    that the rule is about, where it is about one.
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
    """A row's pattern."""
    return re.compile(pattern, re.DOTALL)


def filled(template: str, **values: str) -> str:
    """``template`` with the values for the names in braces."""
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
        """Raises ValueError with the field that is no regular expression, or whose groups
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
    """Every place of a line that ``match`` finds, unless ``unless`` is found in the line too.
    ``seen`` knows ``{match}``.
    """

    FILLED = ("match",)
    match: str
    unless: str = ""

    def __post_init__(self) -> None:
        self._check("match", "unless")


class VariableRow(_Row, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A variable whose whole name matches ``name``: with ``value`` if its value matches, with
    ``allowed`` if it does not, without both wherever the name stands. ``right`` takes the place of
    the rule's. ``seen`` knows ``{name}`` and ``{value}``.
    """

    FILLED = ("name", "value")
    name: str
    value: str = ""
    allowed: str = ""
    right: str = ""

    def __post_init__(self) -> None:
        self._check("name", "value", "allowed")

    def of_value(self) -> bool:
        """Whether it is about values."""
        return bool(self.value or self.allowed)

    def hits(self, name: str, value: str) -> bool:
        """Whether a variable with this value breaks the rule."""
        if not compiled(self.name).fullmatch(name):
            return False
        if self.allowed and compiled(self.allowed).fullmatch(value):
            return False
        return not self.value or bool(compiled(self.value).fullmatch(value))


class CommandRow(_Row, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A command whose program matches ``program`` and whose text has ``where`` in it, but not
    ``unless`` (nor the recipe ``elsewhere``). What is looked at: the values of ``option``, or the
    word at ``place``, or, with ``word``, all words, else the program. A word is wrong if it matches
    ``word``, but not ``allowed`` nor one of ``choices``, and, with ``below``, if it is a number
    below it. The likest of ``choices`` takes its place, or what ``meant`` says. ``seen`` knows
    ``{word}``, ``{command}``, ``{program}`` and ``{values}``, the number of values between commas.
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
        """What the pattern matches of a wrong word, as it is written (``raw``) if it matches that.
        What a variable holds is not known.
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
    """One file. ``lines`` without line ends, as they are in the file; ``kind`` as detected.

    Compared by identity: what is kept of a recipe is looked up for each of its commands, and a hash
    of all lines would make that the square of its length.
    """

    name: str
    kind: Kind
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Broken:
    """A rule that is broken at ``line`` and ``column`` (from 1). ``seen`` goes into the message;
    ``fix`` is the corrected line (several joined by newlines), None when a person must decide;
    ``last`` is the last line that the fix replaces when it is more than ``line``; ``right`` takes
    the place of the rule's where the right form depends on what stands there.
    """

    code: str
    line: int
    column: int
    seen: str = ""
    fix: str | None = None
    last: int | None = None
    right: str = ""


Check = Callable[[Recipe], Iterator[Broken]]
"""Pure: looks at one file of the kinds that its rules name, and yields what is broken."""
