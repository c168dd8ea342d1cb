"""Rules as data, and the checks that find where a rule is broken."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

__all__ = ["Broken", "Check", "Kind", "Recipe", "Rule"]

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


@dataclass(frozen=True, slots=True)
class Rule:
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


@dataclass(frozen=True, slots=True)
class Recipe:
    """One file. ``lines`` without line ends, as they are in the file; ``kind`` as detected."""

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
