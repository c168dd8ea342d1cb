# pure
"""Find configuration text wherever it is: a whole file, a here-document, an echo into a file, or
lines quoted in a document.

A check gets the fragments of its kind, whatever their origin; each line keeps its position.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from wireproof.lint.rule import Broken, Kind, Recipe, kind_of_name
from wireproof.lint.shell import Command, commands
from wireproof.lint.tables import nearest

LONGEST_LINE = 8192
"""Limit of characters that are read in a line; no configuration line is longer, and searches stay
short.
"""

MOST = 200
"""Largest number of files that are read inside a script."""


@dataclass(frozen=True, slots=True)
class WrittenLine:
    """A line of configuration: ``text`` between ``before`` and ``after`` on line ``number`` (from
    1) of the file.
    """

    number: int
    text: str
    before: str = ""
    after: str = ""

    @classmethod
    def of(cls, number: int, text: str) -> WrittenLine:
        """Return a whole line of the file; text beyond the longest configuration line is kept but
        not read.
        """
        return cls(number, text[:LONGEST_LINE], after=text[LONGEST_LINE:])

    def with_text(self, text: str) -> str:
        """Return the line of the file with ``text`` instead of this text."""
        return f"{self.before}{text}{self.after}"

    @property
    def is_comment(self) -> bool:
        """Return whether the line begins with ``#``."""
        return self.text.lstrip().startswith("#")

    @property
    def words(self) -> list[str]:
        """Return the words before a comment."""
        return self.text.split("#", 1)[0].split()


@dataclass(frozen=True, slots=True)
class Part:
    """A name, a value or another part of a line: ``text`` at ``offset`` of ``line``."""

    line: WrittenLine
    offset: int
    text: str

    def replaced(self, text: str) -> str:
        """Return the line's text with ``text`` instead of this part."""
        end = self.offset + len(self.text)
        return self.line.text[: self.offset] + text + self.line.text[end:]

    def broken(self, code: str, seen: str, new: str | None = None) -> Broken:
        """Report ``code`` at this part; the fix is ``new`` in its place."""
        return at(code, self.line, self.offset, seen, None if new is None else self.replaced(new))


def parts(line: WrittenLine, match: re.Match[str]) -> tuple[Part, ...]:
    """Return the match of each group of ``match`` in the line; a group without text gives an empty
    part.
    """
    groups = range(1, match.re.groups + 1)
    return tuple(Part(line, match.start(group), match[group] or "") for group in groups)


@dataclass(frozen=True, slots=True)
class Fragment:
    """Lines of a configuration file. ``quoted``: they are alone in a document or an echo adds them
    to the file, so missing lines are not reported. ``expanded``: the shell of a script inserts the
    values of variables.
    """

    kind: Kind
    path: str
    lines: tuple[WrittenLine, ...]
    quoted: bool = False
    expanded: bool = False


def at(
    code: str, line: WrittenLine, position: int = 0, seen: str = "", fix: str | None = None
) -> Broken:
    """Report ``code`` at offset ``position`` of ``line``; ``fix`` is the corrected text of ``line``
    alone.
    """
    corrected = None if fix is None else line.with_text(fix)
    return Broken(code, line.number, len(line.before) + position + 1, seen, corrected)


def misspelt(
    code: str, part: Part, known: tuple[str, ...] | frozenset[str], likeness: float
) -> Iterator[Broken]:
    """Report a name that is not ``known`` but resembles a known name, which is the fix."""
    meant = nearest(part.text, known, likeness)
    if meant:
        yield part.broken(code, f"{part.text}; nearest is {meant}", meant)


# --- Files that a script writes: here-documents, and ``echo LINE >> FILE``.

_SHELLS = ("sbatch", "bash", "sh", "salloc", "ssh")
"""Programs that run the commands on their standard input."""

_INTO = re.compile(r">>?\|?\s*[\"']?([^\s\"'<>|;&]+)")
_QUOTED = re.compile(r"""(["'])(.*)\1""")


@lru_cache(maxsize=8)
def files_written(recipe: Recipe) -> tuple[Fragment, ...]:
    """Return the files that ``recipe`` writes and whose kind is known; the first ones if there are
    very many.
    """
    every = commands(recipe)
    heredocs: dict[int, Fragment] = {}
    echoed: dict[str, list[WrittenLine]] = {}
    for place, command in enumerate(every):
        if not command.words or command.line in heredocs or len(heredocs) == MOST:
            continue
        if command.heredoc is not None:
            if (found := _heredoc(every, place)) is not None:
                heredocs[command.line] = found
        elif line := _echoed(recipe, command):
            echoed.setdefault(_target(every, place), []).append(line)
    adds = [
        Fragment(kind, path, tuple(lines), quoted=True, expanded=True)
        for path, lines in echoed.items()
        if (kind := kind_of_name(path)) is not None
    ]
    return (*heredocs.values(), *adds)[:MOST]


def _heredoc(every: tuple[Command, ...], place: int) -> Fragment | None:
    command, path = every[place], _target(every, place)
    heredoc, kind = command.heredoc, kind_of_name(path)
    if command.program in _SHELLS:
        # ssh n1 'cat > /etc/hosts' <<EOF: the quoted command writes the file
        found = (_INTO.search(text[:LONGEST_LINE]) for text in command.texts[1:] if ">" in text)
        path = next((into[1] for into in found if into), "")
        kind = kind_of_name(path) or "script"
    if heredoc is None or kind is None:
        return None
    body = enumerate(heredoc.lines, heredoc.line)
    lines = tuple(WrittenLine.of(number, text) for number, text in body)
    return Fragment(kind, path, lines, expanded=not heredoc.quoted)


def _target(every: tuple[Command, ...], place: int) -> str:
    command = every[place]
    targets = [
        redirect.target.text
        for redirect in command.redirects
        if ">" in redirect.operator and not redirect.operator.startswith("2")
    ]
    tees = [command] if command.program == "tee" else []
    if command.piped and not (tees or targets):
        tees = [other for other in every[place + 1 : place + 4] if other.program == "tee"][:1]
    targets += [text for tee in tees for text in tee.texts[1:] if not text.startswith("-")]
    return targets[-1] if targets else ""


def _echoed(recipe: Recipe, command: Command) -> WrittenLine | None:
    """Return the single word that is printed, with its place; None if the shell or echo would
    change it.
    """
    words = [word for word in command.words[1:] if not word.text.startswith("-")]
    if command.program not in ("echo", "printf") or len(words) != 1:
        return None
    word = words[0]
    quotes = _QUOTED.fullmatch(word.raw)
    body = quotes[2] if quotes else word.raw
    if word.text != body or re.search(r"[\n\\`]|\$\(", body):
        return None
    whole = recipe.lines[word.line - 1]
    begin = word.column - 1 + (1 if quotes else 0)
    return WrittenLine(word.line, body, whole[:begin], whole[begin + len(body) :])


# --- Fragments of one kind.

# a line that a tool completes is not a complete line yet
TEMPLATE = re.compile(r"\{\{|\{%|<%|%\{|@@?[A-Za-z_]+@@?")
MIXED: tuple[Kind, ...] = ("script", "unknown")

# Forms of a quoted line of each kind in a document: only forms without another meaning.
QUOTED: dict[Kind, re.Pattern[str]] = {
    "modprobe": re.compile(
        r"\s*options\s+[a-z][\w-]*(?:\s+[a-z]\w*)?\s*(?:=|\s[a-z]\w*\s*=)"
        r"|\s*options?\s+(?:hfi1|rv|irdma|ib_ipoib|mlx[45]_core|ib_qib)\s+[a-z]\w*(?:\s|=)\s*[0-9]"
    ),
    "sysctl": re.compile(r"\s*(?:net|vm)\.[a-z][\w./*-]+\s*=\s*\S"),
    "limits": re.compile(
        r"\s*[*@]\S*\s+(?:(?:soft|hard|-)\s+(?:mem\w{1,8}|nofile|stack|nproc|core)"
        r"|memlock)\s+\S+\s*$"
    ),
    "fstab": re.compile(
        r"\s*(?:/\S+\s+\S*\s?\((?:ro|rw|a?sync|no_|fsid|all_squash|insecure)"
        r"|[\w.${}-]+:/\S*\s+/\S*\s+nfs4?\s+[^\s>]+(?:\s+[\w=.,]+){0,12}\s*$)"
    ),
    "irqbalance": re.compile(r"\s*#?\s*IRQBALANCE_[A-Z]+\s*=\s*\S"),
    "kernel-command-line": re.compile(
        r"\s*GRUB_CM\w{2,40}\s*="
        r"|\s*(?:[a-z][\w.-]*=\S+\s+){0,20}intel_pstate=\w+(?:\s+[a-z][\w.-]*=\S+){0,20}\s*$"
    ),
    "ifcfg": re.compile(r"\s*[A-Z][A-Z0-9_]*\s*=\s*\S*\s*$"),
}
IFCFG_MARK = re.compile(r"\s*(?:CONNECTED_MODE|NM_CONTROLLED|BOOTPROTO|ONBOOT)\s*=")


def fragments(recipe: Recipe, kind: Kind) -> Iterator[Fragment]:
    """Return the fragments of ``kind`` in ``recipe``."""
    if kind == "sysctl" and recipe.name.endswith("tuned.conf"):
        return
    if recipe.kind == kind:
        picked = extracted(recipe)
        # for picked lines the document is read as a script, because the neighbours of each line are
        # known there
        if not (picked and kind in QUOTED):
            lines = enumerate(recipe.lines, start=1)
            plain = [(number, text) for number, text in lines if not TEMPLATE.search(text)]
            partial = len(plain) < len(recipe.lines) or is_document(recipe) or picked
            written = tuple(WrittenLine.of(number, text) for number, text in plain)
            yield Fragment(kind, recipe.name, written, quoted=partial)
    elif recipe.kind in MIXED:
        yield from (fragment for fragment in _embedded(recipe) if fragment.kind == kind)


def is_document(recipe: Recipe) -> bool:
    """Return whether the name belongs to a document, which may show several files, and the same
    file twice.
    """
    return recipe.name.lower().endswith((".md", ".rst", ".adoc", ".html", ".tex"))


def extracted(recipe: Recipe) -> bool:
    """Return whether the lines were picked out of a longer text and the others left blank."""
    content = sum(1 for line in recipe.lines if line.strip())
    # Quoted interfaces have few distinctive signs, so a short text is still treated as the file
    # itself.
    blank = 4 * content + 3 if recipe.kind == "ifcfg" else 2 * content + 1
    return kind_of_name(recipe.name) != recipe.kind and len(recipe.lines) > blank


@lru_cache(maxsize=8)
def _embedded(recipe: Recipe) -> tuple[Fragment, ...]:
    """Return here-documents, echoes into files, and quoted lines of a script or a document."""
    files = files_written(recipe)
    inside = {line.number for file in files for line in file.lines}
    return (*files, *_quoted(recipe, inside))


def _quoted(recipe: Recipe, inside: set[int]) -> Iterator[Fragment]:
    """Return configuration lines that occur unchanged in the text. A tuned profile has separate
    rules: quotes are right there.
    """
    profile = any(text.strip() == "[sysctl]" for text in recipe.lines)
    numbered = enumerate(recipe.lines, start=1)
    lines = [WrittenLine.of(number, text) for number, text in numbered if number not in inside]
    for kind, shape in QUOTED.items():
        if kind == "ifcfg" or (kind == "sysctl" and profile):
            continue
        hits = tuple(line for line in lines if shape.match(line.text))
        if kind == "modprobe":  # each line of a document is a separate example
            yield from (Fragment(kind, "", (line,), quoted=True) for line in hits)
        elif hits:
            yield Fragment(kind, "", hits, quoted=True)
    yield from _ifcfg_blocks(lines)


def _ifcfg_blocks(lines: list[WrittenLine]) -> Iterator[Fragment]:
    """Return runs of ``NAME=value`` lines (blank lines are allowed) of which at least one certainly
    belongs to an interface.
    """
    shape = QUOTED["ifcfg"]
    run: list[WrittenLine] = []
    for line in [*lines, WrittenLine(0, "end of the text")]:
        if shape.match(line.text):
            run.append(line)
        elif line.text.strip():
            if any(IFCFG_MARK.match(other.text) for other in run):
                yield Fragment("ifcfg", "", tuple(run), quoted=True)
            run = []
