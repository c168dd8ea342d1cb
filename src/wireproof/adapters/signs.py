"""Signs: which lines start a result. Each is tried only where a word stands that it cannot do without."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

__all__ = ["Sign", "needle_of", "parts_of", "signs_of", "tool_of"]

_SHORTEST = 4
"""A shorter word is in nearly every page and saves nothing."""

_QUANTIFIED = "?*{"
_SPECIAL = "^$."


@dataclass(frozen=True, slots=True)
class Sign:
    """``needle`` is in every line that ``look`` finds something in; "" when no such word is known."""

    tool: int
    needle: str
    look: Callable[[str], re.Match[str] | None]


def _group_end(pattern: str, start: int) -> int:
    """Index after the ``)`` or ``]`` that closes what opens at ``start``."""
    depth, index, in_class = 0, start, False
    while index < len(pattern):
        char = pattern[index]
        if char == "\\":
            index += 1
        elif in_class:
            in_class = char != "]"
        elif char == "[":
            in_class = True
            index += pattern[index + 1 : index + 2] in ("]", "^")
        elif char == "(":
            depth += 1
        elif char == ")":
            depth -= 1
        index += 1
        if depth == 0 and not in_class:
            break
    return index


def parts_of(pattern: str) -> list[str]:
    """The alternatives of a regular expression at its outermost level."""
    parts, begun, index = list[str](), 0, 0
    while index < len(pattern):
        char = pattern[index]
        if char in "([":
            index = _group_end(pattern, index)
            continue
        if char == "|":
            parts.append(pattern[begun:index])
            begun = index + 1
        index += 2 if char == "\\" else 1
    return [*parts, pattern[begun:]]


def needle_of(pattern: str) -> str:
    """The longest text that each match of one alternative has; "" when it is short. Groups and classes are left out."""
    runs, run, index = list[str](), "", 0
    while index < len(pattern):
        char, following = pattern[index], ""
        if char in "([":
            index = _group_end(pattern, index)
        elif char == "\\" and not pattern[index + 1 : index + 2].isalnum():
            following, index = pattern[index + 1 : index + 2], index + 2
        else:
            following, index = ("" if char in _SPECIAL or char == "\\" else char), index + (2 if char == "\\" else 1)
        after = pattern[index : index + 1]
        keeps = following and (not after or after not in _QUANTIFIED)
        run += following if keeps else ""
        if not keeps or after == "+":
            runs.append(run)
            run = ""
        if after and after in _QUANTIFIED + "+":
            index = pattern.index("}", index) + 1 if after == "{" else index + 1
            index += pattern[index : index + 1] == "?"
    best = max([*runs, run], key=len)
    return best if len(best) >= _SHORTEST else ""


def signs_of(tools: Iterable[Sequence[str]]) -> list[Sign]:
    """The signs of all tools; ``tools[i]`` are the regular expressions of tool i."""
    found = []
    for tool, patterns in enumerate(tools):
        for part in (part for pattern in patterns for part in parts_of(pattern)):
            compiled = re.compile(part)
            # "^" holds at the start alone: search would try it at every character
            found.append(Sign(tool, needle_of(part), compiled.match if part.startswith("^") else compiled.search))
    return found


def tool_of(line: str, signs: Iterable[Sign]) -> int | None:
    """The tool whose sign is in the line, the leftmost if there are several; None without."""
    found, at = None, len(line) + 1
    for sign in signs:
        if sign.needle in line and (match := sign.look(line)) is not None and match.start() < at:
            found, at = sign.tool, match.start()
    return found
