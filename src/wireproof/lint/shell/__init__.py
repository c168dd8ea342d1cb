# pure
"""Read command lines as people write them: shell and batch scripts, pasted sessions, numbered
recipes. Pure, linear, total.

``commands`` returns every simple command of a recipe, wrappers first and then the commands that
they start: for ``pdsh -w c1 ping -c 3 n2`` the command ``pdsh …`` and the command ``ping -c 3 n2``.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import accumulate

from wireproof.lint.rule import Recipe
from wireproof.lint.shell.command import (
    LAUNCHERS,
    Command,
    Edit,
    Heredoc,
    Redirect,
    Word,
    at_word,
    broken,
    corrected,
    edited,
    heredocs,
    inner,
    lines_inside,
    whole_number,
)
from wireproof.lint.tables import listed

# --- Convert text to tokens in a single pass: words, operators, line ends.

QUOTE_LINES = 200
"""A quote that is not closed within this number of lines of a script is a plain character."""

LONGEST = 2000
"""Longest substitution in characters that is followed."""

_BLANK = " \t\r\v\f\u00a0\u200b\ufeff"
_NAME = rf"<[^\W\d_][^>\n]{{0,57}}(?<![{_BLANK}])>"
"""``<server ipoib addr>``: a name to be filled in, not a redirection."""
_TOKEN = re.compile(
    rf"(?P<skipped>[{_BLANK}]+|\\\n|#[^\n]*)"
    rf"|(?P<backslash>\\)(?=[{_BLANK}])"  # meant as a continuation: a space after it prevents it
    r"|(?P<prompt>\\?\$>)(?= )"  # a second prompt in the line: two lines of a document, joined
    rf"|\n|[012]?(?:<<<|<<-?|<[>&]|>[>|&]?|(?!{_NAME})<)|&>>?|;;|&&|\|\||\|&|[;|&()]"
)


def tokens(lines: list[str], first: int, indents: list[int], *, spanning: bool) -> Iterator[Word]:
    """Return the words of ``lines``, of which the first has the number ``first``, and, with empty
    ``raw``, the operators (``;`` ``|`` ``>`` …) and ``\\n``; ``indents[i]`` characters at the start
    of line i (a prompt, a bullet) are skipped. ``spanning``: quotes may extend over line ends.
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
            yield Word(";" if found["prompt"] else found.group(), *place, "")


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
    """Read words; ``lines``: the largest number of line ends in a quote."""

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
        """Return the end of ``$(…)`` or of backquotes; the end of the opening sign if the
        substitution is not closed soon.
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


# --- The commands of a recipe.

__all__ = ["LAUNCHERS", "Command", "Edit", "Heredoc", "Redirect", "Segment", "Word", "at_word"]
__all__ += ["broken", "commands", "corrected", "edited", "heredocs", "lines_inside"]
__all__ += ["segments", "whole_number"]


_ORNAMENT = re.compile(
    r"\s*(?:[-*•●▪·]\s+(?![\d.]+\s*$)|\d{1,2}[.)]\s+)?(?:\\Rightarrow\s+)?"  # a bullet, a number
    r"(?:(?:server|client|node|host|head|compute)\s?\d{0,3}:\s+)?"  # the host of the line
    r"(?:\\?\$>\s*|\\?\$\s+|(?:\(\w{1,20}\)\s?)?\[[\w.-]{1,64}@[\w.-]{1,64}[ "
    r":][^\]\n]{1,64}\][$#]\s*"
    r"|[\w.-]{1,64}@[\w.-]{1,64}:[^\s$#]{1,64}[$#]\s+)?"  # a prompt
)


SCRIPT_NAMES = (".sh", ".bash", ".sbatch", ".slurm", ".job", ".batch")


@dataclass(frozen=True, slots=True)
class Segment:
    """The lines ``first`` to ``last`` (from 1, both included). ``script``: the segment starts with
    ``#!`` or is a script by its kind and has no sentences, so all its lines are treated as shell.
    """

    first: int
    last: int
    script: bool


def indent(line: str) -> int:
    """Return the number of characters of bullet, number, label and prompt before the command."""
    match = _ORNAMENT.match(line[:300])
    return match.end() if match else 0


def is_prose(line: str) -> bool:
    """Return whether the line is a sentence instead of a command: it has two or more short words
    that commands do not contain, and no prompt.
    """
    head = line[:400]
    prompt = "$>" in head or head.lstrip().startswith(("#", "$ ", "\\$ "))
    words = [word.strip(".,:;()\"'“”") for word in head.split()]
    little = sum(word.lower() in listed("little-words") for word in words)
    ends = head.rstrip().endswith((".", ":")) and len(words) > 4
    return not prompt and (little >= 2 or (little == 1 and ends))


def segments(recipe: Recipe) -> list[Segment]:
    """Divide the recipe at fences (```` ``` ````), at ``#!`` lines, and, except in scripts by name,
    at sentences.
    """
    lines, inside = recipe.lines, lines_inside(recipe)
    shown = [line for number, line in enumerate(lines, 1) if number not in inside]
    heads = sum(line.startswith("#!") for line in shown)
    fenced = any(line.startswith("```") for line in shown)
    if _trusted(recipe) and not fenced and heads < 2:
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
    """Return whether the recipe is a script according to its first line or its name."""
    head = next((line for line in recipe.lines if line.strip()), "")
    by_head = head.lstrip("\ufeff \t").startswith(("#!", "#SBATCH"))
    return by_head or recipe.name.endswith(SCRIPT_NAMES)


def _cut(cuts: list[Segment], first: int, last: int, script: bool) -> None:
    if first <= last:
        cuts.append(Segment(first, last, script))


_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=")
_KEYWORDS = frozenset(
    ("if", "then", "elif", "else", "fi", "while", "until", "do", "done", "{", "}", "!", "coproc")
)
_HEADS = frozenset(("for", "case", "select", "function", "esac", "in", "[[", "[", "test"))
_LINE = re.compile(r"\"[^\"\n]*\s[^\"\n]*\"|'[^'\n]*\s[^'\n]*'")
"""A command line in quotes."""
NESTED = 8
"""Largest number of wrappers before a program."""


@lru_cache(maxsize=4)
def commands(recipe: Recipe) -> tuple[Command, ...]:
    """Return every simple command, in order; for a wrapped command the wrapper first, then the
    command that it starts. Sentences and comments are left out. Never raises; time is linear in the
    size.
    """
    return tuple(command for part in segments(recipe) for command in _segment(recipe, part))


def _segment(recipe: Recipe, part: Segment) -> Iterator[Command]:
    lines = list(recipe.lines[part.first - 1 : part.last])
    indents = [0] * len(lines)
    if not part.script:
        lines, indents = _shown_commands(lines)
    reader = _CommandReader(recipe, part)
    for token in tokens(lines, part.first, indents, spanning=part.script):
        yield from reader.take(token)
    yield from reader.end()


def _shown_commands(lines: list[str]) -> tuple[list[str], list[int]]:
    """Return the lines of a document without sentences and remarks, and the width of the prompt or
    bullet before each.
    """
    shown: list[str] = []
    indents: list[int] = []
    continued = False
    for line in lines:
        sentence = not continued and is_prose(line)
        # without "// on the server", which documents add after commands
        command = "" if sentence else line.partition(" // ")[0]
        indents.append(0 if continued else min(indent(command), len(command)))
        continued = line.rstrip(" \t\r").endswith("\\") and not sentence
        if command.endswith(("\\ ", "\\\r", "\\\t")):
            # a document's line ending: the backslash was meant to continue the line
            command = command.rstrip()
        shown.append(command)
    return shown, indents


class _CommandReader:
    """Collect the tokens of the commands, one command after the other."""

    def __init__(self, recipe: Recipe, part: Segment) -> None:
        self.recipe, self.part = recipe, part
        self.skip = 0
        """The number of the first line after a here-document."""
        self._clear()

    def _clear(self) -> None:
        self.words: list[Word] = []
        self.redirects: list[Redirect] = []
        self.heredoc: Heredoc | None = None
        self.operator = ""

    def take(self, token: Word) -> Iterator[Command]:
        """Return the commands that end with this token."""
        if token.line < self.skip:
            return
        if token.raw:
            self._word(token)
        elif "<" in token.text or ">" in token.text:  # the command ends here
            self.operator = token.text
        else:
            yield from self.end(piped=token.text in ("|", "|&"))
            if self.heredoc is not None and token.text == "\n":
                self.skip = self.heredoc.line + len(self.heredoc.lines) + 1
            self._clear()

    def _word(self, word: Word) -> None:
        if not self.operator:
            self.words.append(word)
        elif self.operator.startswith("<<") and self.operator != "<<<":
            found = heredocs(self.recipe).get(word.line)
            inside = found is not None and found.line + len(found.lines) <= self.part.last
            self.heredoc = found if inside else None
        else:
            self.redirects.append(Redirect(self.operator, word))
        self.operator = ""

    def end(self, *, piped: bool = False) -> Iterator[Command]:
        """Return the command of the collected words; for a wrapped command the wrapper first."""
        first = next(
            (at for at, word in enumerate(self.words) if word.text not in _KEYWORDS),
            len(self.words),
        )
        words, at = self.words[first:], 0
        while at < len(words) and _ASSIGNMENT.match(words[at].text):
            at += 1
        rest = tuple(words[at:])
        everything = [*words, *(redirect.target for redirect in self.redirects)]
        if not everything or (rest and rest[0].text in _HEADS):
            return
        last = max(word.line + word.raw.count("\n") for word in everything)
        whole = Command(
            words=rest,
            line=everything[0].line,
            last=min(last, self.part.last),  # a text may end with a continuation
            text=_source(self.recipe, everything[0], everything[-1]),
            assignments=tuple(words[:at]),
            redirects=tuple(self.redirects),
            heredoc=self.heredoc,
            piped=piped,
        )
        yield from self._unwrapped(whole)

    def _unwrapped(self, whole: Command) -> Iterator[Command]:
        """Return the command, then the command that it starts (``sudo``, ``pdsh`` …), and so on."""
        command = whole
        for _ in range(NESTED):
            yield command
            rest = command.words
            start = inner(rest) if rest else None
            if start is None or start >= len(rest):
                return
            outer = command.outer + rest[:start]
            if _LINE.fullmatch(rest[start].raw):
                yield from (
                    replace(each, outer=outer + each.outer) for each in self._in(rest[start])
                )
                return
            between = tuple(word for word in rest[:start] if _ASSIGNMENT.match(word.text))
            command = replace(
                command, words=rest[start:], assignments=command.assignments + between, outer=outer
            )

    def _in(self, word: Word) -> Iterator[Command]:
        """Return the commands in the quotes of ``ssh n1 "ib_write_bw -d mlx5_0 &"``."""
        line = self.recipe.lines[word.line - 1][: word.column + len(word.raw) - 2]
        reader = _CommandReader(self.recipe, self.part)
        for token in tokens([line], word.line, [word.column], spanning=False):
            yield from reader.take(token)


def _source(recipe: Recipe, first: Word, final: Word) -> str:
    lines = list(recipe.lines[first.line - 1 : final.line])
    lines[-1] = lines[-1][: final.column - 1 + len(final.raw)]
    return "\n".join((lines[0][first.column - 1 :], *lines[1:]))
