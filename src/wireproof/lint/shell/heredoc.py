"""The one place that finds here-documents: ``<<EOF`` and the lines up to ``EOF``."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType

from wireproof.lint.rule import Recipe
from wireproof.lint.shell.command import Heredoc

__all__ = ["heredocs", "lines_inside"]

_OPENING = re.compile(r"(?<!<)<<-?[ \t]{0,4}(['\"\\]?)([A-Za-z_!%@][\w.!%@+-]{0,60})(?!<)")
_LONGEST_MARK = 70
_LONGEST_LINE = 2000


@lru_cache(maxsize=4)
def heredocs(recipe: Recipe) -> Mapping[int, Heredoc]:
    """The here-documents by the number of the line that opens them; one without its end is none."""
    places: dict[str, list[int]] = {}
    for number, line in enumerate(recipe.lines, 1):
        if len(line) < _LONGEST_MARK:
            places.setdefault(line.strip(), []).append(number)
    found: dict[int, Heredoc] = {}
    end = 0
    for number, line in enumerate(recipe.lines, 1):
        if number <= end or "<<" not in line or line.lstrip().startswith("#"):
            continue
        opening = _OPENING.search(line[:_LONGEST_LINE])
        ends = places.get(opening[2], []) if opening else []
        at = bisect_right(ends, number)
        if opening and at < len(ends):
            end = ends[at]
            body = tuple(recipe.lines[number : end - 1])
            found[number] = Heredoc(number + 1, body, quoted=bool(opening[1]))
    return MappingProxyType(found)


@lru_cache(maxsize=4)
def lines_inside(recipe: Recipe) -> frozenset[int]:
    """The numbers of the lines inside of here-documents: data of the script, not its commands."""
    return frozenset(
        number
        for one in heredocs(recipe).values()
        for number in range(one.line, one.line + len(one.lines))
    )
