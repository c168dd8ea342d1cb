"""What a command line consists of."""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["Command", "Heredoc", "Redirect", "Word"]


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
