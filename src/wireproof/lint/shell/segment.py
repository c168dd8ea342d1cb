"""Which lines belong together: a file is one script, or a document that shows several between its
sentences.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from wireproof.lint.rule import Recipe
from wireproof.lint.shell.heredoc import lines_inside

__all__ = ["Segment", "indent", "is_prose", "segments"]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_ORNAMENT = re.compile(
    r"\s*(?:[-*•●▪·]\s+(?![\d.]+\s*$)|\d{1,2}[.)]\s+)?(?:\\Rightarrow\s+)?"  # a bullet, a number
    r"(?:(?:server|client|node|host|head|compute)\s?\d{0,3}:\s+)?"  # whose line it is
    r"(?:\\?\$>\s*|\\?\$\s+|(?:\(\w{1,20}\)\s?)?\[[\w.-]{1,64}@[\w.-]{1,64}[ "
    r":][^\]\n]{1,64}\][$#]\s*"
    r"|[\w.-]{1,64}@[\w.-]{1,64}:[^\s$#]{1,64}[$#]\s+)?"  # a prompt
)

_STOP_WORDS = _words(
    "a an and are as at be because been but by can could does followed from has have however if "
    "in into is it its may must not of on or our should so than that the their then there these "
    "they this to used uses using was we when which will with would you your following instead "
    "also only more most some such"
)


SCRIPT_NAMES = (".sh", ".bash", ".sbatch", ".slurm", ".job", ".batch")


@dataclass(frozen=True, slots=True)
class Segment:
    """The lines ``first`` to ``last`` (from 1, both included). ``script``: it starts with ``#!`` or
    is a script by its kind and has no sentences; its lines are trusted to be shell.
    """

    first: int
    last: int
    script: bool


def indent(line: str) -> int:
    """How many characters of bullet, number, label and prompt stand before the command."""
    match = _ORNAMENT.match(line[:300])
    return match.end() if match else 0


def is_prose(line: str) -> bool:
    """A sentence, not a command: two or more of the little words that commands do not have. No
    prompt before it.
    """
    head = line[:400]
    if "$>" in head or head.lstrip().startswith(("#", "$ ", "\\$ ")):
        return False
    words = [word.strip(".,:;()\"'“”") for word in head.split()]
    little = sum(word.lower() in _STOP_WORDS for word in words)
    return little >= 2 or (
        little == 1 and words[-1:] != [] and head.rstrip().endswith((".", ":")) and len(words) > 4
    )


def segments(recipe: Recipe) -> list[Segment]:
    """Cut at fences (```` ``` ````), at ``#!`` lines, and, outside of scripts by name, at
    sentences.
    """
    lines = recipe.lines
    inside = lines_inside(recipe)
    if _trusted(recipe) and not _document(lines, inside):
        return [Segment(1, len(lines), True)]
    cuts: list[Segment] = []
    first, script = 1, False
    for number, line in enumerate(lines, 1):
        fence = line.lstrip().startswith("```")
        opens = line.lstrip().startswith("#!") and number not in inside
        if fence or opens or (script and is_prose(line)):
            _cut(cuts, first, number - 1, script)
            first, script = (number, True) if opens else (number + fence, False)
    _cut(cuts, first, len(lines), script)
    return cuts


def _trusted(recipe: Recipe) -> bool:
    """A script by its first line or by its name."""
    head = next((line for line in recipe.lines if line.strip()), "")
    by_head = head.lstrip("\ufeff \t").startswith(("#!", "#SBATCH"))
    return by_head or recipe.name.endswith(SCRIPT_NAMES)


def _document(lines: tuple[str, ...], inside: frozenset[int]) -> bool:
    shown = [line for number, line in enumerate(lines, 1) if number not in inside]
    return (
        any(line.startswith("```") for line in shown)
        or sum(line.startswith("#!") for line in shown) > 1
    )


def _cut(cuts: list[Segment], first: int, last: int, script: bool) -> None:
    if first <= last:
        cuts.append(Segment(first, last, script))
