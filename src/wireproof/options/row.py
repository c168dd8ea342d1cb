"""Define an option as a row of the table of options, and how its text is read."""

import dataclasses
import re
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal

from wireproof.model.errors import BadInput

Origin = Literal["default", "file", "environment", "option"]


Given = tuple[Origin, str]
"""Origin of a value, and its source: ``--mpi``, ``WIREPROOF_MPI``, ``wireproof.toml:3`` or ""."""
_NOT_GIVEN: Given = ("default", "")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Origins:
    """``given``: where each value that is not the default comes from."""

    given: Mapping[str, Given] = dataclasses.field(default_factory=dict, compare=False)

    def origin(self, name: str) -> Origin:
        return self.given.get(name, _NOT_GIVEN)[0]

    def source(self, name: str) -> str:
        return self.given.get(name, _NOT_GIVEN)[1]

    def origins(self) -> dict[str, str]:
        """Return the options that are not defaults, for the record: name to ``origin source``."""
        return {name: " ".join(each) for name, each in self.given.items()}


@dataclasses.dataclass(frozen=True, kw_only=True)
class OptionRow:
    """An option, apart from its name, type and default.

    ``group``: heading in the help; subcommands take rows by group. ``parse``: reads the text; rows
    with it are settings, which a variable and the file can set too. ``check``: refuses a text by
    ``BadInput``. ``flags``: spelling, if not ``--name``. ``between`` and ``choices``: allowed
    values. ``path``: a file (``must exist`` or not). ``complete``: completer of the last word.
    ``first``: shown by ``--help``; all others by ``--help-all``. ``stored``: ``resume`` may take it
    from a stored run; nothing that could start a program may be stored. ``names``: if the value can
    be the path of a program, the values that are not paths. A file may choose only among these.
    Otherwise anyone who can put a file into the current folder, or made the folder of a run, could
    choose a program to start.
    """

    group: str
    metavar: str
    help: str
    default: Any = None
    parse: Callable[[str], Any] | None = None
    check: Callable[[str], str] | None = None
    flags: str = ""
    between: tuple[int, int] | None = None
    choices: tuple[str, ...] = ()
    path: Literal["", "new", "must exist"] = ""
    complete: str = ""
    first: bool = False
    stored: bool = False
    names: tuple[str, ...] | None = None

    def is_program(self, text: str) -> bool:
        return self.names is not None and text not in self.names

    def typed(self, name: str) -> str:
        """Return the option as the user types it, with its long name."""
        return (self.flags or f"--{name.replace('_', '-')}").split()[-1]

    def read(self, given: Any) -> Any:
        """Return the typed value of a text, or of a value that a Python program passed. Raise
        ``BadInput`` if it is invalid.
        """
        if isinstance(self.default, tuple) and not self.parse:
            return tuple(map(plain, [given] if isinstance(given, str) else given))
        return self._reader(str(given))

    @property
    def _reader(self) -> Callable[[str], Any]:
        if self.parse or self.check:
            return self.parse or self.check or plain
        if isinstance(self.default, bool):
            return yes_no
        if self.between:
            return whole(*self.between)
        if self.choices:
            return one_of(*self.choices)
        return path if self.path else plain


def row(group: str, metavar: str, about: str, default: Any = None, **more: Any) -> Any:
    made = OptionRow(group=group, metavar=metavar, help=about, default=default, **more)
    return dataclasses.field(default=default, metadata={"row": made})


def choice(group: str, words: str, about: str, default: str, **more: Any) -> Any:
    """Return the row of a setting with a fixed set of words (``quick|standard``)."""
    allowed = dict.fromkeys((*([default] if not default else []), *words.split("|")))
    return row(group, words, about, default, parse=one_of(*allowed), **more)


def of_job(
    metavar: str, about: str, flags: str, parse: Callable[[str], object] = str, **more: Any
) -> Any:
    """Return the row of a text for Slurm's option ``flags``, which ``parse`` must be able to
    read.
    """

    def check(text: str) -> str:
        if text:
            parse(text)
        return plain(text)

    return row("job", metavar, about, "", flags=flags, check=check, stored=True, **more)


def one_of(*allowed: str) -> Callable[[str], str]:
    def parse(text: str) -> str:
        if text not in allowed:
            near = get_close_matches(text, allowed, n=1)
            hint = f" (did you mean {near[0]}?)" if near else ""
            known = ", ".join(filter(None, allowed))
            raise BadInput(f"{text[:40]!r} is not one of {known}{hint}.")
        return text

    return parse


def whole(low: int, high: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        if re.fullmatch(r"[0-9]{1,19}", text, re.ASCII) is None or not low <= int(text) <= high:
            raise BadInput(f"{text[:40]!r} is not a whole number from {low} to {high}.")
        return int(text)

    return parse


def yes_no(text: str) -> bool:
    words = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}
    if text.lower() not in words:
        raise BadInput(f"{text[:40]!r} is not yes or no.")
    return words[text.lower()]


def plain(text: str) -> str:
    if any(ord(letter) < 32 for letter in text) or len(text) > 4096:
        raise BadInput("the value has control characters or is longer than 4096 characters.")
    return text


def library(text: str) -> str:
    if not text.startswith("/"):
        raise BadInput(f"{text[:40]!r} is not an absolute path: give the path on the hosts.")
    return plain(text)


def provider(text: str) -> str:
    if re.fullmatch(r"[A-Za-z0-9_]+(;[A-Za-z0-9_]+)*", text, re.ASCII) is None or len(text) > 100:
        raise BadInput(f"{text[:40]!r} is not a provider name: give a name that fi_info prints.")
    return text


def path(text: str) -> Path:
    return Path(plain(text))


def absolute(text: str) -> str:
    """Return an absolute path on the hosts, or "". Raise ``BadInput`` for other text."""
    if text and (not text.startswith("/") or not text.isprintable() or "/../" in f"{text}/"):
        raise BadInput("give an absolute path on the hosts.")
    return text


def refuse_unknown(given: Iterable[str], known: Iterable[str]) -> None:
    """Raise TypeError for an option that is not ``known``, as for any function."""
    if strange := sorted(set(given) - set(known)):
        raise TypeError(f"there is no option {strange[0]!r}: known are {', '.join(sorted(known))}")


def as_path(given: Path | str | None) -> Path | None:
    """Return a path that a Python program passed, or its text, as Path; None if none was passed."""
    return None if given is None else Path(given)
