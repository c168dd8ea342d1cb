"""The corrected line, made from the line as it is and what changes in it."""

from __future__ import annotations

from collections.abc import Iterable

from wireproof.lint.rule import Broken, Recipe
from wireproof.lint.shell.command import Word

__all__ = ["Edit", "at_word", "corrected"]

Edit = tuple[Word, str]
"""The word that is replaced, and its new source text; "" takes the word and one blank before it
away.
"""


def corrected(recipe: Recipe, edits: Iterable[Edit], first: int, last: int | None = None) -> str:
    """The lines ``first`` to ``last`` (from 1) with the edits done, joined by newlines: a ``fix``.

    All words must stand on these lines, each on one line only.
    """
    last = first if last is None else last
    lines = list(recipe.lines[first - 1 : last])
    for word, new in sorted(edits, key=lambda edit: (edit[0].line, edit[0].column), reverse=True):
        at = word.line - first
        if not 0 <= at < len(lines):
            continue
        line, begin = lines[at], word.column - 1
        if line[begin : begin + len(word.raw)] != word.raw:
            continue
        before = line[:begin]
        if not new and before.endswith(" "):
            before = before[:-1]
        lines[at] = before + new + line[begin + len(word.raw) :]
    return "\n".join(lines)


def at_word(
    code: str, word: Word, seen: str = "", fix: str | None = None, last: int | None = None
) -> Broken:
    """``code`` broken at ``word``."""
    return Broken(code, word.line, word.column, seen, fix, last)
