"""Configuration text wherever it is: a whole file, a here-document, an echo into a file, or lines
quoted in a document.

A check asks for the fragments of its kind and never cares where they came from; each line remembers
its place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from wireproof.lint.kinds import kind_of_name
from wireproof.lint.rule import Broken, Kind, Recipe
from wireproof.lint.shell import Command, Word, commands
from wireproof.lint.tables import nearest

LONGEST_LINE = 8192
"""Characters that are looked at; no configuration line is longer and searches stay short."""

MOST = 200
"""Files inside of one script that are looked at."""


@dataclass(frozen=True, slots=True)
class WrittenLine:
    """One line of configuration: ``text`` between ``before`` and ``after`` on line ``number`` (from
    1) of the file.
    """

    number: int
    text: str
    before: str = ""
    after: str = ""

    @classmethod
    def of(cls, number: int, text: str) -> WrittenLine:
        """A whole line of the file; what is beyond any configuration line is only kept."""
        return cls(number, text[:LONGEST_LINE], after=text[LONGEST_LINE:])

    def with_text(self, text: str) -> str:
        """The file's line with ``text`` in the place of this one."""
        return f"{self.before}{text}{self.after}"

    @property
    def is_comment(self) -> bool:
        """Whether the line begins with ``#``."""
        return self.text.lstrip().startswith("#")

    @property
    def words(self) -> list[str]:
        """The words before a comment."""
        return self.text.split("#", 1)[0].split()


@dataclass(frozen=True, slots=True)
class Part:
    """A name, a value or another piece of a line: ``text`` at ``offset`` of ``line``."""

    line: WrittenLine
    offset: int
    text: str

    def replaced(self, text: str) -> str:
        """The line's text with ``text`` in the place of this part."""
        end = self.offset + len(self.text)
        return self.line.text[: self.offset] + text + self.line.text[end:]

    def broken(self, code: str, seen: str, new: str | None = None) -> Broken:
        """``code`` broken at this part; the fix puts ``new`` in its place."""
        return at(code, self.line, self.offset, seen, None if new is None else self.replaced(new))


def parts(line: WrittenLine, match: re.Match[str]) -> tuple[Part, ...]:
    """What each group of ``match`` has found in the line; a group without text is an empty part."""
    groups = range(1, match.re.groups + 1)
    return tuple(Part(line, match.start(group), match[group] or "") for group in groups)


@dataclass(frozen=True, slots=True)
class Fragment:
    """Lines of one configuration file. ``quoted``: they stand alone in a document or are added to
    the file by an echo, so nothing is said of what lacks. ``expanded``: the shell of a script puts
    in the values of variables.
    """

    kind: Kind
    path: str
    lines: tuple[WrittenLine, ...]
    quoted: bool = False
    expanded: bool = False


def at(
    code: str, line: WrittenLine, position: int = 0, seen: str = "", fix: str | None = None
) -> Broken:
    """``code`` broken at offset ``position`` of ``line``; ``fix`` is the corrected text of ``line``
    alone.
    """
    corrected = None if fix is None else line.with_text(fix)
    return Broken(code, line.number, len(line.before) + position + 1, seen, corrected)


def misspelt(
    code: str, part: Part, known: tuple[str, ...] | frozenset[str], likeness: float
) -> Iterator[Broken]:
    """A name that is not ``known`` but resembles one that is, which takes its place."""
    meant = nearest(part.text, known, likeness)
    if meant:
        yield part.broken(code, f"{part.text}; nearest is {meant}", meant)


# --- Files that a script writes: here-documents, and ``echo LINE >> FILE``.

_SHELLS = ("sbatch", "bash", "sh", "salloc", "ssh")
"""Programs that run what stands on their standard input."""

_INTO = re.compile(r">>?\|?\s*[\"']?([^\s\"'<>|;&]+)")
_QUOTED = re.compile(r"""(["'])(.*)\1""")


@lru_cache(maxsize=8)
def files_written(recipe: Recipe) -> tuple[Fragment, ...]:
    """The files that ``recipe`` writes and whose kind is known; of very many the first."""
    return tuple(islice(_files_written(recipe), MOST))


def _files_written(recipe: Recipe) -> Iterator[Fragment]:
    every = commands(recipe)
    taken: set[int] = set()
    echoed: dict[str, list[WrittenLine]] = {}
    for place, command in enumerate(every):
        if not command.words or command.line in taken:
            continue
        if command.heredoc is not None:
            found = _heredoc(every, place)
            if found is not None:
                taken.add(command.line)
                yield found
        elif command.program in ("echo", "printf"):
            line = _echoed(recipe, command)
            if line is not None:
                echoed.setdefault(_target(every, place), []).append(line)
    for path, lines in echoed.items():
        kind = kind_of_name(path)
        if kind is not None:
            yield Fragment(kind, path, tuple(lines), quoted=True, expanded=True)


def _heredoc(every: list[Command], place: int) -> Fragment | None:
    command = every[place]
    heredoc = command.heredoc
    path = _target(every, place)
    kind = kind_of_name(path)
    if command.program in _SHELLS:
        path = _remote_target(command)
        kind = kind_of_name(path) or "script"
    if heredoc is None or kind is None:
        return None
    body = enumerate(heredoc.lines, heredoc.line)
    lines = tuple(WrittenLine.of(number, text) for number, text in body)
    return Fragment(kind, path, lines, expanded=not heredoc.quoted)


def _target(every: list[Command], place: int) -> str:
    """The file that the command's output goes to, "" when it goes to none."""
    command = every[place]
    targets = [
        redirect.target.text
        for redirect in command.redirects
        if ">" in redirect.operator and not redirect.operator.startswith("2")
    ]
    if command.program == "tee":
        targets += _arguments(command)
    elif command.piped and not targets:
        following = every[place + 1 : place + 4]
        tee = next((other for other in following if other.program == "tee"), None)
        targets = _arguments(tee) if tee is not None else []
    return targets[-1] if targets else ""


def _arguments(command: Command) -> list[str]:
    return [text for text in command.texts[1:] if not text.startswith("-")]


def _remote_target(command: Command) -> str:
    """The file of ``ssh n1 'cat > /etc/hosts' <<EOF``: the command in quotes writes it."""
    for word in command.words[1:]:
        into = _INTO.search(word.text[:LONGEST_LINE]) if ">" in word.text else None
        if into is not None:
            return into[1]
    return ""


def _echoed(recipe: Recipe, command: Command) -> WrittenLine | None:
    """The one word that is printed, at its place; None for what the shell or echo would change."""
    words = [word for word in command.words[1:] if not word.text.startswith("-")]
    if len(words) != 1:
        return None
    word = words[0]
    quotes = _QUOTED.fullmatch(word.raw)
    body = quotes[2] if quotes else word.raw
    if _changes(word, body):
        return None
    whole = recipe.lines[word.line - 1]
    begin = word.column - 1 + (1 if quotes else 0)
    return WrittenLine(word.line, body, whole[:begin], whole[begin + len(body) :])


def _changes(word: Word, body: str) -> bool:
    if word.text != body or "\n" in body:
        return True
    return "\\" in body or "`" in body or "$(" in body


# --- Fragments of one kind.

# a line that a tool fills in is not yet a line
TEMPLATE = re.compile(r"\{\{|\{%|<%|%\{|@@?[A-Za-z_]+@@?")
MIXED: tuple[Kind, ...] = ("script", "unknown")

# What a quoted line of each kind looks like in a document: only shapes that mean nothing else.
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
    """What ``recipe`` holds of ``kind``."""
    if kind == "sysctl" and recipe.name.endswith("tuned.conf"):
        return
    if recipe.kind == kind:
        picked = extracted(recipe)
        # of picked lines the document itself is looked at as a script: there the neighbours of each
        # are known
        if not (picked and kind in QUOTED):
            yield _whole(recipe, picked)
    elif recipe.kind in MIXED:
        yield from (fragment for fragment in _embedded(recipe) if fragment.kind == kind)


def _whole(recipe: Recipe, picked: bool) -> Fragment:
    """The recipe itself, without lines that a tool fills in."""
    lines = enumerate(recipe.lines, start=1)
    plain = tuple(
        WrittenLine.of(number, text) for number, text in lines if not TEMPLATE.search(text)
    )
    partial = len(plain) < len(recipe.lines) or is_document(recipe) or picked
    return Fragment(recipe.kind, recipe.name, plain, quoted=partial)


def is_document(recipe: Recipe) -> bool:
    """Whether the name is that of a text to read: it may show several files, and the same one
    twice.
    """
    return recipe.name.lower().endswith((".md", ".rst", ".adoc", ".html", ".tex"))


def extracted(recipe: Recipe) -> bool:
    """Whether the lines were picked out of a longer text, the others left blank."""
    content = sum(1 for line in recipe.lines if line.strip())
    # Quoted interfaces have few signs of their own, so a short text is still taken for the file
    # itself.
    blank = 4 * content + 3 if recipe.kind == "ifcfg" else 2 * content + 1
    return kind_of_name(recipe.name) != recipe.kind and len(recipe.lines) > blank


@lru_cache(maxsize=8)
def _embedded(recipe: Recipe) -> tuple[Fragment, ...]:
    """Here-documents, echoes into files, and quoted lines of a script or a document."""
    files = files_written(recipe)
    inside = {line.number for file in files for line in file.lines}
    return (*files, *_quoted(recipe, inside))


def _quoted(recipe: Recipe, inside: set[int]) -> Iterator[Fragment]:
    """Configuration lines that stand in the text as they are. A tuned profile has its own rules:
    quotes are right.
    """
    profile = any(text.strip() == "[sysctl]" for text in recipe.lines)
    numbered = enumerate(recipe.lines, start=1)
    lines = [WrittenLine.of(number, text) for number, text in numbered if number not in inside]
    for kind, shape in QUOTED.items():
        if kind == "ifcfg" or (kind == "sysctl" and profile):
            continue
        hits = tuple(line for line in lines if shape.match(line.text))
        if kind == "modprobe":  # each line of a document is an example of its own
            yield from (Fragment(kind, "", (line,), quoted=True) for line in hits)
        elif hits:
            yield Fragment(kind, "", hits, quoted=True)
    yield from _ifcfg_blocks(lines)


def _ifcfg_blocks(lines: list[WrittenLine]) -> Iterator[Fragment]:
    """Runs of ``NAME=value`` lines, blank lines between allowed, of which one is surely an
    interface's.
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
