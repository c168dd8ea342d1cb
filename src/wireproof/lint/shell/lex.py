"""Convert text to tokens in a single pass: words, operators, line ends. Never fails: text that is
not shell becomes words.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import accumulate

from wireproof.lint.shell.command import Word

QUOTE_LINES = 200
"""A quote that is not closed within this number of lines of a script is a plain character."""

LONGEST = 2000
"""Longest substitution in characters that is followed."""

_BLANK = " \t\r\v\f\u00a0\u200b\ufeff"
_NAME = rf"<[^\W\d_][^>\n]{{0,57}}(?<![{_BLANK}])>"
"""``<server ipoib addr>``: a name to be filled in, not a redirection."""
_TOKEN = re.compile(
    rf"(?P<skipped>[{_BLANK}]+|\\\n|#[^\n]*)"
    rf"|(?P<backslash>\\)(?=[{_BLANK}])"  # meant as a continuation: a blank behind it makes it none
    r"|(?P<prompt>\\?\$>)(?= )"  # a second prompt in the line: two lines of a document, joined
    rf"|\n|[012]?(?:<<<|<<-?|<[>&]|>[>|&]?|(?!{_NAME})<)|&>>?|;;|&&|\|\||\|&|[;|&()]"
)


@dataclass(frozen=True, slots=True)
class End:
    """An operator (``;`` ``|`` ``>`` …), or ``\\n``."""

    text: str
    line: int
    column: int


Token = Word | End


def tokens(lines: list[str], first: int, indents: list[int], *, spanning: bool) -> Iterator[Token]:
    """Return the tokens of ``lines``, of which the first has the number ``first``; ``indents[i]``
    characters at the start of line i (a prompt, a bullet) are skipped. ``spanning``: quotes may
    extend over line ends.
    """
    starts = list(accumulate((len(line) + 1 for line in lines), initial=0))
    skips = {start: start + indent for start, indent in zip(starts, indents, strict=False)}
    reader = _Reader("\n".join(lines) + "\n", QUOTE_LINES if spanning else 0)
    at = 0
    while at < len(reader.text):
        begin = skips.get(at, at)
        found = _TOKEN.match(reader.text, begin)
        row = bisect_right(starts, begin) - 1
        place = (first + row, begin - starts[row] + 1)
        if found is None:
            text, at = reader.word(begin)
            yield Word(text, *place, reader.text[begin:at])
            continue
        at = found.end()
        if found["backslash"]:
            yield Word("\\", *place, "\\")
        elif not found["skipped"]:
            yield End(";" if found["prompt"] else found.group(), *place)


@cache
def _part(lines: int) -> re.Pattern[str]:
    """Return the pattern of a part of a word, whose quotes extend over at most ``lines`` line
    ends.
    """
    return re.compile(
        r"\\(?:(?P<escaped>[^\n])|\n)"
        rf"|'(?P<single>(?:[^'\n]*\n){{0,{lines}}}[^'\n]*)'"
        rf'|"(?P<double>(?:[^\n]*?\n){{0,{lines}}}?[^\n]*?)(?:(?<!\\)|(?<=\\\\))"'
        r"|(?P<substitution>`|\$\()"
        rf"|(?P<plain>[^{_BLANK}\n;&|()<>\\'\"$`]+|{_NAME}|\$\{{[^}}\n]{{0,197}}\}}|['\"$])"
    )


@dataclass(slots=True)
class _Reader:
    """Reads words; ``lines``: the line ends in a quote, at most."""

    text: str
    lines: int
    given_up: int = 0  # no substitution is looked for before this place: keeps the time linear

    def word(self, at: int) -> tuple[str, int]:
        """Return the word at ``at`` without its quotes and backslashes, and its end."""
        parts: list[str] = []
        while found := _part(self.lines).match(self.text, at):
            kind, end = found.lastgroup or 0, found.end()
            part = found[kind] if kind else ""
            if kind == "double":
                part = part.replace('\\"', '"').replace("\\$", "$")
            elif kind == "substitution":
                end = self._end(at)
                part = self.text[at:end]
            parts.append(part)
            at = end
        return "".join(parts), at

    def _end(self, at: int) -> int:
        """Return the end of ``$(…)`` or of backquotes; that of the first sign if they do not end
        soon.
        """
        if at < self.given_up:
            return at + 1
        end = _substitution(self.text[at : at + LONGEST], self.lines)
        self.given_up = 0 if end else at + LONGEST
        return at + (end or 1)


def _substitution(text: str, lines: int) -> int:
    """Return the length of the substitution that ``text`` begins with, 0 if it does not end."""
    if text[0] == "`":
        close = text.find("`", 1)
        return close + 1 if close > 0 and text.count("\n", 0, close) <= lines else 0
    depth = 0
    for found in re.finditer(r"[()]" if lines else r"[()\n]", text):
        if found.group() == "\n":
            return 0
        depth += 1 if found.group() == "(" else -1
        if depth == 0:
            return found.end()
    return 0
