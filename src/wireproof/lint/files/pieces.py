"""Configuration text wherever it is: a whole file, a here-document, an echo into a file, or lines
quoted in a document.

A check asks for the pieces of its kind and never cares where they came from; each line remembers
its place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from wireproof.lint.rule import Broken, Kind, Recipe

__all__ = [
    "LONGEST_LINE",
    "Line",
    "Piece",
    "at",
    "extracted",
    "is_document",
    "kind_of_path",
    "pieces",
]

# a line that a tool fills in is not yet a line
TEMPLATE = re.compile(r"\{\{|\{%|<%|%\{|@@?[A-Za-z_]+@@?")
# characters that are looked at; no configuration line is longer and searches stay short
LONGEST_LINE = 8192
MIXED: tuple[Kind, ...] = ("script", "unknown")

TARGETS: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    ("modprobe", re.compile(r"/modprobe\.(?:d/|conf)")),
    ("sysctl", re.compile(r"/sysctl\.(?:d/|conf)")),
    ("limits", re.compile(r"/security/limits\.(?:d/|conf)")),
    ("ifcfg", re.compile(r"/ifcfg-[^/]*$")),
    ("keyfile", re.compile(r"\.nmconnection$|/system-connections/")),
    ("irqbalance", re.compile(r"/(?:sysconfig|default)/irqbalance$")),
    ("kernel-command-line", re.compile(r"/default/grub(?:$|\.d/)|/kernel/cmdline$|/proc/cmdline$")),
    ("repository", re.compile(r"\.repo$")),
    ("fstab", re.compile(r"/fstab$|/exports$|/exports\.d/")),
    ("hosts", re.compile(r"/etc/hosts$")),
)

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
HEREDOC = re.compile(r"<<-?\s*(['\"]?)([A-Za-z_]\w*)\1")
INTO = re.compile(r"(?:>>?\|?|\btee\b(?:\s+-a|\s+--append)?)\s*[\"']?([^\s\"'<>|;&]+)")
ECHO = re.compile(r"\b(?:echo|printf)\s+(?:-e\s+|-n\s+)?(?:\"([^\"]*)\"|'([^']*)')\s*(?=>|\|)")


@dataclass(frozen=True, slots=True)
class Line:
    """One line of configuration: ``text`` between ``before`` and ``after`` on line ``number`` (from
    1) of the file.
    """

    number: int
    text: str
    before: str = ""
    after: str = ""

    def whole(self, text: str) -> str:
        """The file's line with ``text`` in the place of this one."""
        return f"{self.before}{text}{self.after}"


@dataclass(frozen=True, slots=True)
class Piece:
    """Lines of one configuration file. ``quoted``: they stand alone in a document, so nothing is
    said of what lacks.
    """

    kind: Kind
    path: str
    lines: tuple[Line, ...]
    quoted: bool = False


def at(code: str, line: Line, position: int = 0, seen: str = "", fix: str | None = None) -> Broken:
    """``code`` broken at offset ``position`` of ``line``; ``fix`` is the corrected text of ``line``
    alone.
    """
    corrected = None if fix is None else line.whole(fix)
    return Broken(code, line.number, len(line.before) + position + 1, seen, corrected)


def kind_of_path(path: str) -> Kind | None:
    """The kind of the file that a script writes to, None when it is none of ours."""
    return next((kind for kind, shape in TARGETS if shape.search(path)), None)


def pieces(recipe: Recipe, kind: Kind) -> Iterator[Piece]:
    """What ``recipe`` holds of ``kind``."""
    if kind == "sysctl" and recipe.name.endswith("tuned.conf"):
        return
    if recipe.kind == kind and kind in QUOTED and extracted(recipe):
        # the document itself is looked at as a script: there each line's neighbours are known
        return
    if recipe.kind == kind:
        lines = enumerate(recipe.lines, start=1)
        plain = tuple(
            Line(number, text[:LONGEST_LINE]) for number, text in lines if not TEMPLATE.search(text)
        )
        part = len(plain) < len(recipe.lines) or is_document(recipe) or extracted(recipe)
        yield Piece(kind, recipe.name, plain, quoted=part)
    elif recipe.kind in MIXED:
        yield from (piece for piece in embedded(recipe) if piece.kind == kind)


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
    return kind_of_path(recipe.name) is None and len(recipe.lines) > blank


@lru_cache(maxsize=8)
def embedded(recipe: Recipe) -> tuple[Piece, ...]:
    """Here-documents, echoes into files, and quoted lines of a script or a document."""
    found = []
    inside: set[int] = set()
    for piece in written(recipe):
        found.append(piece)
        inside.update(line.number for line in piece.lines)
    found += quoted(recipe, inside)
    return tuple(found)


def written(recipe: Recipe) -> Iterator[Piece]:
    """What the script writes into configuration files."""
    skip = 0
    echoed: dict[str, list[Line]] = {}
    for number, long in enumerate(recipe.lines, start=1):
        text = long[:LONGEST_LINE]
        if number <= skip or text.lstrip().startswith("#"):
            continue
        mark = HEREDOC.search(text)
        if mark:
            end = ending(recipe, number, mark.group(2))
            skip = end
            target = INTO.search(HEREDOC.sub("", text))
            kind = kind_of_path(target.group(1)) if target else None
            if kind and target:
                body = tuple(
                    Line(n, recipe.lines[n - 1][:LONGEST_LINE]) for n in range(number + 1, end)
                )
                yield Piece(kind, target.group(1), body)
            continue
        for path, line in echoes(number, text):
            echoed.setdefault(path, []).append(line)
    for path, lines in echoed.items():
        kind = kind_of_path(path)
        if kind:
            yield Piece(kind, path, tuple(lines), quoted=True)


def ending(recipe: Recipe, first: int, word: str) -> int:
    """The line that ends the here-document of line ``first``; one behind the last line when it is
    cut off.
    """
    for number in range(first + 1, len(recipe.lines) + 1):
        if recipe.lines[number - 1].strip() == word:
            return number
    return len(recipe.lines) + 1


def echoes(number: int, text: str) -> Iterator[tuple[str, Line]]:
    """(file, line) of each ``echo "…" >> file`` of one line. Text with escapes or substitutions is
    left alone.
    """
    for said in ECHO.finditer(text):
        target = INTO.search(text, said.end())
        group = 1 if said.group(1) is not None else 2
        body = said.group(group)
        if target and "\\" not in body and "`" not in body and not (group == 1 and "$" in body):
            yield (
                target.group(1),
                Line(number, body, text[: said.start(group)], text[said.end(group) :]),
            )


def quoted(recipe: Recipe, inside: set[int]) -> Iterator[Piece]:
    """Configuration lines that stand in the text as they are. A tuned profile has its own rules:
    quotes are right.
    """
    profile = any(text.strip() == "[sysctl]" for text in recipe.lines)
    lines = [
        (n, text[:LONGEST_LINE]) for n, text in enumerate(recipe.lines, start=1) if n not in inside
    ]
    for kind, shape in QUOTED.items():
        if kind == "ifcfg" or (kind == "sysctl" and profile):
            continue
        hits = tuple(Line(number, text) for number, text in lines if shape.match(text))
        if kind == "modprobe":  # each line of a document is an example of its own
            yield from (Piece(kind, "", (line,), quoted=True) for line in hits)
        elif hits:
            yield Piece(kind, "", hits, quoted=True)
    yield from ifcfg_blocks(lines)


def ifcfg_blocks(lines: list[tuple[int, str]]) -> Iterator[Piece]:
    """Runs of ``NAME=value`` lines, blank lines between allowed, of which one is surely an
    interface's.
    """
    shape = QUOTED["ifcfg"]
    run: list[Line] = []
    for number, text in [*lines, (0, "end of the text")]:
        if shape.match(text):
            run.append(Line(number, text))
        elif text.strip():
            if any(IFCFG_MARK.match(line.text) for line in run):
                yield Piece("ifcfg", "", tuple(run), quoted=True)
            run = []
