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

from wireproof.lint.kinds import kind_of_name
from wireproof.lint.rule import Broken, Kind, Recipe
from wireproof.lint.written import LONGEST_LINE, WrittenLine, written

__all__ = [
    "LONGEST_LINE",
    "Fragment",
    "WrittenLine",
    "at",
    "extracted",
    "fragments",
    "is_document",
]

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


@dataclass(frozen=True, slots=True)
class Fragment:
    """Lines of one configuration file. ``quoted``: they stand alone in a document, so nothing is
    said of what lacks.
    """

    kind: Kind
    path: str
    lines: tuple[WrittenLine, ...]
    quoted: bool = False


def at(
    code: str, line: WrittenLine, position: int = 0, seen: str = "", fix: str | None = None
) -> Broken:
    """``code`` broken at offset ``position`` of ``line``; ``fix`` is the corrected text of ``line``
    alone.
    """
    corrected = None if fix is None else line.with_text(fix)
    return Broken(code, line.number, len(line.before) + position + 1, seen, corrected)


def fragments(recipe: Recipe, kind: Kind) -> Iterator[Fragment]:
    """What ``recipe`` holds of ``kind``."""
    if kind == "sysctl" and recipe.name.endswith("tuned.conf"):
        return
    if recipe.kind == kind:
        picked = extracted(recipe)
        # of picked lines the document itself is looked at as a script: there the neighbours of each
        # are known
        if not (picked and kind in QUOTED):
            yield whole(recipe, picked)
    elif recipe.kind in MIXED:
        yield from (fragment for fragment in embedded(recipe) if fragment.kind == kind)


def whole(recipe: Recipe, picked: bool) -> Fragment:
    """The recipe itself, without lines that a tool fills in."""
    lines = enumerate(recipe.lines, start=1)
    plain = tuple(
        WrittenLine.of(number, text) for number, text in lines if not TEMPLATE.search(text)
    )
    part = len(plain) < len(recipe.lines) or is_document(recipe) or picked
    return Fragment(recipe.kind, recipe.name, plain, quoted=part)


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
def embedded(recipe: Recipe) -> tuple[Fragment, ...]:
    """Here-documents, echoes into files, and quoted lines of a script or a document."""
    found: list[Fragment] = []
    inside: set[int] = set()
    for file in written(recipe):
        found.append(Fragment(file.kind, file.path, file.lines, quoted=not file.whole))
        inside.update(line.number for line in file.lines)
    found += quoted(recipe, inside)
    return tuple(found)


def quoted(recipe: Recipe, inside: set[int]) -> Iterator[Fragment]:
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
    yield from ifcfg_blocks(lines)


def ifcfg_blocks(lines: list[WrittenLine]) -> Iterator[Fragment]:
    """Runs of ``NAME=value`` lines, blank lines between allowed, of which one is surely an
    interface's.
    """
    shape = QUOTED["ifcfg"]
    run: list[WrittenLine] = []
    for line in [*lines, WrittenLine(0, "end of the text")]:
        if shape.match(line.text):
            run.append(line)
        elif line.text.strip():
            if any(IFCFG_MARK.match(one.text) for one in run):
                yield Fragment("ifcfg", "", tuple(run), quoted=True)
            run = []
