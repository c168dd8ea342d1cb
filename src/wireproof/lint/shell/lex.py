"""Convert text to tokens in a single pass: words, operators, line ends. Never fails: text that is
not shell becomes words.
"""

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from wireproof.lint.shell.command import Word

QUOTE_LINES = 200
"""A quote that is not closed within this number of lines of a script is a plain character."""

LONGEST = 2000
"""Longest substitution in characters that is followed."""

OPERATORS = (";;", "&&", "||", "|&", "&>>", "&>", ";", "|", "&", "(", ")")
REDIRECTS = ("<<<", "<<-", "<<", "<>", "<&", ">>", ">|", ">&", "<", ">")
BLANK = " \t\r\v\f\u00a0\u200b\ufeff"


@dataclass(frozen=True, slots=True)
class End:
    """An operator (``;`` ``|`` ``>`` …), or ``\\n``."""

    text: str
    line: int
    column: int


Token = Word | End


@dataclass(slots=True)
class _Lexer:
    text: str
    starts: list[int]
    first: int
    at: int = 0
    given_up: int = 0  # no substitution is looked for before this place: keeps the time linear

    def place(self, at: int) -> tuple[int, int]:
        """Return line and column, from 1."""
        row = bisect_right(self.starts, at) - 1
        return self.first + row, at - self.starts[row] + 1


def tokens(lines: list[str], first: int, indents: list[int], *, spanning: bool) -> Iterator[Token]:
    """Return the tokens of ``lines``, of which the first has the number ``first``; ``indents[i]``
    characters at the start of line i (a prompt, a bullet) are skipped. ``spanning``: quotes may
    extend over line ends.
    """
    if not lines:  # a document whose every line is a sentence
        return
    starts, at = [], 0
    for line in lines:
        starts.append(at)
        at += len(line) + 1
    reader = _Lexer("\n".join(lines) + "\n", starts, first)
    skips = {start: start + indent for start, indent in zip(starts, indents, strict=True) if indent}
    limit = QUOTE_LINES if spanning else 0
    while reader.at < len(reader.text):
        reader.at = skips.get(reader.at, reader.at)
        token = _next(reader, limit)
        if token is not None:
            yield token


def _next(reader: _Lexer, limit: int) -> Token | None:
    text, at = reader.text, reader.at
    char = text[at]
    if char in BLANK:
        reader.at += 1
        return None
    if char == "\n":
        reader.at += 1
        return End("\n", *reader.place(at))
    if char == "\\" and text[at + 1 : at + 2] == "\n":
        reader.at += 2
        return None
    if char == "\\" and text[at + 1] in BLANK:
        reader.at += 1  # meant as a continuation: a blank behind it makes it none
        return Word("\\", *reader.place(at), "\\")
    if text.startswith(("$> ", "\\$> "), at):
        # a second prompt in the line: two lines of a document, joined
        reader.at = text.index(">", at) + 1
        return End(";", *reader.place(at))
    if char == "#":
        reader.at = text.index("\n", at)
        return None
    return _operator(reader) or _word(reader, limit)


def _operator(reader: _Lexer) -> End | None:
    text, at = reader.text, reader.at
    begin = at
    if text[at] in "012" and text[at + 1] in "<>":
        at += 1
    elif text[at : at + 2] != "&>":
        for operator in OPERATORS:
            if text.startswith(operator, at):
                reader.at = at + len(operator)
                return End(operator, *reader.place(begin))
    for operator in ("&>>", "&>", *REDIRECTS):
        if text.startswith(operator, at):
            if operator == "<" and _placeholder(text, at):
                return None
            reader.at = at + len(operator)
            return End(text[begin : reader.at], *reader.place(begin))
    return None


def _placeholder(text: str, at: int) -> bool:
    """Return whether this is ``<server ipoib addr>``: a name to be filled in, not a redirection."""
    close = text.find(">", at, at + 60)
    return (
        close > at + 1
        and "\n" not in text[at:close]
        and text[at + 1].isalpha()
        and text[close - 1] not in BLANK
    )


def _word(reader: _Lexer, limit: int) -> Word:
    text, begin = reader.text, reader.at
    parts: list[str] = []
    at = begin
    while at < len(text):
        char = text[at]
        if char in BLANK or char in "\n;&|()":
            break
        if char == "<" and _placeholder(text, at):
            close = text.index(">", at) + 1
            parts.append(text[at:close])
            at = close
            continue
        if char in "<>" and at > begin:
            break
        at = _part(reader, at, parts, limit)
    reader.at = at
    line, column = reader.place(begin)
    return Word("".join(parts), line, column, text[begin:at])


def _part(reader: _Lexer, at: int, parts: list[str], limit: int) -> int:
    """Add the text at ``at`` to the parts of the word; return the place after it."""
    text = reader.text
    char = text[at]
    if char == "\\" and at + 1 < len(text):
        if text[at + 1] != "\n":
            parts.append(text[at + 1])
        return at + 2
    end = at
    if char in "'\"":
        end = _quoted(reader, at, parts, limit)
    elif char in "$`":
        end = _expansion(reader, at, parts, limit)
    if end > at:
        return end
    parts.append(char)
    return at + 1


def _quoted(reader: _Lexer, at: int, parts: list[str], limit: int) -> int:
    """Add a quoted text; return ``at`` if the quote has no end."""
    text, char = reader.text, reader.text[at]
    close = _closing(text, at, char, limit)
    if close <= 0:
        return at
    inner = text[at + 1 : close]
    parts.append(inner if char == "'" else inner.replace('\\"', '"').replace("\\$", "$"))
    return close + 1


def _expansion(reader: _Lexer, at: int, parts: list[str], limit: int) -> int:
    """Add ``$(…)``, ``${…}`` or backquotes unchanged; return ``at`` if it is none of them."""
    text = reader.text
    close = -1
    if at >= reader.given_up and (text.startswith("$(", at) or text[at] == "`"):
        close = _substitution(text, at, limit)
        reader.given_up = 0 if close > 0 else at + LONGEST
    elif text.startswith("${", at):
        brace = text.find("}", at, at + 200)
        close = brace + 1 if brace > 0 and "\n" not in text[at:brace] else -1
    if close <= 0:
        return at
    parts.append(text[at:close])
    return close


def _closing(text: str, at: int, quote: str, limit: int) -> int:
    close = text.find(quote, at + 1)
    while quote == '"' and close > 0 and text[close - 1] == "\\" and text[close - 2] != "\\":
        close = text.find(quote, close + 1)
    if close < 0 or text.count("\n", at, close) > limit:
        return -1
    return close


def _substitution(text: str, at: int, limit: int) -> int:
    """Return the end of ``$(…)`` or of backquotes, -1 if it does not end soon."""
    bound = min(len(text), at + LONGEST)
    if text[at] == "`":
        close = text.find("`", at + 1, bound)
        return close + 1 if close > 0 and text.count("\n", at, close) <= limit else -1
    depth = 0
    for position in range(at + 1, bound):
        char = text[position]
        if char == "\n" and not limit:
            return -1
        depth += (char == "(") - (char == ")")
        if depth == 0:
            return position + 1
    return -1
